"""Seatings of a Pitman-Yor process against the sequential definition; slice sampling against a grid."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.adaptor.pitman_yor import PitmanYorPrior, log_seating, sample_parameters


def partitions(n):
    """All ways to seat customers 0..n-1, as lists of tables."""
    if n == 0:
        yield []
        return
    for tables in partitions(n - 1):
        for k in range(len(tables)):
            yield [*tables[:k], [*tables[k], n - 1], *tables[k + 1 :]]
        yield [*tables, [n - 1]]


def sequential(sizes, a, b):
    """The probability of a seating, one customer after the other."""
    total, n = 0.0, 0
    for m, size in enumerate(sizes):
        for k in range(size):
            weight = b + m * a if k == 0 else k - a
            total += math.log(weight / (n + b))
            n += 1
    return total


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.floats(0.01, 0.95), st.floats(0.05, 20.0))
@settings(max_examples=60, deadline=None)
def test_a_seating_has_the_probability_of_seating_one_customer_after_the_other(sizes, a, b):
    assert log_seating(sizes, a, b) == pytest.approx(sequential(sizes, a, b), abs=1e-8)
    assert log_seating(sizes[::-1], a, b) == pytest.approx(log_seating(sizes, a, b), abs=1e-9)


def test_the_probabilities_of_all_seatings_sum_to_one():
    total = sum(math.exp(log_seating([len(table) for table in tables], 0.3, 1.5)) for tables in partitions(6))
    assert total == pytest.approx(1.0)


def test_slice_sampling_of_the_parameters_follows_their_posterior():
    """Means against a grid of the joint posterior."""
    sizes, prior = [5, 3, 1, 1, 1], PitmanYorPrior((1.0, 1.0), 2.0, 1.0)
    random = np.array([11], dtype=np.uint64)
    a, b, drawn = 0.5, 1.0, []
    for _ in range(20_000):
        a, b = sample_parameters(sizes, a, b, prior, random)
        drawn.append((a, b))
    grid_a, grid_b = np.linspace(0.005, 0.995, 100), np.linspace(0.05, 15.0, 300)
    log = np.array([[log_seating(sizes, x, y) + math.log(y) - y for y in grid_b] for x in grid_a])
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    exact = (weight.sum(axis=1) @ grid_a, weight.sum(axis=0) @ grid_b)
    assert np.mean(drawn, axis=0) == pytest.approx(exact, rel=0.03)


def test_priors_without_mass_are_refused():
    with pytest.raises(ConfigError, match="above 0"):
        PitmanYorPrior(shape=0.0)
