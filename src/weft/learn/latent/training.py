"""Bootstrapping with hidden derivations: lists are parsed anew with the current weights in every pass.

    for every pass, for every example x in random order
        candidates of x  <-  k best derivations under w
        if one of them has the right answer:   w <- w + AdaGrad step along the pull of the loss

An example without a right candidate is skipped; it may enter once others have taught the model. Short examples are
solved first and seed the rest. The weights returned are the mean of those after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.deadline import check
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.latent.losses import ListLoss, SoftmaxMargin
from weft.progress import track


class Candidates(Protocol):
    """Candidate answers of one example: their scores, which are right, and where their features lie."""

    scores: Floats
    right: Bools

    def scatter(self, pull: Floats, gradient: Floats) -> Ints:
        """Add the features of every candidate, times its pull, to a gradient; returns the places touched."""
        ...


class LatentModel(Protocol):
    """A model with one vector of weights that lists candidates of an example."""

    weights: Floats

    def candidates(self, example: int, k: int) -> Candidates: ...


@dataclass
class Curve:
    """What every pass reached: the share of examples with a right candidate, of right best ones, and the mean loss."""

    reached: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class LatentTraining:
    """Options: loss, passes, size of lists, rate of AdaGrad, l2 pull towards zero per step, averaging, seed."""

    loss: ListLoss = field(default_factory=SoftmaxMargin)
    passes: int = 15
    k: int = 200
    rate: float = 0.3
    l2: float = 0.0
    average: bool = True
    seed: int = 0

    def fit(
        self, model: LatentModel, examples: Sequence[int], after_pass: Callable[[int], None] | None = None
    ) -> Curve:
        """Train the weights of a model in place; `after_pass` is called with the number of each pass."""
        if self.passes < 1 or self.rate <= 0:
            raise ConfigError(f"training needs passes and a rate above 0, got {self.passes} and {self.rate}")
        generator = np.random.default_rng(self.seed)
        size = len(model.weights)
        squares, gradient, late = np.full(size, 1e-6), np.zeros(size), np.zeros(size)
        curve, steps = Curve(), 0
        for number in track(range(self.passes), "training", self.passes, "passes"):
            reached = right = 0
            total = 0.0
            order = generator.permutation(np.asarray(examples, dtype=np.int64)).tolist()
            for example in order:
                check()
                found = model.candidates(example, self.k)
                if not len(found.scores):
                    continue
                right += bool(found.right[int(np.argmax(found.scores))])
                if not found.right.any():
                    continue
                reached += 1
                value, pull = self.loss(found.scores, found.right)
                total += value
                if not pull.any():
                    continue
                steps += 1
                touched = found.scatter(pull, gradient)
                _step(touched, gradient, model.weights, squares, late, self.rate, self.l2, float(steps))
            count = max(len(order), 1)
            curve.reached.append(reached / count)
            curve.right.append(right / count)
            curve.loss.append(total / max(reached, 1))
            if after_pass is not None:
                after_pass(number)
        if self.average and steps:
            model.weights -= late / (steps + 1)
        return curve


@kernel
def _step(
    touched: Ints, gradient: Floats, weights: Floats, squares: Floats, late: Floats, rate: float, l2: float,
    steps: float,
) -> None:  # fmt: skip
    for i in touched:
        g = gradient[i]
        if g != 0.0:
            g -= l2 * weights[i]
            squares[i] += g * g
            change = rate * g / np.sqrt(squares[i])
            weights[i] += change
            late[i] += steps * change
            gradient[i] = 0.0
