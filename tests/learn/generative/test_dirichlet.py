"""Rows of probabilities under a Dirichlet prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma as reference
from scipy.special import gammaln

from weft.errors import ConfigError
from weft.learn.generative.dirichlet import digamma, estimate_rows

ROW = np.array([0, 0, 1, 2], np.int32)
COUNTS = np.array([3.0, 0.5, 2.0, 0.0])


@pytest.mark.parametrize("x", [1e-3, 0.01, 0.5, 1.0, 5.9, 6.0, 40.0, 1e6])
def test_digamma_is_that_of_scipy(x):
    assert digamma(x) == pytest.approx(reference(x), rel=1e-9)


def test_without_a_prior_rows_are_relative_frequencies():
    rows = estimate_rows(COUNTS, ROW, 3, 0.0)
    np.testing.assert_allclose(rows.weight, [6 / 7, 1 / 7, 1, 0])
    assert rows.log_prior == 0


def test_with_a_prior_weights_are_exp_of_expected_logarithms_and_sum_to_less_than_one():
    alpha = 0.1
    rows = estimate_rows(COUNTS, ROW, 3, alpha)
    sums, whole = np.array([3.5, 2.0, 0.0]), alpha * np.array([2, 1, 1])
    np.testing.assert_allclose(rows.weight, np.exp(reference(COUNTS + alpha) - reference(sums + whole)[ROW]))
    np.testing.assert_allclose(rows.unseen, np.exp(reference(alpha) - reference(sums + whole)))
    assert rows.weight[:2].sum() < 1


def test_the_prior_term_is_minus_the_divergence_of_the_rows_from_it():
    alpha = 0.3
    rows = estimate_rows(COUNTS, ROW, 3, alpha)
    divergence = 0.0
    for r in range(3):
        beta = COUNTS[r == ROW] + alpha
        divergence += gammaln(beta.sum()) - gammaln(beta).sum()
        divergence -= gammaln(len(beta) * alpha) - len(beta) * gammaln(alpha)
        divergence += ((beta - alpha) * (reference(beta) - reference(beta.sum()))).sum()
    assert rows.log_prior == pytest.approx(-divergence)


def test_before_anything_is_seen_weights_of_a_row_are_alike_and_the_prior_has_nothing_to_say():
    rows = estimate_rows(np.zeros(4), ROW, 3, 0.1)
    assert len({rows.weight[0], rows.weight[1], rows.unseen[0]}) == 1
    assert rows.log_prior == pytest.approx(0, abs=1e-9)


def test_a_tiny_parameter_leaves_no_weight_at_zero():
    assert estimate_rows(COUNTS, ROW, 3, 1e-4).weight.min() > 0


def test_a_negative_prior_is_refused():
    with pytest.raises(ConfigError, match="positive"):
        estimate_rows(COUNTS, ROW, 3, -1.0)
