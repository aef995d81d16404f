"""AdaGrad with an L1 penalty: the proximal step, and weights that are shrunk later."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.online.sparse_l1 import L1AdaGrad


def dense_twin(gradients, rate, penalty, center):
    """Every weight is shrunk in every step, once it has moved."""
    weights, squares = center.copy(), np.zeros(len(center))
    for gradient in gradients:
        squares += gradient**2
        pace = np.where(squares > 0, rate / np.sqrt(np.maximum(squares, 1e-300)), 0.0)
        weights = weights + pace * gradient
        away = weights - center
        weights = center + np.sign(away) * np.maximum(0.0, np.abs(away) - pace * penalty)
    return weights


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 0.2), st.floats(0.05, 1.0))
def test_lazy_shrinking_ends_where_shrinking_in_every_step_does(seed, penalty, rate):
    draw = np.random.default_rng(seed)
    center = draw.integers(2, size=5).astype(float)
    learner = L1AdaGrad(5, rate, penalty, center)
    gradients = []
    for _ in range(8):
        gradient = np.where(draw.random(5) < 0.4, draw.normal(size=5), 0.0)
        gradients.append(gradient)
        learner.step(np.flatnonzero(gradient), gradient)
    learner.settle()
    np.testing.assert_allclose(learner.weights, dense_twin(gradients, rate, penalty, center), atol=1e-12)


def test_a_large_penalty_leaves_weights_at_their_center():
    learner = L1AdaGrad(2, 0.5, 100.0, np.array([1.0, 0.0]))
    learner.step(np.array([0, 1]), np.array([3.0, -2.0]))
    assert learner.weights.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("options", [{"size": 0}, {"size": 1, "rate": 0.0}, {"size": 1, "penalty": -1.0}])
def test_bad_options_are_refused(options):
    with pytest.raises(ConfigError, match="AdaGrad needs"):
        L1AdaGrad(**options)
