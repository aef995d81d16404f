"""Logistic and ridge regression from inner products, against a general minimizer of the same objective."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from weft.errors import WeftError
from weft.learn.linear.gram import fit_gram_logistic, fit_ridge


@pytest.mark.parametrize("l2", [5.0, 0.5, 0.05, 0.0005])
@pytest.mark.parametrize("features", [3, 60])
def test_the_optimum_is_that_of_the_weights(l2, features):
    rng = np.random.default_rng(features)
    rows = rng.normal(size=(40, features))
    labels = np.sign(rows[:, 0] + rng.normal(size=40))

    def objective(w):
        z = labels * (rows @ w)
        p = np.exp(-np.logaddexp(0, z))
        return np.logaddexp(0, -z).sum() + l2 * w @ w, -rows.T @ (labels * p) + 2 * l2 * w

    known = minimize(objective, np.zeros(features), jac=True, method="L-BFGS-B", tol=1e-14, options={"maxiter": 5000})
    a = fit_gram_logistic(rows @ rows.T, labels, l2)
    value, gradient = objective(a @ rows)
    assert value <= known.fun + 1e-9 * (1 + abs(known.fun))
    assert np.abs(gradient).max() < 1e-4
    warm = fit_gram_logistic(rows @ rows.T, labels, l2, start=a + rng.normal(size=40))
    assert warm @ rows == pytest.approx(a @ rows, abs=1e-5)


def test_ridge_has_its_closed_form_and_a_free_intercept():
    rng = np.random.default_rng(0)
    rows, targets = rng.normal(size=(20, 4)), rng.normal(size=20) + 7
    weights, intercept = fit_ridge(rows, targets, 2.0)
    left = targets - rows @ weights - intercept
    assert rows.T @ left == pytest.approx(2.0 * weights)
    assert left.sum() == pytest.approx(0, abs=1e-9)


def test_sizes_that_do_not_fit_are_told():
    with pytest.raises(WeftError, match="3 labels need a matrix of 3 x 3"):
        fit_gram_logistic(np.eye(2), [1, -1, 1])
    with pytest.raises(WeftError, match="l2 must be above 0"):
        fit_gram_logistic(np.eye(2), [1, -1], 0.0)
    with pytest.raises(WeftError, match="a target per row"):
        fit_ridge(np.eye(2), [1.0])
