"""Forecasts in the order of days: the guard, the audit of leaks, profit, experts and intervals over blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate.blocks import block_bootstrap, profit_interval
from weft.evaluate.experts import ABSTAINED, AGREED, best_recent, weighted_majority
from weft.evaluate.prequential import (
    Folds,
    LookAheadError,
    Past,
    Recorded,
    cross_validated,
    earnings,
    forecast_days,
    peeks,
    profit,
    random_error,
)

CHANGES = st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=12)


class Reader:
    """Reads one value and says it."""

    def __init__(self, series: str, ahead: int) -> None:
        self.series, self.ahead = series, ahead

    def forecast(self, past: Past) -> float:
        day = past.day + self.ahead
        return float(past[self.series][day]) if day >= 0 else 0.0


def test_the_guard_fails_a_run_that_reads_what_is_not_known():
    series = {"news": Recorded([1.0, 2.0, 3.0, 4.0])}
    outcomes = [1.0, -1.0, 1.0, -1.0]
    assert forecast_days({"": Reader("news", 0)}, series, outcomes)[""].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert forecast_days({"": Reader("outcomes", -1)}, series, outcomes)[""].tolist() == [0.0, 1.0, -1.0, 1.0]
    for reader in (Reader("news", 1), Reader("outcomes", 0), Reader("outcomes", 1)):
        with pytest.raises(LookAheadError, match="not known yet"):
            forecast_days({"": reader}, series, outcomes)
    past = Past(2, {"news": series["news"], "outcomes": Recorded(outcomes, 1)})
    assert (len(past["news"]), len(past["outcomes"])) == (3, 2)
    assert list(past["outcomes"]) == [1.0, -1.0]
    with pytest.raises(LookAheadError, match="counted from 0"):
        past["outcomes"][-1]
    with pytest.raises(WeftError, match="there is no series 'prices'"):
        past["prices"]


def test_the_audit_notices_a_predictor_that_knows_how_much_is_recorded():
    class Sized:
        """Looks behind the guard."""

        def forecast(self, past: Past) -> float:
            return float(len(past["news"]._values))

    outcomes = [1.0, -1.0, 1.0, 1.0, -1.0]
    series = {"news": Recorded(outcomes)}
    assert peeks(lambda: Reader("outcomes", -1), series, outcomes, [1, 2, 4]) == []
    assert peeks(Sized, series, outcomes, [1, 3, 4]) == [1, 3]


@settings(deadline=None)
@given(CHANGES)
@pytest.mark.must_show("reading-the-markets", 5)
def test_omniscience_earns_everything_and_its_inverse_loses_it(changes):
    expected = 100.0 if any(changes) else 0.0
    assert profit(changes, changes) == pytest.approx(expected)
    assert profit([-each for each in changes], changes) == pytest.approx(-expected)
    assert profit(np.zeros(len(changes)), changes) == 0.0
    assert earnings(changes, changes).sum() == pytest.approx(sum(map(abs, changes)))


@pytest.mark.must_show("reading-the-markets", 5)
def test_a_random_predictor_earns_nothing_within_two_standard_errors():
    rng = np.random.default_rng(0)
    changes = rng.normal(size=300) * rng.choice([0.2, 1.0, 3.0], 300)
    found = np.array([profit(rng.choice([-1, 1], 300), changes) for _ in range(400)])
    error = random_error(changes)
    assert abs(found.mean()) < 2 * error / np.sqrt(len(found))
    assert found.std() == pytest.approx(error, rel=0.1)
    assert np.mean(np.abs(found) < 2 * error) > 0.9


def naive_best_recent(forecasts, outcomes, window):
    """The rule in the sheet's words, for two predictors."""
    found = []
    for day in range(len(forecasts[0])):
        one, other = (sum(np.sign(row[t]) * outcomes[t] for t in range(max(day - window, 0), day)) for row in forecasts)
        a, b = np.sign(forecasts[0][day]), np.sign(forecasts[1][day])
        found.append(a if one > other else b if other > one else (a if a == b else 0.0))
    return found


@settings(deadline=None)
@given(st.data())
@pytest.mark.must_show("reading-the-markets", 4)
def test_the_better_of_the_last_days_is_followed(data):
    changes = data.draw(CHANGES)
    n = len(changes)
    row = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=n, max_size=n)
    forecasts, window = [data.draw(row), data.draw(row)], data.draw(st.integers(1, 4))
    found = best_recent(forecasts, changes, window)
    assert found.forecasts.tolist() == naive_best_recent(forecasts, changes, window)
    # The same day's outcome, and later ones, change nothing.
    day = data.draw(st.integers(0, n - 1))
    other = [*changes[:day], *data.draw(st.lists(st.sampled_from([-9.0, 9.0]), min_size=n - day, max_size=n - day))]
    assert best_recent(forecasts, other, window).forecasts[: day + 1].tolist() == found.forecasts[: day + 1].tolist()
    swayed = weighted_majority(forecasts, other).forecasts[: day + 1]
    assert swayed.tolist() == weighted_majority(forecasts, changes).forecasts[: day + 1].tolist()


@pytest.mark.must_show("reading-the-markets", 4)
def test_picks_ties_and_abstentions_of_scripted_earnings():
    news, history = [1, 1, 1, 1, 1, -1], [1, -1, -1, -1, -1, -1]
    changes = [1.0, 2.0, -3.0, -1.0, 1.0, -1.0]
    found = best_recent([news, history], changes)
    # Earnings of three days: equal, equal, 3:-1, 0:2, -2:2, -3:3.
    assert found.followed.tolist() == [AGREED, ABSTAINED, 0, 1, 1, 1]
    assert found.forecasts.tolist() == [1, 0, 1, -1, -1, -1]
    with pytest.raises(WeftError, match="experts need forecasts"):
        best_recent([news, history], changes[:3])


def test_weighted_majority_halves_the_weight_of_mistakes():
    steady, wrong = [1, 1, 1, 1], [-1, -1, -1, 1]
    found = weighted_majority([steady, wrong, wrong], [1.0, 1.0, 1.0, 1.0], beta=0.4)
    assert found.forecasts.tolist() == [-1, 1, 1, 1]  # 1 against 2, then against .8
    assert found.followed.tolist() == [1, 0, 0, AGREED]


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 9))
def test_blocks_are_sums_of_neighbours_that_wrap_around(days, block):
    rows = np.arange(1.0, days + 1)[:, None]
    drawn = []
    block_bootstrap(rows, lambda sums: drawn.extend(sums[:, 0].tolist()) or sums[:, 0], block, samples=50)
    block = min(block, days)
    whole, rest = divmod(days, block)
    ring = np.concatenate([rows[:, 0], rows[:, 0]])
    sums = {float(ring[k : k + block].sum()) for k in range(days)}
    if whole == 1 and not rest:
        assert set(drawn) <= sums
    assert min(drawn) >= whole * min(sums)
    assert drawn[-1] == rows.sum()  # the statistic itself


def test_blocks_widen_the_interval_of_dependent_days():
    rng = np.random.default_rng(1)
    runs = np.repeat(rng.choice([-1.0, 1.0], 60), 5)
    alone, together = (profit_interval(runs, np.ones(300), block) for block in (1, 5))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert alone.value == pytest.approx(100 * runs.mean())
    both = profit_interval(np.stack([runs, runs], axis=1), np.ones((300, 2)), 5)
    assert (both.low, both.high) == pytest.approx((together.low, together.high))  # common moves do not average out


def test_cross_validation_forecasts_every_day_from_other_days():
    folds = Folds.random(10, 3, seed=1)
    seen = {}

    def fit(train, test):
        assert not set(train.tolist()) & set(test.tolist())
        seen.update(dict.fromkeys(test.tolist(), len(train)))
        return np.ones(len(test))

    assert cross_validated(fit, folds).tolist() == [1.0] * 10
    assert len(seen) == 10
