"""StockNet: tweets about eight stocks and their daily closing prices, 2014 and 2015.

The first five stocks have the most tweets, the last two about two a day. A tweet belongs to the first trading day that
opens after it (13:30 UTC): most tweets of a day are written when its market has moved already.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from weft.errors import DataError
from weft.pipeline import models
from weft.pipeline.pipeline import Pipeline
from weft.progress import progress
from weft.tasks.forecasting.entities import Entities
from weft.tasks.forecasting.features import Sentence, sentences_of
from weft.tasks.forecasting.market import Market, Openings

TWEETS = "opinion-forecast/stocknet/tweets.tsv.gz"
PRICES = "opinion-forecast/stocknet/prices.csv.gz"
#: Stocks by their number of tweets; the first four are the best covered.
TICKERS = ("AAPL", "FB", "GOOG", "AMZN", "MSFT", "BAC", "PFE", "KO")
COVERED = TICKERS[:4]
OPENING = "13:30"
FIRST = "2014-01-01"
ENTITIES = Entities.parse(
    "apple=apple|aapl, facebook=facebook|fb, google=google|goog|googl, amazon=amazon|amzn, microsoft=microsoft|msft, "
    "bofa=bank of america|bofa|bac, pfizer=pfizer|pfe, coke=coca-cola|coca cola|coke|ko"
)
#: The entity of each stock.
ENTITY_OF = dict(zip(TICKERS, ENTITIES.names, strict=True))
_FEWEST_WORDS = 5
_LEFT_OUT = re.compile(r"\$ |\bURL\b|\bAT_USER\b|^rt\b")


def read_markets(path: Path, last: str = "") -> dict[str, Market]:
    """The markets from 2014 on, by ticker; with `last`, without the days from that one on."""
    rows: dict[str, list[dict[str, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["date"] >= FIRST and not (last and row["date"] >= last):
                rows.setdefault(row["ticker"], []).append(row)
    return {
        ticker: Market(
            ticker, [row["date"] for row in own], np.array([float(row["close"]) for row in own]),
            np.array([float(row["volume"]) for row in own]),
        )
        for ticker, own in rows.items()
    }  # fmt: skip


def read_tweets(path: Path, ticker: str) -> Iterator[tuple[str, str, str]]:
    """Day, time and text of the tweets about a stock."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith(f"{ticker}\t"):
                _, moment, text = line.rstrip("\n").split("\t")
                day, _, at = moment.partition("T")
                yield day, at, text


def clean_text(text: str) -> str:
    """A tweet without dollar signs, links and names of users; empty if it has fewer than five words.

    >>> clean_text("rt AT_USER $ acme opens a second mill in spring URL"), clean_text("$ acme up URL")
    ('acme opens a second mill in spring', '')
    """
    kept = " ".join(_LEFT_OUT.sub(" ", text).split())
    return kept if len(kept.split()) >= _FEWEST_WORDS else ""


def parsed_days(path: Path, market: Market, nlp: Pipeline | None = None) -> list[list[Sentence]]:
    """The parsed sentences of every day of a market and of the day after the last."""
    openings = Openings(market.dates, OPENING)
    placed = [
        (day, clean)
        for date, at, text in read_tweets(path, market.name)
        if (day := openings.day_of(date, at)) is not None and (clean := clean_text(text))
    ]
    if not placed:
        raise DataError(f"{path} has no tweets about {market.name}")
    found: list[list[Sentence]] = [[] for _ in range(len(market.dates) + 1)]
    nlp = nlp or Pipeline.load(models.find("en"))
    with progress(f"parsing {market.name}", len(placed), "tweets") as bar:
        for (day, _), doc in zip(placed, nlp.pipe(text for _, text in placed), strict=True):
            found[day] += sentences_of(doc)
            bar.advance()
    return found
