"""Structural correspondence: features that predict the same pivots fall together (Blitzer, McDonald and Pereira 2006).

    w_l     = argmin_w  mean_j L(w . x_j, y_jl) + l2 ||w||^2          for every pivot l, with what gives it away masked
    W       = [w_1 ... w_m], negative entries set to 0, cut by rows into blocks of features
    W_b     = U_b D_b V_b',   theta_b = the first h columns of U_b
    x       -> x (+) s * (theta_1' x_1, ..., theta_B' x_B)

L is the modified Huber loss; `weft.learn.linear.pivots` learns the predictors. Instances are rows of a sparse matrix,
features its columns: tokens with the features of their window, or documents with their words. Pivots are features
that mean the same in both domains; a feature of one domain that predicts the pivots as a feature of the other does is
mapped to the same place. Every feature lies in one block, so that the linear map has one row of h numbers per
feature, and mapping an instance sums rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

from weft import storage
from weft.arrays import Floats, Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.kernel import kernel

Table = NDArray[np.float32]
#: What a file holds of a map.
ARRAYS = (
    Array("rows", "float32", ("features", "width")),
    Array("block", "int32", ("features",), below="blocks"),
    Array("starts", "int64", ("blocks+1",), offsets_of="size"),
    Array("singular", "float32", ("blocks", "*")),
    Array("scale", "float64", (1,)),
)


def select_pivots_by_count(
    counts: Sequence[ArrayLike], more_than: int = 50, eligible: ArrayLike | None = None, at_most: int | None = None
) -> Ints:
    """The features that occur more than so often in every domain, the most frequent (by their rarest domain) first.

    `counts` has one array a domain; `eligible` says which features may be pivots at all.

    >>> select_pivots_by_count([[90, 60, 10, 70], [80, 99, 99, 51]], more_than=50).tolist()
    [0, 1, 3]
    """
    table = np.array([np.asarray(each) for each in counts])
    if table.ndim != 2:
        raise DataError("pivots are chosen by counts of the same features: one array a domain, all of one length")
    least = table.min(axis=0)
    allowed = least > more_than
    if eligible is not None:
        allowed &= np.asarray(eligible, dtype=bool)
    found = np.flatnonzero(allowed)
    return found[np.argsort(-least[found], kind="stable")][:at_most]


def select_pivots_by_information(
    instances: sparse.csr_matrix, labels: ArrayLike, eligible: ArrayLike | None = None, at_most: int | None = None
) -> Ints:
    """Features by their mutual information with the classes of labelled instances, the most telling first.

    >>> rows = sparse.csr_matrix([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> select_pivots_by_information(rows, [1, 1, 0, 0], eligible=[True, False, True]).tolist()
    [0, 2]
    """
    information = mutual_information(instances, labels)
    found = np.arange(len(information)) if eligible is None else np.flatnonzero(np.asarray(eligible, dtype=bool))
    return found[np.argsort(-information[found], kind="stable")][:at_most]


def mutual_information(instances: sparse.csr_matrix, labels: ArrayLike) -> Floats:
    """Mutual information, in nats, of every feature's presence f and the class y of an instance.

        sum over f, y of  p(f, y) log p(f, y) / (p(f) p(y)),     probabilities being shares of the instances

    >>> rows = sparse.csr_matrix([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> mutual_information(rows, [1, 1, 0, 0]).round(3).tolist()
    [0.693, 0.693, 0.0]
    """
    classes, number = np.unique(np.asarray(labels), return_inverse=True)
    if len(number) != instances.shape[0]:
        raise DataError(f"{instances.shape[0]} instances need as many labels, got {len(number)}")
    there = (instances != 0).astype(np.float64)
    n = len(number)
    information = np.zeros(instances.shape[1])
    p_there = np.asarray(there.sum(axis=0)).ravel() / n
    for k in range(len(classes)):
        p_class = float((number == k).mean())
        joint = np.asarray(there[number == k].sum(axis=0)).ravel() / n
        for p, margin in ((joint, p_there), (p_class - joint, 1.0 - p_there)):
            known = p > 1e-15
            information[known] += p[known] * np.log(p[known] / (margin[known] * p_class))
    return np.maximum(information, 0.0)


@dataclass(frozen=True)
class Correspondence:
    """A linear map: for every feature its block and h numbers, its row of theta.

    >>> predictors = sparse.csr_matrix(np.array([[2.0, 0.0], [2.0, 0.0], [-1.0, 1.0], [0.0, 0.0]]))
    >>> theta = Correspondence.from_predictors(predictors, blocks=[0, 0, 1, 1], h=1)
    >>> theta.size, theta.rows.ravel().round(3)
    (2, array([0.707, 0.707, 1.   , 0.   ], dtype=float32))
    >>> theta.project(sparse.csr_matrix([[1, 1, 0, 0], [0, 0, 1, 1]])).round(3)
    array([[1.414, 0.   ], [0.   , 1.   ]], dtype=float32)
    """

    rows: Table  # [feature, h]: row of U_b, zeros where a block has fewer directions
    block: NDArray[np.int32]  # of every feature
    starts: Ints  # block b owns the dimensions starts[b]:starts[b + 1] of the map
    singular: Table  # [block, h]
    scale: float = 1.0

    @classmethod
    def from_predictors(
        cls,
        predictors: sparse.csr_matrix,
        blocks: ArrayLike | None = None,
        h: int = 25,
        positive: bool = True,
        seed: int = 0,
    ) -> Correspondence:
        """The left singular vectors of every block of predictors; without blocks, of all together.

        A block has h of them, or fewer where fewer features or pivots leave it a smaller rank. `positive` sets negative
        weights to 0 first. Signs are those that make the largest entry of each vector positive.
        """
        n = predictors.shape[0]
        block = np.zeros(n, dtype=np.int32) if blocks is None else np.asarray(blocks, dtype=np.int32)
        if len(block) != n or h < 1:
            raise ConfigError(f"{n} features need a block each and h at least 1; got {len(block)} blocks and h = {h}")
        weights = sparse.csr_matrix(predictors, dtype=np.float64)
        if positive:
            weights = weights.maximum(0.0).tocsr()
            weights.eliminate_zeros()
        n_blocks = int(block.max(initial=-1)) + 1
        table = np.zeros((n, h), dtype=np.float32)
        singular = np.zeros((n_blocks, h), dtype=np.float32)
        sizes = np.zeros(n_blocks, dtype=np.int64)
        for b in range(n_blocks):
            own = np.flatnonzero(block == b)
            left, values = truncated_svd(weights[own], h, seed)
            sizes[b] = len(values)
            table[own, : len(values)] = left
            singular[b, : len(values)] = values
        return cls(table, block, np.concatenate([[0], np.cumsum(sizes)]), singular)

    @property
    def size(self) -> int:
        """Number of dimensions of the map."""
        return int(self.starts[-1])

    def theta(self, block: int) -> Table:
        """theta_b, `[dimension, feature of the block]`."""
        h = int(self.starts[block + 1] - self.starts[block])
        return self.rows[self.block == block][:, :h].T

    def project(self, instances: sparse.csr_matrix, chosen: ArrayLike | None = None) -> Table:
        """scale * theta' x of every instance; with `chosen`, only these dimensions of it."""
        if instances.shape[1] != len(self.rows):
            raise DataError(f"the map has {len(self.rows)} features, the instances have {instances.shape[1]}")
        matrix = sparse.csr_matrix(instances)
        values = matrix.data.astype(np.float32) if len(matrix.data) else np.zeros(0, dtype=np.float32)
        return self.project_rows(matrix.indices, matrix.indptr.astype(np.int64), values, chosen)

    def project_rows(
        self, features: NDArray[np.int32], offsets: Ints, values: Table | None = None, chosen: ArrayLike | None = None
    ) -> Table:
        """The same for ragged features: instance i has `features[offsets[i]:offsets[i + 1]]`, -1 for unknown ones."""
        own = np.zeros(0, dtype=np.float32) if values is None else np.asarray(values, dtype=np.float32)
        place = np.arange(self.size) if chosen is None else np.full(self.size, -1)
        if chosen is not None:
            place[np.asarray(chosen)] = np.arange(len(np.asarray(chosen)))
        out = np.zeros((len(offsets) - 1, int(place.max(initial=-1)) + 1), dtype=np.float32)
        _project(features, offsets, own, self.rows, self.block, self.starts, place, np.float32(self.scale), out)
        return out

    def scale_to(self, instances: sparse.csr_matrix, factor: float = 5.0, norm: int = 1) -> Correspondence:
        """This map times one number: its mean norm on the instances is `factor` times that of their features.

        The norm is that of sums (1) or the Euclidean one (2).

        >>> theta = Correspondence.from_predictors(sparse.csr_matrix([[3.0], [4.0]]), h=1)
        >>> rows = sparse.csr_matrix([[1.0, 0.0], [1.0, 1.0]])
        >>> float(np.abs(theta.scale_to(rows).project(rows)).sum() / rows.sum()).__round__(4)
        5.0
        """
        if norm not in (1, 2):
            raise ConfigError(f"the norm is 1 or 2, got {norm}")
        plain = replace(self, scale=1.0).project(instances).astype(np.float64)
        size = float(np.linalg.norm(plain, ord=norm, axis=1).sum())
        if size <= 0.0:
            raise DataError("no feature of these instances is in the map: they share nothing with the raw text")
        own = np.abs(instances) if norm == 1 else instances.multiply(instances)
        lengths = np.asarray(own.sum(axis=1), dtype=np.float64) ** (1.0 / norm)
        return replace(self, scale=factor * float(lengths.sum()) / size)

    def standardize(self, instances: sparse.csr_matrix) -> Correspondence:
        """This map with every dimension divided by its standard deviation on the instances.

        Means stay: a learner's intercept takes them up. The rows of theta are no longer of length one.

        >>> theta = Correspondence.from_predictors(sparse.csr_matrix([[3.0, 0.0], [0.0, 4.0]]), h=2)
        >>> rows = sparse.csr_matrix([[1.0, 0.0], [5.0, 1.0]])
        >>> theta.standardize(rows).project(rows).std(axis=0).round(4)
        array([1., 1.], dtype=float32)
        """
        spread = replace(self, scale=1.0).project(instances).std(axis=0, dtype=np.float64)
        spread[spread == 0.0] = 1.0
        dimension = np.minimum(self.starts[self.block][:, None] + np.arange(self.rows.shape[1]), self.size - 1)
        return replace(self, rows=(self.rows / spread[dimension]).astype(np.float32), scale=1.0)

    def similar(self, feature: int, k: int = 10, among: ArrayLike | None = None) -> tuple[Ints, Floats]:
        """The k features of the same block whose rows of theta point the same way, with their cosines, nearest first.

        `among` says which features are looked at (all of the block).
        """
        own = self.block == self.block[feature]
        if among is not None:
            own = own & np.asarray(among, dtype=bool)
        candidates = np.flatnonzero(own)
        candidates = candidates[candidates != feature]
        vectors, one = self.rows[candidates].astype(np.float64), self.rows[feature].astype(np.float64)
        sizes = np.linalg.norm(vectors, axis=1) * np.linalg.norm(one)
        cosines = vectors @ one / np.maximum(sizes, 1e-12)
        order = np.argsort(-cosines, kind="stable")[:k]
        return candidates[order], cosines[order]

    def arrays(self) -> storage.Arrays:
        """What a file keeps of it."""
        return {
            "rows": self.rows, "block": self.block, "starts": self.starts, "singular": self.singular,
            "scale": np.array([self.scale]),
        }  # fmt: skip

    @classmethod
    def from_arrays(cls, arrays: storage.Arrays) -> Correspondence:
        kept = {name: np.array(array) for name, array in Stored.of(arrays).take(*ARRAYS).items()}
        scale = float(kept.pop("scale")[0])
        if int(np.diff(kept["starts"]).max(initial=0)) > kept["rows"].shape[1]:
            raise ModelError("a block of the projection is wider than its rows: the model file is damaged")
        return cls(**kept, scale=scale)


def truncated_svd(matrix: sparse.csr_matrix, h: int, seed: int = 0) -> tuple[Floats, Floats]:
    """The first h left singular vectors (as columns) and singular values, largest first; fewer if the rank is smaller.

    >>> left, values = truncated_svd(sparse.csr_matrix([[3.0, 0.0], [0.0, 0.0], [0.0, 4.0]]), 2)
    >>> values.tolist(), np.abs(left[:, 0]).tolist()
    ([4.0, 3.0], [0.0, 0.0, 1.0])
    """
    if not matrix.nnz:
        return np.zeros((matrix.shape[0], 0)), np.zeros(0)
    if min(matrix.shape) <= max(3 * h, 100):
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        start = np.random.default_rng(seed).standard_normal(min(matrix.shape))
        left, values, _ = svds(matrix, k=h, v0=start)
        order = np.argsort(-values, kind="stable")
        left, values = left[:, order], values[order]
    kept = int((values > 1e-7 * values[0]).sum())
    left, values = left[:, : min(h, kept)], values[: min(h, kept)]
    return left * np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])]), values


@kernel
def _project(
    features: NDArray[np.int32],
    offsets: Ints,
    values: Table,
    rows: Table,
    block: NDArray[np.int32],
    starts: Ints,
    place: Ints,
    scale: np.float32,
    out: Table,
) -> None:
    for i in range(out.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            f = features[k]
            if f < 0:
                continue
            value = scale * (values[k] if values.shape[0] else np.float32(1.0))
            first = starts[block[f]]
            for d in range(starts[block[f] + 1] - first):
                at = place[first + d]
                if at >= 0:
                    out[i, at] += value * rows[f, d]
