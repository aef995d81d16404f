"""Weights for the target: costs of words in the margin, caps of steps, factors of features."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.features.tree_templates import compile_tree_templates
from weft.learn.online.demands import BeatGold
from weft.learn.online.mira import MIRA
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.learn.trees.target_weights import WeighWords, feature_counts, mean_one, ratios, target_odds

TEMPLATES = "arc: h.w|m.w h.w m.w h.t|m.t"


def sentence(rng, n, costs=None, weight=1.0):
    values = rng.integers(1, 6, (n + 1, 2)).astype(np.uint64)
    words = TreeWords(values, np.zeros(n + 2, np.int64), np.zeros(0, np.uint64))
    gold = np.array([0, *(rng.integers(1, i + 1) for i in range(1, n))], dtype=np.int32)
    return TreeBatch(np.array([0, n]), words, gold, np.array([weight]), costs=costs)


def model(factors=None):
    return TreeModel(compile_tree_templates(TEMPLATES, ["w", "t"]), bits=10, factors=factors)


def trained(batches, demands=None, cap=math.inf, factors=None, k=1):
    learner = MIRA(3, k=k, cap=cap, demands=demands, seed=1)
    return learner.fit(model(factors), batches).weights


@pytest.fixture
def batches():
    rng = np.random.default_rng(3)
    return [sentence(rng, int(rng.integers(2, 7))) for _ in range(30)]


@pytest.mark.must_show("hard-domain-adaptation", 1)
@pytest.mark.parametrize("worst", [False, True])
def test_costs_of_1_and_factors_of_1_take_exactly_the_steps_of_the_plain_learner(batches, worst):
    plain = trained(batches, BeatGold(worst=worst), cap=0.05)
    weighed = [replace(batch, costs=np.ones(len(batch.gold))) for batch in batches]
    assert np.any(plain != 0)
    assert np.array_equal(trained(weighed, WeighWords(worst), cap=0.05), plain)
    assert np.array_equal(trained(batches, WeighWords(worst), cap=0.05), plain)
    assert np.array_equal(trained(batches, BeatGold(worst=worst), 0.05, np.ones(1 << 10)), plain)


@pytest.mark.must_show("hard-domain-adaptation", 2)
@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6), st.integers(1, 4))
def test_the_loss_of_every_constraint_is_the_sum_of_the_costs_of_wrong_heads(n, seed, k):
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.1, 4.0, n)
    batch = sentence(rng, n, costs)
    trees = model().score(batch, rng.normal(size=1 << 10))
    demand = WeighWords()(trees, batch, k)
    solutions = [trees.best()] if k == 1 else trees.kbest(k)[0]
    wrong = [heads for heads in solutions if (heads != batch.gold).any()]
    expected = [
        costs[heads != batch.gold].sum() - trees.score(batch.gold)[0] + trees.score(heads)[0] for heads in wrong
    ]
    if wrong and max(expected) > 0:
        assert demand.missing == pytest.approx(expected)
    else:
        assert not demand.missing


@pytest.mark.must_show("hard-domain-adaptation", 2)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.001, 0.5), st.sampled_from([0.5, 1.0, 3.0]))
def test_a_step_is_what_the_margin_asks_for_and_never_longer_than_the_cap_times_the_weight(seed, cap, weight):
    rng = np.random.default_rng(seed)
    batch = sentence(rng, 5, rng.uniform(0.1, 4.0, 5), weight)
    own = model()
    start = rng.normal(size=own.size)
    run = MIRA(1, k=1, cap=cap, demands=WeighWords(), average=False).begin(own, [batch], start)
    trees = own.score(batch, start)
    best = trees.best()
    run.visit([batch])
    if not (best != batch.gold).any():
        assert np.array_equal(run.weights, start)
        return
    slots, values = own.sparse(batch, trees.parts(batch.gold) - trees.parts(best))
    asked = batch.costs[best != batch.gold].sum() - trees.score(batch.gold)[0] + trees.score(best)[0]
    step = min(max(asked, 0.0) / float(values @ values), cap * weight) if len(values) else 0.0
    moved = run.weights - start
    assert moved[slots] == pytest.approx(step * values, abs=1e-9)
    assert np.count_nonzero(moved) <= len(slots)


def test_a_cost_of_0_asks_for_nothing():
    rng = np.random.default_rng(0)
    batches = [sentence(rng, 5, np.zeros(5)) for _ in range(5)]
    assert not trained(batches, WeighWords()).any()


def test_factors_scale_features_in_scores_and_in_steps(batches):
    factors = np.random.default_rng(0).uniform(0.5, 2.0, 1 << 10)
    weights = trained(batches, factors=factors)
    batch = batches[0]
    scaled, plain = model(factors).score(batch, weights), model().score(batch, weights * factors)
    assert scaled.arc == pytest.approx(plain.arc)
    parts = scaled.parts(batch.gold)
    slots, values = model().sparse(batch, parts)
    assert model(factors).sparse(batch, parts)[1] == pytest.approx(values * factors[slots])


def test_features_are_counted_over_all_arcs(batches):
    counts = feature_counts(model(), batches[0])
    assert counts.total == len(model().active(batches[0]))


def test_features_that_share_a_weight_are_counted_apart(batches):
    counts = feature_counts(model(), batches[0])
    assert len(counts.features) > len(set(counts.slots.tolist()))  # 10 bits are too few for them
    slots = np.bincount(model().active(batches[0]), minlength=1 << 10)
    assert np.array_equal(np.bincount(counts.slots, weights=counts.times, minlength=1 << 10), slots)


def test_ratios_of_the_same_counts_are_1_and_means_are_1():
    counts = Counter(a=3, b=7)
    assert set(ratios(counts, counts).values()) == {1.0}
    assert ratios(counts, Counter(a=100))["b"] == 0.25  # kept within bounds
    assert mean_one(np.array([2.0, 6.0])).tolist() == [0.5, 1.5]
    with pytest.raises(ConfigError, match="all weights are 0"):
        mean_one(np.zeros(2))


def test_sentences_that_resemble_the_target_have_higher_odds():
    rng = np.random.default_rng(0)
    source = [["noun"] * int(rng.integers(1, 6)) + ["verb"] * int(rng.integers(0, 3)) for _ in range(60)]
    target = [["noun"] * int(rng.integers(0, 2)) + ["verb"] * int(rng.integers(1, 5)) for _ in range(40)]
    odds = target_odds(source, target)
    share = np.array([row.count("verb") / len(row) for row in source])
    assert odds[share > 0.4].mean() > 2 * odds[share == 0].mean()
    assert odds.min() >= 0.25
    assert odds.max() <= 4.0
