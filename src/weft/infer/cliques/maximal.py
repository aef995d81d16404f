"""Maximal cliques that have at most so many nodes of every kind (Bron and Kerbosch 1973, with pivots).

    C is a clique of G if all its pairs are edges; it is consistent if |C of kind k| <= limit[k] for every k.
    C is maximal if no node can be added so that C stays a consistent clique.

The search keeps three sets of nodes: R, the clique so far; P, nodes that can be added; X, nodes that could be added but
were tried before. R is maximal if P and X are both empty. A node that can be added to R and is not part of a maximal
clique above R has a reason: a node that is no neighbour of it, or one of its own kind that uses up the limit. So for a
pivot u only u, the nodes that are not its neighbours, and the nodes of its kind need to be tried.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Ints
from weft.kernel import inner_kernel

#: Marks of nodes during the search.
OUT, CANDIDATE, TRIED = 0, 1, 2
Marks = NDArray[np.int8]
#: What a search returns instead of a number of cliques.
FULL, TOO_LONG = -1, -2


@inner_kernel
def _choose_pivot(joined: Bools, kinds: Ints, room: Ints, marks: Marks, todo: Bools) -> None:
    """Mark in `todo` the candidates that have to be tried: those that the best pivot leaves over."""
    n = len(kinds)
    least, pivot = n + 1, -1
    for u in range(n):
        if marks[u] == OUT:
            continue
        count = 0
        for v in range(n):
            if marks[v] == CANDIDATE and (not joined[u, v] or kinds[u] == kinds[v]):
                count += 1
        if count < least:
            least, pivot = count, u
    for v in range(n):
        todo[v] = marks[v] == CANDIDATE and (not joined[pivot, v] or kinds[pivot] == kinds[v])


@inner_kernel
def maximal_search(
    joined: Bools, kinds: Ints, room: Ints, most_steps: int, marks: Marks, todo: Bools, path: Ints, found: Bools,
) -> int:  # fmt: skip
    """Write the maximal consistent cliques of two or more nodes to `found`, one per row, and return their number.

    `room` is the limit of every kind. `marks`, `todo` and `path` are scratch space: one row, or number, per depth.
    """
    n, count, depth, steps = len(kinds), 0, 0, 0
    if n < 2:
        return 0
    for v in range(n):
        marks[0, v] = CANDIDATE if room[kinds[v]] > 0 else OUT
    _choose_pivot(joined, kinds, room, marks[0], todo[0])
    while depth >= 0:
        v = 0
        while v < n and not todo[depth, v]:
            v += 1
        if v == n:  # all candidates were tried: take back the node that led here
            depth -= 1
            if depth >= 0:
                room[kinds[path[depth]]] += 1
            continue
        steps += 1
        if steps > most_steps:
            while depth > 0:
                depth -= 1
                room[kinds[path[depth]]] += 1
            return TOO_LONG
        todo[depth, v] = False
        marks[depth, v] = TRIED
        room[kinds[v]] -= 1
        path[depth] = v
        open_nodes, candidates = 0, 0
        for w in range(n):
            mark = marks[depth, w]
            if w == v or not joined[v, w] or room[kinds[w]] == 0:
                mark = OUT
            marks[depth + 1, w] = mark
            open_nodes += mark != OUT
            candidates += mark == CANDIDATE
        if candidates:
            depth += 1
            _choose_pivot(joined, kinds, room, marks[depth], todo[depth])
            continue
        if not open_nodes and depth > 0:
            if count == len(found):
                room[kinds[v]] += 1
                while depth > 0:
                    depth -= 1
                    room[kinds[path[depth]]] += 1
                return FULL
            for w in range(n):
                found[count, w] = False
            for d in range(depth + 1):
                found[count, path[d]] = True
            count += 1
        room[kinds[v]] += 1
    return count
