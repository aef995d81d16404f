"""The consensus of annotators: against enumeration, and what known answers and history change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.learn.generative.dawid_skene import _Run, aggregate, majority


def simulated(seed: int, n: int = 200, abilities: tuple[float, ...] = (0.9, 0.8, 0.6, 0.2)):
    """Items of two classes, answered by annotators of given abilities."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    items, annotators = np.repeat(np.arange(n), len(abilities)), np.tile(np.arange(len(abilities)), n)
    right = rng.random(len(items)) < np.array(abilities)[annotators]
    return truth, items, annotators, np.where(right, truth[items], 1 - truth[items])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_posteriors_and_likelihood_are_those_of_enumeration(seed: int, control: bool) -> None:
    rng = np.random.default_rng(seed)
    n, workers, classes = 3, 2, 3
    items, annotators = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 1, 1])
    answers = rng.integers(0, classes, len(items))
    confusions = rng.dirichlet(np.ones(classes), (workers, classes))
    prior = rng.dirichlet(np.ones(classes))
    known = np.array([-1, int(rng.integers(0, classes)) if control else -1, -1])
    run = _Run(*(np.asarray(each, np.int32) for each in (items, annotators, answers, known)),
               np.zeros((workers, classes, classes)), 1e-9)  # fmt: skip
    (posteriors, counts, _), value = run.expect((confusions, prior))
    total, mass = 0.0, np.zeros((n, classes))
    for world in itertools.product(range(classes), repeat=n):
        if control and world[1] != known[1]:
            continue
        p = np.prod(prior[list(world)])
        for item, worker, answer in zip(items, annotators, answers, strict=True):
            p *= confusions[worker, world[item], answer]
        total += p
        for item, label in enumerate(world):
            mass[item, label] += p
    np.testing.assert_allclose(posteriors, mass / total, atol=1e-12)
    assert value == pytest.approx(np.log(total), abs=1e-5)
    assert counts.sum() == pytest.approx(len(items))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 2.0))
def test_no_iteration_lowers_the_objective(seed: int, smoothing: float) -> None:
    _, items, annotators, answers = simulated(seed, 30)
    found = aggregate(items, annotators, answers, 2, smoothing=smoothing, tolerance=0.0, max_iterations=40)
    assert (np.diff(found.objective) >= -1e-9 * np.abs(found.objective[:-1])).all()


def test_a_contrary_annotator_counts_against_what_they_say() -> None:
    truth, items, annotators, answers = simulated(1)
    found = aggregate(items, annotators, answers, 2)
    voted = majority(items, answers, 2).argmax(axis=1)
    assert (found.labels == truth).mean() > (voted == truth).mean() + 0.02
    assert found.accuracies[3] < 0.35 < found.accuracies[2] < found.accuracies[0]


def test_control_questions_turn_a_crowd_that_is_mostly_wrong() -> None:
    truth, items, annotators, answers = simulated(2, 120, (0.25, 0.3, 0.2, 0.9))
    known = np.where(np.arange(120) < 30, truth, -1)
    without = aggregate(items, annotators, answers, 2)
    taught = aggregate(items, annotators, answers, 2, known=known)
    open_items = known < 0
    assert (without.labels == truth)[open_items].mean() < 0.3
    assert (taught.labels == truth)[open_items].mean() > 0.85
    assert (taught.posteriors[~open_items].max(axis=1) == 1.0).all()


def test_what_an_annotator_did_before_is_worth_as_much_as_answers_now() -> None:
    truth, items, annotators, answers = simulated(3, 400, (0.9, 0.35, 0.35))
    first, rest = items < 300, items >= 300
    history = np.zeros((3, 2, 2))
    np.add.at(history, (annotators[first], truth[items[first]], answers[first]), 1.0)
    new = (items[rest] - 300, annotators[rest], answers[rest])
    with_history = aggregate(*new, 2, history=history)
    alone = aggregate(*new, 2)
    assert (with_history.labels == truth[300:]).mean() > (alone.labels == truth[300:]).mean() + 0.2


def test_wrong_input_is_told() -> None:
    with pytest.raises(DataError, match="no answers"):
        aggregate([], [], [], 2)
    with pytest.raises(DataError, match="classes go to 1"):
        aggregate([0], [0], [2], 2)
    with pytest.raises(ConfigError, match="smoothing"):
        aggregate([0], [0], [1], 2, smoothing=0)
    with pytest.raises(DataError, match="history"):
        aggregate([0], [0], [1], 2, history=np.ones((1, 3, 3)))
    with pytest.raises(DataError, match="known"):
        aggregate([0, 1], [0, 0], [1, 1], 2, known=[0])
