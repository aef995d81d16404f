"""Logistic regression of two classes under L1 and L2 together, on sparse rows, with a bias that is not penalized.

    max over w, b of  1/n sum over rows i of  ln sigma(y_i (w x_i + b))  -  l1 |w|_1  -  l2 |w|^2        y_i = +1, -1

Newton's method on the whole objective: in each round a quadratic model is minimized by coordinate descent, in which
soft thresholds set weights to exactly 0, and a line search makes sure that the objective falls (newGLMNET, Yuan, Ho and
Lin 2012). The subgradient of least norm says how far the result is from the optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError
from weft.kernel import kernel

if TYPE_CHECKING:
    from scipy.sparse import csc_array


def elastic_net(
    rows: csc_array, labels: ArrayLike, l1: float, l2: float, start: Floats | None = None, tolerance: float = 1e-6,
    most: int = 100,
) -> Floats:  # fmt: skip
    """The weights of the columns, and after them the bias; labels are true or false.

    >>> from scipy.sparse import csc_array
    >>> rows = csc_array(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))
    >>> elastic_net(rows, [True, True, False, False], l1=0.01, l2=0.01)[:2].round(2).tolist()
    [3.39, 0.0]
    """
    y = np.asarray(labels, dtype=np.bool_)
    if rows.shape[0] != len(y) or not len(y):
        raise ConfigError(f"there are {rows.shape[0]} rows and {len(y)} labels; give one label per row, and some rows")
    if l1 < 0 or l2 < 0:
        raise ConfigError(f"penalties must be at least 0, got L1 {l1} and L2 {l2}")
    weights = np.zeros(rows.shape[1] + 1) if start is None else np.array(start, dtype=np.float64)
    share = np.clip(y.mean(), 1e-6, 1 - 1e-6)
    if start is None:
        weights[-1] = np.log(share / (1 - share))
    _fit(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float64), y.astype(np.float64),
        l1, l2, weights, tolerance, most,
    )  # fmt: skip
    return weights


def objective(rows: csc_array, labels: ArrayLike, l1: float, l2: float, weights: Floats) -> float:
    """The value that is maximized.

    >>> from scipy.sparse import csc_array
    >>> round(objective(csc_array(np.ones((2, 1))), [True, False], 0.0, 0.0, np.zeros(2)), 4)
    -0.6931
    """
    margins = (rows @ weights[:-1] + weights[-1]) * np.where(np.asarray(labels, dtype=np.bool_), 1.0, -1.0)
    inner = weights[:-1]
    return float(-np.logaddexp(0.0, -margins).mean() - l1 * np.abs(inner).sum() - l2 * inner @ inner)


@kernel
def _loss(margins: Floats, y: Floats, weights: Floats, l1: float, l2: float) -> float:
    total = 0.0
    for i in range(len(y)):
        m = margins[i] if y[i] > 0.5 else -margins[i]
        total += np.log1p(np.exp(-m)) if m > 0 else np.log1p(np.exp(m)) - m
    total /= len(y)
    for j in range(len(weights) - 1):
        total += l1 * abs(weights[j]) + l2 * weights[j] * weights[j]
    return total


@kernel
def _fit(
    starts: Ints, rows: Ids, values: Floats, y: Floats, l1: float, l2: float, weights: Floats, tolerance: float,
    most: int,
) -> int:  # fmt: skip
    """Maximize from `weights`, which receive the result; returns the number of rounds."""
    n, size = len(y), len(weights) - 1
    margins, moved, slope, curve = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    gradient, second, change = np.empty(size + 1), np.empty(size + 1), np.empty(size + 1)
    trial = np.empty(size + 1)
    for i in range(n):
        margins[i] = weights[size]
    for j in range(size):
        for at in range(starts[j], starts[j + 1]):
            margins[rows[at]] += weights[j] * values[at]
    value = _loss(margins, y, weights, l1, l2)
    for turn in range(most):
        for i in range(n):
            p = 1.0 / (1.0 + np.exp(-margins[i]))
            slope[i] = (p - y[i]) / n
            curve[i] = max(p * (1.0 - p), 1e-10) / n
            moved[i] = 0.0
        worst = 0.0
        for j in range(size + 1):
            g, h = 0.0, 0.0
            if j < size:
                for at in range(starts[j], starts[j + 1]):
                    g += slope[rows[at]] * values[at]
                    h += curve[rows[at]] * values[at] * values[at]
                g += 2.0 * l2 * weights[j]
                h += 2.0 * l2
            else:
                for i in range(n):
                    g += slope[i]
                    h += curve[i]
            gradient[j], second[j], change[j] = g, h + 1e-12, 0.0
            penalty = l1 if j < size else 0.0
            if weights[j] > 0:
                worst = max(worst, abs(g + penalty))
            elif weights[j] < 0:
                worst = max(worst, abs(g - penalty))
            else:
                worst = max(worst, max(0.0, abs(g) - penalty))
        if worst <= tolerance:
            return turn
        for _ in range(50):
            largest = 0.0
            for j in range(size + 1):
                g = gradient[j]
                if j < size:
                    for at in range(starts[j], starts[j + 1]):
                        g += curve[rows[at]] * moved[rows[at]] * values[at]
                    g += 2.0 * l2 * change[j]
                else:
                    for i in range(n):
                        g += curve[i] * moved[i]
                h = second[j]
                penalty = l1 if j < size else 0.0
                w = weights[j] + change[j]
                goal = w - g / h
                shrunk = max(0.0, abs(goal) - penalty / h)
                step = (shrunk if goal > 0 else -shrunk) - w
                if step == 0.0:
                    continue
                change[j] += step
                largest = max(largest, abs(step) * h)
                if j < size:
                    for at in range(starts[j], starts[j + 1]):
                        moved[rows[at]] += step * values[at]
                else:
                    for i in range(n):
                        moved[i] += step
            if largest <= 0.1 * min(worst, 1.0):
                break
        fall = 0.0
        for j in range(size + 1):
            fall += gradient[j] * change[j]
            if j < size:
                fall += l1 * (abs(weights[j] + change[j]) - abs(weights[j]))
        size_of_step = 1.0
        done = False
        for _ in range(40):
            for j in range(size + 1):
                trial[j] = weights[j] + size_of_step * change[j]
            for i in range(n):
                slope[i] = margins[i] + size_of_step * moved[i]
            new = _loss(slope, y, trial, l1, l2)
            if new <= value + 1e-4 * size_of_step * fall:
                done = True
                break
            size_of_step *= 0.5
        if not done:
            return turn
        for j in range(size + 1):
            weights[j] = trial[j]
        for i in range(n):
            margins[i] = slope[i]
        value = new
    return most
