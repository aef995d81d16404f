"""Crossing edges, and the one part that every edge of a tree has in the crossing-sensitive factorization (Pitler 2014).

Edges cross when their ends interleave, ROOT being the word 0; a tree is *1-endpoint-crossing* when the edges that cross
any one edge share a vertex. A crossed edge h -> m has the part crossed(h, m). For an uncrossed one let g be the head of
h, and s its next child between h and m. Children of h between g and h are interior, from h outwards; the others are
exterior, first those on the side away from g, from h outwards, then those beyond g. The edge is *g-projective* when
g -> h is uncrossed and so are all edges from h to later children in the same group. Then its part is

                        h -> s crossed     h -> s uncrossed, or no s
    g-projective        grand_arc(g,h,m)   grand(g,h,m,s)
    not g-projective    arc(h,m)           sibling(h,m,s)

ROOT has a virtual head left of it. A projective tree has grand-sibling parts only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.infer.trees.arcs import ArcSpace, TreeParts
from weft.kernel import kernel
from weft.ragged import Indices, States, one_block

__all__ = ["KINDS", "add_smaller_parts", "crossings", "is_one_endpoint_crossing", "smaller_parts", "tree_parts"]

#: Kinds of parts, as attributes of `TreeParts`, in the order of `tree_parts`.
KINDS = ("crossed", "arc", "sibling", "grand_arc", "grand")


def crossings(heads: ArrayLike) -> States:
    """How many edges of a tree cross the edge into each of its words.

    >>> crossings([3, 4, 0, 3])  # 3 -> 1 crosses 4 -> 2, which crosses 0 -> 3 too
    array([1, 2, 1, 0], dtype=int32)
    """
    tree = one_block(heads, np.int32)
    count = np.zeros(len(tree), dtype=np.int32)
    _crossings(tree, count)
    return count


def is_one_endpoint_crossing(heads: ArrayLike) -> bool:
    """Whether the edges that cross any one edge of a tree share a vertex.

    >>> is_one_endpoint_crossing([3, 4, 0, 3]), is_one_endpoint_crossing([2, 0, 2, 1, 3])
    (True, False)
    """
    return bool(_is_one_endpoint_crossing(one_block(heads, np.int32)))


def tree_parts(space: ArcSpace, heads: ArrayLike) -> tuple[States, Indices]:
    """The part of every word of trees: its kind among `KINDS` and its number.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> [KINDS[kind] for kind in tree_parts(all_arcs([0, 4]), [3, 4, 0, 3])[0]]
    ['crossed', 'crossed', 'crossed', 'sibling']
    """
    arcs, siblings, grands, _ = space.parts_of(heads)
    kind = np.zeros(space.n_words, dtype=np.int32)
    number = np.zeros(space.n_words, dtype=np.int64)
    _tree_parts(
        space.offsets, one_block(heads, np.int32), arcs, siblings, grands, space.node, space.first, space.siblings,
        space.grands, space.grand_arcs, kind, number,
    )  # fmt: skip
    return kind, number


def add_smaller_parts(space: ArcSpace, scores: TreeParts) -> TreeParts:
    """Scores of parts, each with those of the smaller parts that it contains.

    A sibling part contains its arc; so does a crossed edge and a grand-arc; a grand-sibling part contains its grand-arc
    and its sibling part.

    >>> space = ArcSpace([0, 2], head=[0, 1], modifier=[1, 2])
    >>> ones = TreeParts(np.ones(2), np.ones(2), np.ones(2), grand_arc=np.ones(2), crossed=np.ones(2))
    >>> add_smaller_parts(space, ones).grand  # with the sibling part, the grand-arc, and the arc once
    array([4., 4.])
    """
    arc_of_sibling, arc_of_grand_arc, sibling_of_grand, grand_arc_of_grand = _containers(space)
    return TreeParts(
        scores.arc.copy(),
        scores.sibling + scores.arc[arc_of_sibling],
        scores.grand
        + scores.grand_arc[grand_arc_of_grand]
        + scores.sibling[sibling_of_grand]
        + scores.arc[arc_of_sibling[sibling_of_grand]],
        grand_arc=scores.grand_arc + scores.arc[arc_of_grand_arc],
        crossed=scores.crossed + scores.arc,
    )


def smaller_parts(space: ArcSpace, parts: TreeParts) -> TreeParts:
    """Numbers of parts given on to the smaller parts that they contain: the transpose of `add_smaller_parts`.

    >>> space = ArcSpace([0, 2], head=[0, 1], modifier=[1, 2])
    >>> one = TreeParts(np.zeros(2), np.zeros(2), np.array([0.0, 1]), grand_arc=np.zeros(2), crossed=np.zeros(2))
    >>> smaller_parts(space, one).arc
    array([0., 1.])
    """
    arc_of_sibling, arc_of_grand_arc, sibling_of_grand, grand_arc_of_grand = _containers(space)
    of_grand = np.bincount(sibling_of_grand, parts.grand, space.n_siblings)
    sibling = parts.sibling + of_grand
    arc = parts.arc + parts.crossed + np.bincount(arc_of_sibling, sibling, space.n_arcs)
    arc += np.bincount(arc_of_grand_arc, parts.grand_arc, space.n_arcs)
    grand_arc = parts.grand_arc + np.bincount(grand_arc_of_grand, parts.grand, space.n_grand_arcs)
    return TreeParts(arc, sibling, parts.grand.copy(), grand_arc=grand_arc, crossed=parts.crossed.copy())


def grand_arcs_of_grands(space: ArcSpace) -> Indices:
    """The grand-arc that every grand-sibling part contains.

    >>> grand_arcs_of_grands(ArcSpace([0, 2], head=[0, 0, 1], modifier=[1, 2, 2])).tolist()
    [0, 1, 1, 2]
    """
    return _containers(space)[3]


def _containers(space: ArcSpace) -> tuple[Indices, Indices, Indices, Indices]:
    """The arc of every sibling part and of every grand-arc; the sibling part and grand-arc of every grand-sibling."""
    arc_of_sibling = np.repeat(np.arange(space.n_arcs), np.diff(space.siblings))
    arc_of_grand_arc = np.zeros(space.n_grand_arcs, np.int64)
    sibling_of_grand, grand_arc_of_grand = np.zeros(space.n_grands, np.int64), np.zeros(space.n_grands, np.int64)
    _fill_containers(
        space.first, space.siblings, space.grand_arcs, space.grands, arc_of_grand_arc, sibling_of_grand,
        grand_arc_of_grand,
    )  # fmt: skip
    return arc_of_sibling, arc_of_grand_arc, sibling_of_grand, grand_arc_of_grand


@kernel
def _cross(heads: States, one: int, other: int) -> bool:
    a, b = min(heads[one], one + 1), max(heads[one], one + 1)
    c, d = min(heads[other], other + 1), max(heads[other], other + 1)
    return a < c < b < d or c < a < d < b


@kernel
def _crossings(heads: States, count: States) -> None:
    for one in range(len(heads)):
        for other in range(one):
            if _cross(heads, one, other):
                count[one] += 1
                count[other] += 1


@kernel
def _is_one_endpoint_crossing(heads: States) -> bool:
    for one in range(len(heads)):
        h, m, some = -1, -1, False
        for other in range(len(heads)):
            if _cross(heads, one, other):
                i, j = heads[other], other + 1
                if not some:
                    h, m, some = i, j, True
                if h != i and h != j:
                    h = -1
                if m != i and m != j:
                    m = -1
                if h < 0 and m < 0:
                    return False
    return True


@kernel
def _tree_parts(
    offsets: Indices, heads: States, arcs: Indices, sibling_of: Indices, grand_of: Indices, node: Indices,
    first: Indices, siblings: Indices, grands: Indices, grand_arcs: Indices, kind: States, number: Indices,
) -> None:  # fmt: skip
    count = np.zeros(len(heads), dtype=np.int32)
    for s in range(len(offsets) - 1):
        _crossings(heads[offsets[s] : offsets[s + 1]], count[offsets[s] : offsets[s + 1]])
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        for w in range(begin, end):
            a = arcs[w]
            if count[w] > 0:
                kind[w], number[w] = 0, a
                continue
            h, m, v = heads[w], w - begin + 1, node[a]
            g = -1 if h == 0 else heads[begin + h - 1]
            projective = h == 0 or count[begin + h - 1] == 0
            inner = min(g, h) < m < max(g, h)
            near = -1
            for o in range(1, end - begin + 1):
                if o == m or heads[begin + o - 1] != h:
                    continue
                if min(h, m) < o < max(h, m):
                    if near < 0 or abs(o - h) > abs(near - h):
                        near = o
                elif count[begin + o - 1] > 0 and (min(g, h) < o < max(g, h)) == inner:
                    # further from h on the same side, or beyond g, which for an exterior child comes later still
                    projective = False
            after_crossed = near > 0 and count[begin + near - 1] > 0
            if projective:
                kind[w], number[w] = 4, grand_of[w]
                if after_crossed:
                    wide = siblings[first[v + 1]] - siblings[first[v]]
                    above = (grand_of[w] - grands[v]) // wide
                    kind[w], number[w] = 3, grand_arcs[v] + above * (first[v + 1] - first[v]) + a - first[v]
            elif after_crossed:
                kind[w], number[w] = 1, a
            else:
                kind[w], number[w] = 2, sibling_of[w]


@kernel
def _fill_containers(
    first: Indices, siblings: Indices, grand_arcs: Indices, grands: Indices, arc_of_grand_arc: Indices,
    sibling_of_grand: Indices, grand_arc_of_grand: Indices,
) -> None:  # fmt: skip
    for v in range(len(first) - 1):
        at, part = grand_arcs[v], grands[v]
        while at < grand_arcs[v + 1]:
            for a in range(first[v], first[v + 1]):
                arc_of_grand_arc[at] = a
                for sibling in range(siblings[a], siblings[a + 1]):
                    sibling_of_grand[part] = sibling
                    grand_arc_of_grand[part] = at
                    part += 1
                at += 1
