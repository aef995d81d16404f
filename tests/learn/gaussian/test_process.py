"""Gaussian processes: gradients by differences, limits that are known, and scikit-learn as the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.learn.gaussian.kernels import SquaredExponential, Sum
from weft.learn.gaussian.process import GaussianProcess, marginal_likelihood


@pytest.mark.must_show("annotation-cost-utility", 4)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_gradient_of_the_marginal_likelihood_is_that_of_differences(seed: int, several: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    kernel = SquaredExponential(rng.normal(0, 0.5, 3))
    kernel = Sum(kernel, SquaredExponential(rng.normal(0, 0.5, 3))) if several else kernel
    logs = np.concatenate([kernel.logs, [rng.normal(-0.5, 0.3)]])

    def value(at: np.ndarray) -> float:
        return marginal_likelihood(kernel.with_logs(at[:-1]), float(at[-1]), x, y).value

    found = marginal_likelihood(kernel, float(logs[-1]), x, y).gradient
    step = 1e-5
    for k in range(len(logs)):
        move = np.eye(len(logs))[k] * step
        assert found[k] == pytest.approx((value(logs + move) - value(logs - move)) / (2 * step), rel=1e-5, abs=1e-5)


@pytest.mark.must_show("annotation-cost-utility", 4)
def test_length_scales_grow_for_features_that_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 3))
    process = GaussianProcess.fit(x, np.sin(2 * x[:, 0]) + 0.05 * rng.normal(size=80))
    relevant, *others = process.length_scales.tolist()
    assert min(others) > 5 * relevant


def test_predictions_and_likelihood_are_those_of_scikit_learn() -> None:
    gaussian = pytest.importorskip("sklearn.gaussian_process")
    kernels = gaussian.kernels
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    x, y = (x - x.mean(axis=0)) / x.std(axis=0), (y - y.mean()) / y.std()
    process = GaussianProcess.fit(x, y, starts=3)
    s, *lengths = np.exp(process.kernel.logs).tolist()
    theirs = kernels.ConstantKernel(s * s) * kernels.RBF(lengths) + kernels.WhiteKernel(np.exp(2 * process.log_noise))
    peer = gaussian.GaussianProcessRegressor(theirs, optimizer=None, alpha=1e-9).fit(x, y)
    mean, spread = peer.predict(x[:5] + 0.3, return_std=True)
    found = process.predict(x[:5] + 0.3)
    np.testing.assert_allclose(found.mean, mean, atol=1e-6)
    np.testing.assert_allclose(np.sqrt(found.variance), spread, atol=1e-6)
    assert process.likelihood == pytest.approx(peer.log_marginal_likelihood(peer.kernel_.theta), abs=1e-5)


def test_intervals_hold_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 6, (150, 1))
    y = np.sin(x[:, 0]) + 0.3 * rng.normal(size=150)
    process = GaussianProcess.fit(x[:100], y[:100])
    found = process.predict(x[100:])
    inside = np.abs(found.mean - y[100:]) <= 1.96 * np.sqrt(found.variance)
    assert 0.86 <= inside.mean() <= 1.0


def test_far_from_all_observations_nothing_is_known() -> None:
    x = np.linspace(0, 1, 10)[:, None]
    process = GaussianProcess.fit(x, np.sin(6 * x[:, 0]))
    near, far = process.predict([[0.5], [100.0]]).variance
    assert far > 50 * near
    assert process.predict([[100.0]]).mean[0] == pytest.approx(process.level, abs=1e-6)


def test_what_is_no_observation_is_told() -> None:
    with pytest.raises(DataError, match="rows of features"):
        GaussianProcess.fit([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(DataError, match="finite"):
        GaussianProcess.fit([[1.0], [np.nan]], [1.0, 2.0])
