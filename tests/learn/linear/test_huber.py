"""Modified Huber classifiers: gradient, optimum, both solvers, centre of the penalty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from weft.errors import ConfigError
from weft.learn.linear.huber import HuberObjective, fit_huber, fit_huber_blocks, huber_loss, huber_slope


def problem(seed: int, n: int = 30, d: int = 8, outputs: int = 1):
    rng = np.random.default_rng(seed)
    rows = csr_matrix(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5))
    y = np.sign(rows @ rng.normal(size=(d, outputs)) + rng.normal(size=(n, outputs)))
    y[y == 0] = 1
    return rng, rows, y


@pytest.mark.must_show("scl-sentiment", 2)
@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_gradient_is_the_slope_of_the_value_in_every_direction(seed):
    rng, rows, y = problem(seed)
    oracle = HuberObjective(rows, y[:, 0], rng.random(8), rng.normal(size=8))
    weights = 2 * rng.normal(size=8)  # margins on both sides of -1 and of 1
    gradient = oracle(weights)[1]
    for j in range(8):
        bump = np.zeros(8)
        bump[j] = 1e-6
        numeric = (oracle(weights + bump)[0] - oracle(weights - bump)[0]) / 2e-6
        assert gradient[j] == pytest.approx(numeric, abs=1e-5)


def test_loss_and_slope_are_continuous_where_the_pieces_meet():
    for z in (-1.0, 1.0):
        assert huber_loss(z - 1e-9) == pytest.approx(huber_loss(z + 1e-9), abs=1e-7)
        assert huber_slope(z - 1e-9) == pytest.approx(huber_slope(z + 1e-9), abs=1e-7)


@given(st.integers(0, 10_000), st.sampled_from([0.003, 0.1, 2.0]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_dual_and_primal_find_the_same_classifiers(seed, l2, intercept):
    rng, rows, y = problem(seed, outputs=5)
    centre = rng.normal(size=8)
    options = {"intercept": intercept, "tolerance": 1e-5, "passes": 3000}
    dual = fit_huber(rows, y, l2, centre, solver="dual", **options)
    primal = fit_huber(rows, y, l2, centre, solver="primal", **options)
    np.testing.assert_allclose(dual.weights, primal.weights, atol=2e-3)
    np.testing.assert_allclose(dual.intercept, primal.intercept, atol=2e-3)


def test_blocks_of_outputs_give_what_one_block_gives():
    _, rows, y = problem(3, outputs=7)
    whole = fit_huber(rows, y, 0.1)
    for first, part in fit_huber_blocks(rows, y, 0.1, block=3):
        # A block stops when all of its outputs have settled, so the last passes may differ.
        np.testing.assert_allclose(part.weights, whole.weights[:, first : first + 3], atol=1e-3)


def test_sparse_targets_mean_the_same_as_dense_ones():
    _, rows, y = problem(4, outputs=3)
    dense, sparse = fit_huber(rows, y, 0.1), fit_huber(rows, csr_matrix(y > 0), 0.1)
    np.testing.assert_array_equal(dense.weights, sparse.weights)


@pytest.mark.must_show("scl-sentiment", 2)
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_a_strong_penalty_ties_weights_to_the_centre_and_none_frees_them(solver):
    """The correction step: only some columns (v) are tied to a centre (v_s)."""
    rng, rows, y = problem(5, n=60)
    centre = np.concatenate([np.zeros(4), rng.normal(size=4)])
    tied = fit_huber(rows, y[:, 0], np.repeat([0.1, 1e6], 4), centre, solver=solver, passes=500)
    np.testing.assert_allclose(tied.weights[4:], centre[4:], atol=1e-4)
    assert np.abs(tied.weights[:4]).max() > 0.01
    free = fit_huber(rows, y[:, 0], np.repeat([0.1, 0.0], 4), centre, solver="primal", tolerance=1e-5)
    plain = fit_huber(rows, y[:, 0], np.repeat([0.1, 0.0], 4), solver="primal", tolerance=1e-5)
    np.testing.assert_allclose(free.weights, plain.weights, atol=1e-3)


def test_a_feature_that_no_row_has_keeps_its_centre():
    rows = csr_matrix(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    y = np.array([[1], [-1]])
    assert fit_huber(rows, y, 0.1, [0.0, 0.7]).weights[1, 0] == pytest.approx(0.7)


def test_bad_input_is_refused_in_plain_words():
    rows = csr_matrix(np.eye(3))
    with pytest.raises(ConfigError, match=r"\+1 and -1"):
        fit_huber(rows, [0, 1, 0])
    with pytest.raises(ConfigError, match="3 rows and targets for 2"):
        fit_huber(rows, [1, -1])
    with pytest.raises(ConfigError, match="l2 > 0"):
        fit_huber(rows, [1, -1, 1], l2=0.0, solver="dual")
    with pytest.raises(ConfigError, match="3 features"):
        fit_huber(rows, [1, -1, 1], centre=[0.0, 1.0])
