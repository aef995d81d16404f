"""Alignment of two texts of one language: which words mean the same (Sultan, Bethard and Sumner 2014).

    before        the marks that end both texts, then common sequences, compounds with hyphens and their parts, names
    contexts      content words by dependencies, then by neighbours; function words by what is linked already

(`weft.infer.alignment.contexts` has the stages). With a content words linked in the source and b in the target,

    similarity = 1/2 (a / content words of the source + b / content words of the target)

which is between 0 and 1. Links and similarity are the same when the texts are swapped. Texts without trees are aligned
by sequences and neighbours alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.infer.alignment.contexts import (
    CONTENT,
    STAGES,
    Bytes,
    ContextSettings,
    Side,
    align_contexts,
)
from weft.lexical.paraphrases import Paraphrases
from weft.ragged import Indices
from weft.tasks.similarity.names import Mention, name_links
from weft.tasks.similarity.relations import Relations, class_of, collapsed, is_universal
from weft.tasks.similarity.words import WordTable
from weft.text.bitext import Links
from weft.text.doc import Doc

#: Labels of spans that are names of somebody or something.
NAME_LABELS = frozenset({"PER", "PERSON", "ORG", "LOC", "GPE", "ORGANIZATION", "LOCATION", "MISC"})
_FINAL = frozenset(".!?")
_BATCH = 500


@dataclass(frozen=True)
class SimilaritySettings:
    """How similarity and context are weighed, and which evidence is used."""

    ppdb: float = 0.9  #: similarity of a pair of paraphrases
    similarity_weight: float = 0.9  #: weight of similarity; context has the rest
    window: int = 3  #: words to each side that are context of a content word
    reach: int = 2  #: the same for function words
    paraphrases: bool = True
    dependencies: bool = True
    neighbours: bool = True  #: common sequences and textual neighbours
    functions: bool = True  #: whether function words and marks are linked outside common sequences
    names: bool = True

    def check(self) -> None:
        """Raise an error for values out of range."""
        if not 0 < self.ppdb <= 1:
            raise ConfigError(f"ppdb, the similarity of paraphrases, lies above 0 and up to 1, got {self.ppdb}")
        self.contexts().check()

    def contexts(self) -> ContextSettings:
        """The settings of the stages."""
        return ContextSettings(
            self.similarity_weight, self.window, self.reach, sequences=self.neighbours, edges=self.dependencies,
            neighbours=self.neighbours, functions=self.functions,
        )  # fmt: skip


class Unit(NamedTuple):
    """A text to compare: its words, and what alignment needs to know of them."""

    forms: list[str]
    lemmas: list[str]
    classes: list[int]
    edges: list[tuple[int, int, int]]
    names: list[Mention]


@dataclass(frozen=True, eq=False)
class Aligned:
    """Links of pairs of texts, the stage that made each, and the similarity of every pair."""

    links: Links
    stages: Bytes  #: per link; `weft.infer.alignment.contexts.STAGES` names them
    similarity: Floats  #: per pair
    source: list[list[str]] = field(repr=False)
    target: list[list[str]] = field(repr=False)

    def pairs(self) -> list[list[tuple[int, int]]]:
        """The links as lists of pairs of positions, one list per pair of texts."""
        return self.links.pairs()

    def why(self) -> list[list[tuple[int, int, str]]]:
        """The links of every pair with the stage that made them."""
        names = [STAGES[stage] for stage in self.stages.tolist()]
        rows = list(zip(self.links.source.tolist(), self.links.target.tolist(), names, strict=True))
        ends = self.links.offsets.tolist()
        return [rows[a:b] for a, b in pairwise(ends)]

    @classmethod
    def joined(cls, parts: Iterable[Aligned]) -> Aligned:
        """Several batches as one."""
        held = list(parts)
        return cls(
            Links.joined(part.links for part in held),
            np.concatenate([part.stages for part in held]) if held else np.zeros(0, dtype=np.uint8),
            np.concatenate([part.similarity for part in held]) if held else np.zeros(0),
            [words for part in held for words in part.source],
            [words for part in held for words in part.target],
        )


class _Columns(NamedTuple):
    """What is read of a document, once for all its sentences."""

    forms: list[str]
    lemmas: list[str]
    tags: list[str] | None
    heads: list[int] | None
    labels: list[str] | None
    universal: bool
    names: list[Mention]

    @classmethod
    def of(cls, doc: Doc) -> _Columns:
        forms = doc.column("form")
        tags = next((doc.column(name) for name in ("xpos", "upos") if doc.has(name)), None)
        labels = doc.column("deprel") if doc.has("deprel") else None
        layer = doc.spans.get("entities")
        return cls(
            forms, doc.column("lemma") if doc.has("lemma") else forms, tags,
            doc.head.tolist() if doc.head is not None else None, labels, is_universal(labels or ()),
            [(a, b) for a, b, label in layer.flat() if label in NAME_LABELS] if layer is not None else [],
        )  # fmt: skip


class SameLanguageAligner:
    """Aligns texts of one language.

    >>> aligner = SameLanguageAligner()
    >>> one = Doc.from_words([["He", "wrote", "a", "book", "."]])
    >>> other = Doc.from_words([["I", "read", "the", "book", "he", "wrote", "."]])
    >>> found = aligner.align([(one, other)])
    >>> found.links.pairs(), round(float(found.similarity[0]), 3)
    ([[(0, 4), (1, 5), (3, 3), (4, 6)]], 0.833)
    """

    def __init__(self, settings: SimilaritySettings | None = None, paraphrases: Paraphrases | None = None) -> None:
        self.settings = settings or SimilaritySettings()
        self.settings.check()
        self.words = WordTable(paraphrases if self.settings.paraphrases else None)
        self._relations = Relations()
        self._table = self._relations.equivalences()

    def unit(self, doc: Doc) -> Unit:
        """A whole document as one text."""
        if doc.text.strip() and not doc.n_words:
            raise DataError(f"{doc!r} is text without words; split it into words first, as weft.load('en') does")
        return self._unit(_Columns.of(doc), 0, doc.n_words, doc.sentence_offsets.tolist())

    def units(self, doc: Doc) -> Iterator[Unit]:
        """Every sentence of a document as a text."""
        columns, ends = _Columns.of(doc), doc.sentence_offsets.tolist()
        for a, b in pairwise(ends):
            yield self._unit(columns, a, b, [a, b])

    def _unit(self, columns: _Columns, first: int, end: int, sentences: list[int]) -> Unit:
        edges, number = [], self._relations.number
        if columns.heads is not None and columns.tags is not None and columns.labels is not None:
            forms, tags, heads, labels = columns.forms, columns.tags, columns.heads, columns.labels
            for a, b in pairwise(sentences):
                for h, d, name in collapsed(forms[a:b], tags[a:b], heads[a:b], labels[a:b], columns.universal):
                    edges.append((h + a - first, d + a - first, number(name)))
        classes = [class_of(tag) for tag in columns.tags[first:end]] if columns.tags else [0] * (end - first)
        names = [(a - first, b - first) for a, b in columns.names if first <= a and b <= end]
        return Unit(columns.forms[first:end], columns.lemmas[first:end], classes, edges, names)

    def align(self, pairs: Iterable[tuple[Doc, Doc]]) -> Aligned:
        """The links of pairs of documents, each of which is one text."""
        return Aligned.joined(self.stream(pairs))

    def stream(self, pairs: Iterable[tuple[Doc, Doc]], batch: int = _BATCH) -> Iterator[Aligned]:
        """The same in batches, in bounded memory."""
        waiting = iter(pairs)
        while held := list(islice(waiting, batch)):
            yield self.align_units([self.unit(one) for one, _ in held], [self.unit(other) for _, other in held])

    def align_units(self, source: Sequence[Unit], target: Sequence[Unit]) -> Aligned:
        """The links of pairs of texts."""
        if len(source) != len(target):
            raise DataError(
                f"{len(source):,} texts on one side and {len(target):,} on the other; they are compared in pairs"
            )
        # Ties are broken by distance, and by position where that ties too: all pairs are worked on in one direction.
        turned = [other < one for one, other in zip(source, target, strict=True)]
        source, target = (
            [other if turn else one for one, other, turn in zip(*sides, turned, strict=True)]
            for sides in ((source, target), (target, source))
        )
        sides = [self._numbered(source), self._numbered(target)]
        (one, one_at), (other, other_at) = sides
        cells = self.words.similarities(one, other, one_at, other_at, self.settings.ppdb)
        given = self._given(source, target)
        left, right = self._side(source, one, one_at), self._side(target, other, other_at)
        stages = align_contexts(left, right, cells, self._table, given, self.settings.contexts())
        return _aligned(stages, left, right, source, target, turned)

    def _numbered(self, units: Sequence[Unit]) -> tuple[Ints, Indices]:
        numbers: list[int] = []
        ends = [0]
        for unit in units:
            numbers += self.words.numbers(unit.forms, unit.lemmas)
            ends.append(len(numbers))
        return np.array(numbers, dtype=np.int64), np.array(ends, dtype=np.int64)

    def _side(self, units: Sequence[Unit], numbers: Ints, offsets: Indices) -> Side:
        flat = [edge for unit in units for edge in unit.edges]
        return Side(
            offsets,
            self.words.symbols[numbers],
            self.words.kinds[numbers],
            np.array([each for unit in units for each in unit.classes], dtype=np.uint8),
            np.concatenate([[0], np.cumsum([len(unit.edges) for unit in units])]).astype(np.int64),
            np.array(flat, dtype=np.int32).reshape(len(flat), 3),
        )

    def _given(self, source: Sequence[Unit], target: Sequence[Unit]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        """Final marks, names, and parts of compounds."""
        rows: list[tuple[int, int, int, int]] = []
        for pair, (one, other) in enumerate(zip(source, target, strict=True)):
            if one.forms and other.forms:
                a, b = one.forms[-1], other.forms[-1]
                if a in _FINAL and b in _FINAL:
                    rows.append((pair, len(one.forms) - 1, len(other.forms) - 1, 1))
            if self.settings.neighbours:
                rows += [(pair, i, j, 0) for i, j in _compounds(one.forms, other.forms)]
                rows += [(pair, j, i, 0) for i, j in _compounds(other.forms, one.forms)]
            if self.settings.names:
                rows += [(pair, i, j, 0) for i, j in name_links(one.forms, other.forms, one.names, other.names)]
        return np.array(rows, dtype=np.int32).reshape(len(rows), 4)


def _aligned(
    stages: Bytes, left: Side, right: Side, source: Sequence[Unit], target: Sequence[Unit], turned: Sequence[bool]
) -> Aligned:
    """Links and similarities from the cells of pairs, some of which were swapped."""
    n, m = left.sizes, right.sizes
    cells_at = np.concatenate([[0], np.cumsum(n * m)])
    cells = np.flatnonzero(stages)
    pair = np.searchsorted(cells_at, cells, side="right") - 1
    i, j = np.divmod(cells - cells_at[pair], np.maximum(m[pair], 1))
    similarity = (_share(left, pair, i) + _share(right, pair, j)) / 2
    back = np.array(turned, dtype=np.bool_)[pair]
    i, j = np.where(back, j, i), np.where(back, i, j)
    order = np.lexsort((j, i, pair))
    links = Links(
        np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=len(n)))]), i[order].astype(np.int32),
        j[order].astype(np.int32), np.ones(len(cells)),
    )  # fmt: skip
    words = [
        (b.forms, a.forms) if turn else (a.forms, b.forms) for a, b, turn in zip(source, target, turned, strict=True)
    ]
    return Aligned(
        links, stages[cells][order], similarity, [one for one, _ in words], [other for _, other in words]
    )  # fmt: skip


def _share(side: Side, pair: Ints, place: Ints) -> Floats:
    """The share of the content words of every text that have a link."""
    linked = np.zeros(len(side.symbols), dtype=np.bool_)
    linked[side.offsets[pair] + place] = True
    content = side.kinds == CONTENT
    sentence = np.repeat(np.arange(len(side.offsets) - 1), side.sizes)
    whole = np.bincount(sentence[content], minlength=len(side.sizes))
    part = np.bincount(sentence[content & linked], minlength=len(side.sizes))
    share: Floats = part / np.maximum(whole, 1)
    return share


def _compounds(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Links of words with hyphens to two or more of their parts in sequence in the other text.

    >>> _compounds(["a", "well-known", "man"], ["well", "known"])
    [(1, 0), (1, 1)]
    """
    links = []
    lower: list[str] | None = None
    for i, word in enumerate(one):
        if "-" not in word or len(word) < 4:
            continue
        parts = [part for part in word.lower().split("-") if part]
        if len(parts) < 2:
            continue
        lower = lower if lower is not None else [each.lower() for each in other]
        for j in range(len(lower) - len(parts) + 1):
            if lower[j : j + len(parts)] == parts:
                links += [(i, j + k) for k in range(len(parts))]
                break
    return links
