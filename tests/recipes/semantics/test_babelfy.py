"""Linking as published: candidates of KORE50, planted topics, and the recorded run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recorded import rows

from weft.data import have
from weft.errors import FormatError
from weft.lexical.network.network import NetworkBuilder
from weft.recipes.semantics.babelfy import data
from weft.recipes.semantics.babelfy.experiment import ENTITIES, candidates, chance, recall, scored
from weft.recipes.semantics.babelfy.world import World, large, long_text, planted, texts
from weft.tasks.linking.candidates import Search
from weft.tasks.linking.linker import Linker
from weft.text.split import split_by_rule

SETS = ("senseval2", "senseval3", "semeval2007", "semeval2013")
BACKED = "Word senses, nouns, back-off to the first sense (F1)"
PLAIN = "Word senses, nouns, no back-off (F1)"


@pytest.mark.corpus
@pytest.mark.must_show(
    "babelfy", 5, weaker="KORE50: candidates only; dense subgraph and concepts, see the recorded run"
)
@pytest.mark.skipif(not have(data.ENTITIES) or not have("entity-linking/elevant/kore50.jsonl"), reason="no corpus")
def test_longer_names_find_nearly_all_entities_of_kore50_and_exact_names_less_than_half():
    builder = NetworkBuilder()
    found = data.add_freebase(builder)
    network = builder.network(least=100_000)  # short signatures: only names matter here
    docs = data.link_documents("kore50", found.ids)
    for doc in docs:
        links = doc.spans["links"]
        split_by_rule(doc)
        doc.spans["links"] = links
    loose, exact = (candidates(network, replace(ENTITIES, loose=each).search, docs) for each in ("names", "none"))
    assert len(loose) == 78
    assert recall(network, loose) == pytest.approx(0.987, abs=0.005)
    assert recall(network, exact) == pytest.approx(0.436, abs=0.005)
    assert np.mean([len(fragment.vertices) for _, fragment in loose]) > 10


@pytest.fixture(scope="module")
def topics():
    world = World(topics=40)
    builder = planted(world, 3)
    return builder.network(), texts(world, builder, 60, 3)


@pytest.mark.must_show("babelfy", 5, weaker="the dense subgraph is better than the whole graph on planted topics alone")
def test_the_dense_subgraph_finds_more_planted_readings_than_the_whole_graph(topics):
    network, docs = topics
    settings = replace(ENTITIES, context="none", loose="none", ambiguity=1)
    dense = scored(network, settings, docs).right.mean()
    whole = scored(network, replace(settings, dense=False), docs).right.mean()
    assert dense > whole + 0.03
    assert dense > 4 * chance(network, candidates(network, Search("none"), docs))


def test_more_words_of_a_topic_are_better_evidence(topics):
    network, docs = topics
    settings = replace(ENTITIES, context="none", loose="none")
    alone = scored(network, settings, docs).right.mean()
    assert scored(network, replace(settings, context="all"), docs).right.mean() > alone + 0.1


@pytest.mark.must_show("babelfy", 6, weaker="on SemEval-2007, 159 nouns, documents are level with sentences, not above")
def test_senses_are_above_chance_and_documents_above_sentences():
    backed, plain = rows("babelfy", BACKED), rows("babelfy", PLAIN)
    for name in SETS:
        assert backed["Babelfy"][name] > backed["chance"][name] + 5
        assert backed["Babelfy"][name] > backed["first sense"][name] - 5
        if name != "semeval2007":
            assert plain["Babelfy"][name] > plain["per sentence"][name]


@pytest.mark.must_show("babelfy", 7)
def test_a_document_of_500_words_takes_less_than_a_second_on_a_million_vertices():
    row = rows("babelfy", "Seconds per document of 500 words")["median of 5"]
    assert row["vertices"] == 1_000_000
    assert row["candidates"] > 1000
    assert row["seconds"] < 1


@pytest.mark.timing
def test_a_document_of_500_words_is_linked_in_half_a_second():
    import time

    network = large(50_000, 50, 0)
    linker = Linker(ENTITIES, network)
    linker([long_text(network, 50, 1)])
    doc = long_text(network, 500, 2)
    began = time.perf_counter()
    linker([doc])
    assert time.perf_counter() - began < 0.5


def test_semcor_is_read_by_document(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text(
        "# doc = a\nThe\t_\tDT\t_\ngrand_jury\tgrand_jury\tNN\tgrand_jury%1:14:00::;jury%1:14:00::\n\n"
        "Ann\tperson\tNNP\tperson%1:03:00::\n\n# doc = b\nsaid\tsay\tVB\tsay%2:32:00::\n",
        encoding="utf-8",
    )
    first, second = data.semcor_documents(None, lambda _: path)
    assert (first.id, first.n_sentences, second.id) == ("a", 2, "b")
    assert [(link.text, link.id) for link in first.links] == [("grand jury", "grand_jury%1:14:00::")]
    assert first.links[0].attributes["also"] == ["jury%1:14:00::"]
    assert second.links == []
    assert [doc.id for doc in data.semcor_documents(1, lambda _: path)] == ["a"]
    path.write_text("one\ttwo\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 1:"):
        data.semcor_documents(None, lambda _: path)
