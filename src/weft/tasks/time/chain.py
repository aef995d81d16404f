"""Time expressions in running text, found by a linear chain that annotated text has taught.

Words, their ends and shapes are features of the chain, and so is what the phrases know of a word: whether it means a
time, occurs in phrases, or is a number (`weft.tasks.time.detect`). So the words of phrases that the text never had are
found too, and the text says where an expression begins and ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import DataError
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.tasks.time.detect import TimeFinder
from weft.text.conventions.timeline import mentions_of
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

_LAYER, _LABEL, _KNOWN = "expressions", "TIMEX3", "known"
_TEMPLATES = (
    "true w[-2..2].lower w[0].prefix1..3 w[0].suffix1..4 w[-1..1].shape w[-1].lower|w[0].lower w[0].lower|w[1].lower "
    "k[-2..2] k[-1]|k[0] k[0]|k[1] k[-1]|k[0]|k[1] y[-1]"
)


def fit_chain(docs: Sequence[Doc], layer: str, finder: TimeFinder, iterations: int = 80, seed: int = 0) -> Chunker:
    """Learn from documents in which all time expressions are marked.

    >>> import numpy as np
    >>> finder = TimeFinder("en", {"may": 1}, np.array([[0] * 5, [4, 0, 4, 4, 0]]))
    >>> doc = Doc.from_words([["We", "met", "in", "May"], ["They", "may", "come"]])
    >>> doc.spans["times"] = SpanLayer.of(doc.strings, [(3, 4, "DATE")])
    >>> new = Doc.from_words([["They", "met", "in", "May"], ["We", "may", "come"]])
    >>> found_by(fit_chain([doc], "times", finder), finder, new)
    [(3, 4)]
    """
    seen = []
    for doc in docs:
        seen.append(_seen(doc, finder))
        seen[-1].spans[_LAYER] = SpanLayer.of(doc.strings, _flat(doc, layer))
    marked = sum(end - start for doc in seen for row in doc.spans[_LAYER] for start, end in row.pieces)
    if marked in (0, sum(doc.n_words for doc in seen)):
        raise DataError(
            "a chain learns from running text in which time expressions are marked, such as TimeML; phrases alone do "
            "not show what is none: use --detector words"
        )
    chunker = Chunker(
        ChunkerSettings(
            layer=_LAYER, templates=_TEMPLATES, fields={"w": "form", "k": _KNOWN}, iterations=iterations, min_count=1,
            seed=seed,
        )
    )  # fmt: skip
    chunker.fit(seen)
    return chunker


def found_by(chain: Chunker, finder: TimeFinder, doc: Doc) -> list[tuple[int, int]]:
    """The spans of words that a chain takes for time expressions."""
    seen = _seen(doc, finder)
    chain([seen])
    return [row.pieces[0] for row in seen.spans[_LAYER]]


def _seen(doc: Doc, finder: TimeFinder) -> Doc:
    """A document as the chain sees it: its words, and what phrases know of each."""
    copy = Doc(doc.text, doc.strings)
    copy.token_start, copy.token_end, copy.word_token = doc.token_start, doc.token_end, doc.word_token
    copy.sentence_offsets, copy.multiwords = doc.sentence_offsets, doc.multiwords
    copy.columns = {"form": doc.columns["form"], _KNOWN: doc.strings.ids(finder.classes(doc.column("form")))}
    return copy


def _flat(doc: Doc, layer: str) -> list[tuple[int, int, str]]:
    """Expressions with words, within their sentences; of two that overlap, the first."""
    bounds = doc.sentence_offsets.tolist()
    spans: list[tuple[int, int, str]] = []
    sentence = reached = 0
    if layer not in doc.spans:
        return []
    for mention in sorted(mentions_of(doc, layer), key=lambda each: (each.start, each.end)):
        if mention.start == mention.end or mention.start < reached:
            continue
        while mention.start >= bounds[sentence + 1]:
            sentence += 1
        if mention.end <= bounds[sentence + 1]:
            spans.append((mention.start, mention.end, _LABEL))
            reached = mention.end
    return spans
