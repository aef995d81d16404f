"""Many rows through few: inducing points, and a bound of the likelihood that they learn from (Titsias 2009).

    Q = K_nm K_mm^-1 K_mn,    S = diag(s^2)
    log p(y) >= log N(y; 0, Q + S) - 1/2 sum_i (k_ii - q_ii) / s_i^2

With P = Q + S, a = P^-1 y, G = a a' - P^-1, H = G + S^-1, A = K_nm K_mm^-1, the bound moves by

    sum (H A) dK_nm  -  1/2 sum (A' H A) dK_mm  -  1/2 sum dk_ii / s_i^2
    +  1/2 sum (G_ii + (k_ii - q_ii) / s_i^4) ds_i^2

O(n m^2) for m points. Points are rows of the data, chosen one by one where the others explain least variance (a pivoted
Cholesky decomposition); the more of them, the tighter the bound, and with all rows it is the likelihood.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.learn.gaussian.exact import JITTER, Fit
from weft.learn.gaussian.multitask import Covariance, Design


def chosen(covariance: Covariance, rows: Design, count: int) -> Ints:
    """The numbers of up to `count` rows that explain the others best, greedily."""
    left = covariance.diagonal(rows).copy()
    least = 1e-6 * float(left.max())
    columns = np.zeros((len(rows), min(count, len(rows))))
    points: list[int] = []
    while len(points) < columns.shape[1]:
        best = int(left.argmax())
        if left[best] <= least:
            break
        k = len(points)
        own = covariance.matrix(rows, rows.rows([best]))[:, 0]
        columns[:, k] = (own - columns[:, :k] @ columns[best, :k]) / np.sqrt(left[best])
        left = np.maximum(left - columns[:, k] ** 2, 0.0)
        left[best] = 0.0
        points.append(best)
    return np.array(points, dtype=np.int64)


class Inducing:
    """The posterior from inducing points; `covariances` are those with the points."""

    def __init__(self, covariance: Covariance, points: Design, rows: Design, y: Floats) -> None:
        self.variances = covariance.noise.variances(rows.tasks) + JITTER
        inner = covariance.matrix(points, points)
        inner[np.diag_indices(len(points))] += 1e-8 * float(np.diag(inner).mean())
        self.lower = np.linalg.cholesky(inner)
        self.across = covariance.matrix(rows, points)
        self.half = _down(self.lower, self.across.T)  # L^-1 K_mn
        scaled = self.half / self.variances
        self.upper = np.linalg.cholesky(np.eye(len(points)) + scaled @ self.half.T)
        self.sums = _down(self.upper, scaled @ y)
        self.y = y
        self.weights = _down(self.lower, _down(self.upper, self.sums, "T"), "T")

    def mean(self, covariances: Floats) -> Floats:
        return covariances @ self.weights

    def explained(self, covariances: Floats) -> Floats:
        first = _down(self.lower, covariances.T)
        second = _down(self.upper, first)
        explained: Floats = (first * first).sum(axis=0) - (second * second).sum(axis=0)
        return explained


def bound(covariance: Covariance, points: Design, rows: Design, y: Floats) -> Fit:
    """The bound of the log marginal likelihood and its gradient."""
    known = Inducing(covariance, points, rows, y)
    s2, half, upper = known.variances, known.half, known.upper
    n = len(y)
    lost = covariance.diagonal(rows) - (half * half).sum(axis=0)
    value = -0.5 * (
        n * np.log(2 * np.pi) + np.log(s2).sum() + 2 * np.log(np.diag(upper)).sum() + (y * y / s2).sum()
        - known.sums @ known.sums + (lost / s2).sum()
    )  # fmt: skip
    share = _down(known.lower, half, "T").T  # A
    back = _down(upper, half / s2).T  # S^-1 K_nm L^-T U^-T: P^-1 = S^-1 - back back'
    a = y / s2 - back @ (back.T @ y)
    ha = np.outer(a, a @ share) + back @ (back.T @ share)
    inner = share.T @ ha
    g = a * a - (1 / s2 - (back * back).sum(axis=1))
    gradient = covariance.slopes(rows, points, ha) - 0.5 * covariance.slopes(points, points, inner)
    gradient -= 0.5 * covariance.diagonal_slopes(rows, 1 / s2)
    noise = covariance.noise.slopes(rows.tasks, 0.5 * (g + lost / s2**2))
    return Fit(float(value), np.concatenate([gradient, noise]))


def _down(lower: NDArray[np.floating[Any]], right: Floats, trans: str = "N") -> Floats:
    from scipy.linalg import solve_triangular

    solution: Floats = solve_triangular(lower, right, lower=True, trans=trans)
    return solution
