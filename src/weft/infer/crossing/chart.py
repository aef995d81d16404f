"""Charts of the best pieces of 1-endpoint-crossing trees, after Pitler (2014), in O(n^4) time and O(n^3) space.

Intervals are oriented: (a..b) may run left or right. Pieces without crossings at their ends, as in third-order
projective parsing (the G items know the head g of their first vertex; Tri, Trap and Box stand for them where a crossed
edge makes g irrelevant), with h the head and m, s its modifiers:

    TriG(h,e;g)   all of (h..e] below h          TrapG(h,m;g)  the same with h -> m, uncrossed, as the furthest edge
    BoxG(s,m;h)   two trees, of s and of m       X(h,m)        inside of h -> m where the next child of h is crossed
    TriX(a,b), Chain(a,b)   the furthest edge a -> k is crossed; b below a, or a root and the end of the last crossing

and regions, intervals [a..b] with edges from inside to one vertex x outside, by states (see `crossing_states`):

    L(a,b;x)   edges that cross the x-edges all end at a         N(a,b;x)   no edge inside crosses an x-edge
    LC(a,b;x)  a chain of L whose last crossed edge ends at b    LR(a,b;x)  each x-edge is crossed at a or at b

Every function below gives the best derivation of one item: its score and the choices that lead to it. `fill` keeps the
scores; `crossing_walk` asks again for the choices of the few items of the best tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.infer.crossing.states import FIRST_BELOW
from weft.kernel import inner_kernel
from weft.ragged import Indices

NEVER = -np.inf
TRI, BOX, HALF, TRIX, CHAIN, MEET, N_PAIR_ITEMS = 0, 1, 2, 3, 4, 5, 7
TRIG, HALFG, BOTH, PENCIL, N_ARC_ITEMS = 0, 1, 2, 4, 10
TRAP, INSIDE = 0, 1
RIGHT, N_AROUND = 2, 14


class Problem(NamedTuple):
    """The arcs of one sentence, numbered from 0, and the scores of their parts."""

    #: Scores of crossed edges, head by modifier; the arc of head and modifier, or -1.
    crossed: Floats
    arc: Indices
    #: Vertices that have a crossed edge with x, by rising number; how many of them stand left of a vertex.
    links: Indices
    links_before: Indices
    #: The furthest crossed child of a vertex before x, on x's side; the vertex itself where there is none.
    reach: Indices
    #: The leftmost and the rightmost vertex with a crossed edge to a vertex, n + 1 and -1 where there is none.
    leftmost: Indices
    rightmost: Indices
    head: Indices
    modifier: Indices
    first: Indices
    right: Indices
    into: Indices
    into_first: Indices
    rank: Indices
    siblings: Indices
    #: For every arc above (the last: of ROOT): where its grand-arcs and its grand-siblings begin, less the first arc's.
    grand_arc_first: Indices
    grand_first: Indices
    edge: Floats
    sibling: Floats
    grand_arc: Floats
    grand: Floats


class Chart(NamedTuple):
    """Scores of items: a, b, l, x are vertices, s is a state; few arrays, as each costs time to compile."""

    pair: Floats  # item of two vertices: TRI, BOX, HALF, TRIX, CHAIN, MEET (and MEET + 1: l is below)
    arc: Floats  # item of an arc and a vertex: TRIG, HALFG, BOTH (+ 1: x is below), PENCIL (+ 2 * use + 1: l is below)
    single: Floats  # item of an arc: TRAP, INSIDE
    trapg: Floats  # by grand-arcs
    boxg: Floats  # by sibling parts
    interval: Floats  # a, b, s: what regions have of BOX and TRI
    region: Floats  # a, b, x, piece, s
    spoke: Floats  # a, z, x, (0: interval, 1: region), s
    around: Floats  # a, b, x, item: L with all else roots (1: x is below), and RIGHT + use; x, b, a for A2
    present: NDArray[np.uint8]  # a, b, x: 0 where the region has no edge
    top: Floats  # scratch, by states: the best scores of pieces of one region


@inner_kernel
def tri(p: Problem, c: Chart, h: int, e: int) -> tuple[float, int]:
    """The score, and the furthest arc of h that is not crossed, -1 for TriX."""
    best, found = c.pair[TRIX, h, e], -1
    begin, end = (p.right[h], p.first[h + 1]) if e > h else (p.first[h], p.right[h])
    for v in range(begin, end):
        if abs(p.modifier[v] - h) > abs(e - h):
            break
        total = c.single[TRAP, v] + c.arc[TRIG, v, e]
        if total > best:
            best, found = total, v
    return best, found


@inner_kernel
def trig(p: Problem, c: Chart, u: int, h: int, e: int) -> tuple[float, int]:
    best, found = c.pair[TRIX, h, e], -1
    begin, end = (p.right[h], p.first[h + 1]) if e > h else (p.first[h], p.right[h])
    grand = p.grand_arc_first[u]
    for v in range(begin, end):
        if abs(p.modifier[v] - h) > abs(e - h):
            break
        total = c.trapg[grand + v] + c.arc[TRIG, v, e]
        if total > best:
            best, found = total, v
    return best, found


@inner_kernel
def trap(p: Problem, c: Chart, v: int) -> tuple[float, int]:
    """The score, and the rank of the next child, -1 if there is none, -2 if it is crossed."""
    h, m, part = p.head[v], p.modifier[v], p.siblings[v]
    best, found = p.sibling[part] + c.arc[TRIG, v, h + (1 if m > h else -1)], -1
    for r in range(p.rank[v]):
        total = c.single[TRAP, v - p.rank[v] + r] + c.boxg[part + 1 + r] + p.sibling[part + 1 + r]
        if total > best:
            best, found = total, r
    total = p.edge[v] + c.single[INSIDE, v]
    if total > best:
        best, found = total, -2
    return best, found


@inner_kernel
def trapg(p: Problem, c: Chart, u: int, v: int) -> tuple[float, int]:
    h, m, part = p.head[v], p.modifier[v], p.siblings[v]
    grand_arc, grand = p.grand_arc_first[u], p.grand_first[u] + part
    best, found = p.grand[grand] + c.arc[TRIG, v, h + (1 if m > h else -1)], -1
    before = grand_arc + v - p.rank[v]
    for r in range(p.rank[v]):
        total = c.trapg[before + r] + c.boxg[part + 1 + r] + p.grand[grand + 1 + r]
        if total > best:
            best, found = total, r
    total = p.grand_arc[grand_arc + v] + c.single[INSIDE, v]
    if total > best:
        best, found = total, -2
    return best, found


@inner_kernel
def boxg(p: Problem, c: Chart, v: int, r: int) -> tuple[float, int, bool]:
    """The score, where the tree of s ends, and whether a chain follows."""
    w = v - p.rank[v] + r
    s, m = p.modifier[w], p.modifier[v]
    step = 1 if m > s else -1
    best, found, crosses = NEVER, s, False
    for at in range(s, m, step):
        total = c.arc[TRIG, w, at] + c.arc[TRIG, v, at + step]
        if total > best:
            best, found, crosses = total, at, False
        total = c.arc[TRIG, w, at] + c.arc[HALFG, v, at]
        if total > best:
            best, found, crosses = total, at, True
    return best, found, crosses


@inner_kernel
def box(c: Chart, a: int, b: int) -> tuple[float, int, bool]:
    step = 1 if b > a else -1
    best, found, crosses = NEVER, a, False
    for at in range(a, b, step):
        total = c.pair[TRI, a, at] + c.pair[TRI, b, at + step]
        if total > best:
            best, found, crosses = total, at, False
        total = c.pair[TRI, a, at] + c.pair[HALF, at, b]
        if total > best:
            best, found, crosses = total, at, True
    return best, found, crosses


@inner_kernel
def halfg(p: Problem, c: Chart, v: int, a: int) -> tuple[float, int]:
    """The score, and where the chain from a ends."""
    m = p.modifier[v]
    step = 1 if m > a else -1
    best, found = NEVER, a
    for d in range(a + step, m + step, step):
        total = c.pair[CHAIN, a, d] + c.arc[TRIG, v, d]
        if total > best:
            best, found = total, d
    return best, found


@inner_kernel
def half(c: Chart, a: int, b: int) -> tuple[float, int]:
    step = 1 if b > a else -1
    best, found = NEVER, a
    for d in range(a + step, b + step, step):
        total = c.pair[CHAIN, a, d] + c.pair[TRI, b, d]
        if total > best:
            best, found = total, d
    return best, found


@inner_kernel
def inside(p: Problem, c: Chart, v: int) -> tuple[float, int, bool]:
    """The score, where the crossed children of h end (h itself: in a chain), and whether a chain follows."""
    h, m = p.head[v], p.modifier[v]
    step = 1 if m > h else -1
    best, found, crosses = c.arc[HALFG, v, h], h, True
    for e in range(h + step, m, step):
        total = c.pair[TRIX, h, e] + c.arc[TRIG, v, e + step]
        if total > best:
            best, found, crosses = total, e, False
        total = c.pair[TRIX, h, e] + c.arc[HALFG, v, e]
        if total > best:
            best, found, crosses = total, e, True
    return best, found, crosses


@inner_kernel
def crossed_furthest(p: Problem, c: Chart, a: int, b: int, chain: int) -> tuple[float, int, int, int]:
    """TriX(a,b), or Chain(a,b) if `chain` is 1: the score, the arc a -> k (-1: A1), the pencil point l, and twice the
    use plus whether l is below."""
    step = 1 if b > a else -1
    found, at, how = -1, b, 0
    best = c.pair[MEET + 1 - chain, a, b]
    if chain == 0:
        for point in range(a + 2 * step, b, step):
            total = c.pair[MEET + 1, a, point] + c.pair[TRI, point, b]
            if total > best:
                best, found, at, how = total, -1, point, 0
    begin, end = (p.right[a], p.first[a + 1]) if b > a else (p.first[a], p.right[a])
    shift = 2 * chain
    for v in range(begin, end):
        k = p.modifier[v]
        if abs(k - a) >= abs(b - a):
            break
        if p.crossed[a, k] == NEVER:
            continue
        for point in range(k + step, b, step):
            for below in range(2):
                total = c.arc[PENCIL + below, v, point] + c.around[k, b, point, RIGHT + shift + below]
                if total > best:
                    best, found, at, how = total, v, point, below
        for point in range(a + step, k, step):
            for use in range(1, 3):
                for below in range(2):
                    total = (
                        c.arc[PENCIL + 2 * use + below, v, point]
                        + c.around[k, b, point, RIGHT + 4 * use + shift + below]
                    )
                    if total > best:
                        best, found, at, how = total, v, point, 2 * use + below
    return best, found, at, how


@inner_kernel
def meet(p: Problem, c: Chart, a: int, point: int, below: int) -> tuple[float, int, int]:
    """A1 without what follows l: the score, the arc a -> k, and whether l is below in LR already."""
    best, found, early = NEVER, -1, below
    begin, end = (p.right[a], p.first[a + 1]) if point > a else (p.first[a], p.right[a])
    for v in range(begin, end):
        k = p.modifier[v]
        if abs(k - a) >= abs(point - a):
            break
        total = p.crossed[a, k] + c.arc[BOTH + below, v, point] + c.pair[BOX, k, point]
        if total > best:
            best, found, early = total, v, below
        if below == 1:
            total = p.crossed[a, k] + c.arc[BOTH + 0, v, point] + c.pair[TRI, k, point]
            if total > best:
                best, found, early = total, v, 0
    return best, found, early


@inner_kernel
def pencil(p: Problem, c: Chart, v: int, point: int, use: int | np.int64, below: int) -> tuple[float, int, int]:
    """Left pieces of A2, B1, B2 with their edge a -> k: the score; the state of the piece at l, -1 for an interval in
    its place; and whether l is below in it already."""
    a, k = p.head[v], p.modifier[v]
    best, found, early = NEVER, -1, below
    for now in range(below + 1):
        if use == 2:
            rest = c.pair[BOX, a, point] if now == below else c.pair[TRI, a, point]
        elif use == 1:
            rest = c.pair[BOX, point, k] if now == below else c.pair[TRI, k, point]
        else:
            rest = c.pair[BOX, k, point] if now == below else c.pair[TRI, k, point]
        rest += p.crossed[a, k]
        if use == 0:
            total = c.around[k, a, point, now] + rest
            if total > best:
                best, found, early = total, 0, now
            continue
        if use == 1:
            total = c.interval[a, point, now] + rest
            if total > best:
                best, found, early = total, -1, now
        b, x = (a, k) if use == 1 else (k, a)
        if c.present[point, b, x]:
            for state in range(FIRST_BELOW[0], FIRST_BELOW[-1] + 1) if now else range(1):
                total = c.region[point, b, x, 0, state] + rest
                if total > best:
                    best, found, early = total, state, now
    return best, found, early
