"""Mentions as entities of a grid: their head words, and which of them are the same entity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import DataError
from weft.text.conventions.coreference import LAYER, coreference_of
from weft.text.doc import Doc
from weft.text.layers import words_of_chars


class Mentions(NamedTuple):
    """Head words of mentions, the number of each one's entity, and the entities' names.

    `joins_nouns` says whether nouns that are no head of a mention stay entities of their own.
    """

    heads: Ints
    entities: Ids
    names: list[str]
    joins_nouns: bool


def mentions_of(doc: Doc, layer: str) -> Mentions:
    """The mentions of a layer: those of clusters that have at least two, or spans, the same if their words are.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "Lovelace", "left"]], head=[[3, 1, 0]])
    >>> doc.spans["names"] = SpanLayer.of(doc.strings, [(0, 2, "PER")])
    >>> mentions_of(doc, "names").names, mentions_of(doc, "names").heads.tolist()
    (['ada lovelace'], [0])
    """
    found = coreference_of(doc, layer)
    if found is None and layer not in doc.spans:
        known = [*doc.clusters, *doc.spans]
        place = f"its layers are {', '.join(known)}" if known else "it has no layers of mentions"
        hint = "; coreference comes from `weft annotate --model en+en-coref`" if layer == LAYER else ""
        raise DataError(f"{doc.id or 'a document'} has no entities {layer!r}: {place}{hint}")
    spans, clusters = found if found is not None else (doc.spans[layer], None)
    if spans.unit != "words":
        spans = words_of_chars(doc, spans)
    forms, governors = doc.column("form"), _governors(doc)
    words = [[word for start, end in row.pieces for word in range(start, end)] for row in spans]
    texts = [" ".join(forms[word] for word in own).lower() for own in words]
    keys: Sequence[str | int] = texts if clusters is None else clusters.cluster.tolist()
    counts: dict[str | int, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    numbers: dict[str | int, int] = {}
    names: list[str] = []
    heads, entities = [], []
    for own, text, key in zip(words, texts, keys, strict=True):
        alone = clusters is not None and (counts[key] < 2 or int(key) < 0)
        if not own or alone:
            continue
        if key not in numbers:
            numbers[key] = len(numbers)
            names.append(text)
        heads.append(_head(governors, own))
        entities.append(numbers[key])
    return Mentions(np.array(heads, dtype=np.int64), np.array(entities, dtype=np.int32), names, clusters is not None)


def _governors(doc: Doc) -> list[int]:
    """The word that governs each word, -1 for roots."""
    if doc.head is None:
        return [-1] * doc.n_words
    firsts = np.repeat(doc.sentence_offsets[:-1], np.diff(doc.sentence_offsets))
    found: list[int] = np.where(doc.head > 0, firsts + doc.head - 1, -1).tolist()
    return found


def _head(governors: list[int], words: Sequence[int]) -> int:
    """The first word of a mention that no word of it governs."""
    inside = set(words)
    return next((word for word in words if governors[word] not in inside), words[0])
