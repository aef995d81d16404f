"""Logistic regression under L1 and L2: the optimum, zeros, and a bias that nothing shrinks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from weft.errors import ConfigError
from weft.learn.linear.elastic_net import elastic_net, objective


def drawn(seed: int, n: int = 60, size: int = 8):
    draw = np.random.default_rng(seed)
    dense = draw.random((n, size)) * (draw.random((n, size)) < 0.4)
    return csc_array(dense), draw.random(n) < 1 / (1 + np.exp(1 - 4 * dense[:, 0] + 3 * dense[:, 1]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-4, 1e-2, 0.1]), st.sampled_from([1e-5, 1e-3, 0.1]))
def test_no_subgradient_is_left(seed, l1, l2):
    rows, labels = drawn(seed)
    if labels.all() or not labels.any():
        return
    weights = elastic_net(rows, labels, l1, l2, tolerance=1e-8)
    p = 1 / (1 + np.exp(-(rows @ weights[:-1] + weights[-1])))
    gradient = rows.T @ (p - labels) / len(labels) + 2 * l2 * weights[:-1]
    used = weights[:-1] != 0
    assert np.abs(gradient[used] + l1 * np.sign(weights[:-1][used])).max(initial=0) < 1e-6
    assert np.abs(gradient[~used]).max(initial=0) <= l1 + 1e-6
    assert abs((p - labels).mean()) < 1e-6  # the bias is free, so the mean is met whatever the penalties


def test_nothing_nearby_is_better():
    rows, labels = drawn(3)
    weights = elastic_net(rows, labels, 1e-3, 1e-3, tolerance=1e-9)
    best = objective(rows, labels, 1e-3, 1e-3, weights)
    draw = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(50):
            assert objective(rows, labels, 1e-3, 1e-3, weights + size * draw.normal(size=len(weights))) < best


def test_l1_takes_columns_out_and_a_start_changes_nothing():
    rows, labels = drawn(4, 300)
    weak, strong = (elastic_net(rows, labels, l1, 1e-4) for l1 in (1e-4, 3e-2))
    assert (weak[:-1] != 0).sum() > (strong[:-1] != 0).sum() > 0
    assert np.allclose(elastic_net(rows, labels, 3e-2, 1e-4, start=weak), strong, atol=1e-3)


def test_wrong_sizes_and_penalties_are_plain_errors():
    rows, labels = drawn(5)
    with pytest.raises(ConfigError, match="one label per row"):
        elastic_net(rows, labels[:-1], 0.0, 0.0)
    with pytest.raises(ConfigError, match="at least 0"):
        elastic_net(rows, labels, -1.0, 0.0)
