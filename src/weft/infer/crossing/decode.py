"""The best 1-endpoint-crossing tree of every sentence: the chart is filled by rising lengths, then walked down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.infer.crossing.chart import (  # fmt: skip
    BOTH,
    BOX,
    CHAIN,
    HALF,
    HALFG,
    INSIDE,
    MEET,
    N_ARC_ITEMS,
    N_AROUND,
    N_PAIR_ITEMS,
    NEVER,
    PENCIL,
    RIGHT,
    TRAP,
    TRI,
    TRIG,
    TRIX,
    Chart,
    Problem,
    box,
    boxg,
    crossed_furthest,
    half,
    halfg,
    inside,
    meet,
    pencil,
    trap,
    trapg,
    tri,
    trig,
)
from weft.infer.crossing.regions import both, fill_region, fill_spokes, right
from weft.infer.crossing.states import N_SPOKES, Tables
from weft.infer.crossing.walk import walk
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States


def chart_bytes(size: int, n_arcs: int) -> int:
    """The bytes of the largest arrays of `decode` for a sentence of `size` nodes."""
    return 8 * size * (size * size * (30 + 2 * N_SPOKES + N_AROUND) + N_ARC_ITEMS * n_arcs)


@kernel
def decode(
    offsets: Indices, head: States, modifier: States, first: Indices, right_first: Indices, into: Indices,
    into_first: Indices, rank: States, siblings: Indices, grand_arcs: Indices, grands: Indices,
    crossed: Floats, edge: Floats, sibling: Floats, grand_arc: Floats, grand: Floats, t: Tables,
    asked: NDArray[np.bool_], heads: States, score: Floats,
) -> None:  # fmt: skip
    """Write heads and scores of the sentences that are asked for; the arrays are those of `ArcSpace`."""
    size, n_arcs, n_siblings, n_grand_arcs = 1, 0, 0, 0
    for s in range(len(offsets) - 1):
        v0, v1 = offsets[s] + s, offsets[s + 1] + s + 1
        if asked[s]:
            size = max(size, v1 - v0)
            n_arcs = max(n_arcs, first[v1] - first[v0])
            n_siblings = max(n_siblings, siblings[first[v1]] - siblings[first[v0]])
            n_grand_arcs = max(n_grand_arcs, grand_arcs[v1] - grand_arcs[v0])
    c = Chart(
        np.empty((N_PAIR_ITEMS, size, size)), np.empty((N_ARC_ITEMS, n_arcs + 1, size)), np.empty((2, n_arcs)),
        np.empty(n_grand_arcs), np.empty(n_siblings), np.empty((size, size, 3)), np.empty((size, size, size, 3, 10)),
        np.empty((size, size, size, 2, N_SPOKES)), np.empty((size, size, size, N_AROUND)),
        np.empty((size, size, size), np.uint8), np.empty((4, 10)),
    )  # fmt: skip
    own_crossed, arc = np.empty((size, size)), np.empty((size, size), np.int64)
    links, links_before = np.empty((size, size), np.int64), np.empty((size, size + 1), np.int64)
    reach, ends = np.empty((size, size), np.int64), np.empty((2, size), np.int64)
    of_arc, of_node = np.empty((7, n_arcs + 1), np.int64), np.empty((3, size + 1), np.int64)
    stack = np.empty((64 * size, 5), np.int64)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        if not asked[s]:
            continue
        v0, v1 = offsets[s] + s, offsets[s + 1] + s + 1
        a0, a1 = first[v0], first[v1]
        m = a1 - a0
        own_crossed[:, :] = NEVER
        arc[:, :] = -1
        for v in range(a0, a1):
            own_crossed[head[v], modifier[v]] = crossed[v]
            arc[head[v], modifier[v]] = v - a0
            of_arc[0, v - a0], of_arc[1, v - a0], of_arc[2, v - a0] = head[v], modifier[v], rank[v]
            of_arc[3, v - a0] = siblings[v] - siblings[a0]
        for x in range(n + 1):
            count = 0
            for z in range(n + 1):
                links_before[x, z] = count
                if own_crossed[x, z] > NEVER or own_crossed[z, x] > NEVER:
                    links[x, count] = z
                    count += 1
            links_before[x, n + 1] = count
            _fill_reach(own_crossed, n, x, reach, ends)
        # above ROOT stands one virtual arc, the last
        of_arc[4, 0], of_arc[5, m], of_arc[6, m] = m, 0, 0
        of_node[2, 0], of_node[2, 1] = 0, 1
        for i in range(n + 1):
            v = v0 + i
            begin, wide = first[v] - a0, first[v + 1] - first[v]
            of_node[0, i], of_node[0, i + 1], of_node[1, i] = begin, begin + wide, right_first[v] - a0
            for j in range(into_first[v], into_first[v + 1]):
                u, above = into[j] - a0, j - into_first[v]
                of_arc[4, j - a0 + 1] = u
                of_arc[5, u] = grand_arcs[v] - grand_arcs[v0] + above * wide - begin
                own = siblings[first[v]] - siblings[a0]
                of_arc[6, u] = grands[v] - grands[v0] + above * (siblings[first[v + 1]] - siblings[first[v]]) - own
            of_node[2, i + 1] = into_first[v + 1] - a0 + 1
        p = Problem(
            own_crossed, arc, links, links_before, reach, ends[0], ends[1], of_arc[0, :m], of_arc[1, :m], of_node[0],
            of_node[1], of_arc[4], of_node[2], of_arc[2], of_arc[3], of_arc[5], of_arc[6], edge[a0:a1],
            sibling[siblings[a0] : siblings[a1]], grand_arc[grand_arcs[v0] : grand_arcs[v1]],
            grand[grands[v0] : grands[v1]],
        )  # fmt: skip
        _clear(p, c, n)
        for length in range(1, n + 1):
            for low in range(n + 1 - length):
                _fill(p, c, t, n, low, low + length)
        score[s] = c.arc[TRIG, m, n]
        if score[s] > NEVER:
            walk(p, c, t, n, heads[offsets[s] : offsets[s + 1]], stack)


@inner_kernel
def _fill_reach(crossed: Floats, n: int, v: int, reach: Indices, ends: Indices) -> None:
    reach[v, v] = v
    for x in range(v + 1, n + 1):
        reach[v, x] = x - 1 if crossed[v, x - 1] > NEVER else reach[v, x - 1]
    for x in range(v - 1, -1, -1):
        reach[v, x] = x + 1 if crossed[v, x + 1] > NEVER else reach[v, x + 1]
    ends[0, v], ends[1, v] = n + 1, -1
    for h in range(n + 1):
        if crossed[h, v] > NEVER:
            ends[0, v], ends[1, v] = min(h, ends[0, v]), h


@inner_kernel
def _clear(p: Problem, c: Chart, n: int) -> None:
    """Items of length 0; and what may be asked for though it was never filled."""
    for item in range(N_PAIR_ITEMS):
        for a in range(n + 1):
            for b in range(n + 1):
                c.pair[item, a, b] = 0.0 if item == TRI and a == b else NEVER
    for item in range(N_ARC_ITEMS):
        for v in range(len(p.head) + 1):
            for a in range(n + 1):
                c.arc[item, v, a] = NEVER
    for v in range(len(p.head) + 1):
        c.arc[TRIG, v, p.modifier[v] if v < len(p.head) else 0] = 0.0


@inner_kernel
def _fill(p: Problem, c: Chart, t: Tables, n: int, low: int, high: int) -> None:
    """All items of an interval, in both directions; those of shorter intervals are there."""
    for side in range(2):
        a, b = (low, high) if side == 0 else (high, low)
        for x in range(n + 1):
            if x < low or x > high:
                fill_region(p, c, t, a, b, x)
    for side in range(2):
        a, b = (low, high) if side == 0 else (high, low)
        own = p.arc[a, b]
        if own >= 0 and p.crossed[a, b] > NEVER:
            for x in range(b + 1, n + 1) if b > a else range(b):
                for below in range(2):
                    c.arc[BOTH + below, own, x] = both(p, c, t, own, x, below)[0]
        for below in range(2):
            c.pair[MEET + below, a, b] = meet(p, c, a, b, below)[0]
        for chain in range(2):
            c.pair[CHAIN if chain else TRIX, a, b] = crossed_furthest(p, c, a, b, chain)[0]
        c.pair[HALF, a, b] = half(c, a, b)[0]
        for i in range(p.into_first[b], p.into_first[b + 1] if b > 0 else 0):
            v = p.into[i]
            h = p.head[v]
            if (h <= a) if b > a else (h >= a):
                c.arc[HALFG, v, a] = halfg(p, c, v, a)[0]
                s = p.arc[h, a]
                if s >= 0:
                    c.boxg[p.siblings[v] + 1 + p.rank[s]] = boxg(p, c, v, p.rank[s])[0]
        if own >= 0:
            c.single[INSIDE, own] = inside(p, c, own)[0]
            c.single[TRAP, own] = trap(p, c, own)[0]
            for i in range(p.into_first[a], p.into_first[a + 1]):
                c.trapg[p.grand_arc_first[p.into[i]] + own] = trapg(p, c, p.into[i], own)[0]
        c.pair[TRI, a, b] = tri(p, c, a, b)[0]
        for i in range(p.into_first[a], p.into_first[a + 1]):
            c.arc[TRIG, p.into[i], b] = trig(p, c, p.into[i], a, b)[0]
    for side in range(2):
        a, b = (low, high) if side == 0 else (high, low)
        c.pair[BOX, a, b] = box(c, a, b)[0]
        c.interval[a, b, 0], c.interval[a, b, 1] = c.pair[BOX, a, b], c.pair[TRI, a, b]
        c.interval[a, b, 2] = c.pair[TRI, b, a]
        for x in range(n + 1):
            if (x < low or x > high) and (p.crossed[x, b] > NEVER or p.crossed[b, x] > NEVER):
                fill_spokes(p, c, t, a, b, x)
        for x in range(a) if b > a else range(a + 1, n + 1):
            some = c.present[a, b, x] or p.crossed[x, b] > NEVER or p.crossed[b, x] > NEVER
            # x, or for B a, is k: the edge to it comes from beyond x
            after = some and (p.leftmost[x] < x if b > a else p.rightmost[x] > x)
            for use in range(4):
                c.around[x, b, a, RIGHT + use] = right(p, c, t, a, b, x, use)[0] if after else NEVER
            after = some and (p.leftmost[a] < x if b > a else p.rightmost[a] > x)
            for use in range(4, 12):
                c.around[a, b, x, RIGHT + use] = right(p, c, t, a, b, x, use)[0] if after else NEVER
    for side in range(2):
        a, b = (low, high) if side == 0 else (high, low)
        begin, end = (p.right[a], p.first[a + 1]) if b > a else (p.first[a], p.right[a])
        for v in range(begin, end):
            k = p.modifier[v]
            if p.crossed[a, k] == NEVER or abs(k - a) > high - low:
                continue
            for use in range(1) if k != b else range(1, 3):
                for at in range(b, b + 1) if k != b else range(low + 1, high):
                    for below in range(2):
                        c.arc[PENCIL + 2 * use + below, v, at] = pencil(p, c, v, at, use, below)[0]
