"""Pictures of answers: only edges that the one who asks sees, and for every node those that put it there."""

import pytest

from weft.recipes.extraction.graph_search.social import network, sampled_terms
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.evidence import evidence
from weft.tasks.questions.execute import nodes_of
from weft.tasks.questions.terms import VALUES


@pytest.fixture(scope="module")
def made():
    return network(300, seed=2)


@pytest.fixture(scope="module")
def social(made):
    return Questions(made.store())


def test_every_edge_is_seen_by_the_user_and_every_other_node_is_reached_by_one(social):
    tried = 0
    for me, term in sampled_terms(social, 200, seed=5):
        if term[0] in VALUES:
            continue
        view = social.view(me)
        nodes = nodes_of(term, view)[:5].tolist()
        found = evidence(term, nodes, view)
        reached = {node for _, source, target in found.edges for node in (source, target)}
        assert set(found.depth) == reached | set(nodes)
        assert len(found.edges) == len(set(found.edges))
        for relation, source, target in found.edges:
            assert target in view.neighbours(relation, "out", source)
        tried += bool(found.edges)
    assert tried >= 30


def test_an_answer_of_one_relation_has_one_edge_for_every_node(social):
    view = social.view(None)
    city = int(social.store.members["city"][0])
    term = ("sources", "lives", ("entity", city))
    nodes = nodes_of(term, view).tolist()
    assert len(nodes) > 3
    found = evidence(term, nodes, view, most=1_000)
    assert sorted(found.edges) == sorted(("lives", node, city) for node in nodes)


def test_a_hidden_edge_is_drawn_for_its_two_people_alone(made, social):
    relation, one, other = made.hidden[0]
    term = ("sources", relation, ("entity", other))
    assert (relation, one, other) in evidence(term, [one], social.view(one)).edges
    assert (relation, one, other) in evidence(term, [one], social.view(other)).edges
    stranger = next(node for node in social.store.members["person"].tolist() if node not in (one, other))
    for me in (stranger, None):
        assert evidence(term, [one], social.view(me)).edges == []


def test_a_picture_stays_small_however_many_edges_there_are(social):
    everyone = social.store.members["person"][:50].tolist()
    term = ("sources", "friend", ("sources", "lives", ("all", "city")))
    assert len(evidence(term, everyone, social.view(None)).edges) <= 40
