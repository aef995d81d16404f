"""Twins of the tables behind the oracles of arc-standard and LR-spine: the same recurrences on spelt-out spines."""

from __future__ import annotations

import numpy as np

from weft.infer.transitions.state import FRONT, HEAD, LENGTH, SCALAR, SIZE, STACK

Spines = tuple[tuple[int, ...], tuple[int, ...]]


def spines_of_arcs(state: np.ndarray, root: int, front: int) -> Spines:
    """Left and right spine of the tree below a root, from nothing but the arcs."""
    children: dict[int, list[int]] = {}
    for word in range(1, front):
        children.setdefault(int(state[word, HEAD]), []).append(word)
    found = []
    for side in (min, max):
        spine = [root]
        while True:
            outer = side([*children.get(spine[-1], []), spine[-1]])
            if outer == spine[-1]:
                break
            spine.append(outer)
        found.append(tuple(spine))
    return found[0], found[1]


def right_stack(stack: list[int], front: int, n: int, gold: dict[int, int]) -> list[int]:
    """Roots of the largest gold fragments of the buffer that need no dependent from outside except at their root."""
    roots: list[int] = []
    for node in range(front, n + 1):
        if gold[node] < front or any(gold.get(child) == node for child in [*stack, *roots]):
            roots.append(node)
    return roots


def unpruned_spine_loss(state: np.ndarray, gold_heads: tuple[int, ...]) -> tuple[int, int]:
    """The remaining loss by the table of all pairs of spines, and the largest number of pairs in a cell."""
    front, n, size = int(state[FRONT, SCALAR]), int(state[LENGTH, SCALAR]), int(state[SIZE, SCALAR])
    gold = {0: -1, **dict(enumerate(gold_heads, start=1))}
    stack = [int(state[size - 1 - k, STACK]) for k in range(size)]
    lefts: list[Spines] = [spines_of_arcs(state, root, front) for root in stack]
    rights: list[Spines] = [lefts[0], *(((r,), (r,)) for r in right_stack(stack, front, n, gold))]
    table: dict[tuple[int, int], dict[Spines, int]] = {(1, 1): {lefts[0]: 0}}

    def put(i: int, j: int, pair: Spines, loss: int) -> None:
        cell = table.setdefault((i, j), {})
        cell[pair] = min(loss, cell.get(pair, loss))

    def attach(upper: tuple[int, ...], dependent: int) -> tuple[tuple[int, ...], int]:
        """The upper spine down to the place of attachment, and the loss."""
        if gold[dependent] in upper:
            return upper[: upper.index(gold[dependent]) + 1], 0
        return upper, 1

    for d in range(2, len(lefts) + len(rights) + 1):
        for i in range(max(1, d - len(rights)), min(len(lefts), d - 1) + 1):
            j = d - i
            for (ls, rs), loss in table[i, j].items():
                if i < len(lefts):
                    left, right = lefts[i]
                    if left[0] != 0:
                        kept, more = attach(ls, left[0])
                        put(i + 1, j, (kept + left, rs), loss + more)
                    kept, more = attach(right, ls[0])
                    put(i + 1, j, (left, kept + rs), loss + more)
                if j < len(rights):
                    left, right = rights[j]
                    kept, more = attach(rs, left[0])
                    put(i, j + 1, (ls, kept + right), loss + more)
                    if ls[0] != 0:
                        kept, more = attach(left, ls[0])
                        put(i, j + 1, (kept + ls, right), loss + more)
    last = table[len(lefts), len(rights)]
    return min(loss for (ls, _), loss in last.items() if ls[0] == 0), max(len(cell) for cell in table.values())
