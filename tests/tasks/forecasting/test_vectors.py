"""Vectors of days against their definition, computed anew every day; and nothing of a later day in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.evaluate.prequential import Past, Recorded, forecast_days, peeks
from weft.tasks.forecasting.learners import HistoryLearner, NewsLearner
from weft.tasks.forecasting.vectors import SCALINGS, WINDOW, OnlineVectors

#: Counts of 5 features on some days.
STREAMS = st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=9)


def stream(days):
    """Days as numbers of features with counts."""
    return [(np.flatnonzero(day), np.asarray(day)[np.flatnonzero(day)]) for day in map(np.array, days)]


def vectors_of(days, scaling="focus", least=3, allowed=None):
    found = OnlineVectors(scaling, least, allowed=allowed)
    for ids, counts in stream(days):
        found.add(ids, counts)
    return found


def rows_by_definition(days, scaling, least, smoothing=10.0):
    """The rows of all days as they are known on the last one, in the order of features; and which have a value."""
    days = np.array(days, dtype=float)
    last = len(days) - 1
    vocabulary = np.flatnonzero((days[:last].sum(axis=0) >= least) & (days[:last].sum(axis=0) > 0))
    rows, valued = np.zeros((len(days), len(vocabulary))), np.zeros(len(days), dtype=bool)
    for t in range(len(days)):
        valued[t] = days[t].any()
        if scaling != "focus":
            rows[t] = days[t, vocabulary]
            continue
        then = np.flatnonzero((days[:t].sum(axis=0) >= least) & (days[:t].sum(axis=0) > 0))  # of that morning
        valued[t] &= t >= WINDOW and len(then) > 0
        if t >= WINDOW and len(then):
            share = [
                (days[t - k, vocabulary] + smoothing) / (days[t - k, then] + smoothing).sum() for k in range(WINDOW + 1)
            ]
            rows[t] = np.log(share[0] / np.mean(share[1:], axis=0))
    if scaling == "unit":
        lengths = np.linalg.norm(rows, axis=1)
        return vocabulary, rows / np.where(lengths > 0, lengths, 1)[:, None], valued
    past = (rows[:last] ** 2).sum(axis=1)[valued[:last]]
    scale = past.mean() if len(past) and past.mean() > 0 else 1.0
    return vocabulary, rows / np.sqrt(scale), valued


@settings(deadline=None, max_examples=80)
@given(STREAMS, st.sampled_from(SCALINGS), st.integers(0, 6))
def test_inner_products_are_those_of_vectors_made_anew(days, scaling, least):
    found = vectors_of(days, scaling, least)
    vocabulary, rows, valued = rows_by_definition(days, scaling, least)
    assert sorted(found.features.tolist()) == vocabulary.tolist()
    assert found.valued.tolist() == valued.tolist()
    assert found.gram() == pytest.approx(rows @ rows.T, abs=1e-5, rel=1e-4)


@pytest.mark.must_show("reading-the-markets", 2)
def test_the_change_in_focus_is_that_of_a_hand_computation():
    # One feature is watched beside another one; the vocabulary is given.
    found = vectors_of([[0, 90, 0, 0, 0]] * 3 + [[20, 70, 0, 0, 0]], allowed=np.array([0, 1]))
    # f = 30/110 today and 10/110 before; the other 80/110 and 100/110.
    assert found.rows[3] == pytest.approx([np.log(3), np.log(0.8)], abs=1e-6)
    assert not found.rows[:3].any()
    assert found.valued.tolist() == [False, False, False, True]


@pytest.mark.must_show("reading-the-markets", 2)
def test_constant_news_has_no_change_and_a_burst_fades_by_its_fourth_day():
    quiet, burst = [5, 40, 0, 0, 0], [45, 40, 0, 0, 0]
    constant = vectors_of([quiet] * 10, allowed=np.array([0, 1]))
    assert np.abs(constant.rows).max() < 1e-6
    # The topic stays as present as on its first day.
    lasting = vectors_of([quiet] * 6 + [burst] * 6, allowed=np.array([0, 1])).rows[:, 0]
    assert np.abs(lasting[:6]).max() < 1e-6
    assert lasting[6] > 0.5
    assert lasting[6] > lasting[7] > lasting[8] > 0.1
    assert np.abs(lasting[9:]).max() < 1e-6


class Weights:
    """A learner whose forecast gives away everything it has: vocabulary, scaling and inner products."""

    def __init__(self, learner):
        self.learner = learner

    def forecast(self, past: Past) -> float:
        said = self.learner.forecast(past)
        vectors = self.learner.vectors
        gram = vectors.gram()
        print_of = float(gram.ravel() @ np.arange(1, gram.size + 1)) + float((vectors.features + 1).sum())
        return said + 1e3 * print_of + 1e6 * float(vectors.divisors.sum())


@settings(deadline=None, max_examples=25)
@given(STREAMS, st.sampled_from(SCALINGS), st.booleans(), st.integers(0, 99))
@pytest.mark.must_show("reading-the-markets", 1)
def test_later_days_change_no_forecast_vocabulary_or_scale(days, scaling, with_history, seed):
    """Deleted, and replaced by other days in another order."""
    rng = np.random.default_rng(seed)
    n = len(days)
    outcomes = rng.choice([-1.0, 0.0, 1.0], n).tolist()
    prices, volumes = (10 + np.cumsum(outcomes)).tolist(), rng.integers(1, 9, n).tolist()

    def series(days, prices):
        return {"news": Recorded(stream(days)), "prices": Recorded(prices, 1), "volumes": Recorded(volumes, 1)}

    def make():
        return Weights(NewsLearner(OnlineVectors(scaling, 2), (1.0, 10.0), with_history))

    assert peeks(make, series(days, prices), outcomes, range(n)) == []
    assert peeks(HistoryLearner, series(days, prices), outcomes, range(n)) == []
    t = int(rng.integers(n))
    later = [[int(k) for k in rng.permutation(day)] for day in days[t + 1 :]]
    other = outcomes[:t] + (-np.array(outcomes[t:]) + 1).tolist()
    moved = prices[:t] + rng.normal(size=n - t).tolist()
    one = forecast_days({"": make()}, series(days, prices), outcomes)[""]
    two = forecast_days({"": make()}, series(days[: t + 1] + later, moved), other)[""]
    assert one[: t + 1].tolist() == two[: t + 1].tolist()


def test_a_vocabulary_of_the_whole_corpus_is_noticed():
    """The paper's cut, which is kept as a variant, reads the future."""
    days = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 3, 1, 0, 0], [2, 0, 0, 1, 0]]
    total = np.array(days).sum(axis=0)
    outcomes = [1.0, -1.0, 1.0, 1.0]

    def learner(known):
        allowed = np.flatnonzero(np.array(days[:known]).sum(axis=0) >= 3)
        return forecast_days(
            {"": NewsLearner(OnlineVectors("counts", 3, allowed=allowed))}, {"news": Recorded(stream(days))}, outcomes
        )[""]

    assert total.tolist() == [4, 4, 1, 1, 0]
    assert learner(3)[3] != learner(4)[3]


def test_settings_that_make_no_sense_are_told():
    with pytest.raises(ConfigError, match="scaling must be one of unit, focus, counts"):
        OnlineVectors("tfidf")
    with pytest.raises(ConfigError, match="smoothing above 0"):
        OnlineVectors("focus", smoothing=0.0)
