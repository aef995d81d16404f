"""Relations of intervals as conjunctions over their end points: closure, contradictions, reduction.

An interval x is a pair of points, x- < x+. With `links` x R y as constraints on the points:

    BEFORE    x+ < y-                    CONTAINS   x- < y-, y+ < x+        BEGINS-ON   x- = y-
    OVERLAP   x- < y+, y- < x+           BEFORE/OVERLAP   x- < y-, y- < x+  ENDS-ON     x+ = y+

and the relations of ISO-TimeML likewise (`RELATIONS`). A relation follows from links if all of its conditions are in
the closure of the points (`weft.infer.orders.points`), which is complete: the closure has exactly the relations that
hold in all orders of the points that agree with the links.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Ints
from weft.errors import InferenceError
from weft.infer.orders.points import PointClosure, choose_consistent, close_points
from weft.kernel import kernel

START, END = 0, 1
_X, _Y = 0, 1
#: A condition: interval and end of its first point, `<` or `=`, interval and end of its second point.
Condition = tuple[int, int, str, int, int]

_CONTAINS: tuple[Condition, ...] = ((_X, START, "<", _Y, START), (_Y, END, "<", _X, END))
_INSIDE: tuple[Condition, ...] = ((_Y, START, "<", _X, START), (_X, END, "<", _Y, END))
_SAME_START: Condition = (_X, START, "=", _Y, START)
_SAME_END: Condition = (_X, END, "=", _Y, END)
#: The conditions of every relation: those of THYME, then those of ISO-TimeML.
RELATIONS: dict[str, tuple[Condition, ...]] = {
    "BEFORE": ((_X, END, "<", _Y, START),),
    "BEFORE/OVERLAP": ((_X, START, "<", _Y, START), (_Y, START, "<", _X, END)),
    "CONTAINS": _CONTAINS,
    "OVERLAP": ((_X, START, "<", _Y, END), (_Y, START, "<", _X, END)),
    "BEGINS-ON": (_SAME_START,),
    "ENDS-ON": (_SAME_END,),
    "AFTER": ((_Y, END, "<", _X, START),),
    "INCLUDES": _CONTAINS,
    "IS_INCLUDED": _INSIDE,
    "IBEFORE": ((_X, END, "=", _Y, START),),
    "IAFTER": ((_X, START, "=", _Y, END),),
    "BEGINS": (_SAME_START, (_X, END, "<", _Y, END)),
    "BEGUN_BY": (_SAME_START, (_Y, END, "<", _X, END)),
    "ENDS": ((_Y, START, "<", _X, START), _SAME_END),
    "ENDED_BY": ((_X, START, "<", _Y, START), _SAME_END),
    "SIMULTANEOUS": (_SAME_START, _SAME_END),
    "IDENTITY": (_SAME_START, _SAME_END),
    "DURING": (_SAME_START, _SAME_END),
    "DURING_INV": (_SAME_START, _SAME_END),
}
#: The relations of THYME links: there are no inverses.
THYME = ("BEFORE", "CONTAINS", "OVERLAP", "BEGINS-ON", "ENDS-ON")


class Link(NamedTuple):
    """`first` stands in a relation to `second`, both numbers of intervals."""

    first: int
    relation: str
    second: int


class IntervalGraph:
    """Intervals 0 to n - 1 and links between them.

    >>> graph = IntervalGraph(3, [Link(0, "CONTAINS", 1), Link(1, "CONTAINS", 2), Link(0, "CONTAINS", 2)])
    >>> graph.holds(Link(0, "CONTAINS", 2)), graph.holds(Link(2, "BEFORE", 0)), graph.consistent
    (True, False, True)
    >>> graph.reduction()
    [0, 1]
    >>> IntervalGraph(2, [Link(0, "BEFORE", 1), Link(1, "OVERLAP", 0)]).cycle()
    [0, 1]
    """

    def __init__(self, n: int, links: Iterable[Link] = ()) -> None:
        self.n = n
        self.links = [Link(*link) for link in links]
        for link in self.links:
            if link.relation not in RELATIONS:
                known = ", ".join(RELATIONS)
                raise InferenceError(f"unknown relation of intervals {link.relation!r}; the relations are: {known}")
            if not (0 <= link.first < n and 0 <= link.second < n):
                raise InferenceError(f"intervals are numbered from 0 to {n - 1}; given: {link}")

    @cached_property
    def constraints(self) -> tuple[Ints, Ints]:
        """Rows p, q, 1 for p < q or 0 for p = q, and the rows of every link as offsets."""
        rows = [row for link in self.links for row in conditions_of(link)]
        lengths = [len(RELATIONS[link.relation]) for link in self.links]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return np.array(rows, dtype=np.int64).reshape(-1, 3), offsets

    @cached_property
    def points(self) -> PointClosure:
        """The closure of the end points: start and end of interval x are the points 2x and 2x + 1."""
        rows, _ = self.constraints
        own = np.arange(2 * self.n, dtype=np.int64).reshape(-1, 2)
        strict = rows[:, 2] == 1
        return close_points(2 * self.n, np.concatenate([own, rows[strict, :2]]), rows[~strict, :2])

    @property
    def consistent(self) -> bool:
        """Whether some order of all points agrees with the links."""
        return self.points.consistent

    @cached_property
    def _tables(self) -> dict[str, Bools]:
        return {"<": self.points.less, "=": self.points.equal}

    def matrix(self, relation: str) -> Bools:
        """`matrix[x, y]`: x R y follows from the links."""
        found = np.ones((self.n, self.n), dtype=np.bool_)
        for which, side, sign, _, other_side in RELATIONS[relation]:
            # Rows are x and columns y, so that a condition from y to x is read across the diagonal.
            table = self._tables[sign][side::2, other_side::2]
            found &= table if which == _X else table.T
        return found

    def holds(self, link: Link) -> bool:
        """Whether a link follows from the links."""
        return all(self._tables["<" if strict else "="][p, q] for p, q, strict in conditions_of(link))

    def inferred(self, relations: Sequence[str] = THYME) -> Iterator[Link]:
        """All links between two intervals that follow but are not given; symmetric ones once, from the lower number."""
        given = set(self.links)
        for relation in relations:
            symmetric = relation in ("OVERLAP", "BEGINS-ON", "ENDS-ON", "SIMULTANEOUS")
            for x, y in np.argwhere(self.matrix(relation)).tolist():
                link = Link(x, relation, y)
                if x != y and link not in given and not (symmetric and (x > y or Link(y, relation, x) in given)):
                    yield link

    def cycle(self) -> list[int]:
        """The numbers of links that contradict each other, none of which can be spared; empty if consistent.

        The links of a cycle through the fewest links, in their order around it.
        """
        if self.consistent:
            return []
        chosen = list(dict.fromkeys(self._shortest(range(len(self.links)))))
        for number in list(chosen):  # a link may be passed twice, so that the shortest cycle need not be minimal
            fewer = [each for each in chosen if each != number]
            if not IntervalGraph(self.n, [self.links[each] for each in fewer]).consistent:
                chosen = fewer
        return list(dict.fromkeys(self._shortest(chosen)))

    def _shortest(self, numbers: Iterable[int]) -> list[int]:
        """The links passed by a shortest cycle of points with at least one step `<`."""
        steps: dict[int, list[tuple[int, bool, int]]] = {2 * x: [(2 * x + 1, True, -1)] for x in range(self.n)}
        for number in numbers:
            for p, q, strict in conditions_of(self.links[number]):
                steps.setdefault(p, []).append((q, bool(strict), number))
                if not strict:
                    steps.setdefault(q, []).append((p, False, number))
        best: list[int] = []
        for start in np.flatnonzero(self.points.less.diagonal()).tolist():
            found = _way_back(steps, start, len(best))
            best = found or best
        return best

    def reduction(self) -> list[int]:
        """The numbers of links that do not follow from the others; of two that follow from each other, the earlier one
        stays. Their closure is that of all."""
        rows, offsets = self.constraints
        own = [(2 * x, 2 * x + 1, 1, -1) for x in range(self.n)]
        owners = np.repeat(np.arange(len(self.links)), np.diff(offsets))
        edges = [*own, *((p, q, s, k) for (p, q, s), k in zip(rows.tolist(), owners.tolist(), strict=True))]
        edges += [(q, p, 0, k) for (p, q, s), k in zip(rows.tolist(), owners.tolist(), strict=True) if not s]
        table = np.array(sorted(edges), dtype=np.int64).reshape(-1, 4)
        firsts = np.searchsorted(table[:, 0], np.arange(2 * self.n + 1)).astype(np.int64)
        kept = np.ones(len(self.links), dtype=np.bool_)
        _reduce(table, firsts, rows, offsets, kept, np.zeros(4 * self.n, np.int64), np.zeros(4 * self.n, np.int64))
        return np.flatnonzero(kept).tolist()

    def chosen(self) -> list[int]:
        """The numbers of links that are kept if each, in order, is added unless it contradicts those before it."""
        rows, offsets = self.constraints
        n = 2 * self.n
        own = np.array([(p, p + 1, 1) for p in range(0, n, 2)], dtype=np.int64).reshape(-1, 3)
        width = max(1, (n + 63) // 64)
        keep = np.zeros(self.n + len(self.links), dtype=np.bool_)
        starts = np.concatenate([np.arange(self.n), offsets + self.n]).astype(np.int64)
        at_most, before = (np.zeros((2 * n, width), dtype=np.uint64) for _ in range(2))
        choose_consistent(n, starts, np.concatenate([own, rows]), at_most, before, keep)
        return np.flatnonzero(keep[self.n :]).tolist()


def conditions_of(link: Link) -> list[tuple[int, int, int]]:
    """The constraints of a link: first point, second point, 1 for `<` and 0 for `=`.

    >>> conditions_of(Link(0, "BEFORE", 1))
    [(1, 2, 1)]
    """
    ends = (2 * link.first, 2 * link.second)
    return [
        (ends[which] + side, ends[other] + other_side, int(sign == "<"))
        for which, side, sign, other, other_side in RELATIONS[link.relation]
    ]


def _way_back(steps: dict[int, list[tuple[int, bool, int]]], start: int, limit: int) -> list[int]:
    """The links on a shortest way from a point back to itself that has a step `<`; steps within an interval are free.

    Empty if it passes `limit` links or more; 0 is no limit.
    """
    origin = (start, False)
    cost = {origin: 0}
    came: dict[tuple[int, bool], tuple[tuple[int, bool], int]] = {}
    queue = deque([origin])
    done: set[tuple[int, bool]] = set()
    while queue:
        state = queue.popleft()
        if state in done:
            continue
        done.add(state)
        if limit and cost[state] >= limit:
            return []
        if state == (start, True):
            path = []
            while state in came:
                state, number = came[state]
                path.append(number)
            return [number for number in reversed(path) if number >= 0]
        for point, strict, number in steps.get(state[0], ()):
            following = (point, state[1] or strict)
            price = cost[state] + (number >= 0)
            if following != origin and price < cost.get(following, price + 1):
                cost[following] = price
                came[following] = (state, number)
                (queue.append if number >= 0 else queue.appendleft)(following)
    return []


@kernel
def _reduce(edges: Ints, firsts: Ints, rows: Ints, offsets: Ints, kept: Bools, seen: Ints, queue: Ints) -> None:
    """Drop links, the last one first, all of whose conditions hold by paths over the remaining edges."""
    for number in range(len(kept) - 1, -1, -1):
        follows = True
        for c in range(offsets[number], offsets[number + 1]):
            p, q, strict = rows[c, 0], rows[c, 1], rows[c, 2]
            # States 2 * point + (1 if a step `<` was taken); `seen` holds the stamp of this search.
            stamp = c + 1
            queue[0], end, at = 2 * p, 1, 0
            seen[2 * p] = stamp
            found = strict == 0 and p == q
            while at < end and not found:
                state = queue[at]
                at += 1
                for e in range(firsts[state >> 1], firsts[(state >> 1) + 1]):
                    owner = edges[e, 3]
                    if owner == number or (owner >= 0 and not kept[owner]) or (strict == 0 and edges[e, 2] == 1):
                        continue
                    following = 2 * edges[e, 1] + (1 if (state & 1) or edges[e, 2] == 1 else 0)
                    if edges[e, 1] == q and following & 1 == strict:
                        found = True
                        break
                    if seen[following] != stamp:
                        seen[following] = stamp
                        queue[end] = following
                        end += 1
            if not found:
                follows = False
                break
        if follows:
            kept[number] = False
