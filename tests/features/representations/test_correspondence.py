"""Pivots, predictors, block SVD and projection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from weft.errors import DataError
from weft.features.representations.correspondence import (
    Correspondence,
    select_pivots_by_count,
    select_pivots_by_information,
    truncated_svd,
)
from weft.learn.linear.huber import huber_loss, huber_slope
from weft.learn.linear.pivots import pivot_predictors


def random_instances(seed: int, n: int = 300, features: int = 40, share: float = 0.15) -> sparse.csr_matrix:
    rng = np.random.default_rng(seed)
    return sparse.csr_matrix((rng.random((n, features)) < share).astype(np.float64))


def dense_correspondence(predictors: np.ndarray, blocks: np.ndarray, h: int) -> np.ndarray:
    """The twin: theta as one matrix, by dense SVDs."""
    parts = []
    for b in range(int(blocks.max()) + 1):
        own = np.where(blocks == b)[0]
        left, values, _ = np.linalg.svd(np.maximum(predictors[own], 0.0), full_matrices=False)
        left = left[:, : min(h, int((values > 1e-7 * values[0]).sum()))]
        theta = np.zeros((len(blocks), left.shape[1]))
        theta[own] = left
        parts.append(theta)
    return np.concatenate(parts, axis=1)


@pytest.mark.must_show("scl-tagging", 1)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_no_predictor_has_a_weight_on_a_feature_of_its_pivots_group(seed: int) -> None:
    rows = random_instances(seed)
    groups = np.random.default_rng(seed).integers(0, 4, rows.shape[1])
    pivots = np.array([0, 5, 11, 17])
    weights = pivot_predictors(rows, pivots, groups, l2=1e-3).toarray()
    for k, pivot in enumerate(pivots):
        assert not weights[groups == groups[pivot], k].any()
        assert weights[groups != groups[pivot], k].any()


def test_without_groups_no_pivot_predicts_another() -> None:
    weights = pivot_predictors(random_instances(0), [1, 2, 3]).toarray()
    assert not weights[[1, 2, 3]].any()
    assert weights[4:].any()


def test_dropping_negative_weights_while_learning_is_dropping_them_afterwards() -> None:
    rows = random_instances(1)
    groups = np.arange(40) // 10
    every = pivot_predictors(rows, [0, 10, 20], groups).toarray()
    positive = pivot_predictors(rows, [0, 10, 20], groups, positive_only=True).toarray()
    assert np.array_equal(np.maximum(every, 0.0), positive)
    assert (every < 0).any()


def test_predictors_of_labels_given_apart_are_those_of_the_columns_that_hold_them() -> None:
    rows = random_instances(2)
    groups = np.arange(40) // 10
    columns = pivot_predictors(rows, [3, 30], groups)
    labels = pivot_predictors(rows, [3, 30], groups, labels=rows[:, [3, 30]])
    assert (columns != labels).nnz == 0


@pytest.mark.must_show("scl-tagging", 2)
def test_modified_huber_is_continuous_and_its_slope_is_the_difference_quotient() -> None:
    margins = np.linspace(-4.0, 4.0, 1601) + 1e-4  # no point within the step of the joints
    step = 1e-6
    quotient = (huber_loss(margins + step) - huber_loss(margins - step)) / (2 * step)
    assert np.allclose(quotient, huber_slope(margins), atol=1e-5)
    for joint in (-1.0, 1.0):
        below, above = joint - 1e-9, joint + 1e-9
        assert abs(huber_loss(below) - huber_loss(above)) < 1e-7
        assert abs(huber_slope(below) - huber_slope(above)) < 1e-7
    assert huber_loss(-1.0) == 4.0
    assert huber_loss(1.0) == 0.0
    assert huber_loss(-3.0) == 12.0


@pytest.mark.must_show("scl-tagging", 3)
@given(seed=st.integers(0, 1000), h=st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_theta_is_orthonormal_and_what_it_leaves_out_is_the_tail_of_singular_values(seed: int, h: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = np.repeat([0, 1, 2], [12, 30, 9])
    predictors = rng.standard_normal((51, 20)) * (rng.random((51, 20)) < 0.5)
    theta = Correspondence.from_predictors(sparse.csr_matrix(predictors), blocks, h)
    for b in range(3):
        rows = theta.theta(b).astype(np.float64)
        assert np.allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-5)
        own = np.maximum(predictors[blocks == b], 0.0)
        left = np.linalg.norm(own - rows.T @ (rows @ own))
        tail = np.linalg.svd(own, compute_uv=False)[h:]
        assert np.isclose(left, np.sqrt((tail**2).sum()), atol=1e-4)
        assert np.allclose(theta.singular[b], np.linalg.svd(own, compute_uv=False)[:h], atol=1e-4)


@pytest.mark.must_show("scl-tagging", 3)
def test_projections_are_25_a_block_and_the_rescaled_norm_is_five_times_that_of_features() -> None:
    rng = np.random.default_rng(3)
    blocks = np.arange(160) % 4
    predictors = sparse.random(160, 60, 0.3, format="csr", random_state=4)
    rows = random_instances(5, n=200, features=160)
    theta = Correspondence.from_predictors(predictors, blocks, h=25)
    assert theta.size == 25 * 4
    scaled = theta.scale_to(rows, 5.0)
    ratio = np.abs(scaled.project(rows)).sum(axis=1, dtype=np.float64).mean() / np.abs(rows).sum(axis=1).mean()
    assert abs(ratio - 5.0) <= 1e-6 * 5
    again = scaled.scale_to(rows[rng.permutation(200)], 5.0)  # scaling what is scaled changes nothing
    assert abs(again.scale - scaled.scale) < 1e-6 * scaled.scale


@given(seed=st.integers(0, 1000), h=st.integers(1, 30))
@settings(max_examples=10, deadline=None)
def test_projection_is_that_of_the_dense_matrix_up_to_signs(seed: int, h: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 3, 40)
    predictors = rng.standard_normal((40, 15))
    rows = random_instances(seed, n=20)
    theta = Correspondence.from_predictors(sparse.csr_matrix(predictors), blocks, h)
    expected = rows.toarray() @ dense_correspondence(predictors, blocks, h)
    assert np.allclose(np.abs(theta.project(rows)), np.abs(expected), atol=1e-4)
    chosen = rng.permutation(theta.size)[: theta.size // 2 + 1]
    assert np.array_equal(theta.project(rows, chosen), theta.project(rows)[:, chosen])


def test_truncated_svd_of_a_large_sparse_matrix_is_that_of_the_dense_one() -> None:
    matrix = sparse.random(400, 200, 0.05, format="csr", random_state=1)
    left, values = truncated_svd(matrix, 8)
    dense_left, dense_values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    assert np.allclose(values, dense_values[:8])
    assert np.allclose(np.abs(left), np.abs(dense_left[:, :8]), atol=1e-6)
    assert np.array_equal(left, truncated_svd(matrix, 8)[0])


def test_pivots_by_count_are_frequent_in_every_domain() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 100, 50), rng.integers(0, 100, 50)
    found = select_pivots_by_count([one, other], more_than=40)
    assert set(found) == {f for f in range(50) if one[f] > 40 and other[f] > 40}
    assert select_pivots_by_count([one, other], 40, at_most=3).tolist() == found[:3].tolist()


def test_pivots_by_information_follow_the_sum_over_the_table() -> None:
    rows = random_instances(7, features=6)
    y = (np.random.default_rng(8).random(300) < 0.4).astype(int)
    dense = rows.toarray() > 0

    def information(f: int) -> float:
        total = 0.0
        for value in (True, False):
            for label in (0, 1):
                p = np.mean((dense[:, f] == value) & (y == label))
                total += p * np.log(p / (np.mean(dense[:, f] == value) * np.mean(y == label)))
        return total

    assert select_pivots_by_information(rows, y).tolist() == sorted(range(6), key=information, reverse=True)


def test_bad_input_is_refused_in_plain_words() -> None:
    rows = random_instances(0)
    with pytest.raises(DataError, match="no pivots"):
        pivot_predictors(rows, [])
    with pytest.raises(DataError, match="40 features need a group each"):
        pivot_predictors(rows, [1], groups=[0, 1])
    theta = Correspondence.from_predictors(sparse.csr_matrix(np.eye(3)))
    with pytest.raises(DataError, match="the map has 3 features"):
        theta.project(rows)
    with pytest.raises(DataError, match="no feature of these instances"):
        theta.scale_to(sparse.csr_matrix((2, 3)))


@pytest.mark.must_show("scl-tagging", 8)
def test_projection_is_the_same_every_time_and_comes_back_from_its_arrays() -> None:
    rows = random_instances(9)
    groups = np.arange(40) // 10
    made = []
    for _ in range(2):
        predictors = pivot_predictors(rows, [0, 1, 12, 22], groups, positive_only=True, seed=3)
        made.append(Correspondence.from_predictors(predictors, groups, h=2, seed=3).scale_to(rows))
    kept = Correspondence.from_arrays(made[0].arrays())
    for other in (made[1], kept):
        assert np.array_equal(made[0].project(rows), other.project(rows))
