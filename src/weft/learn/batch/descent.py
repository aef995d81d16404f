"""What the methods with a line search share: weights, gradient, direction, and vector work in few passes.

The weights move in place along the direction: a step from t to t' adds (t' - t) * direction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import fast_kernel
from weft.learn.batch.line_search import Found, search


class Descent:
    """State of a line-search method after an iteration."""

    def __init__(self, oracle: Any, start: Floats, evaluate: bool) -> None:
        self.oracle, self.weights = oracle, start
        self.gradient = np.zeros(len(start))
        self.direction = np.zeros(len(start))
        self.loss, self.norm = math.inf, math.inf
        self._newest = self.gradient
        if evaluate:
            self.loss, gradient = oracle(start)
            if not math.isfinite(self.loss):
                raise ConfigError(f"The loss at the starting weights is {self.loss}; start from finite scores.")
            self.gradient[:] = gradient
            self.norm = length(gradient)

    def descend(self, slope: float, first: float, curvature: float) -> Found:
        """Search along the direction; leaves weights and `newest` (the oracle's gradient) at the step found."""
        at = 0.0

        def evaluate(step: float) -> tuple[float, float]:
            nonlocal at
            move(self.weights, self.direction, step - at)
            at = step
            loss, self._newest = self.oracle(self.weights)
            return loss, dot(self._newest, self.direction)

        return search(evaluate, self.loss, slope, first, curvature=curvature)

    def accept(self, found: Found) -> None:
        """Make the point found the current one."""
        self.loss = found.value
        self.gradient[:] = self._newest
        self.norm = length(self.gradient)

    @property
    def newest(self) -> Floats:
        return self._newest


@fast_kernel
def move(weights: Floats, direction: Floats, step: float) -> None:
    """weights += step * direction, without a temporary."""
    for i in range(weights.shape[0]):
        weights[i] += step * direction[i]


@fast_kernel
def dot(one: Floats, other: Floats) -> float:
    """Inner product on one core; that of NumPy wakes all of them, which costs more than it gains here."""
    total = 0.0
    for i in range(one.shape[0]):
        total += one[i] * other[i]
    return total


def length(vector: Floats) -> float:
    """Euclidean length."""
    return math.sqrt(dot(vector, vector))
