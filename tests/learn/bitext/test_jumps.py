"""The table of jumps: every round raises the likelihood of the counts, up to its maximum."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from weft.learn.bitext.jumps import estimate_jumps, jump_log_prior


def counts_of(seed, longest=4, reach=2):
    """Random numbers of jumps b -> i in sentences of I words, and what the model keeps of them."""
    rng = np.random.default_rng(seed)
    sums, departures = np.zeros(2 * reach + 1), np.zeros((longest + 1, longest + 1))
    for size in range(1, longest + 1):
        for b in range(-1, size):
            for i in range(size):
                n = rng.integers(1, 6) * rng.random()
                sums[np.clip(i - b, -reach, reach) + reach] += n
                departures[size, b + 1] += n
    return sums, departures


def likelihood(table, sums, departures, pseudo):
    reach = len(table) // 2
    value = float(sums @ np.log(table)) + jump_log_prior(table, pseudo)
    for size, start in zip(*np.nonzero(departures), strict=True):
        total = sum(table[np.clip(i - (start - 1), -reach, reach) + reach] for i in range(size))
        value -= departures[size, start] * np.log(total)
    return value


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.5]))
@settings(max_examples=25, deadline=None)
def test_every_round_raises_the_likelihood(seed, pseudo):
    sums, departures = counts_of(seed)
    table = np.full(5, 0.2)
    values = [likelihood(table, sums, departures, pseudo)]
    for _ in range(8):
        table = estimate_jumps(sums, departures, table, pseudo, rounds=1)
        values.append(likelihood(table, sums, departures, pseudo))
    assert np.all(np.diff(values) >= -1e-9 * abs(values[0]))


def test_many_rounds_reach_the_maximum():
    sums, departures = counts_of(3)
    table = estimate_jumps(sums, departures, np.ones(5), pseudo=0.5, rounds=2000)

    def loss(free):
        return -likelihood(np.exp(free - free.max()), sums, departures, 0.5)

    best = minimize(loss, np.zeros(5), method="BFGS")
    assert likelihood(table, sums, departures, 0.5) >= -best.fun - 1e-6
