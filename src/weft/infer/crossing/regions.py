"""Regions of 1-endpoint-crossing trees: L, LC, N and LR of `crossing_chart`, by states.

    L(a,b;x)  = {x-z} (a,z) (z,b)  |  {x-z} (a,z) L'(z,b;a)  |  {x-z} L'(a,z;x) (z,b)  |  {x-z} L'(a,z;x) N(z,b;a)
    N(a,b;x)  = {x-z} (a,z) (z,b)  |  {x-z} (a,z) N(z,b;x)
    LC(a,b;x) = L(a,b;x) {a-b}     |  {x-z} (a,z) LC(z,b;a)
    LR(a,k;x) = L(a,k;x)  |  L(k,a;x)  |  LC(a,q;x) {x-q}? L'(k,q;x)  |  LC(a,q;x) {x-q} (q,k)

with {u-v} a crossed edge in either direction and L'(a,b;x) = L(a,b;x) {a-b}?.
"""

from __future__ import annotations

from weft.arrays import Floats
from weft.infer.crossing.chart import NEVER, Chart, Problem
from weft.infer.crossing.states import (  # fmt: skip
    N_SPOKES,
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
)
from weft.kernel import inner_kernel

#: Pieces of `Chart.region`, and L without the edge a-b.
WITH_EDGE, LINKED, OUTER, PLAIN = 0, 1, 2, 3


@inner_kernel
def _join(t: Tables, table: int, spoke: Floats, other: Floats, top: Floats) -> None:
    """Raise the best score of every state by those of spokes with another piece."""
    for state in range(N_SPOKES):
        if spoke[state] > NEVER:
            for r in range(t.first[table + state], t.first[table + state + 1]):
                whole, total = t.rows[r, 2], spoke[state] + other[t.rows[r, 1]]
                top[whole] = total if total > top[whole] else top[whole]


@inner_kernel
def fill_spokes(p: Problem, c: Chart, t: Tables, a: int, z: int, x: int) -> None:
    """{x-z} with the interval (a,z), and with L'(a,z;x)."""
    into, out = p.crossed[x, z], p.crossed[z, x]
    for state in range(N_SPOKES):
        c.spoke[a, z, x, 0, state] = c.spoke[a, z, x, 1, state] = NEVER
    for r in range(t.first[SPOKE_INTERVAL], t.first[SPOKE_INTERVAL + 1]):
        total = (into if t.rows[r, 0] == 0 else out) + c.interval[a, z, t.rows[r, 1]]
        c.spoke[a, z, x, 0, t.rows[r, 2]] = max(c.spoke[a, z, x, 0, t.rows[r, 2]], total)
    if c.present[a, z, x]:
        for r in range(t.first[SPOKE_REGION], t.first[SPOKE_REGION + 1]):
            total = (into if t.rows[r, 0] == 0 else out) + c.region[a, z, x, WITH_EDGE, t.rows[r, 1]]
            c.spoke[a, z, x, 1, t.rows[r, 2]] = max(c.spoke[a, z, x, 1, t.rows[r, 2]], total)


@inner_kernel
def region(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> None:
    """Best scores of LC without {a-b}, N and L by states, in `top`."""
    for piece in range(PLAIN + 1):
        for state in range(10):
            c.top[piece, state] = NEVER
    near = (x < a) == (a < b)  # only such regions are asked for N
    for link in range(p.links_before[x, min(a, b) + 1], p.links_before[x, max(a, b)]):
        z = p.links[x, link]
        _join(t, WITH_INTERVAL, c.spoke[a, z, x, 0], c.interval[z, b], c.top[WITH_EDGE])
        if c.present[z, b, a]:
            _join(t, WITH_INNER, c.spoke[a, z, x, 0], c.region[z, b, a, WITH_EDGE], c.top[PLAIN])
            _join(t, WITH_INNER, c.spoke[a, z, x, 0], c.region[z, b, a, LINKED], c.top[LINKED])
        if c.present[a, z, x]:
            _join(t, WITH_INTERVAL, c.spoke[a, z, x, 1], c.interval[z, b], c.top[PLAIN])
            if c.present[z, b, a]:
                _join(t, WITH_INNER, c.spoke[a, z, x, 1], c.region[z, b, a, OUTER], c.top[PLAIN])
        if near and c.present[z, b, x]:
            _join(t, WITH_OUTER, c.spoke[a, z, x, 0], c.region[z, b, x, OUTER], c.top[OUTER])
    for state in range(10):  # intervals on both sides of z are L and N
        c.top[PLAIN, state] = max(c.top[PLAIN, state], c.top[WITH_EDGE, state])
        c.top[OUTER, state] = max(c.top[OUTER, state], c.top[WITH_EDGE, state])


@inner_kernel
def region_choice(
    p: Problem, c: Chart, t: Tables, a: int, b: int, x: int, piece: int, want: int
) -> tuple[int, int, int]:
    """The best way to a state of LC without {a-b}, N or L: the kind of composition (in the order above), z, the row."""
    best, kind, at, row = NEVER, -1, a, -1
    for link in range(p.links_before[x, min(a, b) + 1], p.links_before[x, max(a, b)]):
        z = p.links[x, link]
        for how in range(6):
            if (piece == LINKED) != (how == 5) or (piece == OUTER and 0 < how < 4) or (piece == PLAIN and how == 4):
                continue
            spoke = 1 if how == 2 or how == 3 else 0
            if spoke == 1 and not c.present[a, z, x]:
                continue
            if (how == 4 and not c.present[z, b, x]) or (how % 2 == 1 and not c.present[z, b, a]):
                continue
            table = WITH_OUTER if how == 4 else (WITH_INNER if how % 2 == 1 else WITH_INTERVAL)
            for r in range(t.first[table], t.first[table + N_SPOKES]):
                if t.rows[r, 2] == want:
                    j, total = t.rows[r, 1], c.spoke[a, z, x, spoke, t.rows[r, 0]]
                    if how == 4:
                        total += c.region[z, b, x, OUTER, j]
                    elif how % 2 == 1:
                        total += c.region[z, b, a, WITH_EDGE if how == 1 else (OUTER if how == 3 else LINKED), j]
                    else:
                        total += c.interval[z, b, j]
                    if total > best:
                        best, kind, at, row = total, how, z, r
    return kind, at, row


@inner_kernel
def fill_region(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> None:
    absent = p.links_before[x, min(a, b) + 1] == p.links_before[x, max(a, b)]
    if b > a and x > b:  # regions with x beyond b stand inside an edge a -> k only, which x-edges cross
        absent |= p.reach[a, x] < b
    elif b < a and x < b:
        absent |= p.reach[a, x] > b
    if absent:
        c.present[a, b, x] = 0
        c.around[a, b, x, 0] = c.around[a, b, x, 1] = NEVER
        return
    region(p, c, t, a, b, x)
    c.present[a, b, x] = 1
    c.around[a, b, x, 0] = c.top[PLAIN, 0]
    c.around[a, b, x, 1] = max(c.top[PLAIN, X_BELOW[0]], c.top[PLAIN, X_BELOW[1]])
    for state in range(10):
        c.region[a, b, x, WITH_EDGE, state] = c.top[PLAIN, state]
        c.region[a, b, x, LINKED, state] = c.top[LINKED, state]
        c.region[a, b, x, OUTER, state] = c.top[OUTER, state]
    if p.crossed[a, b] == NEVER and p.crossed[b, a] == NEVER:
        return
    for r in range(t.first[SPAN], t.first[SPAN + 1]):
        state = t.rows[r, 2]
        total = (p.crossed[a, b] if t.rows[r, 0] == 0 else p.crossed[b, a]) + c.top[PLAIN, t.rows[r, 1]]
        c.region[a, b, x, WITH_EDGE, state] = max(c.region[a, b, x, WITH_EDGE, state], total)
        c.region[a, b, x, LINKED, state] = max(c.region[a, b, x, LINKED, state], total)


@inner_kernel
def better_below(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> int:
    """The better state of L in which x is below a or b, all else roots."""
    region(p, c, t, a, b, x)
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
