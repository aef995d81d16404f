"""Covington's two systems (Covington 2001; Nivre 2008): every pair of words is looked at, nearest first.

A configuration has the words to the left of the front in two lists: l1, those still to be compared with the front, and
l2, those passed over. i is the last word of l1, j the front of the buffer, and ROOT stands after the last word.

    start     ([], [], w1 ... wn ROOT)                  end  ROOT in front, and every word has a head
    SHIFT     (l1,   l2, j|B) -> (l1.l2.j, [],   B)                 j is not ROOT
    REDUCE    (l1.i, l2, j|B) -> (l1,      i.l2, j|B)               NO-ARC of the papers
    LEFT_l    (l1.i, l2, j|B) -> (l1,      i.l2, j|B) + j -l-> i    i has no head
    RIGHT_l   (l1.i, l2, j|B) -> (l1,      i.l2, j|B) + i -l-> j    j has no head

*Non-projective*: arcs must not close a cycle; any tree can be built, in a quadratic number of moves. *Projective*: i is
passed over only if it has a head; LEFT takes i and l2 out of both lists, RIGHT takes l2 out and leaves only SHIFT.

When ROOT is in front, the words without a head are gone through from right to left: LEFT makes one a child of ROOT.
With a single root, RIGHT attaches it to the root, or to the next word without a head if there is no root yet.

The cost of a move is that of Gómez-Rodríguez & Fernández-González (2015): a gold arc can still be built iff its
dependent has no head, its pair was not passed, both ends are in the lists, and it closes no cycle; where the arcs built
and those that can be built contain cycles, each of them costs one more. Arcs that RIGHT builds at the end are not
foreseen, nor that a single root leaves no room for the gold one.
"""

from __future__ import annotations

from weft.infer.transitions.state import (
    DONE,
    FRONT,
    G_FIRST,
    G_HEAD,
    G_NEXT,
    HEAD,
    LEFT,
    LENGTH,
    OPEN,
    OWN1,
    PREV,
    REDUCE,
    RIGHT,
    SCALAR,
    SHIFT,
    WHERE,
    Table,
    attach,
    clear,
)
from weft.kernel import kernel

#: Rows of the column SCALAR: the last word of l1 and the last word of both lists, 0 for none.
POINTER, TOP = 4, 5


@kernel
def start(state: Table, n: int) -> None:
    """All words in the buffer."""
    clear(state, n)
    for node in range(n + 1):
        state[node, PREV] = 0


@kernel
def finished(state: Table) -> bool:
    """ROOT is in front and every word has a head."""
    return state[FRONT, SCALAR] > state[LENGTH, SCALAR] and state[POINTER, SCALAR] == 0


@kernel
def _headless(state: Table, node: int) -> int:
    """The first word without a head from `node` on, through the lists to the left; 0 for none."""
    while node > 0 and state[node, HEAD] >= 0:
        node = state[node, PREV]
    return node


@kernel
def _root(state: Table) -> int:
    """The last word that is a child of ROOT, 0 for none."""
    for node in range(state[LENGTH, SCALAR], 0, -1):
        if state[node, HEAD] == 0:
            return node
    return 0


@kernel
def _dominates(state: Table, above: int, node: int) -> bool:
    """Whether a word is another one or an ancestor of it."""
    while node > 0:
        if node == above:
            return True
        node = state[node, HEAD]
    return False


@kernel
def legal(state: Table, projective: bool, single_root: bool) -> int:
    """The moves that are allowed, as bits."""
    i, j = state[POINTER, SCALAR], state[FRONT, SCALAR]
    if j > state[LENGTH, SCALAR]:
        root = _root(state)
        moves = 0
        if root == 0 or not single_root:
            moves |= 1 << LEFT
        if single_root and (root > 0 or _headless(state, state[i, PREV]) > 0):
            moves |= 1 << RIGHT
        return moves
    moves = 1 << SHIFT
    if i > 0:
        if not projective or state[i, HEAD] >= 0:
            moves |= 1 << REDUCE
        if state[i, HEAD] < 0 and (projective or not _dominates(state, i, j)):
            moves |= 1 << LEFT
        if state[j, HEAD] < 0 and (projective or not _dominates(state, j, i)):
            moves |= 1 << RIGHT
    return moves


@kernel
def arc(state: Table, move: int) -> tuple[int, int]:
    """Head and dependent of the arc that a move adds, -1 and -1 for none."""
    i, j = state[POINTER, SCALAR], state[FRONT, SCALAR]
    at_end = j > state[LENGTH, SCALAR]
    if move == LEFT:
        return (0 if at_end else j), i
    if move == RIGHT:
        if not at_end:
            return i, j
        root = _root(state)
        return (root if root > 0 else _headless(state, state[i, PREV])), i
    return -1, -1


@kernel
def apply(state: Table, projective: bool, move: int, label: int) -> None:
    """Carry out a move."""
    i, j, n = state[POINTER, SCALAR], state[FRONT, SCALAR], state[LENGTH, SCALAR]
    if move == SHIFT:
        state[j, PREV] = state[TOP, SCALAR]
        state[j, WHERE] = OPEN
        state[TOP, SCALAR] = j
        state[FRONT, SCALAR] = j + 1
        state[POINTER, SCALAR] = j if j < n else _headless(state, j)
        return
    before = state[i, PREV]
    if move in (LEFT, RIGHT):
        head, dependent = arc(state, move)
        attach(state, head, dependent, label)
        if j > n:
            state[POINTER, SCALAR] = _headless(state, before)
            return
        if projective:
            top = before if move == LEFT else i
            node = state[TOP, SCALAR]
            while node > top:
                state[node, WHERE] = DONE
                node = state[node, PREV]
            state[TOP, SCALAR] = top
            if move == RIGHT:
                before = 0
    state[POINTER, SCALAR] = before


@kernel
def _reachable(state: Table, head: int, dependent: int, i: int, j: int, top: int, projective: bool) -> bool:
    """Whether an arc to a word without a head can still be built, were i, j and the last word of the lists these."""
    if head == 0:
        return True
    low, high = min(head, dependent), max(head, dependent)
    if high < j or (high == j and low > i):
        return False
    if low < j and not (state[low, WHERE] != DONE and low <= top):
        return False
    return projective or not _dominates(state, dependent, head)


@kernel
def loss(state: Table, gold: Table, i: int, j: int, top: int, projective: bool) -> int:
    """Gold arcs that are not built and cannot be built together with the others."""
    n = state[LENGTH, SCALAR]
    lost = 0
    # The column OWN1 holds the heads of the arcs built and of those that can be built.
    for node in range(1, n + 1):
        own, right = state[node, HEAD], gold[node, G_HEAD]
        state[node, OWN1] = own
        if right < 0 or own == right:
            continue
        if own < 0 and _reachable(state, right, node, i, j, top, projective):
            state[node, OWN1] = right
        else:
            lost += 1
    return lost if projective else lost + _cycles(state, n)


@kernel
def _cycles(state: Table, n: int) -> int:
    """How many cycles the heads in the column OWN1 have; words that were walked through become children of ROOT."""
    count = 0
    for node in range(1, n + 1):
        slow = fast = node
        while fast > 0 and state[fast, OWN1] > 0:
            slow = state[slow, OWN1]
            fast = state[state[fast, OWN1], OWN1]
            if slow == fast:
                count += 1
                break
        at = node
        while at > 0:
            following = state[at, OWN1]
            state[at, OWN1] = 0
            at = following
    return count


@kernel
def cost(state: Table, gold: Table, projective: bool, move: int) -> int:
    """How many more gold arcs are lost after a move."""
    i, j, n, top = state[POINTER, SCALAR], state[FRONT, SCALAR], state[LENGTH, SCALAR], state[TOP, SCALAR]
    head, dependent = arc(state, move)
    if j > n:
        right = gold[dependent, G_HEAD]
        if head == right or right < 0:
            return 0
        if right == 0:
            return 1
        child = gold[0, G_FIRST]
        while move == LEFT and child >= 0:
            if child != dependent and state[child, HEAD] < 0:
                return 1
            child = gold[child, G_NEXT]
        return 0
    now = loss(state, gold, i, j, top, projective)
    if move == SHIFT:
        where = state[j, WHERE]
        state[j, WHERE] = OPEN
        after = loss(state, gold, j, j + 1, j, projective)
        state[j, WHERE] = where
        return after - now
    before = state[i, PREV]
    if move == REDUCE:
        return loss(state, gold, before, j, top, projective) - now
    if projective:
        top = before if move == LEFT else i
        if move == RIGHT:
            before = 0
    state[dependent, HEAD] = head
    after = loss(state, gold, before, j, top, projective)
    state[dependent, HEAD] = -1
    return after - now


@kernel
def canonical(state: Table, gold: Table, projective: bool) -> int:
    """The move of the static oracle: arcs as soon as their pair is looked at, and no pair more than needed."""
    i, j = state[POINTER, SCALAR], state[FRONT, SCALAR]
    if j > state[LENGTH, SCALAR]:
        return LEFT
    if i == 0:
        return SHIFT
    if gold[i, G_HEAD] == j and state[i, HEAD] < 0:
        return LEFT
    if gold[j, G_HEAD] == i and state[j, HEAD] < 0:
        return RIGHT
    wanted = state[j, HEAD] < 0 and 0 < gold[j, G_HEAD] < i
    child = gold[j, G_FIRST]
    while not wanted and 0 <= child < i:
        wanted = state[child, HEAD] < 0
        child = gold[child, G_NEXT]
    return REDUCE if wanted and (not projective or state[i, HEAD] >= 0) else SHIFT


@kernel
def bases(state: Table, out: Table) -> None:
    """The last words of l1, the first of the buffer, and the ends of l2: S0 to S3, N0 to N3, C0 and C1."""
    i, j, n = state[POINTER, SCALAR], state[FRONT, SCALAR], state[LENGTH, SCALAR]
    node = i
    for depth in range(4):
        out[depth] = node if node > 0 else -1
        node = state[node, PREV] if node > 0 else 0
    for k in range(4):
        out[4 + k] = j + k if j + k <= n else -1
    if j + 3 > n:
        out[4 + max(0, n + 1 - j)] = 0
    passed = i > 0 and i + 1 < j and j <= n
    out[8] = i + 1 if passed else -1
    out[9] = j - 1 if passed else -1
