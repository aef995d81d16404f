"""The nearest sequences of a collection by fuzzy match score, without a look at most of them.

A match keeps words: D(q, x) >= max(|q|, |x|) - c(q, x), with c the number of words the two share, repeats counted as
often as in both. So

    score(q, x)  <=  c(q, x) / max(|q|, |x|)

Lists of the sequences of every word give c for all sequences that share one. These are compared in the order of their
bounds, and the search ends at the first bound that is below the worst score kept: the result is that of a comparison
with all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ids, Ints
from weft.errors import InferenceError
from weft.infer.fuzzy.distance import BITS, banded, bit_distance, clear, mark
from weft.kernel import inner_kernel, kernel

_EPSILON = 1e-12
#: Counts of words that are shared, small for the cache.
Shares = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class FuzzyIndex:
    """Sequences of numbers from 0, and lists of the sequences of every number.

    >>> index = FuzzyIndex.of([[1, 2, 3, 4], [1, 2, 9, 4], [7, 8]])
    >>> [(int(row), float(score)) for row, score in zip(*index.nearest([1, 2, 3, 5], k=2))]
    [(0, 0.75), (1, 0.5)]
    """

    values: Ids
    offsets: Ints
    #: Sequences of number w, ascending: rows[first[w]:first[w + 1]], each `times` there.
    first: Ints
    rows: Ids
    times: Ids

    @classmethod
    def of(cls, sequences: Iterable[Iterable[int]]) -> FuzzyIndex:
        """Index sequences."""
        lists = [np.asarray(list(each), np.int32) for each in sequences]
        sizes = np.array([len(each) for each in lists], np.int64)
        values = np.concatenate([np.zeros(0, np.int32), *lists]).astype(np.int32)
        return cls.of_arrays(values, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    @classmethod
    def of_arrays(cls, values: Ids, offsets: Ints) -> FuzzyIndex:
        """Index ragged sequences."""
        if len(values) and values.min() < 0:
            raise InferenceError("sequences of an index are of numbers from 0")
        size = int(values.max()) + 1 if len(values) else 0
        owner = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
        keys, times = np.unique(values.astype(np.int64) * max(len(offsets), 1) + owner, return_counts=True)
        word = keys // max(len(offsets), 1)
        first = np.searchsorted(word, np.arange(size + 1)).astype(np.int64)
        rows = (keys - word * max(len(offsets), 1)).astype(np.int32)
        return cls(np.ascontiguousarray(values, np.int32), offsets, first, rows, times.astype(np.int32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sequence(self, row: int) -> Ids:
        """One of the sequences."""
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def nearest(
        self, query: Iterable[int], k: int = 1, least: float = 0.0, without: Iterable[int] = ()
    ) -> tuple[Ids, Floats]:
        """The k sequences with the highest scores, at least `least` and above 0; of equal scores the first ones.

        Numbers that no sequence has may be -1. `without` names sequences that are passed over.
        """
        words = np.asarray(list(query), np.int32)
        words[words >= len(self.first) - 1] = -1
        apart = np.unique(np.asarray(list(without), np.int32))
        if k < 1:
            raise InferenceError(f"k={k}: expected at least one match")
        if not len(words) or not len(self):
            return np.zeros(0, np.int32), np.zeros(0)
        shared = np.zeros(len(self), np.int16)
        _shared_words(self.first, self.rows, self.times, words, shared)
        found, scores = np.empty(k, np.int32), np.empty(k)
        shared[apart[(apart >= 0) & (apart < len(self))]] = 0
        longest = int(np.diff(self.offsets).max())
        count = _search(
            self.values, self.offsets, words, shared, float(least),
            np.zeros(len(self.first), np.int64), np.empty(longest + 1, np.int64),
            np.empty(len(self), np.int32), np.empty(len(self), np.int32), np.zeros(_STEPS + 2, np.int64), found, scores,
        )  # fmt: skip
        return found[:count], scores[:count]

    def compare_all(self, query: Iterable[int], bits: bool = False) -> Floats:
        """The scores of all sequences, by comparison with each: what `nearest` does without.

        With `bits`, short queries are compared by the method of Myers, else number by number.

        >>> FuzzyIndex.of([[1, 2], [3]]).compare_all([1, 3]).tolist()
        [0.5, 0.5]
        """
        words = np.asarray(list(query), np.int32)
        longest = int(np.diff(self.offsets).max(initial=0))
        scores = np.empty(len(self))
        marks = np.zeros(len(self.first), np.int64)
        words[words >= len(self.first) - 1] = -1
        fits = bits and 0 < len(words) <= BITS
        _compare(self.values, self.offsets, words, np.empty(longest + 1, np.int64), marks, fits, scores)
        return scores


_STEPS = 1024  # classes of bounds, which are compared from the highest


@kernel
def _shared_words(first: Ints, rows: Ids, times: Ids, query: Ids, shared: Shares) -> None:
    """How many words every sequence shares with the query."""
    for i in range(len(query)):
        word = query[i]
        if word < 0:
            continue
        count = 1
        for before in range(i):
            if query[before] == word:
                count += 1
        if count == 1:
            for at in range(first[word], first[word + 1]):
                shared[rows[at]] += 1
        else:
            # The c-th of equal words counts for sequences that have c of them.
            for at in range(first[word], first[word + 1]):
                if times[at] >= count:
                    shared[rows[at]] += 1


@inner_kernel
def _step(shared: Shares, offsets: Ints, x: int, size: int) -> int:
    """The class of a sequence by its bound, 0 for the highest."""
    return int(_STEPS - (np.int64(shared[x]) * _STEPS) // max(size, offsets[x + 1] - offsets[x]))


@inner_kernel
def _before(score: float, x: int, other: float, y: int) -> bool:
    """Whether a match comes before another one: a higher score, or the same and an earlier row."""
    return score > other + _EPSILON or (score > other - _EPSILON and x < y)


@inner_kernel
def _score_of_highest(
    values: Ids, offsets: Ints, query: Ids, shared: Shares, bits: Ints, short: bool, row: Ints
) -> float:
    """The score of the sequence with the highest bound, which the best score cannot be below."""
    size, highest, best = len(query), -1.0, -1
    for x in range(len(shared)):
        if shared[x] == 0:
            continue
        longest = max(size, offsets[x + 1] - offsets[x])
        if shared[x] > highest * longest:
            highest, best = shared[x] / longest, x
    if best < 0:
        return 0.0
    longest = max(size, offsets[best + 1] - offsets[best])
    if short:
        distance = bit_distance(bits, size, values, offsets[best], offsets[best + 1], longest)
    else:
        distance = banded(query, 0, size, values, offsets[best], offsets[best + 1], longest, row)
    return 1.0 - distance / longest


@kernel
def _search(
    values: Ids, offsets: Ints, query: Ids, shared: Shares, least: float, bits: Ints, row: Ints,
    touched: Ids, order: Ids, starts: Ints, found: Ids, scores: Floats,
) -> int:  # fmt: skip
    """Compare sequences from the highest bound down; `found` and `scores` are filled best first."""
    size, k, count = len(query), len(found), 0
    short = size <= BITS
    if short:
        mark(bits, query)
    floor = least
    if k == 1:
        floor = max(least, _score_of_highest(values, offsets, query, shared, bits, short, row))
    kept = 0
    for x in range(len(shared)):
        if shared[x] > 0 and shared[x] >= floor * max(size, offsets[x + 1] - offsets[x]) - _EPSILON * 1000:
            touched[kept] = x
            kept += 1
    # Sort by counting: class 0 has the highest bounds.
    for i in range(kept):
        starts[_step(shared, offsets, touched[i], size) + 1] += 1
    for step in range(len(starts) - 1):
        starts[step + 1] += starts[step]
    for i in range(kept):
        step = _step(shared, offsets, touched[i], size)
        order[starts[step]] = touched[i]
        starts[step] += 1
    for i in range(kept):
        x = order[i]
        length = offsets[x + 1] - offsets[x]
        longest = max(size, length)
        wanted = max(least, scores[k - 1] if count == k else 0.0)
        # Bounds within a class differ by less than its width.
        if (_STEPS - _step(shared, offsets, x, size) + 1) / _STEPS < wanted - _EPSILON:
            break
        if shared[x] == 0 or shared[x] / longest < wanted - _EPSILON:
            continue
        limit = min(int(np.floor(longest * (1.0 - wanted) + _EPSILON * 10)), longest - 1)
        if short:
            distance = bit_distance(bits, size, values, offsets[x], offsets[x + 1], limit)
        else:
            distance = banded(query, 0, size, values, offsets[x], offsets[x + 1], limit, row)
        if distance > limit:
            continue
        score = 1.0 - distance / longest
        at = min(count, k - 1)
        if count == k and not _before(score, x, scores[k - 1], found[k - 1]):
            continue
        while at > 0 and _before(score, x, scores[at - 1], found[at - 1]):
            scores[at], found[at] = scores[at - 1], found[at - 1]
            at -= 1
        scores[at], found[at] = score, x
        count = min(count + 1, k)
    if short:
        clear(bits, query)
    return count


@kernel
def _compare(
    values: Ids, offsets: Ints, query: Ids, row: Ints, marks: Ints, bits: bool, scores: Floats
) -> None:  # fmt: skip
    if bits:
        mark(marks, query)
    for x in range(len(scores)):
        longest = max(len(query), offsets[x + 1] - offsets[x])
        if bits:
            distance = bit_distance(marks, len(query), values, offsets[x], offsets[x + 1], longest)
        else:
            distance = banded(query, 0, len(query), values, offsets[x], offsets[x + 1], longest, row)
        scores[x] = 1.0 - distance / longest if longest else 1.0
