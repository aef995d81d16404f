"""Limited-memory BFGS: the default optimizer.

    direction = - H gradient,    H from the last m pairs  s = w' - w,  y = g' - g  (two-loop recursion)

The recursion only ever combines the 2m stored vectors and the gradient, so it is run on their inner products: one pass
over the stored vectors updates the table of products, one forms the direction (vector-free L-BFGS, Chen, Wang and Zhou
2014). Pairs are stored in single precision: H is built from the stored pairs alone and stays positive definite, and
both memory and time of the vector work halve.

With `l1` > 0 the method is OWL-QN (Andrew and Gao 2007): it minimizes  oracle(w) + l1 * ||w||_1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Singles
from weft.errors import ConfigError
from weft.headers import Whole
from weft.kernel import fast_kernel
from weft.learn.batch.descent import Descent, dot, length
from weft.learn.training import Arrays

BLOCK = 2048


@dataclass(frozen=True)
class LBFGS:
    """Options: number of stored pairs (3 to 10 is usual), strength of an L1 penalty, slope condition of the search.

    >>> from weft.learn.batch.optimize import minimize
    >>> def bowl(w):
    ...     return float((w - 3) @ (w - 3)), 2 * (w - 3)
    >>> minimize(bowl, np.zeros(2), LBFGS(memory=5)).weights.round(6)
    array([3., 3.])
    >>> minimize(bowl, np.zeros(2), LBFGS(l1=2.0)).weights.round(6)
    array([2., 2.])
    """

    memory: int = 6
    l1: float = 0.0
    curvature: float = 0.9

    def __post_init__(self) -> None:
        if self.memory < 1:
            raise ConfigError(f"LBFGS needs memory >= 1, got {self.memory}.")
        if self.l1 < 0:
            raise ConfigError(f"LBFGS needs l1 >= 0, got {self.l1}.")

    def begin(self, oracle: Any, start: Floats, evaluate: bool) -> Any:
        if self.l1 > 0:
            from weft.learn.batch.owlqn import OrthantRun

            return OrthantRun(self, oracle, start, evaluate)
        return LBFGSRun(self, oracle, start, evaluate)


class LBFGSRun(Descent):
    """A run of L-BFGS."""

    def __init__(self, options: LBFGS, oracle: Any, start: Floats, evaluate: bool) -> None:
        super().__init__(oracle, start, evaluate)
        self.options = options
        self.pairs = Pairs(options.memory, len(start))

    def step(self) -> str:
        self.pairs.direction(self.gradient, self.direction)
        slope = dot(self.gradient, self.direction)
        if not slope < 0:
            self.pairs.clear()
            np.negative(self.gradient, out=self.direction)
            slope = -self.norm * self.norm
        found = self.descend(slope, 1.0 if self.pairs.count else 1.0 / self.norm, self.options.curvature)
        if not found.ok:
            if not self.pairs.count:
                return "no lower point along the gradient"
            self.pairs.clear()
            return ""
        self.pairs.push(self.direction, found.step, self.newest, self.gradient)
        self.accept(found)
        return ""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {"weights": self.weights, "gradient": self.gradient, **self.pairs.arrays()}
        return arrays, {"loss": self.loss, "count": self.pairs.count, "newest": self.pairs.newest}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        self.weights[:], self.gradient[:] = arrays["weights"], arrays["gradient"]
        self.loss, self.norm = values["loss"], length(self.gradient)
        self.pairs.restore(arrays, values["count"], values["newest"])


class Pairs:
    """The last m pairs as rows of one array, s in rows 0..m-1 and y in rows m..2m-1, with their inner products."""

    def __init__(self, memory: int, size: int) -> None:
        self.memory = memory
        self.rows: Singles = np.zeros((2 * memory, size), dtype=np.float32)
        self.products = np.zeros((2 * memory, 2 * memory))
        self.count, self.newest = 0, memory - 1

    def clear(self) -> None:
        self.count = 0

    def push(self, direction: Floats, step: float, new: Floats, old: Floats) -> None:
        """Store  s = step * direction,  y = new - old."""
        self.newest = (self.newest + 1) % self.memory
        self.count = min(self.count + 1, self.memory)
        _store(self.rows, self.newest, self.memory + self.newest, direction, step, new, old)
        self._measure()

    def direction(self, gradient: Floats, into: Floats) -> None:
        """into <- - H gradient."""
        used = self._used()
        m, products = self.memory, self.products
        dots = np.zeros(2 * m)
        _dots(self.rows, used, gradient, dots)
        # The two loops on coefficients: `total` holds those of the stored rows, `of_gradient` that of the gradient.
        total, of_gradient = np.zeros(2 * m), -1.0
        steps = [0.0] * m
        order = [(self.newest - back) % m for back in range(self.count)]
        for i in order:
            steps[i] = float(total @ products[i] + of_gradient * dots[i]) / products[i, m + i]
            total[m + i] -= steps[i]
        if self.count:
            i = self.newest
            shrink = products[i, m + i] / products[m + i, m + i]
            total *= shrink
            of_gradient *= shrink
        for i in reversed(order):
            along = float(total @ products[m + i] + of_gradient * dots[m + i]) / products[i, m + i]
            total[i] += steps[i] - along
        _combine(self.rows, used, total, of_gradient, gradient, into)

    def _used(self) -> NDArray[np.int64]:
        slots = [(self.newest - back) % self.memory for back in range(self.count)]
        return np.array(slots + [self.memory + slot for slot in slots], dtype=np.int64)

    def _measure(self) -> None:
        """Inner products of the newest pair with all rows; a pair without positive curvature is dropped."""
        m, i = self.memory, self.newest
        found = np.zeros((2, 2 * m))
        _products(self.rows, self._used(), i, m + i, found)
        for row, dots in ((i, found[0]), (m + i, found[1])):
            self.products[row, :] = dots
            self.products[:, row] = dots
        if not found[0, m + i] > 1e-12 * found[1, m + i]:
            self.newest, self.count = (i - 1) % m, self.count - 1

    def arrays(self) -> Arrays:
        return {"pairs": self.rows, "products": self.products}

    def restore(self, arrays: Arrays, count: int, newest: int) -> None:
        Whole(0, self.memory).check(count, "count")
        Whole(0, self.memory - 1).check(newest, "newest")  # a row, which kernels take unchecked
        self.rows[:], self.products[:] = arrays["pairs"], arrays["products"]
        self.count, self.newest = count, newest


# Inner loops run over slices from zero: an index that Numba cannot prove to be non-negative is not vectorized.


@fast_kernel
def _store(rows: Singles, s: int, y: int, direction: Floats, step: float, new: Floats, old: Floats) -> None:
    moves, changes = rows[s], rows[y]
    for i in range(len(moves)):
        moves[i] = step * direction[i]
        changes[i] = new[i] - old[i]


@fast_kernel
def _dots(rows: Singles, used: NDArray[np.int64], vector: Floats, out: Floats) -> None:
    for begin in range(0, rows.shape[1], BLOCK):
        block = vector[begin : begin + BLOCK]
        for j in used:
            row = rows[j, begin : begin + BLOCK]
            total = 0.0
            for i in range(len(block)):
                total += np.float64(row[i]) * block[i]
            out[j] += total


@fast_kernel
def _products(rows: Singles, used: NDArray[np.int64], s: int, y: int, out: Floats) -> None:
    for begin in range(0, rows.shape[1], BLOCK):
        moves, changes = rows[s, begin : begin + BLOCK], rows[y, begin : begin + BLOCK]
        for j in used:
            row = rows[j, begin : begin + BLOCK]
            with_s, with_y = 0.0, 0.0
            for i in range(len(row)):
                value = np.float64(row[i])
                with_s += value * np.float64(moves[i])
                with_y += value * np.float64(changes[i])
            out[0, j] += with_s
            out[1, j] += with_y


@fast_kernel
def _combine(
    rows: Singles, used: NDArray[np.int64], factors: Floats, of_gradient: float, gradient: Floats, into: Floats
) -> None:
    for begin in range(0, rows.shape[1], BLOCK):
        block, slope = into[begin : begin + BLOCK], gradient[begin : begin + BLOCK]
        for i in range(len(block)):
            block[i] = of_gradient * slope[i]
        for j in used:
            row, factor = rows[j, begin : begin + BLOCK], factors[j]
            for i in range(len(block)):
                block[i] += factor * np.float64(row[i])
