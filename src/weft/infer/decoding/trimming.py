"""A hypergraph without what cannot be, or hardly can be, part of a good derivation (Huang 2008).

The worth of an edge is the score of the best derivation through it. What leads nowhere has none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.infer.decoding.hypergraph import Hypergraph
from weft.kernel import kernel


def worths(graph: Hypergraph) -> Floats:
    """The score of the best derivation through every edge, minus infinity where there is none.

    >>> from weft.infer.decoding.decoder import Decoder
    >>> from weft.infer.decoding.options import Options
    >>> options = Options.of(1, [(0, 1, [7]), (0, 1, [8])], [[-1.0], [-3.0]])
    >>> worths(Decoder().search(options, np.ones(2))).tolist()
    [-1.0, -1.0, -3.0, -1.0]
    """
    found = np.empty(len(graph))
    _worths(graph.first, graph.tail, graph.edge_score, np.empty(graph.n_nodes), np.empty(graph.n_nodes), found)
    return found


def trimmed(graph: Hypergraph, most: int = 0) -> Hypergraph:
    """The hypergraph of the edges that derivations use; at most so many of them, the best ones, 0 for all.

    All edges of the best derivation are kept, as are all that are worth as much as the last one kept.

    >>> from weft.infer.decoding.decoder import Decoder
    >>> from weft.infer.decoding.options import Options
    >>> options = Options.of(1, [(0, 1, [7]), (0, 1, [8])], [[-1.0], [-3.0]])
    >>> graph = Decoder().search(options, np.ones(2))
    >>> len(trimmed(graph)), len(trimmed(graph, 3))
    (4, 3)
    """
    if graph.is_empty:
        return graph
    worth = worths(graph)
    kept = np.isfinite(worth)
    if 0 < most < int(kept.sum()):
        # Rounding may tell apart edges of one derivation.
        least = np.partition(worth[kept], -most)[-most] - 1e-9
        kept = worth >= least
    edges = np.flatnonzero(kept)
    head = np.searchsorted(graph.first, edges, "right") - 1
    nodes, number = np.unique(head, return_inverse=True)
    new = np.full(graph.n_nodes, -1, np.int64)
    new[nodes] = np.arange(len(nodes))
    tail = graph.tail[edges]
    counts = np.bincount(number.reshape(-1), minlength=len(nodes))
    return replace(
        graph, first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        tail=np.where(tail >= 0, new[tail], -1).astype(np.int32), option=graph.option[edges],
        scores=graph.scores[edges], edge_score=graph.edge_score[edges], end=graph.end[nodes],
        complete=graph.complete[nodes],
    )  # fmt: skip


@kernel
def _worths(first: Ints, tail: Ids, score: Floats, inside: Floats, outside: Floats, found: Floats) -> None:
    n = len(first) - 1
    for v in range(n):
        inside[v] = outside[v] = -np.inf
        for e in range(first[v], first[v + 1]):
            value = score[e] + (inside[tail[e]] if tail[e] >= 0 else 0.0)
            inside[v] = max(inside[v], value)
    outside[n - 1] = 0.0
    for v in range(n - 1, -1, -1):
        for e in range(first[v], first[v + 1]):
            before = inside[tail[e]] if tail[e] >= 0 else 0.0
            found[e] = before + score[e] + outside[v]
            if tail[e] >= 0:
                outside[tail[e]] = max(outside[tail[e]], score[e] + outside[v])
