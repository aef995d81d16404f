"""Tables that back off factor by factor."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.generative.factored import FactoredTable

SIZES = (2, 3, 2)
SAMPLES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)), max_size=12)


def learned(samples: list[tuple[int, ...]], drop: tuple[int, ...] = (2, 0, 1)) -> FactoredTable:
    return FactoredTable.learn([row[:3] for row in samples], [row[3] for row in samples], SIZES, 3, drop)


@pytest.mark.must_show("translation-memory-smt", 2)
@settings(deadline=None)
@given(SAMPLES, st.permutations([0, 1, 2]))
def test_every_context_sums_to_1_seen_or_not(samples: list[tuple[int, ...]], drop: list[int]) -> None:
    found = learned(samples, tuple(drop)).probabilities
    assert found.shape == (*SIZES, 3)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0, atol=1e-12)
    assert (found > 0).all()


@settings(deadline=None)
@given(SAMPLES, st.integers(0, 1), st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))
def test_probabilities_are_those_of_the_formula(samples: list[tuple[int, ...]], a: int, b: int, c: int, x: int) -> None:
    def smoothed(kept: tuple[int, ...]) -> float:
        """P(x | the factors kept), which are dropped from the end of (1, 0, 2)."""
        here = Counter(row[3] for row in samples if all(row[k] == (a, b, c)[k] for k in kept))
        below = smoothed(kept[:-1]) if kept else 1 / 3
        total = sum(here.values())
        return below if total == 0 else (here[x] + len(here) * below) / (total + len(here))

    assert learned(samples).probabilities[a, b, c, x] == pytest.approx(smoothed((1, 0, 2)))


@pytest.mark.must_show("translation-memory-smt", 2)
def test_tables_become_relative_frequencies_as_counts_grow() -> None:
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.ones(3), SIZES)
    gaps = []
    for n in (100, 10_000):
        samples = []
        for context in np.ndindex(*SIZES):
            times = np.round(truth[context] * n).astype(int)
            samples += [(*context, x) for x in range(3) for _ in range(times[x])]
        counts = np.zeros((*SIZES, 3))
        np.add.at(counts, tuple(np.array(samples).T), 1)
        relative = counts / counts.sum(axis=-1, keepdims=True)
        gaps.append(np.abs(learned(samples).probabilities - relative).max())
    assert gaps[1] < 1e-3
    assert gaps[1] < gaps[0] / 50


def test_the_order_of_dropping_names_every_factor_once() -> None:
    with pytest.raises(ConfigError, match="drop"):
        learned([], (0, 1, 1))
    with pytest.raises(ConfigError, match="below"):
        learned([(0, 3, 0, 0)])
