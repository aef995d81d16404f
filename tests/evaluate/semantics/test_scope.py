"""Scores of scope on transitive closures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.semantics.scope import KINDS, score_scopings
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, Node, Scoping, set_scopings
from weft.text.doc import Doc

NODES = [Node(0, 1), Node(2, 3), Node(4, 5), Node(6, 7)]


def random_scoping(random: np.random.Generator, nodes: list[Node]) -> Scoping:
    # Collections first, so that their universals never come before them.
    places = sorted(range(len(nodes)), key=lambda i: (nodes[i].kind == DISTRIBUTIVE, random.random()))
    pairs = [(places[i], places[j]) for i in range(len(nodes)) for j in range(i) if random.random() < 0.4]
    return Scoping.of(nodes, [(v, u) for u, v in pairs])


def mixed(random: np.random.Generator) -> list[Node]:
    nodes: list[Node] = []
    for chunk in range(int(random.integers(1, 4))):
        plural = random.random() < 0.5
        nodes += [Node(chunk, chunk + 1, kind) for kind in ((COLLECTION, DISTRIBUTIVE) if plural else ("NP",))]
    return [*nodes, Node(9, 10, NEGATION)] if random.random() < 0.5 else nodes


def by_enumeration(gold: Scoping, system: Scoping) -> tuple[int, int, int, int, int]:
    """The five counts, pair by pair."""
    counts = [0, 0, 0, 0, 0]
    for u, first in enumerate(gold.nodes):
        for v, second in enumerate(gold.nodes):
            if u >= v or (first[:2] == second[:2]):
                continue
            labels = ["+" if s.order[u, v] else "-" if s.order[v, u] else "e" for s in (gold, system)]
            counts[0] += labels[0] != "e"
            counts[1] += labels[1] != "e"
            counts[2] += labels[0] == labels[1] != "e"
            counts[3] += 1
            counts[4] += labels[0] == labels[1]
    return tuple(counts)


@pytest.mark.must_show("quantifier-scope", 4)
@settings(deadline=None, max_examples=80)
@given(st.integers(0, 100_000))
def test_scores_are_those_of_enumerated_pairs_and_identity_scores_one(seed):
    random = np.random.default_rng(seed)
    nodes = mixed(random)
    gold, system = random_scoping(random, nodes), random_scoping(random, nodes)
    found = score_scopings([gold], [system])
    ordered, whole = found.ordered.total(), found.similarity.total()
    counts = by_enumeration(gold, system)
    assert (ordered.gold, ordered.system, ordered.correct, whole.gold, whole.correct) == counts
    assert found.exact.total().correct <= found.recalled.total().correct  # AR >= A
    same = score_scopings([gold], [gold])
    assert same.as_dict()["A"] == same.as_dict()["AR"] == same.as_dict()["sigma"] == (1.0 if counts[3] else 0.0)
    assert same.as_dict()["F"] == (1.0 if counts[0] else 0.0)


@pytest.mark.must_show("quantifier-scope", 4)
def test_the_closures_of_the_paper_are_counted():
    """Footnote 4: against G3 = {2>1>3, 2>1>4}, G1 = {2>1, 1>3} also gets 2>3, and is closer than G2 = {2>1, 4>3}."""
    gold = Scoping.of(NODES, [(1, 0), (0, 2), (0, 3)])
    near = score_scopings([gold], [Scoping.of(NODES, [(1, 0), (0, 2)])])
    far = score_scopings([gold], [Scoping.of(NODES, [(1, 0), (3, 2)])])
    assert near.ordered.total()[:3] == (5, 3, 3)  # 2>1, 1>3 and the entailed 2>3
    assert far.ordered.total()[:3] == (5, 2, 1)
    assert near.as_dict()["F"] > far.as_dict()["F"]


@pytest.mark.must_show("quantifier-scope", 4)
def test_recall_of_a_sentence_forgives_orders_that_gold_leaves_open():
    gold = Scoping.of(NODES, [(1, 0)])
    more = Scoping.of(NODES, [(1, 0), (2, 3)])
    scores = score_scopings([gold], [more]).as_dict()
    assert (scores["AR"], scores["A"], scores["P"]) == (1.0, 0.0, 0.5)


def test_a_collection_over_its_universal_is_never_scored():
    plural = [Node(0, 1, COLLECTION), Node(0, 1, DISTRIBUTIVE)]
    found = score_scopings([Scoping.of(plural)], [Scoping.of(plural)])
    assert found.ordered.total()[:3] == (0, 0, 0)
    assert found.exact.total().gold == 0


def test_pairs_of_each_kind_add_up():
    nodes = [Node(0, 1, COLLECTION), Node(0, 1, DISTRIBUTIVE), Node(2, 3), Node(4, 5, NEGATION)]
    gold = Scoping.of(nodes, [(1, 2), (2, 3)])
    totals = {kind: score_scopings([gold], [gold], kind).ordered.total().gold for kind in KINDS}
    assert totals == {"all": 5, "explicit": 1, "implicit": 2, "negation": 3}


def test_nodes_that_were_missed_or_invented_cost_their_pairs():
    gold = Scoping.of(NODES[:3], [(0, 1), (0, 2)])
    system = Scoping.of([NODES[0], NODES[1], NODES[3]], [(0, 1), (0, 2)])
    found = score_scopings([gold], [system])
    assert found.ordered.total()[:3] == (2, 2, 1)
    assert found.similarity.total()[:3] == (3, 3, 1)


def test_documents_are_scored_by_their_layer():
    docs = []
    for pairs in ([(0, 1)], []):
        doc = Doc.from_words([["a", "b", "c"]])
        set_scopings(doc, [Scoping.of(NODES[:2], pairs)])
        docs.append([doc])
    outcome = evaluate_documents(*docs, "scope")
    assert outcome.main == "ordered"
    assert outcome.counts["ordered"].total().recall == 0.0
    assert evaluate_documents(docs[0], docs[0]).layer == "scope"
    with pytest.raises(WeftError, match="not available"):
        outcome.right("ordered")
    with pytest.raises(WeftError, match="same sentences"):
        score_scopings([Scoping.of([])], [])
