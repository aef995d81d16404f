"""The k nearest neighbours of every vector among all of them.

    cosine       sim(u, v) = x_u . x_v / (||x_u|| ||x_v||)     the largest, only those above 0
    euclidean    dist(u, v) = ||x_u - x_v||                    the smallest

Sparse vectors under the cosine go through an inverted index: every feature lists the vectors that have it, and only
vectors that share a feature are ever compared. Features that nearly all vectors share cost most and say least; `max_df`
leaves those of more vectors out of the search, and the similarities of what is found are still computed in full.

The approximate search (exact=False) reads of sparse vectors the features from the rarest on, each list from its largest
values on, until it has read `budget` entries; of dense ones the clusters nearest to a vector. In both, the best of what
is found is ranked again by the exact similarity. Ties go to the smaller number. Every row is searched by itself:
threads find the same bits as one thread alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.kernel import kernel
from weft.packages import needed

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

METRICS = ("cosine", "euclidean")
#: Candidates of the approximate search that are ranked exactly, for each neighbour asked for, and at least.
RANKED, AT_LEAST = 8, 40
#: Candidates beyond those asked for where all are compared.
SPARE = 4
#: Clusters of dense vectors whose members the approximate search looks at.
PROBES = 12


def nearest_neighbours(
    vectors: csr_matrix | ArrayLike,
    k: int,
    metric: str = "cosine",
    exact: bool = True,
    workers: int = 1,
    max_df: int | None = None,
    budget: int = 4000,
    seed: int = 0,
) -> tuple[Ids, Floats]:
    """Numbers `[vector, k]` of the nearest other vectors, nearest first, and their cosines (or distances).

    `vectors` is a sparse matrix or an array with one row a vector. Where fewer than k neighbours exist (a cosine must
    be above 0), lists end with -1, and the value 0. `max_df` (sparse cosine) searches only through features of at most
    so many vectors; `budget` and `seed` belong to the approximate search.

    >>> ids, similarities = nearest_neighbours([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0]], k=2)
    >>> ids.tolist(), similarities.round(3).tolist()
    ([[1, -1], [0, 2], [1, -1]], [[0.999, 0.0], [0.999, 0.05], [0.05, 0.0]])
    >>> nearest_neighbours([[0.0], [1.0], [3.0]], k=1, metric="euclidean")[1].ravel().tolist()
    [1.0, 1.0, 2.0]
    """
    from scipy.sparse import csr_matrix, issparse

    if metric not in METRICS:
        raise ConfigError(f"neighbours are found by one of {', '.join(METRICS)}, not by {metric!r}")
    for name, number in (("k", k), ("workers", workers), ("budget", budget), ("max_df", max_df)):
        if number is not None and number < 1:
            raise ConfigError(f"{name} must be at least 1, got {number}")
    sparse = issparse(vectors)
    rows = csr_matrix(vectors, dtype=np.float64) if sparse else np.ascontiguousarray(vectors, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"vectors must be the rows of a matrix; got an array of shape {rows.shape}")
    if not np.isfinite(rows.data if sparse else rows).all():
        raise DataError("vectors hold numbers that are not finite; check how they were computed")
    if max_df is not None and not (sparse and metric == "cosine"):
        raise ConfigError("max_df belongs to sparse vectors under the cosine")
    if sparse and metric == "cosine":
        return _by_index(_normalized(rows), k, exact, workers, max_df, budget)
    if not sparse and metric == "cosine":
        lengths = np.linalg.norm(rows, axis=1)
        rows = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    found = _by_clusters(rows, k, workers, seed) if not exact and not sparse else _by_comparison(rows, k, workers)
    return _ranked(rows, found, k, metric)


def _normalized(rows: csr_matrix) -> csr_matrix:
    """Rows of length 1, each feature once and in order; zeros left out."""
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    sizes = np.diff(rows.indptr)
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(len(sizes)), sizes), rows.data**2, len(sizes)))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), sizes)
    return rows


def _by_index(
    rows: csr_matrix, k: int, exact: bool, workers: int, max_df: int | None, budget: int
) -> tuple[Ids, Floats]:
    """Search through the inverted index, row blocks side by side."""
    n, n_features = rows.shape
    offsets, features = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    by_feature = rows.tocsc()
    starts, members, values = by_feature.indptr.astype(np.int64), by_feature.indices.astype(np.int32), by_feature.data
    frequency = np.diff(starts)
    limit = budget if not exact else int(frequency.sum()) + 1
    if not exact:  # lists from their largest values on, rows from their rarest features on
        of = np.repeat(np.arange(n_features), frequency)
        order = np.lexsort((members, -np.abs(values), of))
        members, values = members[order], values[order]
        order = np.lexsort((features, frequency[features], np.repeat(np.arange(n), np.diff(offsets))))
    else:
        order = np.arange(len(features))
    again = 0 if exact and max_df is None else max(RANKED * k, AT_LEAST)
    used = np.ones(n_features, dtype=np.bool_) if max_df is None else frequency <= max_df
    ids, similarities = np.full((n, k), -1, dtype=np.int32), np.zeros((n, k))

    def search(lo: int, hi: int) -> None:
        _search(
            offsets, features, rows.data, order, starts, members, values, used, limit, again, n_features, lo, hi, ids,
            similarities,
        )  # fmt: skip

    _in_blocks(n, workers, search)
    return ids, similarities


def _in_blocks(n: int, workers: int, work: Callable[[int, int], None], size: int = 4096) -> None:
    """Blocks of rows on threads; small ones, as rows differ in what they cost."""
    spans = list(pairwise([*range(0, n, max(1, min(size, -(-n // workers)))), n]))
    if workers == 1:
        work(0, n)
        return
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, lo, hi) for lo, hi in spans]:
            done.result()


def _by_comparison(rows: Any, k: int, workers: int) -> Ids:
    """Candidates by comparing all with all, in scikit-learn."""
    neighbors = needed("sklearn.neighbors", "searching for neighbours of dense vectors")
    n = rows.shape[0]
    if n < 2:
        return np.full((n, 0), -1, dtype=np.int32)
    # A few more than needed: rounding may change the order of vectors that are as good as equally near.
    asked = min(n, k + 1 + SPARE)
    search = neighbors.NearestNeighbors(n_neighbors=asked, n_jobs=workers).fit(rows)
    return search.kneighbors(rows, return_distance=False).astype(np.int32)


def _by_clusters(rows: Floats, k: int, workers: int, seed: int) -> Ids:
    """Candidates from the clusters nearest to a vector; the number of clusters grows with the root of the vectors."""
    cluster, neighbors = (needed(f"sklearn.{name}", "clustering vectors") for name in ("cluster", "neighbors"))
    search = partial(neighbors.NearestNeighbors, algorithm="brute", n_jobs=workers)
    n = len(rows)
    n_clusters = max(1, round(np.sqrt(n)))
    if n_clusters <= PROBES:
        return _by_comparison(rows, k, workers)
    clusters = cluster.MiniBatchKMeans(n_clusters, random_state=seed, n_init=1, max_iter=20, batch_size=4096).fit(rows)
    home = clusters.labels_.astype(np.int32)
    order = np.argsort(home, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(home, minlength=n_clusters))])
    near = search(n_neighbors=PROBES).fit(clusters.cluster_centers_)
    probes = near.kneighbors(rows, return_distance=False).astype(np.int32)
    found = np.full((n, k + 1), -1, dtype=np.int32)
    _in_blocks(n, workers, lambda lo, hi: _probe(rows, order, starts, probes, lo, hi, found))
    return found


def _ranked(rows: Any, found: Ids, k: int, metric: str, block: int = 2048) -> tuple[Ids, Floats]:
    """The k best candidates by their exact similarity or distance, itself left out."""
    n = rows.shape[0]
    ids, values = np.full((n, k), -1, dtype=np.int32), np.zeros((n, k))
    for lo in range(0, n, block):
        own = found[lo : lo + block]
        left = np.repeat(np.arange(lo, lo + len(own)), own.shape[1])
        right = own.ravel()
        if isinstance(rows, np.ndarray):
            if metric == "cosine":
                near = np.einsum("ij,ij->i", rows[left], rows[right])
            else:
                near = np.sqrt(((rows[left] - rows[right]) ** 2).sum(axis=1))
        else:
            apart = rows[left] - rows[right]
            near = np.sqrt(np.asarray(apart.multiply(apart).sum(axis=1)).ravel())
        wrong = (right < 0) | (right == left) | ((metric == "cosine") & (near <= 0))
        rank = np.where(wrong, np.inf, -near if metric == "cosine" else near).reshape(own.shape)
        order = np.lexsort((own, rank), axis=1)[:, :k]
        kept = np.take_along_axis(rank, order, 1) < np.inf
        ids[lo : lo + len(own), : order.shape[1]] = np.where(kept, np.take_along_axis(own, order, 1), -1)
        near = np.take_along_axis(near.reshape(own.shape), order, 1)
        values[lo : lo + len(own), : order.shape[1]] = np.where(kept, near, 0.0)
    return ids, values


@kernel
def _search(
    offsets: Ints,
    features: Ids,
    numbers: Floats,
    order: Ints,
    starts: Ints,
    members: Ids,
    values: Floats,
    used: NDArray[np.bool_],
    limit: int,
    again: int,
    n_features: int,
    lo: int,
    hi: int,
    ids: Ids,
    similarities: Floats,
) -> None:
    """Neighbours of rows `lo:hi`: inner products feature by feature; with `again`, the best so many in full."""
    n, k = len(offsets) - 1, ids.shape[1]
    product = np.zeros(n)
    met = np.full(n, -1, dtype=np.int32)  # the last row that met a vector
    touched = np.empty(n, dtype=np.int32)
    size = max(k, again)
    best, rank = np.empty(size, dtype=np.int32), np.empty(size)
    dense = np.zeros(n_features if again else 0)
    for u in range(lo, hi):
        n_touched = 0
        left = limit
        for i in range(offsets[u], offsets[u + 1]):
            e = order[i]
            f = features[e]
            if not used[f]:
                continue
            x = numbers[e]
            end = min(starts[f + 1], starts[f] + left)
            for m in range(starts[f], end):
                v = members[m]
                if met[v] != u:
                    met[v] = u
                    product[v] = 0.0
                    touched[n_touched] = v
                    n_touched += 1
                product[v] += x * values[m]
            left -= end - starts[f]
            if left <= 0:
                break
        n_best = 0
        for t in range(n_touched):
            v = touched[t]
            if v != u and product[v] > 0.0:
                n_best = _insert(best, rank, n_best, v, product[v])
        if again:
            for e in range(offsets[u], offsets[u + 1]):
                dense[features[e]] = numbers[e]
            n_candidates = n_best
            candidates = best[:n_candidates].copy()
            n_best = 0
            for c in range(n_candidates):
                v = candidates[c]
                total = 0.0
                for e in range(offsets[v], offsets[v + 1]):
                    total += numbers[e] * dense[features[e]]
                if total > 0.0:
                    n_best = _insert(best[:k], rank[:k], n_best, v, total)
            for e in range(offsets[u], offsets[u + 1]):
                dense[features[e]] = 0.0
        for b in range(min(n_best, k)):
            ids[u, b] = best[b]
            similarities[u, b] = rank[b]


@kernel
def _insert(best: Ids, rank: Floats, n_best: int, v: int, similarity: float) -> int:
    """Put a vector into the sorted list of the best, the larger similarity first, then the smaller number."""
    size = len(best)
    if n_best == size and not (similarity > rank[size - 1] or (similarity == rank[size - 1] and v < best[size - 1])):
        return n_best
    at = n_best if n_best < size else size - 1
    while at > 0 and (similarity > rank[at - 1] or (similarity == rank[at - 1] and v < best[at - 1])):
        best[at] = best[at - 1]
        rank[at] = rank[at - 1]
        at -= 1
    best[at] = v
    rank[at] = similarity
    return min(n_best + 1, size)


@kernel
def _probe(rows: Floats, order: Ids, starts: Ints, probes: Ids, lo: int, hi: int, found: Ids) -> None:
    """The nearest members of the clusters that rows `lo:hi` probe, by squared distance."""
    size = found.shape[1]
    rank = np.empty(size)
    for u in range(lo, hi):
        n_best = 0
        for p in probes[u]:
            for m in range(starts[p], starts[p + 1]):
                v = order[m]
                apart = 0.0
                for d in range(rows.shape[1]):
                    apart += (rows[u, d] - rows[v, d]) ** 2
                n_best = _insert(found[u], rank, n_best, v, -apart)
