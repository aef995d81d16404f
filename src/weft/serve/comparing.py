"""Texts compared behind the HTTP API: two with their links, or one with those between its sentences."""

from __future__ import annotations

from typing import Any

from weft.pictures.pairs import DrawnPair, draw_pair
from weft.pictures.sentences import draw_sentences, drawn_text
from weft.serve.service import Service, TooLong
from weft.tasks.coherence import SentenceGraph
from weft.tasks.similarity.aligner import SameLanguageAligner
from weft.tasks.similarity.compare import compared
from weft.text.doc import Doc

#: Characters of each of two texts: every word of one may be linked to every word of the other.
LONGEST = 4_000
#: How many of the weakest joints of a text are told, at most; of a short text, no more than half of its joints.
WEAKEST = 3


def check_length(service: Service, text: str) -> None:
    """Reject a text that is too long to be compared word by word."""
    service.check(text)
    if len(text) > LONGEST:
        raise TooLong(
            f"one of the two texts has {len(text):,} characters, but at most {LONGEST:,} are allowed; compare passages"
        )


def two_texts(one: Doc, other: Doc) -> dict[str, Any]:
    """What corresponds in two texts of one language.

    >>> found = two_texts(Doc.from_words([["dogs", "bark"]]), Doc.from_words([["dogs", "sleep"]]))
    >>> found["similarity"], found["differs"]
    (0.5, [['bark'], ['sleep']])
    """
    pair = next(compared(SameLanguageAligner().align([(one, other)])))
    drawn = DrawnPair(pair.source, pair.target, pair.links, pair.similarity)
    return {
        "similarity": round(pair.similarity, 4),
        "links": [list(link) for link in pair.links],
        "differs": [list(words) for words in pair.differs],
        "picture": draw_pair(drawn, styled=False),
    }


def one_text(doc: Doc) -> dict[str, Any]:
    """How the sentences of a text hang together: its score, the weakest joints, and the sentence graph.

    >>> doc = Doc.from_words([["Cats", "sleep"], ["Cats", "purr"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]],
    ...                      deprel=[["nsubj", "root"], ["nsubj", "root"]])
    >>> found = one_text(doc)
    >>> found["coherence"], found["weakest"]
    (4.5, [1])
    """
    graph = SentenceGraph.of(doc)
    weakest = graph.joints()[: min(WEAKEST, graph.n // 2)]
    return {
        "sentences": graph.n,
        "coherence": round(graph.score(), 4),
        "weakest": sorted(joint.after + 1 for joint in weakest),
        "picture": draw_sentences(drawn_text(graph), styled=False) if graph.n > 1 else None,
    }


def warm() -> None:
    """Compare a few words, so that the first request finds compiled kernels."""
    words = [["dogs", "bark"], ["dogs", "sleep"]]
    doc = Doc.from_words(words, upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2, deprel=[["nsubj", "root"]] * 2)
    two_texts(doc, doc)
    one_text(doc)
