"""Items [A, i, j) of a lattice under a grammar, cheapest first: A* over inside costs.

    inside[i, j, A]  = cheapest derivation of A over words [i, j), inserted symbols included
    priority         = inside[i, j, A] + left(i) + right(j)

An item is settled when the agenda gives it out: its cost is then exact, since the bounds are consistent. The search
ends when no item of at most `best + margin` is left, so what it settled holds all derivations up to that cost. Without
bounds and margin it settles everything; columns of words that did not change are then kept for the next input.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.infer.agenda.grammar import Grammar
from weft.infer.agenda.lattice import Lattice
from weft.kernel import inlined, kernel


@dataclass
class Chart:
    """The settled items of a lattice: `inside[i, j, A]` where `settled[i, j, A]`.

    `best` is the cost of the whole input, infinity if the goal cannot cover it; `limit` is the cost up to which all
    derivations consist of settled items, and `steps` counts the items that were given out.
    """

    grammar: Grammar
    lattice: Lattice
    goal: int
    weights: Floats
    inserted: Floats
    ended: Floats
    inside: Floats
    settled: Bools
    best: float
    limit: float
    steps: int
    outside: tuple[Floats, Floats] = field(repr=False)


def search(
    grammar: Grammar, lattice: Lattice, goal: int, inserted: Floats, ended: Floats | None = None,
    margin: float = 0.0, weights: Floats | None = None, bounds: bool = True, earlier: tuple[Chart, int] | None = None,
) -> Chart:  # fmt: skip
    """Settle the items of a lattice that derivations of at most `best + margin` can need.

    `inserted` and `ended` are costs of all symbols (see `Grammar.inserted`). `bounds=False` is the search without A*.
    `earlier` is a chart without bounds and margin, and the number of words that both inputs begin with: their items are
    taken from it.

    >>> from weft.infer.agenda.grammar import Rule
    >>> from weft.infer.agenda.lattice import Arc
    >>> grammar = Grammar.of(3, [Rule(0, (1, 2), 0.5)])
    >>> costs = grammar.inserted(np.array([np.inf, np.inf, 2.0]))
    >>> search(grammar, Lattice.of([Arc(1, 0, 1, 0.0)], [1.0]), 0, costs).best
    2.5
    """
    n, size = lattice.n, grammar.symbols
    weights = grammar.weights if weights is None else weights
    ended = inserted if ended is None else np.minimum(inserted, ended)
    left, right = lattice.bounds() if bounds else (np.zeros(n + 1), np.zeros(n + 1))
    inside = np.full((n + 1, n + 1, size), np.inf)
    settled = np.zeros((n + 1, n + 1, size), dtype=np.bool_)
    kept = 0
    if earlier is not None:
        chart, kept = earlier[0], min(earlier[1], earlier[0].lattice.n - 1, n - 1)
        kept = max(kept, 0)
        inside[: kept + 1, : kept + 1] = chart.inside[: kept + 1, : kept + 1]
        settled[: kept + 1, : kept + 1] = chart.settled[: kept + 1, : kept + 1]
    arcs = [arc for arc in lattice.arcs if arc.end > kept]
    ends = np.array([(arc.symbol, arc.begin, arc.end) for arc in arcs], dtype=np.int64).reshape(-1, 3)
    costs = np.array([arc.cost for arc in arcs], dtype=np.float64)
    trail = lattice.trail if bounds else np.full(n + 1, np.inf)
    cells = (n + 1) * (n + 1) * size
    found = np.zeros(3)
    _settle(
        n, goal, grammar.lefts, grammar.firsts, grammar.seconds, weights, grammar.by_first[0], grammar.by_first[1],
        grammar.by_second[0], grammar.by_second[1], inserted, ended, ends, costs, left, right, trail, margin, inside,
        settled, np.zeros(cells + 1, dtype=np.int32), np.full(cells, -1, dtype=np.int32), found,
    )  # fmt: skip
    best = min((inside[0, j, goal] + lattice.trail[j] for j in range(1, n + 1) if settled[0, j, goal]), default=np.inf)
    limit = float(found[0]) if bounds else np.inf
    return Chart(
        grammar, lattice, goal, weights, inserted, ended, inside, settled, float(best), limit, int(found[1]),
        lattice.bounds(),
    )  # fmt: skip


@inlined
def _priority(flat: Floats, item: int, size: int, n: int, left: Floats, right: Floats) -> float:
    cell = item // size
    return flat[item] + left[cell // (n + 1)] + right[cell % (n + 1)]


@kernel
def _rise(heap: Ids, place: Ids, at: int, flat: Floats, size: int, n: int, left: Floats, right: Floats) -> None:
    """Move an entry of the heap towards the top, to where it belongs."""
    item = int(heap[at])
    own = _priority(flat, item, size, n, left, right)
    while at > 0:
        above = (at - 1) // 2
        if _priority(flat, heap[above], size, n, left, right) <= own:
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = item
    place[item] = at


@kernel
def _sink(heap: Ids, place: Ids, count: int, flat: Floats, size: int, n: int, left: Floats, right: Floats) -> None:
    """Move the top entry of the heap down, to where it belongs."""
    item, at = heap[0], 0
    own = _priority(flat, item, size, n, left, right)
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        cost = _priority(flat, heap[below], size, n, left, right)
        if below + 1 < count:
            other = _priority(flat, heap[below + 1], size, n, left, right)
            if other < cost:
                below, cost = below + 1, other
        if cost >= own:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = item
    place[item] = at


@kernel
def _lower(
    flat: Floats, done: Bools, heap: Ids, place: Ids, count: int, item: int, cost: float, size: int, n: int,
    left: Floats, right: Floats,
) -> int:  # fmt: skip
    """Give an item a cost if it has none that is lower and its context exists; returns the entries of the heap."""
    cell = item // size
    if done[item] or not cost < flat[item] or left[cell // (n + 1)] + right[cell % (n + 1)] == np.inf:
        return count
    flat[item] = cost
    if place[item] < 0:
        heap[count] = item
        place[item] = count
        count += 1
    _rise(heap, place, place[item], flat, size, n, left, right)
    return count


@kernel
def _settle(
    n: int, goal: int, lefts: Ints, firsts: Ints, seconds: Ints, weights: Floats, first_offsets: Ints,
    first_rules: Ints, second_offsets: Ints, second_rules: Ints, inserted: Floats, ended: Floats, arcs: Ints,
    costs: Floats, left: Floats, right: Floats, trail: Floats, margin: float, inside: Floats, settled: Bools,
    heap: Ids, place: Ids, found: Floats,
) -> None:  # fmt: skip
    size, width = inside.shape[2], n + 1
    flat, done = inside.reshape(-1), settled.reshape(-1)
    count, steps, limit = 0, 0, np.inf
    for a in range(len(arcs)):
        item = (arcs[a, 1] * width + arcs[a, 2]) * size + arcs[a, 0]
        count = _lower(flat, done, heap, place, count, item, costs[a], size, n, left, right)
    while count > 0:
        item = int(heap[0])
        if _priority(flat, item, size, n, left, right) > limit:
            break
        count -= 1
        place[item] = -1
        if count > 0:
            heap[0] = heap[count]
            place[heap[0]] = 0
            _sink(heap, place, count, flat, size, n, left, right)
        done[item] = True
        steps += 1
        symbol, cell = item % size, item // size
        i, j, cost = cell // width, cell % width, flat[item]
        if i == 0 and symbol == goal:
            limit = min(limit, cost + trail[j] + margin)
        for at in range(first_offsets[symbol], first_offsets[symbol + 1]):
            r = first_rules[at]
            target, other, own = lefts[r], seconds[r], cost + weights[r]
            base = cell * size + target
            if other < 0:
                count = _lower(flat, done, heap, place, count, base, own, size, n, left, right)
                continue
            more = ended[other] if j == n else inserted[other]
            count = _lower(flat, done, heap, place, count, base, own + more, size, n, left, right)
            for k in range(j + 1, n + 1):
                beside = (j * width + k) * size + other
                if done[beside]:
                    base = (i * width + k) * size + target
                    count = _lower(flat, done, heap, place, count, base, own + flat[beside], size, n, left, right)
        for at in range(second_offsets[symbol], second_offsets[symbol + 1]):
            r = second_rules[at]
            target, other, own = lefts[r], firsts[r], cost + weights[r]
            base = cell * size + target
            count = _lower(flat, done, heap, place, count, base, own + inserted[other], size, n, left, right)
            for h in range(i):
                beside = (h * width + i) * size + other
                if done[beside]:
                    base = (h * width + j) * size + target
                    count = _lower(flat, done, heap, place, count, base, own + flat[beside], size, n, left, right)
    found[0], found[1] = (limit if count > 0 else np.inf), steps
