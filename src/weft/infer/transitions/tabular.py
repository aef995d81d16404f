"""The loss of an arc-standard configuration, by dynamic programming (Goldberg, Sartorio & Satta 2014).

    L(c) = least number of gold arcs missing in a tree that can be reached from c
    cost(t; c) = L(t(c)) - L(c)

Arc-standard is not arc-decomposable, so gold arcs cannot be counted one by one. Two steps take their place.

1. *Right stack*: the buffer is cut into the largest gold fragments that need no dependent from outside except at their
   root; these can be built at no cost. `right_stack` finds their roots, R[2], R[3] ...; R[1] is the top of the stack.
2. *Table*: every tree that is reachable is a linear tree over the stack L (L[1] is its top) and R. T[i, j](h) is the
   least loss of one rooted in h over the first i elements of L and the first j of R, always with L[1] inside:

       T[1, 1](L[1]) = 0
       T[i+1, j](h) <- T[i, j](h) + d(h -> y),   T[i+1, j](y) <- T[i, j](h) + d(y -> h),    y = L[i+1]
       T[i, j+1](h) <- T[i, j](h) + d(h -> y),   T[i, j+1](y) <- T[i, j](h) + d(y -> h),    y = R[j+1]

   with d = 0 for gold arcs, else 1, and <- keeping the smallest. L(c) = T[all, all](ROOT) + wrong arcs of c.

The wrong arcs of c are counted once, outside: `remaining_loss` is what the table says.
"""

from __future__ import annotations

import numpy as np

from weft.infer.transitions.state import (
    FRONT,
    G_FIRST,
    G_HEAD,
    G_NEXT,
    HEAD,
    LENGTH,
    NEXT,
    OPEN,
    PREV,
    SCALAR,
    SIZE,
    STACK,
    WHERE,
    Table,
)
from weft.kernel import kernel

#: Sentences of more words are learned from by the rules for configurations that reach the gold tree: the tables of
#: arc-standard grow with the cube of the length.
LONGEST = 400
_INFINITE = 1 << 28


@kernel
def right_stack(state: Table, gold: Table) -> int:
    """Put the roots of gold fragments of the buffer into the column NEXT, from row 0 on; returns how many there are.

    A node of the buffer is one iff its gold head is not in the buffer, or one of its gold children is on the stack or
    is a root itself. The column PREV marks roots.
    """
    front = state[FRONT, SCALAR]
    count = 0
    for node in range(front, state[LENGTH, SCALAR] + 1):
        is_root = gold[node, G_HEAD] < front
        child = gold[node, G_FIRST]
        # Roots among children after the node would cross the arc to it.
        while not is_root and child >= 0 and child < node:
            is_root = state[child, PREV] == 1 if child >= front else state[child, WHERE] == OPEN
            child = gold[child, G_NEXT]
        state[node, PREV] = 1 if is_root else 0
        if is_root:
            state[count, NEXT] = node
            count += 1
    return count


@kernel
def wrong_arcs(state: Table, gold: Table) -> int:
    """How many words of a configuration attach to another head than the gold one."""
    count = 0
    for node in range(1, state[LENGTH, SCALAR] + 1):
        if state[node, HEAD] >= 0 and gold[node, G_HEAD] >= 0 and state[node, HEAD] != gold[node, G_HEAD]:
            count += 1
    return count


@kernel
def remaining_loss(state: Table, gold: Table) -> int:
    """The gold arcs that an arc-standard configuration loses for good, apart from the wrong arcs it has."""
    lefts = state[SIZE, SCALAR]
    rights = right_stack(state, gold) + 1
    roots = lefts + rights - 1
    # Elements: the stack from the top down, then the right stack. Head of an element by its place among them.
    node = np.empty(roots, dtype=np.int32)
    for e in range(lefts):
        node[e] = state[lefts - 1 - e, STACK]
    for e in range(lefts, roots):
        node[e] = state[e - lefts, NEXT]
    table = np.full((2, rights, roots), _INFINITE, dtype=np.int32)
    table[0, 0, 0] = 0
    for i in range(lefts):
        now, before = i & 1, (i & 1) ^ 1
        for j in range(rights):
            cell = table[now, j]
            if i > 0:
                cell[:] = _INFINITE
                _extend(table[before, j], cell, node, gold, i, i, lefts, j)
            if j > 0:
                _extend(table[now, j - 1], cell, node, gold, lefts + j - 1, i + 1, lefts, j - 1)
    least: int = table[(lefts - 1) & 1, rights - 1, lefts - 1]
    return least


@kernel
def _extend(cell: Table, into: Table, node: Table, gold: Table, new: int, lefts: int, right: int, rights: int) -> None:
    """Join an element with every tree of a cell, whose roots are the first of the stack and of the right stack."""
    y = node[new]
    head = gold[y, G_HEAD]
    least = _INFINITE
    for k in range(lefts + rights):
        h = k if k < lefts else right + k - lefts
        value = cell[h]
        if value >= _INFINITE:
            continue
        root = node[h]
        # No arc leads to ROOT; words whose gold head is not known cannot be wrong.
        if y != 0:
            into[h] = min(into[h], value + (0 if head == root or head < 0 else 1))
        if root != 0:
            above = gold[root, G_HEAD]
            least = min(least, value + (0 if above == y or above < 0 else 1))
    into[new] = min(into[new], least)
