"""Easy-first (Goldberg & Elhadad 2010): the surest arc between two neighbours of a list comes first, wherever it is.

    start     ROOT w1 ... wn                end  ROOT
    LEFT_i,l   (.. x_i x_i+1 ..) -> (.. x_i+1 ..) + x_i+1 -l-> x_i       x_i is not ROOT
    RIGHT_i,l  (.. x_i x_i+1 ..) -> (.. x_i ..)   + x_i -l-> x_i+1

Candidate i is the pair of the node i and its neighbour to the right. An arc (h, d) can still be built iff both are in
the list. The system is arc-decomposable (Goldberg & Nivre 2013). With a single root, ROOT takes its child last.
"""

from __future__ import annotations

from weft.infer.transitions.state import (
    DONE,
    G_FIRST,
    G_HEAD,
    G_NEXT,
    LEFT,
    NEXT,
    OPEN,
    PREV,
    RIGHT,
    STALE,
    WHERE,
    Table,
    attach,
    clear,
)
from weft.kernel import kernel

#: How many nodes to the left and to the right of a pair its features look at.
BEFORE, BEHIND = 2, 3


@kernel
def start(state: Table, n: int) -> None:
    """All nodes in the list."""
    clear(state, n)
    for node in range(n + 1):
        state[node, WHERE] = OPEN
        state[node, NEXT] = node + 1 if node < n else -1
        state[node, PREV] = node - 1


@kernel
def finished(state: Table) -> bool:
    """Only ROOT is left."""
    return state[0, NEXT] < 0


@kernel
def following(state: Table, candidate: int) -> int:
    """The next pair, -1 after the last one."""
    right = state[candidate, NEXT]
    return right if state[right, NEXT] >= 0 else -1


@kernel
def legal(state: Table, candidate: int, single_root: bool) -> int:
    """The moves that are allowed for a pair, as bits."""
    if candidate > 0:
        return (1 << LEFT) | (1 << RIGHT)
    last = state[state[0, NEXT], NEXT] < 0
    return 1 << RIGHT if last or not single_root else 0


@kernel
def arc(state: Table, candidate: int, move: int) -> tuple[int, int]:
    """Head and dependent of the arc that a move adds."""
    right = state[candidate, NEXT]
    return (right, candidate) if move == LEFT else (candidate, right)


@kernel
def apply(state: Table, candidate: int, move: int, label: int) -> None:
    """Apply a move; the pairs that can see it have to be scored anew."""
    head, dependent = arc(state, candidate, move)
    attach(state, head, dependent, label)
    state[dependent, WHERE] = DONE
    before, behind = state[dependent, PREV], state[dependent, NEXT]
    state[before, NEXT] = behind
    if behind >= 0:
        state[behind, PREV] = before
    node = head
    state[node, STALE] = 1
    for _ in range(BEHIND):
        node = state[node, PREV]
        if node < 0:
            break
        state[node, STALE] = 1
    node = head
    for _ in range(BEFORE):
        node = state[node, NEXT]
        if node < 0:
            break
        state[node, STALE] = 1


@kernel
def cost(state: Table, gold: Table, candidate: int, move: int) -> int:
    """How many gold arcs a move puts out of reach."""
    head, dependent = arc(state, candidate, move)
    h = gold[dependent, G_HEAD]
    lost = 1 if h >= 0 and h != head and state[h, WHERE] == OPEN else 0
    child = gold[dependent, G_FIRST]
    while child >= 0:
        if state[child, WHERE] == OPEN:
            lost += 1
        child = gold[child, G_NEXT]
    return lost
