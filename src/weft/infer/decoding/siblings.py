"""The events of a dependency language model (Shen et al. 2008): every child, given its head and the sibling before it.

Children of a head are numbered from the head outwards, on either side, so that for a tree

    P = P(root) * product over heads h of  prod_i P_L(L_i | L_i-1, h)  prod_i P_R(R_i | R_i-1, h)

With stops, which the paper does not have, the end of the children on either side is an event as well, given the
outermost child; without them nothing speaks against further children of a head.

P_L and P_R are n-gram automata over (sibling, head, child), which back off by leaving out the sibling first. There the
beginning of a sentence stands for no sibling, and its end for the head of the root, which P_L predicts, and for the end
of children.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Heads, Ids
from weft.infer.decoding.backoff import advance, shortened
from weft.infer.decoding.ngrams import Automaton
from weft.kernel import inner_kernel, kernel

#: Words of the automata that stand for no sibling, for the head of the root, and for the end of children.
NO_SIBLING, ROOT_HEAD, STOP = 1, 2, 2
_LN10 = float(np.log(10.0))


@inner_kernel
def event(automaton: Automaton, sibling: int, head: int, child: int) -> float:
    """The logarithm of a child's probability after a sibling, -1 for none."""
    before = NO_SIBLING if sibling < 0 else sibling
    state = shortened(automaton.first, automaton.suffix, automaton.backoff, 1 + before)
    _, state = advance(
        automaton.first, automaton.words, automaton.suffix, automaton.logp, automaton.backoff, state, head
    )
    score, _ = advance(
        automaton.first, automaton.words, automaton.suffix, automaton.logp, automaton.backoff, state, child
    )
    return score * _LN10


def tree_events(words: Ids, heads: Heads, stops: bool = False) -> tuple[Ids, Ids]:
    """The events of a tree, rows of sibling, head and child: those to the left, with the root's, and to the right.

    >>> left, right = tree_events(np.array([7, 8, 9]), np.array([2, 0, 2]))
    >>> left.tolist(), right.tolist()
    ([[1, 8, 7], [1, 2, 8]], [[1, 8, 9]])
    """
    n = len(heads)
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    nearest: dict[tuple[int, int], int] = {}
    for side, order in ((0, range(n - 1, -1, -1)), (1, range(n))):
        for m in order:
            head = int(heads[m]) - 1
            if head >= 0 and (m < head) == (side == 0):
                before = nearest.get((side, head), NO_SIBLING)
                sides[side].append([before, int(words[head]), int(words[m])])
                nearest[side, head] = int(words[m])
    if stops:
        for head in range(n):
            for side in (0, 1):
                sides[side].append([nearest.get((side, head), NO_SIBLING), int(words[head]), STOP])
    sides[0].extend([NO_SIBLING, ROOT_HEAD, int(words[m])] for m in range(n) if heads[m] == 0)
    left, right = (np.array(rows, np.int32).reshape(-1, 3) for rows in sides)
    return left, right


@kernel
def event_scores(automaton: Automaton, rows: Ids, found: np.ndarray) -> None:
    """The scores of events, rows of sibling, head and child."""
    for i in range(len(rows)):
        sibling = -1 if rows[i, 0] == NO_SIBLING else int(rows[i, 0])
        found[i] = event(automaton, sibling, int(rows[i, 1]), int(rows[i, 2]))
