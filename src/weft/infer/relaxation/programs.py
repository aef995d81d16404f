"""Integer linear programs with named variables and rows, solved exactly by HiGHS (through SciPy).

    maximize  value . x    subject to  low_r <= a_r . x <= high_r  for every row r,   low <= x <= high

Variables are 0 or 1 unless their bounds say otherwise. Names may be any hashable objects; a row that names an unknown
variable, or a name that is given twice, is an error at once and not a wrong answer later.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from weft.errors import InferenceError

Name = Hashable
Terms = Mapping[Name, float] | Iterable[Name]

#: The statuses of SciPy's solver.
_SOLVED, _STOPPED, _INFEASIBLE, _UNBOUNDED, _EITHER = range(5)


@dataclass(frozen=True)
class Solution:
    """The best values found, what they are worth, and an upper bound on what any values are worth."""

    values: dict[Name, float]
    value: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether nothing better exists."""
        return self.bound - self.value <= 1e-6 * max(1.0, abs(self.value))

    def chosen(self) -> list[Name]:
        """The variables that are 1 (or more), in the order in which they were added."""
        return [name for name, value in self.values.items() if value > 0.5]


@dataclass
class Program:
    """A program to which variables and rows are added one by one.

    >>> program = Program()
    >>> for name, value in [("tent", 5.0), ("stove", 4.0), ("books", 3.0)]:
    ...     program.variable(name, value)
    >>> program.row("weight", {"tent": 3.0, "stove": 2.0, "books": 2.0}, high=4.0)
    >>> solution = program.maximize()
    >>> solution.chosen(), solution.value, solution.proven
    (['stove', 'books'], 7.0, True)
    >>> program.maximize(relaxed=True).value  # fractions are allowed
    7.333333333333333
    """

    _columns: dict[Name, int] = field(default_factory=dict)
    _values: list[float] = field(default_factory=list)
    _bounds: list[tuple[float, float]] = field(default_factory=list)
    _whole: list[bool] = field(default_factory=list)
    _rows: dict[Name, int] = field(default_factory=dict)
    _limits: list[tuple[float, float]] = field(default_factory=list)
    _entries: list[tuple[int, int, float]] = field(default_factory=list)

    def variable(self, name: Name, value: float = 0.0, low: float = 0.0, high: float = 1.0, whole: bool = True) -> None:
        """Add a variable: what one unit of it is worth, its bounds, and whether it is a whole number."""
        if name in self._columns:
            raise InferenceError(f"the variable {name!r} was added before; every variable needs a name of its own")
        if not np.isfinite(value) or not low <= high:
            raise InferenceError(
                f"the variable {name!r} needs a finite value and bounds that leave room; given: value {value}, "
                f"from {low} to {high}"
            )
        self._columns[name] = len(self._values)
        self._values.append(float(value))
        self._bounds.append((low, high))
        self._whole.append(whole)

    def row(self, name: Name, terms: Terms, low: float = -np.inf, high: float = np.inf) -> None:
        """Bound a weighted sum of variables; without weights, every variable counts once.

        >>> program = Program()
        >>> program.row("at most one", ["a", "b"], high=1)
        Traceback (most recent call last):
        ...
        weft.errors.InferenceError: the row 'at most one' names 'a', which is no variable; add variables before rows
        """
        if name in self._rows:
            raise InferenceError(f"the row {name!r} was added before; every row needs a name of its own")
        weighted = terms.items() if isinstance(terms, Mapping) else ((one, 1.0) for one in terms)
        number = len(self._limits)
        entries = []
        for variable, weight in weighted:
            if variable not in self._columns:
                raise InferenceError(
                    f"the row {name!r} names {variable!r}, which is no variable; add variables before rows"
                )
            entries.append((number, self._columns[variable], float(weight)))
        self._rows[name] = number
        self._limits.append((low, high))
        self._entries += entries

    def worths(self) -> dict[Name, float]:
        """What one unit of every variable is worth.

        >>> program = Program()
        >>> program.variable("tent", 5.0)
        >>> program.worths()
        {'tent': 5.0}
        """
        return {name: self._values[column] for name, column in self._columns.items()}

    def maximize(self, relaxed: bool = False, seconds: float | None = None, nodes: int | None = None) -> Solution:
        """The best values. `relaxed` allows fractions everywhere.

        `seconds`, or the number of `nodes` of the search tree, stops a long search at the best values so far.

        Raises an `InferenceError` if the rows rule out all values, or allow values without limit.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        if not self._values:
            return Solution({}, 0.0, 0.0)
        low, high = np.array(self._bounds).T
        constraints = []
        if self._limits:
            rows, columns, weights = zip(*self._entries, strict=True) if self._entries else ((), (), ())
            matrix = csr_array((weights, (rows, columns)), shape=(len(self._limits), len(self._values)))
            constraints = [LinearConstraint(matrix, *np.array(self._limits, dtype=float).T)]
        limits = {"time_limit": seconds, "node_limit": nodes}
        limits = {name: limit for name, limit in limits.items() if limit is not None}
        answer = milp(
            -np.array(self._values),
            integrality=np.zeros(len(low)) if relaxed else np.array(self._whole, dtype=float),
            bounds=Bounds(low, high),
            constraints=constraints,
            options={"mip_rel_gap": 0.0, **limits},
        )
        return self._solution(answer, relaxed)

    def _solution(self, answer: object, relaxed: bool) -> Solution:
        status, x = getattr(answer, "status", None), getattr(answer, "x", None)
        if status == _INFEASIBLE:
            raise InferenceError(f"no values satisfy all {len(self._limits)} rows and the bounds of the variables")
        if status in (_UNBOUNDED, _EITHER):
            raise InferenceError(
                "the value grows without limit, or no values satisfy all rows; bound the variables that are worth "
                "something"
            )
        if x is None:
            raise InferenceError("the time was up before any values were found; allow more seconds")
        exact = [
            round(value) if whole and not relaxed else float(value) for value, whole in zip(x, self._whole, strict=True)
        ]
        value = float(np.dot(self._values, exact))
        bound = getattr(answer, "mip_dual_bound", None)
        upper = value if status == _SOLVED or bound is None else -float(bound)
        return Solution(dict(zip(self._columns, exact, strict=True)), value, max(upper, value))
