"""Arc-hybrid (Kuhlmann, Gomez-Rodriguez & Satta 2011): left arcs as in arc-eager, right arcs as in arc-standard.

    start     ([ROOT], w1 ... wn)           end  ([ROOT], [])
    SHIFT     (S,      b|B) -> (S|b,  B)
    LEFT_l    (S|s,    b|B) -> (S,  b|B) + b -l-> s       s is not ROOT
    RIGHT_l   (S|s1|s0,  B) -> (S|s1, B) + s1 -l-> s0

(The paper starts with ROOT in the buffer; its first move can only be SHIFT.) An arc (h, d) can still be built iff both
are in the buffer; or one is on the stack and the other in the buffer; or h lies immediately below d on the stack. The
system is arc-decomposable (Goldberg & Nivre 2013). With a single root, ROOT takes its child last.
"""

from __future__ import annotations

from weft.infer.transitions.state import (
    FRONT,
    G_HEAD,
    LEFT,
    LENGTH,
    OPEN,
    RIGHT,
    SCALAR,
    SHIFT,
    SIZE,
    WHERE,
    Table,
    attach,
    clear,
    gold_children_from,
    on_stack,
    open_gold_children_before,
    pop,
    push,
)
from weft.kernel import kernel


@kernel
def start(state: Table, n: int) -> None:
    """ROOT on the stack."""
    clear(state, n)
    push(state, 0)


@kernel
def finished(state: Table) -> bool:
    """Only ROOT is left."""
    return state[SIZE, SCALAR] == 1 and state[FRONT, SCALAR] > state[LENGTH, SCALAR]


@kernel
def legal(state: Table, single_root: bool) -> int:
    """The moves that are allowed, as bits."""
    size = state[SIZE, SCALAR]
    ahead = state[FRONT, SCALAR] <= state[LENGTH, SCALAR]
    moves = 0
    if ahead:
        moves |= 1 << SHIFT
    if size >= 2:
        if ahead:
            moves |= 1 << LEFT
        if size > 2 or not ahead or not single_root:
            moves |= 1 << RIGHT
    return moves


@kernel
def arc(state: Table, move: int) -> tuple[int, int]:
    """Head and dependent of the arc that a move adds, -1 and -1 for none."""
    if move == LEFT:
        return state[FRONT, SCALAR], on_stack(state, 0)
    if move == RIGHT:
        return on_stack(state, 1), on_stack(state, 0)
    return -1, -1


@kernel
def apply(state: Table, move: int, label: int) -> None:
    """Carry out a move."""
    if move == SHIFT:
        push(state, state[FRONT, SCALAR])
        state[FRONT, SCALAR] += 1
        return
    s = pop(state)
    attach(state, state[FRONT, SCALAR] if move == LEFT else on_stack(state, 0), s, label)


@kernel
def cost(state: Table, gold: Table, move: int) -> int:
    """How many gold arcs a move puts out of reach."""
    s, b = on_stack(state, 0), state[FRONT, SCALAR]
    if move == SHIFT:
        h = gold[b, G_HEAD]
        lost = 1 if h >= 0 and h != s and state[h, WHERE] == OPEN else 0
        return lost + open_gold_children_before(state, gold, b)
    h = gold[s, G_HEAD]
    elsewhere = h > b or (h >= 0 and h == on_stack(state, 1)) if move == LEFT else h >= b
    return (1 if elsewhere else 0) + gold_children_from(gold, s, b)


@kernel
def canonical(state: Table, gold: Table) -> int:
    """The move of the static oracle: an arc as soon as it is gold and its dependent complete."""
    s, b = on_stack(state, 0), state[FRONT, SCALAR]
    if s > 0 and gold_children_from(gold, s, b) == 0:
        h = gold[s, G_HEAD]
        if h == b and b <= state[LENGTH, SCALAR]:
            return LEFT
        if h >= 0 and h == on_stack(state, 1):
            return RIGHT
    return SHIFT
