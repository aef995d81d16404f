"""Lerman et al. (2008): forecasts of a market day by day, from its history and from the news in five representations.

The paper's prices and news cannot be had. Eight stocks with tweets (StockNet) stand in for its markets, and a generated
market, whose events are known, for what the paper finds about representations, coverage and protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import weft
from weft.arrays import Floats
from weft.evaluate.blocks import block_bootstrap
from weft.evaluate.prequential import Recorded, peeks, random_error
from weft.evaluate.significance import Interval
from weft.recipes.claims import Figure, gain, mean_of, measured
from weft.recipes.extraction.reading_the_markets import generated, stocknet
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.forecasting.backtest import (
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
from weft.tasks.forecasting.learners import PRICES, VOLUMES, HistoryLearner, NewsLearner
from weft.tasks.forecasting.market import Market
from weft.tasks.forecasting.report import event_rows

SLUG = "reading-the-markets"
KINDS = tuple(REPRESENTATIONS)
NEWS = KINDS[1:]
#: The paper's averages over eight markets, in percent of omniscience.
PAPER = {HISTORY: 13.6, REPEAT: 9.1}
#: The steps of the order of representations, worst first.
ORDER = (HISTORY, *(with_history(kind) for kind in NEWS))


@dataclass(frozen=True)
class Size:
    """How much is run."""

    tickers: tuple[str, ...] = stocknet.TICKERS
    days: int = 504  #: of each stock
    kinds: tuple[str, ...] = KINDS
    together: tuple[str, ...] = ("dependency",)  #: representations that share one model with the history
    seeds: int = 10  #: generated markets
    generated_days: int = 400
    coverage: tuple[int, ...] = (40, 10, 2, 0)  #: sentences a day
    coverage_seeds: int = 5
    samples: int = 2000
    peeks: int = 3  #: days of a stock that are forecast again without anything later


QUICK = Size(
    tickers=("AAPL",), days=150, kinds=("words", "dependency"), seeds=1, generated_days=120, coverage=(40, 0),
    coverage_seeds=1, samples=200, peeks=1,
)  # fmt: skip
VARIATION = Variation((Size, Setup), ("stocks", "generated", "coverage", "protocol"))


def run(options: RecipeOptions) -> RecipeResult:
    """Stocks, the generated market, its coverage, and the protocol."""
    size = options.varied(QUICK if options.quick else Size())
    setup = options.varied(Setup())
    result = RecipeResult(SLUG)
    if options.wants("stocks"):
        _stocks(result, options, size, setup)
    if options.wants("generated"):
        _generated(result, options, size, setup)
    if options.wants("coverage"):
        _coverage(result, options, size, setup)
    if options.wants("protocol"):
        _protocol(result, options, size)
    return result


def _stocks(result: RecipeResult, options: RecipeOptions, size: Size, setup: Setup) -> None:
    tweets, markets = options.find(stocknet.TWEETS), stocknet.read_markets(options.find(stocknet.PRICES))
    nlp = weft.load("en")
    tested: dict[str, Backtest] = {}
    coverage: dict[str, float] = {}
    leaks = 0
    for ticker in size.tickers:
        market = _cut(markets[ticker], size.days)
        days = stocknet.parsed_days(tweets, market, nlp)[: len(market.dates)]
        counts = generated.counts_of(days, size.kinds, stocknet.ENTITIES)
        tested[ticker] = backtest(market, counts, size.kinds, setup, size.together)
        coverage[ticker] = _mentions(days, stocknet.ENTITY_OF[ticker])
        leaks += _leaks(market, counts, size, setup)
    _stock_table(result, tested, coverage, size)
    _combinations(result, tested, size)
    _stock_claims(result, tested, size)
    result.own(
        "without anything recorded from the opening of day t on, the forecast for t is the same (differing components)",
        measured(leaks, "<=", 0, "StockNet", digits=0),
    )
    best = "dependency" if "dependency" in size.kinds else size.kinds[-1]
    first = size.tickers[0]
    _events(result, tested[first], best, first)
    names = [HISTORY, best, with_history(best)]
    result.curves.append(_curve(f"{first}: profit in dollars by day", tested[first], names))


def _cut(market: Market, days: int) -> Market:
    volumes = market.volumes[:days] if len(market.volumes) else market.volumes
    return Market(market.name, market.dates[:days], market.prices[:days], volumes)


def _mentions(days: Sequence[Sequence[Any]], entity: str) -> float:
    """Mean mentions of an entity per day."""
    found = sum(
        each.entity == entity for sentences in days for sentence in sentences
        for each in stocknet.ENTITIES.find(sentence.words)
    )  # fmt: skip
    return found / len(days)


def _leaks(market: Market, counts: dict[str, DayCounts], size: Size, setup: Setup) -> int:
    """How many forecasts change if everything that is recorded later is deleted."""
    days = np.linspace(setup.start + 20, len(market.dates) - 1, size.peeks).astype(int).tolist()
    outcomes = market.changes.tolist()
    series = {PRICES: Recorded(market.prices.tolist(), 1), VOLUMES: Recorded(market.volumes.tolist(), 1)}
    found = len(peeks(HistoryLearner, series, outcomes, days, setup.start))
    if market.name != size.tickers[0]:
        return found
    for kind in size.kinds:
        own = counts[REPRESENTATIONS[kind].counted]
        of_news = {**series, kind: Recorded(own.days)}
        # Forecasting again from the first day is what this costs, so it starts late and is done for one stock.
        late = max(setup.start, days[-1] - 60)
        found += len(peeks(
            lambda kind=kind, own=own: NewsLearner(setup.vectors(kind, own), setup.strengths, news=kind),  # type: ignore[misc]
            of_news, outcomes, days[-1:], late,
        ))  # fmt: skip
    return found


def _rows_of(kinds: Sequence[str]) -> list[str]:
    return [REPEAT, HISTORY, *kinds, *(with_history(kind) for kind in kinds)]


def _profits(tested: dict[str, Backtest], name: str, tickers: Sequence[str], samples: int, other: str = "") -> Interval:
    """The mean profit over stocks, or its difference from that of another component, by blocks of common days."""
    earned = np.stack([tested[t].earned(name) for t in tickers], axis=1)
    if other:
        earned = earned - np.stack([tested[t].earned(other) for t in tickers], axis=1)
    most = np.stack([np.abs(tested[t].outcomes) for t in tickers], axis=1)
    columns = len(tickers)

    def statistic(sums: Floats) -> Floats:
        return np.asarray(100 * (sums[:, :columns] / sums[:, columns:]).mean(axis=1))

    return block_bootstrap(np.concatenate([earned, most], axis=1), statistic, samples=samples)


def _stock_table(result: RecipeResult, tested: dict[str, Backtest], coverage: dict[str, float], size: Size) -> None:
    covered = [t for t in size.tickers if t in stocknet.COVERED]
    means = {"best covered": covered, "all": list(size.tickers)}
    table = Table(
        "StockNet, profit in % of omniscience", [*size.tickers, *means],
        digits=dict.fromkeys([*size.tickers, *means], 1),
    )  # fmt: skip
    for name in _rows_of(size.kinds):
        row: dict[str, Any] = {t: tested[t].profit(name) for t in size.tickers}
        interval = {}
        for column, tickers in means.items():
            found = _profits(tested, name, tickers, size.samples)
            row[column], interval[column] = found.value, (found.low, found.high)
        for t in size.tickers:
            one = tested[t].interval(name, samples=size.samples)
            interval[t] = (one.low, one.high)
        table.add(name, row, {"all": PAPER[name]} if name in PAPER else {}, interval)
    errors = {t: random_error(tested[t].outcomes) for t in size.tickers}
    table.add("standard error of a random predictor", errors | _error_of_means(errors, means))
    table.add("mentions a day", {t: coverage[t] for t in size.tickers})
    days = len(next(iter(tested.values())).outcomes)
    table.note = (
        f"{days} days; intervals by a bootstrap over blocks of 5 days, which all stocks share. The paper's figures are "
        "means over its eight markets. The error of a mean supposes that stocks move independently, which they do not: "
        "its interval is the better guide."
    )
    result.tables.append(table)


def _error_of_means(errors: dict[str, float], means: dict[str, list[str]]) -> dict[str, float]:
    return {column: float(np.sqrt(sum(errors[t] ** 2 for t in own))) / len(own) for column, own in means.items()}


def _combinations(result: RecipeResult, tested: dict[str, Backtest], size: Size) -> None:
    columns = ["news", HISTORY, "best of 3 days", "weighted majority", "one model"]
    table = Table("StockNet, news and history combined, mean over stocks", columns, digits=dict.fromkeys(columns, 1))
    for kind in size.kinds:
        names = {
            column: name for column, name in zip(columns, _ways(kind), strict=True)
            if name in tested[size.tickers[0]].forecasts
        }  # fmt: skip
        found = {column: _profits(tested, name, size.tickers, size.samples) for column, name in names.items()}
        table.add(
            kind, {c: each.value for c, each in found.items()}, interval={c: (i.low, i.high) for c, i in found.items()}
        )
    result.tables.append(table)


def _ways(kind: str) -> list[str]:
    return [kind, HISTORY, with_history(kind), majority(kind), one_model(kind)]


def _stock_claims(result: RecipeResult, tested: dict[str, Backtest], size: Size) -> None:
    covered = [t for t in size.tickers if t in stocknet.COVERED]

    def figure(one: str, other: str, tickers: Sequence[str], where: str) -> Figure:
        found = _profits(tested, one, tickers, size.samples, other)
        return gain(found.value, interval=(found.low, found.high), where=where, digits=1)

    result.claim(
        "learning from the history earns more than repeating the day before (paper: 13.6 and 9.1)",
        figure(HISTORY, REPEAT, size.tickers, "mean of stocks"),
    )
    for kind in [kind for kind in NEWS if kind in size.kinds]:
        result.claim(
            "with any representation of the news, the combined system earns more than history alone",
            figure(with_history(kind), HISTORY, covered, f"{kind}, best covered stocks"),
        )
        for name in (kind, HISTORY):
            result.claim(
                "the combined system earns more than either component",
                figure(with_history(kind), name, size.tickers, f"{kind}, over {name}"),
            )
        for name in (majority(kind), one_model(kind)):
            if name not in tested[size.tickers[0]].forecasts:
                continue
            result.claim(
                "the best of three days earns more than weighted majority and than one model over all features",
                figure(with_history(kind), name, size.tickers, f"over {name}"),
            )
    if "mentions" in size.kinds:
        result.claim(
            "with counts of mentions, the combined system earns less than history alone",
            figure(HISTORY, with_history("mentions"), size.tickers, "mean of stocks"),
        )
    if "words" in size.kinds:
        result.claim(
            "the words of the news earn more than history alone",
            figure("words", HISTORY, covered, "best covered stocks"),
        )


def _events(result: RecipeResult, tested: Backtest, kind: str, ticker: str) -> None:
    learner = tested.learners[kind]
    rows = event_rows(learner, tested.counts[kind])[:12]
    table = Table(f"{ticker}, what moves it most ({kind})", ["effect", "days"], digits={"effect": 4})
    for row in rows:
        table.add(f"{row['event']}", {"effect": row["effect"], "days": row["days"]})
    table.note = "Effect above 0 is good for the price: weight times standard deviation between days, at the last day."
    result.tables.append(table)


def _curve(title: str, tested: Backtest, names: Sequence[str]) -> Curve:
    series = {
        name: [(float(k), float(total)) for k, total in enumerate(np.cumsum(tested.earned(name)))] for name in names
    }
    return Curve(title, "day", "profit", series)


def _generated(result: RecipeResult, options: RecipeOptions, size: Size, setup: Setup) -> None:
    """The generated market, mean over seeds."""
    found: dict[str, dict[str, float]] = {}
    made = generated.Made(days=size.generated_days)
    for seed in range(1, size.seeds + 1):
        tested = generated.run_generated(options.seed + seed, made, size.kinds, setup, size.together)
        for name in tested.forecasts:
            found.setdefault(name, {})[f"seed {seed}"] = tested.profit(name)
    columns = ["news", "best of 3 days", "weighted majority", "one model"]
    table = Table("Generated market, profit in % of omniscience", columns, digits=dict.fromkeys(columns, 1))
    for name in (REPEAT, HISTORY):
        table.add(name, {"best of 3 days": _mean(found[name])}, interval={"best of 3 days": _ends(found[name])})
    for kind in size.kinds:
        ways = [kind, with_history(kind), majority(kind), one_model(kind)]
        names = {column: name for column, name in zip(columns, ways, strict=True) if name in found}
        table.add(
            kind,
            {c: _mean(found[n]) for c, n in names.items()},
            interval={c: _ends(found[n]) for c, n in names.items()},
        )
    table.note = f"Mean over {size.seeds} seeds of {size.generated_days} days, with Student's interval over seeds."
    result.tables.append(table)
    order = [name for name in ORDER if name in found]
    for low, high in pairwise(order):
        result.claim(
            "profit rises from history to words, focus, entities, dependencies, each combined with history (generated)",
            _difference(found[high], found[low], f"{high} over {low}"),
        )
    if "dependency" in size.kinds:
        result.own(
            "where components change places, the best of three days earns more than weighted majority (generated)",
            _difference(found[with_history("dependency")], found[majority("dependency")], "dependency"),
            required=False,
        )
        for name in ("dependency", HISTORY):
            result.claim(
                "the combined system earns more than either component (generated)",
                _difference(found[with_history("dependency")], found[name], f"dependency, over {name}"),
            )


def _mean(values: dict[str, float]) -> float:
    return float(np.mean(list(values.values())))


def _ends(values: dict[str, float]) -> tuple[float, float]:
    low, high = mean_of(values).interval or (0.0, 0.0)
    return (low, high) if np.isfinite(low) else (_mean(values), _mean(values))


def _difference(one: dict[str, float], other: dict[str, float], where: str) -> Figure:
    found = mean_of({seed: one[seed] - other[seed] for seed in one}, where)
    return gain(found.value, interval=found.interval, where=where, digits=1)


def _coverage(result: RecipeResult, options: RecipeOptions, size: Size, setup: Setup) -> None:
    """The profit of the news alone as the number of sentences falls."""
    kind = "dependency" if "dependency" in size.kinds else size.kinds[-1]
    table = Table(f"Generated market by coverage, {kind} alone", ["mentions a day", "profit"], digits={"profit": 1})
    profits = {}
    for sentences in size.coverage:
        made = generated.Made(days=size.generated_days, sentences=sentences)
        values, mentions = {}, []
        for seed in range(1, size.coverage_seeds + 1):
            tested = generated.run_generated(options.seed + seed, made, (kind,), setup)
            values[f"seed {seed}"] = tested.profit(kind)
            mentions.append(generated.mentions(options.seed + seed, made))
        profits[sentences] = values
        row = {"mentions a day": float(np.mean(mentions)), "profit": _mean(values)}
        table.add(f"{sentences} sentences a day", row, interval={"profit": _ends(values)})
    result.tables.append(table)
    most, least = max(size.coverage), min(size.coverage)
    result.claim(
        "without coverage the news earns nothing (generated; paper: markets with 20 mentions a day fail)",
        _difference(profits[most], profits[least], f"{most} sentences a day over {least}"),
    )


def _protocol(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    """Cross-validation beside the order of days, where stories tell when it is."""
    kind = "words"
    made = generated.drifting(size.generated_days)
    scores: dict[str, dict[str, float]] = {"in the order of days": {}, "cross-validation": {}}
    for seed in range(1, size.seeds + 1):
        ordered, crossed = generated.protocols(options.seed + seed, made, kind)
        scores["in the order of days"][f"seed {seed}"] = ordered
        scores["cross-validation"][f"seed {seed}"] = crossed
    table = Table(f"Generated market with moods and stories, accuracy ({kind})", ["accuracy"], digits={"accuracy": 1})
    for name, values in scores.items():
        table.add(name, {"accuracy": _mean(values)}, interval={"accuracy": _ends(values)})
    table.note = f"A new story every {made.drift} days; ten random folds."
    result.tables.append(table)
    result.claim(
        "cross-validation looks better than forecasting in the order of days",
        _difference(scores["cross-validation"], scores["in the order of days"], "accuracy, generated"),
    )
