"""A generated market whose price follows events between two candidates, with parsed sentences about them.

On half of the days one of Adler and Brook beats the other. Sentences tell so in three ways, and linger for three more
days, each time half as many:

    pair      "Adler defeated Brook in the debate"    says who beats whom by its tree alone
    single    "Brook conceded the race"               says it by a word and the one entity
    topic     "voters discussed taxes"                hints at the winner by a word

Bystanders do all of this too, and attention to topics wanders slowly; neither moves anything. With e = +1 if Adler
wins, -1 if Brook does, and an AR(1) process a,

    change_t = news_t * e_t + history_t * a_t + noise

where the weights of news and history change places every 60 days, so that no component stays the better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

import numpy as np

from weft.tasks.forecasting.entities import Entities
from weft.tasks.forecasting.features import Sentence
from weft.tasks.forecasting.market import Market

ENTITIES = Entities.parse("adler, brook")
_CANDIDATES = ("Adler", "Brook")
_BYSTANDERS = ("Carver", "Dorn", "Elwood")
_PLACES = ("Milton", "Harwick", "Ostend", "Fairview", "Lindau")
_TOPICS = (("taxes", "exports"), ("pensions", "schools"))
#: Words with their tags, heads and labels; W and L are winner and loser, T a topic, P a place.
PAIRS = (
    "W/PROPN/2/nsubj defeated/VERB/0/root L/PROPN/2/obj in/ADP/6/case the/DET/6/det debate/NOUN/2/obl",
    "W/PROPN/7/nsubj ,/PUNCT/4/punct a/DET/4/det senator/NOUN/1/appos from/ADP/6/case P/PROPN/4/nmod "
    "defeated/VERB/0/root L/PROPN/7/obj",
    "L/PROPN/2/nsubj trails/VERB/0/root W/PROPN/2/obj in/ADP/6/case every/DET/6/det poll/NOUN/2/obl",
    "analysts/NOUN/2/nsubj say/VERB/0/root W/PROPN/4/nsubj outran/VERB/2/ccomp L/PROPN/4/obj",
)
SINGLES = (
    "W/PROPN/2/nsubj celebrated/VERB/0/root a/DET/4/det victory/NOUN/2/obj",
    "L/PROPN/2/nsubj conceded/VERB/0/root the/DET/4/det race/NOUN/2/obj",
    "supporters/NOUN/4/nsubj of/ADP/3/case W/PROPN/1/nmod cheered/VERB/0/root",
    "a/DET/2/det scandal/NOUN/3/nsubj hurt/VERB/0/root L/PROPN/3/obj",
)
TOPICS = (
    "voters/NOUN/2/nsubj discussed/VERB/0/root T/NOUN/2/obj in/ADP/5/case P/PROPN/2/obl",
    "the/DET/2/det paper/NOUN/3/nsubj wrote/VERB/0/root about/ADP/5/case T/NOUN/3/obl",
)
NEUTRAL = (
    "W/PROPN/2/nsubj visited/VERB/0/root P/PROPN/2/obj",
    "the/DET/2/det mayor/NOUN/5/nsubj of/ADP/4/case P/PROPN/2/nmod met/VERB/0/root W/PROPN/5/obj",
)
#: How much of the attention to topics stays from day to day.
_SLOW = 0.95
_LINGER = (1.0, 0.5, 0.25, 0.125)


@dataclass(frozen=True)
class Made:
    """How a market is generated."""

    days: int = 400
    sentences: int = 40  #: coverage
    rate: float = 0.5  #: of events a day
    told: tuple[float, float, float] = (7.5, 4.4, 4.5)  #: pair, single and topic sentences of an event at coverage 40
    news: float = 0.6
    history: float = 0.3
    swing: tuple[float, float] = (0.6, 0.8)  #: how far the weights of news and history swing around their means
    noise: float = 0.43  #: who knows the events explains .4 of the variance
    persistence: float = 0.9
    regime: int = 60
    wander: float = 2.0  #: how far attention to the topics wanders for weeks, which moves nothing
    drift: int = 0  #: days after which events are told in new words; 0 never


def planted_market(seed: int, made: Made | None = None) -> tuple[Market, list[list[Sentence]]]:
    """A market and the sentences of each of its days."""
    made = made or Made()
    rng = np.random.default_rng([seed, made.days, made.sentences])
    events = np.where(rng.random(made.days) < made.rate, rng.choice([-1, 1], made.days), 0)
    process = np.zeros(made.days)
    shocks = rng.normal(size=made.days) * np.sqrt(1 - made.persistence**2)
    for t in range(1, made.days):
        process[t] = made.persistence * process[t - 1] + shocks[t]
    regimes = np.arange(made.days) // made.regime % 2
    turn = np.where(regimes == 0, 1.0, -1.0)
    of_news, of_history = made.news * (1 + made.swing[0] * turn), made.history * (1 - made.swing[1] * turn)
    changes = of_news * events + of_history * process + made.noise * rng.normal(size=made.days)
    first = date(2004, 1, 1)
    dates = [(first + timedelta(days=t)).isoformat() for t in range(made.days)]
    volumes = np.abs(rng.normal(1000, 100, made.days))
    market = Market(f"planted {seed}", dates, 50 + np.cumsum(changes), volumes)
    attention = np.zeros(made.days)
    for t in range(1, made.days):
        attention[t] = _SLOW * attention[t - 1] + rng.normal() * made.wander * np.sqrt(1 - _SLOW**2)
    shares = 1 / (1 + np.exp(-attention))
    return market, [_day(rng, events, t, made, float(shares[t])) for t in range(made.days)]


def _day(rng: np.random.Generator, events: np.ndarray, day: int, made: Made, topic: float) -> list[Sentence]:
    """The sentences of a day: about the events of this day and of those before, then about anything.

    `topic` is the share of the first candidate's topics among what is said of topics anyway.
    """
    share = made.sentences / 40
    found: list[Sentence] = []
    for age, left in enumerate(_LINGER):
        if age > day or not events[day - age]:
            continue
        first = events[day - age] > 0
        mark = str((day - age) // made.drift) if made.drift else ""
        winner, loser = _CANDIDATES if first else _CANDIDATES[::-1]
        for templates, mean in zip((PAIRS, SINGLES, TOPICS), made.told, strict=True):
            for _ in range(rng.poisson(mean * left * share)):
                found.append(_sentence(rng, templates, winner, loser, _TOPICS[0 if first else 1], mark))
    while len(found) < made.sentences:
        kind = rng.random()
        if kind < 0.25:
            one, two = rng.permutation(_BYSTANDERS)[:2]
            found.append(_sentence(rng, PAIRS, str(one), str(two), _TOPICS[0]))
        elif kind < 0.55:
            one, two = rng.permutation(_BYSTANDERS)[:2]
            found.append(_sentence(rng, SINGLES, str(one), str(two), _TOPICS[0]))
        elif kind < 0.7:
            found.append(_sentence(rng, TOPICS, "", "", _TOPICS[int(rng.random() >= topic)]))
        else:
            found.append(_sentence(rng, NEUTRAL, _CANDIDATES[rng.integers(2)], "", _TOPICS[0]))
    order = rng.permutation(len(found))
    return [found[k] for k in order[: made.sentences]]


def _sentence(
    rng: np.random.Generator, templates: Sequence[str], winner: str, loser: str, topics: Sequence[str],
    mark: str = "",
) -> Sentence:  # fmt: skip
    """A sentence of a random template; its verbs and nouns have the mark, if there is one."""
    words, tags, heads, labels = _columns(templates[int(rng.integers(len(templates)))])
    said = {
        "W": winner,
        "L": loser,
        "T": topics[int(rng.integers(len(topics)))],
        "P": _PLACES[rng.integers(len(_PLACES))],
    }
    own = (
        said.get(word, word) + (mark if tag in ("NOUN", "VERB") else "") for word, tag in zip(words, tags, strict=True)
    )
    return Sentence(tuple(own), tags, heads, labels)


@cache
def _columns(template: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
    rows = [part.split("/") for part in template.split()]
    words, tags, heads, labels = zip(*rows, strict=True)
    return words, tags, tuple(map(int, heads)), labels
