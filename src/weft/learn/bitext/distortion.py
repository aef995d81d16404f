"""Tables of placement from expected choices of positions, each among a set of columns.

With n(c) how often column c of a row was chosen, and W(S) how often the choice was among the columns S, the row p has

    E(p) = sum_c n(c) log p(c)  -  sum_S W(S) log sum over c in S of p(c),
    dE / dp(c) = n(c) / p(c)  -  sum over S with c of  W(S) / sum over c' in S of p(c')

which no division of counts maximizes, and which is not concave. What is counted without a set was chosen among all
columns, whose sum is 1. Two ways to raise it from where it is:

    gradient     q = projection of p + step dE/dp on the simplex; then the first of p + (q - p) / 2^t that is better
    minorize     p(c) <- n(c) / sum over S with c of  W(S) / sum over c' in S of p(c'),  as in `weft.learn.bitext.jumps`

`gradient` is that of Schoenemann (2013); `minorize` never needs a search. Both start from the normalized counts where
these are better than the table. No probability falls below a floor, so that no set sums to 0.
"""

from __future__ import annotations

import math

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.alignment.fertility import Choices
from weft.kernel import inner_kernel, kernel
from weft.learn.batch.simplex import project_groups
from weft.ragged import Indices

WAYS = ("gradient", "minorize", "counts")
#: The least probability of a column.
FLOOR = 1e-7
#: A row is done when an iteration gains less than this per choice.
DONE = 1e-6


def estimate_placement(
    table: Floats, choices: Choices, way: str = "gradient", iterations: int = 250, prior: Floats | None = None
) -> Floats:
    """A table of placement that explains choices at least as well as `table`; `prior` is added to the counts of cells.

    `counts` is the normalized counts as they are, which is right only where the choice is always among all columns.

    >>> counts = np.array([[3.0, 1.0, 0.0]])  # one of the three choices of the first column was among two only
    >>> sets = np.array([0, 3, 5]), np.array([0, 1, 2, 0, 2], np.int16)
    >>> choices = Choices(counts, np.array([0, 2]), np.array([3.0, 1.0]), *sets)
    >>> estimate_placement(np.full((1, 3), 1 / 3), choices).round(3).tolist()
    [[0.667, 0.333, 0.0]]
    """
    if way not in WAYS:
        raise ConfigError(f"placement is estimated by {', '.join(WAYS)}; given: {way!r}")
    counts = choices.counts if prior is None else choices.counts + prior
    found = np.array(table)
    _estimate(
        found, counts, choices.rows, choices.weight, choices.starts, choices.column, WAYS.index(way), iterations, FLOOR
    )
    return found


def placement_value(table: Floats, choices: Choices, pseudo: float = 0.0) -> float:
    """E of a table, over all rows."""
    gradient = np.zeros(table.shape[1])
    return sum(
        _value(table[row], choices.counts[row] + pseudo, choices.rows[row], choices.rows[row + 1], choices.weight,
               choices.starts, choices.column, gradient, False)
        for row in range(len(table))
    )  # fmt: skip


def placement_gradient(table: Floats, choices: Choices) -> Floats:
    """Its derivative with respect to every cell."""
    gradient = np.zeros_like(table)
    for row in range(len(table)):
        _value(table[row], choices.counts[row], choices.rows[row], choices.rows[row + 1], choices.weight,
               choices.starts, choices.column, gradient[row], True)  # fmt: skip
    return gradient


@inner_kernel
def _value(
    p: Floats, counts: Floats, low: int, high: int, weight: Floats, starts: Indices, column: np.ndarray,
    gradient: Floats, with_gradient: bool,
) -> float:  # fmt: skip
    """E of a row, and its gradient."""
    value = 0.0
    for c in range(len(p)):
        if counts[c] > 0.0:
            value += counts[c] * math.log(p[c])
        if with_gradient:
            gradient[c] = counts[c] / p[c]
    for e in range(low, high):
        z = 0.0
        for at in range(starts[e], starts[e + 1]):
            z += p[column[at]]
        value -= weight[e] * math.log(z)
        if with_gradient:
            share = weight[e] / z
            for at in range(starts[e], starts[e + 1]):
                gradient[column[at]] -= share
    return value


@inner_kernel
def _above_floor(p: Floats, floor: float) -> None:
    """Scale numbers to probabilities, none of them below the floor."""
    total = 0.0
    for c in range(len(p)):
        total += p[c]
    for c in range(len(p)):
        p[c] = floor + (1.0 - floor * len(p)) * p[c] / total


@kernel
def _estimate(
    table: Floats, counts: Floats, rows: Indices, weight: Floats, starts: Indices, column: np.ndarray, way: int,
    iterations: int, floor: float,
) -> None:  # fmt: skip
    n = table.shape[1]
    gradient, other, q = np.empty(n), np.empty(n), np.empty(n)
    whole = np.array([0, n])
    for row in range(len(table)):
        p, given = table[row], counts[row]
        low, high = rows[row], rows[row + 1]
        total = 0.0
        for c in range(n):
            total += given[c]
        if total <= 0.0:
            continue
        for c in range(n):
            other[c] = given[c]
        _above_floor(other, floor)
        value = _value(p, given, low, high, weight, starts, column, gradient, True)
        if way == 2 or _value(other, given, low, high, weight, starts, column, gradient, False) > value:
            for c in range(n):
                p[c] = other[c]
        if way == 2:
            continue
        value = _value(p, given, low, high, weight, starts, column, gradient, True)
        free = total  # what was chosen among all columns
        for e in range(low, high):
            free -= weight[e]
        free = max(free, 0.0)
        step = 0.1 / total
        for _ in range(iterations):
            if way == 1:
                for c in range(n):
                    demand = max(given[c] / p[c] - gradient[c], 0.0) + free
                    other[c] = given[c] / demand if given[c] > 0.0 and demand > 0.0 else 0.0
                _above_floor(other, floor)
            else:
                for c in range(n):
                    q[c] = p[c] + step * gradient[c] - floor
                project_groups(q, whole, 1.0 - floor * n, True, other)
                for c in range(n):
                    other[c] += floor
            new, t = -np.inf, 0
            for t in range(30):
                share = 0.5**t
                for c in range(n):
                    q[c] = p[c] + share * (other[c] - p[c])
                new = _value(q, given, low, high, weight, starts, column, gradient, False)
                if new > value:
                    break
            if new <= value:
                step *= 0.1
                if way == 1 or step * total < 1e-12:
                    break
                _value(p, given, low, high, weight, starts, column, gradient, True)
                continue
            gain = new - value
            for c in range(n):
                p[c] = q[c]
            if t == 0:
                step *= 2.0
            elif t > 1:
                step *= 0.5
            value = _value(p, given, low, high, weight, starts, column, gradient, True)
            if gain < DONE * total:
                break
