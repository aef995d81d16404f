"""Features of the arcs of finished trees, for finding their relations (McDonald, Lerman & Pereira 2006).

    f(i, j, y, x):  edge (i, j), siblings of j, words between i and j, children of j, place of j below i, grandparent

A feature is a number of a group mixed with 64-bit values of words (columns of the table that a parser reads); values of
0 stand for what a word does not have and fire nothing. `side` is 0 for dependents before their head and 1 for others.
Beyond the published groups there are the tags and forms of the dependent's children: in trees that hang adpositions
and conjunctions below content words they say what the published ones found in the head.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.features.hashing import Keys, join
from weft.features.morphology import Morphology
from weft.kernel import inner_kernel

Table = NDArray[np.int32]
#: Fields that features read, by their letters; a table of words may lack any of them.
LETTERS = "wmtxabyz"
W, M, T, X, A, B, Y, Z = range(len(LETTERS))
#: Most features of an arc, and most features of one kind of which there may be any number.
MOST, MANY = 400, 24
#: Features of a pair of neighbouring labels.
PAIRS = 6
_NONE = np.uint64(0)
_ONE = np.uint64(1)


class TreeView(NamedTuple):
    """The children of every word of a sentence, left to right, and which words stand below it; one sentence a time."""

    first: Table  # children of i: kids[first[i]:first[i + 1]]
    kids: Table
    enter: Table  # number of a word in depth-first order; -1 for what ROOT does not reach
    size: Table  # words of its subtree
    order: Table
    stack: Table


def new_view(longest: int) -> TreeView:
    """Room for sentences of up to so many words.

    >>> len(new_view(4).enter)
    5
    """
    return TreeView(*(np.zeros(longest + extra, np.int32) for extra in (3, 1, 1, 1, 1, 1)))


@inner_kernel
def look_at(heads: Table, offset: int, n: int, view: TreeView) -> None:
    """Fill the view with the tree of words `offset:offset + n`."""
    first, kids, enter, size, order, stack = view
    for i in range(n + 2):
        first[i] = 0
    for i in range(n):
        first[heads[offset + i] + 2] += 1
    for i in range(2, n + 2):
        first[i] += first[i - 1]
    for i in range(n):  # counting sort: first[h + 1] runs from the beginning of h's children to their end
        head = heads[offset + i]
        kids[first[head + 1]] = i + 1
        first[head + 1] += 1
    for i in range(n + 1):
        enter[i] = -1
        size[i] = 1
    stack[0] = 0
    depth, reached = 1, 0
    while depth > 0:
        depth -= 1
        word = stack[depth]
        enter[word] = reached
        order[reached] = word
        reached += 1
        for k in range(first[word + 1] - 1, first[word] - 1, -1):
            stack[depth] = kids[k]
            depth += 1
    for at in range(reached - 1, 0, -1):
        size[heads[offset + order[at] - 1]] += size[order[at]]


@inner_kernel
def _value(words: Keys, row: int, column: int) -> np.uint64:
    return words[row, column] if column >= 0 else _NONE


@inner_kernel
def _one(out: Keys, n: int, number: int, a: np.uint64) -> int:
    out[n] = join(np.uint64(number), a)
    return n + (1 if a != _NONE else 0)


@inner_kernel
def _two(out: Keys, n: int, number: int, a: np.uint64, b: np.uint64) -> int:
    out[n] = join(join(np.uint64(number), a), b)
    return n + (1 if a != _NONE and b != _NONE else 0)


@inner_kernel
def _three(out: Keys, n: int, number: int, a: np.uint64, b: np.uint64, c: np.uint64) -> int:
    out[n] = join(join(join(np.uint64(number), a), b), c)
    return n + (1 if a != _NONE and b != _NONE and c != _NONE else 0)


@inner_kernel
def _agreeing(out: Keys, n: int, number: int, members: Morphology, one: int, other: int, extra: np.uint64) -> int:
    """The names of attributes that words `one` and `other` of the batch share, with whether their values agree."""
    offsets, values, names = members
    found = 0
    for p in range(offsets[one], offsets[one + 1]):
        for q in range(offsets[other], offsets[other + 1]):
            if names[p] == names[q] and found < MANY:
                same = _ONE if values[p] == values[q] else np.uint64(2)
                out[n] = join(join(np.uint64(number), names[p]), same)
                out[n + 1] = join(join(join(np.uint64(number + 1), names[p]), same), extra)
                n += 2
                found += 1
    return n


@inner_kernel
def arc_features(
    words: Keys, columns: NDArray[np.int64], members: Morphology, morphology: bool,
    heads: Table, offset: int, n_words: int, view: TreeView, head: int, k: int, out: Keys,
) -> int:  # fmt: skip
    """Keys of the arc from `head` to its dependent `view.kids[k]`; how many there are."""
    kids, enter = view.kids, view.enter
    begin, end = view.first[head], view.first[head + 1]
    word = kids[k]
    hr, dr = (offset + head if head > 0 else 0), offset + word
    side = 1 if word > head else 0
    s = np.uint64(1 + side)
    ht, dt = _value(words, hr, columns[T]), _value(words, dr, columns[T])
    hx, dx = _value(words, hr, columns[X]), _value(words, dr, columns[X])
    hw, dw = _value(words, hr, columns[W]), _value(words, dr, columns[W])
    hm, dm = _value(words, hr, columns[M]), _value(words, dr, columns[M])
    both = join(join(s, ht), dt)
    n = 0
    # Edge
    n = _one(out, n, 1, s)
    n = _two(out, n, 2, s, ht)
    n = _two(out, n, 3, s, dt)
    n = _one(out, n, 4, both)
    n = _two(out, n, 5, ht, dt)
    n = _two(out, n, 6, s, hw)
    n = _two(out, n, 7, s, dw)
    n = _two(out, n, 8, s, hx)
    n = _two(out, n, 9, s, dx)
    n = _three(out, n, 10, s, hx, dx)
    n = _three(out, n, 11, s, hw, dt)
    n = _three(out, n, 12, s, dw, ht)
    n = _three(out, n, 13, s, hm, dm)
    n = _two(out, n, 14, hw, dw)
    n = _three(out, n, 15, s, hm, dt)
    n = _three(out, n, 16, s, dm, ht)
    n = _two(out, n, 17, both, hx)
    n = _two(out, n, 18, both, dx)
    shared = 0
    for a in range(A, Z + 1):
        of_head, of_dependent = _value(words, hr, columns[a]), _value(words, dr, columns[a])
        n = _two(out, n, 20 + a, s, of_head)
        n = _two(out, n, 30 + a, s, of_dependent)
        n = _two(out, n, 40 + a, both, of_dependent)
        shared |= (1 if of_head == of_dependent and of_head != _NONE else 0) << (a - A)
    n = _two(out, n, 50, np.uint64(1 + shared), both)
    edges = (1 if word == 1 else 0) + (2 if word == n_words else 0)
    n = _two(out, n, 51, np.uint64(1 + edges), dt)
    # Siblings
    left = offset + kids[k - 1] if k > begin else -1
    right = offset + kids[k + 1] if k + 1 < end else -1
    for place in range(2):
        row = left if place == 0 else right
        base = 60 + 20 * place
        if row < 0:
            n = _one(out, n, base, both)
            continue
        st = _value(words, row, columns[T])
        n = _two(out, n, base + 1, s, st)
        n = _two(out, n, base + 2, dt, st)
        n = _two(out, n, base + 3, both, st)
        n = _two(out, n, base + 4, both, _value(words, row, columns[W]))
        n = _two(out, n, base + 5, dt, _value(words, row, columns[X]))
        for a in range(A, Z + 1):
            n = _two(out, n, base + 6 + a, dt, _value(words, row, columns[a]))
        if morphology:
            for p in range(members.offsets[row - 1], min(members.offsets[row], members.offsets[row - 1] + MANY)):
                n = _two(out, n, base + 16, dt, members.values[p])
    if left > 0 and right > 0:
        lt, rt = _value(words, left, columns[T]), _value(words, right, columns[T])
        n = _three(out, n, 100, dt, lt, rt)
    alike = 0
    for other in range(begin, end):
        if other != k and _value(words, offset + kids[other], columns[T]) == dt:
            alike |= 1 if other < k else 2
    n = _two(out, n, 101, np.uint64(1 + alike), both)
    # Between
    low, high = min(head, word), max(head, word)
    strangers, crossing = 0, 0
    start = n
    for i in range(low + 1, high):
        strangers |= 1 if heads[offset + i - 1] != head else 0
        crossing |= 1 if enter[i] < enter[head] or enter[i] >= enter[head] + view.size[head] else 0
        if n - start < MANY:
            tag = _value(words, offset + i, columns[T])
            key = join(join(np.uint64(102), both), tag)
            known = False
            for p in range(start, n):
                known = known or out[p] == key
            if not known:
                out[n] = key
                n += 1
    n = _two(out, n, 103, np.uint64(1 + strangers + 2 * crossing), both)
    # Place below the head, children, grandparent
    place = (1 if k == begin else 0) + (2 if k + 1 == end else 0)
    if (side == 0 and (k + 1 == end or kids[k + 1] > head)) or (side == 1 and (k == begin or kids[k - 1] < head)):
        place += 4
    n = _two(out, n, 104, np.uint64(1 + place), s)
    n = _two(out, n, 105, np.uint64(1 + place), both)
    below, above = view.first[word], view.first[word + 1]
    children = np.uint64(1 + min(above - below, 4))
    n = _two(out, n, 106, children, dt)
    n = _two(out, n, 107, children, both)
    if above > below:
        for place in range(2):
            row = offset + (kids[below] if place == 0 else kids[above - 1])
            n = _two(out, n, 110 + 5 * place, both, _value(words, row, columns[T]))
            n = _two(out, n, 111 + 5 * place, both, _value(words, row, columns[W]))
            n = _two(out, n, 112 + 5 * place, dt, _value(words, row, columns[W]))
            n = _two(out, n, 113 + 5 * place, dt, _value(words, row, columns[X]))
        start = n
        for p in range(below, min(above, below + MANY)):
            tag = _value(words, offset + kids[p], columns[T])
            key = join(join(np.uint64(120), both), tag)
            known = False
            for q in range(start, n):
                known = known or out[q] == key
            if not known:
                out[n] = key
                n += 1
    over = heads[offset + head - 1] if head > 0 else -1
    if over >= 0:
        gr = offset + over if over > 0 else 0
        n = _two(out, n, 121, both, _value(words, gr, columns[T]))
    # Morphology
    if morphology:
        for p in range(members.offsets[dr - 1], min(members.offsets[dr], members.offsets[dr - 1] + MANY)):
            n = _two(out, n, 122, s, members.values[p])
            n = _two(out, n, 123, both, members.values[p])
        if head > 0:
            for p in range(members.offsets[hr - 1], min(members.offsets[hr], members.offsets[hr - 1] + MANY)):
                n = _two(out, n, 124, s, members.values[p])
                n = _two(out, n, 125, both, members.values[p])
            n = _agreeing(out, n, 126, members, hr - 1, dr - 1, both)
            if over > 0:
                n = _agreeing(out, n, 128, members, offset + over - 1, dr - 1, dt)
    return n


@inner_kernel
def pair_features(
    words: Keys, columns: NDArray[np.int64], offset: int, view: TreeView, head: int, k: int, out: Keys
) -> None:
    """The `PAIRS` keys, never 0, that the label of `view.kids[k]` has together with the label before it."""
    word = view.kids[k]
    row = offset + head if head > 0 else 0
    ht, dt = _value(words, row, columns[T]), _value(words, offset + word, columns[T])
    s = np.uint64(3 if word < head else (4 if k == view.first[head] or view.kids[k - 1] > head else 5))
    before = _value(words, offset + view.kids[k - 1], columns[T]) if k > view.first[head] else _ONE
    out[0] = join(np.uint64(130), s)
    out[1] = join(np.uint64(131), dt)
    out[2] = join(join(np.uint64(132), ht), s)
    out[3] = join(join(join(np.uint64(133), ht), dt), s)
    out[4] = join(join(np.uint64(134), dt), before)
    out[5] = join(join(np.uint64(135), _value(words, row, columns[W])), s)
