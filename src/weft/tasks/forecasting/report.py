"""What a backtest tells its user: a row per day, a row per event that moves the series, a warning where due."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.evaluate.experts import AGREED
from weft.evaluate.significance import Interval
from weft.tasks.forecasting.backtest import HISTORY, Backtest, DayCounts
from weft.tasks.forecasting.learners import NewsLearner
from weft.tasks.forecasting.next_day import DIRECTIONS

DAY_COLUMNS = ("date", "change", "direction", "by", "earned", "profit", "news", "history", "because")
EVENT_COLUMNS = ("event", "moves", "effect", "weight", "days", "occurrences")


def day_rows(tested: Backtest, kind: str, name: str, names: list[str]) -> list[dict[str, Any]]:
    """A row per forecast day; `profit` is the sum of what was earned so far, `because` are the strongest events."""
    earned = tested.earned(name)
    total = np.cumsum(earned)
    followed = tested.followed.get(name)
    because = tested.learners[kind].because
    rows = []
    for k, change in enumerate(tested.outcomes.tolist()):
        day = tested.start + k
        by = name
        if followed is not None:
            by = {0: "news", 1: HISTORY, AGREED: "both"}.get(int(followed[day]), "neither")
        rows.append({
            "date": tested.market.dates[day],
            "change": round(change, 6),
            "direction": _direction(tested.forecasts[name][day]),
            "by": by,
            "earned": round(float(earned[k]), 6),
            "profit": round(float(total[k]), 6),
            "news": _direction(tested.forecasts[kind][day]),
            "history": _direction(tested.forecasts[HISTORY][day]),
            "because": [f"{names[feature]} {value:+.2f}" for feature, value in because.get(day, [])],
        })  # fmt: skip
    return rows


def event_rows(learner: NewsLearner, counts: DayCounts, most: int = 50) -> list[dict[str, Any]]:
    """The features that move the series most: a weight times how much the feature varies between days."""
    vectors, names = learner.vectors, counts.names
    values = vectors.rows[vectors.valued].astype(np.float64)
    if not len(values) or not values.shape[1]:
        return []
    if vectors.scaling == "unit":
        values = values / vectors.divisors[vectors.valued][:, None]
    weights = learner.weights()
    effect = weights * values.std(axis=0)
    days, total = np.zeros(len(names)), np.zeros(len(names))
    for ids, found in counts.days:
        days[ids] += 1
        total[ids] += found
    first = np.argsort(-np.abs(effect), kind="stable")[:most]
    features = vectors.features
    return [
        {
            "event": names[features[k]],
            "moves": "up" if effect[k] > 0 else "down",
            "effect": round(float(effect[k]), 6),
            "weight": round(float(weights[k]), 6),
            "days": int(days[features[k]]),
            "occurrences": int(total[features[k]]),
        }
        for k in first
        if effect[k]
    ]


def warning_of(interval: Interval) -> str:
    """A plain sentence if the profit cannot be told from chance, else nothing.

    >>> warning_of(Interval(9.0, 2.0, 16.0))
    ''
    >>> warning_of(Interval(5.0, -2.0, 12.0))
    'the interval of the profit, -2.0 to +12.0 %, contains 0: this profit cannot be told from chance'
    """
    if interval.low > 0 or interval.high < 0:
        return "" if interval.low > 0 else "the forecasts lose money: the interval of the profit is below 0"
    return (
        f"the interval of the profit, {interval.low:+.1f} to {interval.high:+.1f} %, contains 0: this profit cannot be "
        "told from chance"
    )


def _direction(value: float) -> str:
    return DIRECTIONS[float(np.sign(value))]
