"""OWL-QN (Andrew and Gao 2007): L-BFGS for  f(w) + l1 * ||w||_1,  which is smooth inside every orthant.

The pseudo-gradient is the steepest one-sided derivative; the quasi-Newton direction is kept where it agrees in sign
with it; a step is projected onto the orthant it starts in, so that weights stop at zero instead of crossing it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.arrays import Floats
from weft.kernel import fast_kernel
from weft.learn.batch.descent import Descent, length
from weft.learn.training import Arrays

if TYPE_CHECKING:
    from weft.learn.batch.lbfgs import LBFGS


class OrthantRun(Descent):
    """A run of OWL-QN; `loss` includes the penalty and `norm` is that of the pseudo-gradient."""

    def __init__(self, options: LBFGS, oracle: Any, start: Floats, evaluate: bool) -> None:
        from weft.learn.batch.lbfgs import Pairs

        super().__init__(oracle, start, evaluate)
        self.l1 = options.l1
        self.pairs = Pairs(options.memory, len(start))
        self.pseudo = np.zeros(len(start))
        self.trial = np.zeros(len(start))
        if evaluate:
            self.loss += self.l1 * float(np.abs(start).sum())
            self._measure()

    def step(self) -> str:
        self.pairs.direction(self.pseudo, self.direction)
        slope = _align(self.direction, self.pseudo)
        if not slope < 0:
            self.pairs.clear()
            np.negative(self.pseudo, out=self.direction)
            slope = -self.norm * self.norm
        step = 1.0 if self.pairs.count else 1.0 / self.norm
        for _ in range(30):
            gain = _project(self.weights, self.direction, self.pseudo, step, self.trial)
            loss, gradient = self.oracle(self.trial)
            loss += self.l1 * float(np.abs(self.trial).sum())
            if math.isfinite(loss) and loss <= self.loss + 1e-4 * gain:
                break
            step *= 0.5 if self.pairs.count else 0.1
        else:
            if not self.pairs.count:
                return "no lower point along the gradient"
            self.pairs.clear()
            return ""
        np.subtract(self.trial, self.weights, out=self.direction)
        self.pairs.push(self.direction, 1.0, gradient, self.gradient)
        self.weights[:], self.gradient[:], self.loss = self.trial, gradient, loss
        self._measure()
        return ""

    def _measure(self) -> None:
        _pseudo_gradient(self.weights, self.gradient, self.l1, self.pseudo)
        self.norm = length(self.pseudo)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {"weights": self.weights, "gradient": self.gradient, **self.pairs.arrays()}
        return arrays, {"loss": self.loss, "count": self.pairs.count, "newest": self.pairs.newest}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        self.weights[:], self.gradient[:] = arrays["weights"], arrays["gradient"]
        self.loss = values["loss"]
        self.pairs.restore(arrays, values["count"], values["newest"])
        self._measure()


@fast_kernel
def _pseudo_gradient(weights: Floats, gradient: Floats, l1: float, out: Floats) -> None:
    for i in range(weights.shape[0]):
        g = gradient[i]
        if weights[i] > 0:
            out[i] = g + l1
        elif weights[i] < 0:
            out[i] = g - l1
        elif g + l1 < 0:
            out[i] = g + l1
        elif g - l1 > 0:
            out[i] = g - l1
        else:
            out[i] = 0.0


@fast_kernel
def _align(direction: Floats, pseudo: Floats) -> float:
    """Zero the direction where it does not go down, and give its slope."""
    slope = 0.0
    for i in range(direction.shape[0]):
        if direction[i] * pseudo[i] >= 0:
            direction[i] = 0.0
        slope += direction[i] * pseudo[i]
    return slope


@fast_kernel
def _project(weights: Floats, direction: Floats, pseudo: Floats, step: float, out: Floats) -> float:
    """Step within the orthant; gives the slope times the projected step."""
    gain = 0.0
    for i in range(weights.shape[0]):
        w = weights[i]
        moved = w + step * direction[i]
        if w > 0 or (w == 0 and pseudo[i] < 0):
            moved = max(moved, 0.0)
        elif w < 0 or (w == 0 and pseudo[i] > 0):
            moved = min(moved, 0.0)
        else:
            moved = 0.0
        gain += pseudo[i] * (moved - w)
        out[i] = moved
    return gain
