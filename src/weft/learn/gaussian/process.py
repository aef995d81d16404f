"""Regression with a Gaussian process; hyper-parameters maximize the marginal likelihood.

    y ~ N(0, K + s_n^2 I),    L L' = K + s_n^2 I,    a = (L L')^-1 y
    log p(y) = -1/2 y' a - sum log L_ii - n/2 log 2 pi
    d log p / d t = 1/2 tr((a a' - (L L')^-1) dK/dt)
    at x:  mean k' a,   variance k(x, x) - |L^-1 k|^2 (+ s_n^2 for a new observation)

Features are standardized and targets centred before; several starts guard against poor local optima.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.learn.gaussian.kernels import Kernel, SquaredExponential

#: Bounds of the logarithms of hyper-parameters, after standardization.
_LOW, _HIGH = -6.0, 6.0
#: Added to the diagonal for a stable decomposition.
_JITTER = 1e-9


class Predicted(NamedTuple):
    """Mean and variance at every row; the variance is that of a new observation."""

    mean: Floats
    variance: Floats


class Likelihood(NamedTuple):
    """The log marginal likelihood, and its gradient by the kernel's logarithms and the log of the noise."""

    value: float
    gradient: Floats


@dataclass
class GaussianProcess:
    """A fitted process.

    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> process = GaussianProcess.fit(x, np.sin(x[:, 0]))
    >>> bool(abs(process.predict([[1.5]]).mean[0] - np.sin(1.5)) < 0.01)
    True
    """

    kernel: Kernel
    log_noise: float
    x: Floats
    weights: Floats
    lower: Floats
    centre: Floats
    spread: Floats
    level: float
    unit: float
    likelihood: float

    @classmethod
    def fit(
        cls, x: ArrayLike, y: ArrayLike, kernel: Kernel | None = None, starts: int = 2, seed: int = 0,
        iterations: int = 100,
    ) -> GaussianProcess:  # fmt: skip
        """Learn hyper-parameters from observations: rows of features, and targets."""
        rows, targets = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if rows.ndim != 2 or targets.shape != (len(rows),):
            raise DataError(f"expected rows of features and a target each, got shapes {rows.shape} and {targets.shape}")
        if len(rows) < 2 or not np.isfinite(rows).all() or not np.isfinite(targets).all():
            raise DataError("a Gaussian process needs at least two observations, all of them finite")
        if starts < 1:
            raise ConfigError(f"starts must be at least 1, got {starts}")
        centre, spread = rows.mean(axis=0), rows.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        level, unit = float(targets.mean()), float(targets.std()) or 1.0
        z, t = (rows - centre) / spread, (targets - level) / unit
        own: Kernel = kernel or SquaredExponential.of(rows.shape[1])
        from scipy.optimize import minimize

        def loss(logs: Floats) -> tuple[float, Floats]:
            found = marginal_likelihood(own.with_logs(logs[:-1]), float(logs[-1]), z, t)
            return -found.value, -found.gradient

        rng = np.random.default_rng(seed)
        first = np.concatenate([own.logs, [np.log(0.5)]])
        best = None
        for number in range(starts):
            begin = first if number == 0 else first + rng.normal(0.0, 1.0, len(first))
            found = minimize(
                loss, np.clip(begin, _LOW, _HIGH), jac=True, method="L-BFGS-B", bounds=[(_LOW, _HIGH)] * len(first),
                options={"maxiter": iterations},
            )  # fmt: skip
            if best is None or found.fun < best.fun:
                best = found
        assert best is not None
        learned = own.with_logs(best.x[:-1])
        lower = _decomposed(learned, float(best.x[-1]), z)
        weights = _solved(lower, t)
        return cls(learned, float(best.x[-1]), z, weights, lower, centre, spread, level, unit, -float(best.fun))

    def predict(self, x: ArrayLike) -> Predicted:
        """Mean and variance at new rows."""
        rows = (np.asarray(x, dtype=np.float64) - self.centre) / self.spread
        from scipy.linalg import solve_triangular

        covariance = self.kernel.matrix(rows, self.x)
        half = solve_triangular(self.lower, covariance.T, lower=True)
        variance = self.kernel.diagonal(rows) - (half * half).sum(axis=0) + np.exp(2 * self.log_noise)
        return Predicted(self.level + self.unit * (covariance @ self.weights), self.unit**2 * np.maximum(variance, 0.0))

    @property
    def length_scales(self) -> Floats:
        """The length-scales of a squared exponential kernel, in units of the features."""
        if not isinstance(self.kernel, SquaredExponential):
            raise ConfigError("only a squared exponential kernel has a length-scale per feature")
        return self.kernel.length_scales * self.spread


def marginal_likelihood(kernel: Kernel, log_noise: float, x: Floats, y: Floats) -> Likelihood:
    """The log marginal likelihood of targets with mean 0, and its gradient.

    >>> found = marginal_likelihood(SquaredExponential(np.zeros(2)), 0.0, np.zeros((1, 1)), np.zeros(1))
    >>> round(found.value, 4)  # -1/2 log 2 - 1/2 log 2 pi
    -1.2655
    """
    lower = _decomposed(kernel, log_noise, x)
    weights = _solved(lower, y)
    inverse = _solved(lower, np.eye(len(y)))
    value = -0.5 * float(y @ weights) - float(np.log(np.diag(lower)).sum()) - 0.5 * len(y) * np.log(2 * np.pi)
    shift = np.outer(weights, weights) - inverse
    noise = float(np.trace(shift)) * np.exp(2 * log_noise)
    return Likelihood(float(value), np.append(kernel.slopes(x, x, 0.5 * shift), noise))


def _decomposed(kernel: Kernel, log_noise: float, x: Floats) -> Floats:
    covariance = kernel.matrix(x, x)
    covariance[np.diag_indices(len(x))] += np.exp(2 * log_noise) + _JITTER
    lower: Floats = np.linalg.cholesky(covariance).astype(np.float64, copy=False)
    return lower


def _solved(lower: Floats, y: Floats) -> Floats:
    from scipy.linalg import cho_solve

    solution: Floats = cho_solve((lower, True), y)
    return solution
