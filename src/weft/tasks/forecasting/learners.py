"""Predictors of a series: from the news of a day, from the history of the series, from both at once.

Each is asked for the days in order (`weft.evaluate.prequential`) and trains on all labelled days before the asked one.
The strength of the penalty is the one whose earlier forecasts had the smallest logarithmic loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats, Ints
from weft.evaluate.prequential import OUTCOMES, Known, Past
from weft.learn.linear.gram import fit_gram_logistic, fit_ridge
from weft.tasks.forecasting.vectors import OnlineVectors

NEWS, PRICES, VOLUMES = "news", "prices", "volumes"
#: Inverse strengths of the penalty to choose from.
STRENGTHS = (0.1, 1.0, 10.0)
#: Least labelled days to learn from.
_FEWEST = 2


class RepeatYesterday:
    """Forecasts the direction of the day before."""

    def forecast(self, past: Past) -> float:
        return float(np.sign(past[OUTCOMES][past.day - 1])) if past.day else 0.0


class History:
    """The state of the series in the morning: price, volume and how both changed, a row per day.

    >>> history = History()
    >>> history.extend([1.0, 3.0, 2.0], [10.0, 10.0, 30.0], 3)
    >>> history.rows[3].tolist()
    [2.0, 30.0, -1.0, 20.0]
    """

    def __init__(self) -> None:
        self._rows: list[list[float]] = []

    def extend(self, prices: Sequence[float] | Known[float], volumes: Sequence[float] | Known[float], day: int) -> None:
        """Add the rows up to a day, of which the prices and volumes before it are known."""
        while len(self._rows) <= day:
            t = len(self._rows)
            if t < 2:
                self._rows.append([0.0] * 4)
                continue
            has = len(volumes) >= t
            volume, change = (volumes[t - 1], volumes[t - 1] - volumes[t - 2]) if has else (0.0, 0.0)
            self._rows.append([prices[t - 1], volume, prices[t - 1] - prices[t - 2], change])

    @property
    def rows(self) -> Floats:
        return np.array(self._rows)

    def scaled(self) -> Floats:
        """All rows, with the mean and the deviation that the days before the last one have."""
        rows = self.rows
        known = rows[2:-1]
        if len(known) < 2:
            return np.zeros_like(rows)
        spread = known.std(axis=0)
        moved = (rows - known.mean(axis=0)) / np.where(spread > 1e-12 * np.abs(known).max(axis=0), spread, np.inf)
        moved[:2] = 0.0
        return np.asarray(moved)


class HistoryLearner:
    """Ridge regression of the change on the history of the series.

    >>> from weft.evaluate.prequential import Recorded, forecast_days
    >>> changes = [0.0, 1.0, -1.0] + [1.0, -1.0] * 4
    >>> series = {"prices": Recorded(np.cumsum(changes), 1), "volumes": Recorded([], 1)}
    >>> np.sign(forecast_days({"": HistoryLearner()}, series, changes, start=7)[""][7:]).tolist()
    [1.0, -1.0, 1.0, -1.0]
    """

    def __init__(self, l2: float = 1.0) -> None:
        self.l2 = l2
        self.history = History()

    def forecast(self, past: Past) -> float:
        self.history.extend(past[PRICES], past[VOLUMES], past.day)
        rows = self.history.scaled()
        if past.day < 2 + _FEWEST:
            return 0.0
        weights, intercept = fit_ridge(rows[2:-1], list(past[OUTCOMES])[2:], self.l2)
        return float(rows[-1] @ weights + intercept)


class NewsLearner:
    """Logistic regression of the direction on the vectors of days, with the history of the series if asked for.

    >>> from weft.evaluate.prequential import Recorded, forecast_days
    >>> up, down = (np.array([0]), np.array([2])), (np.array([1]), np.array([2]))
    >>> news = Recorded([up, down] * 5)
    >>> learner = NewsLearner(OnlineVectors("unit", least=1))
    >>> np.sign(forecast_days({"": learner}, {"news": news}, [1.0, -1.0] * 5, start=4)[""][4:]).tolist()
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
    """

    def __init__(
        self, vectors: OnlineVectors, strengths: Sequence[float] = STRENGTHS, with_history: bool = False,
        news: str = NEWS, explain: int = 0,
    ) -> None:  # fmt: skip
        """With `explain`, the features that contribute most to each forecast are kept, that many per day."""
        self.vectors, self.strengths, self.news, self.explain = vectors, tuple(strengths), news, explain
        self.because: dict[int, list[tuple[int, float]]] = {}  #: features with their contributions, by day
        self.history = History() if with_history else None
        self.losses = np.zeros(len(self.strengths))
        self.coefficients: list[Floats] = [np.zeros(0) for _ in self.strengths]
        self.trained: Ints = np.zeros(0, dtype=np.int64)  #: the days of the last training
        self._said: dict[int, Floats] = {}

    @property
    def chosen(self) -> int:
        """The number of the strength whose forecasts had the smallest loss; of equal ones the most central."""
        middle = (len(self.strengths) - 1) / 2
        return min(range(len(self.strengths)), key=lambda k: (self.losses[k], abs(k - middle)))

    def forecast(self, past: Past) -> float:
        day = past.day
        while self.vectors.days <= day:
            self.vectors.add(*past[self.news][self.vectors.days])
        outcomes = np.array(list(past[OUTCOMES])[:day])
        self._judge(outcomes)
        valued = self.vectors.valued
        days = np.flatnonzero((outcomes != 0) & valued[:day])
        if len(days) < _FEWEST:
            return 0.0
        gram = self.vectors.gram(np.append(days, day), days)
        if self.history is not None:
            self.history.extend(past[PRICES], past[VOLUMES], day)
            rows = self.history.scaled()
            gram += rows[np.append(days, day)] @ rows[days].T / rows.shape[1]
        self._train(gram[:-1], np.sign(outcomes[days]), days)
        if not valued[day]:
            return 0.0
        scores = np.array([gram[-1] @ each for each in self.coefficients])
        self._said[day] = scores
        if self.explain:
            self.because[day] = self._reasons(day)
        return float(scores[self.chosen])

    def _train(self, inner: Floats, labels: Floats, days: Ints) -> None:
        """Fit all strengths to the labelled days, from the coefficients of the day before."""
        start = np.zeros(self.vectors.days)
        for k, strength in enumerate(self.strengths):
            start[self.trained] = self.coefficients[k]
            self.coefficients[k] = fit_gram_logistic(inner, labels, 0.5 / strength, start[days], 1e-5)
        self.trained = days

    def _reasons(self, day: int) -> list[tuple[int, float]]:
        """The features that contribute most to the forecast of a day, for or against it."""
        values = self.vectors.rows[day].astype(np.float64)
        if self.vectors.scaling == "unit":
            values = values / self.vectors.divisors[day]
        given = self.weights() * values
        first = np.argsort(-np.abs(given), kind="stable")[: self.explain]
        return [(int(self.vectors.features[k]), float(given[k])) for k in first if given[k]]

    def _judge(self, outcomes: Floats) -> None:
        """Add the losses of the forecasts whose outcomes are known by now."""
        for day in [day for day in self._said if day < len(outcomes)]:
            scores = self._said.pop(day)
            if outcomes[day]:
                self.losses += np.logaddexp(0.0, -np.sign(outcomes[day]) * scores)

    def history_score(self) -> float:
        """What the history of the series adds to the score of the last day."""
        if self.history is None:
            return 0.0
        rows = self.history.scaled()
        return float(self.coefficients[self.chosen] @ (rows[self.trained] @ rows[-1])) / rows.shape[1]

    def weights(self) -> Floats:
        """The weights of the vocabulary's features, as the last forecast used them, for values before scaling.

        For unit vectors the value is to be divided by the length of its day.
        """
        divisors = self.vectors.divisors
        inside = self.coefficients[self.chosen] / divisors[self.trained]
        weights = inside @ self.vectors.rows[self.trained]
        return np.asarray(weights if self.vectors.scaling == "unit" else weights / divisors[-1], dtype=np.float64)
