"""Linear classifiers under the modified Huber loss, many at once, with a penalty around any centre.

    minimize  (1/n) sum_i L(y_i w . x_i)  +  sum_j l2_j (w_j - centre_j)^2,
    L(z) = max(0, 1 - z)^2  where z >= -1,  -4 z  below              (a squared hinge that outliers cannot rule)

Two solvers with one optimum. *Primal*: L-BFGS in double precision; l2 may be zero. *Dual*: since
L(z) = max over 0 <= a <= 4 of  a (1 - z) - a^2 / 4,  coordinate ascent has a closed step and no rate to choose:

    a_i <- clip(a_i + (1 - y_i w . x_i - a_i / 2) / (q_i + 1/2), 0, 4),     q_i = sum_j x_ij^2 / (2 n l2_j),
    w_j = centre_j + sum_i a_i y_i x_ij / (2 n l2_j)

One pass takes a row to all outputs of a block together, so that a thousand classifiers over one sparse matrix (the
pivot predictors of structural correspondence learning) cost a few passes of vector arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Singles
from weft.errors import ConfigError
from weft.kernel import fast_kernel
from weft.progress import progress

BLOCK = 64  # outputs trained together: a row of weights is then four cache lines


@dataclass(frozen=True)
class Huber:
    """Weights [features] and an intercept, or [features, outputs] and one intercept per output."""

    weights: NDArray[Any]
    intercept: NDArray[Any]

    def scores(self, rows: Any) -> NDArray[Any]:
        """`x . w + intercept` of every row."""
        return np.asarray(rows @ self.weights) + self.intercept


def huber_loss(margin: ArrayLike) -> Floats:
    """The modified Huber loss of margins `z = y f(x)`.

    >>> huber_loss([2.0, 1.0, 0.0, -1.0, -2.0])
    array([0., 0., 1., 4., 8.])
    """
    z = np.asarray(margin, dtype=np.float64)
    return np.where(z >= -1.0, np.maximum(0.0, 1.0 - z) ** 2, -4.0 * z)


def huber_slope(margin: ArrayLike) -> Floats:
    """Its derivative, between -4 and 0.

    >>> huber_slope([2.0, 0.0, -3.0])
    array([-0., -2., -4.])
    """
    z = np.asarray(margin, dtype=np.float64)
    return -np.minimum(4.0, 2.0 * np.maximum(0.0, 1.0 - z))


@dataclass(frozen=True)
class HuberObjective:
    """The objective of one classifier as an oracle for `weft.learn.minimize`: weights -> (value, gradient).

    >>> oracle = HuberObjective(np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5), np.zeros(2))
    >>> oracle(np.array([1.0, 0.0]))
    (1.0, array([1., 1.]))
    """

    rows: Any
    y: Floats
    l2: Floats
    centre: Floats

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        margins = self.y * np.asarray(self.rows @ weights)
        away = weights - self.centre
        value = float(huber_loss(margins).mean() + self.l2 @ (away * away))
        gradient = np.asarray(self.rows.T @ (self.y * huber_slope(margins))) / len(self.y) + 2.0 * self.l2 * away
        return value, gradient


def fit_huber(
    rows: Any,
    y: Any,
    l2: float | ArrayLike = 1e-4,
    centre: ArrayLike | None = None,
    *,
    intercept: bool = False,
    solver: str = "auto",
    tolerance: float = 1e-3,
    passes: int = 50,
    seed: int = 0,
) -> Huber:
    """Fit one classifier (`y` of +1 and -1, one per row) or many (`y` of [rows, outputs]) over the same rows.

    `y` of many outputs may be a SciPy sparse matrix: what it stores is +1, all else -1. `l2` is one number or one a
    feature, `centre` the weights it pulls towards ([features], zero unless given). The intercept is the weight of a
    constant 1, penalized with the smallest l2 and never centred. `solver` is "primal" (L-BFGS; the choice of "auto"
    for one output) or "dual" (for many); the dual needs l2 > 0 and works in single precision. The dual stops when no
    dual variable moved by more than `tolerance` in a pass, or after that many `passes`; the primal when the gradient is
    shorter than a hundredth of it.

    >>> rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> fit_huber(rows, [1, -1, -1], l2=0.1).weights.round(2)
    array([ 0.5 , -1.16])
    >>> many = fit_huber(rows, np.array([[1, 1], [-1, 1], [-1, -1]]), l2=0.1)
    >>> many.weights.round(2)
    array([[ 0.5 ,  1.16],
           [-1.16, -0.5 ]], dtype=float32)

    A strong penalty keeps the weights where they were:

    >>> fit_huber(rows, [1, -1, -1], l2=1e6, centre=[0.5, 0.5]).weights.round(3)
    array([0.5, 0.5])
    """
    if solver not in ("auto", "primal", "dual"):
        raise ConfigError(f"The solver is 'auto', 'primal' or 'dual', not {solver!r}.")
    one = not _is_sparse(y) and np.ndim(y) == 1
    if solver == "dual" or (solver == "auto" and not one):
        targets = np.asarray(y)[:, None] if one else y
        parts = list(
            fit_huber_blocks(
                rows, targets, l2, centre, intercept=intercept, tolerance=tolerance, passes=passes, seed=seed
            )
        )
        weights = np.concatenate([part.weights for _, part in parts], axis=1)
        bias = np.concatenate([part.intercept for _, part in parts])
        return Huber(weights[:, 0], bias[0]) if one else Huber(weights, bias)
    if not one:
        fits = [
            fit_huber(rows, column, l2, centre, intercept=intercept, solver="primal", tolerance=tolerance)
            for column in _signs(y, 0, y.shape[1], rows.shape[0]).T
        ]
        return Huber(np.stack([fit.weights for fit in fits], axis=1), np.array([fit.intercept for fit in fits]))
    from weft.learn.batch.optimize import minimize

    penalty, middle = _penalty(l2, centre, rows.shape[1], intercept)
    target = _signs(np.asarray(y)[:, None], 0, 1, rows.shape[0])[:, 0].astype(np.float64)
    oracle = HuberObjective(_with_constant(rows) if intercept else rows, target, penalty, middle)
    found = minimize(oracle, middle, tolerance=0.01 * tolerance, describe="Huber classifier").weights
    return Huber(found[:-1], np.asarray(found[-1])) if intercept else Huber(found, np.zeros(()))


def fit_huber_blocks(
    rows: Any,
    y: Any,
    l2: float | ArrayLike = 1e-4,
    centre: ArrayLike | None = None,
    *,
    intercept: bool = False,
    tolerance: float = 1e-3,
    passes: int = 50,
    block: int = BLOCK,
    seed: int = 0,
) -> Iterator[tuple[int, Huber]]:
    """Fit many classifiers by the dual, some outputs at a time: (first output, their `Huber`).

    Memory is that of one block: a caller that keeps only some of the weights never holds all of them.

    >>> rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> y = np.array([[1, 1, -1], [-1, 1, 1], [-1, -1, 1]])
    >>> [(first, part.weights.shape) for first, part in fit_huber_blocks(rows, y, l2=0.1, block=2)]
    [(0, (2, 2)), (2, (2, 1))]
    """
    from scipy.sparse import csr_matrix

    penalty, middle = _penalty(l2, centre, rows.shape[1], intercept)
    if not (penalty > 0).all():
        raise ConfigError("The dual solver needs l2 > 0 on every feature; use solver='primal' where some are free.")
    if passes < 1 or block < 1:
        raise ConfigError(f"Passes and outputs per block must be at least 1, got {passes} and {block}.")
    matrix = csr_matrix(_with_constant(rows) if intercept else rows)
    matrix.sum_duplicates()
    n = matrix.shape[0]
    bounds, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    values = matrix.data.astype(np.float32)
    step = (1.0 / (2.0 * n * penalty)).astype(np.float32)
    own = np.asarray(matrix.multiply(matrix) @ (1.0 / (2.0 * n * penalty)), dtype=np.float32)
    outputs = y.shape[1]
    with progress("Huber classifiers", outputs, unit="outputs") as bar:
        for first in range(0, outputs, block):
            signs = _signs(y, first, min(first + block, outputs), n)
            dual: Singles = np.zeros(signs.shape, dtype=np.float32)
            weights: Singles = np.repeat(middle.astype(np.float32)[:, None], signs.shape[1], axis=1)
            generator = np.random.default_rng(seed)
            for _ in range(passes):
                order = generator.permutation(n)
                if _pass(order, bounds, columns, values, signs, step, own, dual, weights) < tolerance:
                    break
            bar.advance(signs.shape[1])
            if intercept:
                yield first, Huber(weights[:-1], weights[-1])
            else:
                yield first, Huber(weights, np.zeros(signs.shape[1], dtype=np.float32))


def _is_sparse(y: Any) -> bool:
    return hasattr(y, "tocsc")


def _signs(y: Any, first: int, end: int, rows: int) -> Singles:
    """Some columns of the targets as dense +1 and -1."""
    if y.shape[0] != rows:
        raise ConfigError(f"There are {rows} rows and targets for {y.shape[0]}; give one target per row.")
    if _is_sparse(y):
        return np.where(y.tocsc()[:, first:end].toarray() != 0, np.float32(1), np.float32(-1))
    signs = np.asarray(y)[:, first:end].astype(np.float32)
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise ConfigError("Targets of the Huber classifier are +1 and -1; give `2 * y - 1` where they are 0 and 1.")
    return np.ascontiguousarray(signs)


def _with_constant(rows: Any) -> Any:
    from scipy.sparse import csr_matrix, hstack

    return hstack([csr_matrix(rows), csr_matrix(np.ones((rows.shape[0], 1)))], format="csr")


def _penalty(l2: float | ArrayLike, centre: ArrayLike | None, features: int, intercept: bool) -> tuple[Floats, Floats]:
    """Penalty and centre, one per feature, with those of the intercept at the end where there is one."""
    each = np.asarray(l2, dtype=np.float64)
    middle = np.zeros(features) if centre is None else np.asarray(centre, dtype=np.float64)
    if each.shape not in ((), (features,)) or middle.shape != (features,):
        raise ConfigError(
            f"The rows have {features} features; l2 has shape {each.shape} and the centre {middle.shape}: give l2 as "
            "one number or one per feature, and the centre as one number per feature."
        )
    if not (np.isfinite(each).all() and (each >= 0).all()):
        raise ConfigError("l2 must be 0 or above.")
    each = np.broadcast_to(each, (features,))
    if intercept:
        each, middle = np.append(each, each.min(initial=np.inf)), np.append(middle, 0.0)
    return np.array(each), middle


@fast_kernel
def _pass(
    order: NDArray[np.int64],
    bounds: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: Singles,
    signs: Singles,
    step: Singles,
    own: Singles,
    dual: Singles,
    weights: Singles,
) -> float:
    """Every dual variable moves once to its best value; the largest move."""
    outputs = signs.shape[1]
    move = np.empty(outputs, dtype=np.float32)
    half, top = np.float32(0.5), np.float32(4.0)
    largest = np.float32(0.0)
    for i in order:
        move[:] = np.float32(0.0)
        for k in range(bounds[i], bounds[i + 1]):
            value, row = values[k], weights[columns[k]]
            for o in range(outputs):
                move[o] += value * row[o]
        share = np.float32(1.0) / (own[i] + half)
        sign, a = signs[i], dual[i]
        moved = np.float32(0.0)
        for o in range(outputs):
            new = a[o] + (np.float32(1.0) - sign[o] * move[o] - half * a[o]) * share
            new = min(max(new, np.float32(0.0)), top)
            change = new - a[o]
            a[o] = new
            moved = max(moved, abs(change))
            move[o] = change * sign[o]
        if moved > np.float32(0.0):
            largest = max(largest, moved)
            for k in range(bounds[i], bounds[i + 1]):
                value, row = values[k] * step[columns[k]], weights[columns[k]]
                for o in range(outputs):
                    row[o] += value * move[o]
    return float(largest)
