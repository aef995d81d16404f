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

from weft.infer.arcs import ArcSpace
from weft.infer.forest import Forest
from weft.infer.ragged import Booleans, Floats, Indices, States
from weft.kernel import inner_kernel, kernel

__all__ = ["TreeForest", "tree_forest"]

#: Items: a span of one word needs no hyperedge, and one that cannot be made has none.
_TRIVIAL, _DEAD = -1, -2


@dataclass(frozen=True, slots=True)
class TreeForest:
    """The forest of a sentence and what its hyperedges stand for.

    Hyperedge `made[i]` makes an arc, and with it the parts `parts[i]` of the space: an arc, a sibling part, a
    grand-sibling part (-1 without grand-siblings) and a tri-sibling part.
    """

    forest: Forest
    made: Indices
    parts: Indices

    def arcs(self, derivation: Indices) -> Indices:
        """The arcs of a derivation's tree."""
        place = np.minimum(np.searchsorted(self.made, derivation), len(self.made) - 1)
        return self.parts[place[self.made[place] == derivation], 0] if len(self.made) else self.made


def tree_forest(
    space: ArcSpace, sentence: int, scores: tuple[Floats, Floats, Floats, Floats], kinds: Booleans, single_root: bool
) -> TreeForest | None:
    """All projective trees of a sentence; None where there is none.

    `kinds` tells of the four scores (arcs, siblings, grand-siblings, tri-siblings) which the model has.
    """
    size = np.zeros(3, dtype=np.int64)
    first, tails, score, made, parts = _empty(0, 0, 0)
    for _ in range(2):  # the first time counts only
        goal = _build(
            sentence, space.offsets, space.head, space.modifier, space.first, space.right, space.rank, space.into,
            space.into_first, space.siblings, space.grands, space.tris, *scores, kinds, single_root,
            size, first, tails, score, made, parts,
        )  # fmt: skip
        if goal < 0:
            return None
        if len(first) == 1:
            first, tails, score, made, parts = _empty(*size.tolist())
    return TreeForest(Forest(first, tails, score), made, parts)


def _empty(n_items: int, n_edges: int, n_made: int) -> tuple[Indices, States, Floats, Indices, Indices]:
    return (
        np.zeros(n_items + 1, dtype=np.int64), np.empty((n_edges, 2), dtype=np.int32), np.empty(n_edges),
        np.empty(n_made, dtype=np.int64), np.empty((n_made, 4), dtype=np.int64),
    )  # fmt: skip


@inner_kernel
def _add_edge(size: Indices, tails: States, score: Floats, one: int, two: int, value: float) -> None:
    e = size[1]
    if e < len(score):
        tails[e, 0], tails[e, 1] = (one, two) if one >= 0 else (two, one)
        score[e] = value
    size[1] = e + 1


@inner_kernel
def _add_arc(size: Indices, made: Indices, parts: Indices, arc: int, sibling: int, grand: int, tri: int) -> None:
    """Note that the hyperedge to come makes an arc."""
    i = size[2]
    if i < len(made):
        made[i] = size[1]
        parts[i, 0], parts[i, 1], parts[i, 2], parts[i, 3] = arc, sibling, grand, tri
    size[2] = i + 1


@inner_kernel
def _close(size: Indices, first: Indices, before: int) -> int:
    """The item that the hyperedges since `before` make."""
    if size[1] == before:
        return _DEAD
    size[0] += 1
    if size[0] < len(first):
        first[size[0]] = size[1]
    return size[0] - 1


@kernel
def _build(
    sentence: int, offsets: Indices, head: States, modifier: States, first_arc: Indices, right: Indices, rank: States,
    into: Indices, into_first: Indices, siblings: Indices, grands: Indices, tris: Indices,
    arc: Floats, sibling: Floats, grand: Floats, tri: Floats, kinds: NDArray[np.bool_], single_root: bool,
    size: Indices, first: Indices, tails: States, score: Floats, made: Indices, parts: Indices,
) -> int:  # fmt: skip
    """Write the forest as far as the arrays reach, its size in any case; the goal, or _DEAD where there is no tree."""
    n, root = offsets[sentence + 1] - offsets[sentence], offsets[sentence] + sentence
    low, high = first_arc[root], first_arc[root + n + 1]
    with_grand, with_tri = kinds[2], kinds[3]
    size[:] = 0
    if n == 0:
        _add_edge(size, tails, score, _TRIVIAL, _TRIVIAL, 0.0)
        return _close(size, first, 0)
    arc_at = np.full((n + 1, n + 1), -1, dtype=np.int64)
    place = np.zeros(high - low, dtype=np.int64)  # of an arc among those into its modifier
    for v in range(root, root + n + 1):
        for i in range(into_first[v], into_first[v + 1]):
            arc_at[head[into[i]], v - root] = into[i]
            place[into[i] - low] = i - into_first[v]
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
    beside = np.full(siblings[high] - siblings[low] if with_grand else (n + 1) * (n + 1), _DEAD, dtype=np.int32)
    for width in range(1, n + 1):
        # Neighbouring children.
        if with_grand:
            for a in range(low, high):
                m = modifier[a]
                s = m - width if m > head[a] else m + width
                if min(head[a], m) < s < max(head[a], m) and arc_at[head[a], s] >= 0:
                    b = arc_at[head[a], s]
                    one, two = (b, a) if s < m else (a, b)
                    before = size[1]
                    for r in range(min(s, m), max(s, m)):
                        x, y = complete[1 + one - low, r], complete[1 + two - low, r + 1]
                        if x != _DEAD and y != _DEAD:
                            _add_edge(size, tails, score, x, y, 0.0)
                    beside[siblings[a] + 1 + rank[b] - siblings[low]] = _close(size, first, before)
        else:
            for s in range(1, n + 1 - width):
                before = size[1]
                for r in range(s, s + width):
                    x, y = complete[s, r], complete[s + width, r + 1]
                    if x != _DEAD and y != _DEAD:
                        _add_edge(size, tails, score, x, y, 0.0)
                item = _close(size, first, before)
                beside[s * (n + 1) + s + width] = item
                beside[(s + width) * (n + 1) + s] = item
        # Arcs of this length.
        for h in range(n + 1):
            v = root + h
            n_above = into_first[v + 1] - into_first[v] if with_grand and h > 0 else 1
            block = siblings[first_arc[v + 1]] - siblings[first_arc[v]]
            for toward in range(2):
                m = h + width if toward else h - width
                if m < 1 or m > n or arc_at[h, m] < 0 or arc[arc_at[h, m]] == -np.inf:
                    continue
                a = arc_at[h, m]
                nearest = a - rank[a]
                inner = complete[1 + a - low if with_grand else m, h + 1 if toward else h - 1]
                for above in range(n_above):
                    q = 0
                    if h > 0:
                        q = 1 + into[into_first[v] + above] - low if with_grand else h
                    if complete[q, h] == _DEAD:
                        continue
                    mine = start[q] + a - first_arc[v]
                    opened = size[1]
                    for j in range(-1, rank[a]):  # the sibling of rank j, or none
                        part = siblings[a] + 1 + j
                        number = grands[v] + above * block + part - siblings[first_arc[v]] if with_grand else -1
                        third = tris[a] + (0 if j < 0 else 1 + j * (j + 1) // 2)
                        value = arc[a]
                        if kinds[1]:
                            value += sibling[part]
                        if with_grand:
                            value += grand[number]
                        if j < 0:
                            x, y = inner, _TRIVIAL
                        else:
                            b = nearest + j
                            x = incomplete[start[q] + b - first_arc[v]]
                            y = beside[part - siblings[low] if with_grand else modifier[b] * (n + 1) + m]
                        if (j >= 0 and h == 0 and single_root) or x == _DEAD or y == _DEAD or value == -np.inf:
                            continue
                        if not with_tri or j < 0:
                            if with_tri:
                                value += tri[third]
                            if value > -np.inf:
                                _add_arc(size, made, parts, a, part, number, third)
                                _add_edge(size, tails, score, x, y, value)
                        else:
                            for i in range(-1, j):  # the sibling's own
                                x = after[start[q] + nearest + j - first_arc[v], i + 1]
                                whole = value + tri[third + 1 + i]
                                if x != _DEAD and whole > -np.inf:
                                    _add_arc(size, made, parts, a, part, number, third + 1 + i)
                                    _add_edge(size, tails, score, x, y, whole)
                        if with_tri:
                            after[mine, j + 1] = _close(size, first, opened)
                            opened = size[1]
                    if with_tri:
                        for j in range(rank[a] + 1):
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
