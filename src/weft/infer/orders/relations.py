"""Partial orders as boolean matrices: `order[u, v]` says that u is before v.

A strict partial order is irreflexive and transitive. Its closure has every pair that follows; its reduction has none
that follows from others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools
from weft.errors import InferenceError
from weft.kernel import kernel


def check_relation(pairs: ArrayLike) -> Bools:
    """A relation as a square matrix of booleans in a block of its own."""
    matrix = np.array(pairs, dtype=np.bool_, order="C")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InferenceError(f"a relation must be a square matrix; given: {list(matrix.shape)}")
    return matrix


def closure(pairs: ArrayLike) -> Bools:
    """The pairs, and all that follow from them: u before v and v before w give u before w.

    >>> closure([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    matrix = check_relation(pairs)
    _close(matrix)
    return matrix


def reduction(order: ArrayLike) -> Bools:
    """The fewest pairs whose closure is the order; a cycle is an error.

    >>> reduction([[0, 1, 1], [0, 0, 1], [0, 0, 0]]).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    closed = closure(order)
    if closed.diagonal().any():
        raise InferenceError(f"the relation has a cycle: {' > '.join(map(str, cycle(order)))}")
    between = closed.astype(np.int64) @ closed.astype(np.int64) > 0
    return closed & ~between


def is_partial_order(pairs: ArrayLike) -> bool:
    """Whether a relation is transitive and puts nothing before itself.

    >>> is_partial_order([[0, 1], [0, 0]]), is_partial_order([[0, 1], [1, 0]])
    (True, False)
    """
    matrix = check_relation(pairs)
    return not matrix.diagonal().any() and bool(np.array_equal(closure(matrix), matrix))


def cycle(pairs: ArrayLike) -> list[int]:
    """A shortest cycle of a relation, its first element at both ends; empty if there is none.

    >>> cycle([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), cycle([[0, 1], [0, 0]])
    ([0, 1, 2, 0], [])
    """
    matrix = check_relation(pairs)
    shortest: list[int] = []
    for start in np.flatnonzero(closure(matrix).diagonal()):
        path = _way_back(matrix, int(start), len(shortest))
        if path:
            shortest = path
    return shortest


def _way_back(matrix: Bools, start: int, limit: int) -> list[int]:
    """The shortest path from a node to itself, if it has fewer than `limit` nodes or there is no limit."""
    before = {start: -1}
    frontier = [start]
    while frontier:
        following = []
        for node in frontier:
            if matrix[node, start]:
                path = [start]
                while node != -1:
                    path.append(node)
                    node = before[node]
                return path[::-1] if not limit or len(path) < limit else []
            for other in np.flatnonzero(matrix[node]).tolist():
                if other not in before:
                    before[other] = node
                    following.append(other)
        frontier = following
    return []


@kernel
def _close(matrix: Bools) -> None:
    """Warshall's algorithm."""
    n = len(matrix)
    for v in range(n):
        for u in range(n):
            if matrix[u, v]:
                for w in range(n):
                    matrix[u, w] = matrix[u, w] or matrix[v, w]
