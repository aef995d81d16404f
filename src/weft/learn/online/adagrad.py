"""Stochastic gradient with a rate for every weight (AdaGrad: Duchi, Hazan and Singer 2011).

    G_j <- G_j + g_j^2,      w_j <- w_j + rate * g_j / sqrt(G_j)

g is the gradient of a batch's signal (by default its log likelihood) and G starts at `damping`, so that the first steps
stay below `rate`. Features that are met seldom keep large steps, frequent ones settle: a few epochs suffice where
L-BFGS needs a hundred passes. The weights returned are the mean of those after every update, which takes the place of
a prior (`weft.learn.online.averaging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.online.averaging import AveragedRun
from weft.learn.online.loop import OnlineLearner
from weft.learn.protocol import Indices
from weft.learn.signals import Gold


@dataclass(frozen=True)
class AdaGrad(OnlineLearner):
    """Options: epochs, rate, what G starts at, the signal to climb, averaging, batches per update, order.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=2, labels=2)
    >>> batches = [model.batch([row], gold=[label]) for row, label in [([1.0, 0.0], 0), ([0.0, 1.0], 1)]]
    >>> result = AdaGrad(epochs=5).fit(model, batches)
    >>> [int(model.score(batch, result.weights).best()[0]) for batch in batches]
    [0, 1]
    """

    rate: float = 0.4
    damping: float = 1.0
    signal: Any = field(default_factory=Gold)
    average: bool = True

    def begin(self, model: Any, batches: Sequence[Any], start: Floats | None) -> AdaGradRun:
        """A run of AdaGrad; the loss of an epoch is minus the sum of the signal's values."""
        if self.rate <= 0 or self.damping <= 0:
            raise ConfigError(f"AdaGrad needs a rate and a damping above 0, got {self.rate} and {self.damping}.")
        return AdaGradRun(self, model, start)


class AdaGradRun(AveragedRun):
    """A run of AdaGrad."""

    kept = ("weights", "squares", "late")

    def __init__(self, options: AdaGrad, model: Any, start: Floats | None) -> None:
        super().__init__(model.size, start, options.average)
        self.model, self.signal, self.rate = model, options.signal, options.rate
        self.squares = np.full(model.size, options.damping)
        self._gradient = np.zeros(model.size)

    def visit(self, group: list[Any]) -> float:
        value = 0.0
        for batch in group:
            own, parts = self.signal(self.model.score(batch, self.weights), batch)
            value += own
            self.model.scatter(batch, parts, self._gradient)
        for batch in group:
            # A weight that two batches share has moved, and its gradient is zero, when the second comes.
            _step(
                self.model.active(batch), self._gradient, self.weights, self.squares, self.late,
                self.rate, float(self.updates),
            )  # fmt: skip
        self.updates += 1
        return -value


@kernel
def _step(
    indices: Indices, gradient: Floats, weights: Floats, squares: Floats, late: Floats, rate: float, updates: float
) -> None:
    for i in indices:
        if gradient[i] != 0.0:
            squares[i] += gradient[i] * gradient[i]
            change = rate * gradient[i] / np.sqrt(squares[i])
            weights[i] += change
            if len(late) > 0:
                late[i] += updates * change
            gradient[i] = 0.0
