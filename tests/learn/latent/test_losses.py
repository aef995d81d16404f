"""Losses over lists: derivatives by finite differences, and what they do at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.learn.latent.losses import BeamHinge, SoftmaxMargin


@pytest.mark.parametrize("loss", [SoftmaxMargin(0.0), SoftmaxMargin(1.5), BeamHinge()])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_pull_is_minus_the_derivative(loss, seed):
    random = np.random.default_rng(seed)
    scores, right = random.normal(size=6), random.random(6) < 0.4
    right[0] = True
    _, pull = loss(scores, right)
    step = 1e-6
    for i in range(len(scores)):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        slope = (loss(up, right)[0] - loss(down, right)[0]) / (2 * step)
        assert pull[i] == pytest.approx(-slope, abs=1e-4)


@pytest.mark.parametrize("loss", [SoftmaxMargin(), BeamHinge()])
def test_a_list_without_a_right_answer_teaches_nothing(loss):
    value, pull = loss(np.array([1.0, 2.0]), np.array([False, False]))
    assert value == 0.0
    assert not pull.any()


def test_right_answers_share_the_pull_whatever_their_derivation():
    _, pull = SoftmaxMargin(0.0)(np.array([0.0, 0.0, 0.0]), np.array([True, True, False]))
    assert pull[0] == pytest.approx(pull[1])
    assert pull[0] > 0 > pull[2]


def test_the_hinge_rests_once_all_probability_is_right():
    value, _ = BeamHinge()(np.array([30.0, 0.0]), np.array([True, False]))
    assert value == pytest.approx(0.0, abs=1e-6)
