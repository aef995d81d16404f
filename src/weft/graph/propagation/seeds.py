"""Seeds: the labels that are known of some vertices, with weights.

Y[v, l] = weight of label l at vertex v        rows of vertices without seeds are empty
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import DataError


@dataclass(frozen=True)
class Seeds:
    """Labels of vertices in compressed rows; labels are numbers below `n_labels`.

    >>> seeds = Seeds.of(4, [2, 0], [1, 0])
    >>> seeds.seeded.tolist(), seeds.dense().tolist()
    ([True, False, True, False], [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    """

    offsets: Ints
    labels: Ids
    weights: Floats
    n_labels: int

    @classmethod
    def of(
        cls, n: int, vertices: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None,
        n_labels: int | None = None,
    ) -> Seeds:  # fmt: skip
        """Seeds given one by one; weights of a pair that is given more than once are added."""
        at, of = np.asarray(vertices, dtype=np.int64), np.asarray(labels, dtype=np.int64)
        amounts = np.ones(len(at)) if weights is None else np.asarray(weights, dtype=np.float64)
        if at.ndim != 1 or not at.shape == of.shape == amounts.shape:
            raise DataError(f"seeds need a vertex, a label and a weight each: {at.shape}, {of.shape}, {amounts.shape}")
        m = (int(of.max()) + 1 if len(of) else 1) if n_labels is None else n_labels
        if len(at) and (at.min() < 0 or at.max() >= n):
            raise DataError(f"seeds are vertices 0 to {n - 1}, got {at.min()} to {at.max()}")
        if len(of) and (of.min() < 0 or of.max() >= m):
            raise DataError(f"the labels of seeds are 0 to {m - 1}, got {of.min()} to {of.max()}")
        if not (np.isfinite(amounts) & (amounts > 0)).all():
            raise DataError("the weights of seeds must be finite numbers above 0")
        keys, place = np.unique(at * m + of, return_inverse=True)
        sums: Floats = np.bincount(place, amounts, len(keys)).astype(np.float64)
        offsets = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys // m, minlength=n), out=offsets[1:])
        return cls(offsets, (keys % m).astype(np.int32), sums, m)

    @property
    def n_vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def seeded(self) -> Bools:
        """Which vertices are seeds."""
        return np.diff(self.offsets) > 0

    @property
    def vertices(self) -> Ints:
        """The vertex of every entry."""
        return np.repeat(np.arange(self.n_vertices), np.diff(self.offsets))

    def dense(self) -> Floats:
        """Y as a table."""
        table = np.zeros((self.n_vertices, self.n_labels))
        table[self.vertices, self.labels] = self.weights
        return table

    def normalized(self) -> Seeds:
        """The same with weights that sum to 1 at every seed.

        >>> Seeds.of(1, [0, 0], [0, 1], [1.0, 3.0]).normalized().weights.tolist()
        [0.25, 0.75]
        """
        sums = np.bincount(self.vertices, self.weights, self.n_vertices)
        return replace(self, weights=self.weights / sums[self.vertices])

    def scaled(self, factors: NDArray[Any]) -> Seeds:
        """The same with the weights of every vertex times a factor."""
        return replace(self, weights=self.weights * factors[self.vertices])
