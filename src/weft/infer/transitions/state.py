"""The state of a transition system: one int32 table, a row per node, and the gold tree in the same form.

Node 0 is the artificial ROOT, nodes 1 to n are the words. `state[node, COLUMN]` holds what is known of a node:

| column | meaning |
|---|---|
| `HEAD`, `LABEL` | its head and the number of its label, -1 while it has none |
| `L1`, `L2`, `R1`, `R2` | outermost and second outermost child on the left and on the right, -1 for none |
| `LV`, `RV`, `LS`, `RS` | number of children on a side, and the set of their labels as bits |
| `LE`, `RE` | first and last node of its subtree |
| `WHERE` | `AHEAD` (in the buffer), `OPEN` (on the stack or in the list), `DONE` |
| `STALE` | of a candidate: whether its features changed since it was scored |
| `STACK` | row k: the node at height k of the stack (0 is the bottom) |
| `NEXT`, `PREV` | free for links between nodes: the neighbours in the list of easy-first |
| `SCALAR` | rows `SIZE`, `FRONT`, `LENGTH`, `HEADLESS`: height of the stack, first word of the buffer, n, open words without a head |
| `OWN1`, `OWN2` | free for a system's own bookkeeping |

A table of rows x columns is copied as a whole, which is all that beam search needs to know of it.

    gold[node, G_HEAD], gold[node, G_LABEL]      the gold head and label, -1 where not known
    gold[node, G_FIRST], gold[node, G_NEXT]      first child, next child of the same head (left to right)
    gold[node, G_LAST], gold[node, G_BEFORE]     last child, child before of the same head (right to left)
"""  # noqa: E501

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.kernel import inlined, kernel

Table = NDArray[np.int32]

HEAD, LABEL, L1, L2, R1, R2, LV, RV, LS, RS = range(10)
LE, RE, WHERE, STALE, STACK, NEXT, PREV, SCALAR, OWN1, OWN2 = range(10, 20)
WIDTH = 20
AHEAD, OPEN, DONE = range(3)
SIZE, FRONT, LENGTH, HEADLESS = range(4)
#: Fewest rows of a state, so that its scalars have a place.
ROWS = 6

G_HEAD, G_LABEL, G_FIRST, G_NEXT, G_LAST, G_BEFORE = range(6)
G_WIDTH = 6

#: Moves; a system uses those it has. LEFT and RIGHT are arcs and carry a label.
SHIFT, LEFT, RIGHT, REDUCE, EDIT = range(5)
MOVES = ("shift", "left", "right", "reduce", "edit")

#: Oracles: one canonical move; all moves that keep the gold tree within reach; all moves that lose nothing more.
STATIC, NONDET, DYNAMIC = range(3)


def new_state(n: int) -> Table:
    """An empty table for a sentence of n words, to be filled by a system's `start`."""
    return np.zeros((max(n + 2, ROWS), WIDTH), dtype=np.int32)


def gold_table(heads: NDArray[np.int32], labels: NDArray[np.int32]) -> Table:
    """The gold table of heads and labels of the words (0: ROOT, -1: not known).

    >>> gold = gold_table(np.array([2, 0, 2], np.int32), np.array([0, 1, 0], np.int32))
    >>> gold[2, G_FIRST].item(), gold[2, G_LAST].item(), gold[1, G_NEXT].item()
    (1, 3, 3)
    """
    table = np.zeros((len(heads) + 1, G_WIDTH), dtype=np.int32)
    fill_gold(heads, labels, 0, len(heads), table)
    return table


@kernel
def fill_gold(heads: Table, labels: Table, first: int, n: int, gold: Table) -> None:
    """Put the gold tree of the n words that begin at `first` into a table."""
    for node in range(n + 1):
        gold[node, G_HEAD] = heads[first + node - 1] if node > 0 else -1
        gold[node, G_LABEL] = labels[first + node - 1] if node > 0 else -1
        gold[node, G_FIRST] = gold[node, G_NEXT] = gold[node, G_LAST] = gold[node, G_BEFORE] = -1
    for node in range(1, n + 1):
        head = gold[node, G_HEAD]
        if head < 0:
            continue
        last = gold[head, G_LAST]
        if last < 0:
            gold[head, G_FIRST] = node
        else:
            gold[last, G_NEXT] = node
            gold[node, G_BEFORE] = last
        gold[head, G_LAST] = node


@kernel
def clear(state: Table, n: int) -> None:
    """All words in the buffer, no arcs, an empty stack."""
    for node in range(max(n + 2, ROWS)):
        state[node, HEAD] = state[node, LABEL] = -1
        state[node, L1] = state[node, L2] = state[node, R1] = state[node, R2] = -1
        state[node, LV] = state[node, RV] = state[node, LS] = state[node, RS] = 0
        state[node, LE] = state[node, RE] = node
        state[node, WHERE] = AHEAD
        state[node, STALE] = 1
        state[node, STACK] = state[node, NEXT] = state[node, PREV] = -1
        state[node, SCALAR] = state[node, OWN1] = state[node, OWN2] = 0
    state[FRONT, SCALAR] = 1
    state[LENGTH, SCALAR] = n


@inlined
def label_bit(label: int) -> np.int32:
    """The bit of a label in sets of labels; labels are numbered by frequency, so that those that share one are rare."""
    return np.int32(1) << np.int32(max(label, 0) % 31)


@kernel
def attach(state: Table, head: int, dependent: int, label: int) -> None:
    """Add an arc; the dependent becomes the outermost child on its side."""
    state[dependent, HEAD] = head
    state[dependent, LABEL] = label
    bit = label_bit(label)
    if dependent < head:
        state[head, L2] = state[head, L1]
        state[head, L1] = dependent
        state[head, LV] += 1
        state[head, LS] |= bit
        state[head, LE] = min(state[head, LE], state[dependent, LE])
    else:
        state[head, R2] = state[head, R1]
        state[head, R1] = dependent
        state[head, RV] += 1
        state[head, RS] |= bit
        state[head, RE] = max(state[head, RE], state[dependent, RE])


@inlined
def push(state: Table, node: int) -> None:
    """Put a node on the stack."""
    size = state[SIZE, SCALAR]
    state[size, STACK] = node
    state[SIZE, SCALAR] = size + 1
    state[node, WHERE] = OPEN


@inlined
def pop(state: Table) -> int:
    """Take the top of the stack away."""
    size = state[SIZE, SCALAR] - 1
    state[SIZE, SCALAR] = size
    node = state[size, STACK]
    state[node, WHERE] = DONE
    return node


@inlined
def on_stack(state: Table, depth: int) -> int:
    """The node that lies so far below the top (0: the top itself), -1 if there is none."""
    at = state[SIZE, SCALAR] - 1 - depth
    return state[at, STACK] if at >= 0 else -1


@kernel
def gold_children_from(gold: Table, node: int, first: int) -> int:
    """How many gold children of a node are `first` or stand after it."""
    count = 0
    child = gold[node, G_LAST]
    while child >= first:
        count += 1
        child = gold[child, G_BEFORE]
    return count


@kernel
def open_gold_children_before(state: Table, gold: Table, node: int) -> int:
    """How many gold children before a node are open and still without a head."""
    count = 0
    child = gold[node, G_FIRST]
    while child >= 0 and child < node:
        if state[child, WHERE] == OPEN and state[child, HEAD] < 0:
            count += 1
        child = gold[child, G_NEXT]
    return count
