"""Stochastic gradient with L2 and L1 penalties that cost nothing for weights that a sentence does not use.

With n updates an epoch, update t with rate r_t does, in effect, for every weight

    w <- (1 - r_t * l2 / n) * w + r_t * gradient_t(w),      then moves it towards zero by r_t * l1 / n, at most to zero

L2 is a common factor: the learner stores v with  w = D * v,  D = prod (1 - r_t l2 / n). L1 is the cumulative penalty of
Tsuruoka et al. (2009), in units of v: u is what every weight should have paid so far, q what it has paid. Both are
brought up to date for the weights a batch reads (`model.active`), just before it is scored, so that the result is that
of the dense updates. Rates: 1 / (r_0^-1 + l2 t / n) with a prior (Bottou), else r_0 * 0.85^(t / n); r_0 is chosen on a
sample. The mean of all w_t = D_t v_t, where wanted, needs one accumulator: with A_t = sum of D up to t, add A_(t-1)
times the change of v to it; mean = (A v - accumulator) / t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.online.loop import OnlineLearner
from weft.learn.protocol import Indices
from weft.learn.signals import Gold
from weft.learn.training import Arrays

DECAY = 0.85  # of the rate, per epoch, where no prior shrinks it


@dataclass(frozen=True)
class SGD(OnlineLearner):
    """Options. l2 and l1 are those of the whole objective:  - sum value + l2 ||w||^2 / 2 + l1 ||w||_1.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=2, labels=2)
    >>> batches = [model.batch([row], gold=[label]) for row, label in [([1.0, 0.0], 0), ([0.0, 1.0], 1)]]
    >>> result = SGD(l2=1.0, epochs=200).fit(model, batches)
    >>> result.weights.round(2)
    array([ 0.34, -0.34, -0.34,  0.34])
    """

    epochs: int = 20
    l2: float = 0.0
    l1: float = 0.0
    rate: float | None = None
    signal: Any = field(default_factory=Gold)
    average: bool = False
    sample: int = 1000

    def begin(self, model: Any, batches: Sequence[Any], start: Floats | None) -> SGDRun:
        """A run of the descent; the loss of an epoch is minus the sum of the signal's values, without penalties."""
        if self.l2 < 0 or self.l1 < 0:
            raise ConfigError(f"SGD needs l2 and l1 >= 0, got {self.l2} and {self.l1}.")
        if self.l1 and self.average:
            raise ConfigError("SGD cannot average under L1: the mean would not be sparse. Set average=False or l1=0.")
        if self.rate is not None and self.rate <= 0:
            raise ConfigError(f"SGD needs a rate above 0, got {self.rate}.")
        updates = -(-len(batches) // self.group)
        rate = self.rate if self.rate is not None else self.calibrate(model, batches, start)
        return SGDRun(self, model, start, rate, updates)

    def calibrate(self, model: Any, batches: Sequence[Any], start: Floats | None = None) -> float:
        """The initial rate: the power of two that gains most in one pass over a sample."""
        generator = np.random.default_rng(self.seed)
        chosen = generator.permutation(len(batches))[: self.sample].tolist()
        updates = -(-len(batches) // self.group)

        def loss_after(rate: float) -> float:
            run = SGDRun(self, model, start, rate, updates)
            for i in chosen:
                run.visit([batches[i]])
            weights = run.weights_now()
            fit = sum(self.signal(model.score(batches[i], weights), batches[i])[0] for i in chosen)
            share = len(chosen) / len(batches)
            penalty = 0.5 * self.l2 * float(weights @ weights) + self.l1 * float(np.abs(weights).sum())
            loss = -float(fit) + share * penalty
            return loss if np.isfinite(loss) else np.inf

        first = rate = 0.125
        best = loss_after(rate)
        for factor in (2.0, 0.5):
            while 2.0**-20 < rate < 2.0**20 and (loss := loss_after(rate * factor)) < best:
                rate, best = rate * factor, loss
            if rate != first:
                break
        return rate


class SGDRun:
    """A run of stochastic gradient descent."""

    def __init__(self, options: SGD, model: Any, start: Floats | None, rate: float, updates: int) -> None:
        self.model, self.signal, self.average = model, options.signal, options.average
        self.l2, self.l1 = options.l2 / updates, options.l1 / updates
        self.rate, self.epoch = rate, updates
        self.weights = np.zeros(model.size) if start is None else np.array(start, dtype=np.float64)
        self.delayed = self.l1 > 0 or self.l2 > 0
        self.raw = self.weights.copy() if self.delayed else self.weights
        self.paid = np.zeros(model.size if self.l1 > 0 else 0)
        self.late = np.zeros(model.size if self.average else 0)
        self.factor, self.due, self.factors, self.updates = 1.0, 0.0, 0.0, 0

    def visit(self, group: list[Any]) -> float:
        rate = self._rate()
        changes, value = [], 0.0
        for batch in group:
            if self.delayed:
                _settle_some(self.model.active(batch), self.raw, self.weights, self.paid, self.due, self.factor)
            own, parts = self.signal(self.model.score(batch, self.weights), batch)
            value += own
            changes.append((batch, parts))
        # A first rate far too large must not turn the decay into a flip of signs.
        self.factor *= max(1.0 - rate * self.l2, 1e-3)
        for batch, parts in changes:
            parts = parts.scale(rate / self.factor)
            self.model.scatter(batch, parts, self.raw)
            if self.average and self.factors:
                self.model.scatter(batch, parts.scale(self.factors), self.late)
        self.due += rate * self.l1 / self.factor
        self.factors += self.factor
        self.updates += 1
        if self.factor < 1e-9:
            self._rescale()
        return -value

    def _rate(self) -> float:
        if self.l2 > 0:
            return 1.0 / (1.0 / self.rate + self.l2 * self.updates)
        return self.rate * DECAY ** (self.updates / self.epoch)

    def _rescale(self) -> None:
        """Put the common factor into the stored weights before it underflows."""
        self.raw *= self.factor
        self.paid *= self.factor
        self.due *= self.factor
        self.factors /= self.factor
        self.factor = 1.0

    def weights_now(self) -> Floats:
        if self.delayed:
            _settle_all(self.raw, self.weights, self.paid, self.due, self.factor)
        if not self.average or not self.updates:
            return self.weights
        return (self.factors * self.raw - self.late) / self.updates

    def finished(self, loss: float) -> str:
        return ""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {"weights": self.weights, "raw": self.raw, "paid": self.paid, "late": self.late}
        return arrays, {name: getattr(self, name) for name in ("rate", "factor", "due", "factors", "updates")}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        for name in ("weights", "raw", "paid", "late"):
            getattr(self, name)[:] = arrays[name]
        for name, value in values.items():
            setattr(self, name, value)


@kernel
def _settle(i: int, raw: Floats, weights: Floats, paid: Floats, due: float, factor: float) -> None:
    """Let weight i pay the L1 it owes, and give it its value."""
    if paid.shape[0] > 0 and raw[i] != 0.0:
        before = raw[i]
        if before > 0.0:
            raw[i] = max(0.0, before - (due + paid[i]))
        else:
            raw[i] = min(0.0, before + (due - paid[i]))
        paid[i] += raw[i] - before
    weights[i] = factor * raw[i]


@kernel
def _settle_some(indices: Indices, raw: Floats, weights: Floats, paid: Floats, due: float, factor: float) -> None:
    for i in indices:
        _settle(i, raw, weights, paid, due, factor)


@kernel
def _settle_all(raw: Floats, weights: Floats, paid: Floats, due: float, factor: float) -> None:
    for i in range(raw.shape[0]):
        _settle(i, raw, weights, paid, due, factor)
