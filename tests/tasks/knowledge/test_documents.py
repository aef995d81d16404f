"""Graphs from annotated documents: every layer has its edges, and every edge its sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from weft.errors import ConfigError, DataError, FormatError
from weft.graph.place import load_graph
from weft.graph.store import TypedGraph
from weft.tasks.knowledge.documents import TEXT, DocumentGraph, Evidence
from weft.tasks.knowledge.folder import build
from weft.tasks.knowledge.mentions import Mention, mentions_of, with_surnames
from weft.tasks.knowledge.text_graph import FORM, TextGraph, is_text, token_place
from weft.text.conventions.coreference import set_entities
from weft.text.conventions.tuples import TupleRow, set_tuples
from weft.text.doc import Doc
from weft.text.layers import GraphLayer, RelationLayer, SpanLayer


def story() -> Doc:
    doc = Doc.from_words(
        [["Mara", "Lind", "married", "Ole", "Berg", "in", "1999"], ["She", "leads", "Nordvik", "Shipping"]],
        upos=[["PROPN", "PROPN", "VERB", "PROPN", "PROPN", "ADP", "NUM"], ["PRON", "VERB", "PROPN", "PROPN"]],
        head=[[3, 1, 0, 3, 4, 7, 3], [2, 0, 2, 3]],
        deprel=[["nsubj", "flat", "root", "obj", "flat:name", "case", "obl"], ["nsubj", "root", "obj", "flat"]],
    )
    doc.id = "story"
    doc.spans["entities"] = SpanLayer.of(
        doc.strings, [(0, 2, "PER"), (3, 5, "PER"), (6, 7, "DATE"), (7, 8, "PER"), (9, 11, "ORG")]
    )
    set_entities(doc, [(0, 2), (7, 8)], [0, 0])
    set_tuples(doc, [
        TupleRow("married", (("Arg1", 0), ("Arg2", 1))), TupleRow("leads", (("Arg1", 3), ("Arg2", 4)), (0.4,)),
        TupleRow("wedding", (("one", 0), ("other", 1), ("when", 2))),
    ])  # fmt: skip
    return doc


def test_relations_join_entities_not_their_pronouns() -> None:
    collected = DocumentGraph()
    collected.add(story())
    collected.add(story())
    graph = collected.graph()
    edges = {edge[:3]: edge[3] for edge in graph.edges()}
    assert edges["Mara Lind", "married", "Ole Berg"] == 2.0
    assert edges["Mara Lind", "leads", "Nordvik Shipping"] == 2.0
    wedding = "wedding (story, 3)"
    assert {target for source, role, target in edges if source == wedding} == {"Mara Lind", "Ole Berg", "1999"}
    kinds = {name: graph.type_of(number) for number, name in enumerate(graph.names)}
    assert (kinds["Mara Lind"], kinds["Nordvik Shipping"], kinds[wedding]) == ("PER", "ORG", "relation")
    assert "She" not in kinds
    assert collected.evidence["Mara Lind", "leads", "Nordvik Shipping"] == [(0, 1), (1, 1)]


def test_predicted_relations_below_a_probability_are_left_out() -> None:
    collected = DocumentGraph(least=0.5)
    collected.add(story())
    assert ("Mara Lind", "leads", "Nordvik Shipping") not in {edge[:3] for edge in collected.graph().edges()}


def test_links_name_entities_and_senses_do_not() -> None:
    doc = story()
    doc.spans["links"] = SpanLayer(doc.strings)
    doc.spans["links"].add([(0, 2)], "Q7", title="Mara Lind (shipowner)", kind="entity")
    doc.spans["links"].add([(2, 3)], "marry%2:41:00::", title="marry", kind="concept")
    doc.spans["links"].add([(3, 5)], "NIL", kind="entity")
    names = {(each.start, each.end): each.name for each in mentions_of(doc)}
    assert names == {
        (0, 2): "Mara Lind (shipowner)", (7, 8): "Mara Lind (shipowner)", (3, 5): "Ole Berg",
        (9, 11): "Nordvik Shipping",
    }  # fmt: skip


def test_events_and_times_become_nodes() -> None:
    doc = story()
    doc.spans["events"] = SpanLayer.of(doc.strings, [(2, 3, "Marry"), (0, 2, "PER"), (3, 5, "PER"), (8, 9, "Lead")])
    events = doc.graphs["events"] = GraphLayer(doc.strings, spans="events")
    marry, mara, ole, lead = (events.node(label, anchor=k) for k, label in enumerate(("Marry", "PER", "PER", "Lead")))
    events.edge(marry, mara, "Who")
    events.edge(marry, ole, "Whom")
    events.edge(lead, marry, "Cause")
    doc.spans["timeline"] = SpanLayer(doc.strings)
    doc.spans["timeline"].add([(2, 3)], "EVENT")
    doc.spans["timeline"].add([(6, 7)], "TIMEX3", value="1999")
    doc.relations["timeline"] = RelationLayer(doc.strings, "timeline")
    doc.relations["timeline"].add(1, 0, "CONTAINS")
    collected = DocumentGraph()
    collected.add(doc)
    graph = collected.graph()
    edges = {edge[:3] for edge in graph.edges()}
    event, leading = "Marry: married (story, 1)", "Lead: leads (story, 4)"
    assert {(event, "Who", "Mara Lind"), (event, "Whom", "Ole Berg"), (leading, "Cause", event),
            (event, "is a", "Marry"), ("1999", "CONTAINS", "married (story, 1)")} <= edges  # fmt: skip
    kinds = {name: graph.type_of(number) for number, name in enumerate(graph.names)}
    assert (kinds[event], kinds["1999"], kinds["married (story, 1)"]) == ("event", "time", "event")


def test_the_text_becomes_mentions_dependencies_words_and_paths() -> None:
    text = TextGraph(kinds=("paths", "words", "dependencies"), least=1)
    text.add(story())
    edges = {(source, relation, target) for source, relation, target, _ in text.graph().edges()}
    token = {word: f"\x020.{word}" for word in range(11)}
    assert ("Mara Lind", "mention", token[0]) in edges
    assert ("Mara Lind", "mention", token[7]) in edges
    assert (token[3], "obj", token[2]) in edges
    assert (token[4], "flat", token[3]) in edges
    assert (token[0], "nsubj|married|obj", token[3]) in edges
    assert (token[0], "nsubj||obj", token[3]) in edges
    assert (token[0], "same sentence", token[3]) in edges
    assert (token[8], "word", FORM + "leads") in edges
    assert ("Mara Lind", "name word", FORM + "mara") in edges
    assert all(is_text(node) or relation in ("mention", "name word") for node, relation, _ in edges)
    assert token_place(token[7]) == (0, 7)
    rare = TextGraph(kinds=("paths",), least=3)
    rare.add(story())
    assert rare.graph().relations == ["mention", "same sentence"]
    with pytest.raises(ConfigError, match="dependencies, words, paths"):
        TextGraph(kinds=("letters",))


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_folder_of_documents_and_a_table_become_one_graph(tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / "annotated").mkdir()
    weft.write([story()], tmp_path / "annotated" / f"a.{suffix}")
    (tmp_path / "more.tsv").write_text("Nordvik Shipping\tbased in\tBergen\n", encoding="utf-8")
    counts = build([tmp_path / "annotated", tmp_path / "more.tsv"], tmp_path / "kg", text=["paths"])
    assert (counts["documents"], counts["relations"]["based in"]) == (1, 1)
    graph = load_graph(tmp_path / "kg")
    assert ("Mara Lind", "leads", "Nordvik Shipping", 1.0) in list(graph.edges())
    assert TypedGraph.load(tmp_path / "kg" / TEXT).relations == ["mention", "same sentence"]
    evidence = Evidence(tmp_path / "kg")
    assert evidence.of("Mara Lind", "leads", "Nordvik Shipping") == [("story", "She leads Nordvik Shipping")]
    assert evidence.of_word(0, 3) == ("story", "Mara Lind married Ole Berg in 1999")
    assert evidence.of("a", "b", "c") == []
    assert evidence.of_word(5, 0) is None


def test_conllu_with_coreference_is_read(tmp_path: Path) -> None:
    from weft.text.conventions.coreference import with_entities

    weft.write([with_entities(story())], tmp_path / "a.conllu")
    counts = build([tmp_path / "a.conllu"], tmp_path / "kg")
    assert counts["nodes"] == 1  # CoNLL-U keeps clusters, not relations: Mara Lind, twice
    assert next(iter(load_graph(tmp_path / "kg").names)) == "Mara Lind"


def test_edges_and_documents_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text('{"source": "a", "target": "b"}\n', encoding="utf-8")
    weft.write([story()], tmp_path / "d.jsonl")
    counts = build([tmp_path / "e.jsonl", tmp_path / "d.jsonl"], tmp_path / "kg")
    assert counts["documents"] == 1
    assert counts["relations"]["linked"] == 1
    with pytest.raises(ConfigError, match="no documents"):
        build([tmp_path / "e.jsonl"], tmp_path / "kg", text=["paths"])
    with pytest.raises(DataError, match="is a file"):
        build([tmp_path / "e.jsonl"], tmp_path / "e.jsonl")


def test_damaged_evidence_is_named(tmp_path: Path) -> None:
    weft.write([story()], tmp_path / "d.jsonl")
    build([tmp_path / "d.jsonl"], tmp_path / "kg")
    (tmp_path / "kg" / "evidence.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 1"):
        Evidence(tmp_path / "kg")


def test_articles_and_appositions_name_the_entity_that_they_hold_and_phrases_that_hold_a_name_are_none():
    words = [
        "The",
        "Museum",
        "opened",
        ".",
        "Mara",
        "Lind",
        ",",
        "a",
        "captain",
        ",",
        "left",
        "the",
        "harbour",
        "of",
        "Oslo",
    ]
    doc = Doc.from_words([words])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(1, 2, "ORG"), (4, 6, "PER"), (14, 15, "LOC")])
    set_entities(doc, [(0, 2), (4, 9), (11, 15)], [0, 1, 2])
    assert [each.name for each in mentions_of(doc)] == ["Museum", "Mara Lind", "Oslo"]


def test_a_last_name_that_two_people_have_stays_alone():
    people = [Mention(0, 2, "Sten Holm", "PER"), Mention(3, 5, "Ada Holm", "PER"), Mention(6, 7, "Holm", "PER")]
    assert [each.name for each in with_surnames(people)] == ["Sten Holm", "Ada Holm", "Holm"]
    assert with_surnames([Mention(0, 2, "New Bergen", "LOC"), Mention(3, 4, "Bergen", "LOC")])[1].name == "Bergen"
