"""Weighted graphs in compressed rows: the neighbours of vertex u are `neighbours[offsets[u]:offsets[u + 1]]`.

An undirected graph stores every edge in both directions with one weight:  w_uv = w_vu.  Lists of nearest neighbours
are directed; they become undirected by a rule:

    or     w_uv = max(w_uv, w_vu)   where u lists v or v lists u
    and    w_uv = min(w_uv, w_vu)   where both list each other
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Ids, Ints
from weft.errors import ConfigError, DataError
from weft.kernel import kernel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.floating[Any]]

#: What becomes of edges that are given more than once.
_SUM, _MAX, _BOTH = 0, 1, 2


@dataclass(frozen=True)
class Graph:
    """Vertices 0 to n - 1 and the weights of the edges between them; the neighbours of a vertex rise.

    >>> graph = Graph.from_edges(4, [0, 1], [1, 2], [0.5, 2.0])
    >>> graph.offsets.tolist(), graph.neighbours.tolist(), graph.weights.tolist()
    ([0, 1, 3, 4, 4], [1, 0, 2, 1], [0.5, 0.5, 2.0, 2.0])
    """

    offsets: Ints
    neighbours: Ids
    weights: Floats

    def __post_init__(self) -> None:
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        neighbours = np.ascontiguousarray(self.neighbours, dtype=np.int32)
        weights = np.ascontiguousarray(self.weights)
        if weights.dtype != np.float32:
            weights = weights.astype(np.float64, copy=False)
        n = len(offsets) - 1
        if n < 0 or offsets[0] != 0 or (np.diff(offsets) < 0).any() or not offsets[-1] == len(neighbours):
            raise DataError(
                f"offsets must rise from 0 to the number of entries, {len(neighbours)}, one more than vertices"
            )
        if len(weights) != len(neighbours):
            raise DataError(f"a graph has one weight an entry: {len(neighbours)} neighbours, {len(weights)} weights")
        if len(neighbours) and (neighbours.min() < 0 or neighbours.max() >= n):
            raise DataError(f"neighbours must be vertices 0 to {n - 1}; check the numbers of the edges")
        for name, array in (("offsets", offsets), ("neighbours", neighbours), ("weights", weights)):
            object.__setattr__(self, name, array)

    @classmethod
    def from_edges(cls, n: int, u: ArrayLike, v: ArrayLike, w: ArrayLike | None = None) -> Graph:
        """The undirected graph of edges u - v, each named once; weights of edges named more than once are added.

        >>> Graph.from_edges(2, [0, 1], [1, 0], [1.0, 2.0]).weights.tolist()
        [3.0, 3.0]
        """
        ends = [np.ascontiguousarray(end, dtype=np.int32) for end in (u, v)]
        weights = np.ones(len(ends[0])) if w is None else np.ascontiguousarray(w)
        if not len(ends[0]) == len(ends[1]) == len(weights):
            raise DataError(f"edges need two ends and a weight: got {len(ends[0])}, {len(ends[1])}, {len(weights)}")
        if (ends[0] == ends[1]).any():
            at = int(np.flatnonzero(ends[0] == ends[1])[0])
            raise DataError(f"edge {at} leads from vertex {ends[0][at]} to itself; leave such edges out")
        return _assemble(n, ends[0], ends[1], weights, _SUM)

    @classmethod
    def from_lists(cls, ids: ArrayLike, weights: ArrayLike) -> Graph:
        """The directed graph of neighbour lists `[vertex, k]`, as `nearest_neighbours` gives them; -1: no neighbour.

        >>> lists = Graph.from_lists([[1, 2], [0, -1], [-1, -1]], [[0.9, 0.1], [0.9, 0.0], [0.0, 0.0]])
        >>> lists.symmetric().n_edges, lists.symmetric("and").n_edges
        (2, 1)
        """
        own, values = np.asarray(ids), np.asarray(weights)
        if own.ndim != 2 or own.shape != values.shape:
            raise DataError(f"lists and weights must have one shape [vertex, k], got {own.shape} and {values.shape}")
        order = np.argsort(own, axis=1, kind="stable")
        own, values = np.take_along_axis(own, order, 1), np.take_along_axis(values, order, 1)
        there = own >= 0
        return cls(np.concatenate([[0], np.cumsum(there.sum(axis=1))]), own[there], values[there])

    @property
    def n_vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_edges(self) -> int:
        """Edges of an undirected graph: half of the entries."""
        return len(self.neighbours) // 2

    @property
    def degrees(self) -> Ints:
        """How many neighbours every vertex has."""
        return np.diff(self.offsets)

    def strengths(self) -> NDArray[np.float64]:
        """The sum of every vertex's weights.

        >>> Graph.from_edges(3, [0, 1], [1, 2], [0.5, 2.0]).strengths().tolist()
        [0.5, 2.5, 2.0]
        """
        sums: NDArray[np.float64] = np.bincount(self._rows(), self.weights, self.n_vertices).astype(np.float64)
        return sums

    def symmetric(self, rule: str = "or") -> Graph:
        """The undirected graph of a directed one: an edge where either end (with `and`: both) lists the other."""
        rules = {"or": _MAX, "and": _BOTH}
        if rule not in rules:
            raise ConfigError(f"a graph becomes symmetric by the rule or, or and; not by {rule!r}")
        return _assemble(self.n_vertices, self._rows(), self.neighbours, self.weights, rules[rule])

    def edges(self) -> tuple[Ids, Ids, Floats]:
        """The ends u < v and weights of the edges of an undirected graph.

        >>> [part.tolist() for part in Graph.from_edges(3, [2, 0], [1, 1], [2.0, 0.5]).edges()]
        [[0, 1], [1, 2], [0.5, 2.0]]
        """
        rows = self._rows()
        once = rows < self.neighbours
        return rows[once], self.neighbours[once], self.weights[once]

    def thin(self, keep: float, seed: int = 0) -> Graph:
        """An undirected graph with each edge kept by chance `keep`; less is kept of the same edges under one seed.

        >>> graph = Graph.from_edges(100, np.arange(99), np.arange(1, 100))
        >>> graph.thin(1.0).n_edges, graph.thin(0.5).n_edges, graph.thin(0.0).n_edges
        (99, 44, 0)
        """
        if not 0 <= keep <= 1:
            raise ConfigError(f"the share of edges to keep must lie between 0 and 1, got {keep}")
        u, v, w = self.edges()
        kept = np.random.default_rng(seed).random(len(u)) < keep
        return _assemble(self.n_vertices, u[kept], v[kept], w[kept], _SUM)

    def matrix(self) -> csr_matrix:
        """The weights as a sparse matrix, sharing memory."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.weights, self.neighbours, self.offsets), shape=(self.n_vertices, self.n_vertices))

    def components(self) -> Ids:
        """The number of every vertex's connected component, in the order of their first vertices.

        >>> Graph.from_edges(5, [0, 3], [2, 4]).components().tolist()
        [0, 1, 0, 2, 2]
        """
        component = np.full(self.n_vertices, -1, dtype=np.int32)
        _components(self.offsets, self.neighbours, component)
        return component

    def path_lengths(self, sources: ArrayLike) -> Ids:
        """Edges on the shortest path from every vertex to the nearest of a set; -1 where there is no path.

        >>> Graph.from_edges(5, [0, 1, 3], [1, 2, 4]).path_lengths([0]).tolist()
        [0, 1, 2, -1, -1]
        """
        start = np.unique(np.asarray(sources, dtype=np.int64))
        if len(start) and (start[0] < 0 or start[-1] >= self.n_vertices):
            raise DataError(f"sources must be vertices 0 to {self.n_vertices - 1}, got {start[0]} to {start[-1]}")
        length = np.full(self.n_vertices, -1, dtype=np.int32)
        _breadth_first(self.offsets, self.neighbours, start, length)
        return length

    def _rows(self) -> Ids:
        return np.repeat(np.arange(self.n_vertices, dtype=np.int32), self.degrees)


def _assemble(n: int, u: Ids, v: Ids, w: Floats, how: int) -> Graph:
    """Store edges in both directions. Rows come out sorted because the transpose of any rows is."""
    for end in (u, v):
        if len(end) and (end.min() < 0 or end.max() >= n):
            raise DataError(f"the ends of edges must be vertices 0 to {n - 1}, got {end.min()} to {end.max()}")
    w = np.ascontiguousarray(w if w.dtype == np.float32 else w.astype(np.float64, copy=False))
    counts = np.bincount(u, minlength=n) + np.bincount(v, minlength=n)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    neighbours, weights = np.empty(2 * len(u), dtype=np.int32), np.empty(2 * len(u), dtype=w.dtype)
    _both_directions(u, v, w, offsets[:-1].copy(), neighbours, weights)
    sorted_neighbours, sorted_weights = np.empty_like(neighbours), np.empty_like(weights)
    _transpose(offsets, neighbours, weights, offsets[:-1].copy(), sorted_neighbours, sorted_weights)
    kept = _merge(offsets, sorted_neighbours, sorted_weights, how)
    return Graph(offsets, sorted_neighbours[:kept], sorted_weights[:kept])


@kernel
def _both_directions(u: Ids, v: Ids, w: Floats, cursor: Ints, neighbours: Ids, weights: Floats) -> None:
    for e in range(len(u)):
        for one, other in ((u[e], v[e]), (v[e], u[e])):
            neighbours[cursor[one]] = other
            weights[cursor[one]] = w[e]
            cursor[one] += 1


@kernel
def _transpose(
    offsets: Ints, neighbours: Ids, weights: Floats, cursor: Ints, to_neighbours: Ids, to_weights: Floats
) -> None:
    for u in range(len(offsets) - 1):
        for e in range(offsets[u], offsets[u + 1]):
            v = neighbours[e]
            to_neighbours[cursor[v]] = u
            to_weights[cursor[v]] = weights[e]
            cursor[v] += 1


@kernel
def _merge(offsets: Ints, neighbours: Ids, weights: Floats, how: int) -> int:
    """Merge equal neighbours of a row, in place; return the number of entries kept."""
    kept = 0
    begin = 0
    for u in range(len(offsets) - 1):
        end = offsets[u + 1]
        e = begin
        while e < end:
            v = neighbours[e]
            weight = weights[e]
            times = 1
            while e + times < end and neighbours[e + times] == v:
                other = weights[e + times]
                if how == 0:
                    weight += other
                elif how == 1:
                    weight = max(weight, other)
                else:
                    weight = min(weight, other)
                times += 1
            if how != 2 or times > 1:
                neighbours[kept] = v
                weights[kept] = weight
                kept += 1
            e += times
        begin = end
        offsets[u + 1] = kept
    return kept


@kernel
def _components(offsets: Ints, neighbours: Ids, component: Ids) -> None:
    stack = np.empty(len(component), dtype=np.int32)
    found = 0
    for root in range(len(component)):
        if component[root] >= 0:
            continue
        component[root] = found
        stack[0] = root
        size = 1
        while size:
            size -= 1
            u = stack[size]
            for e in range(offsets[u], offsets[u + 1]):
                v = neighbours[e]
                if component[v] < 0:
                    component[v] = found
                    stack[size] = v
                    size += 1
        found += 1


@kernel
def _breadth_first(offsets: Ints, neighbours: Ids, sources: Ints, length: Ids) -> None:
    queue = np.empty(len(length), dtype=np.int32)
    end = 0
    for s in sources:
        length[s] = 0
        queue[end] = s
        end += 1
    first = 0
    while first < end:
        u = queue[first]
        first += 1
        for e in range(offsets[u], offsets[u + 1]):
            v = neighbours[e]
            if length[v] < 0:
                length[v] = length[u] + 1
                queue[end] = v
                end += 1
