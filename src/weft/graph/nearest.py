"""The vectors nearest to a query among millions: exact by default, approximate with hnswlib.

    inner      x . q                    the largest
    cosine     x . q / (|x| |q|)        the largest
    euclidean  -|x - q|                 the largest

The exact search goes through the vectors in blocks, one matrix product each, so that a memory-mapped table of any size
can be searched; ties go to the smaller number. `weft.graph.neighbours` finds the neighbours of all vectors at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.packages import needed

METRICS = ("inner", "cosine", "euclidean")
_BLOCK = 1 << 16
#: What hnswlib calls metrics; its cosine and inner product are 1 - ours.
_SPACES = {"inner": "ip", "cosine": "cosine", "euclidean": "l2"}


class VectorIndex:
    """Vectors to search: rows of an array, which stays where it is.

    >>> index = VectorIndex(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]))
    >>> numbers, scores = index.search(np.array([[1.0, 0.5]]), 2)
    >>> numbers.tolist(), scores.tolist()
    ([[2, 0]], [[3.0, 1.0]])
    """

    def __init__(self, vectors: NDArray[Any], metric: str = "inner", approximate: bool = False, seed: int = 0) -> None:
        if metric not in METRICS:
            raise ConfigError(f"the metric must be one of {', '.join(METRICS)}, got {metric!r}")
        if vectors.ndim != 2 or not len(vectors):
            raise DataError(f"an index needs vectors as the rows of a matrix; got the shape {vectors.shape}")
        self.vectors, self.metric = vectors, metric
        self._graph: Any = _built(vectors, metric, seed) if approximate else None

    def __len__(self) -> int:
        return len(self.vectors)

    def search(self, queries: NDArray[Any], k: int) -> tuple[Ints, Floats]:
        """Numbers and scores `[query, k]` of the nearest vectors, the nearest first; k is at most their number."""
        asked = np.atleast_2d(np.asarray(queries, dtype=np.float64))
        if asked.shape[1] != self.vectors.shape[1]:
            raise DataError(f"the query has {asked.shape[1]} dimensions, the vectors have {self.vectors.shape[1]}")
        if not np.isfinite(asked).all():
            raise DataError("the query has numbers that are not finite")
        k = min(k, len(self))
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        return self._exact(asked, k) if self._graph is None else self._approximate(asked, k)

    def _exact(self, queries: Floats, k: int) -> tuple[Ints, Floats]:
        numbers, scores = np.zeros((len(queries), 0), dtype=np.int64), np.zeros((len(queries), 0))
        for first in range(0, len(self), _BLOCK):
            own = self._scores(queries, np.asarray(self.vectors[first : first + _BLOCK], dtype=np.float64))
            ids = np.broadcast_to(np.arange(first, first + own.shape[1]), own.shape)
            numbers, scores = _best(np.hstack([numbers, ids]), np.hstack([scores, own]), k)
        return numbers, scores

    def _scores(self, queries: Floats, rows: Floats) -> Floats:
        if self.metric == "cosine":
            queries, rows = _unit(queries), _unit(rows)
        inner: Floats = queries @ rows.T
        if self.metric != "euclidean":
            return inner
        squares = (queries**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * inner
        found: Floats = -np.sqrt(np.maximum(squares, 0.0))
        return found

    def _approximate(self, queries: Floats, k: int) -> tuple[Ints, Floats]:
        self._graph.set_ef(max(4 * k, 64))
        numbers, _ = self._graph.knn_query(queries.astype(np.float32), k=k, num_threads=1)
        numbers = numbers.astype(np.int64)
        scores = np.concatenate(
            [self._scores(query[None], np.asarray(self.vectors[row], dtype=np.float64))
             for query, row in zip(queries, numbers, strict=True)]
        )  # fmt: skip
        return _best(numbers, scores, k)


def _built(vectors: NDArray[Any], metric: str, seed: int) -> Any:
    hnswlib = needed("hnswlib", "the approximate search")
    graph = hnswlib.Index(space=_SPACES[metric], dim=vectors.shape[1])
    graph.init_index(max_elements=len(vectors), ef_construction=200, M=16, random_seed=seed)
    for first in range(0, len(vectors), _BLOCK):
        graph.add_items(np.asarray(vectors[first : first + _BLOCK], dtype=np.float32), num_threads=1)
    return graph


def _best(numbers: Ints, scores: Floats, k: int) -> tuple[Ints, Floats]:
    """The k best of each row, best first; ties by number."""
    rows = []
    for row in range(len(scores)):
        own = scores[row]
        least = np.partition(own, len(own) - k)[len(own) - k] if k < len(own) else -np.inf
        near = np.flatnonzero(own >= least)
        rows.append(near[np.lexsort((numbers[row, near], -own[near]))][:k])
    chosen = np.array(rows)
    return np.take_along_axis(numbers, chosen, axis=1), np.take_along_axis(scores, chosen, axis=1)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Floats = rows / np.where(lengths > 0, lengths, 1.0)
    return found
