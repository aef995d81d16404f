"""Generalized iterative scaling with a Gaussian prior.

Every iteration moves each weight by the delta that solves, on its own,

    observed_f = expected_f * exp(C * delta) + l2 * (w_f + delta),        C = most_active()

(by Newton's method; without a prior delta = log(observed / expected) / C). C is the largest feature sum of any
solution; solutions with fewer are filled up by a slack feature, which is held at weight zero: the bound behind the
update stays valid, the objective never falls, and the model is the same as that of all other optimizers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.training import Arrays


@dataclass(frozen=True)
class IterativeScaling:
    """GIS. Needs an `Objective` with the gold signal and features with values >= 0.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> from weft.learn.batch.objective import Objective
    >>> from weft.learn.batch.optimize import minimize
    >>> model = ChoiceModel(features=1, labels=2)
    >>> batch = model.batch([[1.0], [1.0], [1.0]], gold=[0, 0, 1])
    >>> result = minimize(Objective(model, [batch]), np.zeros(2), IterativeScaling(), tolerance=1e-8)
    >>> round(float(np.exp(result.weights[0] - result.weights[1])), 4)
    2.0
    """

    limit: float = 5.0

    def begin(self, oracle: Any, start: Floats, evaluate: bool) -> Any:
        return ScalingRun(oracle, start, evaluate, self.limit)


class ScalingRun:
    """A run of GIS."""

    def __init__(self, oracle: Any, start: Floats, evaluate: bool, limit: float) -> None:
        self.oracle, self.weights, self.limit = oracle, start, limit
        self.most = oracle.most_active()
        if self.most <= 0:
            raise ConfigError("Iterative scaling found no active feature; are the batches empty?")
        self.observed = oracle.empirical()
        if self.observed.min() < 0:
            raise ConfigError("Iterative scaling needs feature values >= 0; use another optimizer.")
        self.loss, self.norm = math.inf, math.inf
        self.expected = np.zeros(len(start))
        if evaluate:
            self._measure()

    def step(self) -> str:
        _scale(self.weights, self.observed, self.expected, self.most, self.oracle.l2, self.limit)
        self._measure()
        return ""

    def _measure(self) -> None:
        self.loss, self.expected = self.oracle.loss_and_expectations(self.weights)
        self.norm = float(np.linalg.norm(self.expected - self.observed + self.oracle.l2 * self.weights))

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"weights": self.weights, "expected": self.expected}, {"loss": self.loss, "norm": self.norm}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        self.weights[:], self.expected[:] = arrays["weights"], arrays["expected"]
        self.loss, self.norm = values["loss"], values["norm"]


@kernel
def _scale(weights: Floats, observed: Floats, expected: Floats, most: float, l2: float, limit: float) -> None:
    """Solve each weight's equation; `limit` bounds a move where a weight wants to go to infinity (no prior)."""
    for f in range(weights.shape[0]):
        seen, model, w = observed[f], expected[f], weights[f]
        if l2 == 0.0:
            if model <= 0.0:
                continue
            delta = math.log(seen / model) / most if seen > 0.0 else -limit
        else:
            delta = 0.0
            for _ in range(50):
                grown = model * math.exp(most * delta)
                move = (grown + l2 * (w + delta) - seen) / (most * grown + l2)
                # The left side is convex in delta: a huge Newton step to the right would overflow the exponential.
                move = min(max(move, -5.0 / most), 5.0 / most) if grown > 0.0 else move
                delta -= move
                if abs(move) <= 1e-12 * (1.0 + abs(delta)):
                    break
        weights[f] = w + min(max(delta, -limit), limit)
