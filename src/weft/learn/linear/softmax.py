"""Softmax regression on binary rows, made for many small fits that differ little.

    min over W, b of  1/2 |W|^2 + C sum over rows i of  weight_i (log sum_k exp s_ik - s_i,label(i))

    s_ik = b_k + sum over the columns j of row i of W_jk

A row is a list of column numbers; rows may be shorter than the room that they have in memory, so that a caller can
take columns out of some of them in place (`Rows.lengths`). The whole fit (L-BFGS from given weights) is one kernel
without Python in it: several threads fit at the same time, and a fit that starts near its optimum takes a few passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ids
from weft.errors import ConfigError
from weft.kernel import inner_kernel, kernel

Longs = NDArray[np.int64]
#: Pairs that L-BFGS remembers.
MEMORY = 10


@dataclass(frozen=True)
class Rows:
    """Binary rows: row i has the columns `columns[starts[i] : starts[i] + lengths[i]]` out of `size`."""

    starts: Longs
    lengths: Longs
    columns: Ids
    size: int

    @classmethod
    def of(cls, rows: list[list[int]], size: int) -> Rows:
        """Rows from lists of columns.

        >>> Rows.of([[0, 2], []], 3).lengths.tolist()
        [2, 0]
        """
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        flat = np.array([column for row in rows for column in row], dtype=np.int32)
        if len(flat) and not 0 <= flat.min() <= flat.max() < size:
            raise ConfigError(f"rows of {size} columns cannot hold a column {int(flat.min())} or {int(flat.max())}")
        return cls(np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64), lengths, flat, size)

    def __len__(self) -> int:
        return len(self.starts)

    def lists(self) -> list[list[int]]:
        """The columns of every row."""
        return [
            self.columns[start : start + length].tolist()
            for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        ]


def fit_softmax(
    rows: Rows,
    labels: ArrayLike,
    n_labels: int,
    *,
    c: float = 1.0,
    weight: ArrayLike | None = None,
    start: Floats | None = None,
    tolerance: float = 1e-3,
    most: int = 500,
) -> Floats:
    """The weights [size + 1, labels] of a model; the last row is the bias. `start` is where the search begins.

    It ends when no derivative is larger than `tolerance`; as the objective is 1-strongly convex in W, weights are then
    at most sqrt(size * labels) times that far from the optimum.

    >>> rows = Rows.of([[0], [0], [1], [1]], 2)
    >>> weights = fit_softmax(rows, [0, 0, 1, 1], 2, c=10.0)
    >>> softmax(rows, weights).argmax(axis=1).tolist()
    [0, 0, 1, 1]
    """
    y = np.asarray(labels, dtype=np.int64)
    if len(y) != len(rows):
        raise ConfigError(f"there are {len(rows)} rows and {len(y)} labels; give one label per row")
    if len(y) and not 0 <= y.min() <= y.max() < n_labels:
        raise ConfigError(f"labels are numbers from 0 to {n_labels - 1}, got {int(y.min())} to {int(y.max())}")
    if c <= 0:
        raise ConfigError(f"C must be above 0, got {c}")
    weights = np.zeros((rows.size + 1, n_labels)) if start is None else np.array(start, dtype=np.float64)
    costs = np.full(len(y), c) if weight is None else c * np.asarray(weight, dtype=np.float64)
    descend(rows.starts, rows.lengths, rows.columns, y, costs, weights, tolerance, most)
    return weights


def softmax(rows: Rows, weights: Floats) -> Floats:
    """The probabilities of all labels, for every row."""
    found = np.empty((len(rows), weights.shape[1]))
    _all_probabilities(rows.starts, rows.lengths, rows.columns, weights, found)
    return found


@kernel
def _all_probabilities(starts: Longs, lengths: Longs, columns: Ids, weights: Floats, out: Floats) -> None:
    for i in range(len(starts)):
        probabilities(columns, starts[i], starts[i] + lengths[i], weights, out[i])


@inner_kernel
def probabilities(columns: Ids, begin: int, end: int, weights: Floats, out: Floats) -> None:
    """Write the probabilities of the labels of one row into `out`."""
    n = weights.shape[1]
    last = len(weights) - 1
    for k in range(n):
        out[k] = weights[last, k]
    for at in range(begin, end):
        column = columns[at]
        for k in range(n):
            out[k] += weights[column, k]
    best = out[0]
    for k in range(1, n):
        best = max(best, out[k])
    total = 0.0
    for k in range(n):
        out[k] = np.exp(out[k] - best)
        total += out[k]
    for k in range(n):
        out[k] /= total


@inner_kernel
def _objective(
    starts: Longs, lengths: Longs, columns: Ids, labels: Longs, costs: Floats, weights: Floats, gradient: Floats,
    row: Floats,
) -> float:  # fmt: skip
    """The objective; `gradient` receives its gradient."""
    last, n = len(weights) - 1, weights.shape[1]
    value = 0.0
    for j in range(last):
        for k in range(n):
            value += 0.5 * weights[j, k] * weights[j, k]
            gradient[j, k] = weights[j, k]
    for k in range(n):
        gradient[last, k] = 0.0
    for i in range(len(labels)):
        if costs[i] == 0.0:
            continue
        begin = starts[i]
        end = begin + lengths[i]
        probabilities(columns, begin, end, weights, row)
        label = labels[i]
        value -= costs[i] * np.log(max(row[label], 1e-300))
        row[label] -= 1.0
        for k in range(n):
            row[k] *= costs[i]
            gradient[last, k] += row[k]
        for at in range(begin, end):
            column = columns[at]
            for k in range(n):
                gradient[column, k] += row[k]
    return value


@inner_kernel
def _dot(a: Floats, b: Floats) -> float:
    """The inner product in four sums, which the processor adds up side by side."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = len(a) // 4 * 4
    for i in range(0, whole, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(whole, len(a)):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)


@kernel
def descend(
    starts: Longs, lengths: Longs, columns: Ids, labels: Longs, costs: Floats, weights: Floats, tolerance: float,
    most: int,
) -> int:  # fmt: skip
    """Minimize by L-BFGS from `weights`, which receive the result; returns the number of passes over the rows."""
    size = weights.size
    row = np.empty(weights.shape[1])
    gradient = np.empty_like(weights)
    value = _objective(starts, lengths, columns, labels, costs, weights, gradient, row)
    passes = 1
    w, g = weights.reshape(-1), gradient.reshape(-1)
    steps, changes = np.zeros((MEMORY, size)), np.zeros((MEMORY, size))
    products, alpha = np.zeros(MEMORY), np.zeros(MEMORY)
    kept, newest = 0, -1
    tried = np.empty_like(weights)
    new_gradient = np.empty_like(weights)
    flat, new_g = tried.reshape(-1), new_gradient.reshape(-1)
    direction = np.empty(size)
    while passes < most:
        largest = 0.0
        for i in range(size):
            largest = max(largest, abs(g[i]))
        if largest <= tolerance:
            break
        for i in range(size):
            direction[i] = -g[i]
        for back in range(kept):
            m = (newest - back) % MEMORY
            alpha[m] = _dot(steps[m], direction) / products[m]
            for i in range(size):
                direction[i] -= alpha[m] * changes[m, i]
        if kept:
            scale = products[newest] / _dot(changes[newest], changes[newest])
            for i in range(size):
                direction[i] *= scale
        for back in range(kept - 1, -1, -1):
            m = (newest - back) % MEMORY
            beta = _dot(changes[m], direction) / products[m]
            for i in range(size):
                direction[i] += (alpha[m] - beta) * steps[m, i]
        slope = _dot(g, direction)
        if slope >= 0.0:  # only rounding makes this happen: start again from steepest descent
            kept = 0
            for i in range(size):
                direction[i] = -g[i]
            slope = -_dot(g, g)
        step = 1.0 if kept else min(1.0, 1.0 / np.sqrt(-slope))
        better = False
        for _ in range(40):
            for i in range(size):
                flat[i] = w[i] + step * direction[i]
            new_value = _objective(starts, lengths, columns, labels, costs, tried, new_gradient, row)
            passes += 1
            if new_value <= value + 1e-4 * step * slope:
                better = True
                break
            step *= 0.5
        if not better:
            break
        curvature = 0.0
        for i in range(size):
            curvature += (flat[i] - w[i]) * (new_g[i] - g[i])
        if curvature > 1e-12:
            newest = (newest + 1) % MEMORY
            kept = min(kept + 1, MEMORY)
            products[newest] = curvature
            for i in range(size):
                steps[newest, i] = flat[i] - w[i]
                changes[newest, i] = new_g[i] - g[i]
        for i in range(size):
            w[i] = flat[i]
            g[i] = new_g[i]
        value = new_value
    return passes
