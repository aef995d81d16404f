"""Projective trees of a sentence as a packed forest, with scores up to grand-siblings and tri-siblings.

The chart is the second-order Eisner chart over *seats*. A seat is a word that has all it needs to know of its head:
without grand-siblings the word itself, with them an arc into it (and ROOT). For a seat q at the word h

    complete    C(q, e)    h and all words from it to e, which are below it
    incomplete  I(q, a)    the words from h to its child m by the arc a, which is the outermost so far
    siblings    S(b, a)    the words from s to m, neighbouring children of h by the arcs b and a

    C(q, e) = max over a to m within h..e          I(q, a) + C(seat of a, e)
    I(q, a) = max over b to s between h and m      I(q, b) + S(b, a) + score(q, a, b)   or, the first child of its side,
                                                   C(seat of a, the word next to h) + score(q, a, none)
    S(b, a) = max over r from s to m - 1           C(seat of b, r) + C(seat of a, r + 1)

and with tri-siblings I(q, a) is the maximum of items that also know b. The tree is C(ROOT, n); with a single root ROOT
has only first children. Every tree has one derivation. With n words and k heads for each there are O(n^3) hyperedges
without grand-siblings and O(k^2 n^2 + k^3 n) with them, times k with tri-siblings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats
from weft.budget import afford
from weft.infer.forests.forest import Forest
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States

__all__ = ["TreeForest", "tree_forest"]

#: Steps to make a hyperedge and to pass over it a few times.
STEPS = 8
#: In place of items: of spans of one word, which need no hyperedge; that cannot be made; not looked for yet.
_TRIVIAL, _DEAD, _UNKNOWN = -1, -2, -3


@dataclass(frozen=True, slots=True)
class TreeForest:
    """The forest of a sentence and what its hyperedges stand for.

    Hyperedge `made[i]` makes an arc, and with it the parts `parts[i]` of the space: an arc, a sibling part, a
    grand-sibling part and a tri-sibling part; -1 where the model has not the last two.
    """

    forest: Forest
    made: Indices
    parts: Indices

    def arcs(self, derivation: Indices) -> Indices:
        """The arcs of a derivation's tree."""
        place = np.minimum(np.searchsorted(self.made, derivation), len(self.made) - 1)
        return self.parts[place[self.made[place] == derivation], 0] if len(self.made) else self.made


def tree_forest(
    space: ArcSpace, sentence: int, scores: tuple[Floats, Floats, Floats, Floats], kinds: Bools, single_root: bool
) -> TreeForest | None:
    """All projective trees of a sentence; None where there is none.

    `kinds` tells of the four scores (arcs, siblings, grand-siblings, tri-siblings) which the model has.
    """
    size = np.zeros(3, dtype=np.int64)
    _bound(
        sentence, space.offsets, space.head, space.modifier, space.first, space.rank, space.into_first, space.siblings,
        kinds, size,
    )  # fmt: skip
    n_items, n_edges, n_made = size.tolist()
    words = int(space.offsets[sentence + 1] - space.offsets[sentence])
    afford(words, 24 * n_items + 32 * n_edges + 40 * n_made, STEPS * n_edges)
    first, tails, score = np.zeros(n_items + 1, dtype=np.int64), np.empty((n_edges, 2), np.int32), np.empty(n_edges)
    made, parts = np.empty(n_made, dtype=np.int64), np.empty((n_made, 4), dtype=np.int64)
    goal = _build(
        sentence, space.offsets, space.head, space.modifier, space.first, space.right, space.rank, space.into,
        space.into_first, space.siblings, space.grands, space.tris, *scores, kinds, single_root,
        size, first, tails, score, made, parts,
    )  # fmt: skip
    if goal < 0:
        return None
    n_items, n_edges, n_made = size.tolist()
    forest = Forest(first[: n_items + 1], tails[:n_edges], score[:n_edges])
    return TreeForest(forest, made[:n_made], parts[:n_made])


@kernel
def _bound(
    sentence: int, offsets: Indices, head: States, modifier: States, first_arc: Indices, rank: States,
    into_first: Indices, siblings: Indices, kinds: NDArray[np.bool_], size: Indices,
) -> None:  # fmt: skip
    """How many items, hyperedges and hyperedges with arcs the forest has if nothing is forbidden."""
    n, root = offsets[sentence + 1] - offsets[sentence], offsets[sentence] + sentence
    size[0], size[1], size[2] = 1, 1, 0
    if not kinds[2]:
        size[0] += n * (n - 1) // 2 + 2 * n * (n + 1)
        size[1] += (n - 1) * n * (n + 1) // 6
    for a in range(first_arc[root], first_arc[root + n + 1]):
        h, m = head[a], modifier[a]
        seats = max(1, into_first[root + h + 1] - into_first[root + h]) if kinds[2] else 1
        ways = 1 + rank[a]
        if kinds[3]:
            ways += rank[a] * (rank[a] - 1) // 2
            size[0] += seats * (1 + rank[a])
            size[1] += seats * (1 + rank[a])
        size[0] += seats
        size[1] += seats * (ways + (n + 1 - m if m > h else m))
        size[2] += seats * ways
        if kinds[2]:
            size[0] += rank[a] + n + 1
            for j in range(1, rank[a] + 1):
                size[1] += abs(modifier[a - j] - m)


@inner_kernel
def _add_edge(size: Indices, tails: States, score: Floats, one: int, two: int, value: float) -> None:
    e = size[1]
    tails[e, 0], tails[e, 1], score[e] = max(one, two), min(one, two), value
    size[1] = e + 1


@inner_kernel
def _add_arc(size: Indices, made: Indices, parts: Indices, arc: int, sibling: int, grand: int, tri: int) -> None:
    """Note that the hyperedge to come makes an arc."""
    i = size[2]
    made[i] = size[1]
    parts[i, 0], parts[i, 1], parts[i, 2], parts[i, 3] = arc, sibling, grand, tri
    size[2] = i + 1


@inner_kernel
def _close(size: Indices, first: Indices, before: int) -> int:
    """The item that the hyperedges since `before` make."""
    if size[1] == before:
        return _DEAD
    size[0] += 1
    first[size[0]] = size[1]
    return size[0] - 1


@kernel
def _build(
    sentence: int, offsets: Indices, head: States, modifier: States, first_arc: Indices, right: Indices, rank: States,
    into: Indices, into_first: Indices, siblings: Indices, grands: Indices, tris: Indices,
    arc: Floats, sibling: Floats, grand: Floats, tri: Floats, kinds: NDArray[np.bool_], single_root: bool,
    size: Indices, first: Indices, tails: States, score: Floats, made: Indices, parts: Indices,
) -> int:  # fmt: skip
    """Write the forest and its size: how many items, hyperedges and hyperedges with arcs. The goal is the last item;
    where there is no tree, _DEAD is returned."""
    n, root = offsets[sentence + 1] - offsets[sentence], offsets[sentence] + sentence
    low, high = first_arc[root], first_arc[root + n + 1]
    with_grand, with_tri = kinds[2], kinds[3]
    size[:] = 0
    if n == 0:
        _add_edge(size, tails, score, _TRIVIAL, _TRIVIAL, 0.0)
        return _close(size, first, 0)
    order = np.argsort(np.abs(modifier[low:high] - head[low:high]))
    # With grand-siblings seat 0 is ROOT and seat 1 + i arc i of the sentence; without, seats are words.
    n_seats = 1 + high - low if with_grand else n + 1
    complete = np.full((n_seats, n + 1), _DEAD, dtype=np.int32)
    start = np.zeros(n_seats + 1, dtype=np.int64)  # of the incomplete items of a seat, one for every arc of its word
    for q in range(n_seats):
        h = modifier[low + q - 1] if with_grand and q > 0 else q
        complete[q, h] = _DEAD if with_grand and q > 0 and arc[low + q - 1] == -np.inf else _TRIVIAL
        start[q + 1] = start[q] + first_arc[root + h + 1] - first_arc[root + h]
    incomplete = np.full(start[n_seats], _DEAD, dtype=np.int32)
    most = 1
    for a in range(low, high):
        most = max(most, rank[a] + 1)
    after = np.full((start[n_seats] if with_tri else 0, most), _DEAD, dtype=np.int32)  # the same, knowing the sibling
    beside = np.full(siblings[high] - siblings[low] if with_grand else (n + 1) * (n + 1), _UNKNOWN, dtype=np.int32)
    at = 0
    for width in range(1, n + 1):
        while at < high - low and abs(modifier[low + order[at]] - head[low + order[at]]) == width:
            a = low + order[at]
            at += 1
            if arc[a] == -np.inf:
                continue
            h, m = head[a], modifier[a]
            v, nearest, own = root + h, a - rank[a], 1 + a - low if with_grand else m
            n_inner = 0 if h == 0 and single_root else rank[a]
            for j in range(n_inner):  # neighbouring children
                s, other = modifier[nearest + j], 1 + nearest + j - low if with_grand else modifier[nearest + j]
                pair = siblings[a] + 1 + j - siblings[low] if with_grand else min(s, m) * (n + 1) + max(s, m)
                if beside[pair] == _UNKNOWN:
                    before = size[1]
                    for r in range(min(s, m), max(s, m)):
                        x = complete[other if s < m else own, r]
                        y = complete[own if s < m else other, r + 1]
                        if x != _DEAD and y != _DEAD:
                            _add_edge(size, tails, score, x, y, 0.0)
                    beside[pair] = _close(size, first, before)
            block = siblings[first_arc[v + 1]] - siblings[first_arc[v]]
            for above in range(into_first[v + 1] - into_first[v] if with_grand and h > 0 else 1):
                q = 1 + into[into_first[v] + above] - low if with_grand and h > 0 else h
                if complete[q, h] == _DEAD:
                    continue
                inner = start[q] + nearest - first_arc[v]
                mine = inner + rank[a]
                opened = size[1]
                for j in range(-1, n_inner):  # the sibling of rank j, or none
                    part = siblings[a] + 1 + j
                    number = grands[v] + above * block + part - siblings[first_arc[v]] if with_grand else -1
                    third = tris[a] + (0 if j < 0 else 1 + j * (j + 1) // 2)
                    value = arc[a]
                    if kinds[1]:
                        value += sibling[part]
                    if with_grand:
                        value += grand[number]
                    x, y = complete[own, h + 1 if m > h else h - 1], _TRIVIAL
                    if j >= 0:
                        s = modifier[nearest + j]
                        x = incomplete[inner + j]
                        y = beside[part - siblings[low] if with_grand else min(s, m) * (n + 1) + max(s, m)]
                    if x == _DEAD or y == _DEAD or value == -np.inf:
                        continue
                    for i in range(-1, max(j, 0) if with_tri else 0):  # the sibling's own sibling of rank i, or none
                        whole = value
                        if with_tri:
                            whole += tri[third + 1 + i]
                            x = x if j < 0 else after[inner + j, i + 1]
                        if x != _DEAD and whole > -np.inf:
                            _add_arc(size, made, parts, a, part, number, third + 1 + i if with_tri else -1)
                            _add_edge(size, tails, score, x, y, whole)
                    if with_tri:
                        after[mine, j + 1] = _close(size, first, opened)
                        opened = size[1]
                if with_tri:
                    for j in range(n_inner + 1):
                        if after[mine, j] != _DEAD:
                            _add_edge(size, tails, score, after[mine, j], _TRIVIAL, 0.0)
                incomplete[mine] = _close(size, first, opened)
        # Words with all that is below them as far as `end`; ROOT only with everything.
        for q in range(n_seats):
            h = modifier[low + q - 1] if with_grand and q > 0 else q
            v = root + h
            for toward in range(2):
                end = h + width if toward else h - width
                if end < 1 or end > n or (q == 0 and end < n):
                    continue
                before = size[1]
                for a in range(right[v] if toward else first_arc[v], first_arc[v + 1] if toward else right[v]):
                    if (modifier[a] > end) if toward else (modifier[a] < end):
                        break
                    x = incomplete[start[q] + a - first_arc[v]]
                    y = complete[1 + a - low if with_grand else modifier[a], end]
                    if x != _DEAD and y != _DEAD:
                        _add_edge(size, tails, score, x, y, 0.0)
                complete[q, end] = _close(size, first, before)
    return complete[0, n]
