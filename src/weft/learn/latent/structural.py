"""Latent structural SVMs (Yu and Joachims 2009): answers with a part that no data show.

    1/n sum_i [ max over (y, h) of (w . F(x_i, y, h) + cost(y, y_i))  -  max over h of w . F(x_i, y_i, h) ]
    + penalty * |w|_1      is minimized over w

The first maximum is convex in w, minus the second is concave. The concave-convex procedure fixes the hidden parts of
the gold answers, solves the convex rest, and repeats. With `inner` passes between two completions that is what happens
here; with `inner = 0` hidden parts are completed anew at every example, as in Qu et al. (2014). The convex rest is
minimized online (`weft.learn.latent.fobos`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from weft.arrays import Floats, Ints
from weft.deadline import check
from weft.errors import ConfigError
from weft.learn.latent.fobos import Fobos
from weft.progress import track


class Answer(NamedTuple):
    """A complete answer: its features as places of weights with counts, and what its value has besides w . F."""

    places: Ints
    counts: Floats
    extra: float = 0.0  # costs of wrong parts, penalties without weights

    def value(self, weights: Floats) -> float:
        return float(weights[self.places] @ self.counts) + self.extra


class LatentStructure(Protocol):
    """Examples whose answers have a hidden part, scored by one vector of weights."""

    size: int

    def __len__(self) -> int: ...

    def places(self, example: int) -> Ints:
        """The weights that an example may read."""
        ...

    def complete(self, example: int, weights: Floats) -> Answer | None:
        """The best hidden part of the gold answer; None if the gold answer has none."""
        ...

    def augment(self, example: int, weights: Floats) -> Answer:
        """The best answer with the cost of what is wrong in it."""
        ...


@dataclass
class Passes:
    """What every pass reached: the mean hinge, the objective, the number of weights, the score on dev data."""

    hinge: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    nonzero: list[int] = field(default_factory=list)
    dev: list[float] = field(default_factory=list)
    least_margin: float = 0.0  # the lowest hinge of any example; below 0 only if a maximum was not one
    skipped: int = 0


@dataclass(frozen=True)
class LatentSVM:
    """Options: penalty, rate of the first step, passes, passes between completions, seed.

    With `average`, the weights are the mean of those after every pass. `patience` passes without a better score on dev
    data end training, and the best weights are kept.
    """

    penalty: float = 1e-4
    rate: float = 0.1
    passes: int = 10
    inner: int = 0
    patience: int = 0
    average: bool = False
    seed: int = 0

    def check(self) -> None:
        if self.passes < 1 or self.rate <= 0 or self.penalty < 0 or self.inner < 0:
            raise ConfigError(
                "passes must be at least 1, the rate above 0, the penalty and inner at least 0; got "
                f"{self.passes}, {self.rate}, {self.penalty} and {self.inner}"
            )

    def fit(self, structure: LatentStructure, score: Callable[[Floats], float] | None = None) -> tuple[Floats, Passes]:
        """Train from zero; returns the weights and the course of training. `score` judges weights on dev data."""
        self.check()
        learner = Fobos(structure.size, self.rate, self.penalty)
        draw = np.random.default_rng(self.seed)
        course, kept, best = Passes(), np.zeros(structure.size), -np.inf
        completed: dict[int, Answer | None] = {}
        total = np.zeros(structure.size)
        for number in track(range(self.passes), "training", self.passes, "passes"):
            if not self.inner or number % self.inner == 0:
                completed.clear()
            hinges, skipped = 0.0, 0
            for example in draw.permutation(len(structure)).tolist():
                check()
                weights = learner.settle(structure.places(example))
                if not self.inner or example not in completed:
                    completed[example] = structure.complete(example, weights)
                gold = completed[example]
                if gold is None:
                    skipped += 1
                    continue
                worst = structure.augment(example, weights)
                hinge = worst.value(weights) - gold.value(weights)
                course.least_margin = min(course.least_margin, hinge)
                hinges += hinge
                places, counts = difference(worst, gold)
                learner.step(places, counts)  # without a gradient too: it shrinks the weights
            weights = learner.weights()
            known = max(1, len(structure) - skipped)
            course.hinge.append(hinges / known)
            course.objective.append(hinges / known + self.penalty * float(np.abs(weights).sum()))
            course.nonzero.append(int(np.count_nonzero(weights)))
            course.skipped = skipped
            total += weights
            given = total / (number + 1) if self.average else weights
            if score is None:
                kept = given
                continue
            course.dev.append(score(given))
            if course.dev[-1] > best:
                best, kept = course.dev[-1], given
            elif self.patience and number - int(np.argmax(course.dev)) >= self.patience:
                break
        return kept, course


def difference(one: Answer, other: Answer) -> tuple[Ints, Floats]:
    """The features of one answer minus those of another, without those that cancel out.

    >>> one = Answer(np.array([4, 7]), np.array([1.0, 2.0]))
    >>> difference(one, Answer(np.array([7, 9]), np.array([2.0, 1.0])))
    (array([4, 9]), array([ 1., -1.]))
    """
    places = np.concatenate([one.places, other.places])
    found, back = np.unique(places, return_inverse=True)
    counts = np.bincount(back, np.concatenate([one.counts, -other.counts]), minlength=len(found))
    kept = counts != 0
    return found[kept], counts[kept]
