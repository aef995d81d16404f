"""The best labels of every vertex: rows of at most K labels, best first, of equal scores the lower number first.

An entry that is not used has the label -1 and the score 0. "Unknown" has a column of its own and takes no place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.errors import ConfigError
from weft.graph.propagation.seeds import Seeds
from weft.kernel import kernel

Weights = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class TopRows:
    """Labels and scores `[vertex, K]`, and the score of "unknown" of every vertex.

    >>> rows = TopRows.of([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]], keep=1)
    >>> rows.labels.tolist(), rows.scores.tolist(), rows.unknown.tolist()
    ([[1], [-1]], [[0.5], [0.0]], [0.3, 1.0])
    >>> rows.answers().tolist()
    [1, -1]
    """

    labels: Ids
    scores: Weights
    unknown: Weights
    n_labels: int

    @classmethod
    def empty(cls, n: int, keep: int, n_labels: int, kind: Any = np.float64) -> TopRows:
        """Rows without labels."""
        labels = np.full((n, keep), -1, dtype=np.int32)
        return cls(labels, np.zeros((n, keep), dtype=kind), np.zeros(n, dtype=kind), n_labels)

    @classmethod
    def of(cls, table: Any, keep: int) -> TopRows:
        """The best labels of a table whose last column is "unknown", as `System.run` gives it."""
        scores = np.asarray(table)
        if keep < 1:
            raise ConfigError(f"a row keeps at least one label, got {keep}")
        found = cls.empty(len(scores), min(keep, scores.shape[1] - 1), scores.shape[1] - 1, scores.dtype)
        found.add(np.ascontiguousarray(scores), 0)
        return found

    @classmethod
    def of_seeds(cls, seeds: Seeds, keep: int, kind: Any = np.float64) -> TopRows:
        """The best labels of seeds."""
        found = cls.empty(seeds.n_vertices, keep, seeds.n_labels, kind)
        _insert(seeds.offsets, seeds.labels, seeds.weights.astype(kind), found.labels, found.scores)
        return found

    def add(self, block: Weights, first: int) -> None:
        """Merge the scores of labels from `first` on, in place; the last label of all is "unknown"."""
        n, width = block.shape
        if first + width > self.n_labels:
            width -= 1
            self.unknown[:] = block[:, width]
        offsets = np.arange(n + 1, dtype=np.int64) * width
        labels = np.tile(np.arange(first, first + width, dtype=np.int32), n)
        _insert(offsets, labels, np.ascontiguousarray(block[:, :width]).ravel(), self.labels, self.scores)

    def answers(self) -> Ids:
        """The best label of every vertex, -1 where nothing is known."""
        return np.ascontiguousarray(self.labels[:, 0])

    def ranks(self, vertices: Any, labels: Any) -> Ids:
        """The rank of a label among those of a vertex, from 1; 0 if the vertex does not have it.

        >>> TopRows.of([[0.2, 0.5, 0.3]], keep=2).ranks([0, 0], [0, 1]).tolist()
        [2, 1]
        """
        same = self.labels[np.asarray(vertices)] == np.asarray(labels)[:, None]
        found = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
        return found.astype(np.int32)

    def dense(self) -> Weights:
        """A table whose last column is "unknown"."""
        table = np.zeros((len(self.labels), self.n_labels + 1), dtype=self.scores.dtype)
        at, column = np.nonzero(self.labels >= 0)
        table[at, self.labels[at, column]] = self.scores[at, column]
        table[:, -1] = self.unknown
        return table

    def first(self, n: int | None) -> TopRows:
        """The rows of the first n vertices, of all if n is None."""
        if n is None or n == len(self.labels):
            return self
        return TopRows(self.labels[:n], self.scores[:n], self.unknown[:n], self.n_labels)


@kernel
def _insert(offsets: Any, given: Ids, weights: Weights, labels: Ids, scores: Weights) -> None:
    """Insert the labels of compressed rows into rows of the best."""
    for v in range(len(offsets) - 1):
        for e in range(offsets[v], offsets[v + 1]):
            insert_label(labels, scores, v, given[e], weights[e])


@kernel
def insert_label(labels: Ids, scores: Weights, v: int, label: int, score: float) -> None:
    """Insert a label into row v if its score is above 0 and it is among the best."""
    k = labels.shape[1] - 1
    if score <= 0 or (labels[v, k] >= 0 and not is_before(score, label, scores[v, k], labels[v, k])):
        return
    while k > 0 and (labels[v, k - 1] < 0 or is_before(score, label, scores[v, k - 1], labels[v, k - 1])):
        labels[v, k] = labels[v, k - 1]
        scores[v, k] = scores[v, k - 1]
        k -= 1
    labels[v, k] = label
    scores[v, k] = score


@kernel
def is_before(score: float, label: int, other: float, of: int) -> bool:
    """Whether a label ranks before another one: by score, then by number."""
    return score > other or (score == other and label < of)
