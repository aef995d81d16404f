"""Intervals of sums over days: resampled by blocks, and of the course of a sum."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import WeftError
from weft.evaluate.blocks import course_interval


def test_the_course_of_independent_days_has_the_interval_of_a_random_walk() -> None:
    earned = np.tile([1.0, -1.0], 200)
    low, high = course_interval(earned, block=1, samples=4000)
    for day in (24, 99, 399):
        width = 1.96 * np.sqrt(day + 1)
        assert high[day] == pytest.approx(width, rel=0.15)
        assert low[day] == pytest.approx(-width, rel=0.15)


def test_days_that_depend_on_their_neighbours_have_a_wider_interval_in_blocks() -> None:
    earned = np.repeat(np.random.default_rng(3).choice([-1.0, 1.0], 80), 5)
    one, five = (course_interval(earned, block=block, seed=1) for block in (1, 5))
    assert (five[1] - five[0])[-1] > 1.6 * (one[1] - one[0])[-1]


def test_a_constant_has_no_interval_and_nothing_cannot_be_resampled() -> None:
    low, high = course_interval(np.ones(7), block=3, samples=20)
    assert low.tolist() == high.tolist() == [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(WeftError, match="nothing to resample"):
        course_interval([])
    with pytest.raises(WeftError, match="at least 1"):
        course_interval([1.0], block=0)
