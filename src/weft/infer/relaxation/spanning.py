"""Maximum spanning connected subgraphs of a dense labelled multigraph (Flanigan et al. 2014).

    max over edge sets G of  sum over edges (u, v, l) in G of  score[u, v, l]

where G contains all fixed edges, has at most one edge between any two nodes, and connects all nodes. Between two nodes
only the best edge over both directions and all labels can be used (the fixed one where there is one); of those, all
positive ones are taken, then, as in Kruskal's algorithm, the best of the others that join two components. O(n^2 L) for
the edges, O(n^2 log n) for the rest.

With deterministic labels, a node has at most one outgoing edge of each of them; leaves have at most one edge, so that
they connect no other nodes. These rows are relaxed: prices are
subtracted from the scores before the best edge between two nodes is chosen, since they change which one wins. A
greedy search is offered beside it: of two edges that exclude each other the worse one is forbidden, until none do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.infer.relaxation.lagrangian import Relaxed, Step, relax
from weft.kernel import inner_kernel, kernel
from weft.ragged import check_scores


class Edges(NamedTuple):
    """Edges as rows (tail, head, label) in ascending order, and the sum of their scores."""

    edges: Ints
    value: float


class SpanningGraph:
    """Subgraphs of `scores[tail, head, label]`; minus infinity forbids an edge. `fixed` lists edges to be kept.

    >>> scores = np.full((3, 3, 2), -1.0)
    >>> scores[0, 1, 0] = scores[0, 2, 0] = 2.0
    >>> scores[0, 2, 1] = 1.5
    >>> graph = SpanningGraph(scores)
    >>> graph.best().edges.tolist(), graph.best().value
    ([[0, 1, 0], [0, 2, 0]], 4.0)
    >>> found, relaxed = graph.best_deterministic([0])  # one outgoing edge with label 0 per node
    >>> found.edges.tolist(), found.value, relaxed.certified
    ([[0, 1, 0], [0, 2, 1]], 3.5, True)
    """

    def __init__(self, scores: ArrayLike, fixed: ArrayLike = (), simple: bool = True) -> None:
        self.simple = simple  #: if not, all positive edges between two nodes are taken
        self.scores = check_scores(scores, "scores of edges")
        if self.scores.ndim != 3 or self.scores.shape[0] != self.scores.shape[1]:
            raise InferenceError(f"scores of edges must be [n, n, labels]; given: {list(self.scores.shape)}")
        self.fixed = _checked(fixed, self.scores)

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.scores)

    @cached_property
    def connected(self) -> bool:
        """Whether the edges that are not forbidden connect all nodes."""
        best = self.best().edges
        return _is_connected(best[:, 0].copy(), best[:, 1].copy(), len(self))

    def best(self) -> Edges:
        """The best subgraph; it is a forest of components where allowed edges do not connect all nodes."""
        return self._edges(self._search(self.scores.ravel()))

    def best_deterministic(
        self,
        labels: Sequence[int],
        step: Step = "decaying",
        size: float = 1.0,
        steps: int = 500,
        leaves: Sequence[int] = (),
    ) -> tuple[Edges, Relaxed]:
        """The best subgraph in which no node has two outgoing edges with the same label of `labels`.

        Nodes that are `leaves` have one edge only.

        It is the best one if the second result is `certified`. Fixed edges stay even if they break the rule; no
        further edge is then added.
        """
        rows, limits = self._rows(labels, leaves)
        found = relax(self._search, self.scores.ravel(), rows, limits, None, step, size, steps)
        return self._edges(found.solution), found

    def best_greedy(self, labels: Sequence[int], leaves: Sequence[int] = ()) -> Edges:
        """A subgraph that obeys the same rule: where a node has several edges of a label, all but the best are dropped.

        The search is repeated without them until the rule holds. The result need not be the best one.

        >>> scores = np.full((3, 3, 2), -1.0)
        >>> scores[0, 1, 0] = scores[0, 2, 0] = 2.0
        >>> SpanningGraph(scores).best_greedy([0]).value
        1.0
        """
        rows, limits = self._rows(labels, leaves)
        scores, kept = self.scores.ravel().copy(), np.zeros(self.scores.size, dtype=np.bool_)
        kept[self._flat(self.fixed)] = True

        def forbid_all_but(row: int, stays: int) -> None:
            edges = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
            scores[edges[~kept[edges] & (edges != stays)]] = -np.inf

        for row in np.flatnonzero(rows @ kept.astype(np.float64) >= limits).tolist():
            forbid_all_but(row, -1)
        columns = rows.tocsc()
        for row in range(rows.shape[0] - len(leaves), rows.shape[0]):  # leaves choose first: they must keep an edge
            edges = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
            stays = int(edges[np.argmax(scores[edges])])
            for other in columns.indices[columns.indptr[stays] : columns.indptr[stays + 1]].tolist():
                forbid_all_but(other, stays)
        while True:
            chosen = self._search(scores)
            broken = np.flatnonzero(rows @ chosen > limits)
            if not len(broken):
                return self._edges(chosen)
            for row in broken.tolist():
                edges = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
                used = edges[chosen[edges] > 0]
                forbid_all_but(row, int(used[np.argmax(scores[used])]))

    def _rows(self, labels: Sequence[int], leaves: Sequence[int]) -> tuple[Any, Floats]:
        """One row per node and deterministic label, and per leaf, over all edges in the order of `scores.ravel()`."""
        from scipy.sparse import csr_array

        n, _, n_labels = self.scores.shape
        tail, head, which = np.meshgrid(np.arange(n), np.arange(n), np.arange(len(labels)), indexing="ij")
        columns = (tail * n + head) * n_labels + np.asarray(labels, dtype=np.int64)[which]
        row = tail * len(labels) + which
        places = np.arange(self.scores.size).reshape(self.scores.shape)
        touching = [np.concatenate([places[leaf].ravel(), places[:, leaf].ravel()]) for leaf in leaves]
        at = np.repeat(n * len(labels) + np.arange(len(leaves)), [len(each) for each in touching])
        rows, columns = np.concatenate([row.ravel(), at]), np.concatenate([columns.ravel(), *touching])
        shape = (n * len(labels) + len(leaves), self.scores.size)
        matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        kept = np.zeros(self.scores.size)
        kept[self._flat(self.fixed)] = 1.0
        return matrix, np.maximum(1.0, matrix @ kept)

    def _flat(self, edges: Ints) -> Ints:
        n, _, n_labels = self.scores.shape
        return (edges[:, 0] * n + edges[:, 1]) * n_labels + edges[:, 2]

    def _search(self, scores: Floats) -> Floats:
        chosen = np.zeros(self.scores.size)
        _connect(scores.reshape(self.scores.shape), self.fixed, self.simple, chosen)
        return chosen

    def _edges(self, chosen: Floats) -> Edges:
        edges = np.argwhere(chosen.reshape(self.scores.shape) > 0)
        return Edges(edges, float(self.scores.ravel()[chosen > 0].sum()))


def _checked(fixed: ArrayLike, scores: Floats) -> Ints:
    edges = np.array(fixed, dtype=np.int64).reshape(-1, 3)
    if np.any(edges < 0) or np.any(edges >= np.array(scores.shape)):
        raise InferenceError(f"fixed edges must be (tail, head, label) within {list(scores.shape)}")
    pairs = np.sort(edges[:, :2], axis=1)
    if np.any(pairs[:, 0] == pairs[:, 1]) or len(np.unique(pairs, axis=0)) < len(pairs):
        raise InferenceError("fixed edges must join two different nodes, and no two nodes twice")
    if not np.isfinite(scores[tuple(edges.T)]).all():
        raise InferenceError("a fixed edge has a score of minus infinity, which forbids it")
    return edges


@inner_kernel
def _root(parent: Ints, node: int) -> int:
    """The representative of a node's component; paths are halved on the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inner_kernel
def _join(parent: Ints, u: int, v: int) -> bool:
    """Join the components of two nodes; False if they were one before."""
    first, second = _root(parent, u), _root(parent, v)
    parent[second] = first
    return first != second


@kernel
def _is_connected(tails: Ints, heads: Ints, n: int) -> bool:
    parent, components = np.arange(n), n
    for e in range(len(tails)):
        if _join(parent, tails[e], heads[e]):
            components -= 1
    return components <= 1


@inner_kernel
def _best_between(scores: Floats, u: int, v: int) -> int:
    """The best edge between two nodes as an index into the flat scores, -1 if all are forbidden."""
    n, n_labels = scores.shape[0], scores.shape[2]
    top, place = -np.inf, -1
    for label in range(n_labels):
        if scores[u, v, label] > top:
            top, place = scores[u, v, label], (u * n + v) * n_labels + label
        if scores[v, u, label] > top:
            top, place = scores[v, u, label], (v * n + u) * n_labels + label
    return place


@inner_kernel
def _take_positive(flat: Floats, chosen: Floats, first: int, count: int) -> None:
    for place in range(first, first + count):
        if flat[place] > 0:
            chosen[place] = 1.0


@kernel
def _connect(scores: Floats, fixed: Ints, simple: bool, chosen: Floats) -> None:
    """Mark the edges of the best connected subgraph."""
    n, n_labels = scores.shape[0], scores.shape[2]
    flat, parent = scores.ravel(), np.arange(n)
    taken = np.zeros((n, n), dtype=np.bool_)
    for f in range(len(fixed)):
        u, v = fixed[f, 0], fixed[f, 1]
        taken[u, v] = taken[v, u] = True
        chosen[(u * n + v) * n_labels + fixed[f, 2]] = 1.0
        _join(parent, u, v)
    waiting, worth, count = np.empty(n * n, dtype=np.int64), np.empty(n * n), 0
    for u in range(n):
        for v in range(u + 1, n):
            place = -1 if taken[u, v] else _best_between(scores, u, v)
            if place >= 0 and flat[place] > 0:
                chosen[place] = 1.0
                _join(parent, u, v)
                if not simple:
                    _take_positive(flat, chosen, (u * n + v) * n_labels, n_labels)
                    _take_positive(flat, chosen, (v * n + u) * n_labels, n_labels)
            elif place >= 0:
                waiting[count], worth[count] = place, -flat[place]
                count += 1
    order = np.argsort(worth[:count], kind="mergesort")
    for i in range(count):
        place = waiting[order[i]]
        if _join(parent, place // n_labels // n, place // n_labels % n):
            chosen[place] = 1.0
