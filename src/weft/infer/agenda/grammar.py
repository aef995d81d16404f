"""Weighted grammars whose symbols may also be inserted, and whose pairs may change places.

    cost(rule A -> X1 ... Xk)  = weight + cost(X1) + ... + cost(Xk)
    cost(terminal, inserted)   = inserted[terminal], or ended[terminal] where the input ends
    ins(A), end(A)             = the cheapest derivation of A from inserted terminals alone (Knuth's Dijkstra)

A longer rule becomes a chain of binary ones. A rule of two symbols with a `swap` also takes them in the other order, at
that cost more. Costs are at least 0; a terminal that cannot be inserted costs infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.kernel import kernel

NO_SWAP = float("inf")


@dataclass(frozen=True)
class Rule:
    """A rule `left -> right` with its weight; `swap` is what the other order of two symbols costs more."""

    left: int
    right: tuple[int, ...]
    weight: float = 0.0
    swap: float = NO_SWAP


@dataclass(frozen=True)
class Grammar:
    """Rules in binary form: `lefts[r] -> firsts[r] seconds[r]`, or one symbol if `seconds[r]` is -1.

    `sources[r]` is the number of the rule that r begins, -1 for the rest of a chain, and `swapped[r]` tells whether r
    takes the symbols in the other order. `by_left`, `by_first` and `by_second` list rules by symbol.
    """

    symbols: int
    rules: tuple[Rule, ...]
    lefts: Ints
    firsts: Ints
    seconds: Ints
    weights: Floats
    sources: Ints
    swapped: Ints
    by_left: tuple[Ints, Ints]
    by_first: tuple[Ints, Ints]
    by_second: tuple[Ints, Ints]

    @classmethod
    def of(cls, symbols: int, rules: Sequence[Rule]) -> Grammar:
        """Check rules and bring them into binary form.

        >>> grammar = Grammar.of(4, [Rule(0, (1, 2, 3), 0.5)])
        >>> grammar.symbols, grammar.lefts.tolist(), grammar.weights.tolist()
        (5, [0, 4], [0.5, 0.0])
        """
        rows: list[tuple[int, int, int, float, int, int]] = []
        size = symbols
        for number, rule in enumerate(rules):
            if not rule.right:
                raise InferenceError(f"rule {number} has no symbols on its right side")
            if not (rule.weight >= 0 and rule.swap >= 0):
                raise InferenceError(f"rule {number} needs costs of at least 0, got {rule.weight} and {rule.swap}")
            if not all(0 <= symbol < symbols for symbol in (rule.left, *rule.right)):
                raise InferenceError(f"rule {number} names a symbol that the grammar of {symbols} does not have")
            left, rest, weight, source = rule.left, rule.right, rule.weight, number
            while len(rest) > 2:
                rows.append((left, rest[0], size, weight, source, 0))
                left, rest, weight, source, size = size, rest[1:], 0.0, -1, size + 1
            rows.append((left, rest[0], rest[1] if len(rest) == 2 else -1, weight, source, 0))
            if rule.swap < NO_SWAP:
                if len(rule.right) != 2:
                    raise InferenceError(f"rule {number} has {len(rule.right)} symbols; two can change places")
                rows.append((left, rest[1], rest[0], weight + rule.swap, source, 1))
        table = np.array([(*row[:3], *row[4:]) for row in rows], dtype=np.int64).reshape(-1, 5)
        lefts, firsts, seconds, sources, swapped = (np.ascontiguousarray(column) for column in table.T)
        return cls(
            size, tuple(rules), lefts, firsts, seconds, np.array([row[3] for row in rows], dtype=np.float64), sources,
            swapped, _listed(lefts, size), _listed(firsts, size), _listed(seconds, size),
        )  # fmt: skip

    def weighed(self, weights: Floats) -> Floats:
        """The weights of the binary rules, given other weights of the rules as they were written."""
        swaps = np.array([rule.swap if rule.swap < NO_SWAP else 0.0 for rule in self.rules])
        own = self.sources >= 0
        new = np.zeros(len(self.sources))
        new[own] = weights[self.sources[own]] + self.swapped[own] * swaps[self.sources[own]]
        if (new < 0).any():
            raise InferenceError("the weights of rules must be at least 0")
        return new

    def inserted(self, terminals: Floats, weights: Floats | None = None) -> Floats:
        """The cheapest derivation of every symbol from inserted terminals alone.

        >>> Grammar.of(3, [Rule(0, (1, 2), 0.5)]).inserted(np.array([np.inf, 1.0, 2.0])).tolist()
        [3.5, 1.0, 2.0]
        """
        costs = np.full(self.symbols, np.inf)
        costs[: len(terminals)] = terminals
        if len(terminals) and np.nanmin(costs) < 0:
            raise InferenceError("inserting a terminal must cost at least 0")
        _close(self.lefts, self.firsts, self.seconds, self.weights if weights is None else weights, costs)
        return costs


def _listed(symbols: Ints, size: int) -> tuple[Ints, Ints]:
    """The numbers of rules by a symbol of theirs: offsets, and rules; -1 stands for no symbol."""
    order = np.argsort(symbols, kind="stable")
    order = order[np.searchsorted(symbols[order], 0) :]
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(symbols[order], minlength=size), out=offsets[1:])
    return offsets, order.astype(np.int64)


@kernel
def _close(lefts: Ints, firsts: Ints, seconds: Ints, weights: Floats, costs: Floats) -> None:
    """Lower costs until no rule lowers any; costs are at least 0, so this ends with the cheapest derivations."""
    changed = True
    while changed:
        changed = False
        for r in range(len(lefts)):
            cost = weights[r] + costs[firsts[r]]
            if seconds[r] >= 0:
                cost += costs[seconds[r]]
            if cost < costs[lefts[r]]:
                costs[lefts[r]] = cost
                changed = True
