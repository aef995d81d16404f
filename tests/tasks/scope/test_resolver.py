"""Quantifier scope: nodes, pairs in one direction only, and orders that are always valid."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.errors import ConfigError, DataError
from weft.evaluate.semantics.scope import score_scopings
from weft.infer.orders.relations import is_partial_order
from weft.pipeline.pipeline import Pipeline
from weft.recipes.semantics.quantifier_scope.commands import commands
from weft.tasks.scope.features import SETS, chunk_of, in_order, pair_features
from weft.tasks.scope.model import PairModel, ScopeModel
from weft.tasks.scope.nodes import detect
from weft.tasks.scope.resolver import ScopeResolver, ScopeSettings
from weft.tasks.scope.syntax import Syntax, syntaxes
from weft.text.conventions.scope import DISTRIBUTIVE, NEGATION, Node, Scoping, own_pairs, scopings_of
from weft.text.doc import Doc


@pytest.fixture(scope="module")
def doc() -> Doc:
    return commands(260, seed=3)


@pytest.fixture(scope="module")
def resolver(doc) -> ScopeResolver:
    found = ScopeResolver(ScopeSettings(features="rich"))
    found.fit([doc.subset(range(200))])
    return found


@cache
def parsed() -> tuple[list[Syntax], list[Scoping]]:
    doc = commands(260, seed=3)
    return syntaxes(doc), scopings_of(doc)


@cache
def fitted_model(features: str) -> ScopeModel:
    doc = commands(40, seed=3)
    return ScopeModel.fit(syntaxes(doc), scopings_of(doc), features, 0.1)


def random_model(random: np.random.Generator, features: str = "rich") -> ScopeModel:
    """A model whose weights are drawn at random over the features that occur."""
    fitted = fitted_model(features)

    def shuffled(model: PairModel | None) -> PairModel | None:
        if model is None:
            return None
        return PairModel(model.names, 2 * random.normal(size=model.weights.shape), random.normal(size=3))

    return ScopeModel(features, shuffled(fitted.nouns), shuffled(fitted.negations))


@pytest.mark.must_show("quantifier-scope", 1)
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["closure", "all or none", "exact"]))
def test_every_order_is_transitive_and_has_collections_above_their_universals(seed, search):
    trees, gold = parsed()
    random = np.random.default_rng(seed)
    model = random_model(random)
    for k in random.integers(len(gold), size=4).tolist():
        found = model.scope(trees[k], gold[k].nodes, search)
        assert is_partial_order(found.order)
        assert np.all(found.order >= own_pairs(found.nodes))


@pytest.mark.must_show("quantifier-scope", 3)
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(SETS))
def test_probabilities_sum_to_one_and_presenting_nodes_in_another_order_changes_nothing(seed, features):
    trees, gold = parsed()
    random = np.random.default_rng(seed)
    model = random_model(random, features)
    k = int(random.integers(len(gold)))
    nodes = list(gold[k].nodes)
    wants = model.preferences(trees[k], nodes)
    total = wants.before + wants.before.T + wants.apart
    expected = np.ones_like(total) - np.eye(len(nodes))
    assert total == pytest.approx(expected)
    places = random.permutation(len(nodes))
    moved = model.preferences(trees[k], [nodes[i] for i in places])
    assert np.array_equal(moved.before, wants.before[np.ix_(places, places)])
    assert np.array_equal(moved.apart, wants.apart[np.ix_(places, places)])
    assert model.scope(trees[k], [nodes[i] for i in places]) == model.scope(trees[k], nodes)


def test_a_pair_is_presented_in_one_direction():
    nodes = [Node(0, 1), Node(0, 1, "collection"), Node(0, 1, DISTRIBUTIVE), Node(3, 4), Node(5, 6, NEGATION)]
    for first in nodes:
        for second in nodes:
            assert first == second or in_order(first, second) or in_order(second, first)
    assert in_order(nodes[4], nodes[0])
    assert not in_order(nodes[0], nodes[4])


def test_negations_have_a_model_of_their_own_and_c_command_in_it(doc):
    trees, gold = syntaxes(doc), scopings_of(doc)
    model = ScopeModel.fit(trees, gold)
    assert model.negations is not None
    assert "1 commands 2" in model.negations.names
    assert not set(model.negations.names) & {"1 head line", "2 head line"}
    without = ScopeModel("rich", model.nouns, None)
    k = next(k for k, scoping in enumerate(gold) if any(node.kind == NEGATION for node in scoping.nodes))
    place = next(i for i, node in enumerate(gold[k].nodes) if node.kind == NEGATION)
    wants = without.preferences(trees[k], gold[k].nodes)
    assert np.all(np.delete(wants.apart[place], place) == 1.0)  # never seen: apart


def test_the_implicit_universal_differs_from_its_collection_in_one_feature(doc):
    trees, gold = syntaxes(doc), scopings_of(doc)
    k = next(
        k for k, scoping in enumerate(gold)
        if [node.kind for node in scoping.nodes][:3] == ["collection", "distributive", "NP"]
    )  # fmt: skip
    both, each, other = (chunk_of(trees[k], node) for node in gold[k].nodes[:3])
    rows = [set(pair_features(trees[k], chunk, other, "rich")) for chunk in (both, each)]
    assert rows[0] ^ rows[1] == {"1 implicit"}


def test_learned_scopes_are_those_of_the_grammar_on_new_commands(doc, resolver):
    rest = doc.subset(range(200, 260))
    gold = scopings_of(rest)
    resolver([rest])
    assert score_scopings(gold, scopings_of(rest)).ordered.total().f1 > 0.8


def test_nodes_are_found_in_plain_text(resolver):
    nlp = weft.load("en")
    found = Pipeline([*nlp.components, resolver])
    text = "Do not delete the lines that contain every word in it. Nobody saw anything."
    scopes = found(text).scope
    assert [(node.name, node.text, node.kind) for node in scopes[0].nodes] == [
        ("1", "not", "negation"), ("2c", "the lines", "collection"), ("2d", "the lines", "distributive"),
        ("3", "every word", "NP"),
    ]  # fmt: skip
    assert scopes[0].outscopes("2c", "2d")
    assert [node.text for node in scopes[1].nodes] == ["Nobody", "anything"]


def test_without_chunks_nodes_are_base_chunks_of_the_tree():
    found = commands(60, seed=1, noise=0.0)
    gold = scopings_of(found)
    predicted = detect(found, syntaxes(found))
    kinds = [[(node.end, node.kind) for node in nodes] for nodes in predicted]
    plain = [k for k, text in enumerate(s.text for s in found.sentences) if '"' not in text]
    wanted = [[(node.end, node.kind) for node in sorted(scoping.nodes)] for scoping in gold]
    assert [sorted(kinds[k]) for k in plain] == [sorted(wanted[k]) for k in plain]


def test_a_saved_model_gives_the_same_orders_and_a_damaged_one_is_refused(tmp_path, doc, resolver):
    path = tmp_path / "scope.weft"
    Pipeline([resolver]).save(path)
    rest = [doc.subset(range(200, 230)), doc.subset(range(200, 230))]
    resolver([rest[0]])
    weft.load(path).components[0]([rest[1]])
    assert scopings_of(rest[0]) == scopings_of(rest[1])
    header, arrays = resolver.state()
    arrays["nouns/weights"] = arrays["nouns/weights"][:-1]
    with pytest.raises(weft.WeftError, match="weights"):
        ScopeResolver.from_state(header, arrays)


def test_dev_data_chooses_c_and_training_without_nodes_or_trees_is_refused(doc):
    train, dev = doc.subset(range(60)), doc.subset(range(60, 90))
    chosen = ScopeResolver(ScopeSettings(c=0.0))
    report = chosen.fit([train], [dev])
    assert report["training"]["c"] > 0
    assert set(report["scores"]) == {f"dev {name}" for name in ("sigma", "P", "R", "F", "AR", "A")}
    with pytest.raises(ConfigError, match="chooses C on dev data"):
        ScopeResolver(ScopeSettings(c=0.0)).fit([train])
    with pytest.raises(ConfigError, match="search must be one of"):
        ScopeSettings(search="best").check()
    with pytest.raises(DataError, match="has no upos, head"):
        ScopeResolver().fit([Doc.from_words([["a"]])])
    bare = doc.subset([0])
    del bare.spans["scope"], bare.relations["scope"]
    with pytest.raises(DataError, match="no span layer 'scope'"):
        ScopeResolver().fit([bare])
