"""Self-training, against enumeration and against what sampling gives on average."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_twins import chain_problem, choice_problem, relative_error

from weft.errors import ConfigError, DataError
from weft.features.weights import Layout
from weft.learn import Gold, Objective, minimize, self_train, self_train_weights
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch, ChainModel, FeatureRows
from weft.learn.self_training import best_labels, choose


def fitted(model, l2=0.5):
    def fit(batches, start):
        return minimize(Objective(model, batches, l2=l2), start, tolerance=1e-7).weights

    return fit


def halves(seed=0):
    model, batch = chain_problem(seed, sentences=24, order=1)
    return model, [batch.cut(0, 8)], [replace(batch.cut(8, 15), gold=None), replace(batch.cut(15, 24), gold=None)]


@pytest.mark.must_show("direct-transfer-ner", 1)
@given(st.integers(1, 6), st.integers(2, 3), st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_probability_of_the_best_labels_is_that_of_enumeration_and_all_probabilities_sum_to_one(n, labels, seed):
    random = np.random.default_rng(seed)
    space = LabelSpace([f"I-{k}" for k in range(labels)], order=1, scheme="IO")
    layout = Layout.from_mask(np.ones((n, labels), dtype=bool))
    transitions = np.arange(labels * labels, dtype=np.int32).reshape(labels, labels)
    model = ChainModel(space, layout, transitions)
    rows = FeatureRows(np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int64), np.zeros(0))
    batch = ChainBatch(np.array([0, n]), rows, None, None, np.ones(1), space.allowed(np.array([0, n])))
    weights = random.normal(size=model.size) * 2
    node, edge = weights[: n * labels].reshape(n, labels), weights[n * labels :].reshape(labels, labels)
    paths = list(product(range(labels), repeat=n))
    scores = [sum(node[i, y] for i, y in enumerate(path)) + sum(edge[a, b] for a, b in zip(path, path[1:]))  # noqa: B905, RUF007
              for path in paths]  # fmt: skip
    mass = np.exp(scores - np.max(scores))
    solutions, probability, _ = best_labels(model, [batch], weights)
    assert tuple(solutions[0]) == paths[int(np.argmax(mass))]
    assert probability[0] == pytest.approx(mass.max() / mass.sum())
    chain = model.score(batch, weights)
    every = [float(np.exp(chain.log_probability(np.array(path, dtype=np.int32)))[0]) for path in paths]
    assert sum(every) == pytest.approx(1.0)


@pytest.mark.must_show("direct-transfer-ner", 2)
def test_sampled_training_sets_have_the_gradient_of_the_weighted_one_on_average():
    model, labelled, unlabelled = halves(3)
    weights = fitted(model)(labelled, np.zeros(model.size))
    solutions, probability, _ = best_labels(model, unlabelled, weights)

    def gradient(chosen):
        bounds = np.cumsum([0, *map(len, unlabelled)])
        batches = [
            replace(batch, gold=gold, weight=chosen.weight[a : a + len(batch)])
            for batch, gold, a in zip(unlabelled, solutions, bounds[:-1], strict=True)
        ]
        return Objective(model, [*labelled, *batches], Gold(), l2=0.5)(weights)[1].copy()

    weighted = gradient(choose(solutions, probability, 0.3))
    everything = gradient(choose(solutions, probability, 0.3, by="all"))
    generator = np.random.default_rng(0)
    drawn = np.array([gradient(choose(solutions, probability, 0.3, "sample", generator)) for _ in range(800)])
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    apart = np.abs(drawn.mean(axis=0) - weighted)
    assert (apart <= 4 * error + 1e-9).all()
    assert (np.abs(everything - weighted) > 10 * error + 1e-9).any()  # the check can tell other weights apart


@pytest.mark.must_show("direct-transfer-ner", 3)
@pytest.mark.parametrize("by", ["weight", "sample", "all"])
def test_a_threshold_above_one_gives_the_model_of_labelled_data_and_zero_keeps_every_sentence(by):
    model, labelled, unlabelled = halves()
    alone = fitted(model)(labelled, np.zeros(model.size))
    outcome = self_train_weights(model, labelled, unlabelled, fitted(model), threshold=1 + 1e-6, by=by, rounds=3)
    assert np.array_equal(outcome.model, alone)
    assert [told.chosen for told in outcome.rounds] == [0, 0, 0]
    outcome = self_train_weights(model, labelled, unlabelled, fitted(model), threshold=0.0, by=by, rounds=1)
    assert outcome.rounds[0].confident == outcome.rounds[0].sentences == 16
    assert not np.array_equal(outcome.model, alone)


def test_a_round_maximizes_the_likelihood_of_labelled_and_weighted_data():
    model, labelled, unlabelled = halves(1)
    outcome = self_train_weights(model, labelled, unlabelled, fitted(model), threshold=0.2, rounds=1)
    solutions, probability, _ = best_labels(model, unlabelled, outcome.first)
    weight = np.where(probability >= 0.2, probability, 0.0)
    batches = [
        replace(unlabelled[0], gold=solutions[0], weight=unlabelled[0].weight * weight[:7]),
        replace(unlabelled[1], gold=solutions[1], weight=unlabelled[1].weight * weight[7:]),
    ]
    by_hand = fitted(model)([*labelled, *batches], np.zeros(model.size))
    assert relative_error(outcome.model, by_hand) < 1e-4


def test_labels_are_drawn_anew_in_every_round_and_by_the_seed():
    counts = {}
    for seed in (1, 1, 2):
        seen = []

        def learn(model, chosen, seen=seen):
            if chosen is not None:
                seen.append(chosen.chosen.tolist())
            return 0

        self_train(learn, lambda model: (None, np.full(40, 0.6)), by="sample", rounds=3, seed=seed)
        assert len({tuple(each) for each in seen}) == 3
        assert all(5 < len(each) < 40 for each in seen)  # never added up
        counts.setdefault(seed, []).append(seen)
    assert counts[1][0] == counts[1][1] != counts[2][0]


def test_every_round_starts_from_the_model_before_and_tells_what_changed():
    model, batch = choice_problem(2, items=40)
    starts = []

    def fit(batches, start):
        starts.append(start.copy())
        return minimize(Objective(model, batches, l2=0.1), start).weights

    seen = []
    unlabelled = [replace(model.batch(np.random.default_rng(1).random((30, 6))), gold=None)]
    outcome = self_train_weights(
        model, [batch], unlabelled, fit, rounds=3, threshold=0.4, after=lambda k, w: seen.append((k, w.copy()))
    )
    assert [k for k, _ in seen] == [0, 1, 2, 3]
    for start, (_, weights) in zip(starts[1:], seen[:-1], strict=True):
        assert np.array_equal(start, weights)
    assert outcome.rounds[0].changed is None
    assert all(told.changed is not None and 0 <= told.changed <= 1 for told in outcome.rounds[1:])
    assert outcome.labels is not None
    assert outcome.rounds[-1].weight == pytest.approx(outcome.labels.weight.sum())


def test_no_unlabelled_sentence_is_no_fault():
    model, labelled, _ = halves()
    outcome = self_train_weights(model, labelled, [], fitted(model), rounds=2)
    assert np.array_equal(outcome.model, outcome.first)


def test_wrong_choices_are_refused_in_plain_words():
    with pytest.raises(ConfigError, match="rounds of at least 0, got -1"):
        self_train(lambda model, chosen: 0, lambda model: (None, []), rounds=-1)
    with pytest.raises(ConfigError, match="weight, sample, all, not by 'top'"):
        self_train(lambda model, chosen: 0, lambda model: (None, []), by="top")
    with pytest.raises(ConfigError, match=r"at least 0, got -0\.5"):
        self_train(lambda model, chosen: 0, lambda model: (None, []), threshold=-0.5)
    with pytest.raises(DataError, match="between 0 and 1"):
        choose(None, [1.5])
    with pytest.raises(ConfigError, match="random generator"):
        choose(None, [0.5], by="sample")
