"""Runs on the generated market: backtests, its coverage, and both protocols on a market that drifts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats, Ints
from weft.evaluate.prequential import Folds, cross_validated
from weft.learn.linear.gram import fit_gram_logistic
from weft.recipes.extraction.reading_the_markets.planted import ENTITIES, Made, planted_market
from weft.tasks.forecasting.backtest import REPRESENTATIONS, Backtest, DayCounts, Setup, backtest
from weft.tasks.forecasting.entities import Entities
from weft.tasks.forecasting.features import Sentence
from weft.tasks.forecasting.vectors import OnlineVectors

__all__ = ["Made", "counts_of", "drifting", "mentions", "protocols", "run_generated"]


def counts_of(days: Sequence[Sequence[Sentence]], kinds: Sequence[str], entities: Entities) -> dict[str, DayCounts]:
    """The counts that representations need."""
    counted = dict.fromkeys(REPRESENTATIONS[kind].counted for kind in kinds)
    return {each: DayCounts.of(days, each, entities) for each in counted}


def run_generated(
    seed: int, made: Made, kinds: Sequence[str], setup: Setup | None = None, together: Sequence[str] = ()
) -> Backtest:
    """A generated market forecast day by day."""
    market, days = planted_market(seed, made)
    return backtest(market, counts_of(days, kinds, ENTITIES), kinds, setup, together)


def mentions(seed: int, made: Made) -> float:
    """Mentions of the candidates per day."""
    _, days = planted_market(seed, made)
    return sum(len(ENTITIES.find(sentence.words)) for day in days for sentence in day) / len(days)


def drifting(days: int = 400) -> Made:
    """A market with moods that last, and stories that last eight days, each told in words of its own.

    The words of a story tell when it is: who may train on the days after a day reads its mood off the story.
    """
    return Made(days=days, drift=8, history=1.0, swing=(0.0, 0.0))


def protocols(
    seed: int, made: Made, kind: str, folds: int = 10, least: int = 20, c: float = 1.0
) -> tuple[float, float]:
    """The accuracy of one learner on one set of vectors, trained on past days alone and in cross-validation.

    The vocabulary is that of the whole corpus for both, so that nothing but the days to train on differs.
    """
    market, days = planted_market(seed, made)
    counts = counts_of(days, (kind,), ENTITIES)[REPRESENTATIONS[kind].counted]
    vectors = OnlineVectors(REPRESENTATIONS[kind].scaling, least, allowed=counts.frequent(least))
    for ids, found in counts.days:
        vectors.add(ids, found)
    signs, gram = np.sign(market.changes), vectors.gram()
    usable = np.flatnonzero(vectors.valued & (signs != 0))
    gram, signs = gram[np.ix_(usable, usable)], signs[usable]

    def fit(train: Ints, test: Ints) -> Floats:
        inside = fit_gram_logistic(gram[np.ix_(train, train)], signs[train], 0.5 / c, tolerance=1e-6)
        return np.asarray(gram[np.ix_(test, train)] @ inside)

    start = Setup().start
    ordered = np.array([fit(np.arange(t), np.array([t]))[0] for t in range(start, len(signs))])
    crossed = cross_validated(fit, Folds.random(len(signs), folds, seed))[start:]
    return tuple(100 * float(np.mean(np.sign(each) == signs[start:])) for each in (ordered, crossed))  # type: ignore[return-value]
