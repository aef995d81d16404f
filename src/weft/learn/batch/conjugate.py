"""Nonlinear conjugate gradient, plain, with a diagonal preconditioner, and mixed (Sha and Pereira 2003).

    d = - M^-1 g + beta d_before,
    beta = max(0, g . M^-1 (g - g_before) / (g_before . M_before^-1 g_before))        (Polak-Ribiere plus)

M is the identity, or the diagonal of the Hessian that ignores covariance between positions (`Objective.curvature`). The
preconditioner speeds up the first iterations and becomes unstable near the optimum, so the mixed method drops it after
`switch` iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import fast_kernel
from weft.learn.batch.descent import Descent, length
from weft.learn.training import Arrays


@dataclass(frozen=True)
class ConjugateGradient:
    """Polak-Ribiere plus with a line search.

    >>> from weft.learn.batch.optimize import minimize
    >>> bowl = lambda w: (float(w[0] ** 2 + 5 * (w[1] - 1) ** 2), np.array([2 * w[0], 10 * (w[1] - 1)]))
    >>> abs(minimize(bowl, np.ones(2) * 4, ConjugateGradient()).weights.round(5))
    array([0., 1.])
    """

    curvature: float = 0.1

    def begin(self, oracle: Any, start: Floats, evaluate: bool) -> Any:
        return ConjugateRun(oracle, start, evaluate, self.curvature, switch=0, refresh=0)


@dataclass(frozen=True)
class PreconditionedCG:
    """Conjugate gradient in the metric of the curvature, which is measured anew every `refresh` iterations.

    Directions are conjugate only as long as the metric stays; and a measurement costs as much as a gradient.

    >>> PreconditionedCG()
    PreconditionedCG(refresh=10, curvature=0.1)
    """

    refresh: int = 10
    curvature: float = 0.1

    def __post_init__(self) -> None:
        if self.refresh < 1:
            raise ConfigError(f"PreconditionedCG needs refresh >= 1, got {self.refresh}.")

    def begin(self, oracle: Any, start: Floats, evaluate: bool) -> Any:
        return ConjugateRun(oracle, start, evaluate, self.curvature, switch=None, refresh=self.refresh)


@dataclass(frozen=True)
class MixedCG:
    """Preconditioned for the first `switch` iterations, plain from then on.

    >>> MixedCG(switch=5)
    MixedCG(switch=5, refresh=10, curvature=0.1)
    """

    switch: int = 20
    refresh: int = 10
    curvature: float = 0.1

    def __post_init__(self) -> None:
        if self.refresh < 1 or self.switch < 1:
            raise ConfigError(f"MixedCG needs switch and refresh >= 1, got {self.switch} and {self.refresh}.")

    def begin(self, oracle: Any, start: Floats, evaluate: bool) -> Any:
        return ConjugateRun(oracle, start, evaluate, self.curvature, switch=self.switch, refresh=self.refresh)


class ConjugateRun(Descent):
    """A run of conjugate gradient; preconditioned before iteration `switch` (None: always)."""

    def __init__(
        self, oracle: Any, start: Floats, evaluate: bool, curvature: float, switch: int | None, refresh: int
    ) -> None:
        super().__init__(oracle, start, evaluate)
        self.curvature, self.switch, self.refresh = curvature, switch, refresh
        self.inverse = np.ones(len(start))
        self.iteration = 0
        self.slope, self.length = 0.0, 0.0
        self.squared = self.beta = 0.0

    def step(self) -> str:
        preconditioned = self.switch is None or self.iteration < self.switch
        if preconditioned and self.iteration % self.refresh == 0:
            diagonal = self.oracle.curvature(self.weights)
            if not diagonal.min() > 0:
                return "the curvature is not positive: give the objective a prior (l2 > 0)"
            np.divide(1.0, diagonal, out=self.inverse)
        elif self.iteration == self.switch and self.iteration > 0:
            self.inverse.fill(1.0)
            self.beta = self.length = 0.0
        slope, squared = _turn(self.direction, self.gradient, self.inverse, self.beta)
        if not slope < 0:
            slope, squared = _turn(self.direction, self.gradient, self.inverse, 0.0)
        # A step is guessed from what the last one gained; the first of all, and the first after a change of metric,
        # is a Newton step where there is a curvature and of length one where there is none.
        first = 1.0 if preconditioned else 1.0 / self.norm
        if self.length > 0:
            first = self.length * self.slope / slope
        found = self.descend(slope, first, self.curvature)
        if not found.ok:
            if self.beta == 0.0:
                return "no lower point along the gradient"
            self.beta = self.length = 0.0
            return ""
        self.beta = max(0.0, _change(self.newest, self.gradient, self.inverse) / squared)
        self.slope, self.length, self.squared = slope, found.step, squared
        self.accept(found)
        self.iteration += 1
        return ""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {"weights": self.weights, "gradient": self.gradient, "direction": self.direction}
        names = ("loss", "iteration", "slope", "length", "beta")
        return {**arrays, "inverse": self.inverse}, {name: getattr(self, name) for name in names}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        for name in ("weights", "gradient", "direction", "inverse"):
            getattr(self, name)[:] = arrays[name]
        for name, value in values.items():
            setattr(self, name, value)
        self.norm = length(self.gradient)


@fast_kernel
def _turn(direction: Floats, gradient: Floats, inverse: Floats, beta: float) -> tuple[float, float]:
    """direction <- beta * direction - inverse * gradient; gives its slope and  gradient . inverse * gradient."""
    slope, squared = 0.0, 0.0
    for i in range(direction.shape[0]):
        scaled = inverse[i] * gradient[i]
        turned = (beta * direction[i] if beta != 0.0 else 0.0) - scaled
        direction[i] = turned
        slope += turned * gradient[i]
        squared += scaled * gradient[i]
    return slope, squared


@fast_kernel
def _change(new: Floats, old: Floats, inverse: Floats) -> float:
    """new . inverse * (new - old)"""
    total = 0.0
    for i in range(new.shape[0]):
        total += new[i] * inverse[i] * (new[i] - old[i])
    return total
