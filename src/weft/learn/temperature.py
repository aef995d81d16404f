"""Calibrated probabilities from uncalibrated scores: one temperature for all of them.

    p_T(y) = exp(score(y) / T) / Z_T,     T = argmin of  - sum over held-out decisions i of log p_T(gold_i)

Dividing scores by T changes no decision and no ranking. Learners that maximize likelihood end near T = 1; perceptron,
MIRA and max-margin learners have scores of any scale, and T is what their scale is worth on data they did not see.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.errors import ConfigError

#: Temperatures looked at, and how exactly the best is found, as a factor.
COLDEST, HOTTEST, EXACT = 1e-3, 1e4, 1.01
_GOLDEN = (np.sqrt(5) - 1) / 2


def fit_temperature(loss: Callable[[float], float], coldest: float = COLDEST, hottest: float = HOTTEST) -> float:
    """The temperature that minimizes a unimodal loss, by golden-section search over its logarithm.

    >>> round(fit_temperature(lambda t: (t - 3.0) ** 2), 1)
    3.0
    """
    if not 0 < coldest < hottest:
        raise ConfigError(f"temperatures are above 0, the hottest above the coldest; got {coldest} and {hottest}")
    low, high = float(np.log(coldest)), float(np.log(hottest))
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(float(np.exp(left))), loss(float(np.exp(right)))
    while high - low > np.log(EXACT):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(float(np.exp(left)))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(float(np.exp(right)))
    return float(np.exp((low + high) / 2))


def loss_of_marginals(probabilities: np.ndarray) -> float:
    """The mean of -log p over the probabilities of gold decisions; impossible decisions have a large but finite cost.

    >>> round(loss_of_marginals(np.array([0.5, 0.25])), 4)
    1.0397
    """
    return float(-np.log(np.maximum(probabilities, 1e-12)).mean())
