"""What label propagation and MAD minimize, over all labels and "unknown".

lp     sum_l sum_{u -> v} W(u, v) (x_ul - x_vl)^2                            with x = Y at seeds
mad    sum_l [ mu1 sum_v p_inj_v (Y_vl - x_vl)^2  +  mu2 sum_{v -> u} p_cont_v W(v, u) (x_vl - x_ul)^2
               + mu3 sum_v (x_vl - R_vl)^2 ]                                  R = p_abnd for "unknown", else 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.graph.csr import Graph
from weft.graph.propagation.rules import Walk
from weft.graph.propagation.seeds import Seeds


def roughness(graph: Graph, scores: Any) -> float:
    """What label propagation minimizes: by how much neighbours differ.

    >>> roughness(Graph.from_edges(2, [0], [1], [3.0]), [[1.0], [0.0]])
    6.0
    """
    return _differences(graph, graph.weights.astype(np.float64), np.asarray(scores, dtype=np.float64))


def mad_objective(
    graph: Graph, seeds: Seeds, scores: Any, mu1: float = 1.0, mu2: float = 1e-2, mu3: float = 1e-2, beta: float = 2.0,
    entropy: str = "exp",
) -> float:  # fmt: skip
    """What MAD minimizes.

    >>> pair, seeds = Graph.from_edges(2, [0], [1]), Seeds.of(2, [0], [0])
    >>> round(mad_objective(pair, seeds, [[0.0, 0.0], [0.0, 0.0]]), 4)
    0.9914
    """
    x = np.asarray(scores, dtype=np.float64)
    walk = Walk.of(graph, seeds, beta, entropy)
    rows = np.repeat(np.arange(graph.n_vertices), graph.degrees)
    known = np.zeros_like(x)
    known[:, : seeds.n_labels] = seeds.dense()
    prior = np.zeros_like(x)
    prior[:, -1] = walk.abandon
    pulled = float(walk.inject @ ((known - x) ** 2).sum(axis=1))
    smooth = _differences(graph, walk.go_on[rows] * graph.weights, x)
    return mu1 * pulled + mu2 * smooth + mu3 * float(((x - prior) ** 2).sum())


def _differences(graph: Graph, weights: Floats, x: NDArray[np.float64]) -> float:
    rows = np.repeat(np.arange(graph.n_vertices), graph.degrees)
    return float(weights @ ((x[rows] - x[graph.neighbours]) ** 2).sum(axis=1))
