"""Chains tied together: parts of sequences that had better carry the same labels, wherever they stand.

    minimize  sum over parts u of c(u, l(u))  +  sum over ties uv of w_uv [l(u) != l(v)]

A part is a pair of neighbouring positions and its label a pair of states; parts that overlap agree on the state they
share, so that a labelling is one path per chain. The relaxation over marginals x of the chains,

    min over x of  c.x + 1/2 sum_uv w_uv sum_i |x(u, i) - x(v, i)|
      =  max over |lambda(uv, i)| <= w_uv / 2 of  sum over chains of  min over paths of (c + sum of +-lambda)

is a linear program that general solvers manage for a few hundred parts. Here it is
solved in the dual, where every chain is on its own: each minimum becomes -T log Z at a temperature T, whose
gradient in lambda is the difference of two marginals; accelerated projected gradient steps, T falling by half. The
marginals are feasible at every T and Viterbi paths bound the optimum from below at every lambda, so the gap between
both is known and not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.infer.chains.chain import Chain
from weft.kernel import kernel
from weft.ragged import check_offsets, check_shape, first_positions


@dataclass(frozen=True)
class Relaxation:
    """Marginals of parts `[position, state, state]`, what they cost, the bound from below, and the best path found.

    `bound <= optimum of the linear programme <= value`, and `bound <= best labelling <= rounded`: where the last is
    the bound, `path` is a best labelling.
    """

    x: Floats
    value: float
    bound: float
    path: NDArray[np.int32]
    rounded: float
    steps: int

    @property
    def gap(self) -> float:
        """How much the path costs more than the bound, relative to the bound."""
        return (self.rounded - self.bound) / max(1.0, abs(self.bound))


class TiedChains:
    """Chains of N positions with `cost[N, L, L]`, row i for the part of positions i - 1 and i, and ties u - v of parts.

    Rows of first positions stand for no part. Infinite costs forbid.

    >>> cost = np.zeros((6, 2, 2))
    >>> cost[1] = cost[2] = [[0, 2], [2, 2]]  # the first chain wants 0 throughout
    >>> cost[4] = [[0.5, 2], [2, 0]]  # the second one would rather begin with 1, 1
    >>> alone = TiedChains(cost, [0, 3, 6], [], [], []).relax()
    >>> alone.path.tolist()
    [0, 0, 0, 1, 1, 0]
    >>> together = TiedChains(cost, [0, 3, 6], [1], [4], [1.0]).relax()
    >>> together.path.tolist(), round(together.rounded, 3)
    ([0, 0, 0, 0, 0, 0], 0.5)
    """

    def __init__(self, cost: ArrayLike, offsets: ArrayLike, u: ArrayLike, v: ArrayLike, weights: ArrayLike) -> None:
        self.cost = np.array(cost, dtype=np.float64)
        states = self.cost.shape[-1]
        check_shape(self.cost, (len(self.cost), states, states), "costs")
        if np.isnan(self.cost).any() or (self.cost == -np.inf).any():
            raise InferenceError("costs must be numbers, or inf for what cannot be")
        self.offsets = check_offsets(offsets, len(self.cost))
        self.cost[first_positions(self.offsets)] = 0.0
        self.u, self.v = (np.ascontiguousarray(each, dtype=np.int64) for each in (u, v))
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        if not len(self.u) == len(self.v) == len(self.weights):
            raise InferenceError(f"ties need two parts and a weight: {len(self.u)}, {len(self.v)}, {len(self.weights)}")
        if len(self.weights) and not (np.isfinite(self.weights).all() and self.weights.min() >= 0):
            raise InferenceError("ties need finite weights of 0 and above")
        firsts = np.zeros(len(self.cost) + 1, dtype=np.bool_)
        firsts[first_positions(self.offsets)] = True
        for end in (self.u, self.v):
            if len(end) and (end.min() < 0 or end.max() >= len(self.cost) or firsts[end].any()):
                raise InferenceError(
                    f"ties are between parts, rows 1 to {len(self.cost) - 1} that are no chain's first position"
                )
        self._zeros = np.zeros((len(self.cost), states))

    def value(self, path: ArrayLike) -> float:
        """What a labelling costs.

        >>> TiedChains(np.zeros((4, 2, 2)), [0, 2, 4], [1], [3], [1.5]).value([0, 0, 0, 1])
        1.5
        """
        own = np.asarray(path, dtype=np.int64)
        before = np.concatenate([own[:1], own[:-1]])
        label = before * self.cost.shape[1] + own
        differ = label[self.u] != label[self.v]
        each = self.cost.reshape(len(self.cost), -1)[np.arange(len(own)), label]
        each[first_positions(self.offsets)] = 0.0
        return float(each.sum() + self.weights[differ].sum())

    def relax(self, tolerance: float = 1e-3, temperature: float = 1.0, rounds: int = 12, steps: int = 80) -> Relaxation:
        """Climb the dual until the gap is at most `tolerance`, or `rounds` temperatures of `steps` steps are done."""
        dual = np.zeros((len(self.u), self.cost.shape[1] ** 2))
        limit = np.broadcast_to(self.weights[:, None] / 2, dual.shape)
        best = self._look(self._marginals(dual, 1e-3)[1], dual, None, 0)
        taken = 0
        for _ in range(rounds if len(self.u) else 0):
            if best.gap <= tolerance and best.value - best.bound <= tolerance * max(1.0, abs(best.bound)):
                break
            dual, x, used = self._climb(dual, limit, temperature, steps)
            taken += used
            best = self._look(x, dual, best, taken)
            temperature /= 2
        if best.gap <= tolerance:
            return best
        alone = Chain(self._zeros, -self.cost, self.offsets).best()  # as good a start where ties mislead
        return min((self._polished(best, path) for path in (best.path, alone)), key=lambda each: each.rounded)

    def _climb(self, dual: Floats, limit: Floats, temperature: float, steps: int) -> tuple[Floats, Floats, int]:
        """Accelerated projected gradient ascent with a step size that is tried out; restarts where it falls."""
        step, momentum, ahead, last = temperature, 1.0, dual, -np.inf
        value, x = self._marginals(ahead, temperature)
        for done in range(steps):
            slope = x[self.u] - x[self.v]
            while True:
                new = np.clip(ahead + step * slope, -limit, limit)
                moved = new - ahead
                reached, x_new = self._marginals(new, temperature)
                promised = value + float((slope * moved).sum()) - float((moved**2).sum()) / (2 * step)
                if reached >= promised - 1e-10 * max(1.0, abs(reached)):
                    break
                step /= 2
            if reached - last <= 1e-7 * max(1.0, abs(reached)) and momentum > 1.0:
                if reached < last:  # too far: begin again from where it was good, without momentum
                    momentum, ahead = 1.0, dual
                    value, x = self._marginals(ahead, temperature)
                    continue
                return new, x_new, done + 1
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = np.clip(new + (momentum - 1) / following * (new - dual), -limit, limit)
            dual, momentum, last = new, following, reached
            value, x = self._marginals(ahead, temperature)
            step *= 1.3
        return dual, self._marginals(dual, temperature)[1], steps

    def _marginals(self, dual: Floats, temperature: float) -> tuple[float, Floats]:
        """-T log Z of all chains, and the marginals of parts `[position, pair of states]`."""
        costs = self._priced(dual)
        chain = Chain(self._zeros, -costs / temperature, self.offsets)
        log_z, parts = chain.log_partition_and_marginals()
        return -temperature * float(log_z.sum()), parts.edge.reshape(len(costs), -1)

    def _priced(self, dual: Floats) -> Floats:
        """Costs of parts, with what their ties ask."""
        costs = self.cost.reshape(len(self.cost), -1).copy()
        _charge(costs, self.u, self.v, dual)
        return costs.reshape(self.cost.shape)

    def _look(self, x: Floats, dual: Floats, before: Relaxation | None, taken: int) -> Relaxation:
        """The better of what was known and what marginals and dual say now."""
        chain = Chain(self._zeros, -self._priced(dual), self.offsets)
        bound = -float(chain.best_scores().sum())
        flat = np.where(np.isfinite(self.cost), self.cost, 0.0).reshape(len(self.cost), -1)
        value = float((flat * x).sum() + 0.5 * (self.weights[:, None] * np.abs(x[self.u] - x[self.v])).sum())
        # A path through what the marginals prefer, and the best path at the present prices.
        preferred = np.where(np.isfinite(self.cost), x.reshape(self.cost.shape), -np.inf)
        paths = [Chain(self._zeros, preferred, self.offsets).best(), chain.best()]
        rounded = [self.value(path) for path in paths]
        path, least = (paths[0], rounded[0]) if rounded[0] <= rounded[1] else (paths[1], rounded[1])
        if before is not None:
            if before.rounded < least:
                path, least = before.path, before.rounded
            if before.value < value:
                x, value = before.x.reshape(len(x), -1), before.value
            bound = max(bound, before.bound)
        return Relaxation(x.reshape(self.cost.shape), value, bound, path, least, taken)

    def _polished(self, found: Relaxation, start: NDArray[np.int32], sweeps: int = 10) -> Relaxation:
        """A path that no change of one chain makes cheaper: each in turn is best given the labels of the others."""
        path, value = start.copy(), self.value(start)
        states = self.cost.shape[1]
        ends, others = np.concatenate([self.u, self.v]), np.concatenate([self.v, self.u])
        order = np.argsort(ends, kind="stable")
        starts = np.searchsorted(ends[order], self.offsets)
        for _ in range(sweeps):
            changed = False
            for first, end, a, b in zip(*(each.tolist() for each in (
                self.offsets[:-1], self.offsets[1:], starts[:-1], starts[1:])), strict=True):  # fmt: skip
                if a == b:
                    continue
                own = order[a:b]
                costs = self.cost[first:end].copy()
                weights = self.weights[own % len(self.u)]
                # Disagreeing costs the weight: agreeing saves it.
                np.subtract.at(costs, (ends[own] - first, path[others[own] - 1], path[others[own]]), weights)
                new = path.copy()
                new[first:end] = Chain(np.zeros((end - first, states)), -costs, [0, end - first]).best()
                reached = self.value(new)
                if reached < value - 1e-12:
                    path, value, changed = new, reached, True
            if not changed:
                break
        return replace(found, path=path, rounded=value)


@kernel
def _charge(costs: Floats, u: Ints, v: Ints, dual: Floats) -> None:
    for tie in range(len(u)):
        for label in range(costs.shape[1]):
            costs[u[tie], label] += dual[tie, label]
            costs[v[tie], label] -= dual[tie, label]
