"""Margin-infused relaxed algorithm on the k best solutions (Crammer and Singer 2003; McDonald et al. 2005).

    w <- argmin ||w' - w||^2 / 2 + C * sum_j slack_j
         with  w' . [F(gold) - F(y_j)] >= loss(gold, y_j) - slack_j   for the k best y_j under w

Loss is the number of wrong decisions times the cost of one, or what a `Cost` says; `weft.learn.online.demands` has
other losses and constraints. The dual has one number 0 <= alpha_j <= C a constraint and is solved by Hildreth's
algorithm, coordinate by coordinate; C = infinity is the hard margin. With several rounds the sentence is asked again
under the new weights, and the step made anew for all constraints together, until it has nothing more to ask. The
weights returned are averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.cost import Cost, check_cost
from weft.learn.online.averaging import AveragedRun
from weft.learn.online.demands import BeatGold, Demands
from weft.learn.online.loop import OnlineLearner
from weft.learn.protocol import Indices

#: Constraints that are missed by less count as met.
_MET = 1e-9


@dataclass(frozen=True)
class MIRA(OnlineLearner):
    """Options: epochs, number of solutions k, cap C on the step, cost of wrong decisions, averaging, order.

    A sentence's weight multiplies its cap; with the hard margin it only says whether the sentence counts.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=1, labels=2)
    >>> MIRA(k=2, epochs=1, average=False).fit(model, [model.batch([[1.0]], gold=[0])]).weights
    array([ 0.5, -0.5])
    """

    k: int = 5
    cap: float = math.inf
    cost: float | Cost = 1.0
    average: bool = True
    demands: Demands | None = None  # None: gold ahead of the k best by their cost
    rounds: int = 1  # times that a sentence is asked for constraints, its weights moved in between

    def begin(self, model: Any, batches: Sequence[Any], start: Floats | None) -> MIRARun:
        """A run of MIRA; the loss of an epoch counts wrong decisions of best solutions."""
        if self.k < 0 or self.cap <= 0 or self.rounds < 1:
            raise ConfigError(
                f"MIRA needs k >= 1, cap > 0 and rounds >= 1, got {self.k}, {self.cap} and {self.rounds}."
            )
        check_cost(self.cost, "MIRA")
        return MIRARun(self, model, start)


class MIRARun(AveragedRun):
    """A run of MIRA."""

    def __init__(self, options: MIRA, model: Any, start: Floats | None) -> None:
        super().__init__(model.size, start, options.average)
        self.model, self.k, self.cap, self.rounds = model, options.k, options.cap, options.rounds
        self.demands = options.demands if options.demands is not None else BeatGold(options.cost)

    def visit(self, group: list[Any]) -> float:
        (batch,) = group
        if len(batch) != 1:
            raise ConfigError(f"MIRA learns from one sentence at a time, got a batch of {len(batch)}; cut the batches.")
        demand = self.demands(self.model.score(batch, self.weights), batch, self.k)
        loss, weight = demand.loss, float(batch.weight[0])
        step = _Step(self.weights, self.late, float(self.updates), self.cap * weight)
        for round_ in range(self.rounds):
            if round_ > 0:
                demand = self.demands(self.model.score(batch, self.weights), batch, self.k)
            if weight <= 0 or max(demand.missing, default=0.0) <= _MET:
                break
            if not step.project(_sparse_each(self.model, batch, demand.parts), np.array(demand.missing)):
                break
        self.updates += 1
        return loss


class _Step:
    """The smallest change of the weights that meets the constraints that were asked for so far."""

    def __init__(self, weights: Floats, late: Floats, time: float, cap: float) -> None:
        self.weights, self.late, self.time, self.cap = weights, late, time, cap
        self.changes: list[tuple[Indices, Floats]] = []
        self.missing, self.alpha, self.products = np.zeros(0), np.zeros(0), np.zeros((0, 0))

    def project(self, changes: list[tuple[Indices, Floats]], missing: Floats) -> bool:
        """Move the weights for further constraints, which the current weights miss by `missing`; False if none is new.

        Weights may still miss what was asked for before, where the cap or other constraints are in the way.
        """
        old, before = len(self.alpha), self.alpha
        every = [*self.changes, *changes]
        products = inner_products(*_stacked(every), self.products)
        sizes = np.diag(products)
        distance = sizes[old:, None] + sizes[None, :old] - 2.0 * products[old:, :old]
        new = old + np.flatnonzero(np.all(distance > _MET, axis=1))
        if not len(new):
            return False
        kept = np.concatenate([np.arange(old), new])
        self.changes, self.products = [every[i] for i in kept], products[np.ix_(kept, kept)]
        # All steps start from the weights as they were at first, so that the steps made since are taken back.
        self.missing = np.concatenate([self.missing, missing[new - old] + self.products[old:, :old] @ before])
        self.alpha = hildreth(self.products, self.missing, self.cap)
        moves = self.alpha.copy()
        moves[:old] -= before
        _move(self.weights, self.late, self.time, *_stacked(self.changes), moves)
        return True


def _stacked(changes: list[tuple[Indices, Floats]]) -> tuple[Indices, Indices, Floats]:
    """Sparse vectors one after the other: where they end, their indices and values."""
    ends = np.cumsum([0] + [len(indices) for indices, _ in changes])
    return ends, np.concatenate([indices for indices, _ in changes]), np.concatenate([values for _, values in changes])


def _sparse_each(model: Any, batch: Any, parts: list[Any]) -> list[tuple[Indices, Floats]]:
    """The features of several parts; some models share work between them."""
    if hasattr(model, "sparse_each"):
        found: list[tuple[Indices, Floats]] = model.sparse_each(batch, parts)
        return found
    return [model.sparse(batch, each) for each in parts]


def hildreth(products: Floats, missing: Floats, cap: float = math.inf, rounds: int = 1000) -> Floats:
    """The alpha >= 0 (and <= cap) that minimize  alpha' products alpha / 2 - missing' alpha,  by cyclic projection.

    >>> hildreth(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, -1.0]))
    array([0.5, 0. ])
    >>> hildreth(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 8.0]), cap=1.0)
    array([0.5, 1. ])
    """
    return _hildreth(np.ascontiguousarray(products), np.ascontiguousarray(missing), cap, rounds, 1e-10)


def inner_products(ends: Indices, indices: Indices, values: Floats, known: Floats | None = None) -> Floats:
    """Table of inner products of sparse vectors, each with sorted indices, stored one after the other.

    `known` is the table of the first of them, where it is at hand.

    >>> inner_products(np.array([0, 2, 3]), np.array([1, 4, 4]), np.array([1.0, 2.0, 3.0]))
    array([[5., 6.], [6., 9.]])
    """
    table = np.zeros((len(ends) - 1, len(ends) - 1))
    done = 0 if known is None else len(known)
    if known is not None:
        table[:done, :done] = known
    _inner_products(ends, indices, values, done, table)
    return table


@kernel
def _hildreth(products: Floats, missing: Floats, cap: float, rounds: int, tolerance: float) -> Floats:
    alpha = np.zeros(missing.shape[0])
    gap = missing.copy()
    for _ in range(rounds):
        largest = 0.0
        for j in range(alpha.shape[0]):
            if products[j, j] <= 0.0:
                continue
            new = min(max(alpha[j] + gap[j] / products[j, j], 0.0), cap)
            step = new - alpha[j]
            if step != 0.0:
                alpha[j] = new
                for i in range(gap.shape[0]):
                    gap[i] -= step * products[i, j]
                largest = max(largest, abs(step) * products[j, j])
        if largest <= tolerance:
            break
    return alpha


@kernel
def _inner_products(ends: Indices, indices: Indices, values: Floats, done: int, out: Floats) -> None:
    for a in range(done, ends.shape[0] - 1):
        for b in range(a + 1):
            i, j, total = ends[a], ends[b], 0.0
            while i < ends[a + 1] and j < ends[b + 1]:
                one, other = indices[i], indices[j]
                if one == other:
                    total += values[i] * values[j]
                i += one <= other
                j += other <= one
            out[a, b] = total
            out[b, a] = total


@kernel
def _move(
    weights: Floats, late: Floats, time: float, ends: Indices, indices: Indices, values: Floats, steps: Floats
) -> None:
    for j in range(steps.shape[0]):
        if steps[j] == 0.0:
            continue
        for place in range(ends[j], ends[j + 1]):
            change = steps[j] * values[place]
            weights[indices[place]] += change
            if late.shape[0] > 0:
                late[indices[place]] += time * change
