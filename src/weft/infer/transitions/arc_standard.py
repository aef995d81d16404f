"""Arc-standard (Nivre 2004): trees are built bottom-up, an arc when its dependent is complete.

    start     ([ROOT], w1 ... wn)           end  ([ROOT], [])
    SHIFT     (S,      b|B) -> (S|b,  B)
    LEFT_l    (S|s1|s0,  B) -> (S|s0, B) + s0 -l-> s1     s1 is not ROOT
    RIGHT_l   (S|s1|s0,  B) -> (S|s1, B) + s1 -l-> s0

(The paper starts with ROOT in the buffer; its first move can only be SHIFT.) The system is not arc-decomposable: with
a, b, c on the stack, the arcs c -> b and b -> a can each be built, but not both. `cost` is therefore found by dynamic
programming (`tabular`). `cost_on_gold_path` is 0 or 1: it is the non-deterministic oracle, right where the gold tree
can be reached, and after mistakes too as long as all other gold arcs can still be built (these and the wrong arcs make
up a tree that can be reached). `price` notes the costs of all moves of a configuration at once, with tables only where
they are needed. With a single root, ROOT takes its child last.
"""

from __future__ import annotations

from weft.infer.transitions import tabular
from weft.infer.transitions.state import (
    AHEAD,
    DYNAMIC,
    FRONT,
    G_FIRST,
    G_HEAD,
    G_NEXT,
    HEAD,
    LEFT,
    LENGTH,
    OPEN,
    OWN1,
    RIGHT,
    SCALAR,
    SHIFT,
    SIZE,
    STATIC,
    WHERE,
    Table,
    attach,
    gold_children_from,
    on_stack,
    pop,
    push,
)
from weft.kernel import kernel

#: Rows of the column OWN1: whether costs are cached, those of SHIFT, LEFT and RIGHT after it, and one more than the
#: loss of the configuration, 0 where it is not known.
PRICED, PRICES, LOSS = 0, 1, 4


@kernel
def legal(state: Table, single_root: bool) -> int:
    """The moves that are allowed, as bits."""
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
def arc(state: Table, move: int) -> tuple[int, int]:
    """Head and dependent of the arc that a move adds, -1 and -1 for none."""
    if move == LEFT:
        return on_stack(state, 0), on_stack(state, 1)
    if move == RIGHT:
        return on_stack(state, 1), on_stack(state, 0)
    return -1, -1


@kernel
def apply(state: Table, move: int, label: int) -> None:
    """Carry out a move."""
    if state[PRICED, OWN1] == 0 or state[PRICES + move, OWN1] != 0:  # moves that cost nothing leave the loss as it was
        state[LOSS, OWN1] = 0
    state[PRICED, OWN1] = 0
    if move == SHIFT:
        push(state, state[FRONT, SCALAR])
        state[FRONT, SCALAR] += 1
        return
    s0 = pop(state)
    if move == RIGHT:
        attach(state, on_stack(state, 0), s0, label)
    else:
        s1 = pop(state)
        attach(state, s0, s1, label)
        push(state, s0)


@kernel
def _complete(state: Table, gold: Table, node: int) -> bool:
    """Whether no gold child of a node is still without a head."""
    child = gold[node, G_FIRST]
    while child >= 0:
        if state[child, HEAD] < 0:
            return False
        child = gold[child, G_NEXT]
    return True


@kernel
def _loss_after(state: Table, gold: Table, move: int) -> int:
    """The loss that remains after a move; the state is put back as it was."""
    head, dependent = arc(state, move)
    if move == SHIFT:
        b = state[FRONT, SCALAR]
        push(state, b)
        state[FRONT, SCALAR] = b + 1
        loss = tabular.remaining_loss(state, gold)
        pop(state)
        state[b, WHERE] = AHEAD
        state[FRONT, SCALAR] = b
        return loss
    wrong = 0 if gold[dependent, G_HEAD] == head or gold[dependent, G_HEAD] < 0 else 1
    s0 = pop(state)
    if move == LEFT:
        s1 = pop(state)
        push(state, s0)
        loss = tabular.remaining_loss(state, gold)
        pop(state)
        push(state, s1)
    else:
        loss = tabular.remaining_loss(state, gold)
    push(state, s0)
    return loss + wrong


@kernel
def cost(state: Table, gold: Table, move: int) -> int:
    """By how much a move increases the loss of a configuration."""
    if state[PRICED, OWN1] != 0:
        return state[PRICES + move, OWN1]
    return _loss_after(state, gold, move) - tabular.remaining_loss(state, gold)


@kernel
def _remaining_loss(state: Table, gold: Table) -> int:
    """The loss of a configuration apart from the wrong arcs it has; in sentences too long for tables, 0."""
    if state[LENGTH, SCALAR] > tabular.LONGEST:
        return 0
    built = tabular.wrong_arcs(state, gold)
    if state[LOSS, OWN1] == 0:
        state[LOSS, OWN1] = 1 + built + tabular.remaining_loss(state, gold)
    loss: int = state[LOSS, OWN1] - 1 - built
    return loss


@kernel
def price(state: Table, gold: Table, oracle: int) -> None:
    """Cache each move's oracle cost until the next move.

    From start to end a state is asked about one gold tree only. Costs above 0 are not always told in full: no oracle
    asks how large they are.
    """
    state[PRICED, OWN1] = 0
    if oracle == STATIC:
        return  # `canonical` says it
    remaining = _remaining_loss(state, gold) if oracle == DYNAMIC else 0
    moves = legal(state, False)
    for move in range(SHIFT, RIGHT + 1):
        if (moves >> move) & 1:
            exact = remaining > 0
            found = _loss_after(state, gold, move) - remaining if exact else cost_on_gold_path(state, gold, move)
            state[PRICES + move, OWN1] = found
    state[PRICED, OWN1] = 1


@kernel
def cost_on_gold_path(state: Table, gold: Table, move: int) -> int:
    """0 if no gold arc is lost by a move, else 1; right where those not built yet can all be built."""
    s0, s1 = on_stack(state, 0), on_stack(state, 1)
    if move == LEFT:
        return 0 if gold[s1, G_HEAD] == s0 and _complete(state, gold, s1) else 1
    if move == RIGHT:
        return 0 if gold[s0, G_HEAD] == s1 and _complete(state, gold, s0) else 1
    if gold_children_from(gold, s0, state[FRONT, SCALAR]) > 0:
        return 0
    h = gold[s0, G_HEAD]
    if h >= 0 and state[h, WHERE] == OPEN:
        return 1
    child = gold[s0, G_FIRST]
    while child >= 0:
        if state[child, WHERE] == OPEN:
            return 1
        child = gold[child, G_NEXT]
    return 0


@kernel
def canonical(state: Table, gold: Table) -> int:
    """The move of the static oracle: an arc as soon as it is gold and its dependent complete."""
    s0, s1 = on_stack(state, 0), on_stack(state, 1)
    if s1 > 0 and gold[s1, G_HEAD] == s0 and _complete(state, gold, s1):
        return LEFT
    if s1 >= 0 and gold[s0, G_HEAD] == s1 and _complete(state, gold, s0):
        return RIGHT
    return SHIFT
