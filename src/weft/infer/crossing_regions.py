"""Regions of 1-endpoint-crossing trees: L, LC, N and LR of `crossing_chart`, by states.

    L(a,b;x)  = {x-z} (a,z) (z,b)  |  {x-z} (a,z) L'(z,b;a)  |  {x-z} L'(a,z;x) (z,b)  |  {x-z} L'(a,z;x) N(z,b;a)
    N(a,b;x)  = {x-z} (a,z) (z,b)  |  {x-z} (a,z) N(z,b;x)
    LC(a,b;x) = L(a,b;x) {a-b}     |  {x-z} (a,z) LC(z,b;a)
    LR(a,k;x) = L(a,k;x)  |  L(k,a;x)  |  LC(a,q;x) {x-q}? L'(k,q;x)  |  LC(a,q;x) {x-q} (q,k)

with {u-v} a crossed edge in either direction and L'(a,b;x) = L(a,b;x) {a-b}?.
"""

from __future__ import annotations

import numpy as np

from weft.infer.crossing_chart import NEVER, SPOKE, Chart, Problem
from weft.infer.crossing_states import (
    ONE_SIDE,
    SPAN,
    SPOKE_INTERVAL,
    SPOKE_REGION,
    TWO_SIDES,
    USES,
    WITH_INNER,
    WITH_INTERVAL,
    WITH_OUTER,
    X_BELOW,
    Tables,
)  # fmt: skip
from weft.infer.ragged import Floats
from weft.kernel import inner_kernel

#: Pieces of `Chart.region`, and L without the edge a-b.
WITH_EDGE, LINKED, OUTER, PLAIN = 0, 1, 2, 3


@inner_kernel
def _join(t: Tables, table: int, spoke: Floats, other: Floats, top: Floats, want: int | np.int64) -> int:
    """Raise the best score of every state; the row of the wanted one if that was raised, else -1."""
    found = -1
    for state in range(10):
        if spoke[state] == NEVER:
            continue
        for r in range(t.first[table + state], t.first[table + state + 1]):
            total = spoke[state] + other[t.rows[r, 1]]
            whole = t.rows[r, 2]
            if total > top[whole]:
                top[whole] = total
                if whole == want:
                    found = r
    return found


@inner_kernel
def spokes(p: Problem, c: Chart, t: Tables, a: int, z: int, x: int) -> None:
    """{x-z} with the interval (a,z), and with L'(a,z;x)."""
    into, out = p.crossed[x, z], p.crossed[z, x]
    for state in range(10):
        c.top[SPOKE, state] = c.top[SPOKE + 1, state] = NEVER
    for r in range(t.first[SPOKE_INTERVAL], t.first[SPOKE_INTERVAL + 1]):
        total = (into if t.rows[r, 0] == 0 else out) + c.interval[a, z, t.rows[r, 1]]
        c.top[SPOKE, t.rows[r, 2]] = max(c.top[SPOKE, t.rows[r, 2]], total)
    if c.present[a, z, x]:
        for r in range(t.first[SPOKE_REGION], t.first[SPOKE_REGION + 1]):
            total = (into if t.rows[r, 0] == 0 else out) + c.region[a, z, x, WITH_EDGE, t.rows[r, 1]]
            c.top[SPOKE + 1, t.rows[r, 2]] = max(c.top[SPOKE + 1, t.rows[r, 2]], total)


@inner_kernel
def region(
    p: Problem, c: Chart, t: Tables, a: int, b: int, x: int, piece: int | np.int64, want: int | np.int64
) -> tuple[int, int, int]:
    """Best scores of LC without {a-b}, N and L by states, in `top`; and for the wanted state of the wanted piece:
    the kind of composition (in the order above), z, and the row."""
    for other in range(LINKED, PLAIN + 1):
        for state in range(10):
            c.top[other, state] = NEVER
    wanted_linked = want if piece == LINKED else -1
    wanted_outer = want if piece == OUTER else -1
    wanted = want if piece == PLAIN else -1
    kind, at, row = -1, a, -1
    for link in range(p.links_before[x, min(a, b) + 1], p.links_before[x, max(a, b)]):
        z = p.links[x, link]
        spokes(p, c, t, a, z, x)
        r = _join(t, WITH_INTERVAL, c.top[SPOKE], c.interval[z, b], c.top[PLAIN], wanted)
        if r >= 0:
            kind, at, row = 0, z, r
        r = _join(t, WITH_INTERVAL, c.top[SPOKE], c.interval[z, b], c.top[OUTER], wanted_outer)
        if r >= 0:
            kind, at, row = 0, z, r
        if c.present[z, b, a]:
            r = _join(t, WITH_INNER, c.top[SPOKE], c.region[z, b, a, WITH_EDGE], c.top[PLAIN], wanted)
            if r >= 0:
                kind, at, row = 1, z, r
            r = _join(t, WITH_INNER, c.top[SPOKE], c.region[z, b, a, LINKED], c.top[LINKED], wanted_linked)
            if r >= 0:
                kind, at, row = 5, z, r
        if c.present[a, z, x]:
            r = _join(t, WITH_INTERVAL, c.top[SPOKE + 1], c.interval[z, b], c.top[PLAIN], wanted)
            if r >= 0:
                kind, at, row = 2, z, r
            if c.present[z, b, a]:
                r = _join(t, WITH_INNER, c.top[SPOKE + 1], c.region[z, b, a, OUTER], c.top[PLAIN], wanted)
                if r >= 0:
                    kind, at, row = 3, z, r
        if c.present[z, b, x]:
            r = _join(t, WITH_OUTER, c.top[SPOKE], c.region[z, b, x, OUTER], c.top[OUTER], wanted_outer)
            if r >= 0:
                kind, at, row = 4, z, r
    return kind, at, row


@inner_kernel
def fill_region(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> None:
    if p.links_before[x, min(a, b) + 1] == p.links_before[x, max(a, b)]:
        c.present[a, b, x] = 0
        c.around[a, b, x, 0] = c.around[a, b, x, 1] = NEVER
        return
    region(p, c, t, a, b, x, np.int64(PLAIN), np.int64(-1))  # no literals: the function would be compiled for each
    c.present[a, b, x] = 1
    c.around[a, b, x, 0] = c.top[PLAIN, 0]
    c.around[a, b, x, 1] = max(c.top[PLAIN, X_BELOW[0]], c.top[PLAIN, X_BELOW[1]])
    for state in range(10):
        c.region[a, b, x, WITH_EDGE, state] = c.top[PLAIN, state]
        c.region[a, b, x, LINKED, state] = c.top[LINKED, state]
        c.region[a, b, x, OUTER, state] = c.top[OUTER, state]
    for r in range(t.first[SPAN], t.first[SPAN + 1]):
        state = t.rows[r, 2]
        total = (p.crossed[a, b] if t.rows[r, 0] == 0 else p.crossed[b, a]) + c.top[PLAIN, t.rows[r, 1]]
        c.region[a, b, x, WITH_EDGE, state] = max(c.region[a, b, x, WITH_EDGE, state], total)
        c.region[a, b, x, LINKED, state] = max(c.region[a, b, x, LINKED, state], total)


@inner_kernel
def better_below(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> int:
    """The better state of L in which x is below a or b, all else roots."""
    region(p, c, t, a, b, x, np.int64(PLAIN), np.int64(-1))
    return X_BELOW[0] if c.top[PLAIN, X_BELOW[0]] >= c.top[PLAIN, X_BELOW[1]] else X_BELOW[1]


@inner_kernel
def spanned(p: Problem, t: Tables, top: Floats, a: int, b: int, best: float, want: int) -> tuple[float, int]:
    """The best way to a state by the edge a-b on a region: the score, and the row; -1 if `best` is better."""
    found = -1
    for r in range(t.first[SPAN], t.first[SPAN + 1]):
        if t.rows[r, 2] == want:
            total = (p.crossed[a, b] if t.rows[r, 0] == 0 else p.crossed[b, a]) + top[t.rows[r, 1]]
            if total > best:
                best, found = total, r
    return best, found


@inner_kernel
def right(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int, use: int) -> tuple[float, int]:
    """What stands right of k and l (here a and x) in one of its uses: the score, and the row."""
    best, found = NEVER, -1
    for r in range(t.first[USES + use], t.first[USES + use + 1]):
        piece, state, d = t.rows[r, 0], t.rows[r, 1], t.rows[r, 2]
        if piece > 0 and not c.present[a, b, x]:
            continue
        total = 0.0 if d == 0 else (p.crossed[x, b] if d == 1 else p.crossed[b, x])
        total += c.interval[a, b, state] if piece == 0 else c.region[a, b, x, piece - 1, state]
        if total > best:
            best, found = total, r
    return best, found


@inner_kernel
def both(p: Problem, c: Chart, t: Tables, v: int, x: int, below: int) -> tuple[float, int, int]:
    """LR(a,k;x): the score, the inner vertex q and the row; for L: its first vertex, a or k, and -1."""
    a, k = p.head[v], p.modifier[v]
    step = 1 if k > a else -1
    best, found, row = c.around[a, k, x, below], a, -1
    if c.around[k, a, x, below] > best:
        best, found = c.around[k, a, x, below], k
    for q in range(a + step, k, step):
        if not c.present[a, q, x]:
            continue
        if c.present[k, q, x]:
            for r in range(t.first[TWO_SIDES + below], t.first[TWO_SIDES + below + 1]):
                d = t.rows[r, 2]
                total = 0.0 if d == 0 else (p.crossed[x, q] if d == 1 else p.crossed[q, x])
                total += c.region[a, q, x, LINKED, t.rows[r, 0]] + c.region[k, q, x, WITH_EDGE, t.rows[r, 1]]
                if total > best:
                    best, found, row = total, q, r
        for r in range(t.first[ONE_SIDE + below], t.first[ONE_SIDE + below + 1]):
            total = p.crossed[x, q] if t.rows[r, 2] == 1 else p.crossed[q, x]
            total += c.region[a, q, x, LINKED, t.rows[r, 0]] + c.interval[q, k, t.rows[r, 1]]
            if total > best:
                best, found, row = total, q, r
    return best, found, row
