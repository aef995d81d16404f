"""Rows of probabilities under a Dirichlet prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma as reference
from scipy.special import gammaln

from weft.errors import ConfigError
from weft.learn.dirichlet import digamma, estimate_rows, prior_rows

ROW = np.array([0, 0, 1, 2], np.int32)
COUNTS = np.array([3.0, 0.5, 2.0, 0.0])


@pytest.mark.parametrize("x", [1e-3, 0.01, 0.5, 1.0, 5.9, 6.0, 40.0, 1e6])
def test_digamma_is_that_of_scipy(x):
    assert digamma(x) == pytest.approx(reference(x), rel=1e-9)


def test_without_a_prior_rows_are_relative_frequencies():
    rows = estimate_rows(COUNTS, ROW, 3, 5, 0.0)
    np.testing.assert_allclose(rows.weight, [6 / 7, 1 / 7, 1, 0])
    assert rows.log_prior == 0


def test_with_a_prior_weights_are_exp_of_expected_logarithms_and_sum_to_less_than_one():
    alpha, n_columns = 0.1, 5
    rows = estimate_rows(COUNTS, ROW, 3, n_columns, alpha)
    sums = np.array([3.5, 2.0, 0.0])
    np.testing.assert_allclose(rows.weight, np.exp(reference(COUNTS + alpha) - reference(sums + 0.5)[ROW]))
    np.testing.assert_allclose(rows.unseen, np.exp(reference(alpha) - reference(sums + 0.5)))
    assert rows.weight[:2].sum() + 3 * rows.unseen[0] < 1


def test_the_prior_term_is_minus_the_divergence_of_the_rows_from_it():
    alpha, n_columns = 0.3, 4
    rows = estimate_rows(COUNTS, ROW, 3, n_columns, alpha)
    divergence = 0.0
    for r in range(3):
        held = COUNTS[r == ROW]
        beta = np.concatenate([held, np.zeros(n_columns - len(held))]) + alpha
        divergence += gammaln(beta.sum()) - gammaln(beta).sum()
        divergence -= gammaln(n_columns * alpha) - n_columns * gammaln(alpha)
        divergence += ((beta - alpha) * (reference(beta) - reference(beta.sum()))).sum()
    assert rows.log_prior == pytest.approx(-divergence)


def test_before_anything_is_seen_all_weights_are_alike_and_the_prior_has_nothing_to_say():
    rows = prior_rows(3, 2, 7, 0.1)
    assert len(set(rows.weight.tolist())) == 1
    assert rows.log_prior == 0
    np.testing.assert_allclose(rows.weight[0], rows.unseen[0])


def test_a_negative_prior_is_refused():
    with pytest.raises(ConfigError, match="positive"):
        estimate_rows(COUNTS, ROW, 3, 5, -1.0)
