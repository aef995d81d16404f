"""The partial order that agrees best with pairwise preferences (Manshadi, Gildea and Allen 2013).

    max over partial orders G of  sum over pairs u < v of  before[u, v]    if u is before v in G
                                                           before[v, u]    if v is before u in G
                                                           apart[u, v]     if neither

This is minimum Bayes risk for the number of wrong pairs. The exact maximum is an integer program. The greedy search
takes at least a third of it: it removes, again and again, the node u that the rest prefers to follow,

    argmax over u of  sum over remaining v of  before[u, v] - before[v, u],

and puts u after a set S of the nodes removed before. S must contain, with every node, all nodes before it. "All or
none" compares the two sets that always qualify; the best S is a maximum-weight closure with the weights
before[v, u] - apart[v, u], found by one minimum cut.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats, Ints
from weft.errors import InferenceError
from weft.infer.orders.relations import check_relation, closure, cycle
from weft.infer.relaxation.programs import Program
from weft.kernel import inner_kernel, kernel
from weft.ragged import check_scores, check_shape

Insertion = Literal["closure", "all or none"]


class Preferences:
    """Preferences `before[u, v]` and `apart[u, v]` (symmetric) for all pairs of n nodes, as probabilities or scores.

    `required` pairs are part of every order. The diagonals mean nothing.

    >>> apart = [[0, 0.1, 0.4], [0.1, 0, 0.3], [0.4, 0.3, 0]]
    >>> wants = Preferences([[0, 0.8, 0.3], [0.1, 0, 0.6], [0.3, 0.1, 0]], apart)
    >>> order = wants.greedy()
    >>> order.astype(int).tolist(), round(wants.value(order), 2)
    ([[0, 1, 1], [0, 0, 1], [0, 0, 0]], 1.7)
    """

    def __init__(self, before: ArrayLike, apart: ArrayLike, required: ArrayLike | None = None) -> None:
        self.before = check_scores(before, "preferences of order")
        self.apart = check_scores(apart, "preferences of no order")
        n = len(self.before)
        check_shape(self.before, (n, n), "preferences of order")
        check_shape(self.apart, (n, n), "preferences of no order")
        if not np.array_equal(self.apart, self.apart.T):
            raise InferenceError("preferences of no order must be symmetric: apart[u, v] == apart[v, u]")
        self.required = closure(np.zeros((n, n)) if required is None else check_relation(required))
        check_shape(self.required, (n, n), "required pairs")
        if self.required.diagonal().any():
            raise InferenceError(f"the required pairs have a cycle: {' > '.join(map(str, cycle(self.required)))}")

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.before)

    def value(self, order: ArrayLike) -> float:
        """What an order is worth: the sum over all pairs."""
        matrix = check_relation(order)
        first, second = np.triu_indices(len(self), 1)
        forth, back = matrix[first, second], matrix[second, first]
        worth = np.where(
            forth, self.before[first, second], np.where(back, self.before[second, first], self.apart[first, second])
        )
        return float(worth.sum())

    def greedy(self, insertion: Insertion = "closure") -> Bools:
        """An order worth a third of the best one or more, if nothing is required and no preference is negative."""
        if insertion not in ("closure", "all or none"):
            raise InferenceError(f"there is no insertion {insertion!r}; there are 'closure' and 'all or none'")
        order = np.zeros((len(self), len(self)), dtype=np.bool_)
        _insert_all(self.before, self.apart, self.required, insertion == "closure", order)
        return order

    def best(self) -> Bools:
        """The best order, by an integer program; meant for about a dozen nodes."""
        n = len(self)
        program = Program()
        pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
        for u, v in pairs:
            program.variable((u, v), self.before[u, v] - self.apart[u, v], low=float(self.required[u, v]))
        for u, v in pairs:
            if u < v:
                program.row((u, v), [(u, v), (v, u)], high=1)
            for w in range(n):
                if w not in (u, v):
                    program.row((u, v, w), {(u, v): 1.0, (v, w): 1.0, (u, w): -1.0}, high=1)
        order = np.zeros((n, n), dtype=np.bool_)
        for u, v in program.maximize().chosen():  # type: ignore[misc]
            order[u, v] = True
        return order


@inner_kernel
def _augment(capacity: Floats, before: Ints, queue: Ints) -> float:
    """Send as much flow as fits over a shortest path from node 0 to node 1; 0 if there is no path left."""
    n = len(capacity)
    before[:] = -1
    before[0], queue[0], first, end = 0, 0, 0, 1
    while first < end and before[1] < 0:
        u = queue[first]
        first += 1
        for v in range(n):
            if before[v] < 0 and capacity[u, v] > 1e-12:
                before[v], queue[end] = u, v
                end += 1
    if before[1] < 0:
        return 0.0
    flow, v = np.inf, 1
    while v != 0:
        flow, v = min(flow, capacity[before[v], v]), before[v]
    v = 1
    while v != 0:
        u = before[v]
        capacity[u, v] -= flow
        capacity[v, u] += flow
        v = u
    return flow


@inner_kernel
def _close_best(
    weight: Floats, order: Bools, chosen: Ints, count: int, capacity: Floats, before: Ints, queue: Ints, inside: Bools,
) -> None:  # fmt: skip
    """Mark in `inside` the set of chosen nodes with the largest sum of weights that has all nodes before its own.

    Positive weights are capacities from the source, negative ones to the sink; a node leads to all nodes before it.
    """
    size = count + 2
    for i in range(size):
        for j in range(size):
            capacity[i, j] = 0.0
    for i in range(count):
        u = chosen[i]
        if weight[u] > 0:
            capacity[0, i + 2] = weight[u]
        else:
            capacity[i + 2, 1] = -weight[u]
        for j in range(count):
            if order[chosen[j], u]:
                capacity[i + 2, j + 2] = np.inf
    while _augment(capacity[:size, :size], before[:size], queue) > 0:
        pass
    for i in range(count):
        inside[chosen[i]] = before[i + 2] >= 0  # reached from the source in what is left


@inner_kernel
def _next(before: Floats, required: Bools, left: Bools) -> int:
    """The remaining node that is most preferred to come first, among those of which nothing remaining is required."""
    n, top, node = len(before), -np.inf, -1
    for u in range(n):
        if not left[u]:
            continue
        gain, ready = 0.0, True
        for v in range(n):
            if left[v] and v != u:
                gain += before[u, v] - before[v, u]
                ready = ready and not required[v, u]
        if ready and gain > top:
            top, node = gain, u
    return node


@kernel
def _insert_all(before: Floats, apart: Floats, required: Bools, by_closure: bool, order: Bools) -> None:
    """Insert all nodes, one after the other, into an order."""
    n = len(before)
    left, inside = np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    chosen, weight = np.empty(n, dtype=np.int64), np.empty(n)
    capacity, back, queue = np.empty((n + 2, n + 2)), np.empty(n + 2, dtype=np.int64), np.empty(n + 2, dtype=np.int64)
    needed = 1.0 + np.abs(before).sum() + np.abs(apart).sum()
    for count in range(n):
        u = _next(before, required, left)
        total = 0.0
        for i in range(count):
            v = chosen[i]
            weight[v] = needed if required[v, u] else before[v, u] - apart[v, u]
            total += weight[v]
        if by_closure:
            _close_best(weight, order, chosen, count, capacity, back, queue, inside)
        for i in range(count):
            v = chosen[i]
            order[v, u] = inside[v] if by_closure else total > 0
        left[u], chosen[count] = False, u
