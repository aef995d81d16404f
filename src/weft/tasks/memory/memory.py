"""A translation memory: segments with their translations, searched for fuzzy matches.

    FMS(s, t) = 1 - D(s, t) / max(|s|, |t|)        with D the edit distance in words, letter case ignored

Words are those of `weft.formats.memories.words`: a span of markup or a placeholder is one word.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import ConfigError, DataError
from weft.formats.memories.doors import read_memory
from weft.formats.memories.units import TranslationUnit
from weft.formats.memories.words import marked_words
from weft.infer.fuzzy.index import FuzzyIndex
from weft.tasks.bitext.align import Aligner
from weft.text.bitext import Links

Words = Sequence[str]
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Match:
    """An entry of a memory that resembles a segment."""

    row: int
    score: float
    source: tuple[str, ...]
    target: tuple[str, ...]
    unit: TranslationUnit
    origin: str = ""  #: the file that it is from


class TranslationMemory:
    """Segments with their translations.

    >>> memory = TranslationMemory.of([("Save the file.", "Guarde el archivo."), ("Close it.", "Ciérrelo.")])
    >>> best = memory.matches("Save the old file.")[0]
    >>> best.unit.target, best.score
    ('Guarde el archivo.', 0.8)
    """

    def __init__(self, units: Iterable[TranslationUnit], origins: Iterable[str] = ()) -> None:
        self.units = list(units)
        self._origins = list(origins)
        self.source = [marked_words(unit.source) for unit in self.units]
        self.target = [marked_words(unit.target) for unit in self.units]
        self.links: Links | None = None
        self._prepare()

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> TranslationMemory:
        """A memory of texts."""
        return cls(TranslationUnit(source, target, str(row)) for row, (source, target) in enumerate(pairs))

    @classmethod
    def of_words(cls, source: Iterable[Words], target: Iterable[Words]) -> TranslationMemory:
        """A memory of segments that are split into words.

        >>> TranslationMemory.of_words([["a", "b c"]], [["d"]]).source
        [['a', 'b c']]
        """
        memory = cls(())
        memory.source, memory.target = [list(words) for words in source], [list(words) for words in target]
        if len(memory.source) != len(memory.target):
            raise DataError(f"{len(memory.source):,} segments have {len(memory.target):,} translations")
        memory.units = [
            TranslationUnit(" ".join(one), " ".join(other), str(row))
            for row, (one, other) in enumerate(zip(memory.source, memory.target, strict=True))
        ]
        memory._prepare()
        return memory

    @classmethod
    def read(cls, paths: PathLike | Iterable[PathLike], source: str = "", target: str = "") -> TranslationMemory:
        """The confirmed translations of files: TMX, XLIFF, PO, two columns or `source ||| target`."""
        names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        units, origins = [], []
        for name in names:
            for unit in read_memory(name, source, target):
                units.append(unit)
                origins.append(os.path.basename(os.fspath(name)))
        if not units:
            raise ConfigError("name at least one file of a translation memory")
        return cls(units, origins)

    def _prepare(self) -> None:
        self._numbers: dict[str, int] = {}
        rows: dict[tuple[int, ...], list[int]] = {}
        for row, words in enumerate(self.source):
            key = tuple(self._numbers.setdefault(word.lower(), len(self._numbers)) for word in words)
            rows.setdefault(key, []).append(row)
        self._rows = list(rows.values())  # equal segments are one entry of the index
        self._sequences = list(rows)

    @cached_property
    def index(self) -> FuzzyIndex:
        """The index of distinct segments."""
        return FuzzyIndex.of(self._sequences)

    def __len__(self) -> int:
        return len(self.units)

    def numbers(self, words: Words) -> Ids:
        """The numbers of source words, -1 for those that the memory does not have."""
        return np.array([self._numbers.get(word.lower(), -1) for word in words], np.int32)

    def matches(
        self, segment: str | Words, k: int = 1, least: float = 0.0, unlike: bool = False
    ) -> list[Match]:  # fmt: skip
        """The k best matches with a score of at least `least`, of each segment the translation that is most frequent.

        With `unlike`, segments that are equal to the given one are passed over, as if the memory did not have them.
        """
        words = marked_words(segment) if isinstance(segment, str) else segment
        numbers = self.numbers(words)
        without: list[int] = []
        if unlike:
            equal, scores = self.index.nearest(numbers, 1, 1.0)
            without = [int(row) for row, score in zip(equal, scores, strict=True) if score == 1.0]
        found, scores = self.index.nearest(numbers, k, least, without)
        return [self._match(int(row), float(score)) for row, score in zip(found, scores, strict=True)]

    def _match(self, entry: int, score: float) -> Match:
        rows = self._rows[entry]
        votes: dict[tuple[str, ...], list[int]] = {}
        for row in rows:
            votes.setdefault(tuple(self.target[row]), []).append(row)
        row = max(votes.values(), key=lambda each: (len(each), -each[0]))[0]
        origin = self._origins[row] if self._origins else ""
        return Match(row, score, tuple(self.source[row]), tuple(self.target[row]), self.units[row], origin)

    def links_of(self, row: int) -> list[tuple[int, int]]:
        """The links between the words of an entry."""
        if self.links is None:
            raise ConfigError("the words of this memory are not aligned yet; call align()")
        first, end = self._link_rows[row], self._link_rows[row + 1]
        return list(zip(self.links.source[first:end].tolist(), self.links.target[first:end].tolist(), strict=True))

    @property
    def _link_rows(self) -> Ints:
        assert self.links is not None
        return self.links.offsets

    def align(self, aligner: Aligner | None = None) -> Links:
        """Link the words of all entries, those on which both directions agree; without an aligner, train one."""
        sides = self.source, self.target
        if aligner is None:
            aligner = Aligner()
            aligner.fit(*sides)
        self.links = aligner.align(*sides, "intersection")
        return self.links

    def equal_rows(self) -> Iterator[list[int]]:
        """The entries with the same source words, group by group."""
        yield from self._rows

    def statistics(self, segments: Iterable[str | Words]) -> dict[str, tuple[int, int]]:
        """How many segments and words fall into each range of scores, as translators are paid.

        >>> memory = TranslationMemory.of([("Save the file.", "Guarde el archivo.")])
        >>> {band: count for band, count in memory.statistics(["Save the file.", "Save it."]).items() if count[0]}
        {'100 %': (1, 4), '50-74 %': (1, 3)}
        """
        edges = (0.0, 0.5, 0.75, 0.85, 0.95, 1.0)
        names = ["no match"]
        names += [f"{round(100 * low)}-{round(100 * high) - 1} %" for low, high in pairwise(edges[1:])]
        names.append("100 %")
        counts = dict.fromkeys(reversed(names), (0, 0))
        for segment in segments:
            words = marked_words(segment) if isinstance(segment, str) else segment
            found = self.matches(words)
            score = found[0].score if found else 0.0
            band = names[sum(score >= edge - 1e-9 for edge in edges[1:])]
            counts[band] = (counts[band][0] + 1, counts[band][1] + len(words))
        return counts
