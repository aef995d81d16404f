"""Bootstrapping on a toy: two readings per word, and a phrase that only one of them explains."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.learn.latent.training import LatentTraining


class Candidates:
    """Candidates are rows of features."""

    def __init__(self, rows: np.ndarray, right: np.ndarray, weights: np.ndarray) -> None:
        self.rows, self.right, self.scores = rows, right, rows @ weights

    def scatter(self, pull: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        gradient += pull @ self.rows
        return np.arange(len(gradient))


class Toy:
    """Word a has readings 0 and 1, b has 2 and 3; alone both fit, in the pair only 0 with 2."""

    def __init__(self) -> None:
        self.weights = np.zeros(5)

    def candidates(self, example: int, k: int) -> Candidates:
        if example == 0:
            return Candidates(np.eye(5)[[0, 1, 4]], np.array([True, True, False]), self.weights)
        pairs = [(0, 2), (0, 3), (1, 2), (1, 3)]
        rows = np.array([np.eye(5)[a] + np.eye(5)[b] for a, b in pairs])
        order = np.argsort(-(rows @ self.weights), kind="stable")[:k]
        return Candidates(rows[order], np.array([pairs[i] == (0, 2) for i in order]), self.weights)


def test_hidden_readings_are_learned_from_answers():
    model = Toy()
    curve = LatentTraining(passes=10, k=4).fit(model, [0, 1])
    assert curve.right[-1] == 1.0
    assert model.weights[0] > model.weights[1]
    assert model.weights[2] > model.weights[3]


def test_lists_are_made_anew_with_the_weights_of_each_pass():
    class Hidden(Toy):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[float] = []

        def candidates(self, example: int, k: int) -> Candidates:
            self.asked.append(float(self.weights[0]))
            return super().candidates(example, k)

    model = Hidden()
    LatentTraining(passes=3, k=4, average=False).fit(model, [0, 1])
    assert len(set(model.asked)) > 3


def test_an_example_without_a_right_candidate_is_skipped():
    model = Toy()
    model.weights[:] = [0.0, 1.0, 0.0, 1.0, 0.0]
    curve = LatentTraining(passes=1, k=1).fit(model, [1])
    assert curve.reached == [0.0]
    assert model.weights.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]


def test_a_rate_of_zero_is_refused():
    with pytest.raises(ConfigError, match="rate above 0"):
        LatentTraining(rate=0.0).fit(Toy(), [0])
