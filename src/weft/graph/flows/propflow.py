"""PropFlow: how much of a walk of at most l steps arrives, if no node is left twice (Lichtenwalter et al. 2010).

    S[a] = 1;  breadth first, nodes at less than l steps from a, each once and in the order they were found:
    S[u] += S[v] w_vu / sum_x w_vx        for every neighbour u of v

A node spreads what has reached it by its turn; what comes back later is counted there but goes no further. So the cost
is one pass over the edges within l steps, and the result depends on the order of rows, which is that of node numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.network import Network, Nodes
from weft.kernel import kernel


def propflow(
    network: Network, sources: Nodes, targets: Nodes, length: int, least: float = 0.0,
    workers: int = 1,
) -> Floats:  # fmt: skip
    """The flow from every source (rows) to every target (columns); nodes with a flow of `least` or less spread nothing.

    >>> from weft.graph.network import network_of
    >>> propflow(network_of(3, [0, 1], [1, 2]), [0, 2], [0, 1, 2], 2).tolist()
    [[1.5, 1.0, 0.5], [0.5, 1.0, 1.5]]
    """
    if length < 1 or not 0 <= least < 1:
        raise ConfigError("PropFlow needs a length of at least 1, and a least flow from 0 to below 1")
    starts, ends = nodes_of(network, sources), nodes_of(network, targets)
    flows = np.zeros((len(starts), len(ends)))
    strengths = network.strengths()

    def work(low: int, high: int) -> None:
        flow, seen = np.zeros(network.n_nodes), np.zeros(network.n_nodes, dtype=np.bool_)
        queue = np.empty(network.n_nodes, dtype=np.int32)
        _flows(network.offsets, network.targets, network.weights, strengths, starts[low:high], ends, length, least,
               flow, seen, queue, flows[low:high])  # fmt: skip

    side_by_side(work, len(starts), workers)
    return flows


def nodes_of(network: Network, nodes: Nodes) -> Ids:
    """Numbers of nodes as an array, checked."""
    found = np.ascontiguousarray(nodes, dtype=np.int32)
    if found.ndim != 1 or (len(found) and (found.min() < 0 or found.max() >= network.n_nodes)):
        raise DataError(f"nodes of this network are numbered from 0 to {network.n_nodes - 1}")
    return found


def side_by_side(work: Callable[[int, int], Any], n: int, workers: int) -> None:
    """Do `work(low, high)` for parts of 0 to n in threads."""
    if workers <= 1 or n < 2:
        work(0, n)
        return
    size = max(1, -(-n // (8 * workers)))
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, low, min(low + size, n)) for low in range(0, n, size)]:
            done.result()


@kernel
def _flows(
    offsets: Ints, targets: Ids, weights: Floats, strengths: Floats, sources: Ids, ends: Ids, length: int,
    least: float, flow: Floats, seen: Bools, queue: Ids, found: Floats,
) -> None:  # fmt: skip
    for row in range(len(sources)):
        source = sources[row]
        flow[source] = 1.0
        seen[source] = True
        queue[0] = source
        first, size = 0, 1
        for _ in range(length):
            stop = size
            while first < stop:
                v = queue[first]
                first += 1
                if flow[v] <= least or strengths[v] == 0.0:
                    continue
                share = flow[v] / strengths[v]
                for e in range(offsets[v], offsets[v + 1]):
                    u = targets[e]
                    flow[u] += share * weights[e]
                    if not seen[u]:
                        seen[u] = True
                        queue[size] = u
                        size += 1
        for column in range(len(ends)):
            found[row, column] = flow[ends[column]]
        for k in range(size):
            flow[queue[k]] = 0.0
            seen[queue[k]] = False
