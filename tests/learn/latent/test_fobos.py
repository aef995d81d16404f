"""Forward-backward splitting: the lazy weights equal the dense ones bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.latent.fobos import GRID, Fobos


def dense(size, rate, penalty, stream):
    """The same steps on all weights, one threshold after the other, as the definition has it."""
    weights = np.zeros(size)
    for t, (places, gradient) in enumerate(stream, 1):
        step = rate / np.sqrt(t)
        for place, by in zip(places, gradient, strict=True):
            weights[place] = np.rint((weights[place] - step * by) / GRID) * GRID
        by = np.rint(step * penalty / GRID) * GRID
        weights = np.where(weights > by, weights - by, np.where(weights < -by, weights + by, 0.0))
    return weights


def stream_of(seed, size, steps):
    draw = np.random.default_rng(seed)
    return [
        (draw.choice(size, n, replace=False), draw.normal(size=n))
        for n in draw.integers(0, min(4, size) + 1, steps).tolist()
    ]


@pytest.mark.must_show("senti-lssvm", 4)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 60), st.sampled_from([0.0, 1e-4, 0.01, 0.3]))
def test_lazy_weights_equal_dense_ones_bit_for_bit(seed, size, steps, penalty):
    stream = stream_of(seed, size, steps)
    learner = Fobos(size, 0.7, penalty)
    for number, (places, gradient) in enumerate(stream):
        learner.step(places, gradient)
        if number % 7 == 0:  # reading in between changes nothing
            learner.settle(np.array([number % size]))
    assert learner.weights().tobytes() == dense(size, 0.7, penalty, stream).tobytes()


@pytest.mark.must_show("senti-lssvm", 4)
def test_a_larger_penalty_leaves_fewer_weights():
    kept = []
    for penalty in (0.0, 1e-3, 1e-2, 1e-1, 1.0):
        learner = Fobos(200, 0.5, penalty)
        for places, gradient in stream_of(3, 200, 400):
            learner.step(places, gradient)
        kept.append(int(np.count_nonzero(learner.weights())))
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[2] > kept[4]


def test_the_rate_falls_with_the_root_of_the_steps():
    learner = Fobos(1, 1.0, 0.0)
    for _ in range(4):
        learner.step([0], [-1.0])
    assert learner.weights()[0] == pytest.approx(sum(1 / np.sqrt(t) for t in range(1, 5)))


def test_nonsense_is_refused():
    with pytest.raises(ConfigError, match="rate must be above 0"):
        Fobos(3, 0.0, 0.1)
