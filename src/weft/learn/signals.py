"""Supervision: every kind of it as  (value, target(r) - model(r) for every part r).

A signal is called with the structure of a batch and the batch. Its value is the batch's contribution to the objective,
which learners *maximize*; its parts are the gradient of that value with respect to the scores of parts:

    Gold            sum_s w_s [score(y_s) - log Z_s]                 1[r in y] - p(r)
    Partial         sum_s w_s [log Z_s(allowed) - log Z_s(space)]    p(r | allowed) - p(r | space)
    Likelihood      sum_s w_s log Z_s(allowed)                       p(r | allowed)
    Expectations    - distance(target, E[phi])                       sum_k slope_k cov(r, phi_k)
    SelfLabelled    sum_s w_s [score(best_s) - log Z_s]              1[r in best] - p(r), where confident
    Margin          - sum_s w_s max_y [score(y) + cost(y) - score(y_s)]    1[r in y_s] - 1[r in worst]
    Mixture         sum_m a_m value_m                                sum_m a_m parts_m
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.learn.cost import Cost, cost_parts


class Signal(Protocol):
    """Anything that turns a structure and its batch into a value and the parts of its gradient."""

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]: ...


@dataclass(frozen=True)
class Gold:
    """Conditional log-likelihood of the gold solutions.

    >>> Gold()
    Gold()
    """

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        gold = gold_of(batch, "Gold")
        log_z, marginals = structure.log_partition_and_marginals(batch.weight)
        value = float(batch.weight @ (structure.score(gold) - log_z))
        parts = structure.parts(gold, batch.weight)
        parts -= marginals
        return value, parts


@dataclass(frozen=True)
class Partial:
    """Log-probability of the allowed solutions among those of the search space.

    The batch carries the masks: `allowed`, and `space` where not every solution of the structure counts as possible.

    >>> Partial()
    Partial()
    """

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        allowed = getattr(batch, "allowed", None)
        if allowed is None:
            raise ConfigError("Partial needs masks: the batch has no `allowed`. Give one, or train with Gold().")
        space = getattr(batch, "space", None)
        if space is not None:
            structure = structure.restrict(space)
        log_inside, inside = structure.restrict(allowed).log_partition_and_marginals(batch.weight)
        log_z, marginals = structure.log_partition_and_marginals(batch.weight)
        inside -= marginals
        return float(batch.weight @ (log_inside - log_z)), inside


@dataclass(frozen=True)
class Likelihood:
    """Log-probability of what is observed under a structure whose scores are log-probabilities of all of it.

    Scores of a generative model sum to the probability of the words over all solutions; the batch's mask `allowed`,
    where it has one, says which of them are possible.

    >>> Likelihood()
    Likelihood()
    """

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        allowed = getattr(batch, "allowed", None)
        inside = structure if allowed is None else structure.restrict(allowed)
        log_z, marginals = inside.log_partition_and_marginals(batch.weight)
        return float(batch.weight @ log_z), marginals


class Constraints(Protocol):
    """Constraint features phi_k of a batch. `PartsConstraints` is the plain form; sparse ones may bring their own."""

    def expect(self, parts: Any) -> Floats:
        """Inner product of every phi_k with parts: with marginals, the expectations of the features."""
        ...

    def combine(self, coefficients: Floats) -> Any:
        """sum over k of coefficient_k * phi_k, as parts."""
        ...


@dataclass(frozen=True)
class PartsConstraints:
    """Constraint features given as one parts object each."""

    features: Sequence[Any]

    def expect(self, parts: Any) -> Floats:
        return np.array([feature.inner(parts) for feature in self.features], dtype=np.float64)

    def combine(self, coefficients: Floats) -> Any:
        total = self.features[0].scale(float(coefficients[0]))
        for feature, coefficient in zip(self.features[1:], coefficients[1:], strict=True):
            total += feature.scale(float(coefficient))
        return total


@dataclass(frozen=True)
class Expectations:
    """Generalized expectation: pull the model's expectations E_k = sum_s w_s E[phi_k] to targets t_k.

    `squared`: - strength * sum_k (t_k - E_k)^2 / 2;  `kl`: - strength * sum_k [t_k log(t_k / E_k) - t_k + E_k], the
    Kullback-Leibler divergence where the features of a group sum to a constant. The batch carries `constraints`.
    Called on one batch, expectations are those of the batch; `Objective` sums them over all batches first.

    >>> signal = Expectations([1.0, 3.0], distance="kl")
    >>> round(signal.value(np.array([2.0, 2.0])), 4)
    -0.5232
    >>> signal.slopes(np.array([2.0, 2.0]))
    array([-0.5,  0.5])
    """

    targets: Any
    distance: str = "squared"
    strength: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", np.asarray(self.targets, dtype=np.float64))
        if self.distance not in ("squared", "kl"):
            raise ConfigError(f"Expectations knows the distances 'squared' and 'kl', not {self.distance!r}.")
        if self.distance == "kl" and (self.targets < 0).any():
            raise ConfigError("Expectations with distance 'kl' needs targets >= 0; use 'squared' for signed ones.")

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        total = self.measure(structure, batch)
        return self.value(total), self.pull(structure, batch, total)

    def measure(self, structure: Any, batch: Any) -> Floats:
        """The batch's share of the expectations."""
        constraints = getattr(batch, "constraints", None)
        if constraints is None:
            raise ConfigError("Expectations needs constraint features: the batch has no `constraints`.")
        found = constraints.expect(structure.marginals(batch.weight))
        if len(found) != len(self.targets):
            raise ConfigError(f"Expectations has {len(self.targets)} targets, the batch {len(found)} constraints.")
        return found

    def value(self, total: Floats) -> float:
        """Minus the distance between targets and expectations."""
        if self.distance == "squared":
            return -0.5 * self.strength * float(np.sum((self.targets - total) ** 2))
        ratio = np.where(self.targets > 0, self.targets, 1.0) / np.maximum(total, 1e-300)
        divergence = np.where(self.targets > 0, self.targets * np.log(ratio), 0.0) - self.targets + total
        return -self.strength * float(divergence.sum())

    def slopes(self, total: Floats) -> Floats:
        """Derivative of the value with respect to every expectation."""
        if self.distance == "squared":
            return self.strength * (self.targets - total)
        return self.strength * (self.targets / np.maximum(total, 1e-300) - 1.0)

    def pull(self, structure: Any, batch: Any, total: Floats) -> Any:
        """The batch's parts, given the expectations of all batches."""
        return structure.covariance(batch.constraints.combine(self.slopes(total)), batch.weight)


@dataclass(frozen=True)
class SelfLabelled:
    """Likelihood of the model's own best solutions where their probability reaches a threshold.

    Labels and confidences are taken as given: nothing is differentiated through them. `by_confidence` weights every
    sentence by the probability of its solution, too.

    >>> SelfLabelled(threshold=0.9)
    SelfLabelled(threshold=0.9, by_confidence=False)
    """

    threshold: float = 0.0
    by_confidence: bool = False

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        labels = structure.best()
        gain = structure.score(labels) - structure.log_partition()
        confidence = np.exp(gain)
        weight = batch.weight * (confidence >= self.threshold)
        if self.by_confidence:
            weight = weight * confidence
        parts = structure.parts(labels, weight)
        parts -= structure.marginals(weight)
        return float(weight @ gain), parts


@dataclass(frozen=True)
class Margin:
    """Cost-augmented hinge: gold must beat every solution by its cost, a number per wrong decision or a `Cost`; the
    parts are a subgradient.

    >>> Margin(cost=2.0)
    Margin(cost=2.0)
    """

    cost: float | Cost = 1.0

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        gold = gold_of(batch, "Margin")
        augmented = structure.augment(cost_parts(self.cost, structure, gold)) if self.cost else structure
        worst = augmented.best()
        violation = np.maximum(augmented.score(worst) - structure.score(gold), 0.0)
        parts = structure.parts(gold, batch.weight)
        parts -= structure.parts(worst, batch.weight)
        return -float(batch.weight @ violation), parts


@dataclass(frozen=True)
class Mixture:
    """Convex combination of signals.

    >>> Mixture([(0.75, Gold()), (0.25, Margin())]).shares
    (0.75, 0.25)
    >>> Mixture([(0.75, Gold()), (0.75, Margin())])
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: Mixture needs shares >= 0 that sum to 1, got (0.75, 0.75).
    """

    signals: Sequence[tuple[float, Signal]]

    def __post_init__(self) -> None:
        if not self.signals or min(self.shares) < 0 or abs(sum(self.shares) - 1.0) > 1e-9:
            raise ConfigError(f"Mixture needs shares >= 0 that sum to 1, got {self.shares}.")

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(share for share, _ in self.signals)

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        value, parts = 0.0, None
        for share, signal in self.signals:
            part_value, found = signal(structure, batch)
            value += share * part_value
            found = found.scale(share)
            parts = found if parts is None else parts + found
        return value, parts


def gold_of(batch: Any, who: str) -> Any:
    """The batch's gold solution; an error where it has none."""
    if batch.gold is None:
        raise ConfigError(
            f"{who} needs gold solutions: the batch has none. Train on annotated data, or with Partial()."
        )
    return batch.gold
