"""Entity grids of documents, and what a sentence graph says."""

from __future__ import annotations

import numpy as np
import pytest

from weft import data
from weft.errors import ConfigError, DataError
from weft.formats import read
from weft.tasks.coherence import EntityGrid, SentenceGraph, entity_grid
from weft.text.conventions.coreference import set_entities
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

TOY = [{"ash": "S"}, {"oak": "S"}, {"leader": "S", "virtue": "X"}, {"leader": "S", "virtue": "S"}]


def sentences(*rows: str) -> Doc:
    """A document from words written as form/lemma/TAG/relation; every word hangs on the first."""
    words = [[each.split("/") for each in row.split()] for row in rows]
    columns = {
        name: [[word[k] for word in row] for row in words] for k, name in enumerate(("form", "lemma", "upos", "deprel"))
    }
    heads = [[0] + [1] * (len(row) - 1) for row in words]
    return Doc.from_words(columns.pop("form"), head=heads, **columns)


@pytest.mark.must_show("graph-coherence", 2)
def test_the_example_of_the_paper_has_its_values():
    graph = SentenceGraph(EntityGrid.of_rows(TOY))
    for distance in (False, True):
        assert [graph.score(weight, distance) for weight in ("unweighted", "weighted", "roles")] == [0.25, 0.5, 3.0]


def test_all_nouns_are_entities_by_their_lemmas_with_their_highest_roles():
    doc = sentences(
        "sees/see/VERB/root Dogs/dog/NOUN/nsubj:pass Ada/Ada/PROPN/obj the/the/DET/det dog/dog/NOUN/obl "
        "city/city/NOUN/compound she/she/PRON/iobj",
        "gives/give/VERB/root ADA/ada/PROPN/iobj hall/hall/NOUN/nsubj:outer",
    )
    grid = entity_grid(doc)
    assert [grid.row(s) for s in range(2)] == [{"dog": "S", "ada": "O", "city": "X"}, {"ada": "O", "hall": "S"}]
    assert "city" not in entity_grid(doc, "heads").row(0)
    assert grid.dense().shape == (2, 4)


def test_what_clusters_join_is_one_entity_and_other_nouns_stay_their_own():
    doc = sentences(
        "left/leave/VERB/root Ada/Ada/PROPN/nsubj port/port/NOUN/obl",
        "saw/see/VERB/root she/she/PRON/nsubj port/port/NOUN/obj",
    )
    set_entities(doc, [(1, 2), (4, 5), (5, 6)], [0, 0, 1])
    grid = entity_grid(doc, "coref")
    assert [grid.row(s) for s in range(2)] == [{"port": "X", "ada": "S"}, {"port": "O", "ada": "S"}]
    assert SentenceGraph.of(doc).links.weights[0].tolist() == [1, 1, 2]
    assert SentenceGraph.of(doc, "coref").links.weights[0].tolist() == [1, 2, 11]


def test_given_spans_are_entities_by_their_words():
    doc = sentences(
        "left/leave/VERB/root Old/old/ADJ/amod Ada/Ada/PROPN/nsubj",
        "saw/see/VERB/root old/old/ADJ/amod Ada/Ada/PROPN/obj",
    )
    doc.spans["names"] = SpanLayer.of(doc.strings, [(1, 3, "PER"), (4, 6, "PER")])
    assert entity_grid(doc, "names").row(1) == {"old ada": "X"}
    with pytest.raises(DataError, match=r"no entities 'coref': its layers are names; coreference comes from"):
        entity_grid(doc, "coref")


def test_a_document_without_tags_or_trees_says_how_to_get_them():
    doc = Doc.from_words([["Dogs", "bark"]])
    with pytest.raises(DataError, match="has no tags, which coherence needs; annotate it first"):
        SentenceGraph.of(doc)
    doc.set_column("upos", ["NOUN", "VERB"])
    with pytest.raises(DataError, match="has no dependency trees"):
        SentenceGraph.of(doc)
    empty = SentenceGraph.of(Doc(""))
    assert (empty.n, empty.score(), empty.joints(), empty.rows) == (0, 0.0, [], [])


def test_rows_with_wrong_roles_weights_and_systems_are_refused():
    with pytest.raises(DataError, match="sentence 1: the role of 'ash' is S, O or X, not 'Z'"):
        EntityGrid.of_rows([{"ash": "Z"}])
    grid = EntityGrid.of_rows(TOY)
    with pytest.raises(ConfigError, match="3 numbers above 0"):
        grid.links((0.0, 1.0, 0.0, 2.0))
    with pytest.raises(ConfigError, match="weighted by unweighted, weighted, roles, not by 'heavy'"):
        SentenceGraph(grid).score("heavy")
    with pytest.raises(ConfigError, match="permutations must be at least 1"):
        SentenceGraph(grid).permutations(0)
    with pytest.raises(ConfigError, match="not two of 4"):
        SentenceGraph(grid).between(2, 1)


def test_weak_joints_links_and_orders_are_explained():
    rows = [{"ash": "S"}, {"ash": "O"}, {"oak": "S"}, {"oak": "X"}]
    graph = SentenceGraph(EntityGrid.of_rows(rows), "woods", ["One.", "Two.", "Three.", "Four."])
    weakest = graph.joints()[0]
    assert (weakest.after, weakest.strength, weakest.across) == (1, 0.0, [])
    assert graph.strongest()[0].entities == {"ash": ("S", "O")}
    assert graph.rows[0]["entities"] == ["ash S-O"]
    assert graph.table().column("roles").to_pylist() == [6.0, 3.0]
    mixed = SentenceGraph(EntityGrid.of_rows([rows[k] for k in (0, 2, 1, 3)]))
    assert mixed.score() < graph.score()
    assert mixed.scores([mixed.best_order()])[0, 2] == pytest.approx(graph.score())
    assert graph.better_than(graph.permutations(50)) > 0.8
    assert repr(graph) == "SentenceGraph('woods', 4 sentences, 2 links)"


def test_a_sentence_is_put_back_right_only_if_no_other_place_is_as_good():
    chain = [{"ash": "S"}, {"ash": "S", "oak": "S"}, {"oak": "S"}]
    assert [each.right for each in SentenceGraph(EntityGrid.of_rows(chain)).insertions()] == [True] * 3
    pair = SentenceGraph(EntityGrid.of_rows([{"ash": "S"}, {"ash": "S"}, {"oak": "S"}]))
    assert [each.right for each in pair.insertions()] == [False] * 3


@pytest.fixture(scope="module")
def graphs() -> list[SentenceGraph]:
    try:
        paths = [data.find(f"treebanks/ud/English-GUM/{part}.conllu.gz") for part in ("train", "dev", "test")]
    except DataError as missing:
        pytest.skip(str(missing))
    return [SentenceGraph.of(doc) for path in paths for doc in read(path)]


def ranked(graphs: list[SentenceGraph], distance: bool = True) -> np.ndarray:
    """The share of 20 permutations per document that score lower than it does, by weight."""
    right, total = np.zeros(3), 0
    for graph in graphs:
        orders = graph.permutations(20)
        scores = graph.scores(orders, distance)
        right += (graph.scores([np.arange(graph.n)], distance) > scores + 1e-9).sum(axis=0)
        total += len(orders)
    return right / total


@pytest.mark.corpus
@pytest.mark.must_show("graph-coherence", 1)
def test_orders_of_real_documents_differ_by_distance_only(graphs):
    assert len(graphs) == 217
    for graph in graphs:
        plain = graph.scores(graph.permutations(20), distance=False)
        assert (plain == plain[0]).all()
        assert (np.ptp(graph.scores(graph.permutations(20)), axis=0) > 0).all()
    assert (ranked(graphs, distance=False) == 0).all()


@pytest.mark.corpus
@pytest.mark.must_show("graph-coherence", 5)
def test_documents_rank_above_their_permutations_as_often_as_a_direct_implementation_found(graphs):
    """The bar of the data plan: within 1.5 points of .935, .955 and .930 on the release at hand."""
    found = ranked(graphs)
    np.testing.assert_allclose(found, [0.935, 0.955, 0.930], atol=0.015)
    assert found[1] > found[0]
    news = ranked([graph for graph in graphs if graph.name.startswith("GUM_news")])
    assert (news < found).all()


@pytest.mark.corpus
@pytest.mark.must_show("graph-coherence", 6)
def test_sentences_of_real_documents_are_put_back_three_times_as_often_as_by_chance(graphs):
    kinds = ("news", "bio", "academic", "interview", "voyage")
    chosen = [graph for graph in graphs if graph.name.split("_")[1] in kinds and graph.n <= 80]
    assert len(chosen) == 96
    total = sum(graph.n for graph in chosen)
    exact = [
        sum(each.right for graph in chosen for each in graph.insertions(weight)) / total
        for weight in ("unweighted", "weighted", "roles")
    ]  # fmt: skip
    np.testing.assert_allclose(exact, [0.066, 0.082, 0.079], atol=0.0006)
    assert min(exact) > 2.5 * len(chosen) / total


@pytest.mark.timing
@pytest.mark.must_show("graph-coherence", 8)
def test_a_thousand_documents_with_permutations_take_less_than_five_seconds():
    import time

    from weft.recipes.grounding.graph_coherence.experiment import generated

    docs = generated(1000, 0)
    SentenceGraph.of(docs[0]).score()
    start = time.process_time()
    for doc in docs:
        graph = SentenceGraph.of(doc)
        graph.scores(graph.permutations(20))
    assert time.process_time() - start < 5
