"""Which of several predictors to follow on a day, decided by what they earned before.

*Best of the recent days*: follow the predictor with the highest earnings over the last `window` days; if several have
the highest, forecast only what all of them say, else abstain. *Weighted majority* (Littlestone and Warmuth 1989): every
predictor has a weight, which is multiplied by `beta` for each mistake; forecast the direction with more weight.

Forecasts are arrays [predictors, days]; the last day may have no outcome yet. The decision for day t reads forecasts
up to day t and outcomes before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, WeftError
from weft.evaluate.prequential import earnings

#: The number that stands for several predictors that agree, and for abstention.
AGREED, ABSTAINED = -1, -2
_EQUAL = 1e-9  # earnings that differ by less, relative to their size, are equal: sums of the same numbers


@dataclass(frozen=True)
class Combined:
    """A direction per day, and the number of the predictor that was followed (or `AGREED`, `ABSTAINED`)."""

    forecasts: Floats
    followed: Ints


def best_recent(forecasts: ArrayLike, outcomes: ArrayLike, window: int = 3) -> Combined:
    """Follow the predictor that earned most over the last days.

    >>> news, history = [1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]
    >>> found = best_recent([news, history], [2.0, -1.0, -1.0, -3.0], window=3)
    >>> found.forecasts.tolist(), found.followed.tolist()
    ([0.0, 1.0, 1.0, 0.0, -1.0], [-2, 0, 0, -2, 1])
    """
    said, came = _checked(forecasts, outcomes)
    if window < 1:
        raise ConfigError(f"window must be at least 1 day, got {window}")
    known = came.shape[0]
    earned = np.stack([earnings(row[:known], came) for row in said])
    found, followed = np.zeros(said.shape[1]), np.full(said.shape[1], ABSTAINED, dtype=np.int64)
    for day in range(said.shape[1]):
        first = max(day - window, 0)
        recent = earned[:, first:day].sum(axis=1)
        slack = _EQUAL * (1.0 + float(np.abs(came[first:day]).sum()))
        top = np.flatnonzero(recent >= recent.max() - slack)
        directions = np.sign(said[top, day])
        if (directions == directions[0]).all() and directions[0]:
            found[day] = directions[0]
            followed[day] = top[0] if len(top) == 1 else AGREED
    return Combined(found, followed)


def weighted_majority(forecasts: ArrayLike, outcomes: ArrayLike, beta: float = 0.5) -> Combined:
    """Follow the direction with more weight; a tie abstains.

    >>> news, history = [1, 1, 1], [-1, -1, -1]
    >>> found = weighted_majority([news, history], [2.0, -1.0])
    >>> found.forecasts.tolist(), found.followed.tolist()
    ([0.0, 1.0, 0.0], [-2, 0, -2])
    """
    said, came = _checked(forecasts, outcomes)
    if not 0 < beta < 1:
        raise ConfigError(f"beta must be above 0 and below 1, got {beta}")
    logs = np.zeros(said.shape[0])
    found, followed = np.zeros(said.shape[1]), np.full(said.shape[1], ABSTAINED, dtype=np.int64)
    for day in range(said.shape[1]):
        weights = np.exp(logs - logs.max())
        direction = np.sign(float(weights @ np.sign(said[:, day])))
        if direction:
            found[day] = direction
            right = np.flatnonzero(np.sign(said[:, day]) == direction)
            followed[day] = AGREED if len(right) == len(said) > 1 else right[np.argmax(weights[right])]
        if day < len(came) and came[day]:
            logs[np.sign(said[:, day]) * came[day] < 0] += np.log(beta)
    return Combined(found, followed)


def _checked(forecasts: ArrayLike, outcomes: ArrayLike) -> tuple[Floats, Floats]:
    said, came = np.asarray(forecasts, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    if said.ndim != 2 or not len(said) or not 0 <= said.shape[1] - len(came) <= 1:
        raise WeftError(
            "experts need forecasts [predictors, days] of the days with outcomes, or of one more, but got forecasts "
            f"{said.shape} and {len(came)} outcomes"
        )
    return said, came
