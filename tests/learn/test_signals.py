from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from learn_twins import (
    central_differences,
    chain_problem,
    choice_problem,
    enumerated_problem,
    random_chain_constraints,
    relative_error,
)

from weft.errors import ConfigError
from weft.learn import Expectations, Gold, Margin, Mixture, Partial, PartsConstraints, SelfLabelled

SIGNALS = {
    "gold": Gold(),
    "partial": Partial(),
    "squared": Expectations([0.5, 2.0], "squared", strength=0.7),
    "kl": Expectations([0.5, 2.0], "kl", strength=0.7),
    "self": SelfLabelled(threshold=0.2),
    "margin": Margin(cost=0.6),
    "mixture": Mixture([(0.5, Gold()), (0.3, Partial()), (0.2, Margin())]),
}


def check_gradient(model, batch, signal, weights):
    def value(w):
        return signal(model.score(batch, w), batch)[0]

    _, parts = signal(model.score(batch, weights), batch)
    gradient = np.zeros(model.size)
    model.scatter(batch, parts, gradient)
    assert relative_error(gradient, central_differences(value, weights)) < 1e-5


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_gradient_of_every_signal_is_that_of_its_value_on_enumerated_chains(name, seed):
    model, batch = enumerated_problem(seed)
    random = np.random.default_rng(seed)
    shapes = [len(row) for row in model.score(batch, np.zeros(model.size)).scores]
    features = [type(model.score(batch, np.zeros(model.size)).marginals())([random.random(n) for n in shapes])
                for _ in range(2)]  # fmt: skip
    batch.constraints = PartsConstraints(features)
    check_gradient(model, batch, SIGNALS[name], random.normal(size=model.size))


@pytest.mark.parametrize("name", SIGNALS)
def test_the_gradient_of_every_signal_is_that_of_its_value_on_single_choices(name):
    model, batch = choice_problem(3, items=12)
    random = np.random.default_rng(4)
    batch.space = random.random((12, 3)) < 0.8
    batch.space[np.arange(12), batch.gold] = True
    batch.allowed = batch.space & (random.random((12, 3)) < 0.5)
    batch.allowed[np.arange(12), batch.gold] = True
    parts = type(model.score(batch, np.zeros(model.size)).marginals())
    batch.constraints = PartsConstraints([parts(random.random((12, 3))) for _ in range(2)])
    check_gradient(model, batch, SIGNALS[name], random.normal(size=model.size))


@pytest.mark.must_show("crf-shallow-parsing", 3)
@pytest.mark.parametrize("order", [1, 2])
def test_the_gradient_of_the_likelihood_of_a_chain_agrees_with_central_differences(order):
    model, batch = chain_problem(5, order=order)
    check_gradient(model, batch, Gold(), np.random.default_rng(1).normal(size=model.size))


@pytest.mark.parametrize("name", ["partial", "squared", "kl", "self", "margin", "mixture"])
def test_the_gradient_of_every_other_signal_agrees_with_central_differences_on_chains(name):
    model, batch = chain_problem(6)
    random = np.random.default_rng(2)
    weights = random.normal(size=model.size)
    chain = model.score(batch, weights)
    allowed = random.random(chain.node.shape) < 0.4
    allowed[np.arange(len(allowed)), batch.gold] = True
    constraints = random_chain_constraints(chain, 2)
    for feature in constraints.features:
        np.abs(feature.node, out=feature.node)
        np.abs(feature.edge, out=feature.edge)
    fields = {name: getattr(batch, name) for name in batch.__dataclass_fields__}
    with_masks = SimpleNamespace(**{**fields, "allowed": allowed, "constraints": constraints, "n_words": batch.n_words})
    check_gradient(model, with_masks, SIGNALS[name], weights)


def test_partial_with_only_gold_allowed_is_gold():
    model, batch = chain_problem(7)
    chain = model.score(batch, np.random.default_rng(3).normal(size=model.size))
    allowed = np.zeros(chain.node.shape, dtype=bool)
    allowed[np.arange(len(allowed)), batch.gold] = True
    value, parts = Gold()(chain, batch)
    same, same_parts = Partial()(chain, replace(batch, allowed=allowed))
    assert same == pytest.approx(value)
    np.testing.assert_allclose(same_parts.node, parts.node, atol=1e-12)
    np.testing.assert_allclose(same_parts.edge, parts.edge, atol=1e-12)


def test_partial_with_everything_allowed_teaches_nothing():
    model, batch = chain_problem(7)
    chain = model.score(batch, np.random.default_rng(3).normal(size=model.size))
    value, parts = Partial()(chain, replace(batch, allowed=np.ones(chain.node.shape, dtype=bool)))
    assert value == pytest.approx(0.0)
    assert abs(parts.node).max() < 1e-12


@pytest.mark.parametrize("name", ["gold", "partial", "self", "margin", "squared"])
def test_a_sentence_of_weight_two_counts_as_two_sentences(name):
    model, batch = enumerated_problem(8)
    batch.weight = np.ones(len(batch))
    batch.weight[1] = 2.0
    twice = [*range(len(batch)), 1]
    doubled = replace(
        batch, lengths=[batch.lengths[i] for i in twice], features=[batch.features[i] for i in twice],
        gold=batch.gold[twice], weight=np.ones(len(twice)),
        allowed=[batch.allowed[i] for i in twice], space=[batch.space[i] for i in twice],
    )  # fmt: skip
    weights = np.random.default_rng(1).normal(size=model.size)
    sums = []
    for one in (batch, doubled):
        structure = model.score(one, weights)
        ones = structure.marginals().scale(0.0)
        one.constraints = PartsConstraints([type(ones)([row + k for row in ones.rows]) for k in (1.0, 2.0)])
        value, parts = SIGNALS[name](structure, one)
        gradient = np.zeros(model.size)
        model.scatter(one, parts, gradient)
        sums.append((value, gradient))
    assert sums[0][0] == pytest.approx(sums[1][0])
    np.testing.assert_allclose(sums[0][1], sums[1][1], atol=1e-10)


def test_unsure_predictions_are_left_out():
    model, batch = enumerated_problem(9)
    value, parts = SelfLabelled(threshold=0.999)(model.score(batch, np.zeros(model.size)), batch)
    assert value == 0.0
    assert all(not row.any() for row in parts.rows)


def test_confidence_weights_every_sentence_by_the_chance_of_its_labels():
    model, batch = enumerated_problem(10, sentences=1)
    structure = model.score(batch, np.random.default_rng(1).normal(size=model.size))
    plain, _ = SelfLabelled()(structure, batch)
    weighted, _ = SelfLabelled(by_confidence=True)(structure, batch)
    chance = np.exp(structure.score(structure.best()) - structure.log_partition())[0]
    assert weighted == pytest.approx(plain * chance)


@pytest.mark.parametrize("signal", [Gold(), Margin()])
def test_signals_that_need_gold_say_so(signal):
    model, batch = enumerated_problem(11)
    batch.gold = None
    with pytest.raises(ConfigError, match="needs gold solutions"):
        signal(model.score(batch, np.zeros(model.size)), batch)


def test_missing_masks_constraints_and_unknown_distances_are_plain_errors():
    model, batch = choice_problem(items=3)
    structure = model.score(batch, np.zeros(model.size))
    with pytest.raises(ConfigError, match="no `allowed`"):
        Partial()(structure, batch)
    with pytest.raises(ConfigError, match="no `constraints`"):
        Expectations([1.0])(structure, batch)
    with pytest.raises(ConfigError, match="'squared' and 'kl'"):
        Expectations([1.0], distance="cosine")
    batch.constraints = PartsConstraints([structure.marginals(), structure.marginals()])
    with pytest.raises(ConfigError, match="1 targets, the batch 2"):
        Expectations([1.0])(structure, batch)
