"""Softmax regression on binary rows: the optimum that scikit-learn finds, gradients, warm starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.linear.softmax import Rows, _objective, fit_softmax, softmax

LISTS = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True), min_size=3, max_size=12)


def test_the_optimum_is_that_of_scikit_learn():
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    lists = [sorted(set(rng.choice(30, 6).tolist())) for _ in range(80)]
    labels = rng.integers(0, 3, 80)
    rows = Rows.of(lists, 30)
    dense = np.zeros((80, 30))
    for number, row in enumerate(lists):
        dense[number, row] = 1
    peer = linear.LogisticRegression(C=2.0, tol=1e-10, max_iter=5000).fit(dense, labels)
    ours = softmax(rows, fit_softmax(rows, labels, 3, c=2.0, tolerance=1e-8, most=5000))
    assert np.abs(ours - peer.predict_proba(dense)).max() < 1e-4


@settings(deadline=None, max_examples=60)
@given(LISTS, st.integers(0, 1000))
def test_the_gradient_is_that_of_finite_differences(lists, seed):
    rng = np.random.default_rng(seed)
    rows, labels, costs = Rows.of(lists, 6), rng.integers(0, 3, len(lists)), rng.random(len(lists))
    weights, gradient, row = rng.normal(size=(7, 3)), np.zeros((7, 3)), np.zeros(3)

    def value(w):
        return _objective(rows.starts, rows.lengths, rows.columns, labels, costs, w, np.zeros((7, 3)), row)

    _objective(rows.starts, rows.lengths, rows.columns, labels, costs, weights, gradient, row)
    for _ in range(4):
        j, k = rng.integers(7), rng.integers(3)
        moved = np.zeros((7, 3))
        moved[j, k] = 1e-6
        assert gradient[j, k] == pytest.approx((value(weights + moved) - value(weights - moved)) / 2e-6, abs=1e-5)


@settings(deadline=None, max_examples=60)
@given(LISTS, st.integers(0, 1000))
def test_probabilities_sum_to_one_and_a_weight_is_a_repetition(lists, seed):
    labels = np.random.default_rng(seed).integers(0, 2, len(lists))
    rows = Rows.of(lists, 6)
    weight = np.ones(len(lists))
    weight[0] = 2
    once = fit_softmax(rows, labels, 2, weight=weight, tolerance=1e-8)
    twice = fit_softmax(Rows.of([*lists, lists[0]], 6), [*labels, labels[0]], 2, tolerance=1e-8)
    # The bias is not penalized: labels that all rows share push it without end.
    assert np.abs(softmax(rows, once).sum(axis=1) - 1).max() < 1e-12
    if len(set(labels.tolist())) == 2:
        assert np.abs(softmax(rows, once) - softmax(rows, twice)).max() < 1e-4


def test_a_fit_from_the_optimum_stays_there():
    rows, labels = Rows.of([[0], [0, 1], [1], [2], [2, 1]], 3), [0, 0, 1, 1, 1]
    found = fit_softmax(rows, labels, 2, tolerance=1e-8)
    again = fit_softmax(rows, labels, 2, start=found, tolerance=1e-6)
    assert np.array_equal(found, again)
    assert found is not again


def test_rows_and_labels_must_fit():
    with pytest.raises(ConfigError, match="one label per row"):
        fit_softmax(Rows.of([[0]], 1), [0, 1], 2)
    with pytest.raises(ConfigError, match="labels are numbers from 0 to 1"):
        fit_softmax(Rows.of([[0]], 1), [2], 2)
    with pytest.raises(ConfigError, match="columns cannot hold"):
        Rows.of([[3]], 2)
    with pytest.raises(ConfigError, match="C must be above 0"):
        fit_softmax(Rows.of([[0]], 1), [0], 2, c=0)
