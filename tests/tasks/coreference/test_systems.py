"""Objectives and their gradients, what zero projections leave, and the four systems on documents made for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.tasks.coreference.candidates import Candidates, best_antecedents, clusters_of, log_softmax
from weft.tasks.coreference.cascade import largest_gamma, pruned_by, pruning_of, training_pruning, with_loss
from weft.tasks.coreference.features import features_of
from weft.tasks.coreference.model import AntecedentModel, Options
from weft.tasks.coreference.properties import prior_of
from weft.tasks.coreference.systems import (
    Sample,
    basic_gradient,
    believed,
    left_to_right,
    pair_codes,
    transitive_gradient,
)
from weft.tasks.coreference.table import COLUMNS, MentionTable


def bare_table(n: int, kinds: int = 2) -> MentionTable:
    """Mentions without words or syntax, of a few types."""
    numbers = np.full((n, COLUMNS), -1, dtype=np.int64)
    numbers[:, 0] = 0
    numbers[:, 1:8] = np.arange(7 * n).reshape(n, 7)
    numbers[:, 17:20] = 0
    keys = np.stack([np.arange(n) % kinds + 1] * 3, axis=1).astype(np.uint64)
    offsets = np.arange(n + 1)
    return MentionTable([], numbers, keys, np.arange(n), np.ones(n, dtype=np.int64), offsets,
                        np.zeros((n, 7), dtype=np.uint64))  # fmt: skip


class Sized(MentionTable):
    def __len__(self) -> int:
        return len(self.numbers)


def sample(n: int, entity: list[int], priors=(), farthest: int = 100) -> Sample:
    table = bare_table(n)
    candidates = Candidates.within(n, farthest)
    found = Sample(Sized(*vars(table).values()), candidates, priors, np.array(entity))
    found.allowed = candidates.allowed(found.entity)
    found.losses = candidates.losses(found.allowed)
    return found


def random_priors(draw, n, sizes=(3, 2)):
    return [draw.dirichlet(np.ones(size), size=n) for size in sizes]


def derivative(function, array, place, h=1e-6):
    old = array.flat[place]
    values = []
    for step in (h, -h):
        array.flat[place] = old + step
        values.append(function())
    array.flat[place] = old
    return (values[0] - values[1]) / (2 * h)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 2)
def test_the_gradient_of_basic_is_that_of_its_objective(seed):
    draw = np.random.default_rng(seed)
    own = sample(5, draw.integers(-1, 3, size=5).tolist())
    scores = draw.normal(size=len(own.candidates.antecedents))
    found = basic_gradient(own, scores)
    for place in range(len(scores)):
        expected = derivative(lambda: basic_gradient(own, scores).value, scores, place)
        assert found.scores[place] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 2)
def test_the_gradient_of_transitive_is_that_of_its_objective_on_trees(seed):
    """With one property and candidates that are neighbours only, the links of a document form a tree."""
    draw = np.random.default_rng(seed)
    own = sample(5, draw.integers(-1, 2, size=5).tolist(), random_priors(draw, 5, (3,)), farthest=1)
    scores = draw.normal(size=len(own.candidates.antecedents))
    projections = [draw.normal(size=(3, 3))]

    def value():
        return transitive_gradient(own, scores, projections, 200, 1e-13)

    found = value()
    for place in range(len(scores)):
        assert found.scores[place] == pytest.approx(derivative(lambda: value().value, scores, place), abs=1e-6)
    for place in range(9):
        expected = derivative(lambda: value().value, projections[0], place)
        assert found.projections[0].flat[place] == pytest.approx(expected, abs=1e-6)


@pytest.mark.must_show("entity-level-coreference", 2)
def test_the_gradient_of_transitive_is_that_of_its_objective_where_messages_settle():
    """With two properties and all earlier mentions as candidates there are loops; the objective is Bethe's."""
    draw = np.random.default_rng(5)
    own = sample(5, [0, 1, 0, 0, 1], random_priors(draw, 5))
    scores = draw.normal(size=len(own.candidates.antecedents))
    projections = [np.eye(3) + draw.normal(size=(3, 3)) / 2, np.eye(2) + draw.normal(size=(2, 2)) / 2]

    def value():
        return transitive_gradient(own, scores, projections, 500, 1e-13)

    found = value()
    for place in range(len(scores)):
        assert found.scores[place] == pytest.approx(derivative(lambda: value().value, scores, place), abs=1e-6)
    for array, move in zip(projections, found.projections, strict=True):
        for place in range(array.size):
            expected = derivative(lambda: value().value, array, place)
            assert move.flat[place] == pytest.approx(expected, abs=1e-6)


@pytest.mark.must_show("entity-level-coreference", 2)
def test_weights_receive_the_gradient_of_their_features():
    """The objective as a function of hashed weights, through features: what training climbs."""
    draw = np.random.default_rng(0)
    own = sample(4, [0, -1, 0, 0])
    model = AntecedentModel(Options(bits=8), draw.normal(size=256) / 10)
    _, found = model.gradient(own)
    gradient = np.zeros(256)
    for i in range(4):
        for c in range(own.candidates.offsets[i], own.candidates.offsets[i + 1]):
            none = np.zeros(0, dtype=np.int64)
            for key in features_of(own.table, i, int(own.candidates.antecedents[c]), none, model.options.groups):
                gradient[int(key & np.uint64(255))] += found.scores[c]
    for place in np.flatnonzero(gradient)[:40]:
        expected = derivative(lambda: model.gradient(own)[1].value, model.weights, place)
        assert gradient[place] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 3)
def test_zero_projections_leave_basic_as_it_is(seed):
    draw = np.random.default_rng(seed)
    own = sample(6, draw.integers(-1, 3, size=6).tolist(), random_priors(draw, 6))
    scores = draw.normal(size=len(own.candidates.antecedents)) * 2
    zero = [np.zeros((3, 3)), np.zeros((2, 2))]
    beliefs = believed(own, scores, zero).probabilities[: len(scores)]
    np.testing.assert_allclose(beliefs, np.exp(log_softmax(scores, own.candidates.offsets)[0]), atol=1e-12)
    np.testing.assert_allclose(
        transitive_gradient(own, scores, zero).scores, basic_gradient(own, scores).scores, atol=1e-12
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
@pytest.mark.must_show("entity-level-coreference", 1)
def test_candidates_of_one_mention_are_no_evidence_for_each_other(seed):
    """The last of four mentions chooses; by enumeration, the choice of j weighs k times the overlap with j alone."""
    draw = np.random.default_rng(seed)
    own = sample(4, [-1] * 4, random_priors(draw, 4, (3,)))
    keep = (own.candidates.antecedents < 0) | (own.candidates.mentions == 3)
    own = Sample(own.table, own.candidates.only(keep), own.priors, own.entity)
    scores = draw.normal(size=7)
    values = own.priors[0] @ np.exp(4 * np.eye(3))
    values /= values.sum(axis=1, keepdims=True)
    weights = np.exp(scores[3:]) * [1.0, *(3 * values[3] @ values[j] for j in (2, 1, 0))]
    found = believed(own, scores, [4 * np.eye(3)], 50, 1e-12).probabilities[3:7]
    np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-9)


def test_properties_pass_through_a_chain_that_pair_features_do_not_see():
    """Three mentions: the third may link to the first or to the second, which has no value but is linked to the first.

    The first one's value disagrees with the third one's, so the second one is no place for it either."""
    priors = [prior_of(np.array([0, -1, 1]), 2, 0.98)]
    own = sample(3, [0, 0, -1], priors)
    scores = np.array([0.0, -3.0, 3.0, 0.0, 1.0, -9.0])  # new | new, 0 | new, 1, 0
    basic = best_antecedents(scores, own.candidates)
    linked = believed(own, scores, [4 * np.eye(2)], 100, 1e-10).probabilities[: len(scores)]
    assert basic.tolist() == [-1, 0, 1]
    assert best_antecedents(linked, own.candidates).tolist() == [-1, 0, -1]


def test_left_to_right_counts_the_mentions_that_agree():
    priors = [prior_of(np.array([0, 0, 1, 0, 0]), 2)]
    own = sample(5, [0] * 5, priors)
    base = np.where(own.candidates.antecedents == own.candidates.mentions - 1, 5.0, 0.0)
    _, codes, chosen = left_to_right(own, base, np.zeros(256), [2])
    assert chosen.tolist() == [-1, 0, 1, 2, 3]
    nearest = [int(codes[own.candidates.offsets[i] + 1, 0]) for i in range(1, 5)]
    # agree with 1 of 1; with 0 of 2; with 2 of 3 (more than half); with 3 of 4
    assert nearest == [1, 2, 7, 7]
    assert codes[own.candidates.offsets[:-1], 0].tolist() == [9] * 5


def test_left_to_right_uses_the_weights_that_training_moves():
    """Scores that the kernel looks up as it decides are those of the features that the gradient reaches."""
    draw = np.random.default_rng(1)
    priors = random_priors(draw, 6)
    own = sample(6, [0] * 6, priors)
    weights = draw.normal(size=1 << 10)
    model = AntecedentModel(Options("lefttoright", bits=10), weights, [], (3, 2))
    none = np.zeros((len(own.candidates.antecedents), 0), dtype=np.int64)
    scores, codes, _ = left_to_right(own, model.scores(own, none), weights, model.sizes)
    np.testing.assert_allclose(scores, model.scores(own, codes), atol=1e-9)


def test_pair_codes_tell_both_values():
    codes = pair_codes(Candidates.within(2), np.array([[1], [2]]), [3])
    assert codes.tolist() == [[-1, 1, -1], [-1, 2, -1], [7, 2, 1]]


def test_latent_antecedents_are_all_earlier_mentions_of_the_entity():
    candidates = Candidates.within(4)
    allowed = candidates.allowed(np.array([3, 3, -1, 3]))
    pairs = zip(candidates.mentions[allowed].tolist(), candidates.antecedents[allowed].tolist(), strict=True)
    assert sorted(pairs) == [(0, -1), (1, 0), (2, -1), (3, 0), (3, 1)]
    far = Candidates.within(4, 1)
    assert far.antecedents[far.allowed(np.array([3, -1, -1, 3]))].tolist() == [-1] * 4


def test_losses_tell_three_errors():
    candidates = Candidates.within(3)
    allowed = candidates.allowed(np.array([0, -1, 0]))
    assert candidates.losses(allowed, (0.15, 2.5, 1.0)).tolist() == [0.0, 0.0, 0.15, 2.5, 1.0, 0.0]


def test_pruning_keeps_what_is_near_the_best():
    candidates = Candidates.within(3)
    logs = np.log([1.0, 0.9, 0.1, 0.05, 0.9, 0.05])
    keep = candidates.kept(logs, -2.0)
    assert keep.tolist() == [True, True, False, False, True, False]
    left = candidates.only(keep)
    assert left.offsets.tolist() == [0, 1, 2, 3]
    assert left.antecedents.tolist() == [-1, -1, 1]


def test_a_mention_that_pruning_makes_unsolvable_teaches_nothing():
    """The third mention's gold antecedent is improbable: what is left of its candidates has no gradient."""
    own = sample(3, [0, -1, 0])
    model = AntecedentModel(Options(bits=8), np.zeros(256))
    sure = {1: [0.0, -9.0], 2: [-9.0, 0.0, -9.0]}
    scores = np.concatenate([[0.0], sure[1], sure[2]])
    model.log_probabilities = lambda each: log_softmax(scores, each.candidates.offsets)[0]
    left = with_loss(pruned_by(model, own, -2.0), (0.15, 2.5, 1.0))
    assert left.candidates.antecedents.tolist() == [-1, -1, 1]
    assert basic_gradient(left, np.zeros(3)).scores.tolist() == [0.0, 0.0, 0.0]
    assert pruning_of(model, own, -2.0)[:2] == (3, 2)


def test_values_do_not_pass_along_the_wrong_links_of_an_open_mention():
    """The third of four mentions has lost its antecedent, and may only link to a mention of the other entity.

    The gradient is that of the same document without that candidate."""
    draw = np.random.default_rng(4)
    whole = sample(4, [0, 1, 0, 1], random_priors(draw, 4, (3,)))
    model = AntecedentModel(Options(bits=8), np.zeros(256))
    found = []
    for likely in ([-1, 1], [-1]):  # candidates of the third mention that are left
        pairs = zip(whole.candidates.mentions.tolist(), whole.candidates.antecedents.tolist(), strict=True)
        logs = np.array([0.0 if (j in likely if i == 2 else i == 3 or j < 0) else -9.0 for i, j in pairs])
        model.log_probabilities = lambda each, logs=logs: logs
        left = with_loss(pruned_by(model, whole, -2.0), (0.15, 2.5, 1.0))
        gradient = transitive_gradient(left, np.zeros(len(left.candidates.antecedents)), [2 * np.eye(3)])
        assert gradient.scores[2 : 2 + len(likely)].tolist() == [0.0] * len(likely)
        found.append((gradient.scores[-4:], gradient.projections[0]))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)
    assert np.abs(found[0][1]).max() > 0.01


def test_gamma_is_chosen_on_documents_that_the_pruning_model_has_not_seen(monkeypatch):
    seen = []

    def fit(samples, options):
        seen.append([id(each.table) for each in samples])
        return AntecedentModel(Options(bits=8), np.zeros(256))

    monkeypatch.setattr(AntecedentModel, "fit", fit)
    monkeypatch.setattr(
        AntecedentModel, "log_probabilities",
        lambda model, each: -np.arange(len(each.candidates.antecedents), dtype=float) if
        id(each.table) not in seen[-1] else pytest.fail("a document is judged by its own model"),
    )  # fmt: skip
    docs = [sample(3, [0, 0, 0]) for _ in range(3)]
    found = training_pruning(docs, Options(bits=8), (-1.0, -2.0, -6.0))
    assert [len(each) for each in seen] == [1, 2]
    solvable = [found[gamma].share_solvable for gamma in (-1.0, -2.0, -6.0)]
    assert solvable == sorted(solvable)
    assert (found[-6.0].mentions, found[-6.0].share_solvable) == (9, 1.0)
    assert largest_gamma(found, 1.0) == max(gamma for gamma in found if found[gamma].share_solvable == 1)
    assert largest_gamma(found, 1.1) == -6.0


def test_links_are_closed_into_entities():
    assert clusters_of(np.array([-1, 0, -1, 2, 1])).tolist() == [0, 0, 2, 2, 0]


@pytest.mark.parametrize("system", ["basic", "pairproperty", "lefttoright", "transitive"])
def test_every_system_learns_what_values_decide(system):
    """Mentions of two values; those of one value corefer, and nothing else tells them apart."""
    draw = np.random.default_rng(2)
    documents = []
    for _ in range(20):
        values = draw.integers(2, size=8)
        own = sample(8, values.tolist(), [prior_of(values, 2, 0.99)])
        documents.append(with_loss(own, (1.0, 1.0, 1.0)))  # the paper's weights prefer links
    model = AntecedentModel.fit(documents, Options(system, bits=12, passes=30, rate=0.5, sweeps=50))
    right = []
    for each in documents:
        entity = clusters_of(model.antecedents(each))
        pairs = set(zip(entity.tolist(), each.entity.tolist(), strict=True))
        right.append(len(pairs) == len(set(each.entity.tolist())) == len(set(entity.tolist())))
    if system == "basic":
        assert np.mean(right) < 0.3
    else:
        assert np.mean(right) > 0.7
