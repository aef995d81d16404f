"""Checks of the sheet of crf-shallow-parsing on CoNLL-2000, in sizes that take seconds (1 and 2: tests/infer)."""

import time
from itertools import pairwise

import numpy as np
import pytest

from weft.data import have
from weft.evaluate.labels.spans import conlleval
from weft.formats import read
from weft.infer.chains.chain import Chain
from weft.learn import Objective, minimize
from weft.learn.chains.labels import LabelSpace
from weft.recipes.sequences import crf_shallow_parsing as recipe
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.text import Doc
from weft.text.schemes import decode

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not have(recipe.TRAIN), reason="CoNLL-2000 is not at hand: set WEFT_DATA (see `weft data list`)"
    ),
]


@pytest.fixture(scope="module")
def corpus():
    from weft.data import find

    return read(find(recipe.TRAIN), format="columns").load()


@pytest.fixture(scope="module")
def two_thousand(corpus):
    train = recipe.sentences(corpus.take_sentences(2000))
    return train, recipe.build(train)


@pytest.fixture(scope="module")
def dev(corpus):
    return recipe.sentences(corpus.slice_sentences(8936 - 893))


@pytest.mark.must_show("crf-shallow-parsing", 3)
def test_optimizers_agree_on_the_optimum(corpus):
    data = recipe.build(recipe.sentences(corpus.take_sentences(500)))
    losses = {
        method: recipe.train_with(data, method, sigma=1.0, cap=150).result.loss for method in ("lbfgs", "cg", "pcg")
    }
    assert max(losses.values()) - min(losses.values()) <= 1e-3 * min(losses.values()), losses


@pytest.mark.must_show("crf-shallow-parsing", 4)
def test_feature_counts_are_those_of_the_paper(corpus):
    train = recipe.sentences(corpus)
    complete, supported = recipe.build(train, complete=True), recipe.build(train)
    transitions = int((complete.model.transitions >= 0).sum())
    assert complete.model.size == 11 * len(complete.node_index) + transitions
    assert transitions == int(complete.model.space.legal.sum())
    assert 4.0 <= complete.model.size / supported.model.size <= 5.0
    # The paper counts 820,000 supported features and about 3.8 million in all.
    assert 780_000 < supported.model.size < 900_000
    assert 3_600_000 < complete.model.size < 4_000_000


@pytest.mark.must_show(
    "crf-shallow-parsing", 5, weaker="2,000 sentences, a bound of 91, no perceptron; the recorded run has the rest"
)
def test_crf_reaches_91_on_2000_sentences_and_is_not_below_the_memm(two_thousand, dev):
    _, data = two_thousand
    crf = recipe.fit(data, "crf", sigma=1.0, iterations=60).evaluate(dev).score.f1
    memm = recipe.fit(data, "memm", sigma=1.0, iterations=60).evaluate(dev).score.f1
    assert crf >= 0.91
    assert crf >= memm


@pytest.mark.must_show("crf-shallow-parsing", 6)
def test_oracle_calls_to_the_optimum_are_ordered_as_in_the_paper(corpus):
    data = recipe.build(recipe.sentences(corpus.take_sentences(1000)))
    results = {method: recipe.train_with(data, method, sigma=1.0, cap=200).result for method in ("lbfgs", "pcg", "cg")}
    results["gis"] = recipe.train_with(data, "gis", sigma=1.0, cap=800).result
    best = min(row.loss for result in results.values() for row in result.history)

    def calls(method, within):
        reached = recipe.calls_to(results[method], best, within)
        return np.inf if reached is None else reached[0]

    near = {method: calls(method, 0.01) for method in results}
    there = {method: calls(method, 0.001) for method in results}
    assert near["lbfgs"] <= near["pcg"] < near["cg"], near
    assert there["lbfgs"] <= there["pcg"], there
    # In the last per mille the preconditioner loses its lead (the paper drops it there); on all 8,936 sentences it is
    # still ahead of plain CG, on these 1,000 the two are about level: the recorded run asserts the order.
    assert there["pcg"] <= 1.1 * there["cg"], there
    assert there["gis"] > 800 >= 10 * there["lbfgs"], there  # GIS went on ten times as long, and did not arrive


@pytest.mark.must_show("crf-shallow-parsing", 7)
def test_early_stopping_costs_nothing_on_dev(two_thousand, dev):
    _, data = two_thousand
    early = recipe.fit(data, sigma=3.0, iterations=150, dev=dev, patience=5)
    full = recipe.fit(data, sigma=3.0, iterations=150)
    assert early.result.iterations < full.result.iterations
    assert early.evaluate(dev).score.f1 >= full.evaluate(dev).score.f1 - 0.001


@pytest.mark.must_show("crf-shallow-parsing", 8)
@pytest.mark.timing
def test_one_pass_over_all_sentences_takes_seconds(corpus):
    data = recipe.build(recipe.sentences(corpus))
    objective = Objective(data.model, list(data.batch.batches()), sigma=1.0)
    weights = np.zeros(data.model.size)
    objective(weights)  # compiles
    started = time.process_time()
    result = minimize(objective, weights, max_iterations=1)
    assert result.iterations == 1
    assert time.process_time() - started < 10.0


def test_no_labelling_starts_with_i_or_has_i_after_o(two_thousand, dev):
    _, data = two_thousand
    trained = recipe.fit(data, iterations=3)
    for labels in trained.label(dev):
        decode(labels, "IOB2", strict=True)


def test_scores_of_the_recipe_are_those_of_conlleval(two_thousand, dev):
    trained = recipe.fit(two_thousand[1], iterations=5)
    system = trained.label(dev)
    right = sum(a == b for g, s in zip(dev.labels, system, strict=True) for a, b in zip(g, s, strict=True))
    trained.evaluate(dev)
    assert trained.right.sum() == right
    assert trained.report.score == conlleval(dev.labels, system).score


def accuracy(templates, doc, tags, labels):
    """Train on the first 300 sentences, label the other 100."""
    reader = ChainReader(recipe.Templates(templates), {"w": "form"})
    n = int(doc.sentence_offsets[300])
    data = ChainData.build(reader, [doc.subset(range(300))], tags[:n], LabelSpace(labels, reader.order), False)
    result = minimize(Objective(data.model, [data.batch], sigma=3.0), np.zeros(data.model.size), max_iterations=60)
    chain = data.model.score(data.encode([doc.subset(range(300, 400))]), result.weights)
    return float((data.model.space.tags(chain.best()) == tags[n:]).mean())


def test_second_order_beats_first_order_on_labels_of_random_second_order_chains():
    labels = list("ABCDE")
    gains = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        space = LabelSpace(labels, order=2)
        edge = np.where(space.legal, random.normal(scale=2.5, size=space.legal.shape), -np.inf)
        offsets = np.arange(0, 20 * 400 + 1, 20)
        chain = Chain(np.zeros((offsets[-1], space.n_states)), edge, offsets, space.allowed(offsets))
        tags = space.tags(chain.sample(1, seed=1)[0])
        words = np.where(random.random(len(tags)) < 0.5, random.integers(0, 5, len(tags)), tags)
        doc = Doc.from_words([[f"w{w}" for w in words[a:b]] for a, b in pairwise(offsets)])
        first = accuracy("true w[0] y[-1]", doc, tags, labels)
        gains.append(accuracy("(true y[-1])|(true w[0]) y[-2]|y[-1]", doc, tags, labels) - first)
    assert min(gains) > 0, gains
    assert np.mean(gains) > 0.03, gains
