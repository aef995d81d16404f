"""Forests agree with enumeration of all derivations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.forests.forest import Forest


@st.composite
def forests(draw):
    """Small hypergraphs, some hyperedges forbidden, some items that cannot be made, tails that occur twice."""
    n_items = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    first, tails = [0], []
    for v in range(n_items):
        for _ in range(rng.integers(1 if v == n_items - 1 else 0, 4)):
            n_tails = rng.integers(0, min(v, 2) + 1)
            chosen = rng.integers(0, v, size=n_tails).tolist() if v else []
            tails.append([*chosen, -1, -1][:2])
        first.append(len(tails))
    score = np.where(rng.random(len(tails)) < 0.1, -np.inf, rng.normal(size=len(tails)))
    return Forest(first, np.array(tails, dtype=np.int32).reshape(-1, 2), score)


def derivations(forest, v=None):
    """Every derivation of an item as a tuple of hyperedges, top down."""
    v = forest.n_items - 1 if v is None else v
    found = []
    for e in range(forest.first[v], forest.first[v + 1]):
        if forest.edge_score[e] == -np.inf:
            continue
        ways = [(e,)]
        for tail in forest.tails[e]:
            if tail >= 0:
                ways = [(*way, *more) for way in ways for more in derivations(forest, int(tail))]
        found += ways
    return found


def score_of(forest, derivation):
    return sum(forest.edge_score[e] for e in derivation)


def log_sum(numbers):
    return np.logaddexp.reduce(numbers) if numbers else -np.inf


@settings(max_examples=150, deadline=None)
@given(forests(), st.integers(1, 12))
def test_k_best_derivations_are_the_best_in_order_and_all_different(forest, k):
    every = derivations(forest)
    if not every:
        for verb in (forest.best, forest.inside, lambda: forest.kbest_scored(k)):
            with pytest.raises(InferenceError, match="no derivation"):
                verb()
        return
    scores = sorted((score_of(forest, way) for way in every), reverse=True)
    assert score_of(forest, forest.best()) == pytest.approx(scores[0])
    assert forest.score(forest.best()) == pytest.approx(scores[0])
    found = forest.kbest_scored(k)
    assert [score for _, score in found] == pytest.approx(scores[:k])
    ways = [tuple(way.tolist()) for way, _ in found]
    assert len(set(ways)) == len(ways)
    assert set(ways) <= set(every)
    assert [score_of(forest, way) for way in ways] == pytest.approx(scores[:k])


@settings(max_examples=150, deadline=None)
@given(forests())
def test_sums_are_those_over_all_derivations(forest):
    every = derivations(forest)
    if not every:
        return
    log_z = log_sum([score_of(forest, way) for way in every])
    inside, outside = forest.inside(), forest.outside()
    assert inside[-1] == pytest.approx(log_z)
    expected = np.zeros(len(forest.edge_score))
    for way in every:
        for e in way:
            expected[e] += np.exp(score_of(forest, way) - log_z)
    np.testing.assert_allclose(forest.posteriors(), expected, atol=1e-12)
    for v in range(forest.n_items):
        assert inside[v] == pytest.approx(log_sum([score_of(forest, way) for way in derivations(forest, v)]))
        of_item = expected[forest.first[v] : forest.first[v + 1]].sum()
        if v < forest.n_items - 1:
            assert np.exp(inside[v] + outside[v] - log_z) == pytest.approx(of_item)


@settings(max_examples=20, deadline=None)
@given(forests(), st.integers(0, 100))
def test_samples_have_the_frequencies_of_their_probabilities(forest, seed):
    every = derivations(forest)
    if not every:
        return
    log_z = log_sum([score_of(forest, way) for way in every])
    drawn = [tuple(way.tolist()) for way in forest.sample(2000, seed)]
    assert drawn == [tuple(way.tolist()) for way in forest.sample(2000, seed)]
    count = Counter(drawn)
    probability = Counter()
    for way in every:
        probability[way] += np.exp(score_of(forest, way) - log_z)
    assert set(count) <= set(probability)
    for way, p in probability.items():
        assert abs(count[way] / 2000 - p) < 5 * np.sqrt(p * (1 - p) / 2000) + 1e-3


def test_large_numbers_of_derivations_are_enumerated_lazily():
    n = 40  # 2 ** 40 derivations: a chain of items, each with two hyperedges
    tails = [[v - 1, -1] for v in range(n) for _ in range(2)]
    score = [-(2.0**v) * i for v in range(n) for i in range(2)]
    forest = Forest(np.arange(0, 2 * n + 1, 2), tails, score)
    assert [score for _, score in forest.kbest_scored(1000)] == [-float(i) for i in range(1000)]


def test_forests_out_of_order_are_refused():
    for tails in [[0, -1], [-1, 0], [-2, -1], [5, 5]]:
        with pytest.raises(InferenceError, match="hyperedge"):
            Forest([0, 1], [tails], [0.0])
    with pytest.raises(InferenceError, match="at least one item"):
        Forest([0], np.zeros((0, 2)), [])
    with pytest.raises(InferenceError, match="NaN"):
        Forest([0, 1], [[-1, -1]], [np.nan])
    with pytest.raises(InferenceError, match="k must be"):
        Forest([0, 1], [[-1, -1]], [0.0]).kbest_scored(0)
