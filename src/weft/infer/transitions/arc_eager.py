"""Arc-eager (Nivre 2003), with ROOT at the end of the buffer, so that every computation ends with a full tree.

    start     ([], w1 ... wn ROOT)          end  ([], ROOT)
    SHIFT     (S,   b|B) -> (S|b,   B)                  b is not ROOT
    RIGHT_l   (S|s, b|B) -> (S|s|b, B) + s -l-> b       b is not ROOT
    LEFT_l    (S|s, b|B) -> (S,   b|B) + b -l-> s       s has no head
    REDUCE    (S|s,   B) -> (S,     B)                  s has a head

An arc (h, d) can still be built iff both are in the buffer; or h is on the stack and d in the buffer; or h is in the
buffer and d on the stack without a head. The system is arc-decomposable (Goldberg & Nivre 2013), so that the cost of a
move is the number of gold arcs that can be built before it and not after it.

With a single root, what stands in front of the last word decides: it may be shifted only onto words that all have
heads, and taken to the right only by a stack with one word without a head.
"""

from __future__ import annotations

from weft.infer.transitions.state import (
    AHEAD,
    FRONT,
    G_HEAD,
    HEAD,
    HEADLESS,
    LEFT,
    LENGTH,
    OPEN,
    REDUCE,
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
from weft.kernel import inlined, kernel


@inlined
def start(state: Table, n: int) -> None:
    """Nothing on the stack."""
    clear(state, n)


@kernel
def finished(state: Table) -> bool:
    """Only ROOT is left."""
    return state[SIZE, SCALAR] == 0 and state[FRONT, SCALAR] > state[LENGTH, SCALAR]


@inlined
def front(state: Table) -> int:
    """The first node of the buffer: after the last word stands ROOT."""
    b = state[FRONT, SCALAR]
    return b if b <= state[LENGTH, SCALAR] else 0


@kernel
def legal(state: Table, single_root: bool) -> int:
    """The moves that are allowed, as bits."""
    s, n = on_stack(state, 0), state[LENGTH, SCALAR]
    b = state[FRONT, SCALAR]
    moves = 0
    if b <= n:
        moves |= 1 << SHIFT
    if s >= 0:
        if b <= n:
            moves |= 1 << RIGHT
        moves |= 1 << (LEFT if state[s, HEAD] < 0 else REDUCE)
    if single_root and b == n:
        headless = state[HEADLESS, SCALAR]
        if headless > 0:
            moves &= ~(1 << SHIFT)
        if headless != 1:
            moves &= ~(1 << RIGHT)
    return moves


@kernel
def arc(state: Table, move: int) -> tuple[int, int]:
    """Head and dependent of the arc that a move adds, -1 and -1 for none."""
    if move == LEFT:
        return front(state), on_stack(state, 0)
    if move == RIGHT:
        return on_stack(state, 0), front(state)
    return -1, -1


@kernel
def apply(state: Table, move: int, label: int) -> None:
    """Carry out a move."""
    b = front(state)
    if move in (SHIFT, RIGHT):
        if move == RIGHT:
            attach(state, on_stack(state, 0), b, label)
        else:
            state[HEADLESS, SCALAR] += 1
        push(state, b)
        state[FRONT, SCALAR] += 1
    else:
        s = pop(state)
        if move == LEFT:
            attach(state, b, s, label)
            state[HEADLESS, SCALAR] -= 1


@kernel
def cost(state: Table, gold: Table, move: int) -> int:
    """How many gold arcs a move puts out of reach."""
    s, b = on_stack(state, 0), front(state)
    if move == LEFT:
        h = gold[s, G_HEAD]
        lost = 1 if h >= 0 and h != b and state[h, WHERE] == AHEAD else 0
        return lost + gold_children_from(gold, s, state[FRONT, SCALAR])
    if move == REDUCE:
        return gold_children_from(gold, s, state[FRONT, SCALAR])
    h = gold[b, G_HEAD]
    if move == RIGHT:
        lost = 1 if h >= 0 and h != s and (state[h, WHERE] == OPEN or state[h, WHERE] == AHEAD) else 0
    else:
        lost = 1 if h >= 0 and state[h, WHERE] == OPEN else 0
    return lost + open_gold_children_before(state, gold, b)


@kernel
def canonical(state: Table, gold: Table) -> int:
    """The move of the static oracle: arcs as early as possible. Defined where the gold tree can be reached."""
    s, b = on_stack(state, 0), front(state)
    if s >= 0:
        if gold[s, G_HEAD] == b and state[s, HEAD] < 0:
            return LEFT
        if b > 0 and gold[b, G_HEAD] == s:
            return RIGHT
        if state[s, HEAD] >= 0 and gold_children_from(gold, s, state[FRONT, SCALAR]) == 0:
            h = gold[s, G_HEAD]
            if state[s, HEAD] == h or h < 0 or state[h, WHERE] != AHEAD:
                return REDUCE
    return SHIFT
