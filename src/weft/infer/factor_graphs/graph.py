"""Factor graphs over discrete variables, and sum-product belief propagation on them.

    p(x) ∝ prod over variables v of  exp u_v(x_v)  *  prod over factors f of  f(x_f)

    v -> f     m(x_v) = exp u_v(x_v) * prod over other factors g of v of  m_{g -> v}(x_v)
    f -> v     m(x_v) = sum over the other variables of  f(x_f) * prod over other variables w of f of  m_{w -> f}(x_w)

Two kinds of factors exist. A *table* lists the potential of every combination of values. A *link* says that if `choice`
takes the value c, then `first` and `second` are equal: 1 - [choice = c and first != second]. Its messages have a closed
form and cost O(k) for k values (Durrett, Hall and Klein 2013): with q the message of the choice at c, r its mass
elsewhere, and a, b the messages of the two variables, all normalized,

    to choice:  sum of a(v) b(v) at c, 1 elsewhere;      to first:  q b(v) + r;      to second:  q a(v) + r

Links of one choice and one `first` for several values c can be one factor, their product (`add_choice`). Apart, they
form loops through the two variables that they share. With s_c the sum of a(v) b_c(v) and r the mass of other values,

    to choice:  s_c at c;      to first:  sum of q_c b_c(v) + r;      to second c:  q_c a(v) + sum of other q_d s_d + r

Beliefs are exact if the graph is a tree; otherwise they are those of a fixed point, if one is reached, and the
logarithm of the partition function is Bethe's approximation, whose derivatives by the potentials are the beliefs.
Messages are passed one factor at a time, forward through the factors and then backward (*sequential*), or all at once
(*parallel*); from the second sweep on, `damping` keeps that share of the old message, in logarithms.
Several graphs form a batch; each one stops by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats, Ints
from weft.errors import InferenceError
from weft.infer.factor_graphs.messages import LINK, TABLE, partition, propagate
from weft.ragged import check_scores, check_shape

Schedule = Literal["sequential", "parallel"]
SCHEDULES: tuple[Schedule, ...] = ("sequential", "parallel")


@dataclass(frozen=True)
class Beliefs:
    """The result of belief propagation.

    `probabilities` holds the marginals of all variables, variable v at `starts[v]:starts[v + 1]`; `log_partitions`,
    `sweeps` and `converged` have one value per graph of a batch.
    """

    starts: Ints
    probabilities: Floats
    log_partitions: Floats
    sweeps: Ints
    converged: Bools

    def marginals(self, variable: int) -> Floats:
        """The marginal distribution of a variable."""
        return self.probabilities[self.starts[variable] : self.starts[variable + 1]]

    def best(self) -> Ints:
        """The most probable value of every variable by itself, which minimizes the expected number of errors."""
        pairs = zip(self.starts[:-1], self.starts[1:], strict=True)
        return np.array([int(self.probabilities[low:high].argmax()) for low, high in pairs], dtype=np.int64)

    @property
    def log_partition(self) -> float:
        """The logarithm of the partition function of the whole batch."""
        return float(self.log_partitions.sum())


class FactorGraph:
    """Variables, given by their numbers of values, and factors between them.

    Two mentions that corefer have the same gender: the second one's doubtful gender follows the first one's.

    >>> graph = FactorGraph([2, 2, 2])  # NEW or a link; the genders of the two mentions
    >>> graph.set_scores(np.log([0.4, 0.6, 0.9, 0.1, 0.5, 0.5]))
    >>> graph.add_links(choice=[0], value=[1], first=[2], second=[1])
    >>> beliefs = graph.run()
    >>> [beliefs.marginals(v).round(3).tolist() for v in range(3)]
    [[0.571, 0.429], [0.9, 0.1], [0.671, 0.329]]
    >>> bool(beliefs.converged[0]), beliefs.best().tolist()
    (True, [0, 0, 0])
    """

    def __init__(self, sizes: ArrayLike) -> None:
        numbers = np.asarray(sizes, dtype=np.int64)
        if numbers.ndim != 1 or (numbers.size and numbers.min() < 1):
            raise InferenceError("every variable of a factor graph needs at least one value")
        self.starts: Ints = np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64)
        self.scores: Floats = np.zeros(int(self.starts[-1]))
        self._kinds: list[Ints] = []
        self._values: list[Ints] = []  # the value of a link, the first cell of a table
        self._variables: list[Ints] = []
        self._arities: list[Ints] = []
        self._tables: list[Floats] = []
        self._cells = 0
        #: Where the graphs of a batch begin: numbers of variables, numbers of factors.
        self.variable_bounds = [0, len(numbers)]
        self.factor_bounds: list[int] | None = None

    @property
    def n_variables(self) -> int:
        return len(self.starts) - 1

    @property
    def n_factors(self) -> int:
        return sum(map(len, self._kinds))

    def set_scores(self, scores: ArrayLike) -> None:
        """Set the log potentials of all values of all variables; minus infinity forbids a value."""
        array = check_scores(scores, "log potentials of variables")
        check_shape(array, self.scores.shape, "log potentials of variables")
        if len(array) and (np.maximum.reduceat(array, self.starts[:-1]) == -np.inf).any():
            raise InferenceError("a variable of the factor graph has no value that is allowed")
        self.scores = array

    def add_table(self, variables: Sequence[int], table: ArrayLike) -> None:
        """Add a factor by its log potentials, one axis per variable."""
        own = self._checked(variables)
        array = check_scores(table, "log potentials of a factor")
        check_shape(array, tuple(np.diff(self.starts)[own].tolist()), "log potentials of a factor")
        if len(set(own.tolist())) < len(own) or not len(own):
            raise InferenceError("a factor needs variables that differ from each other")
        if array.max() == -np.inf:
            raise InferenceError("a factor forbids every combination of values")
        self._add(TABLE, np.array([self._cells]), own, len(own))
        self._tables.append(array.ravel())
        self._cells += array.size

    def add_links(self, choice: ArrayLike, value: ArrayLike, first: ArrayLike, second: ArrayLike) -> None:
        """Add factors that make `first` and `second` equal if `choice` has the value: one of each per factor."""
        rows = np.stack([self._checked(each) for each in (choice, first, second)], axis=1)
        values = np.asarray(value, dtype=np.int64)
        check_shape(values, (len(rows),), "values of links")
        sizes = np.diff(self.starts)
        if ((values < 0) | (values >= sizes[rows[:, 0]])).any():
            raise InferenceError("a link names a value that its choice does not have")
        if (sizes[rows[:, 1]] != sizes[rows[:, 2]]).any():
            raise InferenceError("a link needs two variables with the same values")
        if ((rows[:, 1] == rows[:, 2]) | (rows[:, 0] == rows[:, 1]) | (rows[:, 0] == rows[:, 2])).any():
            raise InferenceError("a link needs three variables that differ from each other")
        self._add(LINK, values, rows.ravel(), 3)

    def add_choice(self, choice: int, start: int, first: int, others: ArrayLike) -> None:
        """Add a factor that makes `first` equal to `others[n]` if `choice` has the value `start + n`."""
        own = self._checked(np.concatenate([[choice, first], np.asarray(others, dtype=np.int64)]))
        sizes = self.starts[own + 1] - self.starts[own]
        if not 0 <= start <= sizes[0] - (len(own) - 2):
            raise InferenceError("a link names a value that its choice does not have")
        if (sizes[1:] != sizes[1]).any():
            raise InferenceError("a link needs variables with the same values")
        if len(set(own.tolist())) < len(own) or len(own) < 3:
            raise InferenceError("a link needs three variables or more that differ from each other")
        self._add(LINK, np.array([start]), own, len(own))

    def _checked(self, variables: ArrayLike) -> Ints:
        own = np.asarray(variables, dtype=np.int64)
        if own.size and (own.min() < 0 or own.max() >= self.n_variables):
            raise InferenceError(f"a factor names a variable that is not one of the {self.n_variables} of its graph")
        return own

    def _add(self, kind: int, values: Ints, variables: Ints, arity: int) -> None:
        self._kinds.append(np.full(len(values), kind, dtype=np.int64))
        self._values.append(values)
        self._variables.append(variables)
        self._arities.append(np.full(len(values), arity, dtype=np.int64))

    @classmethod
    def batch(cls, graphs: Sequence[FactorGraph]) -> FactorGraph:
        """Several graphs as one; each of them converges by itself.

        >>> pair = FactorGraph([2, 2])
        >>> pair.add_table([0, 1], [[1.0, 0.0], [0.0, 1.0]])
        >>> FactorGraph.batch([pair, pair]).run().log_partitions.round(4).tolist()
        [2.0064, 2.0064]
        """
        joined = cls(np.concatenate([np.diff(graph.starts) for graph in graphs]) if graphs else [])
        joined.scores = np.concatenate([graph.scores for graph in graphs]) if graphs else joined.scores
        joined.variable_bounds, joined.factor_bounds = [0], [0]
        for graph in graphs:
            base, cells = joined.variable_bounds[-1], joined._cells
            for kinds, values in zip(graph._kinds, graph._values, strict=True):
                joined._kinds.append(kinds)
                joined._values.append(values + cells if kinds[:1] == TABLE else values)
            joined._arities += graph._arities
            joined._variables += [own + base for own in graph._variables]
            joined._tables += graph._tables
            joined._cells += graph._cells
            joined.variable_bounds += [base + end for end in graph.variable_bounds[1:]]
            last = joined.factor_bounds[-1]
            joined.factor_bounds += [last + end for end in (graph.factor_bounds or [0, graph.n_factors])[1:]]
        return joined

    def run(
        self,
        sweeps: int = 100,
        tolerance: float = 1e-9,
        damping: float = 0.0,
        schedule: Schedule = "sequential",
    ) -> Beliefs:
        """Pass messages until none changes by more than the tolerance, at most for `sweeps` sweeps.

        A sequential sweep goes through the factors in the order in which they were added, and back.
        """
        if sweeps < 1 or tolerance < 0 or not 0 <= damping < 1:
            raise InferenceError(
                f"belief propagation needs a sweep, a tolerance of at least 0 and a damping from 0 to below 1; given: "
                f"{sweeps}, {tolerance} and {damping}"
            )
        if schedule not in SCHEDULES:
            raise InferenceError(f"there is no schedule {schedule!r}; there are {', '.join(SCHEDULES)}")
        factors = self._factors()
        n = len(self.variable_bounds) - 1
        done, taken = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
        totals, sums = self.scores.copy(), np.zeros(n)
        bounds = np.asarray(self.factor_bounds or [0, self.n_factors], dtype=np.int64)
        messages = propagate(
            self.starts, totals, *factors, bounds, sweeps, tolerance, damping, schedule == "parallel", taken, done
        )
        variables = np.asarray(self.variable_bounds, dtype=np.int64)
        beliefs = partition(self.starts, totals, *factors, messages, bounds, variables, sums)
        return Beliefs(self.starts, beliefs, sums, taken, done)

    def _factors(self) -> tuple[Ints, Ints, Ints, Ints, Floats]:
        """Kinds, values, bounds of edges, variables of edges, and the tables."""
        empty = np.zeros(0, dtype=np.int64)
        kinds, values, variables, arities = (
            np.concatenate([empty, *parts]) for parts in (self._kinds, self._values, self._variables, self._arities)
        )
        edges = np.concatenate([[0], np.cumsum(arities)]).astype(np.int64)
        return kinds, values, edges, variables, np.concatenate([np.zeros(0), *self._tables])
