"""The k best derivations of a chart, lazily (Huang and Chiang 2005, algorithm 3).

    D(node)[0], D(node)[1], ...   derivations of an item by cost; each is an edge and a rank for every child
    the next one                  cheapest of the edges not used yet, and of used ones with one rank raised

An item over no words is a symbol made of inserted terminals, within the input or at its end. Only lists that are asked
for grow. A chart holds all derivations up to its limit; `derivations` searches again with a wider margin when the next
one would cost more, and stops when there is none.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints
from weft.infer.agenda.grammar import Grammar
from weft.infer.agenda.lattice import Lattice
from weft.infer.agenda.search import Chart, search
from weft.kernel import kernel

#: Where no words are covered: within the input, and at its end.
WITHIN, AT_END = 0, 1
_EPSILON = 1e-9
Node = tuple[int, int, int]
_ARC, _RULE, _INSERT = 0, 1, 2


@dataclass(frozen=True)
class Derivation:
    """A derivation tree: a rule (its number) over children, an arc (its number), or an inserted terminal.

    Children stand in the order of the rule, whichever order the words have; `cost` is that of the whole tree.
    """

    symbol: int
    cost: float
    rule: int = -1
    arc: int = -1
    children: tuple[Derivation, ...] = ()
    swapped: bool = False

    def leaves(self) -> Iterator[Derivation]:
        """Arcs and inserted terminals, in the order of the rules."""
        if self.rule < 0:
            yield self
        for child in self.children:
            yield from child.leaves()

    def rules(self) -> Iterator[int]:
        """The numbers of the rules, from the top."""
        if self.rule >= 0:
            yield self.rule
        for child in self.children:
            yield from child.rules()


@dataclass(frozen=True)
class _Edge:
    kind: int
    number: int
    weight: float
    children: tuple[Node, ...] = ()


class KBest:
    """The derivations of a chart's items, cheapest first, as far as they are asked for."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._arcs: dict[Node, list[int]] = {}
        for number, arc in enumerate(chart.lattice.arcs):
            self._arcs.setdefault((arc.symbol, arc.begin, arc.end), []).append(number)
        self._found: dict[Node, list[tuple[float, _Edge, tuple[int, ...]]]] = {}
        self._open: dict[Node, list[tuple[float, int, _Edge, tuple[int, ...]]]] = {}
        self._seen: dict[Node, set[tuple[int, tuple[int, ...]]]] = {}
        rules = chart.grammar.by_left[0]
        most = int(np.diff(rules).max(initial=0)) * (chart.lattice.n + 3) + 1
        self._table, self._costs = np.zeros((most, 3), dtype=np.int64), np.zeros(most)

    def nth(self, node: Node, rank: int) -> float:
        """The cost of a node's derivation of that rank, infinity if it has fewer."""
        found = self._found.get(node)
        if found is None:
            self._start(node)
            found = self._found[node]
        waiting = self._open[node]
        while len(found) <= rank:
            if found:
                self._raise(node, found[-1])
            if not waiting:
                return float("inf")
            cost, _, edge, ranks = heapq.heappop(waiting)
            for child in edge.children:
                self.nth(child, 0)
            found.append((cost, edge, ranks))
        return found[rank][0]

    def _start(self, node: Node) -> None:
        self._found[node], self._seen[node] = [], set()
        self._open[node] = waiting = [
            (cost, order, edge, (0,) * len(edge.children)) for order, (cost, edge) in enumerate(self._edges(node))
        ]
        heapq.heapify(waiting)

    def _raise(self, node: Node, last: tuple[float, _Edge, tuple[int, ...]]) -> None:
        """Offer what follows the last derivation of a node: its edge with the rank of one child raised."""
        cost, edge, ranks = last
        seen, waiting = self._seen[node], self._open[node]
        for place, child in enumerate(edge.children):
            raised = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
            key = (id(edge), raised)
            if key in seen:
                continue
            seen.add(key)
            worse = self.nth(child, raised[place])
            if worse < float("inf"):
                new = cost - self._found[child][ranks[place]][0] + worse
                heapq.heappush(waiting, (new, len(seen) + 1_000_000, edge, raised))

    def _edges(self, node: Node) -> Iterator[tuple[float, _Edge]]:
        """The ways to make a node, each with the cost of its best derivation."""
        symbol, i, j = node
        chart = self.chart
        if i < 0:
            yield from self._inserted(symbol, j)
            return
        for number in self._arcs.get(node, ()):
            yield chart.lattice.arcs[number].cost, _Edge(_ARC, number, chart.lattice.arcs[number].cost)
        grammar = chart.grammar
        left, right = chart.outside
        rest = left[i] + right[j]
        limit = (chart.limit if chart.limit < np.inf else np.inf) - (rest if rest < np.inf else 0.0) + _EPSILON
        count = _list_edges(
            symbol, i, j, chart.lattice.n, *grammar.by_left, grammar.firsts, grammar.seconds, chart.weights,
            chart.inserted, chart.ended, chart.inside, chart.settled, limit, self._table, self._costs,
        )  # fmt: skip
        for (r, split, how), cost in zip(self._table[:count].tolist(), self._costs[:count].tolist(), strict=True):
            first, second = int(grammar.firsts[r]), int(grammar.seconds[r])
            if how == 0:
                children: tuple[Node, ...] = ((first, i, j),)
            elif how == 1:
                children = ((first, i, split), (second, split, j))
            elif how == 2:
                children = ((first, i, j), (second, -1, AT_END if j == chart.lattice.n else WITHIN))
            else:
                children = ((first, -1, WITHIN), (second, i, j))
            yield cost, _Edge(_RULE, r, float(chart.weights[r]), children)

    def _inserted(self, symbol: int, where: int) -> Iterator[tuple[float, _Edge]]:
        chart = self.chart
        grammar, costs = chart.grammar, chart.ended if where == AT_END else chart.inserted
        offsets, rules = grammar.by_left
        if offsets[symbol] == offsets[symbol + 1] and costs[symbol] < np.inf:
            yield float(costs[symbol]), _Edge(_INSERT, symbol, float(costs[symbol]))
        for r in rules[offsets[symbol] : offsets[symbol + 1]].tolist():
            children = [int(grammar.firsts[r])] + ([int(grammar.seconds[r])] if grammar.seconds[r] >= 0 else [])
            cost = float(chart.weights[r]) + sum(float(costs[child]) for child in children)
            if cost < np.inf:
                nodes = tuple((child, -1, where) for child in children)
                yield cost, _Edge(_RULE, r, float(chart.weights[r]), nodes)

    def tree(self, node: Node, rank: int) -> Derivation:
        """The derivation of a node, whose rank was asked for before."""
        cost, edge, ranks = self._found[node][rank]
        if edge.kind == _ARC:
            return Derivation(node[0], cost, arc=edge.number)
        if edge.kind == _INSERT:
            return Derivation(node[0], cost)
        grammar, r = self.chart.grammar, edge.number
        parts = list(zip(edge.children, ranks, strict=True))
        children: list[Derivation] = []
        while parts:
            child, at = parts.pop(0)
            _, inner, inner_ranks = self._found[child][at]
            if inner.kind == _RULE and grammar.sources[inner.number] < 0:
                parts = [*zip(inner.children, inner_ranks, strict=True), *parts]
            else:
                children.append(self.tree(child, at))
        swapped = bool(grammar.swapped[r])
        ordered = tuple(reversed(children)) if swapped else tuple(children)
        return Derivation(node[0], cost, int(grammar.sources[r]), children=ordered, swapped=swapped)


def derivations(chart: Chart, bounds: bool = True) -> Iterator[tuple[float, Derivation]]:
    """The derivations of the whole input, cheapest first, with their costs, which include words skipped at the end.

    >>> from weft.infer.agenda.grammar import Rule
    >>> from weft.infer.agenda.lattice import Arc
    >>> grammar = Grammar.of(3, [Rule(0, (1,), 0.5), Rule(0, (1, 2))])
    >>> lattice = Lattice.of([Arc(1, 0, 1, 0.0)], [1.0])
    >>> chart = search(grammar, lattice, 0, grammar.inserted(np.array([np.inf, np.inf, 2.0])))
    >>> [(cost, tree.rule) for cost, tree in derivations(chart)]
    [(0.5, 0), (2.0, 1)]
    """
    given = 0
    while True:
        for count, (cost, tree) in enumerate(_within(chart), 1):
            if cost > chart.limit + _EPSILON:
                break
            if count > given:
                given = count
                yield cost, tree
        if chart.limit == np.inf:
            return
        chart = _wider(chart)


def _wider(chart: Chart) -> Chart:
    """The chart of the same input, with twice the margin and one more."""
    margin = 2 * (chart.limit - chart.best) + 1
    return search(chart.grammar, chart.lattice, chart.goal, chart.inserted, chart.ended, margin, chart.weights)


def _within(chart: Chart) -> Iterator[tuple[float, Derivation]]:
    lists, n = KBest(chart), chart.lattice.n
    waiting: list[tuple[float, int, int]] = []
    for j in range(1, n + 1):
        if chart.settled[0, j, chart.goal]:
            heapq.heappush(waiting, (lists.nth((chart.goal, 0, j), 0) + float(chart.lattice.trail[j]), j, 0))
    while waiting:
        cost, j, rank = heapq.heappop(waiting)
        if cost == float("inf"):
            return
        tree = lists.tree((chart.goal, 0, j), rank)
        yield cost, tree
        later = lists.nth((chart.goal, 0, j), rank + 1)
        heapq.heappush(waiting, (later + float(chart.lattice.trail[j]), j, rank + 1))


def inserted_derivations(grammar: Grammar, symbol: int, terminals: Floats, weights: Floats | None = None) -> Iterator[
    tuple[float, Derivation]
]:  # fmt: skip
    """The derivations of a symbol from inserted terminals alone, cheapest first.

    >>> from weft.infer.agenda.grammar import Rule
    >>> grammar = Grammar.of(3, [Rule(0, (1,), 0.5), Rule(0, (1, 2))])
    >>> [cost for cost, _ in inserted_derivations(grammar, 0, np.array([np.inf, 1.0, 2.0]))]
    [1.5, 3.0]
    """
    weights = grammar.weights if weights is None else weights
    costs = grammar.inserted(terminals, weights)
    chart = search(grammar, Lattice.of([], []), symbol, costs, weights=weights)
    lists, rank = KBest(chart), 0
    while (cost := lists.nth((symbol, -1, WITHIN), rank)) < float("inf"):
        yield cost, lists.tree((symbol, -1, WITHIN), rank)
        rank += 1


@kernel
def _list_edges(
    symbol: int, i: int, j: int, n: int, offsets: Ints, rules: Ints, firsts: Ints, seconds: Ints, weights: Floats,
    inserted: Floats, ended: Floats, inside: Floats, settled: np.ndarray, limit: float, table: Ints, costs: Floats,
) -> int:  # fmt: skip
    """Write the rules that make an item: rule, split, how (0 one child, 1 two, 2 and 3 with one of them inserted)."""
    count = 0
    after = ended if j == n else inserted
    for at in range(offsets[symbol], offsets[symbol + 1]):
        r = rules[at]
        first, second = firsts[r], seconds[r]
        if settled[i, j, first]:
            cost, how = weights[r] + inside[i, j, first], 0
            if second >= 0:
                cost, how = cost + after[second], 2
            if cost <= limit and cost < np.inf:
                table[count, 0], table[count, 1], table[count, 2], costs[count] = r, j, how, cost
                count += 1
        if second < 0:
            continue
        if settled[i, j, second]:
            cost = weights[r] + inserted[first] + inside[i, j, second]
            if cost <= limit and cost < np.inf:
                table[count, 0], table[count, 1], table[count, 2], costs[count] = r, i, 3, cost
                count += 1
        for k in range(i + 1, j):
            if settled[i, k, first] and settled[k, j, second]:
                cost = weights[r] + inside[i, k, first] + inside[k, j, second]
                if cost <= limit:
                    table[count, 0], table[count, 1], table[count, 2], costs[count] = r, k, 1, cost
                    count += 1
    return count
