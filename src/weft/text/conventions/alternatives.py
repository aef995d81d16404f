"""The k best answers for every sentence, noted in the document beside the best one.

`doc.meta["alternatives"][task]` holds, for every sentence, a list of `{"probability": p, "labels": [...]}`, best first,
one label per word. JSONL writes it unchanged; CoNLL-U and tab-separated columns have one comment per alternative:

    # tagger_2 = 0.1834 DET/DT/_ NOUN/NN/Number=Sing
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.text.doc import Doc

KEY = "alternatives"
#: The alternatives of a sentence: label sequences with their probabilities.
Ranked = Sequence[tuple[Sequence[str], float]]


def note_alternatives(doc: Doc, task: str, ranked: Sequence[Ranked]) -> None:
    """Note the alternatives of every sentence.

    >>> doc = Doc.from_words([["dogs", "bark"]])
    >>> note_alternatives(doc, "tagger", [[(["NOUN", "VERB"], 0.75), (["NOUN", "NOUN"], 0.25)]])
    >>> doc.meta["alternatives"]["tagger"][0][1]
    {'probability': 0.25, 'labels': ['NOUN', 'NOUN']}
    """
    rows = [[{"probability": _rounded(p), "labels": list(labels)} for labels, p in sentence] for sentence in ranked]
    doc.meta.setdefault(KEY, {})[task] = rows


def alternatives(doc: Doc, task: str) -> list[list[dict[str, Any]]]:
    """The alternatives noted for a task, sentence by sentence; none if it was not asked for any."""
    found: list[list[dict[str, Any]]] = doc.meta.get(KEY, {}).get(task, [[]] * doc.n_sentences)
    return found


def as_comments(doc: Doc) -> None:
    """Move the alternatives of a document into the comments of its sentences.

    >>> doc = Doc.from_words([["dogs", "bark"]])
    >>> note_alternatives(doc, "tagger", [[(["NOUN NNS _", "VERB VBP _"], 0.75)]])
    >>> as_comments(doc)
    >>> doc.comments
    [('# tagger_1 = 0.75 NOUN/NNS/_ VERB/VBP/_',)]
    """
    for task, sentences in doc.meta.pop(KEY, {}).items():
        for number, ranked in enumerate(sentences):
            lines = []
            for rank, each in enumerate(ranked, 1):
                labels = " ".join(label.replace(" ", "/") for label in each["labels"])
                lines.append(f"# {task}_{rank} = {each['probability']:g} {labels}")
            kept = [line for line in doc.comments[number] if not line.startswith(f"# {task}_")]
            doc.comments[number] = (*kept, *lines)


def _rounded(probability: float) -> float:
    """Four digits that mean something, however small the number."""
    return float(f"{probability:.4g}")
