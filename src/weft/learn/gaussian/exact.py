"""The likelihood and the posterior of a multi-task process, exactly: from a Cholesky decomposition of all rows.

    K = K_f + diag(s^2) = L L',    a = K^-1 y
    log p(y) = -1/2 y'a - sum log L_ii - n/2 log 2 pi
    d log p / d t = 1/2 sum_ij (a a' - K^-1)_ij dK_ij/dt

Cubic in the rows. Where all annotators label the same items, `weft.learn.gaussian.blocks` is much cheaper.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from weft.arrays import Floats
from weft.errors import WeftError
from weft.learn.gaussian.multitask import Covariance, Design

#: Added to the diagonal, in units of the targets' variance, for a stable decomposition.
JITTER = 1e-8


class Fit(NamedTuple):
    """The log marginal likelihood, and its gradient by all parameters."""

    value: float
    gradient: Floats


class Posterior(Protocol):
    """What predictions need of training rows."""

    def mean(self, covariances: Floats) -> Floats:
        """The mean of f, from its covariances with training rows or inducing points."""

    def explained(self, covariances: Floats) -> Floats:
        """By how much the variance of f falls."""


def likelihood(covariance: Covariance, rows: Design, y: Floats) -> Fit:
    """The log marginal likelihood of targets with mean 0, and its gradient.

    >>> one = Covariance.of("squared-exponential", 1, ["pooled"], [1])
    >>> found = likelihood(one, Design(np.zeros((1, 1)), np.zeros((1, 1), int)), np.zeros(1))
    >>> round(found.value, 4)  # -1/2 log 1.25 - 1/2 log 2 pi
    -1.0305
    """
    from scipy.linalg.lapack import dpotri

    lower = _decomposed(covariance, rows)
    weights = _solved(lower, y)
    value = -0.5 * float(y @ weights) - float(np.log(np.diag(lower)).sum()) - 0.5 * len(y) * np.log(2 * np.pi)
    inverse, _ = dpotri(lower, lower=1, overwrite_c=1)
    shift = _whole(inverse)
    shift *= -0.5
    shift += np.outer(0.5 * weights, weights)
    noise = covariance.noise.slopes(rows.tasks, np.diag(shift).copy())
    return Fit(float(value), np.concatenate([covariance.slopes(rows, rows, shift), noise]))


class Exact:
    """The posterior from all rows."""

    def __init__(self, covariance: Covariance, rows: Design, y: Floats) -> None:
        self.lower = _decomposed(covariance, rows)
        self.weights = _solved(self.lower, y)

    def mean(self, covariances: Floats) -> Floats:
        return covariances @ self.weights

    def explained(self, covariances: Floats) -> Floats:
        from scipy.linalg import solve_triangular

        half = solve_triangular(self.lower, covariances.T, lower=True)
        explained: Floats = (half * half).sum(axis=0)
        return explained


def _decomposed(covariance: Covariance, rows: Design) -> Floats:
    from scipy.linalg.lapack import dpotrf

    matrix = covariance.matrix(rows, rows)
    matrix[np.diag_indices(len(rows))] += covariance.noise.variances(rows.tasks) + JITTER
    # The transpose of a symmetric matrix is itself, and in the order of memory that LAPACK overwrites.
    lower, failed = dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise WeftError("the covariance of the rows cannot be decomposed: are there targets without any noise?")
    return np.asarray(lower, dtype=np.float64)


def _solved(lower: Floats, y: Floats) -> Floats:
    from scipy.linalg import cho_solve

    solution: Floats = cho_solve((lower, True), y)
    return solution


def _whole(lower: Floats) -> Floats:
    """A symmetric matrix from its lower half; what stands above the diagonal is 0."""
    whole = lower + lower.T
    whole[np.diag_indices(len(lower))] *= 0.5
    return whole
