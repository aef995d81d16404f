"""Minimum cuts: two sides of a graph, given which vertices are certain, cutting as little weight as can be.

    minimize  sum over edges uv of w_uv [side(u) != side(v)]    with side(u) known for some u

(Blum and Chawla 2001). The cut is that of a maximum flow from the certain vertices of one side to those of the other.
Where several cuts are the least, `side` is the one with the fewest vertices on the source's side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.errors import DataError
from weft.graph.csr import Graph

#: Capacities of the flow are whole numbers; weights are scaled to make them fit.
_LARGEST = 2**30


@dataclass(frozen=True)
class Cut:
    """The sides of all vertices (true: the source's), and the weight of the edges between them."""

    side: NDArray[np.bool_]
    value: float


def min_cut(graph: Graph, source: ArrayLike, sink: ArrayLike) -> Cut:
    """The least cut that keeps the vertices `source` and `sink` apart.

    Weights are rounded to 2^-30 of their sum, unless they are whole numbers: those are taken as they are.

    >>> graph = Graph.from_edges(4, [0, 1, 2, 0], [1, 2, 3, 2], [3.0, 1.0, 3.0, 1.0])
    >>> cut = min_cut(graph, [0], [3])
    >>> cut.side.tolist(), cut.value
    ([True, True, False, False], 2.0)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = graph.n_vertices
    ends = [np.unique(np.asarray(each, dtype=np.int64)) for each in (source, sink)]
    for name, each in zip(("source", "sink"), ends, strict=True):
        if not len(each) or each[0] < 0 or each[-1] >= n:
            raise DataError(f"a cut needs at least one {name}, a vertex from 0 to {n - 1}; got {each.tolist()}")
    both = np.intersect1d(ends[0], ends[1])
    if len(both):
        raise DataError(f"vertex {both[0]} is given as source and as sink; it can be on one side only")
    u, v, w = graph.edges()
    if len(w) and w.min() < 0:
        raise DataError(f"a cut needs weights of 0 and above, got {w.min()}")
    total = float(w.sum())
    whole = total < _LARGEST and bool((w == np.floor(w)).all())
    scale = 1.0 if whole or total == 0 else _LARGEST / total
    capacity = np.rint(np.asarray(w, dtype=np.float64) * scale).astype(np.int64)
    tied = int(capacity.sum()) + 1  # more than any cut
    rows = np.concatenate([u, v, np.full(len(ends[0]), n), ends[1]])
    columns = np.concatenate([v, u, ends[0], np.full(len(ends[1]), n + 1)])
    values = np.concatenate([capacity, capacity, np.full(len(ends[0]) + len(ends[1]), tied)])
    network = csr_array((values.astype(np.int32), (rows, columns)), shape=(n + 2, n + 2))
    left = network - maximum_flow(network, n, n + 1).flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    side = np.zeros(n + 2, dtype=np.bool_)
    side[breadth_first_order(left, n, return_predecessors=False)] = True
    return Cut(side[:n], float(w[side[u] != side[v]].sum()))
