"""Denotations: sources of children are sources of their parents, and sources are mapped to what they describe.

    [[g]] >= [[s]]   for every edge from a generic node g to a specific node s

An edge comes from one source; another source may reach s by other rules and not g. So sources are passed from children
to parents until nothing changes. Edges within a cycle (two sources that disagree about what is generic) say that
nothing is more specific; those against the order of length are left out first.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from weft.arrays import Bools, Ids, Ints, Keys
from weft.hashing import avalanche
from weft.kernel import kernel


def acyclic(parents: Ids, children: Ids, n: int, lengths: Ints) -> Bools:
    """Which edges to keep, so that none closes a cycle.

    Within a strongly connected set, an edge stays if its child is longer than its parent.

    >>> edges = np.array([0, 1, 1], np.int32), np.array([1, 0, 2], np.int32)
    >>> acyclic(*edges, 3, np.array([1, 2, 3])).tolist()
    [True, False, True]
    """
    graph = csr_array((np.ones(len(parents), np.int8), (parents, children)), shape=(n, n))
    _, of = connected_components(graph, directed=True, connection="strong")
    kept: Bools = (of[parents] != of[children]) | (lengths[children] > lengths[parents])
    return kept


def inherited(nodes: Ids, sources: Ids, parents: Ids, children: Ids, n: int) -> tuple[Ids, Ids]:
    """Pairs of nodes and sources that follow from pairs and edges, with those given; sorted.

    >>> one = np.array([0, 1], np.int32), np.array([5, 6], np.int32)
    >>> [row.tolist() for row in inherited(*one, np.array([0], np.int32), np.array([1], np.int32), 2)]
    [[0, 0, 1], [5, 6, 6]]
    """
    order = np.argsort(children, kind="stable")
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(children, minlength=n), out=offsets[1:])
    up = np.ascontiguousarray(parents[order])
    pairs = nodes.astype(np.uint64) << np.uint64(32) | sources.astype(np.uint64)
    size, done = 1 << max(10, (4 * len(pairs)).bit_length()), 0
    while True:
        table = np.zeros(size, dtype=np.uint64)
        work = np.zeros(size // 2, dtype=np.uint64)
        work[: len(pairs)] = pairs
        state = np.array([len(pairs), done], dtype=np.int64)
        complete = _pass_up(offsets, up, table, work, state)
        pairs, done = work[: state[0]].copy(), int(state[1])
        if complete:
            pairs.sort()
            return (pairs >> np.uint64(32)).astype(np.int32), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int32)
        size *= 2


@kernel
def _add(key: np.uint64, table: Keys) -> bool:
    """Add a key (stored plus one) to a table; whether it was new."""
    last = len(table) - 1
    stored = key + np.uint64(1)
    k = np.int64(avalanche(key) & np.uint64(last))
    while table[k] != np.uint64(0):
        if table[k] == stored:
            return False
        k = (k + 1) & last
    table[k] = stored
    return True


@kernel
def _pass_up(offsets: Ints, up: Ids, table: Keys, work: Keys, state: Ints) -> bool:
    """Pass pairs on to parents; `state` holds their number and how many are done. False: no room is left."""
    for i in range(state[0]):
        _add(work[i], table)
    while state[1] < state[0]:
        key = work[state[1]]
        node = np.int64(key >> np.uint64(32))
        if state[0] + offsets[node + 1] - offsets[node] > len(work):
            return False
        for k in range(offsets[node], offsets[node + 1]):
            above = np.uint64(up[k]) << np.uint64(32) | (key & np.uint64(0xFFFFFFFF))
            if _add(above, table):
                work[state[0]] = above
                state[0] += 1
        state[1] += 1
    return True


def supported(nodes: Ids, sources: Ids, parents: Ids, children: Ids, n: int, share: float) -> Bools:
    """Which edges to keep: those whose parent has `share` of the child's sources, and the best one of every child.

    `nodes` and `sources` are sorted pairs. An edge that one source of many says is a wrong analysis, and all others
    would follow it.

    >>> pairs = np.array([0, 0, 0, 1, 2, 2, 2], np.int32), np.array([1, 2, 3, 1, 1, 2, 3], np.int32)
    >>> edges = np.array([0, 1], np.int32), np.array([2, 2], np.int32)
    >>> supported(*pairs, *edges, 3, 0.5).tolist(), supported(*pairs, *edges, 3, 0.1).tolist()
    ([True, False], [True, True])
    """
    offsets = np.searchsorted(nodes, np.arange(n + 1)).astype(np.int64)
    shared = np.zeros(len(parents), dtype=np.int64)
    _count_shared(offsets, sources, parents, children, shared)
    best = np.zeros(n, dtype=np.int64)
    np.maximum.at(best, children, shared)
    kept: Bools = (shared >= share * np.diff(offsets)[children]) | (shared == best[children])
    return kept


@kernel
def _count_shared(offsets: Ints, sources: Ids, parents: Ids, children: Ids, shared: Ints) -> None:
    """How many sources of the child the parent has, per edge; lists are sorted."""
    for edge in range(len(parents)):
        a, end_a = offsets[parents[edge]], offsets[parents[edge] + 1]
        b, end_b = offsets[children[edge]], offsets[children[edge] + 1]
        if end_a - a > 16 * (end_b - b):  # search the long list
            for k in range(b, end_b):
                low, high = a, end_a
                while low < high:
                    middle = (low + high) // 2
                    if sources[middle] < sources[k]:
                        low = middle + 1
                    else:
                        high = middle
                if low < end_a and sources[low] == sources[k]:
                    shared[edge] += 1
            continue
        while a < end_a and b < end_b:
            if sources[a] == sources[b]:
                shared[edge] += 1
                a += 1
                b += 1
            elif sources[a] < sources[b]:
                a += 1
            else:
                b += 1
