"""Links between the words of sentence pairs: which word translates which.

A bitext is two texts with the same number of sentences; pair `s` is sentence `s` of each. Its links are rows
`offsets[s]:offsets[s + 1]` of three columns: the word of the source sentence, the word of the target sentence (both
counted from 0 inside their sentence), and the posterior probability of the link, 1 where an aligner gives none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.errors import WeftError

Positions = NDArray[np.int32]
Offsets = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Links:
    """The links of all sentence pairs of a bitext, as ragged arrays.

    >>> links = Links.of([[(0, 0), (1, 2, 0.4)], [], [(3, 1, 0.9)]])
    >>> links.offsets.tolist(), links.source.tolist(), links.target.tolist()
    ([0, 2, 2, 3], [0, 1, 3], [0, 2, 1])
    >>> links.above(0.5).pairs()
    [[(0, 0)], [], [(3, 1)]]
    >>> links.flipped().pairs()
    [[(0, 0), (2, 1)], [], [(1, 3)]]
    """

    offsets: Offsets
    source: Positions
    target: Positions
    score: Scores

    def __post_init__(self) -> None:
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        size = len(self.source)
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != size or np.any(offsets[1:] < offsets[:-1]):
            raise WeftError(f"offsets of links must rise from 0 to the number of links, {size}")
        if len(self.target) != size or len(self.score) != size:
            raise WeftError(f"links need as many targets and scores as sources, {size}")
        score = np.ascontiguousarray(self.score, dtype=np.float64)
        if size and not (score.min() >= 0 and score.max() <= 1):
            raise WeftError("scores of links are probabilities, from 0 to 1")
        source = np.ascontiguousarray(self.source, dtype=np.int32)
        target = np.ascontiguousarray(self.target, dtype=np.int32)
        if size and min(source.min(), target.min()) < 0:
            raise WeftError("links count words from 0; a link with a negative position was given")
        for name, column in (("offsets", offsets), ("source", source), ("target", target), ("score", score)):
            object.__setattr__(self, name, column)

    @classmethod
    def of(cls, pairs: Iterable[Iterable[Sequence[float]]]) -> Links:
        """Links from lists: `(i, j)` or `(i, j, score)`, one list per sentence pair."""
        rows: list[tuple[int, int, float]] = []
        ends = [0]
        for pair in pairs:
            rows.extend((int(link[0]), int(link[1]), float(link[2]) if len(link) > 2 else 1.0) for link in pair)
            ends.append(len(rows))
        source, target, score = zip(*rows, strict=True) if rows else ((), (), ())
        try:
            places = np.array(source, np.int32), np.array(target, np.int32)
        except OverflowError as error:
            raise WeftError("links count words with 32 bits; a link with a larger position was given") from error
        return cls(np.array(ends), *places, np.array(score, np.float64))

    @classmethod
    def joined(cls, parts: Iterable[Links]) -> Links:
        """The links of several bitexts, concatenated.

        >>> Links.joined([Links.of([[(0, 1)]]), Links.of([[], [(2, 2)]])]).pairs()
        [[(0, 1)], [], [(2, 2)]]
        """
        held = list(parts)
        if not held:
            return cls.of([])
        sizes = np.concatenate([np.diff(part.offsets) for part in held])
        columns = (np.concatenate([getattr(part, name) for part in held]) for name in ("source", "target", "score"))
        return cls(np.concatenate([[0], np.cumsum(sizes)]), *columns)

    @property
    def n_pairs(self) -> int:
        """The number of sentence pairs."""
        return len(self.offsets) - 1

    def __len__(self) -> int:
        return len(self.source)

    def sentence(self) -> Offsets:
        """The index of every link's sentence pair."""
        return np.repeat(np.arange(self.n_pairs), np.diff(self.offsets))

    def where(self, keep: ArrayLike) -> Links:
        """The links that a boolean array, one entry per link, selects."""
        kept = np.asarray(keep, dtype=np.bool_)
        if kept.shape != self.source.shape:
            raise WeftError(f"expected one boolean per link, {len(self)}, got an array of shape {kept.shape}")
        ends = np.concatenate([[0], np.cumsum(kept)])
        return Links(ends[self.offsets], self.source[kept], self.target[kept], self.score[kept])

    def above(self, threshold: float) -> Links:
        """The links with a score of at least `threshold`."""
        return self.where(self.score >= threshold)

    def flipped(self) -> Links:
        """The links with source and target swapped, in the order of the new source words."""
        order = np.lexsort((self.source, self.target, self.sentence()))
        return Links(self.offsets, self.target[order], self.source[order], self.score[order])

    def take(self, start: int, end: int | None = None) -> Links:
        """The links of sentence pairs `start` to `end` (exclusive).

        >>> Links.of([[(0, 1)], [(5, 6)], [(2, 2)]]).take(1, 3).pairs()
        [[(5, 6)], [(2, 2)]]
        """
        offsets = self.offsets[start : (None if end is None else end + 1)]
        if len(offsets) == 0:
            return Links.of([])
        rows = slice(int(offsets[0]), int(offsets[-1]))
        return Links(offsets - offsets[0], self.source[rows], self.target[rows], self.score[rows])

    def pairs(self) -> list[list[tuple[int, int]]]:
        """The links as lists of pairs of positions, one list per sentence pair."""
        return list(self)

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        links = list(zip(self.source.tolist(), self.target.tolist(), strict=True))
        for start, end in pairwise(self.offsets.tolist()):
            yield links[start:end]

    def __repr__(self) -> str:
        return f"Links({len(self)} links of {self.n_pairs} sentence pairs)"


def check_links(links: Links, source_offsets: ArrayLike, target_offsets: ArrayLike) -> tuple[Offsets, Offsets]:
    """The offsets of both texts as int64, once all links point to words of their sentences.

    >>> check_links(Links.of([[(0, 2)]]), [0, 2], [0, 2])
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: sentence pair 1: link 0-2 points past the end of a sentence (2 source and 2 ...
    """
    source, target = np.asarray(source_offsets, np.int64), np.asarray(target_offsets, np.int64)
    for name, offsets in (("source", source), ("target", target)):
        if len(offsets) - 1 != links.n_pairs:
            raise WeftError(
                f"there are links of {links.n_pairs} sentence pairs, but {len(offsets) - 1} {name} sentences; "
                "a bitext has one line of links per sentence pair"
            )
    at = links.sentence()
    sizes = np.diff(source), np.diff(target)
    bad = np.flatnonzero((links.source >= sizes[0][at]) | (links.target >= sizes[1][at]))
    if len(bad):
        link = bad[0]
        pair = at[link]
        raise WeftError(
            f"sentence pair {pair + 1}: link {links.source[link]}-{links.target[link]} points past the end of a "
            f"sentence ({sizes[0][pair]} source and {sizes[1][pair]} target words); are the texts tokenized as they "
            "were for the aligner, and does it count from 0?"
        )
    return source, target
