"""Which vertices of a piece of a tree hang below which: states, and tables of how they compose.

A piece of a tree touches the rest only at its boundary. Its *state* maps every boundary vertex to the boundary vertex
that roots its component, itself where it has no head in the piece: 3 states for an interval (a, b), 10 for an interval
with an outer vertex (a, b; x). Pieces and edges compose when no vertex gets two heads, every vertex that leaves the
boundary has one, and following heads never comes round; the state of the whole is what heads lead to.

Vertices are letters here. The tables hold rows of integers for the kernels of `crossing_chart`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from weft.ragged import Indices

__all__ = ["FIRST_BELOW", "INTERVALS", "N_SPOKES", "REGIONS", "X_BELOW", "Tables", "compose", "tables"]

State = tuple[int, ...]

#: Both ends roots; b below a; a below b.
INTERVALS: tuple[State, ...] = ((0, 1), (0, 0), (1, 1))
#: All maps of (a, b, x) to roots; the first: all three are roots.
REGIONS: tuple[State, ...] = (
    (0, 1, 2), *(s for s in product(range(3), repeat=3) if s != (0, 1, 2) and all(s[r] == r for r in s)),
)  # fmt: skip

#: Of region states: x alone is below another; a alone is.
X_BELOW = (REGIONS.index((0, 1, 0)), REGIONS.index((0, 1, 1)))
FIRST_BELOW = (REGIONS.index((1, 1, 2)), REGIONS.index((2, 1, 2)))
#: States with b and x under one root, as they are where an edge joins them.
SPOKES = tuple(i for i, s in enumerate(REGIONS) if s[1] == s[2])
N_SPOKES = len(SPOKES)


def compose(pieces: Iterable[tuple[str, State]], edges: Iterable[tuple[str, str]], boundary: str) -> State | None:
    """The state at a boundary of pieces (their vertices, their state) with edges (head, modifier); None: illegal.

    >>> compose([("az", (0, 0)), ("zb", (0, 0))], [], "ab")  # z below a, b below z
    (0, 0)
    >>> compose([("az", (0, 1)), ("zb", (0, 0))], [], "ab") is None  # nobody is the head of z
    True
    """
    above: dict[str, str] = {}
    links = [(v[root], v[i]) for v, state in pieces for i, root in enumerate(state) if root != i]
    vertices = {vertex for names, _ in pieces for vertex in names} | set(boundary)
    for head, modifier in [*links, *edges]:
        if modifier in above:
            return None
        above[modifier] = head
        vertices |= {head, modifier}
    roots = {}
    for vertex in vertices:
        at, steps = vertex, 0
        while at in above:
            at, steps = above[at], steps + 1
            if steps > len(vertices):
                return None
        if at not in boundary:
            return None
        roots[vertex] = boundary.index(at)
    return tuple(roots[vertex] for vertex in boundary)


#: Numbers of tables; an edge's direction is 0 into the inner vertex, 1 out of it. Of a region (a, b; x) with an inner
#: vertex z that has an edge with x, the *spoke* is the piece (a, z; x) with that edge; its state is one of `SPOKES`.
SPOKE_INTERVAL = 0  # direction of x-z, interval (a, z), spoke
SPOKE_REGION = 1  # direction of x-z, region (a, z; x), spoke
SPAN = 2  # direction of a-b (0: a is the head), region (a, b; x), region with the edge
TWO_SIDES = 3  # region (a, q; x), region (k, q; x), edge x-q (0: none, 1: x is the head, 2: q); 4: x is below a or k
ONE_SIDE = 5  # region (a, q; x), interval (q, k), edge x-q; 6: x is below a or k
#: Piece (0: interval, 1: L with the edge a-b or without, 2: LC, 3: N), its state, edge q-b (1: q is the head, 2: b);
#: for A2, B1, B2 each in TriX and in Chain, each with l a root of the left piece or not.
USES = 7
WITH_INTERVAL = 19  # + spoke: spoke, interval (z, b), region (a, b; x)
WITH_INNER = 24  # + spoke: spoke, region (z, b; a), region (a, b; x)
WITH_OUTER = 29  # + spoke: spoke, region (z, b; x), region (a, b; x)


class Tables(NamedTuple):
    """Rows of compositions: those of table i are `first[i]:first[i + 1]`."""

    rows: Indices
    first: Indices


#: The pieces and edges that may stand right of k and l: (piece, whether the edge q-b is absent or there).
_RIGHT = {
    ("A2", "TriX"): ((1, False), (1, True), (0, True)),
    ("A2", "Chain"): ((2, False),),
    ("B1", "TriX"): ((1, False), (1, True), (0, True)),
    ("B1", "Chain"): ((2, False), (1, True), (0, True)),
    ("B2", "TriX"): ((3, False), (3, True), (0, True)),
    ("B2", "Chain"): ((3, True), (0, True)),
}


Pieces = list[tuple[str, State]]
Edges = list[tuple[str, str]]
Rows = list[tuple[int, int, int]]


@cache
def tables() -> Tables:
    """All tables, computed once.

    >>> table = tables()
    >>> [int(table.first[i + N_SPOKES] - table.first[i]) for i in (WITH_INTERVAL, WITH_INNER, WITH_OUTER)]
    [8, 18, 13]
    """
    into_out, over = (("x", "z"), ("z", "x")), (("a", "b"), ("b", "a"))
    no_edge: Edges = []
    crossed = list(enumerate([no_edge, [("x", "q")], [("q", "x")]]))
    regions, intervals = list(enumerate(REGIONS)), list(enumerate(INTERVALS))
    spokes = [[(j, REGIONS[i])] for j, i in enumerate(SPOKES)]
    two = [(i, j, d, [("aqx", s), ("kqx", t)], e) for i, s in regions for j, t in regions for d, e in crossed]
    one = [(i, j, d, [("aqx", s), ("qk", t)], e) for i, s in regions for j, t in intervals for d, e in crossed[1:]]
    found = [
        _spoke_rows([(d, i, [("az", s)], [into_out[d]]) for d in (0, 1) for i, s in intervals]),
        _spoke_rows([(d, i, [("azx", s)], [into_out[d]]) for d in (0, 1) for i, s in regions]),
        _rows("abx", [(d, i, [("abx", s)], [over[d]]) for d in (0, 1) for i, s in regions]),
        *(_below(tried, below) for tried in (two, one) for below in (False, True)),
        *(_right_rows(use, target, below) for use, target in _RIGHT for below in (False, True)),
        *(_rows("abx", [(i, j, [("azx", s), ("zb", t)], []) for i, s in own for j, t in intervals]) for own in spokes),
        *(_rows("abx", [(i, j, [("azx", s), ("zba", t)], []) for i, s in own for j, t in regions]) for own in spokes),
        *(_rows("abx", [(i, j, [("azx", s), ("zbx", t)], []) for i, s in own for j, t in regions]) for own in spokes),
    ]
    first = np.cumsum([0, *map(len, found)])
    return Tables(np.array([row for rows in found for row in rows], dtype=np.int64), first.astype(np.int64))


def _rows(boundary: str, tried: list[tuple[int, int, Pieces, Edges]]) -> Rows:
    composed = [(i, j, compose(pieces, edges, boundary)) for i, j, pieces, edges in tried]
    return [(i, j, REGIONS.index(state)) for i, j, state in composed if state]


def _spoke_rows(tried: list[tuple[int, int, Pieces, Edges]]) -> Rows:
    return [(i, j, SPOKES.index(state)) for i, j, state in _rows("azx", tried)]


def _below(tried: list[tuple[int, int, int, Pieces, Edges]], below: bool) -> Rows:
    """Only states with a and k roots, as k attaches to a by the edge over the region; x is below one of them or not."""
    composed = [(i, j, d, compose(pieces, edges, "akx")) for i, j, d, pieces, edges in tried]
    return [(i, j, d) for i, j, d, s in composed if s and s[:2] == (0, 1) and (s[2] != 2) == below]


def _right_rows(use: str, target: str, below: bool) -> Rows:
    """What may follow a left piece in which k attaches to the root a, and l too (`below`) or l is a root."""
    p, q = ("l", "k") if use == "A2" else ("k", "l")
    left = [("a", "k"), *([("a", "l")] if below else [])]
    wanted = INTERVALS[1] if target == "TriX" else INTERVALS[0]
    found = []
    for piece, with_edge in _RIGHT[use, target]:
        for d, edges in [(1, [(q, "b")]), (2, [("b", q)])] if with_edge else [(0, [])]:
            for i, state in enumerate(INTERVALS if piece == 0 else REGIONS):
                names = f"{p}b" if piece == 0 else f"{p}b{q}"
                if compose([(names, state)], [*left, *edges], "ab") == wanted:
                    found.append((piece, i, d))
    return found
