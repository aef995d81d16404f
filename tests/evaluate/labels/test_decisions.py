"""Thresholds, and the best F1 without looking, against all decisions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.evaluate.labels.decisions import best_threshold, blind_decisions, chance_f1


def f1(said, gold) -> float:
    said, gold = np.asarray(said, dtype=bool), np.asarray(gold, dtype=bool)
    return 2 * (said & gold).sum() / max(said.sum() + gold.sum(), 1)


@pytest.mark.must_show("video-grounded-words", 6)
@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=12, max_size=12).filter(any))
def test_dinkelbach_finds_the_best_of_all_4096_decisions(positives):
    true, total = np.array(positives), 9
    decisions, value = blind_decisions(true, np.full(12, total))
    chosen = np.array(list(product((0, 1), repeat=12)))
    hits = chosen @ true
    scores = 2 * hits / np.maximum(chosen.sum(axis=1) * total + true.sum(), 1)
    assert abs(value - scores.max()) < 1e-12
    own = 2 * true[decisions].sum() / (decisions.sum() * total + true.sum())
    assert abs(own - value) < 1e-12


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=10).filter(
        lambda x: any(g for _, g in x)
    )
)
def test_no_threshold_is_better(items):
    scores, gold = np.array([float(s) for s, _ in items]), np.array([g for _, g in items])
    best = f1(scores >= best_threshold(scores, gold), gold)
    assert best >= max(f1(scores >= t, gold) for t in scores) - 1e-12


def test_a_coin_is_as_good_as_its_formula():
    rng = np.random.default_rng(0)
    gold = rng.random(200_000) < 0.09
    assert f1(rng.random(200_000) < 0.5, gold) == pytest.approx(chance_f1(0.09), abs=0.003)


def test_a_threshold_needs_a_positive_item():
    with pytest.raises(DataError, match="a positive one"):
        best_threshold([1.0], [0])
