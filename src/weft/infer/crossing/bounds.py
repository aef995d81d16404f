"""Which edges may be crossed in a tree that is better than the best projective one.

With u_m the best score of any part of an edge into m, no tree that has the crossed edges h -> m and i -> j scores above

    sum over words of u  -  (u_m - crossed(h, m))  -  (u_j - crossed(i, j))

and a crossed edge is crossed by another. Where that is less than the best projective tree for every edge that crosses
h -> m, this edge is never crossed in the best tree; where it is so for all edges of a sentence, the projective tree is
the best. What is left out changes no answer. With a single root u_m is that of words as heads, and the root adds the
most that it does anywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.kernel import kernel
from weft.ragged import Indices, States

#: Sums of scores in another order differ by less.
SLACK = 1e-9


@kernel
def forbid_crossings(
    offsets: Indices, head: States, modifier: States, first: Indices, siblings: Indices, grand_arcs: Indices,
    grands: Indices, crossed: Floats, edge: Floats, sibling: Floats, grand_arc: Floats, grand: Floats,
    single_root: bool, least: Floats, possible: Floats, asked: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write into `possible` the scores of crossed edges, no score for those that the best tree has not; and `asked`,
    whether a sentence has any. `least` are scores of trees; the other arrays are those of `ArcSpace`."""
    best = np.maximum(crossed, edge)
    for v in range(len(first) - 1):
        at, part = grand_arcs[v], grands[v]
        while at < grand_arcs[v + 1]:
            for a in range(first[v], first[v + 1]):
                top = max(best[a], grand_arc[at])
                for i in range(siblings[a + 1] - siblings[a]):
                    top = max(top, grand[part + i])
                best[a] = top
                part += siblings[a + 1] - siblings[a]
                at += 1
        for a in range(first[v], first[v + 1]):
            for i in range(siblings[a], siblings[a + 1]):
                best[a] = max(best[a], sibling[i])
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    of_word, of_root = np.empty(longest + 1), np.empty(longest + 1)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        a0, a1 = first[offsets[s] + s], first[offsets[s + 1] + s + 1]
        of_word[:], of_root[:] = -np.inf, -np.inf
        for a in range(a0, a1):
            place = of_root if head[a] == 0 else of_word
            place[modifier[a]] = max(place[modifier[a]], best[a])
        root = 0.0
        if single_root and n > 1 and of_word[1 : n + 1].min() > -np.inf:
            root = (of_root[1 : n + 1] - of_word[1 : n + 1]).max()
        else:
            of_word = np.maximum(of_word, of_root)
        spare = of_word[1 : n + 1].sum() + root - least[s] + SLACK
        asked[s] = _forbid(head[a0:a1], modifier[a0:a1], crossed[a0:a1], of_word, root, spare, possible[a0:a1])


@kernel
def _forbid(
    head: States, modifier: States, crossed: Floats, of_word: Floats, root: float, spare: float, possible: Floats
) -> bool:
    """For one sentence, what `spare` is above the tree that is there."""
    loss = np.empty(len(head))
    for a in range(len(head)):
        loss[a] = of_word[modifier[a]] - crossed[a] + (root if head[a] == 0 else 0.0)
        possible[a] = crossed[a]
    some, changed = False, True
    while changed:
        some, changed = False, False
        for a in range(len(head)):
            if possible[a] == -np.inf:
                continue
            low, high = min(head[a], modifier[a]), max(head[a], modifier[a])
            nearest = np.inf
            for b in range(len(head)):
                if loss[b] < nearest and possible[b] > -np.inf and modifier[b] != modifier[a]:
                    left, right = min(head[b], modifier[b]), max(head[b], modifier[b])
                    if low < left < high < right or left < low < right < high:
                        nearest = loss[b]
            if loss[a] + nearest <= spare:
                some = True
            else:
                possible[a] = -np.inf
                changed = True
    return some
