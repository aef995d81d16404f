"""Lagrangian relaxation: search with constraints by repeated search without them.

    max over z in Z with Az <= b of  s.z    <=    L(u) = max over z in Z of  s.z + u.(b - Az),   u >= 0

An oracle finds the maximum over Z, which is easy, for any scores; the rows `Az <= b`, which make the search hard,
become prices u that are subtracted from the scores. Projected subgradient steps  u <- max(0, u + step (Az - b))  lower
the bound L(u). A solution that satisfies all rows, with u.(b - Az) = 0 (complementary slackness), attains the bound:
it is certified to be the best. Rows that must hold with equality have prices of either sign.

Every bound is compared with every feasible solution seen (weak duality); a violation means that the oracle does not
maximize, which is an error and not a bad approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.ragged import check_scores, check_shape

Oracle = Callable[[Floats], Floats]
Step = Literal["decaying", "root", "constant"]

#: Differences up to this, relative to the size of scores, count as none.
_SLACK = 1e-9


@dataclass(frozen=True)
class Relaxed:
    """The best feasible solution seen, or the last solution if none was.

    `bounds` has L(u) of every step; their minimum bounds the value of every feasible solution from above.
    """

    solution: Floats
    value: float
    feasible: bool
    certified: bool
    prices: Floats
    bounds: Floats

    @property
    def bound(self) -> float:
        """The lowest upper bound."""
        return float(self.bounds.min())

    @property
    def steps(self) -> int:
        """How many times the oracle was asked."""
        return len(self.bounds)


def relax(
    oracle: Oracle,
    scores: ArrayLike,
    rows: Any,
    limits: ArrayLike,
    equal: ArrayLike | None = None,
    step: Step = "decaying",
    size: float = 1.0,
    steps: int = 500,
) -> Relaxed:
    """Search for  max s.z  over the oracle's set with `rows @ z <= limits` (`equal` marks rows that must be equal).

    `oracle(scores)` gives a z of its set with the highest sum of scores. `rows` is a matrix, sparse or dense. The step
    k = 0, 1, ... is `size` ("constant"), size / (1 + k) ("decaying") or size / sqrt(1 + k) ("root").

    >>> best_of_two = lambda s: np.eye(2)[np.argmax(s)]  # choose one thing
    >>> found = relax(best_of_two, [3.0, 2.0], [[1.0, 0.0]], [0.0])  # but not the first
    >>> found.solution, found.value, found.certified
    (array([0., 1.]), 2.0, True)
    """
    score = check_scores(scores, "scores")
    limit = check_scores(limits, "limits")
    matrix = _matrix(rows, len(limit), len(score))
    exact = np.zeros(len(limit), dtype=np.bool_) if equal is None else np.asarray(equal, dtype=np.bool_)
    check_shape(exact, limit.shape, "marks of rows that must be equal")
    return _Search(oracle, score, matrix, limit, exact).run(_sizes(step, size, steps))


def _matrix(rows: Any, n_rows: int, n_columns: int) -> Any:
    from scipy.sparse import csr_array

    matrix = csr_array(rows, dtype=np.float64)
    if matrix.shape != (n_rows, n_columns):
        raise InferenceError(
            f"the rows have the shape {matrix.shape}; {n_rows} limits and {n_columns} scores need {(n_rows, n_columns)}"
        )
    return matrix


def _sizes(step: Step, size: float, steps: int) -> Floats:
    if size <= 0 or steps < 1:
        raise InferenceError(f"the size of steps and their number must be positive; given: {size} and {steps}")
    number = np.arange(1.0, steps + 1.0)
    divisors = {"constant": np.ones(steps), "decaying": number, "root": np.sqrt(number)}
    if step not in divisors:
        raise InferenceError(f"there is no step {step!r}; there are {', '.join(divisors)}")
    return size / divisors[step]


class _Search:
    """The search, with the best feasible solution and the bounds seen so far."""

    def __init__(self, oracle: Oracle, scores: Floats, matrix: Any, limits: Floats, equal: Bools) -> None:
        self.oracle, self.scores, self.matrix, self.limits, self.equal = oracle, scores, matrix, limits, equal
        self.back = matrix.T.tocsr()
        finite = scores[np.isfinite(scores)]
        self.slack = _SLACK * max(1.0, float(np.abs(finite).sum()))
        self.best: Floats | None = None
        self.value = -np.inf
        self.bounds: list[float] = []

    def run(self, sizes: Floats) -> Relaxed:
        prices = np.zeros(len(self.limits))
        certified = False
        for size in sizes:
            z = self.oracle(self.scores - self.back @ prices)
            excess = self.matrix @ z - self.limits
            value = self._value(z)
            self._note(z, value, value - float(prices @ excess), excess)
            certified = self.value >= min(self.bounds) - self.slack
            if certified:
                break
            prices = prices + size * excess
            prices[~self.equal] = np.maximum(prices[~self.equal], 0.0)
        solution = z if self.best is None else self.best
        return Relaxed(solution, self._value(solution), self.best is not None, certified, prices, np.array(self.bounds))

    def _value(self, z: Floats) -> float:
        chosen = z != 0  # what is forbidden has a score of minus infinity
        return float(self.scores[chosen] @ z[chosen])

    def _note(self, z: Floats, value: float, bound: float, excess: Floats) -> None:
        self.bounds.append(bound)
        off = np.where(self.equal, np.abs(excess), excess)
        if np.all(off <= _SLACK) and value > self.value:
            self.best, self.value = z.copy(), value
        if self.value > min(self.bounds) + self.slack:
            raise InferenceError(
                f"a solution is worth {self.value:g}, more than the bound {min(self.bounds):g}: the oracle does not "
                "find the maximum of its scores"
            )
