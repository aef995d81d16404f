"""Arc-eager with a move that takes words back: speech repairs are struck out while parsing (Honnibal & Johnson 2014).

    start     ([], w1 ... wn ROOT, {}, {})             end  ([], ROOT, A, D)
    SHIFT, LEFT_l, RIGHT_l, REDUCE                     as in arc-eager
    EDIT      (S|i, j|B, A, D) -> (S|x1...xk, j|B, A', D + [i, e))

A are the arcs and D the words that are struck out. e is the left edge of j: the words of [i, e) are i, its descendants
on the right and words struck out before; those after e attach to j and stay. A' is A without all arcs from and to the
words of [i, e); x1 ... xk are the former children of i on its left, which come back to the stack without a head. A word
that is struck out is its own head, in states as in gold tables, so that no arc ever touches it.

Oracle. Let dis(w) say that w is struck out in the gold analysis, and V be the words that the stack still offers: those
on it that are not dis, and the left children of those that are, looked for through dis(w) all the way down. Where the
gold analysis can be reached, it still can after

    SHIFT     iff dis(b), or neither the head of b nor a child of b is in V
    LEFT_l    iff dis(b), or b is the gold head of s (and s is not dis)
    RIGHT_l   iff dis(b), or s is the gold head of b (and s is not dis)
    REDUCE    iff s has no gold child in the buffer; if dis(s): iff its head is dis and all below it on the left is
    EDIT      iff dis(s)

so that wrong arcs to words that will be struck out cost nothing. `cost` is 0 or 1 by these rules; it is exact where the
gold analysis is within reach, which is all that training along correct computations asks.

Every EDIT strikes out a word, so that computations end. Words come back at most 2 n + 10 times in all, which keeps them
as short as O(n) where the paper's may take O(n^2) moves.
"""

from __future__ import annotations

from weft.infer.transitions.arc_eager import apply as apply_plain
from weft.infer.transitions.arc_eager import arc, finished, front, start
from weft.infer.transitions.arc_eager import legal as legal_plain
from weft.infer.transitions.state import (
    AHEAD,
    EDIT,
    FRONT,
    G_FIRST,
    G_HEAD,
    G_NEXT,
    HEAD,
    HEADLESS,
    L1,
    L2,
    LABEL,
    LE,
    LEFT,
    LENGTH,
    LS,
    LV,
    OPEN,
    OWN1,
    R1,
    R2,
    RE,
    REDUCE,
    RIGHT,
    RS,
    RV,
    SCALAR,
    WHERE,
    Table,
    gold_children_from,
    label_bit,
    on_stack,
    pop,
    push,
)
from weft.kernel import kernel

__all__ = ["apply", "arc", "cost", "finished", "is_struck", "legal", "start"]

#: A computation has at most STEPS[0] * n + STEPS[1] moves: n words enter, and what enters or comes back leaves.
STEPS = (4, 10)
_RETURNED = 0  # row of OWN1 that counts the words that came back


@kernel
def is_struck(table: Table, word: int) -> bool:
    """Whether a word is struck out: in a state as in a gold table, it is its own head then."""
    return word > 0 and table[word, HEAD] == word


@kernel
def left_edge(state: Table) -> int:
    """The first word that attaches to the front of the buffer, the front itself if none does."""
    b = front(state)
    if b > 0:
        return state[b, LE]
    # ROOT has number 0: its children are kept as those on its right, the outermost of them is the last one attached.
    leftmost = state[0, R1]
    return state[leftmost, LE] if leftmost >= 0 else state[LENGTH, SCALAR] + 1


@kernel
def legal(state: Table, single_root: bool) -> int:
    """The moves that are allowed, as bits."""
    moves = legal_plain(state, single_root)
    s, n = on_stack(state, 0), state[LENGTH, SCALAR]
    if s < 0 or state[_RETURNED, OWN1] + state[s, LV] > 2 * n + 10:
        return moves
    if single_root and state[FRONT, SCALAR] > n:
        # What is left on the stack has to be one word for ROOT and words with heads.
        headless = state[HEADLESS, SCALAR] + state[s, LV] - (1 if state[s, HEAD] < 0 else 0)
        if headless != 1:
            return moves
    return moves | 1 << EDIT


@kernel
def apply(state: Table, move: int, label: int) -> None:
    """Carry out a move."""
    if move == EDIT:
        _edit(state)
    else:
        apply_plain(state, move, label)


@kernel
def _edit(state: Table) -> None:
    edge = left_edge(state)
    i = pop(state)
    head = state[i, HEAD]
    if head < 0:
        state[HEADLESS, SCALAR] -= 1
    first_left = state[i, LE]
    for word in range(i, edge):
        _strike(state, word)
    if head >= 0:
        _forget_right_child(state, head, i)
    for word in range(first_left, i):
        if state[word, HEAD] == i:
            state[word, HEAD] = state[word, LABEL] = -1
            push(state, word)
            state[HEADLESS, SCALAR] += 1
            state[_RETURNED, OWN1] += 1


@kernel
def _strike(state: Table, word: int) -> None:
    state[word, HEAD], state[word, LABEL] = word, -1
    state[word, L1] = state[word, L2] = state[word, R1] = state[word, R2] = -1
    state[word, LV] = state[word, RV] = state[word, LS] = state[word, RS] = 0
    state[word, LE] = state[word, RE] = word


@kernel
def _forget_right_child(state: Table, head: int, child: int) -> None:
    """Take the outermost child on the right from its head."""
    state[head, R1] = state[head, R2] = -1
    state[head, RV] = state[head, RS] = 0
    state[head, RE] = head
    for word in range(head + 1, child):
        if state[word, HEAD] == head:
            state[head, R2] = state[head, R1]
            state[head, R1] = word
            state[head, RV] += 1
            state[head, RS] |= label_bit(state[word, LABEL])
            state[head, RE] = state[word, RE]


@kernel
def _offered(state: Table, gold: Table, word: int) -> bool:
    """Whether a word that is not to be struck out is in V: on the stack, or below words on it that will be."""
    if is_struck(gold, word):
        return False
    while state[word, WHERE] != OPEN:
        head = state[word, HEAD]
        if head <= word or not is_struck(gold, head) or state[head, WHERE] == AHEAD:
            return False
        word = head
    return True


@kernel
def cost(state: Table, gold: Table, move: int) -> int:
    """0 if the gold analysis stays within reach, else 1; see the rules above."""
    s, b = on_stack(state, 0), front(state)
    if move == EDIT:
        return 0 if is_struck(gold, s) else 1
    if move == REDUCE:
        if is_struck(gold, s):
            return 0 if is_struck(gold, state[s, HEAD]) and not _keeps_words(state, gold, s) else 1
        return 1 if gold_children_from(gold, s, state[FRONT, SCALAR]) > 0 else 0
    if is_struck(gold, b):
        return 0
    if move == LEFT:
        return 0 if gold[s, G_HEAD] == b else 1
    if move == RIGHT:
        return 0 if gold[b, G_HEAD] == s else 1
    head = gold[b, G_HEAD]
    if head > 0 and _offered(state, gold, head):
        return 1
    child = gold[b, G_FIRST]
    while child >= 0 and child < b:
        if _offered(state, gold, child):
            return 1
        child = gold[child, G_NEXT]
    return 0


@kernel
def _keeps_words(state: Table, gold: Table, s: int) -> bool:
    """Whether a word that is not to be struck out hangs below s on its left."""
    for word in range(state[s, LE], s):  # noqa: SIM110
        if not is_struck(gold, word):
            return True
    return False
