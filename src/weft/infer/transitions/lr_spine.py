"""LR-spine (Sartorio, Satta & Nivre 2013): arcs may start anywhere on the spines of the two trees on top of the stack.

    start     ([ROOT], w1 ... wn)           end  ([ROOT], [])
    SHIFT     (S,      b|B) -> (S|b,  B)
    LEFT_k,l  (S|s2|s1,  B) -> (S|s1, B) + u_k -l-> root(s2)     u_1 u_2 ... the left spine of s1; root(s2) is not ROOT
    RIGHT_k,l (S|s2|s1,  B) -> (S|s2, B) + v_k -l-> root(s1)     v_1 v_2 ... the right spine of s2

A left spine is the root of a tree, its leftmost child, that one's leftmost child, and so on down; as a new child is
always the outermost one, the columns `L1` and `R1` are the spines, and what lies below k is covered by itself. (The
paper starts with ROOT in the buffer; its first move can only be SHIFT.)

Candidate 0 has SHIFT, LEFT_1 and RIGHT_1, which have the same context in the paper; the other candidates are the nodes
u_k and v_k, k > 1, with one move each. With a single root, ROOT takes its child last.

The system is not arc-decomposable. `cost` is exact (see `spine_table`); `price` notes which moves of a
configuration cost something, all at once. Where the gold tree can be reached (lemma 1 of the paper),

    LEFT_k, RIGHT_k are right iff their arc is gold
    SHIFT is wrong iff the gold head of root(s1) is to its left and no node on its right spine has a gold child in B

The same holds after mistakes as long as all other gold arcs can still be built: these and the wrong arcs make up a tree
that can be reached. Tables are needed only where arcs have been lost that are not yet replaced by wrong ones.
"""

from __future__ import annotations

import numpy as np

from weft.infer.transitions import spine_table
from weft.infer.transitions.state import (
    AHEAD,
    DONE,
    DYNAMIC,
    FRONT,
    G_HEAD,
    G_LAST,
    HEAD,
    L1,
    LEFT,
    LENGTH,
    OPEN,
    OWN1,
    OWN2,
    R1,
    RIGHT,
    SCALAR,
    SHIFT,
    SIZE,
    STACK,
    STALE,
    STATIC,
    WHERE,
    Table,
    attach,
    on_stack,
    pop,
    push,
)
from weft.infer.transitions.tabular import right_stack, wrong_arcs
from weft.kernel import kernel

#: Rows of the column OWN1: whether costs are cached, and those of SHIFT, LEFT and RIGHT of candidate 0 after it. Those
#: of other candidates are in OWN2. Row LOSS is one more than the loss of the configuration, 0 where it is not known.
PRICED, PRICES, LOSS = 0, 1, 4


@kernel
def following(state: Table, candidate: int) -> int:
    """The next candidate: down the left spine of the top, then down the right spine of what lies below it."""
    size = state[SIZE, SCALAR]
    if size < 2:
        return -1
    below = state[on_stack(state, 1), R1]
    if candidate == 0:
        left = state[on_stack(state, 0), L1]
        return left if left >= 0 and size > 2 else below
    if candidate < state[candidate, HEAD]:
        left = state[candidate, L1]
        return left if left >= 0 else below
    return state[candidate, R1]


@kernel
def legal(state: Table, candidate: int, single_root: bool) -> int:
    """The moves that are allowed at a candidate, as bits."""
    if candidate > 0:
        return 1 << LEFT if candidate < state[candidate, HEAD] else 1 << RIGHT
    size = state[SIZE, SCALAR]
    ahead = state[FRONT, SCALAR] <= state[LENGTH, SCALAR]
    moves = 0
    if ahead:
        moves |= 1 << SHIFT
    if size > 2:
        moves |= 1 << LEFT
    if size > 2 or (size == 2 and (not ahead or not single_root)):
        moves |= 1 << RIGHT
    return moves


@kernel
def arc(state: Table, candidate: int, move: int) -> tuple[int, int]:
    """Head and dependent of the arc that a move adds, -1 and -1 for none."""
    s1, s2 = on_stack(state, 0), on_stack(state, 1)
    if move == LEFT:
        return (candidate if candidate > 0 else s1), s2
    if move == RIGHT:
        return (candidate if candidate > 0 else s2), s1
    return -1, -1


@kernel
def apply(state: Table, candidate: int, move: int, label: int) -> None:
    """Apply a move; every candidate then has another context."""
    head, dependent = arc(state, candidate, move)
    noted = state[PRICES + move, OWN1] if candidate == 0 else state[candidate, OWN2]
    if state[PRICED, OWN1] == 0 or noted != 0:  # moves that cost nothing leave the loss as it was
        state[LOSS, OWN1] = 0
    state[PRICED, OWN1] = 0
    if move == SHIFT:
        push(state, state[FRONT, SCALAR])
        state[FRONT, SCALAR] += 1
    else:
        s1 = pop(state)
        if move == LEFT:
            pop(state)
            push(state, s1)
        attach(state, head, dependent, label)
    other = 0
    while other >= 0:
        state[other, STALE] = 1
        other = following(state, other)


@kernel
def bases(state: Table, candidate: int, out: Table) -> None:
    """The context of a move: s1, s2 (the ends of its arc), s3, q1, q2, gp, gg (heads above the dependent's)."""
    n, b = state[LENGTH, SCALAR], state[FRONT, SCALAR]
    s1, s2, s3 = on_stack(state, 0), on_stack(state, 1), on_stack(state, 2)
    q1, q2 = b if b <= n else -1, b + 1 if b < n else -1
    gp, gg = -1, -1
    if candidate > 0:
        gp = state[candidate, HEAD]
        gg = state[gp, HEAD]
        if candidate < gp:
            s1 = candidate
            q1, q2 = gp, gg if gg >= 0 else q1
        else:
            s2, s3 = candidate, gp
    out[0], out[1], out[2], out[3], out[4], out[5], out[6] = s1, s2, s3, q1, q2, gp, gg


@kernel
def _loss_after(state: Table, gold: Table, candidate: int, move: int, most: int) -> int:
    """The loss after a move, apart from arcs built before it, or anything above `most`; the state stays as it was."""
    sizes = np.zeros(0, dtype=np.int64)
    head, dependent = arc(state, candidate, move)
    size, front = state[SIZE, SCALAR], state[FRONT, SCALAR]
    s1, s2 = on_stack(state, 0), on_stack(state, 1)
    wrong = 0
    if move == SHIFT:
        push(state, front)
        state[FRONT, SCALAR] = front + 1
    else:
        wrong = 0 if gold[dependent, G_HEAD] == head or gold[dependent, G_HEAD] < 0 else 1
        state[size - 2, STACK] = s1 if move == LEFT else s2
        state[SIZE, SCALAR] = size - 1
        state[dependent, WHERE] = DONE
        side = L1 if move == LEFT else R1
        covered, state[head, side] = state[head, side], dependent
    loss = wrong + spine_table.loss_within(state, gold, most - wrong, sizes)
    if move == SHIFT:
        state[front, WHERE] = AHEAD
    else:
        state[head, side] = covered
        state[size - 2, STACK] = s2
        state[dependent, WHERE] = OPEN
    state[SIZE, SCALAR], state[FRONT, SCALAR] = size, front
    return loss


@kernel
def cost(state: Table, gold: Table, candidate: int, move: int) -> int:
    """By how much a move increases the loss of a configuration."""
    if state[PRICED, OWN1] != 0:
        return state[PRICES + move, OWN1] if candidate == 0 else state[candidate, OWN2]
    head, dependent = arc(state, candidate, move)
    if dependent > 0 and gold[dependent, G_HEAD] == head:
        return 0
    before = spine_table.remaining_loss(state, gold, np.zeros(0, dtype=np.int64))
    return _loss_after(state, gold, candidate, move, spine_table.MOST) - before


@kernel
def _shift_is_wrong(state: Table, gold: Table) -> bool:
    """Whether SHIFT loses the gold tree, where it can be reached (lemma 1)."""
    top, front = on_stack(state, 0), state[FRONT, SCALAR]
    if not 0 <= gold[top, G_HEAD] < top:
        return False
    node = top
    while node >= 0:
        if gold[node, G_LAST] >= front:
            return False
        node = state[node, R1]
    return True


@kernel
def cost_on_gold_path(state: Table, gold: Table, candidate: int, move: int) -> int:
    """0 if no gold arc is lost by a move, else 1; right where those not built yet can all be built."""
    if move == SHIFT:
        return 1 if _shift_is_wrong(state, gold) else 0
    head, dependent = arc(state, candidate, move)
    return 0 if gold[dependent, G_HEAD] == head else 1


@kernel
def _gold_arc_now(state: Table, gold: Table) -> bool:
    """Whether some candidate has a gold arc that the static oracle builds; arcs of ROOT wait for the last moment."""
    if state[SIZE, SCALAR] < 2:
        return False
    candidate = 0
    while candidate >= 0:
        for move in range(LEFT, RIGHT + 1):
            if candidate == 0 or (move == LEFT) == (candidate < state[candidate, HEAD]):
                head, dependent = arc(state, candidate, move)
                if dependent > 0 and gold[dependent, G_HEAD] == head and (head > 0 or _shift_is_wrong(state, gold)):
                    return True
        candidate = following(state, candidate)
    return False


@kernel
def _remaining_loss(state: Table, gold: Table) -> int:
    """The loss of a configuration apart from the wrong arcs it has; where tables would be too large, 0."""
    if state[SIZE, SCALAR] + right_stack(state, gold) > spine_table.LARGEST:
        state[LOSS, OWN1] = 0
        return 0
    built = wrong_arcs(state, gold)
    if state[LOSS, OWN1] == 0:
        state[LOSS, OWN1] = 1 + built + spine_table.remaining_loss(state, gold, np.zeros(0, dtype=np.int64))
    loss: int = state[LOSS, OWN1] - 1 - built
    return loss


@kernel
def price(state: Table, gold: Table, oracle: int) -> None:
    """Cache each move's oracle cost until the next move.

    From start to end a state is asked about one gold tree only. Costs above 0 are not always told in full: no oracle
    asks how large they are.
    """
    state[PRICED, OWN1] = 0
    remaining = _remaining_loss(state, gold) if oracle == DYNAMIC else 0
    at_once = oracle == STATIC and _gold_arc_now(state, gold)
    candidate = 0
    while candidate >= 0:
        moves = legal(state, candidate, False)
        for move in range(SHIFT, RIGHT + 1):
            if not (moves >> move) & 1:
                continue
            head, dependent = arc(state, candidate, move)
            if dependent > 0 and gold[dependent, G_HEAD] == head:
                found = 1 if oracle == STATIC and head == 0 and not at_once else 0
            elif remaining > 0:
                found = _loss_after(state, gold, candidate, move, remaining) - remaining
            else:
                found = cost_on_gold_path(state, gold, candidate, move)
            if at_once and move == SHIFT:
                found = 1
            if candidate == 0:
                state[PRICES + move, OWN1] = found
            else:
                state[candidate, OWN2] = found
        candidate = following(state, candidate)
    state[PRICED, OWN1] = 1
