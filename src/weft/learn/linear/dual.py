"""Linear support vector machines over binary features, by coordinate descent in the dual.

After Hsieh et al. (2008) and Keerthi et al. (2008).

Two losses, with the minima that LIBLINEAR finds (its solvers 1 and 4):

    binary            min over w   1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i)^2                      y_i in {-1, +1}
    Crammer-Singer    min over w   1/2 sum_k |w_k|^2 + C sum_i max_k (1[k != y_i] + (w_k - w_{y_i}).x_i)

A row lists the features that it has, each with the value 1. There is no bias but a feature that every row has. Many
small problems, such as one classifier per lemma, are solved by one call each: solving compiles nothing new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.kernel import kernel

Singles = NDArray[np.float32]
Columns = NDArray[np.int32]


@dataclass(frozen=True)
class BinaryRows:
    """Rows of binary features: row i has the features `columns[offsets[i]:offsets[i + 1]]` out of `n_features`.

    >>> rows = BinaryRows.of([[0, 2], [1]], 3)
    >>> len(rows), rows.take([1]).columns.tolist()
    (2, [1])
    """

    offsets: Ints
    columns: Columns
    n_features: int

    @classmethod
    def of(cls, rows: list[list[int]], n_features: int) -> BinaryRows:
        """From lists of feature numbers."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
        return cls(offsets, np.array([f for row in rows for f in row], dtype=np.int32), n_features)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, chosen: ArrayLike) -> BinaryRows:
        """The rows with these numbers."""
        numbers = np.asarray(chosen, dtype=np.int64)
        sizes = (self.offsets[1:] - self.offsets[:-1])[numbers]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.repeat(self.offsets[numbers] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return BinaryRows(offsets, self.columns[places], self.n_features)

    def scores(self, weights: Singles) -> Floats:
        """Scores `[row, label]` for weights `[feature, label]`."""
        out = np.zeros((len(self), weights.shape[1]))
        _score(self.offsets, self.columns, weights, out)
        return out


def fit_binary(
    rows: BinaryRows, positive: ArrayLike, c: float, *, tolerance: float = 0.1, max_passes: int = 300, seed: int = 1
) -> Singles:
    """Weights `[feature, 1]` of a machine with squared hinge loss.

    >>> rows = BinaryRows.of([[0, 2], [1, 2], [0, 1, 2]], 3)
    >>> weights = fit_binary(rows, [True, False, False], 1.0, tolerance=1e-4)
    >>> (rows.scores(weights)[:, 0] > 0).tolist()
    [True, False, False]
    """
    signs = np.where(np.asarray(positive, dtype=np.bool_), 1.0, -1.0)
    _check(rows, len(signs), c)
    weights = np.zeros((rows.n_features, 1), dtype=np.float32)
    alpha = np.zeros(len(rows))
    order = np.arange(len(rows), dtype=np.int64)
    _solve_binary(rows.offsets, rows.columns, signs, c, tolerance, max_passes, seed, order, alpha, weights)
    return weights


def fit_crammer_singer(
    rows: BinaryRows, labels: ArrayLike, n_labels: int, c: float, *, tolerance: float = 0.1, max_passes: int = 300,
    seed: int = 1,
) -> Singles:  # fmt: skip
    """Weights `[feature, label]` of a multiclass machine.

    >>> rows = BinaryRows.of([[0], [1], [0, 2]], 3)
    >>> weights = fit_crammer_singer(rows, [0, 1, 2], 3, 10.0, tolerance=1e-3)
    >>> rows.scores(weights).argmax(axis=1).tolist()
    [0, 1, 2]
    """
    gold = np.asarray(labels, dtype=np.int64)
    _check(rows, len(gold), c)
    if len(gold) and not 0 <= gold.min() <= gold.max() < n_labels:
        raise ConfigError(f"labels must lie between 0 and {n_labels - 1}, got {gold.min()} to {gold.max()}")
    weights = np.zeros((rows.n_features, n_labels), dtype=np.float32)
    alpha = np.zeros((len(rows), n_labels), dtype=np.float32)
    order = np.arange(len(rows), dtype=np.int64)
    scratch = np.zeros((3, n_labels))
    _solve_multiclass(
        rows.offsets, rows.columns, gold, c, tolerance, max_passes, seed, order, alpha, weights, scratch
    )  # fmt: skip
    return weights


def binary_objective(rows: BinaryRows, positive: ArrayLike, weights: Singles, c: float) -> float:
    """The value of the binary problem at some weights.

    >>> binary_objective(BinaryRows.of([[0]], 1), [True], np.zeros((1, 1), np.float32), 2.0)
    2.0
    """
    signs = np.where(np.asarray(positive, dtype=np.bool_), 1.0, -1.0)
    losses = np.maximum(0.0, 1.0 - signs * rows.scores(weights)[:, 0])
    return float(0.5 * (weights.astype(np.float64) ** 2).sum() + c * (losses**2).sum())


def crammer_singer_objective(rows: BinaryRows, labels: ArrayLike, weights: Singles, c: float) -> float:
    """The value of the multiclass problem at some weights.

    >>> crammer_singer_objective(BinaryRows.of([[0]], 1), [0], np.zeros((1, 3), np.float32), 2.0)
    2.0
    """
    gold = np.asarray(labels, dtype=np.int64)
    scores = rows.scores(weights)
    own = scores[np.arange(len(gold)), gold].copy()
    scores += 1.0
    scores[np.arange(len(gold)), gold] -= 1.0
    return float(0.5 * (weights.astype(np.float64) ** 2).sum() + c * (scores.max(axis=1) - own).sum())


def _check(rows: BinaryRows, labels: int, c: float) -> None:
    if labels != len(rows):
        raise ConfigError(f"there are {len(rows)} rows and {labels} labels; give one label per row")
    if c <= 0:
        raise ConfigError(f"C must be above 0, got {c}")
    if len(rows.columns) and not 0 <= rows.columns.min() <= rows.columns.max() < rows.n_features:
        raise ConfigError(f"features must lie between 0 and {rows.n_features - 1}")


@kernel
def _score(offsets: Ints, columns: Columns, weights: Singles, out: Floats) -> None:
    for i in range(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            f = columns[p]
            for k in range(weights.shape[1]):
                out[i, k] += weights[f, k]


@kernel
def _shuffle(order: Ints, n: int, state: np.uint64) -> np.uint64:
    """Shuffle the first n numbers with a linear congruential generator; returns its next state."""
    for i in range(n - 1, 0, -1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        j = int((state >> np.uint64(33)) % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]
    return state


@kernel
def _solve_binary(
    offsets: Ints, columns: Columns, signs: Floats, c: float, tolerance: float, max_passes: int, seed: int,
    order: Ints, alpha: Floats, weights: Singles,
) -> int:  # fmt: skip
    """Passes until all projected gradients lie within the tolerance; rows at their bound wait aside (shrinking)."""
    n = len(order)
    diagonal = 0.5 / c
    state = np.uint64(seed)
    active = n
    bound = np.inf
    for done in range(max_passes):
        state = _shuffle(order, active, state)
        largest, least = -np.inf, np.inf
        s = 0
        while s < active:
            i = order[s]
            dot = 0.0
            for p in range(offsets[i], offsets[i + 1]):
                dot += weights[columns[p], 0]
            gradient = signs[i] * dot - 1.0 + diagonal * alpha[i]
            projected = gradient
            if alpha[i] == 0.0:
                if gradient > bound:
                    active -= 1
                    order[s], order[active] = order[active], order[s]
                    continue
                if gradient > 0.0:
                    projected = 0.0
            largest, least = max(largest, projected), min(least, projected)
            if abs(projected) > 1e-12:
                old = alpha[i]
                square = diagonal + (offsets[i + 1] - offsets[i])
                alpha[i] = max(old - gradient / square, 0.0)
                step = np.float32((alpha[i] - old) * signs[i])
                for p in range(offsets[i], offsets[i + 1]):
                    weights[columns[p], 0] += step
            s += 1
        if largest - least <= tolerance:
            if active == n:
                return done + 1
            active, bound = n, np.inf
        else:
            bound = largest if largest > 0.0 else np.inf
    return max_passes


@kernel
def _solve_multiclass(
    offsets: Ints, columns: Columns, gold: Ints, c: float, tolerance: float, max_passes: int, seed: int,
    order: Ints, alpha: Singles, weights: Singles, scratch: Floats,
) -> int:  # fmt: skip
    """Passes over rows, each of which is solved for all labels at once; settled rows wait aside (shrinking)."""
    n, labels = alpha.shape
    gradient, shifted, ordered = scratch[0], scratch[1], scratch[2]
    state = np.uint64(seed)
    active = n
    for done in range(max_passes):
        state = _shuffle(order, active, state)
        worst = 0.0
        s = 0
        while s < active:
            i = order[s]
            size = float(offsets[i + 1] - offsets[i])
            y = gold[i]
            for k in range(labels):
                gradient[k] = 1.0
            gradient[y] = 0.0
            for p in range(offsets[i], offsets[i + 1]):
                f = columns[p]
                for k in range(labels):
                    gradient[k] += weights[f, k]
            largest, least = -np.inf, np.inf
            for k in range(labels):
                largest = max(largest, gradient[k])
                if alpha[i, k] < (c if k == y else 0.0):
                    least = min(least, gradient[k])
            least = min(least, gradient[y]) if alpha[i, y] < c else least
            violated = largest - least
            s += 1
            if size == 0.0 or violated <= 1e-12:
                continue
            worst = max(worst, violated)
            if violated <= 0.1 * tolerance:
                active -= 1
                order[s - 1], order[active] = order[active], order[s - 1]
                s -= 1
                continue
            for k in range(labels):
                shifted[k] = gradient[k] - size * alpha[i, k]
                ordered[k] = shifted[k]
            ordered[y] += size * c
            beta = _threshold(ordered, size * c)
            for k in range(labels):
                new = min(c if k == y else 0.0, (beta - shifted[k]) / size)
                step = np.float32(new - alpha[i, k])
                alpha[i, k] = new
                gradient[k] = step
            for p in range(offsets[i], offsets[i + 1]):
                f = columns[p]
                for k in range(labels):
                    weights[f, k] += np.float32(gradient[k])
        if worst <= tolerance:
            if active == n:
                return done + 1
            active = n
    return max_passes


@kernel
def _threshold(values: Floats, capacity: float) -> float:
    """The number beta with  sum over k of max(0, values[k] - beta) = capacity; sorts the values downwards."""
    n = len(values)
    for i in range(1, n):
        value = values[i]
        j = i - 1
        while j >= 0 and values[j] < value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value
    beta = values[0] - capacity
    r = 1
    while r < n and beta < r * values[r]:
        beta += values[r]
        r += 1
    return beta / r
