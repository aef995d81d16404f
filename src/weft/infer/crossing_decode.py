"""The best 1-endpoint-crossing tree of every sentence: the chart is filled by rising lengths, then walked down."""

from __future__ import annotations

import numpy as np

from weft.infer.crossing_chart import (
    NEVER,
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
)  # fmt: skip
from weft.infer.crossing_regions import both, fill_region, right
from weft.infer.crossing_states import Tables
from weft.infer.crossing_walk import walk
from weft.infer.ragged import Floats, Indices, States
from weft.kernel import inner_kernel, kernel


@inner_kernel
def _fill(p: Problem, c: Chart, t: Tables, n: int) -> None:
    for length in range(1, n + 1):
        for low in range(n + 1 - length):
            high = low + length
            for side in range(2):
                a, b = (low, high) if side == 0 else (high, low)
                for x in range(n + 1):
                    if x < low or x > high:
                        fill_region(p, c, t, a, b, x)
            for side in range(2):
                a, b = (low, high) if side == 0 else (high, low)
                v = p.arc[a, b]
                if v >= 0 and p.crossed[a, b] > NEVER:
                    for x in range(b + 1, n + 1) if b > a else range(b):
                        for below in range(2):
                            c.both[v, x, below] = both(p, c, t, v, x, below)[0]
                for below in range(2):
                    c.meet[a, b, below] = meet(p, c, a, b, below)[0]
                for chain in range(2):
                    best, _, _, _ = crossed_furthest(p, c, a, b, chain)
                    if chain == 0:
                        c.trix[a, b] = best
                    else:
                        c.chain[a, b] = best
                c.half[a, b] = half(c, a, b)[0]
                for i in range(p.into_first[b], p.into_first[b + 1] if b > 0 else 0):
                    v = p.into[i]
                    if (p.head[v] <= a) if b > a else (p.head[v] >= a):
                        c.halfg[v, a] = halfg(p, c, v, a)[0]
                        w = p.arc[p.head[v], a]
                        if w >= 0:
                            c.boxg[p.siblings[v] + 1 + p.rank[w]] = boxg(p, c, v, p.rank[w])[0]
                v = p.arc[a, b]
                if v >= 0:
                    c.inside[v] = inside(p, c, v)[0]
                    c.trap[v] = trap(p, c, v)[0]
                    for i in range(p.into_first[a], p.into_first[a + 1]):
                        c.trapg[p.grand_arc_first[p.into[i]] + v] = trapg(p, c, p.into[i], v)[0]
                c.tri[a, b] = tri(p, c, a, b)[0]
                for i in range(p.into_first[a], p.into_first[a + 1]):
                    c.trig[p.into[i], b] = trig(p, c, p.into[i], a, b)[0]
            for side in range(2):
                a, b = (low, high) if side == 0 else (high, low)
                c.box[a, b] = box(c, a, b)[0]
                c.interval[a, b, 0] = c.box[a, b]
                c.interval[a, b, 1] = c.tri[a, b]
                c.interval[a, b, 2] = c.tri[b, a]
            for side in range(2):
                a, b = (low, high) if side == 0 else (high, low)
                for x in range(a) if b > a else range(a + 1, n + 1):
                    for use in range(12):
                        c.right[a, b, x, use] = right(p, c, t, a, b, x, use)[0]
                begin, end = (p.right[a], p.first[a + 1]) if b > a else (p.first[a], p.right[a])
                for v in range(begin, end):
                    if abs(p.modifier[v] - a) >= length:
                        break
                    for below in range(2):
                        c.pencil[v, b, 0, below] = pencil(p, c, v, b, np.int64(0), below)[0]
                v = p.arc[a, b]
                if v >= 0:
                    for point in range(low + 1, high):
                        for use in range(1, 3):
                            for below in range(2):
                                c.pencil[v, point, use, below] = pencil(p, c, v, point, use, below)[0]


@kernel
def decode(
    offsets: Indices, head: States, modifier: States, first: Indices, right_first: Indices, into: Indices,
    into_first: Indices, rank: States, siblings: Indices, grand_arcs: Indices, grands: Indices,
    crossed_scores: Floats, edge: Floats, sibling: Floats, grand_arc: Floats, grand: Floats, t: Tables,
    longest: int, heads: States, score: Floats,
) -> None:  # fmt: skip
    size, most_arcs, most_siblings, most_grands = 0, 0, 0, 0
    for s in range(len(offsets) - 1):
        v0, v1 = offsets[s] + s, offsets[s + 1] + s + 1
        a0, a1 = first[v0], first[v1]
        if v1 - v0 - 1 > longest:
            continue
        size = max(size, v1 - v0)
        most_arcs = max(most_arcs, a1 - a0)
        most_siblings = max(most_siblings, siblings[a1] - siblings[a0])
        most_grands = max(most_grands, grand_arcs[v1] - grand_arcs[v0])
    c = Chart(
        np.zeros((size, size)), np.zeros((most_arcs + 1, size)), np.zeros(most_arcs), np.zeros(most_grands),
        np.zeros((size, size)), np.zeros(most_siblings), np.zeros((size, size)), np.zeros((most_arcs, size)),
        np.zeros(most_arcs), np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size, 3)),
        np.zeros((size, size, size, 3, 10)), np.zeros((size, size, size, 2)),
        np.zeros((size, size, size), np.uint8), np.zeros((size, size, size, 12)), np.zeros((most_arcs, size, 2)),
        np.zeros((size, size, 2)), np.zeros((most_arcs, size, 3, 2)), np.zeros((2, 10)), np.zeros((4, 10)),
    )  # fmt: skip
    local_crossed, arc = np.zeros((size, size)), np.zeros((size, size), np.int64)
    local_first, local_right = np.zeros(size + 1, np.int64), np.zeros(size, np.int64)
    local_into, local_into_first = np.zeros(most_arcs + 1, np.int64), np.zeros(size + 1, np.int64)
    local_head, local_modifier = np.zeros(most_arcs, np.int64), np.zeros(most_arcs, np.int64)
    local_rank = np.zeros(most_arcs, np.int64)
    local_siblings = np.zeros(most_arcs + 1, np.int64)
    grand_arc_first, grand_first = np.zeros(most_arcs + 1, np.int64), np.zeros(most_arcs + 1, np.int64)
    stack = np.zeros((64 * size + 64, 5), np.int64)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        if n == 0 or n > longest:
            continue
        v0, v1 = offsets[s] + s, offsets[s + 1] + s + 1
        a0, a1 = first[v0], first[v1]
        s0, s1, q0, q1, g0, g1 = (
            siblings[a0], siblings[a1], grand_arcs[v0], grand_arcs[v1], grands[v0], grands[v1]
        )  # fmt: skip
        m = a1 - a0
        local_crossed[:, :] = NEVER
        arc[:, :] = -1
        for v in range(a0, a1):
            local_crossed[head[v], modifier[v]] = crossed_scores[v]
            arc[head[v], modifier[v]] = v - a0
            local_head[v - a0], local_modifier[v - a0], local_rank[v - a0] = head[v], modifier[v], rank[v]
            local_siblings[v - a0] = siblings[v] - s0
        # ROOT has one virtual arc above it, the last
        local_into[0] = m
        local_into_first[0] = 0
        local_into_first[1] = 1
        grand_arc_first[m] = -(first[v0] - a0)
        grand_first[m] = 0
        for i in range(n + 1):
            local_first[i] = first[v0 + i] - a0
            local_right[i] = right_first[v0 + i] - a0
            if i > 0:
                local_into_first[i + 1] = into_first[v0 + i + 1] - a0 + 1
                wide = siblings[first[v0 + i + 1]] - siblings[first[v0 + i]]
                for j in range(into_first[v0 + i], into_first[v0 + i + 1]):
                    u, above = into[j] - a0, j - into_first[v0 + i]
                    local_into[j - a0 + 1] = u
                    grand_arc_first[u] = (
                        grand_arcs[v0 + i] - q0 + above * (first[v0 + i + 1] - first[v0 + i]) - local_first[i]
                    )
                    grand_first[u] = grands[v0 + i] - g0 + above * wide - (siblings[first[v0 + i]] - s0)
        local_first[n + 1] = m
        p = Problem(
            local_crossed, arc, local_head[:m], local_modifier[:m], local_first, local_right, local_into,
            local_into_first, local_rank[:m], local_siblings, grand_arc_first, grand_first, edge[a0:a1], sibling[s0:s1],
            grand_arc[q0:q1], grand[g0:g1],
        )  # fmt: skip
        _clear(c, p, n)
        _fill(p, c, t, n)
        score[s] = c.trig[m, n]
        if score[s] > NEVER:
            walk(p, c, t, n, heads[offsets[s] : offsets[s + 1]], stack)


@inner_kernel
def _clear(c: Chart, p: Problem, n: int) -> None:
    """Items of length 0; and nothing is known of the others that are read without being filled."""
    for a in range(n + 1):
        for b in range(n + 1):
            c.tri[a, b] = c.box[a, b] = c.half[a, b] = c.trix[a, b] = c.chain[a, b] = NEVER
            c.meet[a, b, 0] = c.meet[a, b, 1] = NEVER
        c.tri[a, a] = 0.0
    for v in range(len(p.head) + 1):
        for a in range(n + 1):
            c.trig[v, a] = NEVER
        c.trig[v, p.modifier[v] if v < len(p.head) else 0] = 0.0
    for v in range(len(p.head)):
        c.trap[v] = c.inside[v] = NEVER
        for a in range(n + 1):
            c.halfg[v, a] = NEVER
            for below in range(2):
                c.both[v, a, below] = NEVER
                for use in range(3):
                    c.pencil[v, a, use, below] = NEVER
