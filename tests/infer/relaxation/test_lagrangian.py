"""Lagrangian relaxation: bounds hold at every step, certified solutions are the best, bad oracles are found out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.relaxation.lagrangian import relax


def choose_each(n_groups: int, size: int):
    """An oracle that chooses one of every group, and all of its set."""
    points = [np.eye(size)[list(each)].ravel() for each in product(range(size), repeat=n_groups)]

    def oracle(scores):
        best = np.argmax(scores.reshape(n_groups, size), axis=1)
        return np.eye(size)[best].ravel()

    return oracle, np.array(points)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10_000), st.sampled_from(["decaying", "root", "constant"]), st.booleans())
def test_bounds_hold_at_every_step_and_what_is_certified_is_best(seed, step, equal):
    draw = np.random.default_rng(seed)
    oracle, points = choose_each(3, 3)
    scores = draw.normal(size=9)
    rows = draw.integers(0, 2, size=(3, 9)).astype(float)
    limits = rows @ points[draw.integers(len(points))]  # at least one point satisfies the rows, with equality
    found = relax(oracle, scores, rows, limits, np.full(3, equal), step, steps=100)
    off = points @ rows.T - limits
    allowed = points[np.all(off == 0 if equal else off <= 0, axis=1)]
    best = (allowed @ scores).max()
    assert np.all(found.bounds >= best - 1e-9)  # weak duality
    if found.feasible:
        assert any(np.array_equal(found.solution, point) for point in allowed)
        assert found.value <= best + 1e-9
    if found.certified:
        assert found.value == pytest.approx(best)
        assert found.bound == pytest.approx(best)


def test_a_solution_that_satisfies_the_rows_at_once_is_certified_in_one_step():
    oracle, _ = choose_each(2, 2)
    found = relax(oracle, [1.0, 0.0, 1.0, 0.0], np.ones((1, 4)), [2.0])
    assert found.certified
    assert found.steps == 1


def test_feasibility_alone_is_not_a_certificate():
    """With a price that is too high, the oracle avoids what it could afford: feasible, but not the best."""
    oracle, _ = choose_each(1, 2)
    scores, rows = [1.0, 0.5], [[2.0, 0.0]]
    found = relax(oracle, scores, rows, [1.9], step="constant", size=10.0, steps=2)
    assert found.feasible
    assert not found.certified
    assert found.value == 0.5 < found.bound
    assert relax(oracle, scores, rows, [1.9], steps=500).value == 0.5


def test_the_best_feasible_solution_is_kept_when_later_ones_are_worse():
    oracle, _ = choose_each(2, 3)
    draw = np.random.default_rng(3)
    seen = []

    def remembered(scores):
        z = oracle(scores)
        seen.append(z)
        return z

    scores, rows = draw.normal(size=6), np.array([[1.0, 0, 1, 1, 0, 0]])
    found = relax(remembered, scores, rows, [1.0], step="constant", size=2.0, steps=30)
    values = [z @ scores for z in seen if (rows @ z)[0] <= 1.0]
    assert found.value == pytest.approx(max(values))


def test_an_oracle_that_does_not_maximize_is_found_out():
    answers = iter([[0.0, 1.0], [1.0, 0.0]])  # the first is not the best for its scores, so its bound is too low

    with pytest.raises(InferenceError, match="the oracle does not find the maximum"):
        relax(lambda scores: np.array(next(answers)), [1.0, 0.0], [[0.0, 1.0]], [0.5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "long"}, "there is no step 'long'"),
        ({"size": 0.0}, "must be positive"),
        ({"limits": [1.0, 2.0]}, "the rows have the shape"),
        ({"scores": [np.nan, 1.0]}, "NaN"),
    ],
)
def test_what_cannot_be_is_told(change, message):
    oracle, _ = choose_each(1, 2)
    options = {"scores": [1.0, 0.0], "rows": [[1.0, 0.0]], "limits": [1.0]} | change
    with pytest.raises(InferenceError, match=message):
        relax(oracle, **options)
