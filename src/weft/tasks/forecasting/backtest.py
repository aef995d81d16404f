"""A market forecast day by day: history, news in one representation or another, and combinations of the two.

| component | forecasts by |
|---|---|
| repeat | the direction of the day before |
| history | ridge regression on prices and volumes |
| mentions, words, focus, entity, dependency | logistic regression on a representation of the news |
| ... + history | the better of the two over the last days |
| ..., majority | weighted majority of the two |
| ..., one model | logistic regression on both |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.evaluate.blocks import profit_interval
from weft.evaluate.experts import Combined, best_recent, weighted_majority
from weft.evaluate.prequential import Predictor, Recorded, earnings, forecast_days, profit
from weft.evaluate.significance import Interval
from weft.tasks.forecasting.entities import Entities
from weft.tasks.forecasting.features import Sentence, count_features
from weft.tasks.forecasting.learners import PRICES, STRENGTHS, VOLUMES, HistoryLearner, NewsLearner, RepeatYesterday
from weft.tasks.forecasting.market import Market
from weft.tasks.forecasting.vectors import OnlineVectors

HISTORY, REPEAT = "history", "repeat"
CUTS = ("online", "corpus")


class Representation(NamedTuple):
    """Which features are counted, how a day of them becomes a vector, and whether rare ones are cut."""

    counted: str
    scaling: str
    cut: bool = True


REPRESENTATIONS = {
    "mentions": Representation("mentions", "counts", cut=False),
    "words": Representation("words", "unit"),
    "focus": Representation("words", "focus"),
    "entity": Representation("entity", "focus"),
    "dependency": Representation("dependency", "focus"),
}


class DayCounts:
    """Counts of features by day; features are numbered in the order in which they occur.

    >>> days = [[Sentence(["Bush", "won"])], [Sentence(["Kerry", "won"])]]
    >>> counts = DayCounts.of(days, "mentions", Entities.parse("bush, kerry"))
    >>> counts.names, [ids.tolist() for ids, _ in counts.days]
    (['bush', 'kerry'], [[0], [1]])
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.days: list[tuple[Ints, Ints]] = []

    @classmethod
    def of(cls, days: Iterable[Iterable[Sentence]], kind: str, entities: Entities) -> DayCounts:
        found = cls()
        for sentences in days:
            found.add(count_features(sentences, kind, entities))
        return found

    def add(self, counts: Mapping[str, int]) -> None:
        """Add a day."""
        ids = [self._numbers.setdefault(name, len(self._numbers)) for name in counts]
        self.days.append((np.array(ids, dtype=np.int64), np.array(list(counts.values()), dtype=np.int64)))

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def frequent(self, least: int) -> Ints:
        """The features that occur at least so often on all days together, later ones included."""
        total = np.zeros(len(self._numbers))
        for ids, counts in self.days:
            total[ids] += counts
        return np.flatnonzero(total >= least)


@dataclass(frozen=True)
class Setup:
    """How the components learn and are combined.

    `cut="corpus"` is the paper's cut: features are frequent in the whole corpus, which reads the future.
    """

    start: int = 30  #: days before the first forecast
    least: int = 20
    cut: str = "online"
    smoothing: float = 10.0
    strengths: tuple[float, ...] = STRENGTHS
    ridge: float = 1.0
    window: int = 3
    beta: float = 0.5

    def vectors(self, kind: str, counts: DayCounts) -> OnlineVectors:
        """Empty vectors for a representation."""
        if self.cut not in CUTS:
            raise ConfigError(f"cut must be one of {', '.join(CUTS)}, got {self.cut!r}")
        chosen = REPRESENTATIONS[kind]
        least = self.least if chosen.cut else 0
        allowed = counts.frequent(least) if self.cut == "corpus" else None
        return OnlineVectors(chosen.scaling, least, self.smoothing, allowed)


@dataclass
class Backtest:
    """Forecasts by component, one more than there are days if the next day was asked for."""

    market: Market
    start: int
    forecasts: dict[str, Floats]
    followed: dict[str, Ints] = field(default_factory=dict)
    learners: dict[str, NewsLearner] = field(default_factory=dict)
    counts: dict[str, DayCounts] = field(default_factory=dict)

    @property
    def outcomes(self) -> Floats:
        """The changes that were forecast."""
        return self.market.changes[self.start :]

    def earned(self, name: str) -> Floats:
        """What a component earned on each day from the start."""
        return earnings(self.forecasts[name][self.start : len(self.market.dates)], self.outcomes)

    def profit(self, name: str) -> float:
        """The profit of a component as a percentage of omniscience."""
        return profit(self.forecasts[name][self.start : len(self.market.dates)], self.outcomes)

    def interval(self, name: str, block: int = 5, samples: int = 2000, seed: int = 0) -> Interval:
        """The profit with its interval by a bootstrap over blocks of days."""
        return profit_interval(self.earned(name), np.abs(self.outcomes), block, samples, seed)


def backtest(
    market: Market, counts: Mapping[str, DayCounts], kinds: Sequence[str], setup: Setup | None = None,
    together: Sequence[str] = (), next_day: bool = False, explain: int = 0,
) -> Backtest:  # fmt: skip
    """Forecast every day of a market from the start; `counts` are by the features that are counted.

    `together` are the kinds that also have one model with the history; `explain` keeps that many reasons per day.
    """
    setup = setup or Setup()
    changes = market.changes
    days = len(changes) + int(next_day)
    if setup.start >= len(changes):
        raise ConfigError(f"{market.name}: forecasts start after {setup.start} days, but there are {len(changes)}")
    series = {PRICES: Recorded(market.prices.tolist(), 1), VOLUMES: Recorded(market.volumes.tolist(), 1)}
    predictors: dict[str, Predictor] = {HISTORY: HistoryLearner(setup.ridge), REPEAT: RepeatYesterday()}
    learners: dict[str, NewsLearner] = {}
    for kind in kinds:
        if kind not in REPRESENTATIONS:
            raise ConfigError(f"there is no representation {kind!r}; choose from {', '.join(REPRESENTATIONS)}")
        own = counts[REPRESENTATIONS[kind].counted]
        series[kind] = Recorded(own.days)
        learners[kind] = NewsLearner(setup.vectors(kind, own), setup.strengths, news=kind, explain=explain)
        predictors[kind] = learners[kind]
        if kind in together:
            vectors = learners[kind].vectors  # the same days: whoever is asked first adds them
            learners[one_model(kind)] = NewsLearner(vectors, setup.strengths, True, kind)
            predictors[one_model(kind)] = learners[one_model(kind)]
    outcomes = changes.tolist()
    found = forecast_days(predictors, series, outcomes, setup.start, days, market.name or "days")
    result = Backtest(market, setup.start, found, learners=learners)
    result.counts = {kind: counts[REPRESENTATIONS[kind].counted] for kind in kinds}
    for kind in kinds:
        pair = np.stack([found[kind], found[HISTORY]])
        combined: dict[str, Combined] = {
            with_history(kind): best_recent(pair, changes, setup.window),
            majority(kind): weighted_majority(pair, changes, setup.beta),
        }
        for name, each in combined.items():
            result.forecasts[name], result.followed[name] = each.forecasts, each.followed
    return result


def with_history(kind: str) -> str:
    """The name of the combination of news and history that follows the better of the last days."""
    return f"{kind} + {HISTORY}"


def majority(kind: str) -> str:
    """The name of the weighted majority of news and history."""
    return f"{kind} + {HISTORY}, majority"


def one_model(kind: str) -> str:
    """The name of the model over news and history."""
    return f"{kind} + {HISTORY}, one model"
