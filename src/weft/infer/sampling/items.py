"""Items to cluster, and the score of a partition of them.

An item i is a sparse vector x_i with a mass m_i; a pair is worth

    g(i, j) = x_i . x_j - bias m_i m_j

    log p(partition) = sum over pairs within a cluster of g - sum over pairs between clusters of g + constant
                     = 2 sum over pairs within a cluster of g + another constant

Sums over pairs come from one vector per cluster, X = sum x_i with the mass M = sum m_i:

    sum over pairs within = (X . X - sum x_i . x_i) / 2 - bias (M^2 - sum m_i^2) / 2

Several kinds of similarity are columns of their own, scaled by the square roots of their weights: an indicator column
per name makes equality of names one of them.

A partition is an array of labels: the label of an item is the smallest number of an item in its cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ids, Ints, Singles
from weft.errors import InferenceError
from weft.kernel import kernel
from weft.ragged import check_offsets, one_block

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: How the vector of a cluster stands for it as an item of the level above.
Union = Literal["pairs", "cosine"]


@dataclass(frozen=True)
class Items:
    """Sparse vectors in rows: item i has `columns[offsets[i]:offsets[i + 1]]` with their `values`, and a mass.

    >>> items = Items.from_rows([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> len(items), round(items.score([0, 0, 2], bias=0.5), 3)
    (3, 0.2)
    """

    offsets: Ints
    columns: Ids
    values: Singles
    mass: Floats

    @classmethod
    def of(cls, offsets: ArrayLike, columns: ArrayLike, values: ArrayLike, mass: ArrayLike | None = None) -> Items:
        """Items from arrays, checked; every mass is 1 unless given."""
        values = one_block(values, np.float32)
        offsets, columns = check_offsets(offsets, len(values)), one_block(columns, np.int32)
        weights = np.ones(len(offsets) - 1) if mass is None else one_block(mass, np.float64)
        if columns.shape != values.shape or len(weights) != len(offsets) - 1:
            raise InferenceError(
                f"items need a column for each of their {len(values)} values and a mass each; given: "
                f"{len(columns)} columns, {len(weights)} masses for {len(offsets) - 1} items"
            )
        if len(columns) and columns.min() < 0:
            raise InferenceError(f"columns must be 0 or more, got {columns.min()}")
        if not (np.isfinite(values).all() and np.isfinite(weights).all()):
            raise InferenceError("values or masses of items are not finite; check how they were computed")
        return cls(offsets, columns, values, weights)

    @classmethod
    def from_rows(cls, rows: ArrayLike) -> Items:
        """Items from the rows of an array."""
        from scipy.sparse import csr_matrix

        return cls.from_matrix(csr_matrix(np.asarray(rows, dtype=np.float32)))

    @classmethod
    def from_matrix(cls, matrix: csr_matrix, mass: ArrayLike | None = None) -> Items:
        """Items from the rows of a sparse matrix of SciPy."""
        return cls.of(matrix.indptr, matrix.indices, matrix.data, mass)

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.columns.max(initial=-1)) + 1

    @cached_property
    def norms(self) -> Floats:
        """The squared length of every vector."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return np.asarray(np.bincount(rows, np.square(self.values, dtype=np.float64), len(self)), dtype=np.float64)

    def matrix(self) -> csr_matrix:
        """The vectors as a sparse matrix of SciPy that shares their memory."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.values, self.columns, self.offsets), shape=(len(self), self.width))

    def take(self, rows: NDArray[np.int64]) -> Items:
        """Some of the items, in their order."""
        sizes = self.offsets[rows + 1] - self.offsets[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Items(offsets, self.columns[at], self.values[at], self.mass[rows])

    def united(self, labels: ArrayLike, union: Union = "pairs") -> tuple[Items, Ints]:
        """One item per cluster, in the order of labels, and for every old item the number of its new one.

        `pairs` adds up vectors and masses: the score of a partition of the new items is, up to a constant, that of the
        old ones. `cosine` gives the sum the length that single vectors have on average, and mass 1, so that a cluster
        counts like a single item whatever its size.

        >>> united, number = Items.from_rows([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).united([0, 0, 2])
        >>> united.matrix().toarray().tolist(), united.mass.tolist(), number.tolist()
        ([[1.0, 1.0], [1.0, 0.0]], [2.0, 1.0], [0, 0, 1])
        """
        from scipy.sparse import csr_matrix

        labels = check_labels(labels, len(self))
        names, number = np.unique(labels, return_inverse=True)
        n = len(self)
        joins = csr_matrix((np.ones(n, dtype=np.float32), (number, np.arange(n))), shape=(len(names), n))
        sums = (joins @ self.matrix()).tocsr()
        if union == "pairs":
            return Items.from_matrix(sums, np.bincount(number, self.mass, len(names))), number
        new = Items.from_matrix(sums)
        wanted = np.sqrt(np.bincount(number, self.norms, len(names)) / np.bincount(number, minlength=len(names)))
        lengths = np.sqrt(new.norms)
        scale = np.divide(wanted, lengths, out=np.zeros_like(wanted), where=lengths > 0)
        new.values[:] *= np.repeat(scale, np.diff(new.offsets)).astype(np.float32)
        return Items(new.offsets, new.columns, new.values, new.mass), number

    def within(self, labels: ArrayLike, bias: float) -> Floats:
        """The sum of g over the pairs within each cluster, in the order of labels."""
        from scipy.sparse import csr_matrix

        names, number = np.unique(check_labels(labels, len(self)), return_inverse=True)
        joins = csr_matrix((np.ones(len(self)), (number, np.arange(len(self)))), shape=(len(names), len(self)))
        sums = joins @ self.matrix()  # in double precision, which vectors of clusters as items do not have
        squares = np.bincount(np.repeat(np.arange(len(names)), np.diff(sums.indptr)), sums.data**2, len(names))
        pairs = squares - np.bincount(number, self.norms, len(names))
        masses = np.bincount(number, self.mass, len(names)) ** 2 - np.bincount(number, self.mass**2, len(names))
        return np.asarray((pairs - bias * masses) / 2, dtype=np.float64)

    def to_others(self, labels: ArrayLike) -> Floats:
        """The sum of x_i . x_j over the other items j of its cluster, for every item i.

        >>> Items.from_rows([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]).to_others([0, 0, 2]).tolist()
        [0.5, 0.5, 0.0]
        """
        labels = check_labels(labels, len(self))
        order = np.argsort(labels, kind="stable")
        out = np.zeros(len(self))
        _sum_to_others(self.offsets, self.columns, self.values, labels, order, np.zeros(self.width), out)
        return out - self.norms * (out != 0)

    def score(self, labels: ArrayLike, bias: float) -> float:
        """Twice the sum of g over pairs within clusters: log p up to a constant, 0 where every item is alone."""
        return 2 * float(self.within(labels, bias).sum())


@kernel
def _sum_to_others(
    offsets: Ints, columns: Ids, values: Singles, labels: Ints, order: Ints, sums: Floats, out: Floats
) -> None:
    """The products of items with the sums of their clusters, cluster by cluster; items alone keep 0."""
    n, lo = len(order), 0
    while lo < n:
        hi = lo + 1
        while hi < n and labels[order[hi]] == labels[order[lo]]:
            hi += 1
        if hi > lo + 1:
            for at in range(lo, hi):
                for k in range(offsets[order[at]], offsets[order[at] + 1]):
                    sums[columns[k]] += values[k]
            for at in range(lo, hi):
                for k in range(offsets[order[at]], offsets[order[at] + 1]):
                    out[order[at]] += values[k] * sums[columns[k]]
            for at in range(lo, hi):
                for k in range(offsets[order[at]], offsets[order[at] + 1]):
                    sums[columns[k]] = 0.0
        lo = hi


def check_labels(labels: ArrayLike, n: int) -> Ints:
    """Labels as int64, one per item."""
    array = one_block(labels, np.int64)
    if array.shape != (n,):
        raise InferenceError(f"a partition needs one label for each of {n} items, got an array of shape {array.shape}")
    return array


def canonical(labels: ArrayLike) -> Ints:
    """The same partition with the smallest number of an item of each cluster as its label.

    >>> canonical([7, 3, 7, 5]).tolist()
    [0, 1, 0, 3]
    """
    _, first, number = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return np.asarray(first[number], dtype=np.int64)


def refined(labels: ArrayLike, coarse: ArrayLike) -> Ints:
    """The clusters of `labels`, cut where `coarse` has different clusters.

    >>> refined([0, 0, 0, 3], [0, 1, 0, 0]).tolist()
    [0, 1, 0, 3]
    """
    return canonical(np.unique(np.stack([labels, coarse]), axis=1, return_inverse=True)[1].ravel())
