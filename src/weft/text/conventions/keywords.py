"""Keywords of a document: a list of words with scores and sentences in the metadata, and a span per occurrence.

meta["keywords"]    [{"word": ..., "score": ..., "sentences": [numbers from 0]}, ...], the best first
spans/keywords      every occurrence, labelled with the keyword
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from weft.text.layers import SpanLayer

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "keywords"


class Keyword(NamedTuple):
    """A keyword of a document: a word or phrase, its score, and the numbers of the sentences behind it."""

    word: str
    score: float
    sentences: tuple[int, ...]


def set_keywords(doc: Doc, keywords: Iterable[Keyword], occurrences: Iterable[tuple[int, int, str]]) -> None:
    """Store keywords, and where they occur as spans of words.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["Fresh", "figs"], ["More", "figs"]])
    >>> set_keywords(doc, [Keyword("figs", 0.4, (0, 1))], [(1, 2, "figs"), (3, 4, "figs")])
    >>> doc.keywords
    [Keyword(word='figs', score=0.4, sentences=(0, 1))]
    """
    doc.meta[LAYER] = [{"word": k.word, "score": round(k.score, 6), "sentences": list(k.sentences)} for k in keywords]
    doc.spans[LAYER] = SpanLayer.of(doc.strings, sorted(occurrences))


def keywords_of(doc: Doc) -> list[Keyword]:
    """The stored keywords, none if there are none."""
    stored = doc.meta.get(LAYER, [])
    if not isinstance(stored, list):
        return []
    return [Keyword(str(k["word"]), float(k["score"]), tuple(k["sentences"])) for k in stored if isinstance(k, dict)]
