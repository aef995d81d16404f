"""Costs of wrong decisions: any learner takes a number or a table of confusions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.features.templates import Templates
from weft.infer.chains.chain import Chain
from weft.learn import MIRA, MaxMargin, Perceptron
from weft.learn.chains.labels import LabelSpace
from weft.learn.cost import ConfusionCost, cost_parts
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.text import Doc


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_cost_augmented_search_finds_the_worst_path(length, states, seed):
    random = np.random.default_rng(seed)
    node, edge = random.normal(size=(length, states)), random.normal(size=(states, states))
    table = random.random((states, states)) * (1 - np.eye(states))
    gold = random.integers(0, states, length)
    chain = Chain(node, edge, [0, length])
    found = chain.augment(cost_parts(ConfusionCost.of(table), chain, gold)).best()

    def total(path):
        return float(chain.score(np.array(path))[0]) + sum(table[a, b] for a, b in zip(gold, path, strict=True))

    assert total(found) == pytest.approx(max(total(path) for path in product(range(states), repeat=length)))


def test_a_table_of_ones_is_the_number_of_wrong_decisions():
    chain = Chain(np.zeros((3, 2)), np.zeros((2, 2)), [0, 3])
    ones = ConfusionCost.of([[0, 2], [2, 0]])
    gold = np.array([0, 1, 1])
    assert (cost_parts(ones, chain, gold).node == cost_parts(2.0, chain, gold).node).all()


@pytest.fixture
def one_word():
    """A model and a sentence of one word, whose label is X."""
    reader = ChainReader(Templates("w[0]"), {"w": "form"})
    space = LabelSpace(["O", "X"], reader.order)
    gold = np.array([1], dtype=np.int32)
    data = ChainData.build(reader, [Doc.from_words([["word"]])], gold, space, seen_only=False)
    return data.model, [data.batch]


def margin(model, batches, weights):
    chain = model.score(batches[0], weights)
    return float(chain.score([1])[0] - chain.score([0])[0])


@pytest.mark.parametrize(("price", "wrong"), [(1.0, 0.0), (5.0, 1.0)])
def test_the_perceptron_learns_until_gold_leads_by_the_cost(one_word, price, wrong):
    cost = ConfusionCost.of([[0.0, 1.0], [price, 0.0]])
    result = Perceptron(epochs=1, cost=cost).fit(*one_word, start=np.array([-1.0, 1.0]))
    assert result.loss == wrong
    result = Perceptron(epochs=20, cost=cost, average=False).fit(*one_word)
    assert price <= margin(*one_word, result.weights) <= price + 2


@pytest.mark.parametrize("price", [1.0, 5.0])
def test_mira_and_the_hinge_keep_the_margin_of_the_cost(one_word, price):
    cost = ConfusionCost.of([[0.0, 1.0], [price, 0.0]])
    assert margin(*one_word, MIRA(epochs=1, k=2, cost=cost, average=False).fit(*one_word).weights) == price
    learned = MaxMargin(epochs=2000, l2=0.05, cost=cost).fit(*one_word)
    assert margin(*one_word, learned.weights) == pytest.approx(price, rel=0.3)


def test_bad_costs_are_refused():
    with pytest.raises(ConfigError, match="row and a column"):
        ConfusionCost.of([[0.0, 1.0]])
    with pytest.raises(ConfigError, match="0 for what is right"):
        ConfusionCost.of([[1.0]])
    for learner in (Perceptron, MIRA):
        with pytest.raises(ConfigError, match="cost must be at least 0"):
            learner(cost=-1.0).fit(None, [None])
