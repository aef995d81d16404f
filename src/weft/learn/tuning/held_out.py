"""Held-out line search (HOLS, Flanigan, Dyer and Carbonell 2013): one step for millions of sparse weights.

    g      gradient of a smooth loss for the sparse weights, per list in which a feature occurs, on one part of the data
    lists  of another part, with two more dense features:   f1 = w_sparse . f,   f2 = g . f
    MERT   on the dense features, f1 and f2 gives new dense weights, c and epsilon
    w_sparse  <-  c w_sparse + epsilon g

so the sparse weights move along one line, and how far is decided by the BLEU of sentences that did not make it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.learn.tuning.lists import Lists


@dataclass(frozen=True, eq=False)
class Line:
    """The line of a search: sparse weights, and the direction from there."""

    sparse: Floats
    direction: Floats

    def columns(self, lists: Lists) -> Lists:
        """The lists with the features f1 and f2, and without sparse ones.

        >>> lists = Lists.of([([[1.0]], np.ones((1, 10)))], [[(0, 2.0), (1, 1.0)]])
        >>> Line(np.array([1.0, 0.0]), np.array([0.0, 3.0])).columns(lists).features.tolist()
        [[1.0, 2.0, 3.0]]
        """
        both = np.column_stack([lists.dot(self.sparse), lists.dot(self.direction)])
        return lists.with_columns(both).dense()

    def at(self, weights: Floats) -> tuple[Floats, Floats]:
        """Dense and sparse weights from those of a search: the last two are c and epsilon.

        >>> dense, sparse = Line(np.array([1.0, 0.0]), np.array([0.0, 3.0])).at(np.array([0.5, 2.0, -1.0]))
        >>> dense.tolist(), sparse.tolist()
        ([0.5], [2.0, -3.0])
        """
        return np.asarray(weights[:-2]), weights[-2] * self.sparse + weights[-1] * self.direction

    def start(self, dense: Floats) -> Floats:
        """The weights of a search where it begins: c = 1 and epsilon = 0."""
        return np.concatenate([dense, [1.0, 0.0]])
