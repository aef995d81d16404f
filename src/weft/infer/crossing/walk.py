"""The tree of the best derivation: from the whole sentence down, every item is asked again for its choices."""

from __future__ import annotations

from weft.infer.crossing.chart import (  # fmt: skip
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
from weft.infer.crossing.regions import (  # fmt: skip
    LINKED,
    OUTER,
    PLAIN,
    WITH_EDGE,
    better_below,
    both,
    region,
    region_choice,
    right,
    spanned,
)
from weft.infer.crossing.states import ONE_SIDE, SPOKE_INTERVAL, SPOKE_REGION, Tables
from weft.kernel import inner_kernel
from weft.ragged import Indices, States

#: Kinds of items on the stack, with what their four numbers are.
AT_TRI, AT_TRIG, AT_TRAP, AT_TRAPG = 0, 1, 2, 3  # (h, e), (u, e), (v), (u, v)
AT_BOX, AT_BOXG, AT_HALF, AT_HALFG, AT_INSIDE = 4, 5, 6, 7, 8  # (a, b), (v, rank), (a, b), (v, a), (v)
AT_TRIX, AT_CHAINED, AT_MEET, AT_BOTH = 9, 10, 11, 12  # (a, b), (a, b), (a, l, below), (v, x, below)
AT_PENCIL, AT_RIGHT, AT_SPOKE = 13, 14, 15  # (v, l, use, below), (a, b, x, use), (a, z, x, 2 * state + region)
AT_REGION = 16  # + piece: (a, b, x, state)


@inner_kernel
def _push(stack: Indices, size: int, kind: int, i: int, j: int, k: int, state: int) -> int:
    stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3], stack[size, 4] = kind, i, j, k, state
    return size + 1


@inner_kernel
def _push_interval(stack: Indices, size: int, a: int, b: int, state: int) -> int:
    if state == 0:
        return _push(stack, size, AT_BOX, a, b, 0, 0)
    return _push(stack, size, AT_TRI, a, b, 0, 0) if state == 1 else _push(stack, size, AT_TRI, b, a, 0, 0)


@inner_kernel
def walk(p: Problem, c: Chart, t: Tables, n: int, heads: States, stack: Indices) -> None:
    size = _push(stack, 0, AT_TRIG, len(p.head), n, 0, 0)
    while size > 0:
        size -= 1
        kind, i, j, k, state = stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3], stack[size, 4]
        if kind <= AT_INSIDE:
            size = _walk_interval(p, c, heads, stack, size, kind, i, j)
        elif kind <= AT_RIGHT:
            size = _walk_crossed(p, c, t, heads, stack, size, kind, i, j, k, state)
        else:
            size = _walk_region(p, c, t, heads, stack, size, kind, i, j, k, state)


@inner_kernel
def _walk_interval(p: Problem, c: Chart, heads: States, stack: Indices, size: int, kind: int, i: int, j: int) -> int:
    if kind <= AT_TRIG:
        h = i if kind == AT_TRI else (0 if i == len(p.head) else p.modifier[i])
        if h == j:
            return size
        _, v = tri(p, c, h, j) if kind == AT_TRI else trig(p, c, i, h, j)
        if v < 0:
            return _push(stack, size, AT_TRIX, h, j, 0, 0)
        size = _push(stack, size, AT_TRIG, v, j, 0, 0)
        return _push(stack, size, AT_TRAP, v, 0, 0, 0) if kind == AT_TRI else _push(stack, size, AT_TRAPG, i, v, 0, 0)
    if kind <= AT_TRAPG:
        v = i if kind == AT_TRAP else j
        h, m = p.head[v], p.modifier[v]
        heads[m - 1] = h
        _, rank = trap(p, c, v) if kind == AT_TRAP else trapg(p, c, i, v)
        if rank == -2:
            return _push(stack, size, AT_INSIDE, v, 0, 0, 0)
        if rank == -1:
            return _push(stack, size, AT_TRIG, v, h + (1 if m > h else -1), 0, 0)
        size = _push(stack, size, AT_BOXG, v, rank, 0, 0)
        w = v - p.rank[v] + rank
        return _push(stack, size, AT_TRAP, w, 0, 0, 0) if kind == AT_TRAP else _push(stack, size, AT_TRAPG, i, w, 0, 0)
    if kind == AT_BOX:
        _, at, crosses = box(c, i, j)
        size = _push(stack, size, AT_TRI, i, at, 0, 0)
        if crosses:
            return _push(stack, size, AT_HALF, at, j, 0, 0)
        return _push(stack, size, AT_TRI, j, at + (1 if j > i else -1), 0, 0)
    if kind == AT_BOXG:
        _, at, crosses = boxg(p, c, i, j)
        w = i - p.rank[i] + j
        size = _push(stack, size, AT_TRIG, w, at, 0, 0)
        if crosses:
            return _push(stack, size, AT_HALFG, i, at, 0, 0)
        return _push(stack, size, AT_TRIG, i, at + (1 if p.modifier[i] > p.modifier[w] else -1), 0, 0)
    if kind == AT_HALF:
        _, d = half(c, i, j)
        size = _push(stack, size, AT_CHAINED, i, d, 0, 0)
        return _push(stack, size, AT_TRI, j, d, 0, 0)
    if kind == AT_HALFG:
        _, d = halfg(p, c, i, j)
        size = _push(stack, size, AT_CHAINED, j, d, 0, 0)
        return _push(stack, size, AT_TRIG, i, d, 0, 0)
    _, e, crosses = inside(p, c, i)
    h = p.head[i]
    if e != h:
        size = _push(stack, size, AT_TRIX, h, e, 0, 0)
    if crosses:
        return _push(stack, size, AT_HALFG, i, e, 0, 0)
    return _push(stack, size, AT_TRIG, i, e + (1 if p.modifier[i] > h else -1), 0, 0)


@inner_kernel
def _walk_crossed(
    p: Problem, c: Chart, t: Tables, heads: States, stack: Indices, size: int, kind: int, i: int, j: int, k: int,
    state: int,
) -> int:  # fmt: skip
    if kind <= AT_CHAINED:
        chain = kind - AT_TRIX
        _, v, point, how = crossed_furthest(p, c, i, j, chain)
        if v < 0:
            if point != j:
                size = _push(stack, size, AT_TRI, point, j, 0, 0)
            return _push(stack, size, AT_MEET, i, point, 1 - chain, 0)
        use, below = how // 2, how % 2
        size = _push(stack, size, AT_PENCIL, v, point, use, below)
        m, number = p.modifier[v], 4 * use + 2 * chain + below
        return (
            _push(stack, size, AT_RIGHT, point, j, m, number)
            if use == 0
            else _push(stack, size, AT_RIGHT, m, j, point, number)
        )
    if kind == AT_MEET:
        _, v, early = meet(p, c, i, j, k)
        m = p.modifier[v]
        heads[m - 1] = i
        size = _push(stack, size, AT_BOTH, v, j, early, 0)
        return _push_interval(stack, size, m, j, k - early)
    if kind == AT_BOTH:
        _, q, row = both(p, c, t, i, j, k)
        a, m = p.head[i], p.modifier[i]
        if row < 0:
            b = m if q == a else a
            found = better_below(p, c, t, q, b, j) if k == 1 else 0
            return _push(stack, size, AT_REGION + PLAIN, q, b, j, found)
        left, other, d = t.rows[row, 0], t.rows[row, 1], t.rows[row, 2]
        if d == 1:
            heads[q - 1] = j
        elif d == 2:
            heads[j - 1] = q
        size = _push(stack, size, AT_REGION + LINKED, a, q, j, left)
        if row < t.first[ONE_SIDE]:
            return _push(stack, size, AT_REGION + WITH_EDGE, m, q, j, other)
        return _push_interval(stack, size, q, m, other)
    if kind == AT_PENCIL:
        _, found, early = pencil(p, c, i, j, k, state)
        a, m, late = p.head[i], p.modifier[i], state - early
        heads[m - 1] = a
        if k == 0:
            size = _push_interval(stack, size, m, j, late)
            found = better_below(p, c, t, m, a, j) if early == 1 else 0
            return _push(stack, size, AT_REGION + PLAIN, m, a, j, found)
        if k == 2:
            size = _push_interval(stack, size, a, j, late)
            return _push(stack, size, AT_REGION + WITH_EDGE, j, m, a, found)
        size = _push_interval(stack, size, j, m, 2 * late)
        if found < 0:
            return _push_interval(stack, size, a, j, early)
        return _push(stack, size, AT_REGION + WITH_EDGE, j, a, m, found)
    _, row = right(p, c, t, i, j, k, state)
    piece, found, d = t.rows[row, 0], t.rows[row, 1], t.rows[row, 2]
    if d == 1:
        heads[j - 1] = k
    elif d == 2:
        heads[k - 1] = j
    if piece == 0:
        return _push_interval(stack, size, i, j, found)
    return _push(stack, size, AT_REGION + piece - 1, i, j, k, found)


@inner_kernel
def _walk_region(
    p: Problem, c: Chart, t: Tables, heads: States, stack: Indices, size: int, kind: int, a: int, b: int, x: int,
    state: int,
) -> int:  # fmt: skip
    if kind == AT_SPOKE:
        return _walk_spoke(p, c, t, heads, stack, size, a, b, x, state)
    piece = kind - AT_REGION
    if piece <= LINKED:
        region(p, c, t, a, b, x)
        without = c.top[PLAIN, state] if piece == WITH_EDGE else c.top[LINKED, state]
        _, edge = spanned(p, t, c.top[PLAIN], a, b, without, state)
        if edge >= 0:
            if t.rows[edge, 0] == 0:
                heads[b - 1] = a
            else:
                heads[a - 1] = b
            return _push(stack, size, AT_REGION + PLAIN, a, b, x, t.rows[edge, 1])
        if piece == WITH_EDGE:
            return _push(stack, size, AT_REGION + PLAIN, a, b, x, state)
    how, z, row = region_choice(p, c, t, a, b, x, piece, state)
    spoke, other = t.rows[row, 0], t.rows[row, 1]
    size = _push(stack, size, AT_SPOKE, a, z, x, 2 * spoke + (1 if how == 2 or how == 3 else 0))
    if how == 0 or how == 2:
        return _push_interval(stack, size, z, b, other)
    if how == 4:
        return _push(stack, size, AT_REGION + OUTER, z, b, x, other)
    return _push(stack, size, AT_REGION + (WITH_EDGE if how == 1 else (OUTER if how == 3 else LINKED)), z, b, a, other)


@inner_kernel
def _walk_spoke(
    p: Problem, c: Chart, t: Tables, heads: States, stack: Indices, size: int, a: int, z: int, x: int, state: int
) -> int:  # fmt: skip
    in_region, wanted = state % 2, state // 2
    table = SPOKE_REGION if in_region else SPOKE_INTERVAL
    for r in range(t.first[table], t.first[table + 1]):
        if t.rows[r, 2] == wanted:
            edge = p.crossed[x, z] if t.rows[r, 0] == 0 else p.crossed[z, x]
            other = t.rows[r, 1]
            rest = c.region[a, z, x, WITH_EDGE, other] if in_region else c.interval[a, z, other]
            if edge + rest == c.spoke[a, z, x, in_region, wanted]:
                if t.rows[r, 0] == 0:
                    heads[z - 1] = x
                else:
                    heads[x - 1] = z
                if in_region:
                    return _push(stack, size, AT_REGION + WITH_EDGE, a, z, x, other)
                return _push_interval(stack, size, a, z, other)
    return size
