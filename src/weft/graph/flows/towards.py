"""Walks towards a type: from a node only along edges to types nearer to it, until its first node (King et al. 2014).

    distance(s)    edges between type s and the wanted type, in the graph of types that have edges with each other
    walk           from a node of type s to neighbours of types at distance(s) - 1, in proportion to weights
    scores(x, .)   the share of walks from x that end at each node of the type, of those that arrive
    above(x, .)    scores(x, .) - the mean of scores over all starts

The exact scores are a product of sparse matrices, one per step; drawn walks estimate the same.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from weft.arrays import Bools, Floats, Ids, Ints, Keys
from weft.draws import uniform
from weft.errors import ConfigError, DataError
from weft.graph.network import Network
from weft.hashing import avalanche
from weft.kernel import kernel


def type_distances(network: Network, types: Ids, wanted: int) -> Ints:
    """For every type, its distance from the wanted one; -1 if no walk leads there.

    >>> from weft.graph.network import network_of
    >>> network = network_of(4, [0, 1], [1, 2])    # a word, a paper and its author; and a lone venue
    >>> type_distances(network, np.array([0, 1, 2, 3], np.int32), 2).tolist()
    [2, 1, 0, -1]
    """
    count = int(types.max()) + 1 if len(types) else 0
    if not 0 <= wanted < count:
        raise DataError(f"types are numbered from 0 to {count - 1}, got {wanted}")
    pairs = np.unique(types[network.sources()].astype(np.int64) * count + types[network.targets])
    joined = np.zeros((count, count), dtype=np.bool_)
    joined[pairs // count, pairs % count] = True
    distances = np.full(count, -1, dtype=np.int64)
    distances[wanted] = 0
    for step in range(1, count):
        new = joined[:, distances == step - 1].any(axis=1) & (distances < 0)
        distances[new] = step
    return distances


def towards(network: Network, types: Ids, wanted: int) -> Network:
    """The edges that walks towards a type may take: those that bring them nearer.

    >>> from weft.graph.network import network_of
    >>> towards(network_of(3, [0, 1], [1, 2]), np.array([0, 1, 2], np.int32), 2).of(1)
    [2]
    """
    distances = type_distances(network, types, wanted)[types]
    sources = network.sources()
    nearer = (distances[sources] > 0) & (distances[network.targets] == distances[sources] - 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources[nearer], minlength=network.n_nodes))])
    return Network(offsets.astype(np.int64), network.targets[nearer], network.weights[nearer])


def arrivals(network: Network, types: Ids, wanted: int, starts: Floats) -> Floats:
    """Exact scores: for every start, a row of weights over nodes, the shares of arriving walks by node.

    Columns are all nodes, 0 for those of other types; a row is 0 if no walk arrives.

    >>> from weft.graph.network import network_of
    >>> network, types = network_of(4, [0, 0, 1, 2], [1, 2, 3, 3]), np.array([0, 1, 1, 2], np.int32)
    >>> arrivals(network, types, 1, np.array([[1.0, 0, 0, 0]])).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    """
    way = towards(network, types, wanted)
    n = network.n_nodes
    if starts.ndim != 2 or starts.shape[1] != n:
        raise DataError(f"starts are rows of weights over {n} nodes, got an array of shape {starts.shape}")
    strengths = way.strengths()
    share = way.weights / strengths[way.sources()]
    back = csr_matrix((share, way.targets, way.offsets), shape=(n, n)).T.tocsr()
    there = types == wanted
    now = np.ascontiguousarray(starts.T, dtype=np.float64)
    found = np.where(there[:, None], now, 0.0)
    for _ in range(int(types.max())):
        now = back @ now
        if not now.any():
            break
        found += np.where(there[:, None], now, 0.0)
    total = found.sum(axis=0)
    shares: Floats = (found / np.where(total > 0, total, 1.0)).T
    return shares


def drawn_arrivals(
    network: Network, types: Ids, wanted: int, starts: Floats, walks: int = 50_000, seed: int = 0
) -> Floats:
    """The same by so many walks per start that arrive; a start from which none does has a row of 0.

    >>> from weft.graph.network import network_of
    >>> network, types = network_of(4, [0, 0, 1, 2], [1, 2, 3, 3]), np.array([0, 1, 1, 2], np.int32)
    >>> bool(abs(drawn_arrivals(network, types, 1, np.array([[1.0, 0, 0, 0]]), 1000) - [0, 0.5, 0.5, 0]).max() < 0.1)
    True
    """
    if walks < 1:
        raise ConfigError("at least one walk is needed")
    way = towards(network, types, wanted)
    sums = np.cumsum(way.weights)
    found = np.zeros((len(starts), network.n_nodes))
    exact = arrivals(network, types, wanted, starts)
    for row in np.flatnonzero(exact.any(axis=1)).tolist():
        random = np.array([avalanche(np.uint64(seed) ^ avalanche(np.uint64(row)))], dtype=np.uint64)
        _draw(way.offsets, way.targets, sums, types == wanted, np.cumsum(starts[row]), walks, random, found[row])
    return found / walks


def above_background(scores: Floats) -> Floats:
    """Scores less their mean over all starts that have any: what is more, or less, than everywhere.

    >>> above_background(np.array([[0.75, 0.25], [0.25, 0.75], [0.0, 0.0]])).tolist()
    [[0.25, -0.25], [-0.25, 0.25], [0.0, 0.0]]
    """
    some = scores.any(axis=1)
    found = scores.astype(np.float64)
    if some.any():
        found[some] -= scores[some].mean(axis=0)
    return found


@kernel
def _pick(sums: Floats, low: int, high: int, drawn: float) -> int:
    """The first place from `low` to `high` whose cumulative weight exceeds `drawn`."""
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > drawn:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _draw(
    offsets: Ints, targets: Ids, sums: Floats, there: Bools, starts: Floats, walks: int, random: Keys, found: Floats
) -> None:
    done = 0
    while done < walks:
        u = _pick(starts, 0, len(starts) - 1, uniform(random) * starts[-1])
        while not there[u] and offsets[u] < offsets[u + 1]:
            low, high = offsets[u], offsets[u + 1] - 1
            before = sums[low - 1] if low > 0 else 0.0
            u = targets[_pick(sums, low, high, before + uniform(random) * (sums[high] - before))]
        if there[u]:
            found[u] += 1.0
            done += 1
