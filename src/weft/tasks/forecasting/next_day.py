"""What a trained forecaster keeps for the day after its data: weights, the last three days, and who earned lately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Singles
from weft.evaluate.experts import AGREED, Combined, best_recent, weighted_majority
from weft.tasks.forecasting.backtest import HISTORY, REPRESENTATIONS
from weft.tasks.forecasting.learners import NewsLearner
from weft.tasks.forecasting.vectors import WINDOW, focus_change

#: How news and history are combined.
COMBINATIONS = ("best-recent", "majority", "one-model", "news", "history")
DIRECTIONS = {1.0: "up", -1.0: "down", 0.0: "abstain"}


@dataclass(frozen=True)
class Forecast:
    """The direction of a day, what it was decided by, and the features that speak most for or against it.

    `probability` is that of the news model for `up`, None if the news says nothing. `change` is what the history of the
    series alone lets expect. `events` are features with their contributions: above 0 for up.
    """

    direction: str
    by: str
    probability: float | None
    change: float
    events: tuple[tuple[str, float], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The forecast as plain data."""
        return {
            "direction": self.direction,
            "by": self.by,
            "probability": None if self.probability is None else round(self.probability, 4),
            "change": round(self.change, 6),
            "events": [[name, round(value, 4)] for name, value in self.events],
        }


@dataclass
class NewsModel:
    """A linear model of one day's counts: names of features, weights for values, counts of the last three days."""

    kind: str
    names: list[str]
    weights: Floats
    recent: Singles  #: [3, features], the oldest first
    smoothing: float
    offset: float = 0.0  #: what the history of the series adds in one model

    @classmethod
    def of(cls, kind: str, learner: NewsLearner, names: list[str], offset: float = 0.0) -> NewsModel:
        """The model of a learner that was trained for the next day, whose news it may have seen or not."""
        vectors = learner.vectors
        features = vectors.features.tolist()
        recent = vectors.recent(WINDOW + 1)[:-1]
        return cls(kind, [names[k] for k in features], learner.weights(), recent, vectors.smoothing, offset)

    def __post_init__(self) -> None:
        self._columns = {name: column for column, name in enumerate(self.names)}

    def score(self, counts: Mapping[str, int], events: int = 5) -> tuple[float | None, list[tuple[str, float]]]:
        """The score of a day's counts, None if there is nothing to score, and the features that contribute most."""
        if not counts or not self.names:
            return None, []
        today = np.zeros(len(self.names))
        for name, count in counts.items():
            if name in self._columns:
                today[self._columns[name]] = count
        values = today
        scaling = REPRESENTATIONS[self.kind].scaling
        if scaling == "focus":
            days = np.concatenate([self.recent.astype(np.float64), today[None]])
            totals = days.sum(axis=1)[::-1] + self.smoothing * len(self.names)
            values = focus_change(days, totals[None], self.smoothing)[0]
        elif scaling == "unit":
            values = today / (float(np.linalg.norm(today)) or 1.0)
        given = self.weights * values
        first = np.argsort(-np.abs(given), kind="stable")[:events]
        return float(given.sum()) + self.offset, [(self.names[k], float(given[k])) for k in first if given[k]]


@dataclass
class NextDay:
    """All that the forecast of the next day needs but its news."""

    news: NewsModel
    combination: str
    change: float  #: the forecast of the history
    forecasts: Floats  #: of news and history on the last days, [2, days]
    outcomes: Floats  #: of these days
    window: int = 3
    beta: float = 0.5

    def forecast(self, counts: Mapping[str, int], events: int = 5) -> Forecast:
        """The forecast from the counts of the day's news."""
        score, because = self.news.score(counts, events)
        probability = None if score is None else float(1 / (1 + np.exp(-score)))
        if self.combination in ("news", "one-model"):
            return Forecast(_direction(score or 0.0), self.combination, probability, self.change, tuple(because))
        if self.combination == HISTORY:
            return Forecast(_direction(self.change), HISTORY, probability, self.change)
        said = np.concatenate([self.forecasts, [[score or 0.0], [self.change]]], axis=1)
        found = combined(self.combination, said, self.outcomes, self.window, self.beta)
        followed = int(found.followed[-1])
        by = {0: "news", 1: HISTORY, AGREED: "both"}.get(followed, "neither")
        return Forecast(_direction(float(found.forecasts[-1])), by, probability, self.change, tuple(because))


def combined(combination: str, forecasts: Floats, outcomes: Floats, window: int, beta: float) -> Combined:
    """Best of the recent days, or weighted majority."""
    if combination == "majority":
        return weighted_majority(forecasts, outcomes, beta)
    return best_recent(forecasts, outcomes, window)


def _direction(score: float) -> str:
    return DIRECTIONS[float(np.sign(score))]
