"""Shortest paths in hops between some nodes of a network, by breadth-first search; -1 where there is no path."""

from __future__ import annotations

import numpy as np

from weft.arrays import Ids, Ints
from weft.graph.flows.propflow import nodes_of, side_by_side
from weft.graph.network import Network, Nodes
from weft.kernel import kernel


def hops(network: Network, sources: Nodes, targets: Nodes, workers: int = 1) -> Ids:
    """The number of edges on a shortest path from every source (rows) to every target (columns).

    >>> from weft.graph.network import network_of
    >>> hops(network_of(4, [0, 1], [1, 2]), [0], [0, 1, 2, 3]).tolist()
    [[0, 1, 2, -1]]
    """
    starts, ends = nodes_of(network, sources), nodes_of(network, targets)
    found = np.empty((len(starts), len(ends)), dtype=np.int32)

    def work(low: int, high: int) -> None:
        steps = np.full(network.n_nodes, -1, dtype=np.int32)
        queue = np.empty(network.n_nodes, dtype=np.int32)
        _search(network.offsets, network.targets, starts[low:high], ends, steps, queue, found[low:high])

    side_by_side(work, len(starts), workers)
    return found


@kernel
def _search(offsets: Ints, targets: Ids, sources: Ids, ends: Ids, steps: Ids, queue: Ids, found: Ids) -> None:
    for row in range(len(sources)):
        steps[sources[row]] = 0
        queue[0] = sources[row]
        first, size = 0, 1
        while first < size:
            u = queue[first]
            first += 1
            for e in range(offsets[u], offsets[u + 1]):
                v = targets[e]
                if steps[v] < 0:
                    steps[v] = steps[u] + 1
                    queue[size] = v
                    size += 1
        for column in range(len(ends)):
            found[row, column] = steps[ends[column]]
        for k in range(size):
            steps[queue[k]] = -1
