"""The three update rules, each as the system of rows that its updates go through.

With W(u, v) the weight of the edge u -> v, N_v = sum_u W(u, v), Y the seeds and T the label "unknown":

    lp           x_v <- Y_v at seeds, else  sum_u W(u, v) x_u / N_v
    adsorption   x_v <- p_inj Y_v + p_cont sum_u W(u, v) x_u / N_v + p_abnd T
    mad          x_v <- [mu1 p_inj Y_v + mu2 sum_u (p_cont_v W(v, u) + p_cont_u W(u, v)) x_u + mu3 p_abnd T] / M_v
                 M_v  = mu1 p_inj + mu2 sum_{u != v} (p_cont_v W(v, u) + p_cont_u W(u, v)) + mu3

A random walk against the edges injects the label of a seed, goes on, or is abandoned, by the entropy of the edges:

    H_v = -sum_u p_uv log p_uv,  p_uv = W(u, v) / N_v     c_v = log beta / log(beta + e^H)    j_v = (1 - c_v) sqrt(H_v)
    p_cont = c / z,  p_inj = j / z at seeds, else 0,  p_abnd = 1 - p_cont - p_inj,   z = max(c + j, 1)

so that hubs pass little on. `entropy="bits"` computes c_v = log beta / log(beta + H) with H in bits, as the authors'
toolkit does. A seed with one neighbour has H = 0, and would lose its label: it gets p_inj = .99, p_cont = .01, as in
the toolkit. A vertex without edges says what it was seeded with, or "unknown".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph, _transpose
from weft.graph.propagation.seeds import Seeds
from weft.graph.propagation.system import System
from weft.kernel import kernel

Weights = NDArray[np.floating[Any]]
RULES = ("lp", "adsorption", "mad")
ENTROPIES = ("exp", "bits")
#: Injection and continuation of seeds whose edges have no entropy.
SURE_SEED = (0.99, 0.01)


@dataclass(frozen=True)
class Walk:
    """The probabilities of every vertex that a walk injects its label, goes on, or is abandoned.

    >>> line = Graph.from_edges(4, [0, 1], [1, 2])
    >>> walk = Walk.of(line, Seeds.of(4, [0], [0]))
    >>> walk.inject.round(2).tolist(), walk.go_on.round(2).tolist(), walk.abandon.round(2).tolist()
    ([0.99, 0.0, 0.0, 0.0], [0.01, 0.5, 0.63, 0.0], [0.0, 0.5, 0.37, 1.0])
    """

    inject: Floats
    go_on: Floats
    abandon: Floats

    @classmethod
    def of(cls, graph: Graph, seeds: Seeds, beta: float = 2.0, entropy: str = "exp") -> Walk:
        """The probabilities by the entropy of edges."""
        return cls._of(incoming(graph), seeds.seeded, beta, entropy)

    @classmethod
    def _of(cls, into: Graph, seeded: Bools, beta: float, entropy: str) -> Walk:
        if beta <= 1:
            raise ConfigError(f"beta must be above 1, got {beta}: log beta is the weight of going on")
        if entropy not in ENTROPIES:
            raise ConfigError(f"the entropy of edges counts by one of {', '.join(ENTROPIES)}, not by {entropy!r}")
        n = into.n_vertices
        spread, total = np.zeros(n), np.zeros(n)
        _entropies(into.offsets, into.weights, spread, total)
        if entropy == "bits":
            spread /= np.log(2.0)
            c = np.log(beta) / np.log(beta + spread)
        else:
            c = np.log(beta) / np.log(beta + np.exp(spread))
        j = np.where(seeded, (1.0 - c) * np.sqrt(spread), 0.0)
        z = np.maximum(c + j, 1.0)
        inject, go_on = j / z, c / z
        inject[seeded & (spread == 0)], go_on[seeded & (spread == 0)] = SURE_SEED
        go_on[total == 0] = 0.0
        return cls(inject, go_on, np.maximum(1.0 - inject - go_on, 0.0))


def build(rule: str, graph: Graph, seeds: Seeds, **options: Any) -> System:
    """The system of the rule of that name; the options are those of its function.

    >>> line = Graph.from_edges(4, [0, 1], [1, 2])
    >>> build("lp", line, Seeds.of(4, [0, 2], [0, 1])).run(20).round(3).tolist()[1]
    [0.5, 0.5, 0.0]
    """
    if rule not in RULES:
        raise ConfigError(f"labels are propagated by one of {', '.join(RULES)}, not by {rule!r}")
    return {"lp": label_propagation, "adsorption": adsorption, "mad": mad}[rule](graph, seeds, **options)


def label_propagation(graph: Graph, seeds: Seeds) -> System:
    """Zhu, Ghahramani and Lafferty's rule: seeds stay as they are, others become the mean of their neighbours.

    >>> line = Graph.from_edges(4, [0, 1], [1, 2])
    >>> label_propagation(line, Seeds.of(4, [0], [0])).solve().round(2).tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    into = incoming(_checked(graph, seeds))
    held = seeds.seeded
    offsets = np.zeros(into.n_vertices + 1, dtype=np.int64)
    np.cumsum(np.where(held, 0, into.degrees), out=offsets[1:])
    kept = np.repeat(~held, into.degrees)
    weights = into.weights[kept]
    strength: Floats = np.bincount(np.repeat(np.arange(len(held)), np.diff(offsets)), weights, len(held)).astype(
        np.float64
    )
    coefficients = _divided(weights, offsets, strength)
    rest = np.where(held | (strength > 0), 0.0, 1.0)
    return System(offsets, into.neighbours[kept], coefficients, seeds, rest, unknown_at_start=1.0)


def adsorption(
    graph: Graph, seeds: Seeds, beta: float = 2.0, entropy: str = "exp", shadow: bool = False, abandon: bool = True
) -> System:
    """Talukdar et al. (2008). With `shadow`, every seed hands its label to a vertex of its own, which has an edge of
    weight 1 to it, so that the seed itself may change; these vertices come after those of the graph. Without `abandon`,
    what would be abandoned goes on.

    >>> line = Graph.from_edges(4, [0, 1], [1, 2])
    >>> seeds = Seeds.of(4, [0], [0])
    >>> adsorption(line, seeds).solve().round(3).tolist()
    [[0.993, 0.007], [0.295, 0.705], [0.186, 0.814], [0.0, 1.0]]
    >>> adsorption(line, seeds, shadow=True).solve().round(3).tolist()
    [[0.27, 0.73], [0.08, 0.92], [0.051, 0.949], [0.0, 1.0], [1.0, 0.0]]
    """
    into = incoming(_checked(graph, seeds))
    if shadow:
        into, seeds = _shadowed(into, seeds)
    held = np.arange(into.n_vertices) >= graph.n_vertices  # the shadows
    walk = Walk._of(into, seeds.seeded & ~held, beta, entropy)
    inject, go_on, rest = np.where(held, 1.0, walk.inject), walk.go_on, np.where(held, 0.0, walk.abandon)
    if not abandon:
        linked = into.degrees > 0
        go_on, rest = np.where(linked, go_on + rest, go_on), np.where(linked, 0.0, rest)
    strength = into.strengths()
    coefficients = _divided(into.weights, into.offsets, np.divide(strength, go_on, where=go_on > 0, out=strength * 0))
    return System(into.offsets, into.neighbours, coefficients, seeds.scaled(inject), rest, 1.0, graph.n_vertices, seeds)


def mad(
    graph: Graph, seeds: Seeds, mu1: float = 1.0, mu2: float = 1e-2, mu3: float = 1e-2, beta: float = 2.0,
    entropy: str = "exp",
) -> System:  # fmt: skip
    """Modified Adsorption (Talukdar & Crammer 2009), whose updates minimize an objective; see `objective`.

    >>> line = Graph.from_edges(4, [0, 1], [1, 2])
    >>> mad(line, Seeds.of(4, [0], [0])).solve().round(2).tolist()
    [[0.99, 0.0], [0.25, 0.34], [0.13, 0.35], [0.0, 1.0]]
    """
    if not (mu1 >= 0 and mu2 >= 0 and mu3 >= 0 and mu1 + mu2 + mu3 < float("inf")):
        raise ConfigError(f"mu1, mu2 and mu3 must be finite and at least 0, got {mu1}, {mu2} and {mu3}")
    into = incoming(_checked(graph, seeds))
    walk = Walk._of(into, seeds.seeded, beta, entropy)
    offsets, neighbours, coefficients = symmetrized(graph, into, walk.go_on)
    del into
    both = np.bincount(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), coefficients, len(offsets) - 1)
    m = mu1 * walk.inject + mu2 * both + mu3
    inverse = np.divide(1.0, m, where=m > 0, out=np.zeros_like(m))
    coefficients *= mu2 * np.repeat(inverse, np.diff(offsets)).astype(coefficients.dtype)
    rest = np.where(m > 0, mu3 * walk.abandon * inverse, 1.0)
    return System(offsets, neighbours, coefficients, seeds.scaled(mu1 * walk.inject * inverse), rest, 0.0, None, seeds)


def incoming(graph: Graph) -> Graph:
    """The rows of the edges that enter each vertex; the graph itself if it is undirected.

    >>> incoming(Graph([0, 1, 1], [1], [2.0])).offsets.tolist()
    [0, 0, 1]
    """
    counts = np.bincount(graph.neighbours, minlength=graph.n_vertices)
    offsets = np.zeros(graph.n_vertices + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    neighbours, weights = np.empty_like(graph.neighbours), np.empty_like(graph.weights)
    _transpose(graph.offsets, graph.neighbours, graph.weights, offsets[:-1].copy(), neighbours, weights)
    is_same = all(
        np.array_equal(one, other)
        for one, other in ((offsets, graph.offsets), (neighbours, graph.neighbours), (weights, graph.weights))
    )
    return graph if is_same else Graph(offsets, neighbours, weights)


def symmetrized(graph: Graph, into: Graph, go_on: Floats) -> tuple[Ints, Ids, Weights]:
    """Rows of p_cont_v W(v, u) + p_cont_u W(u, v), without edges from a vertex to itself."""
    given = (graph.offsets, graph.neighbours, graph.weights, into.offsets, into.neighbours, into.weights, go_on)
    offsets = np.zeros(graph.n_vertices + 1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=graph.weights.dtype)
    size = _join(*given, offsets, *none)
    neighbours, weights = np.empty(size, dtype=np.int32), np.empty(size, dtype=graph.weights.dtype)
    _join(*given, offsets, neighbours, weights)
    return offsets, neighbours, weights


def _checked(graph: Graph, seeds: Seeds) -> Graph:
    if seeds.n_vertices != graph.n_vertices:
        raise DataError(f"seeds are of {seeds.n_vertices} vertices, the graph has {graph.n_vertices}")
    if len(graph.weights) and not (graph.weights.min() >= 0 and np.isfinite(graph.weights.max())):
        raise DataError("propagation needs finite edge weights of at least 0")
    rows = np.diff(graph.neighbours.astype(np.int64)) > 0
    ends = graph.offsets[1:-1]
    rows[ends[(ends > 0) & (ends < len(graph.neighbours))] - 1] = True
    if not rows.all():
        raise DataError("the neighbours of a vertex must rise, each named once; build the graph with Graph.from_edges")
    return graph


def _divided(weights: Weights, offsets: Ints, by: Floats) -> Weights:
    """The weights of every row divided by its number, 0 where that is 0."""
    inverse = np.divide(1.0, by, where=by > 0, out=np.zeros_like(by))
    return weights * np.repeat(inverse, np.diff(offsets)).astype(weights.dtype)


def _shadowed(into: Graph, seeds: Seeds) -> tuple[Graph, Seeds]:
    """Rows with one more vertex per seed, after all others, and the seeds moved there."""
    n, at = into.n_vertices, np.flatnonzero(seeds.seeded)
    place = into.offsets[at + 1]
    neighbours = np.insert(into.neighbours, place, n + np.arange(len(at), dtype=np.int32))
    weights = np.insert(into.weights, place, 1)
    more = np.cumsum(seeds.seeded)
    offsets = np.concatenate([into.offsets + np.concatenate([[0], more]), np.full(len(at), len(neighbours))])
    moved = np.concatenate([np.zeros(n, dtype=np.int64), seeds.offsets[[*at.tolist(), n]]])
    return Graph(offsets, neighbours, weights), Seeds(moved, seeds.labels, seeds.weights, seeds.n_labels)


@kernel
def _entropies(offsets: Ints, weights: Weights, entropy: Floats, total: Floats) -> None:
    for v in range(len(entropy)):
        for e in range(offsets[v], offsets[v + 1]):
            total[v] += weights[e]
        spread = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            p = weights[e] / total[v]
            if 0.0 < p < 1.0:
                spread -= p * np.log(p)
        entropy[v] = spread


@kernel
def _join(
    offsets: Ints,
    neighbours: Ids,
    weights: Weights,
    in_offsets: Ints,
    in_neighbours: Ids,
    in_weights: Weights,
    go_on: Floats,
    to_offsets: Ints,
    to_neighbours: Ids,
    to_weights: Weights,
) -> int:
    """Merge the two sorted rows of every vertex; the first call, with empty arrays, counts."""
    size = 0
    fills = len(to_neighbours) > 0
    for v in range(len(offsets) - 1):
        a, b = offsets[v], in_offsets[v]
        while a < offsets[v + 1] or b < in_offsets[v + 1]:
            u = len(offsets)
            if a < offsets[v + 1]:
                u = neighbours[a]
            if b < in_offsets[v + 1]:
                u = min(u, in_neighbours[b])
            weight = 0.0
            if a < offsets[v + 1] and neighbours[a] == u:
                weight += go_on[v] * weights[a]
                a += 1
            if b < in_offsets[v + 1] and in_neighbours[b] == u:
                weight += go_on[u] * in_weights[b]
                b += 1
            if u != v:
                if fills:
                    to_neighbours[size] = u
                    to_weights[size] = weight
                size += 1
        to_offsets[v + 1] = size
    return size
