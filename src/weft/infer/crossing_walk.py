"""The tree of the best derivation: from the whole sentence down, every item is asked again for its choices."""

from __future__ import annotations

from weft.infer.crossing_chart import (
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
from weft.infer.crossing_regions import (
    CHAIN,
    OUTER,
    PLAIN,
    WITH_EDGE,
    better_below,
    both,
    region,
    right,
    spanned,
    spokes,
)
from weft.infer.crossing_states import Tables
from weft.infer.ragged import Indices, States
from weft.kernel import inner_kernel

#: Kinds of items on the stack, with what their four numbers are.
TRI, TRIG, TRAP, TRAPG = 0, 1, 2, 3  # (h, e), (u, e), (v), (u, v)
BOX, BOXG, HALF, HALFG, INSIDE = 4, 5, 6, 7, 8  # (a, b), (v, rank), (a, b), (v, a), (v)
TRIX, CHAINED, MEET, BOTH = 9, 10, 11, 12  # (a, b), (a, b), (a, l, below), (v, x, below)
PENCIL, RIGHT, SPOKE = 13, 14, 15  # (v, l, use, below), (a, b, x, use), (a, z, x, 2 * state + region)
REGION = 16  # + piece: (a, b, x, state)


@inner_kernel
def _push(stack: Indices, size: int, kind: int, i: int, j: int, k: int, state: int) -> int:
    stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3], stack[size, 4] = kind, i, j, k, state
    return size + 1


@inner_kernel
def _push_interval(stack: Indices, size: int, a: int, b: int, state: int) -> int:
    if state == 0:
        return _push(stack, size, BOX, a, b, 0, 0)
    return _push(stack, size, TRI, a, b, 0, 0) if state == 1 else _push(stack, size, TRI, b, a, 0, 0)


@inner_kernel
def walk(p: Problem, c: Chart, t: Tables, n: int, heads: States, stack: Indices) -> None:
    size = _push(stack, 0, TRIG, len(p.head), n, 0, 0)
    while size > 0:
        size -= 1
        kind, i, j, k, state = stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3], stack[size, 4]
        if kind <= INSIDE:
            size = _walk_interval(p, c, heads, stack, size, kind, i, j)
        elif kind <= RIGHT:
            size = _walk_crossed(p, c, t, heads, stack, size, kind, i, j, k, state)
        else:
            size = _walk_region(p, c, t, heads, stack, size, kind, i, j, k, state)


@inner_kernel
def _walk_interval(p: Problem, c: Chart, heads: States, stack: Indices, size: int, kind: int, i: int, j: int) -> int:
    if kind <= TRIG:
        h = i if kind == TRI else (0 if i == len(p.head) else p.modifier[i])
        if h == j:
            return size
        _, v = tri(p, c, h, j) if kind == TRI else trig(p, c, i, h, j)
        if v < 0:
            return _push(stack, size, TRIX, h, j, 0, 0)
        size = _push(stack, size, TRIG, v, j, 0, 0)
        return _push(stack, size, TRAP, v, 0, 0, 0) if kind == TRI else _push(stack, size, TRAPG, i, v, 0, 0)
    if kind <= TRAPG:
        v = i if kind == TRAP else j
        h, m = p.head[v], p.modifier[v]
        heads[m - 1] = h
        _, rank = trap(p, c, v) if kind == TRAP else trapg(p, c, i, v)
        if rank == -2:
            return _push(stack, size, INSIDE, v, 0, 0, 0)
        if rank == -1:
            return _push(stack, size, TRIG, v, h + (1 if m > h else -1), 0, 0)
        size = _push(stack, size, BOXG, v, rank, 0, 0)
        w = v - p.rank[v] + rank
        return _push(stack, size, TRAP, w, 0, 0, 0) if kind == TRAP else _push(stack, size, TRAPG, i, w, 0, 0)
    if kind == BOX:
        _, at, crosses = box(c, i, j)
        size = _push(stack, size, TRI, i, at, 0, 0)
        if crosses:
            return _push(stack, size, HALF, at, j, 0, 0)
        return _push(stack, size, TRI, j, at + (1 if j > i else -1), 0, 0)
    if kind == BOXG:
        _, at, crosses = boxg(p, c, i, j)
        w = i - p.rank[i] + j
        size = _push(stack, size, TRIG, w, at, 0, 0)
        if crosses:
            return _push(stack, size, HALFG, i, at, 0, 0)
        return _push(stack, size, TRIG, i, at + (1 if p.modifier[i] > p.modifier[w] else -1), 0, 0)
    if kind == HALF:
        _, d = half(c, i, j)
        size = _push(stack, size, CHAINED, i, d, 0, 0)
        return _push(stack, size, TRI, j, d, 0, 0)
    if kind == HALFG:
        _, d = halfg(p, c, i, j)
        size = _push(stack, size, CHAINED, j, d, 0, 0)
        return _push(stack, size, TRIG, i, d, 0, 0)
    _, e, crosses = inside(p, c, i)
    h = p.head[i]
    if e != h:
        size = _push(stack, size, TRIX, h, e, 0, 0)
    if crosses:
        return _push(stack, size, HALFG, i, e, 0, 0)
    return _push(stack, size, TRIG, i, e + (1 if p.modifier[i] > h else -1), 0, 0)


@inner_kernel
def _walk_crossed(
    p: Problem, c: Chart, t: Tables, heads: States, stack: Indices, size: int, kind: int, i: int, j: int, k: int,
    state: int,
) -> int:  # fmt: skip
    if kind <= CHAINED:
        chain = kind - TRIX
        _, v, point, how = crossed_furthest(p, c, i, j, chain)
        if v < 0:
            if point != j:
                size = _push(stack, size, TRI, point, j, 0, 0)
            return _push(stack, size, MEET, i, point, 1 - chain, 0)
        use, below = how // 2, how % 2
        size = _push(stack, size, PENCIL, v, point, use, below)
        m, number = p.modifier[v], 4 * use + 2 * chain + below
        return (
            _push(stack, size, RIGHT, point, j, m, number)
            if use == 0
            else _push(stack, size, RIGHT, m, j, point, number)
        )
    if kind == MEET:
        _, v, early = meet(p, c, i, j, k)
        m = p.modifier[v]
        heads[m - 1] = i
        size = _push(stack, size, BOTH, v, j, early, 0)
        return _push_interval(stack, size, m, j, k - early)
    if kind == BOTH:
        _, q, row = both(p, c, t, i, j, k)
        a, m = p.head[i], p.modifier[i]
        if row < 0:
            b = m if q == a else a
            found = better_below(p, c, t, q, b, j) if k == 1 else 0
            return _push(stack, size, REGION + PLAIN, q, b, j, found)
        two = row < len(t.two_sides)
        rows, r = (t.two_sides, row) if two else (t.one_side, row - len(t.two_sides))
        left, other, d = rows[r, 0], rows[r, 1], rows[r, 2]
        if d == 1:
            heads[q - 1] = j
        elif d == 2:
            heads[j - 1] = q
        size = _push(stack, size, REGION + CHAIN, a, q, j, left)
        if two:
            return _push(stack, size, REGION + WITH_EDGE, m, q, j, other)
        return _push_interval(stack, size, q, m, other)
    if kind == PENCIL:
        _, found, early = pencil(p, c, i, j, k, state)
        a, m, late = p.head[i], p.modifier[i], state - early
        heads[m - 1] = a
        if k == 0:
            size = _push_interval(stack, size, m, j, late)
            found = better_below(p, c, t, m, a, j) if early == 1 else 0
            return _push(stack, size, REGION + PLAIN, m, a, j, found)
        if k == 2:
            size = _push_interval(stack, size, a, j, late)
            return _push(stack, size, REGION + WITH_EDGE, j, m, a, found)
        size = _push_interval(stack, size, j, m, 2 * late)
        if found < 0:
            return _push_interval(stack, size, a, j, early)
        return _push(stack, size, REGION + WITH_EDGE, j, a, m, found)
    _, row = right(p, c, t, i, j, k, state)
    piece, found, d = t.right[row, 0], t.right[row, 1], t.right[row, 2]
    if d == 1:
        heads[j - 1] = k
    elif d == 2:
        heads[k - 1] = j
    if piece == 0:
        return _push_interval(stack, size, i, j, found)
    return _push(stack, size, REGION + piece - 1, i, j, k, found)


@inner_kernel
def _walk_region(
    p: Problem, c: Chart, t: Tables, heads: States, stack: Indices, size: int, kind: int, a: int, b: int, x: int,
    state: int,
) -> int:  # fmt: skip
    if kind == SPOKE:
        return _walk_spoke(p, c, t, heads, stack, size, a, b, x, state)
    piece = kind - REGION
    if piece <= CHAIN:
        _, how, z, row = region(p, c, t, a, b, x, piece, state)
        without = c.top[PLAIN, state] if piece == WITH_EDGE else c.top[CHAIN, state]
        _, edge = spanned(p, t, c.top[PLAIN], a, b, without, state)
        if edge >= 0:
            if t.span[edge, 0] == 0:
                heads[b - 1] = a
            else:
                heads[a - 1] = b
            return _push(stack, size, REGION + PLAIN, a, b, x, t.span[edge, 1])
        if piece == WITH_EDGE:
            return _push(stack, size, REGION + PLAIN, a, b, x, state)
    else:
        _, how, z, row = region(p, c, t, a, b, x, piece, state)
    table = t.interval if how == 0 or how == 2 else (t.outer if how == 4 else t.inner)
    spoke, other = table[row, 0], table[row, 1]
    size = _push(stack, size, SPOKE, a, z, x, 2 * spoke + (1 if how == 2 or how == 3 else 0))
    if how == 0 or how == 2:
        return _push_interval(stack, size, z, b, other)
    if how == 4:
        return _push(stack, size, REGION + OUTER, z, b, x, other)
    return _push(stack, size, REGION + (WITH_EDGE if how == 1 else (OUTER if how == 3 else CHAIN)), z, b, a, other)


@inner_kernel
def _walk_spoke(
    p: Problem, c: Chart, t: Tables, heads: States, stack: Indices, size: int, a: int, z: int, x: int, state: int
) -> int:  # fmt: skip
    spokes(p, c, t, a, z, x)
    in_region, wanted = state % 2, state // 2
    rows = t.spoke_region if in_region else t.spoke_interval
    for r in range(len(rows)):
        if rows[r, 2] == wanted:
            edge = p.crossed[x, z] if rows[r, 0] == 0 else p.crossed[z, x]
            other = rows[r, 1]
            rest = c.region[a, z, x, WITH_EDGE, other] if in_region else c.interval[a, z, other]
            if edge + rest == c.spoke[in_region, wanted]:
                if rows[r, 0] == 0:
                    heads[z - 1] = x
                else:
                    heads[x - 1] = z
                if in_region:
                    return _push(stack, size, REGION + WITH_EDGE, a, z, x, other)
                return _push_interval(stack, size, a, z, other)
    return size
