"""Mutual information of features and classes; what masks, rank and projection of pivots must be for documents."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from weft.errors import DataError
from weft.features.representations.correspondence import (
    Correspondence,
    mutual_information,
    select_pivots_by_information,
)
from weft.learn.linear.pivots import pivot_predictors


@pytest.mark.must_show("scl-sentiment", 3)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.booleans()), min_size=1, max_size=12))
@settings(max_examples=80, deadline=None)
def test_mutual_information_equals_counting_by_hand(items):
    counts = np.array([[first, second] for first, second, _ in items])
    labels = ["pos" if label else "neg" for _, _, label in items]
    n = len(items)
    found = mutual_information(csr_matrix(counts), labels)
    for feature in range(2):
        expected = 0.0
        for there in (False, True):
            for label in ("pos", "neg"):
                both = sum((row[feature] > 0) == there and y == label for row, y in zip(counts, labels, strict=True))
                p_there = sum((row[feature] > 0) == there for row in counts) / n
                if both:
                    expected += both / n * log(both / n / (p_there * labels.count(label) / n))
        assert found[feature] == pytest.approx(expected, abs=1e-12)


def test_only_eligible_features_become_pivots_and_the_most_telling_come_first():
    rows = csr_matrix([[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 1]])
    assert select_pivots_by_information(rows, [1, 1, 0, 0]).tolist()[0] == 1
    assert 1 not in select_pivots_by_information(rows, [1, 1, 0, 0], eligible=[True, False, True])


def test_labels_for_other_instances_are_refused():
    with pytest.raises(DataError, match="2 instances need as many labels"):
        mutual_information(csr_matrix(np.eye(2)), [1])


@pytest.mark.must_show("scl-sentiment", 1)
@pytest.mark.parametrize("intercept", [False, True])
def test_predictors_of_documents_never_see_a_pivot(intercept):
    rng = np.random.default_rng(0)
    rows = csr_matrix((rng.random((60, 12)) < 0.3).astype(float))
    pivots = np.array([1, 4, 7])
    weights = pivot_predictors(rows, pivots, intercept=intercept).toarray()
    assert weights.shape == (12, 3)
    assert np.count_nonzero(weights[pivots]) == 0
    assert (np.abs(np.delete(weights, pivots, axis=0)).sum(axis=0) > 0).all()


@pytest.mark.must_show("scl-sentiment", 1)
def test_projection_is_orthonormal_and_rebuilds_what_a_dense_decomposition_rebuilds():
    rng = np.random.default_rng(1)
    rows = csr_matrix((rng.random((80, 20)) < 0.3).astype(float))
    weights = pivot_predictors(rows, np.arange(8), intercept=True)
    theta = Correspondence.from_predictors(weights, h=5, positive=False).theta(0).astype(float)
    np.testing.assert_allclose(theta @ theta.T, np.eye(5), atol=1e-5)
    dense = weights.toarray()
    left, values, right = np.linalg.svd(dense, full_matrices=False)
    np.testing.assert_allclose(theta.T @ theta @ dense, left[:, :5] * values[:5] @ right[:5], atol=1e-4)
