"""The projection of posteriors: its dual against its primal, and the conditions that an optimum meets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from weft.errors import ConfigError
from weft.infer.chains.chain import Chain
from weft.learn.batch.simplex import Groups
from weft.learn.generative.posterior_regularization import project_posterior


def toy(seed, n_outcomes=7, n_features=6):
    """A distribution over a few outcomes with features, each in one of three groups."""
    random = np.random.default_rng(seed)
    log_p = np.log(random.dirichlet(np.ones(n_outcomes)))
    phi = (random.random((n_outcomes, n_features)) < 0.4).astype(np.float64)

    def expect(multipliers):
        score = log_p - phi @ multipliers
        log_z = np.logaddexp.reduce(score)
        q = np.exp(score - log_z)
        return float(log_z), q @ phi, q

    return np.exp(log_p), phi, Groups.of(np.arange(n_features) % 3), expect


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), strength=st.floats(0.05, 5.0))
def test_no_other_distribution_costs_less(seed, strength):
    p, phi, groups, expect = toy(seed)
    found = project_posterior(expect, groups, strength, max_steps=2000, tolerance=1e-8)
    assert found.gap < 1e-6

    def cost(logits):
        q = np.exp(logits - np.logaddexp.reduce(logits))
        return float(q @ np.log(q / p) + strength * groups.maxima(q @ phi).sum())

    assert found.cost == pytest.approx(cost(np.log(found.statistics)), abs=1e-9)
    random = np.random.default_rng(seed)
    starts = [np.log(p), np.log(found.statistics), random.standard_normal(len(p))]
    best = min(minimize(cost, start, method="Nelder-Mead", options={"maxiter": 400}).fun for start in starts)
    assert best >= found.cost - 1e-5


def test_the_start_of_an_earlier_projection_saves_steps():
    _, _, groups, expect = toy(3)
    first = project_posterior(expect, groups, 2.0, max_steps=500, tolerance=1e-8)
    again = project_posterior(expect, groups, 2.0, max_steps=500, tolerance=1e-8, start=first.multipliers)
    assert again.evaluations < first.evaluations
    assert again.cost == pytest.approx(first.cost, abs=1e-6)


def test_strength_0_leaves_the_posterior_as_it_is():
    p, _, groups, expect = toy(4)
    found = project_posterior(expect, groups, 0.0)
    assert found.statistics.tolist() == expect(np.zeros(6))[2].tolist()
    assert (found.cost, found.gap, found.multipliers.any()) == (0, 0, False)
    np.testing.assert_allclose(found.statistics, p)


def test_steps_go_on_until_they_are_enough():
    _, _, groups, expect = toy(5)
    asked = []

    def enough(found):
        asked.append(found.gap)
        return found.gap < 1e-4

    rough = project_posterior(expect, groups, 3.0, max_steps=1, tolerance=1e-8)
    found = project_posterior(expect, groups, 3.0, max_steps=1, tolerance=1e-8, enough=enough, patience=500)
    assert rough.gap > 1e-4 > found.gap
    assert asked[0] >= asked[-1]


def test_bad_strengths_and_starts_are_refused():
    _, _, groups, expect = toy(6)
    with pytest.raises(ConfigError, match="strength=-1"):
        project_posterior(expect, groups, -1)
    with pytest.raises(ConfigError, match="for 2 features, but there are 6"):
        project_posterior(expect, groups, 1, start=np.zeros(2))


def test_chains_are_projected_by_the_same_call():
    # Two words with two labels each, mixed in every sentence; few pairs of word and label are to be in use.
    random = np.random.default_rng(8)
    words = random.integers(0, 3, size=24)
    node, offsets = random.standard_normal((24, 2)), np.arange(0, 25, 4)

    def expect(multipliers):
        chain = Chain(node - multipliers.reshape(24, 2), np.zeros((2, 2)), offsets)
        log_z, parts = chain.log_partition_and_marginals()
        return float(log_z.sum()), parts.node.ravel(), parts

    groups = Groups.of((words[:, None] * 2 + np.arange(2)).ravel())
    plain, sparse = (project_posterior(expect, groups, s, max_steps=2000, tolerance=1e-8) for s in (0.0, 4.0))
    assert sparse.gap < 1e-5
    assert groups.maxima(sparse.expectations).sum() < groups.maxima(plain.expectations).sum() - 0.5
