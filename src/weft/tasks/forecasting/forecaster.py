"""The component that forecasts the direction of a series from each morning's news, and tells which events move it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.prequential import random_error
from weft.formats.csv.series import read_series
from weft.headers import DAMAGED, Many, Real, Record, Row, Text
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.forecasting.backtest import (
    CUTS,
    HISTORY,
    REPEAT,
    REPRESENTATIONS,
    Backtest,
    DayCounts,
    Setup,
    backtest,
    majority,
    one_model,
    with_history,
)
from weft.tasks.forecasting.entities import Entities
from weft.tasks.forecasting.features import count_features, sentences_of
from weft.tasks.forecasting.learners import STRENGTHS
from weft.tasks.forecasting.market import Market, by_day
from weft.tasks.forecasting.next_day import COMBINATIONS, Forecast, NewsModel, NextDay
from weft.tasks.forecasting.report import day_rows, event_rows, warning_of
from weft.tasks.forecasting.vectors import WINDOW
from weft.text.doc import Doc
from weft.text.split import with_words

#: The metadata key of a document's forecast.
FORECAST = "forecast"
HEADER = Record(
    market=Text(), last=Text(), change=Real(), offset=Real(), outcomes=Many(Real()),
    recent=Many(Row((Real(), Real()))),
)  # fmt: skip
#: Earlier forecasts that a weighted majority weighs; those before have lost their influence.
_KEPT = 250


@dataclass
class ForecastSettings(Settings):
    """Options of a forecaster."""

    series: str = option(
        "", "Prices by day: a table with the columns date and price, and volume if known.", metavar="FILE"
    )
    market: str = option("", "The market to forecast, if the series has several.")
    entities: str = option("", "Entities of the market, such as bush,kerry=john kerry|kerry,iraq.", metavar="NAME,...")
    features: str = option("dependency", "What represents the news of a day.", choices=tuple(REPRESENTATIONS))
    combine: str = option("best-recent", "How news and history are combined.", choices=COMBINATIONS)
    opening: str = option("00:00", "Time of day, UTC, until which texts belong to that day.", metavar="HH:MM")
    start: int = option(30, "Days before the first forecast.", flag="--first-day")
    least: int = option(20, "Features occur at least this often on earlier days.")
    cut: str = option(
        "online", "Count features on earlier days, or in the whole corpus, as in the paper.", choices=CUTS,
        flag="--count-on",
    )  # fmt: skip
    smoothing: float = option(10.0, "Added to counts before the change in focus.")
    c: float = option(0.0, "Inverse strength of the news model's penalty; 0 chooses by earlier forecasts.")
    ridge: float = option(1.0, "Penalty of the history model.")
    window: int = option(3, "Days whose earnings decide between news and history.")
    block: int = option(5, "Days per block of the bootstrap.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("features", tuple(REPRESENTATIONS)), ("combine", COMBINATIONS), ("cut", CUTS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("window", "block", "start", "least"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.smoothing <= 0:
            raise ConfigError(f"smoothing must be above 0, got {self.smoothing}")
        for name in ("c", "ridge"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        Entities.parse(self.entities)

    def setup(self) -> Setup:
        """The settings as a backtest takes them."""
        return Setup(
            self.start,
            self.least,
            self.cut,
            self.smoothing,
            (self.c,) if self.c else STRENGTHS,
            self.ridge,
            self.window,
        )


class Forecaster(Trainable):
    """Forecasts the next day: `doc.meta["forecast"]` holds the forecast from a document with that day's news.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> days = [f"2024-03-{day:02}" for day in range(1, 31)]
    >>> docs = [Doc("a strike" if k % 2 else "a truce", meta={"date": day}) for k, day in enumerate(days)]
    >>> with TemporaryDirectory() as folder:
    ...     rows = [f"{day},{50 - k % 2}" for k, day in enumerate(days)]
    ...     _ = Path(folder, "prices.csv").write_text("\\n".join(["date,price", *rows]))
    ...     settings = ForecastSettings(f"{folder}/prices.csv", features="words", start=10, least=2)
    ...     forecaster = Forecaster(settings)
    ...     report = forecaster.fit(docs)
    >>> report["scores"]["profit, news"], forecaster.forecast([Doc("another truce today")]).direction
    (100.0, 'up')
    """

    task = "forecast"
    settings_class = ForecastSettings
    settings: ForecastSettings
    unsaved = ("workers", "series")

    def __init__(self, settings: ForecastSettings | None = None) -> None:
        super().__init__(settings)
        self.entities = Entities.parse(self.settings.entities)
        self.model: NextDay | None = None
        self.market, self.last = "", ""  #: what is forecast, and the last day of its series
        self.tested: Backtest | None = None  #: the run that `fit` scored; not saved
        self.requires: tuple[str, ...] = ("tokens", "head", "deprel") if self._parses else ()
        if self._names and not self.entities.names:
            raise ConfigError(
                f"features={self.settings.features} needs the entities of the market: entities=bush,kerry"
            )

    @property
    def _parses(self) -> bool:
        return self.settings.features == "dependency"

    @property
    def _names(self) -> bool:
        return self.settings.features in ("dependency", "entity", "mentions") and self.settings != ForecastSettings()

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Forecast the days of the series in order, and train for the day after; return profits and events.

        Documents have a date, or a name with one. The report's `days` and `events` are rows of tables.
        """
        if dev is not None:
            raise ConfigError(
                "a forecaster is scored on its own days, each before it is learned from; give no dev data"
            )
        settings, watch = self.settings, Stopwatch()
        if not settings.series:
            raise ConfigError("give the prices to forecast: --series prices.csv, or in Python series=")
        given = read_series(settings.series, settings.market)
        market = Market(settings.market or given.market, given.dates, np.array(given.prices), np.array(given.volumes))
        docs = list(train)
        days, early = by_day(docs, market, settings.opening)
        counts = DayCounts()
        for of_day in days:
            counts.add(self._counts(of_day))
        kind, counted = settings.features, REPRESENTATIONS[settings.features].counted
        if not any(len(ids) for ids, _ in counts.days):
            raise DataError("the texts have no features: is an entity of the market mentioned?")
        together = [kind] if settings.combine == "one-model" else []
        tested = backtest(market, {counted: counts}, [kind], settings.setup(), together, next_day=True, explain=3)
        self.tested, self.market, self.last = tested, market.name, market.dates[-1]
        self.model = self._next_day(tested, kind, counts)
        name = self._name_of(kind)
        interval = tested.interval(name, settings.block, seed=settings.seed)
        rows = day_rows(tested, kind, name, counts.names)
        scores: dict[str, Any] = {
            "profit": round(tested.profit(name), 2),
            "profit, 95 % from": round(interval.low, 2),
            "profit, 95 % to": round(interval.high, 2),
            "standard error of a random predictor": round(random_error(tested.outcomes), 2),
            "profit, news": round(tested.profit(kind), 2),
            "profit, history": round(tested.profit(HISTORY), 2),
            "profit, the day before again": round(tested.profit(REPEAT), 2),
            **{f"days {each}": sum(row["direction"] == each for row in rows) for each in ("up", "down", "abstain")},
        }
        report: dict[str, Any] = {
            "training": {
                "days": len(market.dates), "forecast days": len(tested.outcomes), "texts": len(docs),
                "texts before the first day": early, "days with text": sum(map(bool, days[:-1])),
                "features": len(self.model.news.names), "of these seen": len(counts.names), **watch.seconds(),
            },
            "scores": scores,
        }  # fmt: skip
        if message := warning_of(interval):
            report["warning"] = message
        if days[-1]:
            report["forecast"] = {"after": market.dates[-1], **self.forecast(days[-1]).as_dict()}
        report["events"] = event_rows(tested.learners[kind], counts)
        report["days"] = rows
        return report

    def _name_of(self, kind: str) -> str:
        """The component whose profit counts."""
        names = {
            "best-recent": with_history(kind), "majority": majority(kind), "one-model": one_model(kind), "news": kind,
            "history": HISTORY,
        }  # fmt: skip
        return names[self.settings.combine]

    def _counts(self, docs: Sequence[Doc]) -> dict[str, int]:
        """The features of a day's documents."""
        found: dict[str, int] = {}
        kind = REPRESENTATIONS[self.settings.features].counted
        for doc in docs if self._parses else with_words(docs):
            if self._parses and doc.text.strip() and not (doc.has("head") and doc.has("deprel")):
                raise DataError(
                    f"{doc.id or 'a document'} is not parsed, which features=dependency needs; annotate it first, "
                    "weft annotate --model en, or choose features=entity"
                )
            if doc.n_words:
                for name, count in count_features(sentences_of(doc), kind, self.entities).items():
                    found[name] = found.get(name, 0) + count
        return found

    def _next_day(self, tested: Backtest, kind: str, counts: DayCounts) -> NextDay:
        settings = self.settings
        learner = tested.learners[kind]
        offset = 0.0
        if settings.combine == "one-model":
            learner = tested.learners[one_model(kind)]
            offset = learner.history_score()
        days = len(tested.market.dates)
        first = max(tested.start, days - _KEPT)
        forecasts = np.stack([tested.forecasts[kind][first:days], tested.forecasts[HISTORY][first:days]])
        return NextDay(
            NewsModel.of(kind, learner, counts.names, offset), settings.combine, float(tested.forecasts[HISTORY][days]),
            forecasts, tested.market.changes[first:], settings.window,
        )  # fmt: skip

    def forecast(self, docs: Iterable[Doc], events: int = 5) -> Forecast:
        """The forecast for the day after the series, from all of its morning's documents."""
        return self.trained(self.model).forecast(self._counts(list(docs)), events)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            doc.meta[FORECAST] = {"market": self.market, "after": self.last, **self.forecast([doc]).as_dict()}

    def state(self) -> State:
        model = self.trained(self.model)
        header: dict[str, Any] = {
            "settings": {**self.saved_settings(), "series": ""},
            "market": self.market,
            "last": self.last,
            "change": model.change,
            "offset": model.news.offset,
            "outcomes": model.outcomes.tolist(),
            "recent": [[float(np.sign(one)), float(np.sign(two))] for one, two in model.forecasts.T.tolist()],
        }
        arrays: Arrays = {
            "names": np.frombuffer("\n".join(model.news.names).encode(), dtype=np.uint8),
            "weights": model.news.weights,
            "counts": model.news.recent,
        }
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Forecaster:
        forecaster = cls(ForecastSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        try:
            text = bytes(stored.take(Array("names", "uint8", ("*",)))["names"]).decode()
        except UnicodeDecodeError:
            raise ModelError(f"the names of features are not UTF-8: {DAMAGED}") from None
        names = text.split("\n") if text else []
        size, settings = len(names), forecaster.settings
        weights = stored.take(Array("weights", "float64", (size,)))["weights"]
        counts = stored.take(Array("counts", "float32", (WINDOW, size)))["counts"]
        if len(set(names)) < size or len(header["recent"]) != len(header["outcomes"]) or (counts < 0).any():
            raise ModelError(f"the parts of a forecaster do not fit together: {DAMAGED}")
        news = NewsModel(settings.features, names, weights, counts, settings.smoothing, header["offset"])
        recent = np.array(header["recent"], dtype=np.float64).reshape(-1, 2).T
        forecaster.market, forecaster.last = header["market"], header["last"]
        forecaster.model = NextDay(
            news, settings.combine, header["change"], recent, np.array(header["outcomes"]), settings.window
        )
        return forecaster
