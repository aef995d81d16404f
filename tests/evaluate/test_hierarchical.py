"""Intervals for sentences that come in documents."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import WeftError
from weft.evaluate.hierarchical import _draws, hierarchical_bootstrap, hierarchical_interval


def simulated(rng, documents=40, sentences=10, spread=1.2) -> tuple[np.ndarray, np.ndarray]:
    """Right or wrong sentences; documents differ in how hard they are. The mean probability over documents is known."""
    hardness = rng.normal(size=documents) * spread
    probability = 1 / (1 + np.exp(-hardness))
    sizes = rng.integers(sentences // 2, 2 * sentences, documents)
    return np.concatenate([rng.random(n) < p for n, p in zip(sizes, probability, strict=True)]), np.repeat(
        np.arange(documents), sizes
    )


@pytest.mark.must_show("latent-sentiment", 7)
def test_intervals_cover_the_truth_where_sentences_come_in_documents():
    rng = np.random.default_rng(0)
    covered = plain = 0
    trials = 150
    for _ in range(trials):
        right, document = simulated(rng)
        interval = hierarchical_interval(right, [document], samples=200, seed=1)
        covered += interval.low <= 0.5 <= interval.high
        alone = hierarchical_interval(right, [], samples=200, seed=1)
        plain += alone.low <= 0.5 <= alone.high
    assert covered / trials >= 0.92
    assert plain / trials < covered / trials - 0.1  # sentences drawn one by one promise too much


def test_every_level_is_drawn_inside_the_one_above():
    fold = np.array([0, 0, 0, 0, 1, 1])
    document = np.array([5, 5, 7, 7, 5, 5])  # numbers of documents are those inside a fold
    for items in _draws([fold, document], 6, samples=200, seed=3):
        assert len(items) % 2 == 0
        for pair in items.reshape(-1, 2):
            assert len({(fold[i], document[i]) for i in pair}) == 1
    sizes = {len(items) for items in _draws([fold, document], 6, samples=200, seed=3)}
    assert sizes == {4, 6, 8}


def test_without_groups_items_are_drawn_one_by_one():
    values = np.array([0.0, 1.0] * 100)
    interval = hierarchical_interval(values, [], samples=500)
    assert interval.value == 0.5
    assert abs((interval.high - interval.low) - 2 * 1.96 * 0.5 / np.sqrt(200)) < 0.02


def test_any_measure_of_sums_can_be_tested():
    rows = np.array([[1, 2, 1], [3, 1, 1]] * 20)
    interval = hierarchical_interval(rows, [np.arange(40) // 4], measure=lambda s: 2 * s[2] / (s[0] + s[1]), samples=50)
    assert interval.value == 4 / 7


def test_equal_systems_do_not_differ():
    rng = np.random.default_rng(1)
    right, document = simulated(rng)
    same = hierarchical_bootstrap(right, right, [document], samples=100)
    assert (same.difference, same.p) == (0.0, 1.0)
    worse = right & (rng.random(len(right)) < 0.8)
    result = hierarchical_bootstrap(right, worse, [document], samples=200)
    assert result.low > 0
    assert result.p < 0.02


def test_what_does_not_fit_is_refused():
    with pytest.raises(WeftError, match="groups name 2 items, but there are 3"):
        hierarchical_interval([1, 0, 1], [[0, 1]])
    with pytest.raises(WeftError, match="no items"):
        hierarchical_interval([], [])
    with pytest.raises(WeftError, match="same items"):
        hierarchical_bootstrap([1, 0], [1], [[0, 1]])
