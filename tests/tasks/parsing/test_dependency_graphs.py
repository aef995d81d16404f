"""Dependency graphs as a component, on written sentences."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from weft.cli.app import app
from weft.errors import ConfigError, DataError, WeftError
from weft.formats import read, write
from weft.learn.trees.dependency_graphs import DependencyGraphModel, GraphBatch, arcs_of_edges
from weft.learn.trees.model import TreeBatch
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import new_component
from weft.tasks.parsing.dependency_graphs import DependencyGraphParser, DependencyGraphSettings, joined, layers
from weft.text import Doc
from weft.text.edges import Edges, acyclic_edges, edges_of

SMALL = DependencyGraphSettings(epochs=5, bits=16, threshold=0.0)
TAGS = ["NOUN", "VERB", "CCONJ", "VERB", "PUNCT"]
HEADS = [2, 0, 4, 2, 2]
NAMES = ["nsubj", "root", "cc", "conj", "punct"]
SHARED = ["2:nsubj|4:nsubj", "0:root", "4:cc", "2:conj:and", "2:punct"]
NOUNS, VERBS = ["dogs", "cats", "birds", "ships"], ["bark", "sleep", "sing", "sail", "sink", "purr"]


def sentences(words):
    """A shared subject where the conjunction is `and`, a subject of the first verb alone where it is `but`."""
    deps = [SHARED if row[2] == "and" else ["2:nsubj", *SHARED[1:3], "2:conj:but", SHARED[4]] for row in words]
    size = len(words)
    return Doc.from_words(words, upos=[TAGS] * size, head=[HEADS] * size, deprel=[NAMES] * size, deps=deps)


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(0)
    rows = []
    for i in range(40):
        noun, one, two = rng.choice(NOUNS), *rng.choice(VERBS, 2, replace=False)
        rows.append([str(noun), str(one), "and" if i % 2 else "but", str(two), "."])
    return sentences(rows)


@pytest.fixture(scope="module")
def parser(train):
    parser = DependencyGraphParser(SMALL)
    parser.fit([train], [train])
    return parser


def test_further_heads_are_found_where_they_belong(parser):
    doc = sentences([["owls", "hoot", "and", "sleep", "."], ["owls", "hoot", "but", "sleep", "."]])
    new = Doc.from_words(
        [["owls", "hoot", "and", "sleep", "."], ["owls", "hoot", "but", "sleep", "."]], upos=[TAGS] * 2
    )
    parser([new])
    assert edges_of(new).head.tolist() == edges_of(doc).head.tolist()
    assert new.column("deps")[0] == "2:nsubj|4:nsubj"
    assert new.column("deps")[3] == "2:conj"  # what stands behind the colon is not learned
    assert new.head is None
    assert parser.scores([doc])["edge F1"] == 1


def test_graphs_are_acyclic_with_a_single_root_and_a_head_for_every_word(parser):
    rng = np.random.default_rng(1)
    rows = [[str(word) for word in rng.choice([*NOUNS, *VERBS, "and"], 8)] for _ in range(20)]
    tags = [[str(tag) for tag in rng.choice(TAGS, 8)] for _ in range(20)]
    doc = Doc.from_words(rows, upos=tags)
    parser([doc])
    edges = edges_of(doc)
    assert np.bincount(edges.word, minlength=doc.n_words).min() >= 1
    for s in range(20):
        own = (edges.word >= 8 * s) & (edges.word < 8 * s + 8)
        heads, words = edges.head[own], edges.word[own] - 8 * s + 1
        assert (heads == 0).sum() == 1
        reached, todo = set(), set(range(1, 9))
        while todo:
            free = {w for w in todo if all(h == 0 or h in reached for h in heads[words == w])}
            assert free, "a cycle"
            reached |= free
            todo -= free


@pytest.mark.must_show("second-order-mst", 2)
def test_the_loss_counts_edges_too_many_and_too_few(train):
    parser = DependencyGraphParser(SMALL)
    model = DependencyGraphModel(parser._new_model().program, bits=16)
    words, _, sentences_ = parser._reader.read([train.subset([1])])
    trees = TreeBatch(sentences_, words, None, np.ones(1))
    edges, _ = acyclic_edges(train.subset([1]))
    batch = GraphBatch(trees, arcs_of_edges(trees.arc_space, edges.word, edges.head))
    structure = model.score(batch, np.zeros(model.size))
    other = batch.gold.copy()
    other[np.flatnonzero(other)[:2]] = False
    other[np.flatnonzero(~batch.gold)[:1]] = True
    assert structure.differs(batch.gold, other).tolist() == [3.0]
    cost = structure.hamming(batch.gold)
    assert cost.inner(structure.parts(other)) - cost.inner(structure.parts(batch.gold)) == 3.0


def test_models_are_saved_and_loaded_with_the_filter_of_arcs(train, tmp_path):
    parser = DependencyGraphParser(DependencyGraphSettings(epochs=3, bits=16, threshold=0.001))
    report = parser.fit([train])
    assert report["training"]["edges of cycles left out"] == 0
    path = tmp_path / "graphs.weft"
    Pipeline([parser]).save(path)
    again = Pipeline.load(path).components[0]
    docs = [Doc.from_words([["owls", "hoot", "and", "sleep", "."]], upos=[TAGS]) for _ in range(2)]
    parser(docs[:1])
    again([docs[1]])
    assert docs[0].column("deps") == docs[1].column("deps")


def test_the_command_line_trains_and_annotates(train, tmp_path):
    path, model, out = tmp_path / "train.conllu", tmp_path / "graphs.weft", tmp_path / "out.conllu"
    write([train], path)
    options = ["--epochs", "3", "--bits", "16", "--out", str(model)]
    assert CliRunner().invoke(app, ["train", "graphs", str(path), *options]).exit_code == 0
    result = CliRunner().invoke(app, ["annotate", str(path), "--model", str(model), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "2:nsubj|4:nsubj" in next(iter(read(out))).column("deps")


def test_sentences_without_whole_trees_are_left_out_and_counted(train):
    broken = Doc.from_words([["a", "b"], ["c", "d"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 1], [0, 0]])
    report = DependencyGraphParser(SMALL).fit([train, broken])["training"]
    assert (report["broken trees"], report["several roots"]) == (1, 1)
    with pytest.raises(DataError, match="none of the 2"):
        DependencyGraphParser(SMALL).fit([broken])


def test_without_relations_edges_have_no_names(train):
    parser = DependencyGraphParser(DependencyGraphSettings(epochs=2, bits=16, threshold=0.0, relations="none"))
    parser.fit([train])
    doc = Doc.from_words([["owls", "hoot"]], upos=[["NOUN", "VERB"]])
    parser([doc])
    assert all(value.endswith(":_") for value in doc.column("deps"))


def test_trees_of_a_graph_have_each_edge_once_as_new():
    edges = Edges.of([(0, 2, "a"), (0, 3, "b"), (1, 0, "c"), (2, 2, "d"), (2, 1, "e"), (0, 0, "f")])
    places = np.concatenate([place[new] for place, new in layers(edges, 3)])
    assert sorted(places.tolist()) == list(range(6))
    both = joined([edges, edges], [Doc.from_words([["a"] * 3])] * 2)
    assert both.word.tolist() == [*edges.word.tolist(), *(edges.word + 3).tolist()]


def test_bad_settings_and_untrained_parsers_are_named():
    with pytest.raises(ConfigError, match="relations"):
        new_component("graphs", {"relations": "tree"})
    with pytest.raises(ConfigError, match="epochs"):
        new_component("graphs", {"epochs": 0})
    with pytest.raises(WeftError, match="not trained"):
        DependencyGraphParser(SMALL)([Doc.from_words([["a"]], upos=[["X"]])])
    with pytest.raises(WeftError, match="not trained"):
        DependencyGraphParser(SMALL).state()
