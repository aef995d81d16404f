"""The averaged structured perceptron (Collins 2002).

    w <- w + weight_s * [F(gold) - F(guess)],    guess = argmax_y score(y) + cost(gold, y)

The weights returned are the mean of those after every update (`weft.learn.online.averaging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.arrays import Floats
from weft.learn.cost import Cost, check_cost, cost_parts
from weft.learn.online.averaging import AveragedRun
from weft.learn.online.loop import OnlineLearner
from weft.learn.signals import gold_of


@dataclass(frozen=True)
class Perceptron(OnlineLearner):
    """Options: epochs, cost of wrong decisions while searching (a number each, or a `Cost`), averaging, batches per
    update, order.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=2, labels=2)
    >>> batches = [model.batch([row], gold=[label]) for row, label in [([1.0, 0.0], 0), ([0.0, 1.0], 1)]]
    >>> result = Perceptron(epochs=5).fit(model, batches)
    >>> [int(model.score(batch, result.weights).best()[0]) for batch in batches], result.why
    ([0, 1], 'no errors left')
    """

    cost: float | Cost = 0.0
    average: bool = True

    def begin(self, model: Any, batches: Sequence[Any], start: Floats | None) -> PerceptronRun:
        """A run of the perceptron; the loss of an epoch counts wrong decisions."""
        check_cost(self.cost, "The perceptron")
        return PerceptronRun(self, model, start)


class PerceptronRun(AveragedRun):
    """A run of the perceptron."""

    def __init__(self, options: Perceptron, model: Any, start: Floats | None) -> None:
        super().__init__(model.size, start, options.average)
        self.model, self.cost = model, options.cost

    def visit(self, group: list[Any]) -> float:
        wrong = 0.0
        changes = []
        for batch in group:
            structure = self.model.score(batch, self.weights)
            gold = gold_of(batch, "The perceptron")
            searched = structure.augment(cost_parts(self.cost, structure, gold)) if self.cost else structure
            guess = searched.best()
            errors = float(structure.differs(gold, guess).sum())
            if errors:
                wrong += errors
                change = structure.parts(gold, batch.weight)
                change -= structure.parts(guess, batch.weight)
                changes.append((batch, change))
        for batch, change in changes:
            self.model.scatter(batch, change, self.weights)
            if self.average and self.updates:
                self.model.scatter(batch, change.scale(float(self.updates)), self.late)
        self.updates += 1
        return wrong

    def finished(self, loss: float) -> str:
        return "" if loss else "no errors left"
