"""Adsorption as a random walk: what walks from a vertex emit, on average, is its distribution of labels.

A walk at v stops with probability p_abnd and emits "unknown", stops with p_inj and emits a label of v's seed, or goes
with p_cont to u against an edge u -> v, in proportion to W(u, v).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ids, Ints, Keys
from weft.draws import uniform
from weft.errors import ConfigError
from weft.graph.csr import Graph
from weft.graph.propagation.rules import Walk, incoming
from weft.graph.propagation.seeds import Seeds
from weft.kernel import kernel


def emitted(
    graph: Graph, seeds: Seeds, walk: Walk, vertex: int, walks: int = 10_000, steps: int = 1_000, seed: int = 0
) -> Floats:
    """The share of walks from a vertex that emit each label; the last is "unknown", as is a walk of too many steps.

    >>> line = Graph.from_edges(3, [0], [1])
    >>> seeds = Seeds.of(3, [0], [0])
    >>> emitted(line, seeds, Walk.of(line, seeds), 2).tolist()
    [0.0, 1.0]
    """
    if walks < 1 or steps < 1:
        raise ConfigError(f"an estimate takes at least one walk of one step, got {walks} and {steps}")
    if not 0 <= vertex < graph.n_vertices:
        raise ConfigError(f"walks start from vertices 0 to {graph.n_vertices - 1}, got {vertex}")
    into = incoming(graph)
    counts = np.zeros(seeds.n_labels + 1, dtype=np.int64)
    random = np.array([seed], dtype=np.uint64)
    weights = into.weights.astype(np.float64)
    given = seeds.normalized()
    _walk(
        into.offsets, into.neighbours, weights, given.offsets, given.labels, given.weights, walk.inject, walk.go_on,
        vertex, walks, steps, random, counts,
    )  # fmt: skip
    shares: Floats = counts / walks
    return shares


@kernel
def _walk(
    offsets: Ints,
    neighbours: Ids,
    weights: Floats,
    seed_offsets: Ints,
    seed_labels: Ids,
    seed_weights: Floats,
    inject: Floats,
    go_on: Floats,
    vertex: int,
    walks: int,
    steps: int,
    random: Keys,
    counts: NDArray[Any],
) -> None:
    unknown = len(counts) - 1
    for _ in range(walks):
        v = vertex
        emits = unknown
        for _ in range(steps):
            draw = uniform(random)
            if draw < inject[v]:
                emits = seed_labels[_drawn(seed_offsets, seed_weights, v, uniform(random))]
                break
            if draw >= inject[v] + go_on[v]:
                break
            v = neighbours[_drawn(offsets, weights, v, uniform(random))]
        counts[emits] += 1


@kernel
def _drawn(offsets: Ints, weights: Floats, v: int, draw: float) -> int:
    """An entry of row v, in proportion to its weight."""
    total = 0.0
    for e in range(offsets[v], offsets[v + 1]):
        total += weights[e]
    left = draw * total
    for e in range(offsets[v], offsets[v + 1] - 1):
        left -= weights[e]
        if left < 0:
            return e
    return int(offsets[v + 1] - 1)
