"""Speech repairs in dependency trees: the words under a `reparandum` arc are struck out.

    the red the blue square      red <- the(1): det,  red <- square: reparandum      struck out: the(1), red

An *analysis* is a list of heads in which a word that is struck out is its own head, and all others have heads that are
not struck out, or 0 for the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from weft.errors import WeftError
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

#: The relation of the head of a reparandum to its repair in Universal Dependencies.
REPARANDUM = "reparandum"
#: The relation of a filled pause to the word it stands before.
FILLER = "discourse:filler"
#: The span layer of words that are struck out.
LAYER = "disfluencies"


def struck_words(heads: Sequence[int], relations: Sequence[str]) -> list[bool]:
    """For every word of a sentence whether it or a word above it is a reparandum.

    >>> struck_words([2, 5, 5, 5, 0], ["det", "reparandum", "det", "amod", "root"])
    [True, True, False, False, False]
    """
    found: list[bool] = []
    for word in range(1, len(heads) + 1):
        seen: set[int] = set()
        while word > 0 and word not in seen and relations[word - 1].split(":")[0] != REPARANDUM:
            seen.add(word)
            word = heads[word - 1]
        found.append(word > 0 and word not in seen)
    return found


def analysis_of(heads: Sequence[int], relations: Sequence[str]) -> list[int]:
    """The heads of a sentence, words that are struck out being their own.

    >>> analysis_of([2, 5, 5, 5, 0], ["det", "reparandum", "det", "amod", "root"])
    [1, 2, 5, 5, 0]
    """
    struck = struck_words(heads, relations)
    return [word if out else head for word, (head, out) in enumerate(zip(heads, struck, strict=True), 1)]


def mark_disfluencies(doc: Doc) -> None:
    """Write runs of words that the trees strike out as the span layer `disfluencies`.

    >>> doc = Doc.from_words([["the", "red", "the", "blue", "square"]], head=[[2, 5, 5, 5, 0]],
    ...                    deprel=[["det", "reparandum", "det", "amod", "root"]])
    >>> mark_disfluencies(doc)
    >>> doc.span_views("disfluencies")
    [Span('the red', 'reparandum')]
    """
    spans: list[tuple[int, int, str]] = []
    for first, struck in struck_sentences(doc):
        spans += runs(struck, first)
    doc.spans[LAYER] = SpanLayer.of(doc.strings, spans)


def runs(struck: Sequence[bool], first: int = 0) -> list[tuple[int, int, str]]:
    """Runs of struck words of a sentence as spans; `first` is the number of its first word.

    >>> runs([True, True, False, True], 10)
    [(10, 12, 'reparandum'), (13, 14, 'reparandum')]
    """
    spans: list[tuple[int, int, str]] = []
    for word, out in enumerate(struck, first):
        if out and spans and spans[-1][1] == word:
            spans[-1] = (spans[-1][0], word + 1, REPARANDUM)
        elif out:
            spans.append((word, word + 1, REPARANDUM))
    return spans


def struck_sentences(doc: Doc) -> Iterator[tuple[int, list[bool]]]:
    """For every sentence of a document with trees the number of its first word, and which of its words are struck out.

    >>> list(struck_sentences(Doc.from_words([["so", "so"]], head=[[2, 0]], deprel=[["reparandum", "root"]])))
    [(0, [True, False])]
    """
    if doc.head is None:
        raise WeftError("the document has no trees to tell what is struck out; parse it first")
    relations = doc.column("deprel")
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        yield first, struck_words(doc.head[first:end].tolist(), relations[first:end])


def fluent_text(doc: Doc) -> str:
    """The words of a document with trees that are neither struck out nor fillers, one line per sentence.

    >>> doc = Doc.from_words([["the", "red", "uh", "the", "blue", "square"]], head=[[2, 6, 6, 6, 6, 0]],
    ...                    deprel=[["det", "reparandum", "discourse:filler", "det", "amod", "root"]])
    >>> fluent_text(doc)
    'the blue square'
    """
    forms, relations = doc.column("form"), doc.column("deprel") if doc.has("deprel") else []
    lines = []
    for first, struck in struck_sentences(doc):
        words = range(first, first + len(struck))
        kept = [word for word, out in zip(words, struck, strict=True) if not out and relations[word] != FILLER]
        lines.append(" ".join(forms[word] for word in kept))
    return "\n".join(lines)
