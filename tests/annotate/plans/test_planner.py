"""Plans of what to check: costs learned from times, calibrated doubts, and what a plan saves."""

from __future__ import annotations

import numpy as np
import pytest

from weft.annotate.plans.calibrate import Calibrator
from weft.annotate.plans.costs import FixedCost, LearnedCost, segment_features
from weft.annotate.plans.planner import Mode, Planner, fixed_units
from weft.errors import ConfigError, DataError


def bursts(seed: int, n: int) -> np.ndarray:
    """Probabilities of errors that come in bursts: enter with .05, leave with .35."""
    rng = np.random.default_rng(seed)
    p, inside = np.zeros(n), False
    for i in range(n):
        inside = rng.random() < (0.65 if inside else 0.05)
        p[i] = rng.beta(5, 3) if inside else rng.beta(1, 12)
    return p


def taken_in_order(doubts: np.ndarray, units: list[tuple[int, int]], wanted: float, cost: FixedCost) -> float:
    """The seconds until units, taken in their order, remove so many expected errors."""
    seconds = removed = 0.0
    for start, end in units:
        if removed >= wanted:
            break
        removed += float(doubts[start:end].sum())
        seconds += float(cost.seconds(segment_features([end - start], [1 - doubts[start:end].mean()]))[0])
    return seconds


@pytest.mark.must_show(
    "annotation-cost-utility", 6, weaker="bursts of 500 and 2,000 words; the recipe varies the switch"
)
@pytest.mark.parametrize("n", [500, 2000])
def test_a_plan_saves_a_fifth_of_the_time_of_fixed_units_and_half_of_single_words(n: int) -> None:
    doubts, cost = bursts(1, n), FixedCost(3.0, 0.9, 1.0)
    wanted = 0.4 * doubts.sum()
    plan = Planner(doubts, [Mode("type", cost)]).for_errors(wanted)
    assert plan.errors >= wanted - 1e-6
    spans = [(each.start, each.end) for each in plan.work]
    assert plan.seconds == pytest.approx(taken_in_order(doubts, spans, np.inf, cost))
    fixed = taken_in_order(doubts, fixed_units(doubts, [], 9), wanted, cost)
    single = taken_in_order(doubts, fixed_units(doubts, [], 1), wanted, cost)
    assert plan.seconds < 0.8 * fixed
    assert plan.seconds < 0.6 * single


@pytest.mark.must_show(
    "annotation-cost-utility", 6, weaker="bursts of 800 words; the recipe varies the switch and corrects a corpus"
)
def test_without_a_switch_words_are_best_and_all_agree_when_everything_is_checked() -> None:
    doubts = bursts(4, 800)
    free = FixedCost(0.0, 0.9, 1.0)
    wanted = 0.4 * doubts.sum()
    plan = Planner(doubts, [Mode("type", free)]).for_errors(wanted)
    single = taken_in_order(doubts, fixed_units(doubts, [], 1), wanted, free)
    assert plan.seconds == pytest.approx(single, rel=0.02)
    dear = FixedCost(30.0, 0.9, 1.0)
    everything = Planner(doubts, [Mode("type", dear)]).for_errors(doubts.sum() - 1e-9)
    whole = taken_in_order(doubts, fixed_units(doubts, [], 20), doubts.sum(), dear)
    assert everything.seconds == pytest.approx(whole, rel=0.02)


def test_two_modes_share_the_work_by_what_they_cost_and_remove() -> None:
    doubts = bursts(2, 300)
    fast, thorough = Mode("respeak", FixedCost(4.0, 0.3, 0.2), 0.7), Mode("type", FixedCost(3.0, 0.9, 1.0), 0.95)
    both = Planner(doubts, [fast, thorough])
    wanted = 0.75 * doubts.sum()  # more than the fast mode removes
    plan = both.for_errors(wanted)
    assert {each.mode for each in plan.work} == {"respeak", "type"}
    assert plan.seconds < Planner(doubts, [thorough]).for_errors(wanted).seconds
    with pytest.raises(DataError, match="at most"):
        Planner(doubts, [fast]).for_errors(wanted)


def test_a_budget_of_time_is_kept_and_more_of_it_removes_more() -> None:
    doubts = bursts(3, 400)
    planner = Planner(doubts, [Mode("type", FixedCost())], [150, 250])
    plans = [planner.for_seconds(seconds) for seconds in (0.0, 30.0, 60.0, 120.0)]
    assert plans[0].work == []
    for plan, seconds in zip(plans, (0.0, 30.0, 60.0, 120.0), strict=True):
        assert plan.seconds <= seconds + 1e-6
        assert all(not each.start < 150 < each.end for each in plan.work)
    assert plans[1].errors < plans[2].errors < plans[3].errors
    rates = [each.errors / each.seconds for each in plans[3].by_rate()]
    assert rates == sorted(rates, reverse=True)
    times = [seconds for _, seconds in planner.what_if([0.2, 0.4, 0.6])]
    assert times == sorted(times)


@pytest.mark.must_show(
    "annotation-cost-utility", 4, weaker="simulated times; the recipe compares the two on five people's real times"
)
def test_the_logarithm_of_times_predicts_short_segments_better_than_times() -> None:
    rng = np.random.default_rng(1)
    lengths, sure = rng.integers(1, 20, 300), rng.uniform(0.3, 1.0, 300)
    x = segment_features(lengths, sure)
    seconds = np.exp(0.8 + 0.7 * x[:, 0] + 0.9 * x[:, 1] + 0.4 * rng.normal(size=300))
    train, test = slice(0, 200), np.flatnonzero((np.arange(300) >= 200) & (lengths <= 2))
    design = np.column_stack([np.ones(300), x])
    raw = design @ np.linalg.lstsq(design[train], seconds[train], rcond=None)[0]
    truth = seconds[test]
    wrong = np.mean(np.abs(raw[test] - truth) / truth)
    for method in ("linear", "gaussian"):
        model = LearnedCost.fit(x[train], seconds[train], method)
        assert np.mean(np.abs(model.seconds(x[test], mean=False) - truth) / truth) < wrong
        total = model.seconds(x[200:]).sum() / seconds[200:].sum()
        assert 0.9 < total < 1.1
        assert model.seconds(x[200:], mean=False).sum() < model.seconds(x[200:]).sum()


@pytest.mark.must_show(
    "annotation-cost-utility", 5, weaker="generated probabilities; the recipe calibrates on halves of two corpora"
)
def test_calibrated_doubts_add_up_to_the_errors_of_labels_held_out() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(8, 1.5, 8000)
    right = rng.random(8000) < p**1.6  # too sure
    ratios, raw = [], []
    for _ in range(10):
        half = rng.permutation(8000)
        known, held = half[:4000], half[4000:]
        wrong = (~right[held]).sum()
        ratios.append(Calibrator.fit(p[known], right[known])(p[held]).sum() / wrong)
        raw.append((1 - p[held]).sum() / wrong)
    assert abs(np.mean(ratios) - 1) < 0.05
    assert abs(np.mean(raw) - 1) > 0.1


def test_doubts_never_rise_with_the_probability() -> None:
    rng = np.random.default_rng(7)
    p = rng.random(500)
    doubts = Calibrator.fit(p, rng.random(500) < p)(np.linspace(0, 1, 200))
    assert (np.diff(doubts) <= 1e-12).all()
    assert doubts[0] > doubts[-1]


def test_what_cannot_be_planned_is_told() -> None:
    mode = Mode("type", FixedCost())
    with pytest.raises(DataError, match="probabilities"):
        Planner([1.2], [mode])
    with pytest.raises(DataError, match="at least one word"):
        Planner([], [mode])
    with pytest.raises(ConfigError, match="mode"):
        Planner([0.5], [])
    with pytest.raises(ConfigError, match="negative"):
        Planner([0.5], [mode]).for_seconds(-1.0)
    with pytest.raises(DataError, match="more than 0 seconds"):
        LearnedCost.fit([[1.0], [2.0], [3.0]], [1.0, 0.0, 2.0])
    with pytest.raises(ConfigError, match="linear, gaussian"):
        LearnedCost.fit([[1.0], [2.0], [3.0]], [1.0, 1.0, 2.0], "cubic")
