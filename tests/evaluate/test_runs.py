"""Intervals over runs and items, against the spread of experiments that are made anew."""

import numpy as np
import pytest

from weft.errors import WeftError
from weft.evaluate.hierarchical import hierarchical_interval
from weft.evaluate.runs import compare_over_runs, interval_over_runs, mean_over_runs


def experiment(rng, runs, items, spread_of_runs, spread_of_items):
    """Scores that hang on the run, on the item, and on chance."""
    run, item = rng.normal(0, spread_of_runs, (runs, 1)), rng.normal(0, spread_of_items, (1, items))
    return 0.5 + run + item + rng.normal(0, 0.05, (runs, items))


@pytest.mark.parametrize(("spread_of_runs", "spread_of_items"), [(0.0, 0.5), (0.03, 0.5)])
def test_intervals_cover_the_truth_where_runs_share_their_items(spread_of_runs, spread_of_items):
    rng = np.random.default_rng(0)
    covered = 0
    for number in range(150):
        found = interval_over_runs(experiment(rng, 10, 200, spread_of_runs, spread_of_items), samples=150, seed=number)
        covered += found.low <= 0.5 <= found.high
    assert covered >= 0.88 * 150


def test_items_of_all_runs_taken_for_different_ones_give_an_interval_too_narrow():
    values = experiment(np.random.default_rng(1), 3, 300, 0.0, 0.5)
    right = interval_over_runs(values, samples=300)
    wrong = hierarchical_interval(values.ravel(), [np.repeat(np.arange(3), 300)], samples=300)
    assert right.high - right.low > 1.4 * (wrong.high - wrong.low)
    assert right.value == pytest.approx(wrong.value)


def test_one_run_is_the_bootstrap_over_items_alone():
    values = experiment(np.random.default_rng(2), 1, 100, 0.1, 0.5)
    groups = [np.arange(100) // 5]
    assert interval_over_runs(values, groups, seed=3) == hierarchical_interval(values[0], groups, seed=3)


def test_a_gain_that_hangs_on_the_run_is_less_sure_than_one_that_all_runs_have():
    items = np.random.default_rng(3).random((1, 400)) < 0.6
    base = np.repeat(items, 3, axis=0).astype(float)
    steady, shaky = base.copy(), base.copy()
    steady[:, ~items[0]] += 0.1
    shaky[0, ~items[0]] += 0.3
    sure, unsure = compare_over_runs(steady, base), compare_over_runs(shaky, base)
    assert sure.difference == pytest.approx(unsure.difference)
    assert sure.low > 0
    assert sure.p < 0.01
    assert unsure.low <= 0
    assert unsure.p > 0.05


def test_the_mean_over_texts_is_surer_than_any_of_them_and_the_mean_of_their_differences():
    rng = np.random.default_rng(4)
    pairs = [(base + 0.02, base) for base in (experiment(rng, 3, 200, 0.0, 0.2) for _ in range(4))]
    pairs = [(one + rng.normal(0, 0.1, one.shape), other) for one, other in pairs]
    each = [compare_over_runs(one, other) for one, other in pairs]
    mean = mean_over_runs(pairs)
    assert mean.difference == pytest.approx(np.mean([found.difference for found in each]))
    assert mean.high - mean.low < min(found.high - found.low for found in each)
    assert mean_over_runs(pairs[:1], seed=5) == compare_over_runs(*pairs[0], seed=5)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(WeftError, match="same runs"):
        compare_over_runs(np.ones((2, 5)), np.ones((3, 5)))
    with pytest.raises(WeftError, match="by run and item"):
        interval_over_runs(np.ones(5))
    with pytest.raises(WeftError, match="no test text"):
        mean_over_runs([])
