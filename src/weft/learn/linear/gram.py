"""Logistic and ridge regression with few instances and any number of features, from inner products.

With the rows x_i of the instances and labels y_i of -1 or +1, logistic regression minimizes

    sum_i log(1 + exp(-y_i w.x_i)) + l2 ||w||^2

Its optimum is w = sum_i a_i x_i, so that a matrix K of inner products, [instances, instances], is all that is needed,
and features may come and go by patching K. Newton's method solves

    (I + W K') d = t - p - 2 l2 a,   K' = K / (2 l2)

for the step d of 2 l2 a, with p the probabilities, t = (y + 1) / 2 and W = p (1 - p). Ridge regression has a closed
form.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import WeftError

#: Newton steps at most, and rounds of conjugate gradients within one.
_STEPS, _ROUNDS = 100, 40


def fit_gram_logistic(
    gram: ArrayLike, labels: ArrayLike, l2: float = 0.5, start: ArrayLike | None = None, tolerance: float = 1e-8
) -> Floats:
    """The coefficients a of logistic regression; `start` are those of an earlier, similar fit.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> a = fit_gram_logistic(rows @ rows.T, [1, -1], l2=0.5)
    >>> (a @ rows).round(4).tolist()
    [0.4011, -0.4011]
    """
    k, y = np.asarray(gram, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if k.shape != (len(y), len(y)):
        raise WeftError(f"{len(y)} labels need a matrix of {len(y)} x {len(y)} inner products, but got {k.shape}")
    if l2 <= 0:
        raise WeftError(f"l2 must be above 0, got {l2}")
    scale, target = 1 / (2 * l2), (y + 1) / 2  # K' is K times the scale
    a = np.zeros(len(y)) if start is None else 2 * l2 * np.asarray(start, dtype=np.float64)
    z = scale * (k @ a)
    value = _objective(a, z, y)
    for _ in range(_STEPS):
        p = np.exp(-np.logaddexp(0.0, -z))
        left = target - p - a  # 0 at the optimum
        gap = float(np.abs(left).max(initial=0.0))
        if gap < tolerance:
            break
        direction, move = _newton(k, scale, p * (1 - p), left, min(0.1, gap))
        step = 1.0
        while (now := _objective(a + step * direction, z + step * move, y)) > value + 1e-12 and step > 1e-6:
            step /= 2
        a, z = a + step * direction, z + step * move
        if value - now <= 1e-13 * (1 + abs(value)):
            break
        value = now
    return np.asarray(a / (2 * l2))


def _newton(
    k: Floats, scale: float, curvature: Floats, left: Floats, tolerance: float
) -> tuple[Floats, Floats]:  # fmt: skip
    """The step d with (I + W K') d = r, and K' d: by conjugate gradients in the inner product of K', so that d descends
    whenever they stop; by a Cholesky factor if they take many rounds."""
    step, move, rest, turn = np.zeros(len(left)), np.zeros(len(left)), left.copy(), left.copy()
    of_rest = scale * (k @ rest)
    of_turn = of_rest.copy()
    size = first = float(rest @ of_rest)
    for _ in range(_ROUNDS):
        if size <= tolerance**2 * first:
            return step, move
        product = turn + curvature * of_turn
        pace = size / float(of_turn @ product)
        step += pace * turn
        move += pace * of_turn
        rest -= pace * product
        of_rest = scale * (k @ rest)
        new = float(rest @ of_rest)
        turn = rest + new / size * turn
        of_turn = of_rest + new / size * of_turn
        size = new
    from scipy.linalg import cho_factor, cho_solve

    prior, root = scale * k, np.sqrt(curvature)
    matrix = root[:, None] * prior * root
    matrix[np.diag_indices_from(matrix)] += 1.0
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    step = left - root * cho_solve(factor, root * (prior @ left), check_finite=False)
    return step, prior @ step


def _objective(a: Floats, z: Floats, y: Floats) -> float:
    return float(np.logaddexp(0.0, -y * z).sum() + 0.5 * a @ z)


def fit_ridge(rows: ArrayLike, targets: ArrayLike, l2: float = 1.0) -> tuple[Floats, float]:
    """Weights and intercept that minimize sum_i (w.x_i + b - y_i)^2 + l2 ||w||^2; the intercept is free.

    >>> weights, intercept = fit_ridge([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], l2=0.0)
    >>> weights.round(6).tolist(), round(intercept, 6)
    ([2.0], 1.0)
    """
    x, y = np.asarray(rows, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if x.ndim != 2 or len(x) != len(y) or not len(y):
        raise WeftError(f"ridge regression needs a target per row, but got {len(y)} targets and rows {x.shape}")
    centre, mean = x.mean(axis=0), float(y.mean())
    moved = x - centre
    weights = np.linalg.lstsq(moved.T @ moved + l2 * np.eye(x.shape[1]), moved.T @ (y - mean), rcond=None)[0]
    return weights, mean - float(weights @ centre)
