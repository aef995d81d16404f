"""Label sequences whose scores look back at any labels already chosen, by beam search from left to right.

    score(y) = sum_i { node[i, y_i] + sum over features f of i, values v of pattern(f) in y_{<i} of w[slot(f, v, y_i)] }

A pattern is a tuple of ranges of offsets: ((-2, -1),) takes the *set* of the two labels before, in whatever order, and
((-2, -2), (-1, -1)) the pair of them. Labels before the sentence count as one more label, number A. The values of a
pattern are numbered by reading one label a range as digits of base A + 1. With `bits`, slot(f, v, a) is the place of a
in one of 2^bits rows, by a hash of f and v that also gives the weight a sign; else base(f) + v A + a.

At each step the `width` best beginnings live on. Beginnings that agree in the last `reach` labels, all that features
can still see, have the same future: only the best of them is kept, so that a width of A^reach already makes the search
exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats, Keys
from weft.errors import InferenceError
from weft.hashing import join
from weft.kernel import kernel
from weft.ragged import Indices, States

Range = tuple[int, int]
_ONE = np.uint64(1)


class Patterns(NamedTuple):
    """What features look at among the labels before: pattern p owns ranges `starts[p]:starts[p + 1]`."""

    ranges: NDArray[np.int64]  # [range, (first offset, last offset)], all below 0
    starts: Indices
    reach: int  # how many labels back any pattern looks, at least 1
    widest: int  # the most values that any pattern can have at a time

    @classmethod
    def of(cls, patterns: Sequence[Sequence[Range]]) -> Patterns:
        """Patterns written as tuples of ranges of offsets.

        >>> patterns = Patterns.of([((-2, -1),), ((-3, -3), (-1, -1))])
        >>> patterns.reach, patterns.widest
        (3, 2)
        """
        for pattern in patterns:
            for lo, hi in pattern:
                if not lo <= hi < 0:
                    raise InferenceError(f"a feature can look at labels before its own only, got offsets {lo} to {hi}")
        ranges = np.array([each for pattern in patterns for each in pattern], dtype=np.int64).reshape(-1, 2)
        starts = np.cumsum([0, *map(len, patterns)]).astype(np.int64)
        widths = [int(np.prod([hi - lo + 1 for lo, hi in pattern])) for pattern in patterns]
        return cls(ranges, starts, max([1, *(-ranges[:, 0]).tolist()]), max([1, *widths]))

    def sizes(self, n_labels: int) -> Indices:
        """How many values each pattern knows in all."""
        return (n_labels + 1) ** np.diff(self.starts)


@dataclass(frozen=True)
class History:
    """Features that look back: position i has `base[offsets[i]:offsets[i + 1]]`, each with its pattern's number."""

    offsets: Indices
    base: Keys
    pattern: NDArray[np.int32]
    patterns: Patterns
    weights: Floats
    bits: int = 0

    @classmethod
    def none(cls, positions: int) -> History:
        """No features."""
        empty = np.zeros(0, dtype=np.uint64)
        offsets = np.zeros(positions + 1, dtype=np.int64)
        return cls(offsets, empty, np.zeros(0, dtype=np.int32), Patterns.of([]), np.zeros(1))


@dataclass(frozen=True)
class HistoryChain:
    """Scores of a batch of sentences; `legal[a, b]` says whether label b may follow a, row A what may begin.

    >>> node = np.array([[1.0, 0.0], [0.0, 0.4], [2.0, 0.0]])
    >>> once = History(np.array([0, 1, 2, 3]), np.zeros(3, dtype=np.uint64), np.zeros(3, dtype=np.int32),
    ...                Patterns.of([((-2, -1),)]), np.array([-2.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    >>> chain = HistoryChain(node, np.array([0, 3]), once)  # label 0 costs 2 where it stands among the two before
    >>> chain.best().tolist(), HistoryChain(node, np.array([0, 3])).best().tolist()
    ([1, 1, 0], [0, 1, 0])
    """

    node: Floats
    sentences: Indices
    history: History | None = None
    width: int = 8
    legal: Bools | None = None

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InferenceError(f"a beam needs a width of at least 1, got {self.width}")
        if self.node.ndim != 2 or len(self.node) != int(self.sentences[-1]):
            raise InferenceError(
                f"node scores must have one row per position: expected {int(self.sentences[-1])} rows, "
                f"got the shape {self.node.shape}"
            )

    @property
    def n_labels(self) -> int:
        return int(self.node.shape[1])

    def augment(self, node: Floats) -> HistoryChain:
        """The same structure with an array added to its scores."""
        return replace(self, node=self.node + node)

    def hamming(self, labels: ArrayLike, weight: float = 1.0) -> Floats:
        """An array that charges `weight` for every label that differs from those given."""
        cost = np.full(self.node.shape, weight)
        cost[np.arange(len(cost)), np.asarray(labels, dtype=np.int64)] = 0.0
        return cost

    def best(self) -> States:
        """The best label sequence of every sentence that the beam finds, one after the other."""
        out = np.zeros(len(self.node), dtype=np.int32)
        history = self._history()
        for first, end in zip(self.sentences[:-1].tolist(), self.sentences[1:].tolist(), strict=True):
            if first < end:
                beam(
                    np.ascontiguousarray(self.node[first:end], dtype=np.float64), first, history.offsets, history.base,
                    history.pattern, history.patterns.ranges, history.patterns.starts, history.patterns.reach,
                    history.patterns.widest, history.weights, 1.0, history.bits, self._legal(), self.width, out,
                )  # fmt: skip
        return out

    def score(self, labels: ArrayLike) -> Floats:
        """The score of given labels, one number per sentence; what is not legal scores as if it were."""
        path = np.asarray(labels, dtype=np.int32)
        history = self._history()
        return np.array(
            [
                path_score(
                    np.ascontiguousarray(self.node[first:end], dtype=np.float64), first, history.offsets, history.base,
                    history.pattern, history.patterns.ranges, history.patterns.starts, history.patterns.widest,
                    history.weights, 1.0, history.bits, path,
                )
                for first, end in zip(self.sentences[:-1].tolist(), self.sentences[1:].tolist(), strict=True)
            ]
        )  # fmt: skip

    def _history(self) -> History:
        return self.history if self.history is not None else History.none(len(self.node))

    def _legal(self) -> Bools:
        n = self.n_labels
        return np.ones((n + 1, n), dtype=np.bool_) if self.legal is None else self.legal


@kernel
def slot(base: np.uint64, value: int, label: int, n_labels: int, bits: int) -> tuple[np.int64, float]:
    """Where the weight of a feature, a value of its pattern and a label stands, and its sign.

    Half of the hashed features count as -1: those that share a place then hide each other's weights less than they
    would by adding up.
    """
    if bits == 0:
        return np.int64(base) + np.int64(value * n_labels + label), 1.0
    key = join(base, np.uint64(value) + _ONE)
    return np.int64(key >> np.uint64(64 - bits)) * n_labels + label, 1.0 if key & _ONE else -1.0


@kernel
def pattern_values(
    pattern: int, ranges: NDArray[np.int64], starts: Indices, n_labels: int, before: NDArray[np.int32], at: int,
    values: NDArray[np.int64],
) -> int:  # fmt: skip
    """Fill `values` with those a pattern takes where `before[at + offset]` are the labels before; gives how many."""
    values[0] = 0
    size = 1
    for r in range(starts[pattern], starts[pattern + 1]):
        members = 0
        for offset in range(ranges[r, 0], ranges[r, 1] + 1):
            label = before[at + offset] if at + offset >= 0 else n_labels
            seen = False
            for other in range(ranges[r, 0], offset):
                if (before[at + other] if at + other >= 0 else n_labels) == label:
                    seen = True
            if not seen:
                members += 1
                for k in range(size):
                    values[members * size + k] = values[k] * (n_labels + 1) + label
        for k in range(members * size):
            values[k] = values[k + size]
        size *= members
    return size


@kernel
def beam(
    node: Floats, first: int, offsets: Indices, base: Keys, pattern: NDArray[np.int32], ranges: NDArray[np.int64],
    starts: Indices, reach: int, widest: int, weights: Floats, scale: float, bits: int, legal: Bools, width: int,
    out: States,
) -> float:  # fmt: skip
    """The best labels of one sentence, whose positions begin at `first`, into `out`; gives their score."""
    n, n_labels = node.shape
    back = np.zeros((n, width), dtype=np.int32)
    chosen = np.zeros((n, width), dtype=np.int32)
    recent = np.full((width, reach), n_labels, dtype=np.int32)
    grown = np.empty((width, reach), dtype=np.int32)
    scores, next_scores = np.zeros(width), np.zeros(width)
    candidates = np.empty((width, n_labels))
    values = np.empty(2 * widest + 1, dtype=np.int64)
    alive = 1
    for i in range(n):
        for h in range(alive):
            for a in range(n_labels):
                candidates[h, a] = scores[h] + node[i, a] if legal[recent[h, reach - 1], a] else -np.inf
            for f in range(offsets[first + i], offsets[first + i + 1]):
                size = pattern_values(pattern[f], ranges, starts, n_labels, recent[h], reach, values)
                for k in range(size):
                    for a in range(n_labels):
                        place, sign = slot(base[f], values[k], a, n_labels, bits)
                        candidates[h, a] += scale * sign * weights[place]
        kept = 0
        while kept < width:
            best, best_h, best_a = -np.inf, -1, -1
            for h in range(alive):
                for a in range(n_labels):
                    if candidates[h, a] > best:
                        best, best_h, best_a = candidates[h, a], h, a
            if best_h < 0:
                break
            candidates[best_h, best_a] = -np.inf
            for r in range(reach - 1):
                grown[kept, r] = recent[best_h, r + 1]
            grown[kept, reach - 1] = best_a
            twin = False
            for other in range(kept):
                same = True
                for r in range(reach):
                    if grown[other, r] != grown[kept, r]:
                        same = False
                        break
                if same:
                    twin = True
                    break
            if not twin:
                back[i, kept], chosen[i, kept], next_scores[kept] = best_h, best_a, best
                kept += 1
        if kept == 0:
            return -np.inf
        alive = kept
        for h in range(alive):
            scores[h] = next_scores[h]
            for r in range(reach):
                recent[h, r] = grown[h, r]
    h = 0
    for i in range(n - 1, -1, -1):
        out[first + i] = chosen[i, h]
        h = back[i, h]
    return scores[0] if n else 0.0


@kernel
def path_score(
    node: Floats, first: int, offsets: Indices, base: Keys, pattern: NDArray[np.int32], ranges: NDArray[np.int64],
    starts: Indices, widest: int, weights: Floats, scale: float, bits: int, path: States,
) -> float:  # fmt: skip
    """The score of the labels `path[first:]` of one sentence."""
    n, n_labels = node.shape
    values = np.empty(2 * widest + 1, dtype=np.int64)
    own = path[first : first + n]
    total = 0.0
    for i in range(n):
        total += node[i, own[i]]
        for f in range(offsets[first + i], offsets[first + i + 1]):
            size = pattern_values(pattern[f], ranges, starts, n_labels, own, i, values)
            for k in range(size):
                place, sign = slot(base[f], values[k], own[i], n_labels, bits)
                total += scale * sign * weights[place]
    return total
