"""Annotators of whom little is known are taken for one of the crowd."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.learn.generative.dawid_skene import aggregate, held_out


def crowd(seed: int, n_items: int = 60, n_annotators: int = 30, each: int = 5):
    """Items of two classes with a few answers each, by many annotators who are right in 60 to 95 of 100 cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_items)
    ability = rng.uniform(0.6, 0.95, n_annotators)
    items = np.repeat(np.arange(n_items), each)
    annotators = np.concatenate([rng.permutation(n_annotators)[:each] for _ in range(n_items)])
    right = rng.random(len(items)) < ability[annotators]
    return truth, items, annotators, np.where(right, truth[items], 1 - truth[items])


def test_shrinking_predicts_held_out_answers_better_and_labels_no_worse_where_answers_are_few() -> None:
    gains, correct = [], {0.0: 0, 8.0: 0}
    for seed in range(12):
        truth, items, annotators, answers = crowd(seed)
        plain, shrunk = (held_out(items, annotators, answers, 2, each) for each in (0.0, 8.0))
        gains.append(shrunk - plain)
        for shrinkage in correct:
            found = aggregate(items, annotators, answers, 2, shrinkage=shrinkage)
            correct[shrinkage] += int((found.labels == truth).sum())
    assert min(gains) > 0
    assert correct[8.0] >= correct[0.0]


def test_much_shrinking_makes_all_annotators_alike_and_none_changes_nothing() -> None:
    _, items, annotators, answers = crowd(0)
    alike = aggregate(items, annotators, answers, 2, shrinkage=1e6).confusions
    assert np.abs(alike - alike[0]).max() < 1e-3
    plain = aggregate(items, annotators, answers, 2)
    tiny = aggregate(items, annotators, answers, 2, shrinkage=1e-9)
    np.testing.assert_allclose(tiny.posteriors, plain.posteriors, atol=1e-5)
    with pytest.raises(ConfigError, match="at least 0"):
        aggregate(items, annotators, answers, 2, shrinkage=-1)


def test_history_outweighs_the_crowd() -> None:
    _, items, annotators, answers = crowd(1)
    history = np.zeros((30, 2, 2))
    history[3] = [[0, 500], [500, 0]]  # is always wrong
    found = aggregate(items, annotators, answers, 2, history=history, shrinkage=8.0)
    assert found.accuracies[3] < 0.1
    assert np.delete(found.accuracies, 3).min() > 0.4
    assert found.counts.sum() == pytest.approx(len(items))  # the crowd and the history are not counted again
