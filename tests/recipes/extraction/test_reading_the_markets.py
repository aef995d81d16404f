"""The recipe of reading-the-markets: the generated market, StockNet without later rows."""

from __future__ import annotations

import gzip
from itertools import pairwise

import numpy as np
import pytest

from weft import data
from weft.errors import DataError
from weft.recipes.extraction.reading_the_markets import generated, stocknet
from weft.recipes.extraction.reading_the_markets.experiment import NEWS, ORDER
from weft.recipes.extraction.reading_the_markets.planted import ENTITIES, Made, planted_market
from weft.tasks.forecasting.backtest import Setup, backtest, majority
from weft.tasks.forecasting.features import Sentence


def test_generated_sentences_are_trees_and_their_days_full():
    market, days = planted_market(3, Made(days=30))
    assert [len(day) for day in days] == [40] * 30
    assert len(market.dates) == 30
    for sentence in (each for day in days for each in day):
        n = len(sentence.words)
        assert len(sentence.heads) == len(sentence.tags) == len(sentence.labels) == n
        assert sum(head == 0 for head in sentence.heads) == 1
        for word in range(1, n + 1):
            path = [word]
            while path[-1] and len(path) <= n:
                path.append(sentence.heads[path[-1] - 1])
            assert path[-1] == 0
    mentioned = [len(ENTITIES.find(sentence.words)) for day in days for sentence in day]
    assert {0, 1, 2} <= set(mentioned)


def test_who_knows_the_events_explains_four_tenths_of_the_changes():
    made, shares = Made(days=4000), []
    for seed in range(3):
        market, days = planted_market(seed, Made(days=4000, sentences=0))
        assert not any(days)
        rng = np.random.default_rng([seed, made.days, 0])
        events = np.where(rng.random(made.days) < made.rate, rng.choice([-1, 1], made.days), 0)
        turn = np.where(np.arange(made.days) // made.regime % 2 == 0, 1.0, -1.0)
        told = made.news * (1 + made.swing[0] * turn) * events
        shares.append(1 - np.var(market.changes[1:] - told[1:]) / np.var(market.changes[1:]))
    assert np.mean(shares) == pytest.approx(0.4, abs=0.05)


def test_without_text_the_news_abstains():
    tested = generated.run_generated(1, Made(days=60, sentences=0), ("words",), Setup())
    assert not tested.forecasts["words"].any()
    assert tested.profit("words") == 0.0
    assert generated.mentions(1, Made(days=20, sentences=0)) == 0


@pytest.fixture(scope="module")
def stock():
    """A hundred days of a stock with its tweets, split into words at blanks."""
    try:
        tweets, prices = data.find(stocknet.TWEETS), data.find(stocknet.PRICES)
    except DataError as missing:
        pytest.skip(str(missing))
    return tweets, prices


def days_of(tweets, market):
    """Words of each day's tweets, without a parser."""
    openings = stocknet.Openings(market.dates, stocknet.OPENING)
    found = [[] for _ in range(len(market.dates) + 1)]
    for day, at, text in stocknet.read_tweets(tweets, market.name):
        place = openings.day_of(day, at)
        if place is not None and (clean := stocknet.clean_text(text)):
            found[place].append(Sentence(clean.split()))
    return found


@pytest.mark.corpus
@pytest.mark.must_show("reading-the-markets", 1)
def test_deleting_all_rows_from_the_opening_of_a_day_changes_no_forecast(stock, tmp_path):
    """The rows of both files of StockNet."""
    tweets, prices = stock
    kinds, setup = ("mentions", "words", "focus", "entity"), Setup(start=30)

    def forecasts(tweet_file, market, next_day):
        days = days_of(tweet_file, market)[: len(market.dates) + 1]
        counts = generated.counts_of(days, kinds, stocknet.ENTITIES)
        return backtest(market, counts, kinds, setup, next_day=next_day).forecasts

    whole = stocknet.read_markets(prices, last="2014-06-01")["AAPL"]
    known = forecasts(tweets, whole, False)
    for t in (35, 71, 99):
        day = whole.dates[t]
        left = stocknet.read_markets(prices, last=day)["AAPL"]
        assert len(left.dates) == t
        cut = tmp_path / f"{t}.tsv.gz"
        with gzip.open(tweets, "rt", encoding="utf-8") as file, gzip.open(cut, "wt", encoding="utf-8") as kept:
            for line in file:
                if line.startswith("AAPL\t") and line.split("\t")[1] < f"{day}T{stocknet.OPENING}":
                    kept.write(line)
        found = forecasts(cut, left, True)
        assert set(found) == set(known)
        for name, values in found.items():
            assert values.tolist() == known[name][: t + 1].tolist(), name
        assert any(values[t] for values in found.values())


@pytest.mark.corpus
def test_stocks_are_those_of_the_plan(stock):
    tweets, prices = stock
    markets = stocknet.read_markets(prices)
    assert {len(market.dates) for market in markets.values()} == {504}
    assert sum(1 for _ in stocknet.read_tweets(tweets, "AAPL")) == 15373
    floors = {"AAPL": 6.1, "FB": -0.1, "GOOG": 3.0, "AMZN": 2.6, "MSFT": 10.2, "BAC": -4.3, "PFE": 10.8, "KO": 6.6}
    for ticker, profit in floors.items():
        assert backtest(markets[ticker], {}, [], Setup()).profit("repeat") == pytest.approx(profit, abs=0.06)


@pytest.mark.must_show("reading-the-markets", 7)
def test_cross_validation_looks_better_where_stories_tell_the_time():
    scores = np.array([generated.protocols(seed, generated.drifting(), "words") for seed in range(1, 5)])
    assert scores[:, 1].mean() > scores[:, 0].mean() + 1


@pytest.mark.must_show(
    "reading-the-markets",
    6,
    weaker="four seeds and one strength of the penalty, not ten and three: those take a minute",
)
def test_profit_rises_with_representations_on_generated_markets():
    found, majorities = [], []
    for seed in (1, 2, 3, 4):
        tested = generated.run_generated(seed, Made(), NEWS, Setup(strengths=(1.0,)))
        found.append([tested.profit(name) for name in ORDER])
        majorities.append(tested.profit(majority("dependency")))
    profits = np.mean(found, axis=0).tolist()
    assert all(low < high for low, high in pairwise(profits)), profits
    assert np.mean(majorities) < profits[-1]


@pytest.mark.must_show("reading-the-markets", 8)
def test_profit_falls_to_nothing_with_coverage():
    profits = {
        sentences: np.mean([
            generated.run_generated(
                seed, Made(days=240, sentences=sentences), ("dependency",), Setup(strengths=(1.0,))
            ).profit("dependency")
            for seed in (1, 2)
        ])
        for sentences in (40, 10, 0)
    }  # fmt: skip
    assert profits[40] > profits[10] + 5 > 10
    assert profits[0] == 0
