"""The loss of an LR-spine configuration, by dynamic programming over spines (Goldberg, Sartorio & Satta 2014).

As for arc-standard (`tabular`), a tree is built from the top of the stack outwards, over the stack L and the right
stack R. But an element can be attached anywhere on a spine, so that T[i, j] maps trees as seen from outside, a left
and a right spine with the same root, to their least loss. A tree p and the next element q on its left give

    q under p:  at the gold head of root(q) if it is on the left spine of p (loss 0), else at its end (loss 1)
    p under q:  at the gold head of root(p) if it is on the right spine of q (loss 0), else at its end (loss 1)

and mirrored on the right, where an element of R is a single node. Places between lose nothing less: a gold arc covers
only nodes that projectivity bars from gold arcs, and the end of a spine covers none.

Spines are sets. Of a left spine only the gold heads of elements of L still to come matter, and going down it positions
fall; so it is the set of those elements, as bits, whose gold head is on it. What lies below a place are the bits of
heads left of it. The bits of elements that have been joined are dropped, and so is every tree for which another one
with the same root has no smaller sets and no larger loss. Cells then grow about linearly with i + j. Elements without
any gold arc to hope for are left out beforehand: they lose one arc and change nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.infer.transitions.state import (
    FRONT,
    G_HEAD,
    L1,
    NEXT,
    R1,
    SCALAR,
    SIZE,
    STACK,
    Table,
)
from weft.infer.transitions.tabular import right_stack
from weft.kernel import kernel

#: No loss is as large as this.
MOST = 1 << 28
#: Training takes configurations with more elements (stack and right stack) by the rules for those that reach the gold
#: tree: the time of a table grows faster than with the cube of its elements. Parsers that have learned something
#: hardly ever meet them.
LARGEST = 100
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def on_left_spine(state: Table, root: int, node: int) -> bool:
    """Whether a node is on the left spine of a tree."""
    while root > node:
        root = state[root, L1]
    return root == node and node >= 0


@kernel
def on_right_spine(state: Table, root: int, node: int) -> bool:
    """Whether a node is on the right spine of a tree."""
    while 0 <= root < node:
        root = state[root, R1]
    return root == node and node >= 0


@kernel
def _set_bit(row: Keys, k: int) -> None:
    row[k >> 6] |= _ONE << np.uint64(k & 63)


@kernel
def _has_bit(row: Keys, k: int) -> bool:
    return (row[k >> 6] >> np.uint64(k & 63)) & _ONE != _ZERO


@kernel
def remaining_loss(state: Table, gold: Table, sizes: NDArray[np.int64]) -> int:
    """The gold arcs that an LR-spine configuration loses for good, apart from the wrong arcs it has.

    `sizes[i + j - 1]` becomes the largest number of trees of a cell T[i, j], as far as there is room for it.
    """
    return loss_within(state, gold, MOST, sizes)


@kernel
def loss_within(state: Table, gold: Table, most: int, sizes: NDArray[np.int64]) -> int:
    """The same, or anything above `most` if it is larger: trees that lose more are not built, which is much faster."""
    stack = state[SIZE, SCALAR]
    all_roots = stack + right_stack(state, gold)
    host = _hosts(state, gold, stack, all_roots)
    # Elements that have no gold arc to hope for, neither up nor down, lose one arc wherever they go: they are left out.
    place = np.full(all_roots, -1, dtype=np.int32)
    place[0] = place[stack - 1] = 0
    for e in range(all_roots):
        if host[e] >= 0:
            place[e] = place[host[e]] = 0
    lefts, roots, lost = 0, 0, 0
    node, head = np.empty(all_roots, dtype=np.int32), np.empty(all_roots, dtype=np.int32)
    for e in range(all_roots):
        own_node = _element(state, stack, e)
        if place[e] < 0:
            lost += 1 if gold[own_node, G_HEAD] >= 0 else 0
            continue
        place[e] = roots
        node[roots], head[roots] = own_node, gold[own_node, G_HEAD]
        roots += 1
        lefts += 1 if e < stack else 0
    if lost > most:
        return lost
    most -= lost
    rights = roots - lefts + 1
    width = (max(lefts, rights) + 63) >> 6
    for e in range(all_roots):
        if place[e] >= 0:
            host[place[e]] = place[host[e]] if host[e] >= 0 else -1
    # own[e, 0], own[e, 1]: bits of the left and of the right spine of an element.
    # kept[e, 0], kept[e, 1]: bits that stay when a left or a right spine is cut below the gold head of an element.
    own = np.zeros((roots, 2, width), dtype=np.uint64)
    kept = np.zeros((roots, 2, width), dtype=np.uint64)
    _fill_bits(head, host, lefts, roots, own, kept)
    cells = np.zeros((lefts, rights, 2), dtype=np.int64)  # first tree, one after the last
    trees = np.zeros((8 * lefts * rights + 8, 2), dtype=np.int32)  # root (an element), loss
    spines = np.zeros((len(trees), 2, width), dtype=np.uint64)
    new = np.zeros((2, width), dtype=np.uint64)
    spines[0] = own[0]
    cells[0, 0, 1] = end = 1
    for i in range(lefts):
        for j in range(rights):
            if i + j > 0:
                bound = 2 * (cells[i - 1, j, 1] - cells[i - 1, j, 0] if i > 0 else 0)
                bound += 2 * (cells[i, j - 1, 1] - cells[i, j - 1, 0] if j > 0 else 0)
                if end + bound > len(trees):
                    more = len(trees) + bound
                    trees = np.concatenate((trees, np.zeros((more, 2), dtype=np.int32)))
                    spines = np.concatenate((spines, np.zeros((more, 2, width), dtype=np.uint64)))
                begin = end
                if i > 0:
                    for t in range(cells[i - 1, j, 0], cells[i - 1, j, 1]):
                        end = _join_left(node, head, host, own, kept, trees, spines, t, begin, end, i, i, j, new, most)
                if j > 0:
                    for t in range(cells[i, j - 1, 0], cells[i, j - 1, 1]):
                        end = _join_right(
                            node, head, own, kept, trees, spines, t, begin, end, lefts + j - 1, i, j, new, most
                        )
                cells[i, j, 0], cells[i, j, 1] = begin, end
            if i + j + 1 < len(sizes):
                sizes[i + j + 1] = max(sizes[i + j + 1], cells[i, j, 1] - cells[i, j, 0])
    least = MOST + 1
    for t in range(cells[lefts - 1, rights - 1, 0], cells[lefts - 1, rights - 1, 1]):
        if node[trees[t, 0]] == 0:
            least = min(least, trees[t, 1])
    return least + lost


@kernel
def _element(state: Table, stack: int, e: int) -> int:
    """The root of an element: those of the stack come first, from the top down."""
    return state[stack - 1 - e, STACK] if e < stack else state[e - stack, NEXT]


@kernel
def _hosts(state: Table, gold: Table, stack: int, roots: int) -> Table:
    """For every element the one on whose spine its root's gold head is, as far as the two can still meet; else -1."""
    host = np.full(roots, -1, dtype=np.int32)
    front = state[FRONT, SCALAR]
    for k in range(roots):
        g = gold[_element(state, stack, k), G_HEAD]
        if g < 0:
            continue
        if g >= front:
            for e in range(stack, roots):
                if _element(state, stack, e) == g:
                    host[k] = e
            continue
        # Spines of an element lie between its neighbours on the stack. What lies above it in the stack or ahead can
        # attach to its right spine, what lies below it on the left one.
        for e in range(stack):
            root = _element(state, stack, e)
            if e < k and k < stack:
                if _element(state, stack, e + 1) < g <= root:
                    if on_left_spine(state, root, g):
                        host[k] = e
                    break
            elif e != k and root <= g:
                if on_right_spine(state, root, g):
                    host[k] = e
                break
    return host


@kernel
def _fill_bits(head: Table, host: Table, lefts: int, roots: int, own: Keys, kept: Keys) -> None:
    for k in range(1, roots):
        if host[k] < 0:
            continue
        side, bit = (0, k) if k < lefts else (1, k - lefts + 1)
        # An element of the stack is on its way to a right spine only when it has been joined.
        if not (side == 0 and k < host[k] < lefts):
            _set_bit(own[host[k], side], bit)
        for e in range(roots):
            if head[e] >= 0 and (head[k] >= head[e] if side == 0 else head[k] <= head[e]):
                _set_bit(kept[e, side], bit)


@kernel
def _join_left(
    node: Table,
    head: Table,
    host: Table,
    own: Keys,
    kept: Keys,
    trees: Table,
    spines: Keys,
    t: int,
    begin: int,
    end: int,
    q: int,
    i: int,
    j: int,
    new: Keys,
    most: int,
) -> int:
    """Join a tree with the element q of the stack on its left, both ways; returns the end of the cell."""
    root, loss = trees[t, 0], trees[t, 1]
    width = new.shape[1]
    if node[q] != 0:
        gold = _has_bit(spines[t, 0], q)
        for w in range(width):
            cut = kept[q, 0, w] if gold else ~_ZERO
            new[0, w] = (spines[t, 0, w] & cut) | own[q, 0, w]
            new[1, w] = spines[t, 1, w]
        end = _add(trees, spines, begin, end, root, loss + (0 if gold or head[q] < 0 else 1), new, i, j, most)
    gold = host[root] == q
    for w in range(width):
        cut = kept[root, 1, w] if gold else ~_ZERO
        new[0, w] = own[q, 0, w]
        new[1, w] = (own[q, 1, w] & cut) | spines[t, 1, w]
    return _add(trees, spines, begin, end, q, loss + (0 if gold or head[root] < 0 else 1), new, i, j, most)


@kernel
def _join_right(
    node: Table,
    head: Table,
    own: Keys,
    kept: Keys,
    trees: Table,
    spines: Keys,
    t: int,
    begin: int,
    end: int,
    q: int,
    i: int,
    j: int,
    new: Keys,
    most: int,
) -> int:
    """Join a tree with the j-th element q of the right stack, both ways; returns the end of the cell."""
    root, loss = trees[t, 0], trees[t, 1]
    width = new.shape[1]
    gold = _has_bit(spines[t, 1], j)
    for w in range(width):
        cut = kept[q, 1, w] if gold else ~_ZERO
        new[0, w] = spines[t, 0, w]
        new[1, w] = (spines[t, 1, w] & cut) | own[q, 1, w]
    end = _add(trees, spines, begin, end, root, loss + (0 if gold or head[q] < 0 else 1), new, i, j, most)
    if node[root] != 0:
        for w in range(width):
            new[0, w] = own[q, 0, w] | spines[t, 0, w]
            new[1, w] = own[q, 1, w]
        wrong = 0 if head[root] == node[q] or head[root] < 0 else 1
        end = _add(trees, spines, begin, end, q, loss + wrong, new, i, j, most)
    return end


@kernel
def _add(
    trees: Table, spines: Keys, begin: int, end: int, root: int, loss: int, new: Keys, i: int, j: int, most: int
) -> int:
    """Put a tree into the cell that begins at `begin`, unless one there is as good in every way; the new end."""
    if loss > most:
        return end
    width = new.shape[1]
    for side in range(2):
        # Elements up to i and j have been joined.
        joined = (i if side == 0 else j) + 1
        for w in range(width):
            low = joined - 64 * w
            if low >= 64:
                new[side, w] = _ZERO
            elif low > 0:
                new[side, w] &= ~_ZERO << np.uint64(low)
    t = begin
    while t < end:
        if trees[t, 0] == root:
            more, less = False, False  # whether the new tree has something the other has not, and the reverse
            for side in range(2):
                for w in range(width):
                    more = more or (new[side, w] & ~spines[t, side, w]) != _ZERO
                    less = less or (spines[t, side, w] & ~new[side, w]) != _ZERO
            if not more and trees[t, 1] <= loss:
                return end
            if not less and loss <= trees[t, 1]:
                end -= 1
                trees[t] = trees[end]
                spines[t] = spines[end]
                continue
        t += 1
    trees[end, 0], trees[end, 1] = root, loss
    spines[end] = new
    return end + 1
