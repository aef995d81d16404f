"""The constraints of margin learners: linear inequalities from a sentence's k best solutions.

A demand is  w . F(parts) >= margin.  `BeatGold` asks gold to be ahead of every solution by its loss,

    w . [F(gold) - F(y)] >= loss(gold, y)      for the k best y,

`Separate` and `Pairwise` are for multilabel structures, where every label of a set is right or wrong by itself (forms B
and A of McDonald, Crammer and Pereira 2005): with act the gold labels and wrong the others among the k best,

    w . F(y) >= +1, w . F(y') <= -1            for y in act, y' in wrong
    w . [F(y) - F(y')] >= 1                    for every pair of them

`HeadByHead` is for trees whose score is a sum over arcs: instead of whole trees, single heads are compared,

    w . [f(gold head, m) - f(h, m)] >= 1       for every word m and every other head h

which is enough for gold to be ahead of every tree by its loss, and needs no search. As there are O(n^2) of them, only
those that are missed are given, the k worst of every word; ask again after the step (`MIRA(rounds=...)`).

Hildreth's algorithm (`weft.learn.online.mira`) then moves the weights as little as the demands allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from weft.errors import ConfigError
from weft.learn.cost import Cost, cost_parts
from weft.learn.protocol import Decisions
from weft.learn.signals import gold_of

#: How wrong a solution of a batch of one sentence is: `loss(structure, batch, solution)`.
Loss = Callable[[Any, Any, Any], float]


class Demand(NamedTuple):
    """Constraints of one sentence: parts, and by how much the current weights miss each margin (below 0: met)."""

    parts: list[Any]
    missing: list[float]
    loss: float  # of the decision under the present weights


class Demands(Protocol):
    """Turns a sentence into constraints."""

    def __call__(self, structure: Any, batch: Any, k: int) -> Demand: ...


@dataclass(frozen=True)
class BeatGold:
    """Gold ahead of the k best solutions by their loss: a cost that is a sum over decisions, or any function.

    Solutions without loss ask for nothing; where all demands are met, none are given. With `worst` the solutions are
    not the best ones but those that come best with their cost added: those that miss the margin by most.

    >>> BeatGold()
    BeatGold(cost=1.0, loss=None, worst=False)
    """

    cost: float | Cost = 1.0
    loss: Loss | None = None
    worst: bool = False

    def __call__(self, structure: Any, batch: Any, k: int) -> Demand:
        if k < 1:
            raise ConfigError(f"MIRA needs k >= 1 solutions, got {k}.")
        gold = gold_of(batch, "MIRA")
        searched = structure.augment(cost_parts(self.cost, structure, gold)) if self.worst else structure
        solutions = [searched.best()] if k == 1 else searched.kbest(k)[0]
        losses = [self._loss(structure, batch, solution) for solution in solutions]
        wrong = [(solution, loss) for solution, loss in zip(solutions, losses, strict=True) if loss > 0]
        if not wrong:
            return Demand([], [], losses[0])
        gold_score = float(structure.score(gold)[0])
        missing = [loss - gold_score + float(structure.score(solution)[0]) for solution, loss in wrong]
        if max(missing) <= 0:
            return Demand([], [], losses[0])
        of_gold = structure.parts(gold)
        return Demand([of_gold - structure.parts(solution) for solution, _ in wrong], missing, losses[0])

    def _loss(self, structure: Any, batch: Any, solution: Any) -> float:
        if self.loss is not None:
            return float(self.loss(structure, batch, solution))
        if isinstance(self.cost, int | float):
            return self.cost * float(structure.differs(batch.gold, solution)[0])
        return float(cost_parts(self.cost, structure, batch.gold).inner(structure.parts(solution)))


@dataclass(frozen=True)
class Separate:
    """Gold labels at +1 or more, wrong ones among the k best at -1 or less (k = 0: as many as there are words).

    >>> Separate()
    Separate()
    """

    def __call__(self, structure: Any, batch: Any, k: int) -> Demand:
        right, wrong = _labels(structure, batch, k)
        up, down = _scores(structure, right), _scores(structure, wrong)
        return Demand(
            [structure.parts(label) for label in right] + [structure.parts(label).scale(-1.0) for label in wrong],
            [1.0 - score for score in up] + [1.0 + score for score in down],
            _mistakes(up, down),
        )


@dataclass(frozen=True)
class Pairwise:
    """Every gold label ahead of every wrong one among the k best by 1 (k = 0: as many as there are words).

    >>> Pairwise()
    Pairwise()
    """

    def __call__(self, structure: Any, batch: Any, k: int) -> Demand:
        right, wrong = _labels(structure, batch, k)
        up, down = _scores(structure, right), _scores(structure, wrong)
        below = [structure.parts(label) for label in wrong]
        above = [structure.parts(label) for label in right]
        return Demand(
            [one - other for one in above for other in below],
            [1.0 - one + other for one in up for other in down],
            float(sum(one <= other for one in up for other in down)),
        )


@dataclass(frozen=True)
class HeadByHead:
    """The gold head of every word ahead of all other heads by the margin: factored MIRA, for trees of first order.

    >>> HeadByHead()
    HeadByHead(margin=1.0, tolerance=1e-06)
    """

    margin: float = 1.0
    tolerance: float = 1e-6  # what is missed by less is met

    def __call__(self, structure: Any, batch: Any, k: int) -> Demand:
        if k < 1:
            raise ConfigError(f"MIRA needs k >= 1 heads per word, got {k}.")
        decisions: Decisions | None = structure.decisions(gold_of(batch, "MIRA"))
        if decisions is None:
            raise ConfigError("constraints on single heads are for trees whose score is a sum over arcs: system mst1")
        word, gold = decisions.decision, decisions.gold
        missing = self.margin - decisions.score[gold[word]] + decisions.score
        missing[gold] = -np.inf
        missed = np.flatnonzero(missing > self.tolerance)
        order = missed[np.lexsort((-missing[missed], word[missed]))]
        counts = np.bincount(word[order], minlength=len(gold))
        place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = order[place < k]
        wrong = np.unique(word[missed[missing[missed] > self.margin]])
        return Demand([decisions.exchange(arc) for arc in chosen], missing[chosen].tolist(), float(len(wrong)))


def _labels(structure: Any, batch: Any, k: int) -> tuple[list[Any], list[Any]]:
    """Gold labels and the wrong ones among the k best, each as a solution of one label."""
    (right,) = structure.members(gold_of(batch, "MIRA"))
    return right, [label for label in structure.kbest(k)[0] if label not in right]


def _scores(structure: Any, labels: list[Any]) -> list[float]:
    return [float(structure.score(label)[0]) for label in labels]


def _mistakes(right: list[float], wrong: list[float]) -> float:
    return float(sum(score <= 0 for score in right) + sum(score > 0 for score in wrong))
