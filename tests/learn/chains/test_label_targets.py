from __future__ import annotations

import time
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_twins import central_differences, chain_problem, relative_error
from steps import steps_of

from weft.errors import ConfigError
from weft.infer.chains.chain import Chain
from weft.learn import Gold, LabelExpectations, LabelTargets, Objective, Partial
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch, ChainModel, FeatureRows, Layout

DISTANCES = ("squared", "kl")


def random_problem(seed, n, m):
    """Scores of one chain, and targets at a random set of its positions (at least one)."""
    random = np.random.default_rng(seed)
    node, edge = random.normal(size=(n, m)), random.normal(size=(m, m))
    constrained = random.random(n) < 0.6
    constrained[random.integers(n)] = True
    values = random.dirichlet(np.ones(m), size=n)
    targets = LabelTargets.of(values, constrained, LabelSpace([str(i) for i in range(m)]), [0, n])
    return node, edge, SimpleNamespace(constraints=targets, weight=np.array([1.7]))


def enumerated(node, edge, batch, signal):
    """Value, and the covariances of all nodes and edges with sum_i u_{i, y_i}, by a walk over all labellings."""
    n, m = node.shape
    paths = np.array(list(product(range(m), repeat=n)))
    rows = np.arange(n)
    scores = np.array([node[rows, y].sum() + edge[y[:-1], y[1:]].sum() for y in paths])
    p = np.exp(scores - np.logaddexp.reduce(scores))
    targets = batch.constraints
    expected = np.array([[p[paths[:, i] == label].sum() for label in range(m)] for i in targets.positions])
    value = batch.weight[0] * signal.value(targets.values, expected).sum()
    u = 2 * (targets.values - expected) if signal.distance == "squared" else targets.values / expected
    g = sum(u[k, paths[:, i]] for k, i in enumerate(targets.positions))
    of_node, of_edge = np.zeros((n, m)), np.zeros((m, m))
    for chance, y, gap in zip(p, paths, g - p @ g, strict=True):
        of_node[rows, y] += batch.weight[0] * chance * gap
        np.add.at(of_edge, (y[:-1], y[1:]), batch.weight[0] * chance * gap)
    return value, of_node, of_edge


@pytest.mark.must_show("cliper", 1)
@pytest.mark.parametrize("distance", DISTANCES)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), m=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_parts_are_the_covariances_of_all_labellings_and_agree_with_central_differences(distance, seed, n, m):
    node, edge, batch = random_problem(seed, n, m)
    signal = LabelExpectations(distance)
    value, parts = signal(Chain(node, edge, [0, n]), batch)
    expected, of_node, of_edge = enumerated(node, edge, batch, signal)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(parts.node, of_node, atol=1e-10)
    np.testing.assert_allclose(parts.edge, of_edge, atol=1e-10)

    def of_scores(scores):
        chain = Chain(scores[: n * m].reshape(n, m), scores[n * m :].reshape(m, m), [0, n])
        return signal(chain, batch)[0]

    scores = np.concatenate([node.reshape(-1), edge.reshape(-1)])
    found = np.concatenate([parts.node.reshape(-1), parts.edge.reshape(-1)])
    assert np.abs(found - central_differences(of_scores, scores)).max() <= 1e-6 * max(1.0, np.abs(found).max())


@pytest.mark.must_show("cliper", 1)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("order", [1, 2])
def test_the_gradient_of_a_model_agrees_with_central_differences(distance, order):
    model, batch = chain_problem(3, order=order)
    random = np.random.default_rng(order)
    size = len(model.space.labels)
    values = random.dirichlet(np.ones(size), size=batch.n_words)
    targets = LabelTargets.of(values, random.random(batch.n_words) < 0.5, model.space, batch.sentences)
    batch = replace(batch, gold=None, constraints=targets, weight=random.random(len(batch)) + 0.5)
    weights = random.normal(size=model.size)
    signal = LabelExpectations(distance, strength=0.7)
    gradient = np.zeros(model.size)
    model.scatter(batch, signal(model.score(batch, weights), batch)[1], gradient)

    def value(w):
        return signal(model.score(batch, w), batch)[0]

    assert relative_error(gradient, central_differences(value, weights)) < 1e-6


@pytest.mark.must_show("cliper", 2)
@pytest.mark.parametrize("order", [1, 2])
def test_a_model_whose_own_marginals_are_the_targets_is_not_moved(order):
    model, batch = chain_problem(4, order=order)
    weights = np.random.default_rng(5).normal(size=model.size)
    chain = model.score(batch, weights)
    own = model.space.label_marginals(chain.node_marginals())
    everywhere = np.ones(batch.n_words, dtype=bool)
    for distance, exact in (("squared", 0.0), ("kl", 1e-12)):
        targets = LabelTargets.of(own, everywhere, model.space, batch.sentences)
        value, parts = LabelExpectations(distance)(chain, replace(batch, constraints=targets))
        assert abs(value) <= exact
        assert np.abs(parts.node).max() <= exact
        assert np.abs(parts.edge).max() <= exact


@pytest.mark.must_show("cliper", 3)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), m=st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_kl_with_one_hard_target_is_a_partially_observed_chain(seed, n, m):
    random = np.random.default_rng(seed)
    chain = Chain(random.normal(size=(n, m)), random.normal(size=(m, m)), [0, n])
    at, label = int(random.integers(n)), int(random.integers(m))
    values, constrained = np.zeros((n, m)), np.zeros(n, dtype=bool)
    values[at, label], constrained[at] = 1.0, True
    targets = LabelTargets.of(values, constrained, LabelSpace([str(i) for i in range(m)]), [0, n])
    allowed = np.ones((n, m), dtype=bool)
    allowed[at] = values[at] > 0
    batch = SimpleNamespace(constraints=targets, allowed=allowed, weight=np.array([1.3]))
    value, parts = LabelExpectations("kl")(chain, batch)
    same, clamped = Partial()(chain, batch)
    assert value == pytest.approx(same)
    np.testing.assert_allclose(parts.node, clamped.node, atol=1e-10)
    np.testing.assert_allclose(parts.edge, clamped.edge, atol=1e-10)


def labelling_problem(seed, length, words=6400, labels=4, features=20):
    """Sentences of one length with random features, gold labels and targets."""
    random = np.random.default_rng(seed)
    sentences = np.arange(0, words + 1, length)
    rows = random.integers(0, 5000, size=words * features).astype(np.int32)
    node = FeatureRows(rows, np.arange(0, words * features + 1, features), np.zeros(0))
    space = LabelSpace([str(i) for i in range(labels)])
    model = ChainModel(
        space, Layout.from_mask(np.ones((5000, labels), dtype=bool)),
        np.arange(labels**2, dtype=np.int32).reshape(labels, labels),
    )  # fmt: skip
    targets = LabelTargets.of(
        random.dirichlet(np.ones(labels), size=words), random.random(words) < 0.8, space, sentences
    )
    gold = random.integers(0, labels, size=words).astype(np.int32)
    batch = ChainBatch(sentences, node, None, gold, np.ones(len(sentences) - 1), constraints=targets)
    return Objective(model, [batch], Gold()), Objective(model, [batch], LabelExpectations())


@pytest.mark.must_show("cliper", 4)
def test_a_gradient_takes_at_most_three_times_the_steps_of_a_supervised_one_and_grows_with_the_length_of_sentences():
    steps = []
    for length in (5, 20, 80, 160):
        for objective in labelling_problem(1, length, words=160):
            weights = np.random.default_rng(0).normal(size=objective.model.size) * 0.1
            steps.append(steps_of(lambda each=objective, weights=weights: each(weights)))
    supervised, ours = steps[::2], steps[1::2]
    assert max(our / their for our, their in zip(ours, supervised, strict=True)) <= 3.0, steps
    # The same number of words in sentences up to 32 times as long: linear in words is about the same number of steps.
    assert max(ours) <= 1.5 * min(ours), steps


def seconds(objectives, rounds=15):
    """The best time of each, taken in turn: a busy machine changes its mind."""
    best = [np.inf] * len(objectives)
    for _ in range(rounds):
        for i, objective in enumerate(objectives):
            weights = np.random.default_rng(0).normal(size=objective.model.size) * 0.1
            started = time.process_time()
            objective(weights)
            best[i] = min(best[i], time.process_time() - started)
    return best


@pytest.mark.must_show("cliper", 4)
@pytest.mark.timing
def test_a_gradient_costs_at_most_three_supervised_ones_and_grows_with_the_length_of_sentences():
    lengths = (10, 40, 160, 320)
    best = seconds([each for length in lengths for each in labelling_problem(1, length)])
    supervised, ours = best[::2], best[1::2]
    assert max(our / their for our, their in zip(ours, supervised, strict=True)) <= 3.0, best
    # The same number of words in sentences up to 32 times as long: linear time is about the same time.
    assert max(ours) <= 2.5 * min(ours), best


@pytest.mark.must_show("cliper", 4)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("scale", [1.0, 40.0, 400.0])
def test_sentences_of_thousands_of_words_stay_finite(distance, scale):
    random = np.random.default_rng(6)
    n, m = 3000, 5
    chain = Chain(scale * random.normal(size=(n, m)), scale * random.normal(size=(m, m)), [0, n])
    targets = LabelTargets.of(random.dirichlet(np.ones(m), size=n), random.random(n) < 0.7,
                              LabelSpace([str(i) for i in range(m)]), [0, n])  # fmt: skip
    value, parts = LabelExpectations(distance)(chain, SimpleNamespace(constraints=targets, weight=np.ones(1)))
    assert np.isfinite(value)
    assert np.isfinite(parts.node).all()
    assert np.isfinite(parts.edge).all()


def test_batches_take_their_targets_along():
    model, batch = chain_problem(7)
    random = np.random.default_rng(8)
    values = random.dirichlet(np.ones(len(model.space.labels)), size=batch.n_words)
    targets = LabelTargets.of(values, random.random(batch.n_words) < 0.5, model.space, batch.sentences)
    batch = replace(batch, constraints=targets)
    weights = random.normal(size=model.size)
    whole = Objective(model, [batch], LabelExpectations())
    apart = Objective(model, list(batch.batches(1)), LabelExpectations(), workers=2)
    assert apart(weights)[0] == pytest.approx(whole(weights)[0])
    np.testing.assert_allclose(apart(weights)[1], whole(weights)[1], atol=1e-12)


def test_words_without_a_target_are_free():
    space, offsets = LabelSpace(["LOC", "O"]), [0, 2]
    chain = Chain([[2.0, 0.0], [2.0, 0.0]], np.zeros((2, 2)), offsets)
    targets = LabelTargets.of([[0.0, 0.0], [0.0, 1.0]], [False, True], space, offsets)
    _, parts = LabelExpectations()(chain, SimpleNamespace(constraints=targets, weight=np.ones(1)))
    assert np.abs(parts.node[0]).max() < 1e-15
    assert parts.node[1, 1] > 0.1


def test_bad_targets_are_refused_in_plain_words():
    space = LabelSpace(["LOC", "O"])
    with pytest.raises(ConfigError, match="a row for each of 2 words"):
        LabelTargets.of([[1.0, 0.0]], [True], space, [0, 2])
    with pytest.raises(ConfigError, match=r"that of word 1 is \[0.5, 0.2\]"):
        LabelTargets.of([[1.0, 0.0], [0.5, 0.2]], [True, True], space, [0, 2])
    with pytest.raises(ConfigError, match="'squared' and 'kl', not 'cosine'"):
        LabelExpectations("cosine")
    with pytest.raises(ConfigError, match="LabelTargets"):
        LabelExpectations()(Chain([[0.0, 0.0]], np.zeros((2, 2)), [0, 1]), SimpleNamespace(weight=np.ones(1)))
