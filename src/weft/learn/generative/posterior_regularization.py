"""Posterior regularization: the nearest distribution to a posterior whose expectations are sparse by groups.

    min over q of   KL(q || p)  +  sigma * sum over groups g of  max over i in g of  E_q[phi_i]

(Ganchev et al. 2010). p is the posterior of a model over the hidden structures of all data, phi_i >= 0 are features of
them. The maxima in a sum (the norm l1/linf) stand for the number of groups in use: what is used once may as well be
used everywhere. The dual is smooth, with a multiplier a feature:

    max over lambda of  D(lambda) = - log of the sum over Y of p(Y) exp(-lambda . phi(Y))
    subject to          lambda >= 0,   sum of lambda over each group  <=  sigma

Its solution gives  q(Y) ~ p(Y) exp(-lambda . phi(Y)), a model of the same structure with other scores, and its gradient
is E_q[phi]. It is climbed by projected gradients (`weft.learn.batch.simplex`): the first step tried is that of Barzilai
and Borwein, halved until Armijo's condition holds. At any lambda

    KL(q || p) = D(lambda) - lambda . E_q[phi],      gap = sigma * sum of maxima - lambda . E_q[phi]  >=  0

is how far q can be from the best, in the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.learn.batch.simplex import Groups

#: For multipliers: log Z of the scores less multipliers times features, expectations of features, and whatever else the
#: caller needs of q, such as expected counts.
Expect = Callable[[Floats], tuple[float, Floats, Any]]

_SUFFICIENT = 1e-4  # of the rise that the gradient promises
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Projection:
    """What was found: multipliers, expectations and statistics of q, and what the projection costs.

    `cost` is KL(q || p) + sigma times the sum of maxima; `gap` says how much smaller it could be at most.
    """

    multipliers: Floats
    expectations: Floats
    statistics: Any
    divergence: float
    penalty: float
    gap: float
    evaluations: int

    @property
    def cost(self) -> float:
        return self.divergence + self.penalty


def project_posterior(
    expect: Expect,
    groups: Groups,
    strength: float,
    *,
    log_partition: float | None = None,
    start: Floats | None = None,
    max_steps: int = 10,
    tolerance: float = 1e-3,
    enough: Callable[[Projection], bool] | None = None,
    patience: int = 50,
) -> Projection:
    """Climb the dual from `start` until the gap is below `tolerance` (of the cost, or of 1 where that is smaller).

    At most `max_steps` steps are taken; with `enough` as many as it takes to satisfy that as well, up to `patience`.
    `log_partition` is log Z without multipliers, if it is known; of `strength` 0 nothing is projected.

    A die with a group for its low and one for its high sides; it would rather not show both:

    >>> sides = np.log([0.4, 0.2, 0.2, 0.1, 0.06, 0.04])
    >>> def expect(multipliers):
    ...     score = sides - multipliers
    ...     log_z = np.logaddexp.reduce(score)
    ...     return log_z, np.exp(score - log_z), None
    >>> found = project_posterior(expect, Groups.of([0, 0, 0, 1, 1, 1]), 1.0, max_steps=200, tolerance=1e-9)
    >>> found.expectations.round(3).tolist()
    [0.267, 0.267, 0.267, 0.07, 0.07, 0.059]
    >>> found.gap < 1e-6
    True
    """
    if not strength >= 0:
        raise ConfigError(f"strength={strength}: the weight of a penalty is not negative")
    n = int(groups.offsets[-1])
    zero = np.zeros(n)
    if start is not None and start.shape != zero.shape:
        raise ConfigError(f"the multipliers to start from are for {start.size:,} features, but there are {n:,}")
    state = _State(expect, groups, strength)
    if log_partition is None:
        log_partition = state.at(zero)[0]
    at = groups.project(zero if start is None else start, strength)
    log_z, gradient, statistics = state.at(at)
    found = state.projection(at, log_partition, log_z, gradient, statistics)
    step = 1.0
    for taken in range(max(max_steps, patience if enough is not None else 0)):
        exact = found.gap <= tolerance * max(1.0, abs(found.cost))
        if strength == 0 or ((exact or taken >= max_steps) and (enough is None or enough(found))):
            break
        for _ in range(_HALVINGS):
            new = groups.project(at + step * gradient, strength)
            move = new - at
            promised = float(gradient @ move)
            new_log_z, new_gradient, new_statistics = state.at(new)
            if log_z - new_log_z >= _SUFFICIENT * promised or promised <= 0:
                break
            step /= 2
        else:
            break  # rounding hides what is left to gain
        if promised <= 0:
            break
        # The dual is concave: along the move the gradient falls, by as much as tells a good next step.
        bend = float(move @ (gradient - new_gradient))
        step = min(max(float(move @ move) / bend, 1e-6), 1e6) if bend > 0 else 2 * step
        at, log_z, gradient, statistics = new, new_log_z, new_gradient, new_statistics
        found = state.projection(at, log_partition, log_z, gradient, statistics)
    return found


class _State:
    """Evaluations of the dual, counted."""

    def __init__(self, expect: Expect, groups: Groups, strength: float) -> None:
        self.expect, self.groups, self.strength, self.evaluations = expect, groups, strength, 0

    def at(self, multipliers: Floats) -> tuple[float, Floats, Any]:
        self.evaluations += 1
        return self.expect(multipliers)

    def projection(
        self, multipliers: Floats, log_partition: float, log_z: float, expectations: Floats, statistics: Any
    ) -> Projection:
        inner = float(multipliers @ expectations)
        penalty = self.strength * float(self.groups.maxima(expectations).sum())
        divergence = log_partition - log_z - inner
        return Projection(multipliers, expectations, statistics, divergence, penalty, penalty - inner, self.evaluations)
