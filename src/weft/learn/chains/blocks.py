"""Blocks of a linear model's weights: each turns features and its part of the weights into scores, and back.

    score = features . weights[first : first + size]          scatter: weights += numbers * features

A block knows one kind of features (rows of a layout, pairs of labels, dense numbers); the model puts blocks side by
side in one flat array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints, Rows
from weft.features.weights import Layout
from weft.kernel import kernel

Dense = NDArray[np.float32]


@dataclass(frozen=True)
class FeatureRows:
    """Features as rows of a layout, ragged over positions; `values` is empty where all are 1."""

    rows: Rows
    offsets: Ints
    values: Floats

    def cut(self, first: int, end: int) -> FeatureRows:
        """The features of positions `first:end`."""
        lo, hi = int(self.offsets[first]), int(self.offsets[end])
        values = self.values[lo:hi] if len(self.values) else self.values
        return FeatureRows(self.rows[lo:hi], self.offsets[first : end + 1] - lo, values)

    def select(self, chosen: Bools) -> FeatureRows:
        """The features of the chosen positions."""
        sizes = np.diff(self.offsets)
        kept = np.repeat(chosen, sizes)
        values = self.values[kept] if len(self.values) else self.values
        return FeatureRows(self.rows[kept], np.concatenate([[0], np.cumsum(sizes[chosen])]), values)

    def __pow__(self, exponent: int) -> FeatureRows:
        """The same features, their values raised to a power."""
        return self if not len(self.values) else replace(self, values=self.values**exponent)


class Block(ABC):
    """Weights `first:end` of a model."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.end = first, first + size

    @abstractmethod
    def score(self, features: Any, weights: Floats) -> Floats:
        """Scores, given all weights of the model."""

    @abstractmethod
    def scatter(self, features: Any, numbers: Floats, into: Floats) -> None:
        """Add numbers, of the shape of the scores, times features to all weights of the model."""

    @abstractmethod
    def sparse(self, features: Any, numbers: Floats) -> tuple[Ints, Floats]:
        """The same as indices of weights, with repetitions, and what is added to them."""

    def active(self, features: Any) -> Ints:
        """Indices of the weights that `score` reads."""
        return np.arange(self.first, self.end)


class RowBlock(Block):
    """Weights of a layout: scores `[position, column]` of `FeatureRows`.

    >>> block = RowBlock(5, Layout.from_mask(np.ones((2, 2), dtype=bool)))
    >>> rows = FeatureRows(np.array([1], dtype=np.int32), np.array([0, 1]), np.zeros(0))
    >>> block.score(rows, np.arange(9.0)).tolist(), block.active(rows).tolist()
    ([[7.0, 8.0]], [7, 8])
    """

    def __init__(self, first: int, layout: Layout) -> None:
        super().__init__(first, layout.size)
        self.layout = layout

    def score(self, features: FeatureRows, weights: Floats) -> Floats:
        return self.layout.score(features.rows, features.offsets, features.values, weights[self.first : self.end])

    def scatter(self, features: FeatureRows, numbers: Floats, into: Floats) -> None:
        part = into[self.first : self.end]
        self.layout.scatter(features.rows, features.offsets, features.values, numbers, part)

    def sparse(self, features: FeatureRows, numbers: Floats) -> tuple[Ints, Floats]:
        indices, values = self.layout.sparse(features.rows, features.offsets, features.values, numbers)
        return indices + self.first, values

    def active(self, features: FeatureRows) -> Ints:
        return self.first + weights_of(features.rows, self.layout)


class PairBlock(Block):
    """One weight for some pairs of labels: `number[y', y]`, -1 for a pair without one. It needs no features; numbers
    are one matrix or one per position."""

    def __init__(self, first: int, number: NDArray[np.int32]) -> None:
        self.number, self.weighted = number, number >= 0
        super().__init__(first, int(self.weighted.sum()))

    def score(self, features: None, weights: Floats) -> Floats:
        scores = np.zeros(self.number.shape)
        scores[self.weighted] = weights[self.first + self.number[self.weighted]]
        return scores

    def scatter(self, features: None, numbers: Floats, into: Floats) -> None:
        into[self.first + self.number[self.weighted]] += _shared(numbers)[self.weighted]

    def sparse(self, features: None, numbers: Floats) -> tuple[Ints, Floats]:
        shared = _shared(numbers)
        used = self.weighted & (shared != 0.0)
        return (self.first + self.number[used]).astype(np.int64), shared[used]


class DenseBlock(Block):
    """A weight for every label and dense feature: scores `[position, label]` of numbers `[position, feature]`."""

    def __init__(self, first: int, labels: int, width: int) -> None:
        super().__init__(first, labels * width)
        self.labels, self.width = labels, width

    def table(self, weights: Floats) -> Floats:
        """The weights `[label, feature]`: a view."""
        return weights[self.first : self.end].reshape(self.labels, self.width)

    def score(self, features: Dense, weights: Floats) -> Floats:
        return features @ self.table(weights).T

    def scatter(self, features: Dense, numbers: Floats, into: Floats) -> None:
        self.table(into)[:] += numbers.T @ features

    def sparse(self, features: Dense, numbers: Floats) -> tuple[Ints, Floats]:
        labels = np.flatnonzero(numbers.any(axis=0))
        indices = self.first + labels[:, None] * self.width + np.arange(self.width)
        return indices.ravel(), (numbers[:, labels].T @ features).ravel()


def weights_of(rows: Rows, layout: Layout) -> Ints:
    """The numbers of the weights that rows own, of every row once; -1 is no row.

    >>> weights_of(np.array([1, -1, 0, 1], dtype=np.int32), Layout.from_mask(np.ones((3, 2), dtype=bool))).tolist()
    [2, 3, 0, 1]
    """
    numbers: Ints = _weights_of(rows, layout.starts)
    return numbers


def _shared(numbers: Floats) -> Floats:
    """Numbers of pairs, summed over positions."""
    summed: Floats = numbers if numbers.ndim == 2 else numbers.sum(axis=0)
    return summed


@kernel
def _weights_of(rows: Rows, starts: Ints) -> Ints:
    seen = np.zeros(len(starts) - 1, dtype=np.bool_)
    total = 0
    for row in rows:
        if row >= 0 and not seen[row]:
            seen[row] = True
            total += starts[row + 1] - starts[row]
    numbers = np.empty(total, dtype=np.int64)
    at = 0
    for row in rows:
        if row >= 0 and seen[row]:
            seen[row] = False
            for weight in range(starts[row], starts[row + 1]):
                numbers[at] = weight
                at += 1
    return numbers
