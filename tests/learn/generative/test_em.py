from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.learn import expectation_maximization as em


def mixture(data):
    """Two normal distributions of unit variance and equal share; the means are the parameters."""

    def expect(means):
        density = np.exp(-0.5 * (data[:, None] - means) ** 2) / np.sqrt(2 * np.pi) / 2
        total = density.sum(axis=1, keepdims=True)
        return density / total, float(np.log(total).sum())

    def maximize(share):
        return (share * data[:, None]).sum(axis=0) / share.sum(axis=0)

    return expect, maximize


def test_em_climbs_to_the_means_of_a_mixture():
    random = np.random.default_rng(1)
    data = np.concatenate([random.normal(-3, 1, 400), random.normal(3, 1, 400)])
    result = em(*mixture(data), np.array([-0.1, 0.1]), tolerance=1e-10)
    np.testing.assert_allclose(result.parameters, [-3, 3], atol=0.15)
    assert all(b >= a for a, b in pairwise(result.log_likelihoods))
    assert result.why == "converged"


def test_a_falling_likelihood_is_an_error_unless_it_may_fall():
    values = iter([-5.0, -4.0, -6.0, -6.0])

    def expect(x):
        return x, next(values)

    with pytest.raises(ConfigError, match="fell from -4 to -6 in iteration 2"):
        em(expect, lambda x: x, 0)
    values = iter([-5.0, -4.0, -6.0, -6.0])
    assert em(expect, lambda x: x, 0, monotone=False).why == "converged"


def test_limits_and_callbacks_end_em():
    counter = iter(range(1000))
    assert em(lambda x: (x, float(next(counter))), lambda x: x + 1, 0, max_iterations=5).parameters == 5
    stopped = em(lambda x: (x, float(next(counter))), lambda x: x + 1, 0, callback=lambda i, p, v: i == 2)
    assert (stopped.parameters, stopped.why) == (2, "stopped by the callback")


def test_a_projection_stands_between_the_steps_and_is_told_the_bound_before():
    told = []

    def project(parameters, statistics, value, before):
        told.append((parameters, statistics, value, before))
        return statistics + 1, value - 100.0

    result = em(lambda x: (x, float(x)), lambda statistics: statistics, 0, max_iterations=3, project=project)
    assert told == [(0, 0, 0.0, -np.inf), (1, 1, 1.0, -100.0), (2, 2, 2.0, -99.0)]
    assert result.log_likelihoods == [-100.0, -99.0, -98.0]
    assert result.parameters == 3
