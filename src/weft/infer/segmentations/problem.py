"""Cut a sequence into segments, each in a mode, so that one criterion is least and the others stay within bounds.

    min  sum_j u_0(segment j, mode j)      such that      sum_j u_l(segment j, mode j) <= bound_l   for every l > 0

    u_l = values[l, k, i, d]   criterion l of the segment of d + 1 tokens from i in mode k

A token may also be skipped, which adds nothing. Without bounds this is a shortest path over the gaps between tokens,
found by dynamic programming; with a bound it contains the knapsack problem. A bound moves into the objective with a
multiplier: every multiplier gives a lower limit of the optimum by one shortest path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.kernel import kernel

#: The mode of skipped tokens.
SKIP = -1


@dataclass(frozen=True)
class Segment:
    """Tokens `start` to `end` in a mode; -1 is skipped."""

    start: int
    end: int
    mode: int


@dataclass(frozen=True)
class Segmentation:
    """A partition of the sequence, with the sum of every criterion."""

    segments: list[Segment]
    totals: Floats

    @property
    def value(self) -> float:
        """The criterion that is minimized."""
        return float(self.totals[0])

    def fits(self, bounds: ArrayLike, slack: float = 1e-9) -> bool:
        """Whether the other criteria stay within their bounds."""
        limit = np.asarray(bounds, dtype=np.float64)
        return bool(np.all(self.totals[1:] <= limit + slack * np.maximum(1.0, np.abs(limit))))


@dataclass(frozen=True)
class SegmentationProblem:
    """The values of all segments; `longest[i]` is the length of the longest segment from token i, at least 1.

    `documents` are the first tokens of documents, which no segment crosses.

    >>> problem = SegmentationProblem.of(np.array([[[[-1.0, -3.0], [-1.0, 0.0]]]]))
    >>> problem.best().segments, problem.best().value
    ([Segment(start=0, end=2, mode=0)], -3.0)
    """

    values: Floats
    longest: Ints
    documents: frozenset[int]

    @classmethod
    def of(cls, values: ArrayLike, documents: Sequence[int] = ()) -> SegmentationProblem:
        """A problem of values [criterion, mode, start, length - 1]; segments stay within documents of these sizes.

        >>> SegmentationProblem.of(np.zeros((1, 1, 4, 3)), documents=[3, 1]).longest.tolist()
        [3, 2, 1, 1]
        """
        table = np.ascontiguousarray(values, dtype=np.float64)
        if table.ndim != 4 or not min(table.shape):
            raise DataError(f"values need the shape [criteria, modes, tokens, lengths], got {table.shape}")
        n, most = table.shape[2:]
        sizes = list(documents) or [n]
        if min(sizes) < 1 or sum(sizes) != n:
            raise DataError(f"documents of {sum(sizes)} tokens do not make up the {n} tokens")
        left = np.concatenate([np.arange(size, 0, -1) for size in sizes])
        longest = np.minimum(left, most).astype(np.int64)
        if not np.isfinite(table[:, :, np.arange(most)[None, :] < longest[:, None]]).all():
            raise DataError("values of segments must be finite")
        return cls(table, longest, frozenset(np.cumsum([0, *sizes[:-1]]).tolist()))

    @property
    def n_tokens(self) -> int:
        return self.values.shape[2]

    @property
    def n_modes(self) -> int:
        return self.values.shape[1]

    @property
    def n_criteria(self) -> int:
        return self.values.shape[0]

    def best(self, weights: ArrayLike | None = None) -> Segmentation:
        """The segmentation with the least weighted sum of criteria, by default of the first alone."""
        own = np.eye(self.n_criteria)[0] if weights is None else np.asarray(weights, dtype=np.float64)
        if own.shape != (self.n_criteria,):
            raise ConfigError(f"{self.n_criteria} criteria need as many weights, got the shape {own.shape}")
        lengths, modes = self.path(np.tensordot(own, self.values, axes=1))
        return self.segmentation(lengths, modes)

    def path(self, costs: Floats) -> tuple[Ids, Ids]:
        """The length and mode of the segment that ends at every gap of the shortest path, length 0 elsewhere."""
        lengths = np.zeros(self.n_tokens + 1, dtype=np.int32)
        modes = np.full(self.n_tokens + 1, SKIP, dtype=np.int32)
        _shortest(np.ascontiguousarray(costs), self.longest, np.empty(self.n_tokens + 1), lengths, modes)
        _trace(lengths)
        return lengths, modes

    def segmentation(self, lengths: Ids, modes: Ids) -> Segmentation:
        """The segmentation of a path: skipped neighbours in one segment of their document."""
        segments: list[Segment] = []
        totals = np.zeros(self.n_criteria)
        for end in np.flatnonzero(lengths).tolist():
            start, mode = end - int(lengths[end]), int(modes[end])
            last = segments[-1] if segments else None
            if mode == SKIP and last is not None and last.mode == SKIP and start not in self.documents:
                segments[-1] = Segment(last.start, end, SKIP)
                continue
            segments.append(Segment(start, end, mode))
            if mode != SKIP:
                totals += self.values[:, mode, start, end - start - 1]
        return Segmentation(segments, totals)


@kernel
def _shortest(costs: Floats, longest: Ints, best: Floats, lengths: Ids, modes: Ids) -> None:
    """The least cost of every gap, with the segment that ends there; the first of equal ones, a skipped token first."""
    n_modes, n, _ = costs.shape
    best[0] = 0.0
    for end in range(1, n + 1):
        best[end] = np.inf
    for start in range(n):
        if best[start] < best[start + 1]:
            best[start + 1] = best[start]
            lengths[start + 1] = 1
            modes[start + 1] = -1
        for d in range(longest[start]):
            end = start + d + 1
            for k in range(n_modes):
                value = best[start] + costs[k, start, d]
                if value < best[end]:
                    best[end] = value
                    lengths[end] = d + 1
                    modes[end] = k


@kernel
def _trace(lengths: Ids) -> None:
    """Keep the lengths on the path to the end and clear the others."""
    gap = len(lengths) - 1
    while gap > 0:
        start = gap - lengths[gap]
        for between in range(start + 1, gap):
            lengths[between] = 0
        gap = start
