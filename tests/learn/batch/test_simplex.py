from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.batch.simplex import Groups, project_simplex

numbers = st.lists(st.floats(-5, 5), min_size=1, max_size=6)


def by_bisection(values, radius, equal):
    """The threshold found without sorting: the sum falls as it rises."""
    values = np.asarray(values)
    if not equal and np.maximum(values, 0).sum() <= radius:
        return np.maximum(values, 0)
    low, high = values.min() - radius - 1, values.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(values - middle, 0).sum() > radius else (low, middle)
    return np.maximum(values - high, 0)


@settings(max_examples=60, deadline=None)
@given(groups=st.lists(numbers, min_size=1, max_size=4), radius=st.floats(0, 4), equal=st.booleans())
def test_every_group_is_projected_as_bisection_does(groups, radius, equal):
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    found = project_simplex(np.concatenate(groups), offsets, radius, equal)
    for group, first, end in zip(groups, offsets, offsets[1:], strict=False):
        np.testing.assert_allclose(found[first:end], by_bisection(group, radius, equal), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(values=numbers, radius=st.floats(0.01, 4), seed=st.integers(0, 1000))
def test_no_point_of_the_set_is_nearer(values, radius, seed):
    values = np.array(values)
    found = project_simplex(values, [0, len(values)], radius)
    assert found.min() >= 0
    assert found.sum() <= radius + 1e-9
    other = np.random.default_rng(seed).dirichlet(np.ones(len(values))) * radius
    assert np.sum((found - values) ** 2) <= np.sum((other - values) ** 2) + 1e-9


def test_groups_may_be_scattered():
    groups = Groups.of([3, 1, 3, 1, 9])
    values = np.array([1.0, 2.0, 3.0, 4.0, -1.0])
    assert len(groups) == 3
    assert groups.maxima(values).tolist() == [4, 3, -1]
    assert groups.sums(values).tolist() == [6, 4, -1]
    assert groups.project(values, 2.0).tolist() == [0, 0, 2, 2, 0]


def test_nothing_has_no_groups():
    groups = Groups.of(np.zeros(0, dtype=np.int64))
    assert (len(groups), groups.maxima(np.zeros(0)).size, groups.project(np.zeros(0), 1.0).size) == (0, 0, 0)


def test_a_negative_radius_is_refused():
    with pytest.raises(ConfigError, match="radius=-1"):
        project_simplex([1.0], [0, 1], -1)
