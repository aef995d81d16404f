"""Truncated hitting and commute times (Sarkar and Moore 2007), and how often walks of a few steps visit a node.

    h^T_ij = 0 if i = j or T = 0, else 1 + sum_k p_ik h^(T-1)_kj         steps from i until j, at most T
    c_ij   = h^T_ij + h^T_ji
    visits = sum over t = 1..T of (P^t)_ij                               walks that may come back

A node without edges stays where it is. Targets are taken a few at a time: a block of columns moves through the edges
together, so that a pass over the network serves them all.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError
from weft.graph.flows.propflow import nodes_of, side_by_side
from weft.graph.network import Network, Nodes
from weft.kernel import fast_kernel

#: Targets that move through the edges together.
BLOCK = 8


def hitting_times(network: Network, sources: Nodes, targets: Nodes, length: int, workers: int = 1) -> Floats:
    """The expected number of steps from every source (rows) to every target (columns), cut at `length`.

    >>> from weft.graph.network import network_of
    >>> hitting_times(network_of(3, [0, 1], [1, 2]), [0, 1], [2], 3).tolist()
    [[2.5], [2.0]]
    """
    return _moved(network, sources, targets, length, workers, True)


def commute_times(network: Network, nodes: Nodes, length: int, workers: int = 1) -> Floats:
    """The truncated commute times between nodes.

    >>> from weft.graph.network import network_of
    >>> commute_times(network_of(3, [0, 1], [1, 2]), [0, 2], 3).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    times = hitting_times(network, nodes, nodes, length, workers)
    return times + times.T


def visits(network: Network, sources: Nodes, targets: Nodes, length: int, workers: int = 1) -> Floats:
    """How often a walk of `length` steps from every source is expected at every target, after its start.

    >>> from weft.graph.network import network_of
    >>> visits(network_of(3, [0, 1], [1, 2]), [0], [0, 2], 4).tolist()
    [[1.0, 1.0]]
    """
    return _moved(network, sources, targets, length, workers, False)


def _moved(
    network: Network, sources: Nodes, targets: Nodes, length: int, workers: int,
    hitting: bool,
) -> Floats:  # fmt: skip
    if length < 1:
        raise ConfigError("walks need a length of at least 1")
    starts, ends = nodes_of(network, sources), nodes_of(network, targets)
    found = np.zeros((len(starts), len(ends)))
    strengths = network.strengths()
    shares = network.weights / strengths[network.sources()]

    def work(low: int, high: int) -> None:
        for first in range(low, high, BLOCK):
            part = ends[first : min(first + BLOCK, high)]
            now, new = np.zeros((network.n_nodes, BLOCK)), np.zeros((network.n_nodes, BLOCK))
            total = np.zeros((len(starts), BLOCK))
            if not hitting:
                now[part, np.arange(len(part))] = 1.0
            for _ in range(length):
                _step(network.offsets, network.targets, shares, hitting, now, new)
                if hitting:
                    new[part, np.arange(len(part))] = 0.0
                else:
                    total += new[starts]
                now, new = new, now
            found[:, first : first + len(part)] = (now[starts] if hitting else total)[:, : len(part)]

    side_by_side(work, len(ends), workers)
    return found


@fast_kernel
def _step(offsets: Ints, targets: Ids, shares: Floats, hitting: bool, now: Floats, new: Floats) -> None:
    """new = P now, plus 1 for hitting times; all columns of a block at once."""
    more = 1.0 if hitting else 0.0
    for u in range(len(offsets) - 1):
        alone = offsets[u] == offsets[u + 1]
        for c in range(BLOCK):
            new[u, c] = more + (now[u, c] if alone else 0.0)
        for e in range(offsets[u], offsets[u + 1]):
            v, share = targets[e], shares[e]
            for c in range(BLOCK):
                new[u, c] += share * now[v, c]
