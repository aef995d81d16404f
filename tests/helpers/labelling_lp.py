"""Labels for the vertices of a graph: metric labelling as a linear programme, exactly, and rounded.

    minimize  sum over u of c(u, l(u))  +  sum over edges uv of w_uv d(l(u), l(v))

over labels l, with d a metric and some pairs of vertices bound to agree (overlapping parts of one sequence: the shared
token has one label). The relaxation of Chekuri, Khanna, Naor and Zosin (2001) is the *full* form:

    x(u, i) = sum_j x(u, i, v, j),   sum_i x(u, i) = 1,   cost w_uv sum_ij d(i, j) x(u, i, v, j)

where bound pairs have x(u, i, v, j) only for labels that agree. For d = [i != j] the *compact* form has the same
optimum with |L| instead of |L|^2 variables an edge:

    cost w_uv sum_i t(uv, i),   t(uv, i) >= x(u, i) - x(v, i),  t >= 0
    bound pairs:  sum over i of class a of x(u, i) = sum over j of class a of x(v, j)    for every class a

Two labels, no bound pairs and no costs but those of known labels: the minimum cut of `min_cuts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError, InferenceError

FORMS = ("compact", "full")


@dataclass(frozen=True)
class Bound:
    """Pairs of vertices that must agree: `left[label of first] == right[label of second]`."""

    first: Ints
    second: Ints
    left: Ints  # the class of every label at the first vertex of a pair
    right: Ints  # and at the second


@dataclass(frozen=True)
class Relaxed:
    """A solution of the linear programme: `x[vertex, label]` and what it costs; `whole`: no fractions."""

    x: Floats
    value: float

    @property
    def whole(self) -> bool:
        return bool((self.x.max(axis=1) > 1 - 1e-6).all())


class Labelling:
    """A problem of metric labelling.

    `costs[vertex, label]` may be infinite: that vertex cannot have the label. `distance[label, label]` is 1 between
    different labels where none is given.

    >>> inf = np.inf
    >>> costs = [[0, inf], [0, 0], [0, 0.2], [inf, 0]]  # the first vertex has label 0, the last one label 1
    >>> problem = Labelling(costs, [0, 1, 2], [1, 2, 3], [1.0, 0.5, 1.0])
    >>> problem.relax().x.argmax(axis=1).tolist(), problem.relax().value
    ([0, 0, 1, 1], 0.7)
    >>> problem.solve().tolist(), problem.value([0, 0, 1, 1])
    ([0, 0, 1, 1], 0.7)
    """

    def __init__(
        self,
        costs: ArrayLike,
        u: ArrayLike,
        v: ArrayLike,
        weights: ArrayLike,
        distance: ArrayLike | None = None,
        bound: Bound | None = None,
    ) -> None:
        self.costs = np.array(costs, dtype=np.float64)
        if self.costs.ndim != 2 or np.isnan(self.costs).any() or (self.costs == -np.inf).any():
            raise DataError("costs must be a table [vertex, label] of numbers, or inf for what cannot be")
        shut = np.flatnonzero(~np.isfinite(self.costs).any(axis=1))
        if len(shut):
            raise DataError(f"vertex {shut[0]} can have no label at all: every cost is infinite")
        self.u, self.v = (np.asarray(each, dtype=np.int64) for each in (u, v))
        self.weights = np.asarray(weights, dtype=np.float64)
        if not len(self.u) == len(self.v) == len(self.weights):
            raise DataError(f"edges need two ends and a weight: {len(self.u)}, {len(self.v)}, {len(self.weights)}")
        if len(self.weights) and self.weights.min() < 0:
            raise DataError(f"edges need weights of 0 and above, got {self.weights.min()}")
        labels = self.costs.shape[1]
        self.uniform = distance is None
        self.distance = 1.0 - np.eye(labels) if distance is None else np.array(distance, dtype=np.float64)
        if self.distance.shape != (labels, labels):
            raise DataError(f"distances must be {labels} x {labels}, one a pair of labels; got {self.distance.shape}")
        if (self.distance != self.distance.T).any() or np.diag(self.distance).any() or self.distance.min() < 0:
            raise DataError("distances of labels must be the same both ways, 0 from a label to itself, never below 0")
        self.bound = bound

    @property
    def n_labels(self) -> int:
        return self.costs.shape[1]

    def value(self, labels: ArrayLike) -> float:
        """What a labelling costs; infinite where it breaks a bound."""
        own = np.asarray(labels, dtype=np.int64)
        if not self.agrees(own):
            return float("inf")
        each = self.weights * self.distance[own[self.u], own[self.v]]
        return float(self.costs[np.arange(len(own)), own].sum() + each.sum())

    def agrees(self, labels: ArrayLike) -> bool:
        """Whether all bound pairs agree."""
        if self.bound is None:
            return True
        own, bound = np.asarray(labels, dtype=np.int64), self.bound
        return bool((bound.left[own[bound.first]] == bound.right[own[bound.second]]).all())

    def relax(self, form: str = "compact") -> Relaxed:
        """The best fractional labelling, by HiGHS. The compact form is for the uniform distance."""
        from scipy.optimize import linprog

        cost, equal, right, below, upper = self._programme(form)
        found = linprog(
            cost, A_ub=below, b_ub=None if below is None else np.zeros(below.shape[0]), A_eq=equal, b_eq=right,
            bounds=np.stack([np.zeros(len(cost)), upper], axis=1), method="highs",
        )  # fmt: skip
        if found.status != 0:
            raise InferenceError(f"the programme has no solution: {found.message}")
        return Relaxed(found.x[: self.costs.size].reshape(self.costs.shape), float(found.fun))

    def solve(self) -> Ints:
        """The best labelling, by branch and bound: for small problems."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        cost, equal, right, below, upper = self._programme("compact" if self.uniform else "full")
        rules = [LinearConstraint(equal, right, right)]
        if below is not None:
            rules.append(LinearConstraint(below, -np.inf, 0))
        whole = np.zeros(len(cost))
        whole[: self.costs.size] = 1
        found = milp(cost, integrality=whole, bounds=Bounds(0, upper), constraints=rules)
        if found.status != 0:
            raise InferenceError(f"the programme has no solution: {found.message}")
        chosen: Ints = found.x[: self.costs.size].reshape(self.costs.shape).argmax(axis=1)
        return chosen

    def round(self, x: Floats, seed: int | np.random.Generator = 0) -> Ints:
        """A labelling drawn from a fractional one (Kleinberg and Tardos 2002); knows nothing of bound pairs.

        A label and a threshold are drawn again and again; vertices without a label that have at least as much of the
        label as the threshold take it. The expected cost is at most twice that of x, for the uniform distance.
        """
        random = np.random.default_rng(seed)
        labels = np.full(len(x), -1, dtype=np.int64)
        share = np.where(np.isfinite(self.costs), x, 0.0)
        while (open_ := labels < 0).any():
            label, threshold = int(random.integers(self.n_labels)), 1.0 - random.random()
            labels[open_ & (share[:, label] >= threshold)] = label
        return labels

    def _programme(self, form: str) -> tuple[Floats, Any, Floats, Any, Floats]:
        """Costs, equations and their right sides, inequalities (<= 0) or None, upper limits of variables."""
        if form not in FORMS:
            raise ConfigError(f"the form must be one of {', '.join(FORMS)}; got {form!r}")
        if form == "compact" and not self.uniform:
            raise ConfigError("the compact form is for the uniform distance; take form='full' for another one")
        from scipy.sparse import coo_array

        n, labels = self.costs.shape
        finite = np.isfinite(self.costs).ravel()
        ones = _Rows()
        ones.add(n, np.repeat(np.arange(n), labels), np.arange(n * labels), np.ones(n * labels))
        right = [np.ones(n)]
        cost, upper = [np.where(finite, self.costs.ravel(), 0.0)], [finite.astype(np.float64)]
        below = _Rows()
        at = n * labels  # the next free variable
        if form == "compact":
            slack = np.arange(len(self.u) * labels)
            edge, label = slack // labels, slack % labels
            for columns, sign in ((self.u[edge] * labels + label, 1), (self.v[edge] * labels + label, -1)):
                below.entries.append((slack, columns, np.full(len(slack), float(sign))))
            below.add(len(slack), slack, at + slack, np.full(len(slack), -1.0))
            cost.append(np.repeat(self.weights, labels))
            upper.append(np.ones(len(slack)))
            at += len(slack)
            if self.bound is not None:
                right.append(self._bound_marginals(ones, labels))
        else:
            pairs = np.ones((labels, labels), dtype=np.bool_)
            at = _edge_block(ones, self.u, self.v, pairs, labels, at)
            cost.append((self.weights[:, None] * self.distance[pairs]).ravel())
            upper.append(np.ones(len(self.u) * labels**2))
            right.append(np.zeros(2 * labels * len(self.u)))
            if self.bound is not None:
                pairs = self.bound.left[:, None] == self.bound.right[None, :]
                at = _edge_block(ones, self.bound.first, self.bound.second, pairs, labels, at)
                free = int(pairs.sum()) * len(self.bound.first)
                cost.append(np.zeros(free))
                upper.append(np.ones(free))
                right.append(np.zeros(2 * labels * len(self.bound.first)))
        matrix = [coo_array((v, (r, c)), shape=(rows.n, at)).tocsr() if rows.n else None
                  for rows in (ones, below) for r, c, v in [rows.joined()]]  # fmt: skip
        return np.concatenate(cost), matrix[0], np.concatenate(right), matrix[1], np.concatenate(upper)

    def _bound_marginals(self, rows: _Rows, labels: int) -> Floats:
        """Equations: what a pair shares has the same marginal at both."""
        assert self.bound is not None
        bound, label = self.bound, np.arange(labels)
        classes = int(max(bound.left.max(), bound.right.max())) + 1
        pair = np.arange(len(bound.first))
        row = pair[:, None] * classes
        for end, of_class, sign in ((bound.first, bound.left, 1.0), (bound.second, bound.right, -1.0)):
            columns = end[:, None] * labels + label[None, :]
            rows.entries.append(
                ((rows.n + row + of_class[None, :]).ravel(), columns.ravel(), np.full(columns.size, sign))
            )
        rows.n += classes * len(pair)
        return np.zeros(classes * len(pair))


class _Rows:
    """Rows of a sparse matrix as they are put together."""

    def __init__(self) -> None:
        self.n = 0
        self.entries: list[tuple[Ints, Ints, Floats]] = []

    def add(self, n: int, rows: Ints, columns: Ints, values: Floats) -> None:
        self.entries.append((self.n + rows, columns, values))
        self.n += n

    def joined(self) -> tuple[Ints, Ints, Floats]:
        if not self.entries:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        rows, columns, values = zip(*self.entries, strict=True)
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _edge_block(rows: _Rows, u: Ints, v: Ints, pairs: NDArray[np.bool_], labels: int, at: int) -> int:
    """Equations x(u, i) = sum_j x(u, i, v, j), and the same for v; the next free variable."""
    first, second = (each.astype(np.int64) for each in np.nonzero(pairs))
    edges, size = len(u), len(first)
    variable = at + np.arange(edges * size)
    edge = np.repeat(np.arange(edges), size)
    label = np.arange(labels)
    for end, of_pair in ((u, np.tile(first, edges)), (v, np.tile(second, edges))):
        rows.entries.append((rows.n + edge * labels + of_pair, variable, np.ones(len(variable))))
        own = (end[:, None] * labels + label[None, :]).ravel()
        rows.add(edges * labels, np.arange(edges * labels), own, np.full(edges * labels, -1.0))
    return at + len(variable)
