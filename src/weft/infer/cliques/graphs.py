"""Batches of typed graphs: the doors to maximal and probable cliques.

A graph has nodes of several kinds and a probability for every pair. A clique has at most `limits[k]` nodes of kind k;
a pair that could never be in one clique has no edge, whatever its probability. Nodes of a kind without a limit (0) make
cliques of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats, Ints
from weft.errors import InferenceError
from weft.infer.cliques.maximal import FULL, TOO_LONG, maximal_search
from weft.infer.cliques.probable import SLACK, probable_search, prune_edges
from weft.kernel import kernel
from weft.ragged import check_offsets, one_block

#: A clique as numbers of its nodes, ascending.
Clique = tuple[int, ...]
#: Steps after which the search in one graph is given up and repeated without its weakest edges.
MOST_STEPS = 200_000
_FIRST_ROWS = 64


def maximal_cliques(joined: ArrayLike, kinds: ArrayLike, limits: ArrayLike) -> list[Clique]:
    """The maximal consistent cliques of two or more nodes.

    >>> edges = [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]]
    >>> maximal_cliques(edges, [0, 1, 2, 0], [1, 1, 1])
    [(0, 1, 2), (1, 3)]
    """
    matrix = np.asarray(joined, dtype=np.float64)
    return TypedGraphs([matrix], [kinds], limits).maximal(0.5)[0]


def probable_cliques(
    probabilities: ArrayLike, kinds: ArrayLike, limits: ArrayLike, threshold: float = 0.5
) -> list[Clique]:
    """The valid cliques that no other valid one contains: the geometric mean of their edges reaches the threshold.

    >>> probabilities = [[0, 0.99, 0.49], [0.99, 0, 0.99], [0.49, 0.99, 0]]
    >>> probable_cliques(probabilities, [0, 1, 2], [1, 1, 1])
    [(0, 1, 2)]
    >>> probable_cliques(probabilities, [0, 1, 2], [1, 1, 1], threshold=0.8)
    [(0, 1), (1, 2)]
    """
    return TypedGraphs([np.asarray(probabilities, dtype=np.float64)], [kinds], limits).probable(threshold)[0]


def clique_weight(probabilities: ArrayLike, clique: Sequence[int]) -> float:
    """The geometric mean of the probabilities of a clique's edges.

    >>> round(clique_weight([[0, 0.99, 0.49], [0.99, 0, 0.99], [0.49, 0.99, 0]], (0, 1, 2)), 3)
    0.783
    """
    matrix = np.asarray(probabilities, dtype=np.float64)
    edges = [float(matrix[u, v]) for u, v in combinations(clique, 2)]
    if not edges:
        raise InferenceError(f"a clique needs at least two nodes to have a weight, got {tuple(clique)}")
    return float(np.exp(np.mean(np.log(edges)))) if min(edges) > 0 else 0.0


class TypedGraphs:
    """A batch of graphs: one symmetric matrix of probabilities and one list of kinds per graph, limits for all.

    >>> graphs = TypedGraphs([[[0, 0.9], [0.9, 0]], [[0, 0.2], [0.2, 0]]], [[0, 1], [0, 1]], [1, 1])
    >>> graphs.probable(), graphs.maximal(0.1)
    ([[(0, 1)], []], [[(0, 1)], [(0, 1)]])
    """

    def __init__(
        self, probabilities: Sequence[ArrayLike], kinds: Sequence[ArrayLike], limits: ArrayLike,
        most_steps: int = MOST_STEPS,
    ) -> None:  # fmt: skip
        if len(probabilities) != len(kinds):
            raise InferenceError(f"there are {len(probabilities)} matrices for {len(kinds)} graphs")
        self.limits: Ints = one_block(limits, np.int64).reshape(-1)
        matrices = [np.asarray(each, dtype=np.float64) for each in probabilities]
        lists = [np.asarray(each, dtype=np.int64).reshape(-1) for each in kinds]
        for number, (matrix, own) in enumerate(zip(matrices, lists, strict=True)):
            _check_graph(number, matrix, own, len(self.limits))
        sizes = [len(own) for own in lists]
        self.offsets: Ints = check_offsets(np.cumsum([0, *sizes]), sum(sizes))
        self.kinds: Ints = np.concatenate([np.zeros(0, np.int64), *lists])
        self.squares: Ints = np.cumsum([0, *(size * size for size in sizes)], dtype=np.int64)
        self.values: Floats = np.concatenate([np.zeros(0), *(matrix.ravel() for matrix in matrices)])
        self.most_steps = most_steps
        #: Graphs that were searched without their weakest edges, because the search took too many steps.
        self.simplified: list[int] = []

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.offsets) - 1

    def maximal(self, threshold: float = 0.5) -> list[list[Clique]]:
        """For every graph the maximal consistent cliques of edges that are at least as probable as the threshold."""
        return self._searched(threshold, probable=False, prune=False)

    def probable(self, threshold: float = 0.5, prune: bool = True) -> list[list[Clique]]:
        """For every graph the valid cliques that no other valid one contains; `prune` changes the time only."""
        if not 0 < threshold <= 1:
            raise InferenceError(f"the threshold of a geometric mean must be above 0 and at most 1, got {threshold}")
        return self._searched(threshold, probable=True, prune=prune)

    def kept_edges(self, threshold: float = 0.5) -> list[Bools]:
        """For every graph the edges that some valid clique might have, those that pruning leaves."""
        masks: list[Bools] = []
        for graph in range(len(self)):
            scores, own = self._scores(graph, threshold), self._kinds(graph)
            n, room = len(own), _room(self.limits, len(own))
            _forbid(scores, own, room)
            _prune_one(scores, own, room, np.zeros(n), np.zeros(n, np.int64), np.zeros(len(room)), np.zeros(len(room)))
            masks.append(scores > -np.inf)
        return masks

    def _kinds(self, graph: int) -> Ints:
        return self.kinds[self.offsets[graph] : self.offsets[graph + 1]].copy()

    def _matrix(self, graph: int) -> Floats:
        n = int(self.offsets[graph + 1] - self.offsets[graph])
        return self.values[self.squares[graph] : self.squares[graph + 1]].reshape(n, n)

    def _scores(self, graph: int, threshold: float) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self._matrix(graph)) - np.log(threshold)

    def _searched(self, threshold: float, probable: bool, prune: bool) -> list[list[Clique]]:
        results: list[list[Clique]] = []
        self.simplified = []
        values = self.values
        rows, graph = _FIRST_ROWS, 0
        widest = int(np.diff(self.offsets).max(initial=0))
        kinds = max(1, len(self.limits))
        while graph < len(self):
            found = np.zeros((rows, widest), dtype=np.bool_)
            ends = np.zeros(len(self) - graph, dtype=np.int64)
            reached = _search_batch(
                values, self.squares, self.kinds, self.offsets, self.limits, threshold, probable, prune, graph,
                self.most_steps, found, ends, np.zeros((widest, widest)), np.zeros((widest, widest), np.bool_),
                np.zeros((widest + 1, widest)), np.zeros((widest + 1, widest), np.int64),
                np.zeros((widest + 1, widest), np.int8), np.zeros((widest + 1, widest), np.bool_),
                np.zeros((3, widest + 1), np.int64), np.zeros(widest + 1), np.zeros(kinds, np.int64),
                np.zeros((2, kinds)),
            )  # fmt: skip
            for number in range(graph, graph + reached[0]):
                first = int(ends[number - graph - 1]) if number > graph else 0
                size = int(self.offsets[number + 1] - self.offsets[number])
                own = found[first : ends[number - graph], :size]
                results.append(sorted(tuple(np.flatnonzero(row).tolist()) for row in own))
            graph += reached[0]
            if reached[1] == FULL:
                rows *= 4
            elif reached[1] == TOO_LONG:
                if values is self.values:
                    values = self.values.copy()
                self._weaken(values, graph)
        return results

    def _weaken(self, values: Floats, graph: int) -> None:
        """Drop the weaker half of the edges of a graph."""
        part = values[self.squares[graph] : self.squares[graph + 1]]
        left = np.sort(part[part > 0])
        part[part <= left[len(left) // 2]] = 0.0
        if graph not in self.simplified:
            self.simplified.append(graph)


def _check_graph(number: int, matrix: Floats, kinds: Ints, known: int) -> None:
    if matrix.shape != (len(kinds), len(kinds)):
        raise InferenceError(f"graph {number} has {len(kinds)} nodes and a matrix of the shape {matrix.shape}")
    if not matrix.size:
        return
    if not (matrix.min() >= 0 and matrix.max() <= 1 + 1e-9) or not np.array_equal(matrix, matrix.T):
        raise InferenceError(f"the edges of graph {number} must have symmetric probabilities from 0 to 1")
    if kinds.min() < 0 or kinds.max() >= known:
        raise InferenceError(f"the kinds of graph {number} must be numbers from 0 to {known - 1}, one per limit")


def _room(limits: Ints, n: int) -> Ints:
    return np.where(limits <= 0, max(n, 1), limits).astype(np.int64)


@kernel
def _forbid(scores: Floats, kinds: Ints, room: Ints) -> None:
    """Remove the edges between nodes that could never be in one clique, and those of nodes to themselves."""
    for u in range(len(kinds)):
        for v in range(len(kinds)):
            if u == v or (kinds[u] == kinds[v] and room[kinds[u]] < 2):
                scores[u, v] = -np.inf


@kernel
def _prune_one(scores: Floats, kinds: Ints, room: Ints, gain: Floats, nodes: Ints, parts: Floats, best: Floats) -> int:
    return prune_edges(scores, kinds, room, gain, nodes, parts, best)


@kernel
def _search_batch(
    values: Floats, squares: Ints, all_kinds: Ints, offsets: Ints, limits: Ints, threshold: float, probable: bool,
    prune: bool, first: int, most_steps: int, found: Bools, ends: Ints, scores: Floats, joined: Bools, gain: Floats,
    nodes: Ints, marks: NDArray[np.int8], todo: Bools, numbers: Ints, total: Floats, room: Ints, parts: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Search graphs from `first` on until one does not fit; returns how many were searched, and why it stopped."""
    rows = 0
    for graph in range(first, len(offsets) - 1):
        n = offsets[graph + 1] - offsets[graph]
        kinds = all_kinds[offsets[graph] : offsets[graph + 1]]
        for k in range(len(limits)):
            room[k] = limits[k] if limits[k] > 0 else max(n, 1)
        own = scores[:n, :n]
        for u in range(n):
            for v in range(n):
                p = values[squares[graph] + u * n + v]
                own[u, v] = np.log(p) - np.log(threshold) if p > 0 else -np.inf
        _forbid(own, kinds, room)
        if probable:
            if prune:
                prune_edges(own, kinds, room, gain[0], nodes[0], parts[0], parts[1])
            count = probable_search(
                own, kinds, room, most_steps, gain, nodes, numbers[0], numbers[1], total, numbers[2], parts[0],
                parts[1], found[rows:, :n],
            )  # fmt: skip
        else:
            for u in range(n):
                for v in range(n):
                    joined[u, v] = own[u, v] >= -SLACK
            count = maximal_search(
                joined[:n, :n], kinds, room, most_steps, marks[:, :n], todo[:, :n], numbers[0], found[rows:, :n]
            )
        if count < 0:
            return graph - first, count
        rows += count
        ends[graph - first] = rows
    return len(offsets) - 1 - first, 0
