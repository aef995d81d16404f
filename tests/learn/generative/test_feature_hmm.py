"""The hidden Markov model with features (token-type-constraints 1 and 4)."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.features.weights import Layout
from weft.learn import LBFGS, expectation_maximization, minimize
from weft.learn.chains.blocks import FeatureRows
from weft.learn.chains.lattice_model import LatticeBatch, lattice_batches
from weft.learn.generative.feature_hmm import FeatureHMM, HMMObjective


def make_hmm(rng, types, labels, shared=2):
    """Every word with a feature of its own and `shared` kinds of a feature it shares; none: indicators only."""
    rows = np.arange(types)[:, None]
    if shared:
        rows = np.hstack([rows, types + rng.integers(0, shared, (types, 1))])
    features = FeatureRows(rows.astype(np.int32).ravel(), np.arange(types + 1) * rows.shape[1], np.zeros(0))
    return FeatureHMM(features, Layout.from_mask(np.ones((types + shared, labels), dtype=bool)))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    labels, types = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    sentences = np.cumsum([0, *draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))])
    words = rng.integers(0, types, sentences[-1])
    mask = rng.random((len(words), labels)) < 0.6
    mask[np.arange(len(words)), rng.integers(0, labels, len(words))] = True
    return words, sentences, mask, make_hmm(rng, types, labels), rng


@pytest.mark.must_show("token-type-constraints", 1)
@given(problems())
@settings(max_examples=40, deadline=None)
def test_the_likelihood_is_that_of_enumeration(problem):
    words, sentences, mask, hmm, rng = problem
    weights = rng.normal(size=hmm.size)
    emission, transition, first = hmm.tables(weights)
    assert np.exp(emission).sum(axis=0) == pytest.approx(1)
    assert np.exp(transition).sum(axis=1) == pytest.approx(1)
    assert np.exp(first).sum() == pytest.approx(1)
    expected = 0.0
    for s in range(len(sentences) - 1):
        own, lattice = words[sentences[s] : sentences[s + 1]], mask[sentences[s] : sentences[s + 1]]
        scores = [
            first[path[0]]
            + sum(emission[word, label] for word, label in zip(own, path, strict=True))
            + sum(transition[a, b] for a, b in pairwise(path))
            for path in product(*(np.flatnonzero(row) for row in lattice))
        ]
        expected += np.logaddexp.reduce(scores)
    batch = LatticeBatch.from_masks(words, sentences, mask)
    assert HMMObjective(hmm, [batch])(weights)[0] == pytest.approx(-expected)
    everything = LatticeBatch.from_masks(words, sentences, np.ones_like(mask), mask)
    assert HMMObjective(hmm, [everything])(weights)[0] == pytest.approx(-expected)


@pytest.mark.must_show("token-type-constraints", 1)
@given(problems(), st.floats(0, 2))
@settings(max_examples=25, deadline=None)
def test_the_direct_gradient_is_that_of_finite_differences(problem, l2):
    words, sentences, mask, hmm, rng = problem
    objective = HMMObjective(hmm, list(lattice_batches(words, sentences, mask, mask, 30)), l2)
    weights = rng.normal(size=hmm.size)
    gradient = objective(weights)[1].copy()
    for k in rng.choice(hmm.size, 8):
        step = np.zeros(hmm.size)
        step[k] = 1e-5
        rise = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(rise, rel=1e-4, abs=1e-6)


def em_likelihood(batch, hmm, weights):
    """The log-likelihood that EM with tables of counts reaches from the tables of some weights."""
    chain = hmm.chain

    def expect(tables):
        structure = chain.score(batch, tables)
        log_z, marginals = structure.log_partition_and_marginals()
        counts = np.zeros(chain.size)
        chain.scatter(batch, marginals, counts)
        return counts, float(log_z.sum())

    def maximize(counts):
        emission, transition, first = (np.maximum(table, 1e-300) for table in chain.cut(counts))
        tables = (emission / emission.sum(0), transition / transition.sum(1, keepdims=True), first / first.sum())
        return np.log(np.concatenate([table.ravel() for table in tables]))

    start = np.concatenate([table.ravel() for table in hmm.tables(weights)])
    found = expectation_maximization(expect, maximize, start, tolerance=1e-10, max_iterations=2000)
    return found.log_likelihoods[-1]


@pytest.mark.must_show("token-type-constraints", 4)
@pytest.mark.parametrize("seed", range(6))
def test_indicators_without_a_prior_reach_the_likelihood_of_em_from_the_same_start(seed):
    rng = np.random.default_rng(seed)
    types, labels = 12, 3
    sentences = np.arange(0, 401, 8)
    # Each label is mostly followed by the next one: text with structure has one good optimum for both to find.
    hidden = np.cumsum(1 + (rng.random(sentences[-1]) < 0.15)) % labels
    words = hidden * 4 + rng.integers(0, 4, len(hidden))
    mask = rng.random((types, labels)) < 0.4  # a dictionary that leaves some words ambiguous, and none impossible
    mask[np.arange(types), np.arange(types) // 4] = True
    hmm = make_hmm(rng, types, labels, shared=0)
    batch = LatticeBatch.from_masks(words, sentences, mask[words])
    start = 0.1 * rng.normal(size=hmm.size)
    direct = minimize(HMMObjective(hmm, [batch]), start, LBFGS(10), tolerance=1e-7, max_iterations=3000)
    reached = em_likelihood(batch, hmm, start)
    assert -direct.loss >= reached - 1e-4 * abs(reached)
