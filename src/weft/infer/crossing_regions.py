"""Regions of 1-endpoint-crossing trees: L, LC, N and LR of `crossing_chart`, by states.

    L(a,b;x)  = {x-z} (a,z) (z,b)  |  {x-z} (a,z) L'(z,b;a)  |  {x-z} L'(a,z;x) (z,b)  |  {x-z} L'(a,z;x) N(z,b;a)
    N(a,b;x)  = {x-z} (a,z) (z,b)  |  {x-z} (a,z) N(z,b;x)
    LC(a,b;x) = L(a,b;x) {a-b}     |  {x-z} (a,z) LC(z,b;a)
    LR(a,k;x) = L(a,k;x)  |  L(k,a;x)  |  LC(a,q;x) {x-q}? L'(k,q;x)  |  LC(a,q;x) {x-q} (q,k)

with {u-v} a crossed edge in either direction and L'(a,b;x) = L(a,b;x) {a-b}?.
"""

from __future__ import annotations

import numpy as np

from weft.infer.crossing_chart import NEVER, Chart, Problem
from weft.infer.crossing_states import X_BELOW, Tables
from weft.infer.ragged import Floats, Indices
from weft.kernel import inner_kernel

#: Pieces of `Chart.region`, and L without the edge a-b.
WITH_EDGE, CHAIN, OUTER, PLAIN = 0, 1, 2, 3


@inner_kernel
def _join(spoke: Floats, other: Floats, rows: Indices, top: Floats, want: int | np.int64) -> int:
    """Raise the best score of every state; the row of the wanted one if that was raised, else -1."""
    found = -1
    for r in range(len(rows)):
        total = spoke[rows[r, 0]] + other[rows[r, 1]]
        state = rows[r, 2]
        if total > top[state]:
            top[state] = total
            if state == want:
                found = r
    return found


@inner_kernel
def spokes(p: Problem, c: Chart, t: Tables, a: int, z: int, x: int) -> None:
    """{x-z} with the interval (a,z), and with L'(a,z;x)."""
    into, out = p.crossed[x, z], p.crossed[z, x]
    for state in range(10):
        c.spoke[0, state] = c.spoke[1, state] = NEVER
    for r in range(len(t.spoke_interval)):
        total = (into if t.spoke_interval[r, 0] == 0 else out) + c.interval[a, z, t.spoke_interval[r, 1]]
        state = t.spoke_interval[r, 2]
        c.spoke[0, state] = max(c.spoke[0, state], total)
    if c.present[a, z, x]:
        for r in range(len(t.spoke_region)):
            total = (into if t.spoke_region[r, 0] == 0 else out) + c.region[a, z, x, WITH_EDGE, t.spoke_region[r, 1]]
            state = t.spoke_region[r, 2]
            c.spoke[1, state] = max(c.spoke[1, state], total)


@inner_kernel
def region(
    p: Problem, c: Chart, t: Tables, a: int, b: int, x: int, piece: int | np.int64, want: int | np.int64
) -> tuple[bool, int, int, int]:
    """Best scores of LC without {a-b}, N and L by states, in `top`; whether there are any; and for the wanted state of
    the wanted piece: the kind of composition (in the order above), z, and the row of its table."""
    for other in range(CHAIN, PLAIN + 1):
        for state in range(10):
            c.top[other, state] = NEVER
    wanted_chain = want if piece == CHAIN else -1
    wanted_outer = want if piece == OUTER else -1
    wanted = want if piece == PLAIN else -1
    some, kind, at, row = False, -1, a, -1
    step = 1 if b > a else -1
    for z in range(a + step, b, step):
        if p.crossed[x, z] == NEVER and p.crossed[z, x] == NEVER:
            continue
        some = True
        spokes(p, c, t, a, z, x)
        r = _join(c.spoke[0], c.interval[z, b], t.interval, c.top[PLAIN], wanted)
        if r >= 0:
            kind, at, row = 0, z, r
        r = _join(c.spoke[0], c.interval[z, b], t.interval, c.top[OUTER], wanted_outer)
        if r >= 0:
            kind, at, row = 0, z, r
        if c.present[z, b, a]:
            r = _join(c.spoke[0], c.region[z, b, a, WITH_EDGE], t.inner, c.top[PLAIN], wanted)
            if r >= 0:
                kind, at, row = 1, z, r
            r = _join(c.spoke[0], c.region[z, b, a, CHAIN], t.inner, c.top[CHAIN], wanted_chain)
            if r >= 0:
                kind, at, row = 5, z, r
        if c.present[a, z, x]:
            r = _join(c.spoke[1], c.interval[z, b], t.interval, c.top[PLAIN], wanted)
            if r >= 0:
                kind, at, row = 2, z, r
            if c.present[z, b, a]:
                r = _join(c.spoke[1], c.region[z, b, a, OUTER], t.inner, c.top[PLAIN], wanted)
                if r >= 0:
                    kind, at, row = 3, z, r
        if c.present[z, b, x]:
            r = _join(c.spoke[0], c.region[z, b, x, OUTER], t.outer, c.top[OUTER], wanted_outer)
            if r >= 0:
                kind, at, row = 4, z, r
    return some, kind, at, row


@inner_kernel
def fill_region(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> None:
    some, _, _, _ = region(p, c, t, a, b, x, np.int64(PLAIN), np.int64(-1))  # no literals: each would be compiled
    c.present[a, b, x] = 1 if some else 0
    c.plain[a, b, x, 0] = c.top[PLAIN, 0]
    c.plain[a, b, x, 1] = max(c.top[PLAIN, X_BELOW[0]], c.top[PLAIN, X_BELOW[1]])
    if not some:
        return
    for state in range(10):
        c.region[a, b, x, WITH_EDGE, state] = c.top[PLAIN, state]
        c.region[a, b, x, CHAIN, state] = c.top[CHAIN, state]
        c.region[a, b, x, OUTER, state] = c.top[OUTER, state]
    for r in range(len(t.span)):
        state = t.span[r, 2]
        total = (p.crossed[a, b] if t.span[r, 0] == 0 else p.crossed[b, a]) + c.top[PLAIN, t.span[r, 1]]
        c.region[a, b, x, WITH_EDGE, state] = max(c.region[a, b, x, WITH_EDGE, state], total)
        c.region[a, b, x, CHAIN, state] = max(c.region[a, b, x, CHAIN, state], total)


@inner_kernel
def better_below(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int) -> int:
    """The better state of L in which x is below a or b, all else roots."""
    region(p, c, t, a, b, x, np.int64(PLAIN), np.int64(-1))
    return X_BELOW[0] if c.top[PLAIN, X_BELOW[0]] >= c.top[PLAIN, X_BELOW[1]] else X_BELOW[1]


@inner_kernel
def spanned(p: Problem, t: Tables, top: Floats, a: int, b: int, best: float, want: int) -> tuple[float, int]:
    """The best way to a state by the edge a-b on a region: the score, and the row of `span`; -1 if `best` is better."""
    found = -1
    for r in range(len(t.span)):
        if t.span[r, 2] == want:
            total = (p.crossed[a, b] if t.span[r, 0] == 0 else p.crossed[b, a]) + top[t.span[r, 1]]
            if total > best:
                best, found = total, r
    return best, found


@inner_kernel
def right(p: Problem, c: Chart, t: Tables, a: int, b: int, x: int, use: int) -> tuple[float, int]:
    """What stands right of k and l (here a and x) in one of its uses: the score, and the row of `right`."""
    best, found = NEVER, -1
    for r in range(t.right_first[use], t.right_first[use + 1]):
        piece, state, d = t.right[r, 0], t.right[r, 1], t.right[r, 2]
        if piece > 0 and not c.present[a, b, x]:
            continue
        total = 0.0 if d == 0 else (p.crossed[x, b] if d == 1 else p.crossed[b, x])
        total += c.interval[a, b, state] if piece == 0 else c.region[a, b, x, piece - 1, state]
        if total > best:
            best, found = total, r
    return best, found


@inner_kernel
def both(p: Problem, c: Chart, t: Tables, v: int, x: int, below: int) -> tuple[float, int, int]:
    """LR(a,k;x): the score; the inner vertex q and the row of `two_sides`, then of `one_side`; for L: a or k, -1."""
    a, k = p.head[v], p.modifier[v]
    step = 1 if k > a else -1
    best, found, row = c.plain[a, k, x, below], a, -1
    if c.plain[k, a, x, below] > best:
        best, found = c.plain[k, a, x, below], k
    for q in range(a + step, k, step):
        if not c.present[a, q, x]:
            continue
        if c.present[k, q, x]:
            for r in range(len(t.two_sides)):
                if t.two_sides[r, 3] == below:
                    d = t.two_sides[r, 2]
                    edge = 0.0 if d == 0 else (p.crossed[x, q] if d == 1 else p.crossed[q, x])
                    total = c.region[a, q, x, 1, t.two_sides[r, 0]] + c.region[k, q, x, 0, t.two_sides[r, 1]] + edge
                    if total > best:
                        best, found, row = total, q, r
        for r in range(len(t.one_side)):
            if t.one_side[r, 3] == below:
                edge = p.crossed[x, q] if t.one_side[r, 2] == 1 else p.crossed[q, x]
                total = c.region[a, q, x, 1, t.one_side[r, 0]] + c.interval[q, k, t.one_side[r, 1]] + edge
                if total > best:
                    best, found, row = total, q, len(t.two_sides) + r
    return best, found, row
