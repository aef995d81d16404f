"""Lattices of type and token constraints, and partially observed chains within them (token-type-constraints 1 to 3)."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.features.weights import Layout
from weft.learn import LBFGS, Gold, Objective, Partial, minimize
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.lattice_model import LatticeBatch, LatticeModel, lattice_batches
from weft.learn.chains.lattices import CONFLICTS, couple
from weft.learn.chains.model import ChainBatch, ChainModel, FeatureRows


def vocabulary(rng, types, features):
    """Every type with a feature of its own and one that it shares."""
    rows = np.stack([np.arange(types), types + rng.integers(0, features, types)], axis=1).astype(np.int32)
    return FeatureRows(rows.ravel(), np.arange(0, 2 * types + 1, 2), np.zeros(0)), types + features


@st.composite
def problems(draw):
    """Sentences of up to six words, up to four labels, random lattices of types and random projections."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    labels, types = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))
    sentences = np.cumsum([0, *lengths])
    words = rng.integers(0, types, sentences[-1])
    mask = rng.random((len(words), labels)) < 0.6
    mask[np.arange(len(words)), rng.integers(0, labels, len(words))] = True
    tokens = rng.integers(-1, labels, len(words))
    features, n = vocabulary(rng, types, 2)
    return (
        words,
        sentences,
        mask,
        tokens,
        LatticeModel(features, Layout.from_mask(np.ones((n, labels), dtype=bool))),
        rng,
    )


def enumerate_lattice(model, weights, words, mask):
    """log Z of one sentence in a mask, and the expected feature sums, by going through all paths."""
    table = model.table(weights)
    transitions = weights[model.layout.size :].reshape(model.labels, model.labels)
    total, expected = -np.inf, np.zeros(model.size)
    for path in product(*(np.flatnonzero(row) for row in mask)):
        score = sum(table[word, label] for word, label in zip(words, path, strict=True))
        score += sum(transitions[a, b] for a, b in pairwise(path))
        counts = np.zeros(model.size)
        for word, label in zip(words, path, strict=True):
            for row in model.features.rows[model.features.offsets[word] : model.features.offsets[word + 1]]:
                counts[row * model.labels + label] += 1
        for a, b in pairwise(path):
            counts[model.layout.size + a * model.labels + b] += 1
        joined = np.logaddexp(total, score)
        expected = expected * np.exp(total - joined) + counts * np.exp(score - joined)
        total = joined
    return total, expected


@pytest.mark.must_show("token-type-constraints", 1)
@given(problems())
@settings(max_examples=40, deadline=None)
def test_partition_and_gradient_of_both_lattices_are_those_of_enumeration(problem):
    words, sentences, mask, tokens, model, rng = problem
    lattices = couple(mask, tokens)
    batch = LatticeBatch.from_masks(words, sentences, lattices.space, lattices.allowed)
    weights = rng.normal(size=model.size)
    value, gradient = Objective(model, [batch], Partial())(weights)
    log_z = model.score(batch, weights).log_partition()
    log_inside = model.score(batch, weights).restrict(batch.allowed).log_partition()
    expected_value, expected = 0.0, np.zeros(model.size)
    for s in range(len(sentences) - 1):
        inside = slice(sentences[s], sentences[s + 1])
        top, top_counts = enumerate_lattice(model, weights, words[inside], lattices.allowed[inside])
        below, below_counts = enumerate_lattice(model, weights, words[inside], lattices.space[inside])
        assert log_inside[s] == pytest.approx(top)
        assert log_z[s] == pytest.approx(below)
        expected_value += top - below
        expected += top_counts - below_counts
    assert value == pytest.approx(-expected_value)
    assert gradient == pytest.approx(-expected)


@pytest.mark.must_show("token-type-constraints", 1)
@given(problems(), st.floats(0, 2))
@settings(max_examples=25, deadline=None)
def test_the_gradient_of_the_partially_observed_chain_is_that_of_finite_differences(problem, l2):
    words, sentences, mask, tokens, model, rng = problem
    lattices = couple(mask, tokens)
    objective = Objective(model, list(lattice_batches(words, sentences, lattices.space, lattices.allowed, 30)),
                          Partial(), l2=l2)  # fmt: skip
    weights, direction = rng.normal(size=model.size), rng.normal(size=model.size)
    slope = float(objective(weights)[1] @ direction)
    step = 1e-5
    rise = (objective.value(weights + step * direction) - objective.value(weights - step * direction)) / (2 * step)
    assert slope == pytest.approx(rise, rel=1e-5, abs=1e-6)


@pytest.mark.must_show("token-type-constraints", 2)
@given(problems(), st.sampled_from(CONFLICTS))
@settings(max_examples=60, deadline=None)
def test_the_coupled_lattice_lies_in_that_of_types_and_is_never_empty(problem, conflict):
    _, _, mask, tokens, _, _ = problem
    allowed, space = couple(mask, tokens, conflict)
    assert (allowed <= space).all()
    assert allowed.any(axis=1).all()
    assert (allowed[tokens < 0] == mask[tokens < 0]).all()
    agree = (tokens >= 0) & mask[np.arange(len(mask)), tokens]
    assert (allowed[agree].sum(axis=1) == 1).all()
    if conflict == "type":
        assert (space == mask).all()
        assert (allowed[~agree] == mask[~agree]).all()
    nothing = couple(mask, np.full(len(mask), -1), conflict)
    assert (nothing.allowed == mask).all()


@pytest.mark.must_show("token-type-constraints", 2)
@given(problems())
@settings(max_examples=40, deadline=None)
def test_the_objective_is_at_most_zero_and_zero_only_without_coupled_tokens(problem):
    words, sentences, mask, tokens, model, rng = problem
    weights = rng.normal(size=model.size)

    def value(tokens):
        allowed, space = couple(mask, tokens)
        return -Objective(model, [LatticeBatch.from_masks(words, sentences, space, allowed)], Partial())(weights)[0]

    allowed, space = couple(mask, tokens)
    if (allowed == space).all():
        assert value(tokens) == pytest.approx(0.0, abs=1e-9)
    else:
        assert value(tokens) < -1e-9
    assert value(np.full(len(words), -1)) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.must_show("token-type-constraints", 3)
def test_disambiguated_lattices_without_a_dictionary_give_the_supervised_crf():
    rng = np.random.default_rng(7)
    labels, types = 3, 6
    sentences = np.cumsum([0, *rng.integers(2, 7, 20)])
    words = rng.integers(0, types, sentences[-1])
    gold = ((words % labels) + (rng.random(len(words)) < 0.2)) % labels
    features, n = vocabulary(rng, types, 2)
    layout = Layout.from_mask(np.ones((n, labels), dtype=bool))
    allowed, space = couple(np.ones((len(words), labels), dtype=bool), gold)
    partial = Objective(
        LatticeModel(features, layout), [LatticeBatch.from_masks(words, sentences, space, allowed)], Partial(), l2=0.5
    )
    at_words = np.concatenate([features.rows[2 * word : 2 * word + 2] for word in words])
    batch = ChainBatch(sentences, FeatureRows(at_words, np.arange(0, 2 * len(words) + 1, 2), np.zeros(0)), None,
                       gold.astype(np.int32), np.ones(len(sentences) - 1))  # fmt: skip
    transitions = np.arange(labels**2, dtype=np.int32).reshape(labels, labels)
    supervised = Objective(ChainModel(LabelSpace(["A", "B", "C"]), layout, transitions), [batch], Gold(), l2=0.5)
    start = rng.normal(size=partial.model.size)
    for ours, theirs in zip(partial(start), supervised(start), strict=True):
        assert ours == pytest.approx(theirs)
    found = [minimize(each, np.zeros(len(start)), LBFGS(), tolerance=1e-8) for each in (partial, supervised)]
    assert found[0].loss == pytest.approx(found[1].loss)
    assert found[0].weights == pytest.approx(found[1].weights, abs=1e-4)


def test_constraints_that_make_no_sense_are_refused():
    with pytest.raises(DataError, match="position 1 has no label left"):
        couple([[True], [False]], [0, 0])
    with pytest.raises(DataError, match="numbers below 2"):
        couple([[True, True]], [2])
    with pytest.raises(DataError, match=r"given: \(1, 2\) and \(2,\)"):
        couple([[True, True]], [0, 0])
    with pytest.raises(ConfigError, match="conflict must be one of type, union, token"):
        couple([[True]], [0], conflict="none")
