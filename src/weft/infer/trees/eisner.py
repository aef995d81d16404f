"""The best projective trees of a batch, by charts without a forest.

First order (Eisner 1996; McDonald, Crammer & Pereira 2005), C complete and I incomplete spans, -> with the head on the
left, <- on the right:

    b       = max over s <= r < t  C->[s, r] + C<-[r + 1, t]
    I->[s, t] = b + arc(s, t)                                    I<-[s, t] = b + arc(t, s)
    C->[s, t] = max over s < r <= t  I->[s, r] + C->[r, t]       C<-[s, t] = max over s <= r < t  C<-[s, r] + I<-[r, t]

in O(n^3). Second and third order: the recurrence at the head of `weft.infer.trees.projective_forest`, with maxima in
the place of items, over the arcs of the space only: O(n^3) and, with k heads per word, O(k^2 n^2 + k^3 n).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from weft.arrays import Floats
from weft.budget import afford
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States

__all__ = ["best_first_order", "best_higher_order"]


def best_first_order(space: ArcSpace, arc: Floats, single_root: bool) -> tuple[States, Floats]:
    """The heads of all words in the best trees, and the trees' scores: minus infinity where there is none.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> best_first_order(all_arcs([0, 2]), np.array([1.5, 2, 0.5, 1]), single_root=True)
    (array([2, 0], dtype=int32), array([3.]))
    """
    heads, score = np.zeros(space.n_words, dtype=np.int32), np.zeros(len(space))
    _first_order(space.offsets, space.head, space.modifier, space.first, arc, single_root, heads, score)
    return heads, score


def best_higher_order(
    space: ArcSpace, arc: Floats, sibling: Floats | None, grand: Floats | None, single_root: bool
) -> tuple[States, Floats]:
    """The same with scores of siblings, of grand-siblings, or of both.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> best_higher_order(all_arcs([0, 2]), np.zeros(4), np.array([0, 0, 1, 2, 0.0]), None, single_root=False)
    (array([0, 1], dtype=int32), array([2.]))
    """
    for words, size, steps in _costs(space, grand is not None):
        afford(words, size, steps)
    heads, score = np.zeros(space.n_words, dtype=np.int32), np.zeros(len(space))
    none = np.zeros(0)
    _higher_order(
        space.offsets, space.head, space.modifier, space.first, space.right, space.rank, space.into, space.into_first,
        space.siblings, space.grands, arc, none if sibling is None else sibling, none if grand is None else grand,
        sibling is not None, grand is not None, single_root, heads, score,
    )  # fmt: skip
    return heads, score


def _costs(space: ArcSpace, with_grand: bool) -> Iterator[tuple[int, int, int]]:
    """The words, bytes and steps of every sentence in `_higher_order`."""
    for s, (root, end) in enumerate(pairwise(space.node_offsets.tolist())):
        n = int(space.offsets[s + 1] - space.offsets[s])
        low, high = int(space.first[root]), int(space.first[end])
        arcs, siblings = high - low, int(space.siblings[high] - space.siblings[low])
        if with_grand:
            grand_arcs = int(space.grand_arcs[end] - space.grand_arcs[root])
            grands = int(space.grands[end] - space.grands[root])
            yield n, 8 * arcs * (n + 1) + 12 * grand_arcs + 8 * siblings, grands + n * (grand_arcs + siblings) // 3
        else:
            yield n, 24 * (n + 1) ** 2 + 12 * arcs, siblings + n**3 // 3


@kernel
def _first_order(
    offsets: Indices, head: States, modifier: States, first_arc: Indices, arc: Floats, single_root: bool,
    heads: States, score: Floats,
) -> None:  # fmt: skip
    longest = 0
    for sentence in range(len(score)):
        longest = max(longest, offsets[sentence + 1] - offsets[sentence])
    room = (longest + 1) * (longest + 1)
    floats, splits = np.empty((4, room)), np.empty((3, room), dtype=np.int32)
    waiting = np.empty((2 * longest + 2, 3), dtype=np.int32)
    for sentence in range(len(score)):
        n, root = offsets[sentence + 1] - offsets[sentence], offsets[sentence] + sentence
        shape, cells = (n + 1, n + 1), (n + 1) * (n + 1)
        # Spans of both directions in both orders of their ends, so that every loop below runs along rows.
        weight, open_ = floats[0, :cells].reshape(shape), floats[1, :cells].reshape(shape)
        right, left = floats[2, :cells].reshape(shape), floats[3, :cells].reshape(shape)
        meet, to_right = splits[0, :cells].reshape(shape), splits[1, :cells].reshape(shape)
        to_left = splits[2, :cells].reshape(shape)
        weight[:] = -np.inf
        for a in range(first_arc[root], first_arc[root + n + 1]):
            weight[head[a], modifier[a]] = arc[a]
        for s in range(n + 1):
            right[s, s], left[s, s] = 0.0, 0.0
        for width in range(1, n + 1):
            for s in range(n + 1 - width):
                t = s + width
                top, at = -np.inf, s
                for r in range(s, 1 if single_root and s == 0 else t):
                    total = right[s, r] + left[t, r + 1]
                    if total > top:
                        top, at = total, r
                meet[s, t] = at
                open_[s, t], open_[t, s] = top + weight[s, t], top + weight[t, s]
                top, at = -np.inf, t
                for r in range(s + 1, t + 1):
                    total = open_[s, r] + right[t, r]
                    if total > top:
                        top, at = total, r
                right[s, t], right[t, s], to_right[s, t] = top, top, at
                top, at = -np.inf, s
                for r in range(s, t):
                    total = left[s, r] + open_[t, r]
                    if total > top:
                        top, at = total, r
                left[s, t], left[t, s], to_left[s, t] = top, top, at
        score[sentence] = right[0, n]
        if score[sentence] > -np.inf:
            _trace_first_order(n, meet, to_right, to_left, waiting, heads, offsets[sentence])


@inner_kernel
def _trace_first_order(
    n: int, meet: States, to_right: States, to_left: States, waiting: States, heads: States, begin: int
) -> None:
    """Read the heads off the splits of complete spans; the third number of a span: whether its head is on the left."""
    waiting[0, 0], waiting[0, 1], waiting[0, 2], height = 0, n, 1, 1
    while height > 0:
        height -= 1
        s, t, rightward = waiting[height, 0], waiting[height, 1], waiting[height, 2]
        while s < t:
            r = to_right[s, t] if rightward else to_left[s, t]
            # The arc between the head and r, the words under it, then what r has beyond.
            low, high = (s, r) if rightward else (r, t)
            heads[begin + r - 1] = s if rightward else t
            middle = meet[low, high]
            waiting[height, 0], waiting[height, 1], waiting[height, 2] = low, middle, 1
            waiting[height + 1, 0], waiting[height + 1, 1], waiting[height + 1, 2] = middle + 1, high, 0
            height += 2
            if rightward:
                s = r
            else:
                t = r


@inner_kernel
def _meet(complete: Floats, q: int, s: int, p: int, t: int) -> tuple[float, int]:
    """The best place to part the words from s, seat q, to t, seat p."""
    top, at = -np.inf, s
    for r in range(s, t):
        total = complete[q, r] + complete[p, r + 1]
        if total > top:
            top, at = total, r
    return top, at


@inner_kernel
def _outermost(
    complete: Floats, incomplete: Floats, begin: int, h: int, end: int, low: int, with_grand: bool,
    modifier: States, first: int, right: int, last: int,
) -> tuple[float, int]:  # fmt: skip
    """The best arc from h to its outermost child as far as `end`; h has arcs first:last, those to the right at `right`,
    and its seat has incomplete spans from `begin`."""
    top, at = -np.inf, -1
    for a in range(right if end > h else first, last if end > h else right):
        if (modifier[a] > end) if end > h else (modifier[a] < end):
            break
        total = incomplete[begin + a - first] + complete[1 + a - low if with_grand else modifier[a], end]
        if total > top:
            top, at = total, a
    return top, at


@kernel
def _higher_order(
    offsets: Indices, head: States, modifier: States, first_arc: Indices, right: Indices, rank: States,
    into: Indices, into_first: Indices, siblings: Indices, grands: Indices, arc: Floats, sibling: Floats, grand: Floats,
    with_sibling: bool, with_grand: bool, single_root: bool, heads: States, score: Floats,
) -> None:  # fmt: skip
    for sentence in range(len(score)):
        n, root = offsets[sentence + 1] - offsets[sentence], offsets[sentence] + sentence
        low, high = first_arc[root], first_arc[root + n + 1]
        order = np.argsort(np.abs(modifier[low:high] - head[low:high]))
        n_seats = 1 + high - low if with_grand else n + 1
        complete = np.full((n_seats, n + 1), -np.inf)
        start = np.zeros(n_seats + 1, dtype=np.int64)
        for q in range(n_seats):
            h = modifier[low + q - 1] if with_grand and q > 0 else q
            complete[q, h] = 0.0
            start[q + 1] = start[q] + first_arc[root + h + 1] - first_arc[root + h]
        incomplete = np.full(start[n_seats], -np.inf)
        chosen = np.empty(start[n_seats], dtype=np.int32)
        beside = np.full(siblings[high] - siblings[low] if with_grand else (n + 1) * (n + 1), np.nan)
        at = 0
        for width in range(1, n + 1):
            while at < high - low and abs(modifier[low + order[at]] - head[low + order[at]]) == width:
                a = low + order[at]
                at += 1
                if arc[a] == -np.inf:
                    continue
                h, m = head[a], modifier[a]
                v, step = root + h, 1 if m > h else -1
                n_inner = 0 if h == 0 and single_root else rank[a]
                nearest, own = a - rank[a], 1 + a - low if with_grand else m
                inner = complete[own, h + step]
                for j in range(n_inner):
                    s = modifier[nearest + j]
                    place = siblings[a] + 1 + j - siblings[low] if with_grand else m * (n + 1) + s
                    if np.isnan(beside[place]):
                        other = 1 + nearest + j - low if with_grand else s
                        if s < m:
                            beside[place] = _meet(complete, other, s, own, m)[0]
                        else:
                            beside[place] = _meet(complete, own, m, other, s)[0]
                        if not with_grand:
                            beside[s * (n + 1) + m] = beside[place]
                row = siblings[a] + 1 - siblings[low] if with_grand else 0
                block = siblings[first_arc[v + 1]] - siblings[first_arc[v]]
                for above in range(into_first[v + 1] - into_first[v] if with_grand and h > 0 else 1):
                    q = h
                    if with_grand and h > 0:
                        q = 1 + into[into_first[v] + above] - low
                    part = siblings[a]
                    number = grands[v] + above * block + part - siblings[first_arc[v]] if with_grand else 0
                    top, best = inner, -1
                    if with_sibling:
                        top += sibling[part]
                    if with_grand:
                        top += grand[number]
                    before = start[q] + nearest - first_arc[v]
                    for j in range(n_inner):
                        place = row + j if with_grand else m * (n + 1) + modifier[nearest + j]
                        total = incomplete[before + j] + beside[place]
                        if with_sibling:
                            total += sibling[part + 1 + j]
                        if with_grand:
                            total += grand[number + 1 + j]
                        if total > top:
                            top, best = total, j
                    incomplete[before + rank[a]] = top + arc[a]
                    chosen[before + rank[a]] = best
            for q in range(n_seats):
                h = modifier[low + q - 1] if with_grand and q > 0 else q
                v = root + h
                for step in range(-1, 2, 2):
                    end = h + step * width
                    if 1 <= end <= n and (q > 0 or end == n):
                        complete[q, end] = _outermost(
                            complete, incomplete, start[q], h, end, low, with_grand,
                            modifier, first_arc[v], right[v], first_arc[v + 1],
                        )[0]  # fmt: skip
        score[sentence] = complete[0, n]
        if score[sentence] > -np.inf:
            _trace_higher_order(
                n, root, offsets[sentence], low, with_grand, complete, incomplete, chosen, start, head, modifier,
                first_arc, right, rank, np.empty((2 * n + 2, 2), dtype=np.int64), heads,
            )  # fmt: skip


@inner_kernel
def _trace_higher_order(
    n: int, root: int, begin: int, low: int, with_grand: bool, complete: Floats, incomplete: Floats, chosen: States,
    start: Indices, head: States, modifier: States, first_arc: Indices, right: Indices, rank: States,
    waiting: Indices, heads: States,
) -> None:  # fmt: skip
    """Read the heads off the chart; complete spans wait, each a seat and an end."""
    waiting[0, 0], waiting[0, 1], height = 0, n, 1
    while height > 0:
        height -= 1
        q, end = waiting[height, 0], waiting[height, 1]
        h = modifier[low + q - 1] if with_grand and q > 0 else q
        if h == end:
            continue
        v, step = root + h, 1 if end > h else -1
        a = _outermost(
            complete, incomplete, start[q], h, end, low, with_grand,
            modifier, first_arc[v], right[v], first_arc[v + 1],
        )[1]  # fmt: skip
        waiting[height, 0], waiting[height, 1] = 1 + a - low if with_grand else modifier[a], end
        height += 1
        while a >= 0:  # from the outermost child inwards
            m, own = modifier[a], 1 + a - low if with_grand else modifier[a]
            heads[begin + m - 1] = h
            j = chosen[start[q] + a - first_arc[v]]
            if j < 0:
                waiting[height, 0], waiting[height, 1] = own, h + step
                height += 1
                break
            b = a - rank[a] + j
            s, other = modifier[b], 1 + b - low if with_grand else modifier[b]
            if s < m:
                r = _meet(complete, other, s, own, m)[1]
                waiting[height, 0], waiting[height, 1] = other, r
                waiting[height + 1, 0], waiting[height + 1, 1] = own, r + 1
            else:
                r = _meet(complete, own, m, other, s)[1]
                waiting[height, 0], waiting[height, 1] = own, r
                waiting[height + 1, 0], waiting[height + 1, 1] = other, r + 1
            height += 2
            a = b
