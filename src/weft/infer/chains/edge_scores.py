"""Transition scores laid out for speed:  out[y] = sum over y' of x[y'] * M[y', y]  and the same with max and plus.

Rows y' are sorted by the range of columns they reach and taken four at a time, so that one pass of an inner loop over a
range of columns, which the compiler turns into vector instructions, does four rows. Columns that none of the four
reaches are skipped: chains over pair states, where a row reaches a few neighbouring columns, cost what is legal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.arrays import Bools, Floats
from weft.ragged import Indices

ROWS = 4
LANES = 8


@dataclass(frozen=True)
class Packed:
    """Matrices [P, rows, columns] in groups of four rows; `source[r]` is the row that stands at r.

    Group g reaches columns `start[g]:stop[g]`. Groups are filled up with rows of nothing and ranges with columns of
    nothing to full vectors, hence `stop` may lie beyond the last real column.
    """

    matrix: Floats
    source: Indices
    start: Indices
    stop: Indices


def pack(matrix: Floats, reached: Bools, nothing: float) -> Packed:
    """Lay out matrices of which only the entries `reached` [rows, columns] need be visited; the rest are `nothing`.

    >>> packed = pack(np.array([[[1.0, 2.0], [0.0, 3.0]]]), np.array([[True, True], [False, True]]), 0.0)
    >>> packed.matrix.shape, packed.source.tolist(), packed.start.tolist(), packed.stop.tolist()
    ((1, 4, 8), [0, 1, 0, 0], [0], [8])
    """
    positions, rows, columns = matrix.shape
    empty = ~reached.any(axis=1)
    low = np.where(empty, 0, reached.argmax(axis=1))
    high = np.where(empty, 0, columns - reached[:, ::-1].argmax(axis=1))
    order = np.lexsort((high, low))
    groups = -(-rows // ROWS)
    padded = np.append(order, np.repeat(order[-1:], groups * ROWS - rows)).reshape(groups, ROWS)
    start = low[padded].min(axis=1, initial=columns)
    reach = high[padded].max(axis=1, initial=0) - start
    stop = start + -(-np.maximum(reach, 0) // LANES) * LANES
    packed = np.full((positions, groups * ROWS, max(columns, int(stop.max(initial=0)))), nothing)
    packed[:, :rows, :columns] = matrix if np.array_equal(order, np.arange(rows)) else matrix[:, order]
    source = np.append(order, np.zeros(groups * ROWS - rows, dtype=np.int64)).astype(np.int64)
    return Packed(packed, source, start.astype(np.int64), stop.astype(np.int64))


class Transitions:
    """The edge scores of a batch, [1, L, L] where all positions share them or [N, L, L], and their layouts.

    Row i of per-position scores is the transition into position i; the rows of first positions are never read.
    """

    def __init__(self, scores: Floats, shared: bool) -> None:
        self.scores, self.shared = scores, shared
        self.step = 0 if shared else 1

    @cached_property
    def reached(self) -> Bools:
        """Which transitions are legal at some position."""
        return np.asarray((self.scores > -np.inf).any(axis=0))

    @cached_property
    def before(self) -> tuple[Indices, Indices]:
        """The states that may come before every state: offsets [L + 1] and states, sorted."""
        states, rows = np.nonzero(self.reached.T)
        return np.searchsorted(states, np.arange(len(self.reached) + 1)), np.ascontiguousarray(rows)

    @cached_property
    def top(self) -> Floats:
        """The highest score of every matrix, which `exponential` leaves out."""
        top = self.scores.max(axis=(1, 2), initial=-np.inf)
        return np.where(top == -np.inf, 0.0, top)

    @cached_property
    def low(self) -> float:
        """The lowest legal score of any matrix, less the highest of that matrix."""
        less = self.scores - self.top[:, None, None]
        return float(less.min(where=less > -np.inf, initial=0.0))

    @cached_property
    def exponential(self) -> Floats:
        return np.exp(self.scores - self.top[:, None, None])

    @cached_property
    def maximum(self) -> Packed:
        """For Viterbi: previous state to state."""
        return pack(self.scores, self.reached, -np.inf)

    @cached_property
    def forward(self) -> Packed:
        """For sums from the left: previous state to state."""
        return pack(self.exponential, self.reached, 0.0)

    @cached_property
    def backward(self) -> Packed:
        """For sums from the right: state to previous state, the latter in the order of `forward.source`.

        In that order the predecessors of a pair state are neighbours, as its successors are in the order of states.
        """
        rows = self.forward.source[: self.scores.shape[1]]
        in_order = np.array_equal(rows, np.arange(len(rows)))
        matrix = self.exponential if in_order else self.exponential[:, rows]
        return pack(matrix.transpose(0, 2, 1), self.reached[rows].T, 0.0)
