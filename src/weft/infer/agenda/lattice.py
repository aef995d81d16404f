"""Lattices: what the words of an input may be, span by span, with words that may be skipped.

    arc:       symbol over words [begin, end), with a cost and a number that says what it is to the caller
    skipping:  an arc may also begin at an earlier word, for the costs of the words skipped in between
    trail(j)   the cost of skipping all words from j on

Skipped words belong to the arc that follows, or to the end, so that every way to skip words has one derivation.

    left(i)  = cheapest cover of words [0, i) by arcs            right(j) = cheapest cover of words [j, n)

The two bound from below what an item over [i, j) still costs: A* explores items by inside cost + left + right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.errors import InferenceError


class Arc(NamedTuple):
    """A terminal over words [begin, end), of which the first `skipped` are left out; `label` is the caller's."""

    symbol: int
    begin: int
    end: int
    cost: float
    label: int = -1
    skipped: int = 0


@dataclass(frozen=True)
class Lattice:
    """Arcs over `n` words, those that skip words included, and what it costs to skip the last words."""

    n: int
    arcs: tuple[Arc, ...]
    trail: Floats

    @classmethod
    def of(cls, arcs: Sequence[Arc], skips: Sequence[float]) -> Lattice:
        """The lattice of arcs over words that may be skipped at the costs `skips`, one per word.

        >>> lattice = Lattice.of([Arc(3, 1, 2, 0.0)], [0.25, 1.0])
        >>> [(arc.begin, arc.end, arc.cost) for arc in lattice.arcs], lattice.trail.tolist()
        ([(1, 2, 0.0), (0, 2, 0.25)], [1.25, 1.0, 0.0])
        """
        n = len(skips)
        trail = np.zeros(n + 1)
        trail[:n] = np.cumsum(np.asarray(skips, dtype=np.float64)[::-1])[::-1]
        if n and min(skips) < 0:
            raise InferenceError("skipping a word must cost at least 0")
        found: list[Arc] = []
        for arc in arcs:
            if not (0 <= arc.begin < arc.end <= n and arc.cost >= 0):
                raise InferenceError(f"an arc needs words within 0 to {n} and a cost of at least 0, got {arc}")
            cost, begin = arc.cost, arc.begin
            found.append(arc)
            while begin and skips[begin - 1] < np.inf:
                begin -= 1
                cost += skips[begin]
                found.append(Arc(arc.symbol, begin, arc.end, cost, arc.label, arc.begin - begin))
        return cls(n, tuple(found), trail)

    def bounds(self) -> tuple[Floats, Floats]:
        """The cheapest covers of the words before and after every position.

        >>> left, right = Lattice.of([Arc(3, 1, 2, 0.5)], [0.25, 1.0]).bounds()
        >>> left.tolist(), right.tolist()
        ([0.0, inf, 0.75], [0.75, 0.5, 0.0])
        """
        left, right = np.full(self.n + 1, np.inf), self.trail.copy()
        left[0] = 0.0
        for arc in sorted(self.arcs, key=lambda arc: arc.end):
            left[arc.end] = min(left[arc.end], left[arc.begin] + arc.cost)
        for arc in sorted(self.arcs, key=lambda arc: -arc.begin):
            right[arc.begin] = min(right[arc.begin], arc.cost + right[arc.end])
        return left, right
