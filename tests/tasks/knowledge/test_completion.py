"""New facts: ranked by score, not known before, each with paths that add up to what the model says."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.graph.paths.steps import StepGraph
from weft.graph.place import save_graph
from weft.graph.store import Builder, TypedGraph
from weft.tasks.knowledge.completion import complete, explain, likeliest
from weft.tasks.knowledge.folder import KnowledgeGraph, build
from weft.tasks.knowledge.ranker import PathRanker, RankerSettings, targets_of
from weft.tasks.knowledge.writing import write_facts
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


def coast() -> TypedGraph:
    builder = Builder()
    towns = {"Bergen": "Norway", "Oslo": "Norway", "Aarhus": "Denmark"}
    for town, country in towns.items():
        builder.add(town, "in", country)
        builder.type(town, "town")
        builder.type(country, "country")
    for number in range(30):
        name, town = f"p{number}", list(towns)[number % 3]
        builder.type(name, "person")
        builder.add(name, "born in", town)
        builder.add(name, "knows", f"p{(number * 7 + 1) % 30}")
        if number < 24:
            builder.add(name, "citizen of", towns[town] if number % 8 else "Sweden")
    return builder.graph()


def learned() -> tuple[StepGraph, PathRanker, TypedGraph]:
    whole = coast()
    graph = StepGraph.of([whole])
    return graph, PathRanker.fit(graph, "citizen of", graph.answers("citizen of"), RankerSettings(length=3)), whole


def test_new_facts_are_new_the_best_and_in_order() -> None:
    graph, ranker, whole = learned()
    known = graph.answers("citizen of")
    facts = complete(graph, ranker, top=1000, typed=whole)
    assert {fact.source for fact in facts} <= {f"p{number}" for number in range(24, 30)}
    scores = [fact.score for fact in facts]
    assert scores == sorted(scores, reverse=True)
    every = {
        (graph.names[source], graph.names[target]): score
        for source in map(graph.node, {f"p{number}" for number in range(24, 30)})
        for target, score in ranker.ranked(graph, source, targets_of(graph, known))
    }
    assert {(fact.source, fact.target): fact.score for fact in facts} == pytest.approx(every)
    assert complete(graph, ranker, top=3, typed=whole) == facts[:3]
    best = {fact.source: fact.target for fact in reversed(facts)}
    assert best["p24"] == "Norway"
    assert best["p26"] == "Denmark"
    only = complete(graph, ranker, sources=[graph.node("p26")], top=50)
    assert {fact.source for fact in only} == {"p26"}


def test_reasons_add_up_to_the_score() -> None:
    graph, ranker, whole = learned()
    for fact in complete(graph, ranker, top=6, reasons=10_000, typed=whole):
        source, target = graph.node(fact.source), graph.node(fact.target)
        positive = sum(reason.weight for reason in fact.reasons)
        table = ranker.table(graph, [source], targets_of(graph, {0: [target]}))
        weights = table.values.toarray()[0] * ranker.theta[:-1]
        assert positive == pytest.approx(weights[weights > 0].sum())
        assert fact.score == pytest.approx(weights.sum() + ranker.theta[-1])
        assert log(fact.probability / (1 - fact.probability)) == pytest.approx(fact.score)
        for reason in fact.reasons:
            assert reason.walk
            ends = [node for edge in reason.walk for node in (edge.source, edge.target)]
            assert {fact.source, fact.target} <= set(ends)
            assert all(edge in {each[:3] for each in whole.edges()} for edge in map(tuple, reason.walk))


def test_a_walk_never_shows_the_fact_itself() -> None:
    graph, ranker, _ = learned()
    source = graph.node("p1")  # its citizenship is known
    for reason in explain(graph, ranker, source, graph.answers("citizen of")[source][0], most=50):
        assert all((edge.source, edge.relation) != ("p1", "citizen of") for edge in reason.walk)
    path = graph.path(("citizen of", "citizen of⁻¹", "citizen of"))
    assert likeliest(graph, path, source, graph.node("Norway"), "citizen of") == []


def test_a_folder_completes_and_keeps_its_model(tmp_path: Path) -> None:
    save_graph(coast(), tmp_path / "kg")
    kg = KnowledgeGraph.open(tmp_path / "kg")
    found = kg.complete("citizen of", top=4)
    kg.save_model(found, tmp_path / "m.weft")
    assert kg.complete("citizen of", top=4, model=tmp_path / "m.weft").facts == found.facts
    likely = kg.complete("citizen of", top=1000, least=0.5).facts
    every = kg.complete("citizen of", top=1000).facts
    assert likely == [fact for fact in every if fact.probability >= 0.5] != every
    with pytest.raises(DataError, match="not of 'in'"):
        kg.complete("in", model=tmp_path / "m.weft")
    with pytest.raises(ConfigError, match="did you mean citizen of"):
        kg.complete("citizen off")
    with pytest.raises(ConfigError, match="known, typed, all"):
        kg.complete("citizen of", candidates="some")
    with pytest.raises(DataError, match="no node 'nobody'"):
        kg.complete("citizen of", of=["nobody"])
    typed = kg.complete("citizen of", of=["p24"], candidates="typed", top=50)
    assert {fact.target for fact in typed.facts} <= {"Norway", "Sweden", "Denmark"}
    any_node = kg.complete("citizen of", of=["p24"], candidates="all", top=500)
    assert {fact.target for fact in any_node.facts} >= {fact.target for fact in typed.facts}
    counts = [kg._candidates(kg.steps.answers("citizen of"), kind).sum() for kind in ("known", "typed", "all")]
    assert counts == [3, 3, 36]  # Sweden, known as a citizenship only, has no type


def test_a_relation_without_enough_facts_is_said(tmp_path: Path) -> None:
    builder = Builder()
    builder.add_all([("a", "r", "b"), ("c", "s", "d")])
    builder.node("alone")
    with pytest.raises(DataError, match="known facts"):
        KnowledgeGraph(builder.graph()).complete("r")
    whole = coast()
    without = whole.only(np.array([edge[1] != "knows" for edge in whole.edges()]))
    assert KnowledgeGraph(without).complete("citizen of").facts
    with pytest.raises(DataError, match="known facts"):
        KnowledgeGraph(without).complete("knows")


def sentence(number: int, town: str) -> Doc:
    doc = Doc.from_words(
        [[f"P{number}", "grew", "up", "in", town]], upos=[["PROPN", "VERB", "ADP", "ADP", "PROPN"]],
        head=[[2, 0, 2, 5, 2]], deprel=[["nsubj", "root", "compound:prt", "case", "obl"]],
    )  # fmt: skip
    doc.id = f"note {number}"
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (4, 5, "LOC")])
    return doc


def test_reasons_from_text_quote_their_sentences(tmp_path: Path) -> None:
    import weft

    weft.write([sentence(number, "Bergen" if number % 2 else "Aarhus") for number in range(20)], tmp_path / "n.jsonl")
    rows = [f"P{number}\tcitizen of\t{'Norway' if number % 2 else 'Denmark'}" for number in range(16)]
    rows += ["Bergen\tin\tNorway", "Aarhus\tin\tDenmark"]
    (tmp_path / "known.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    build([tmp_path / "n.jsonl", tmp_path / "known.tsv"], tmp_path / "kg", text=["paths"])
    found = KnowledgeGraph.open(tmp_path / "kg").complete("citizen of", settings=RankerSettings(length=2))
    best = found.facts[0]
    assert (best.source, best.target) in {("P16", "Denmark"), ("P17", "Norway"), ("P18", "Denmark"), ("P19", "Norway")}
    said = [pair for reason in best.reasons for pair in reason.sentences]
    town = "Bergen" if best.target == "Norway" else "Aarhus"
    assert (f"note {best.source[1:]}", f"{best.source} grew up in {town}") in said
    assert f"“{best.source} grew up in {town}” (note {best.source[1:]})" in best.reasons[0].told
    assert "\x02" not in best.reasons[0].told


def test_facts_are_written_as_tables_and_as_lines(tmp_path: Path) -> None:
    import csv
    import json

    graph, ranker, whole = learned()
    facts = complete(graph, ranker, top=3, typed=whole)
    for suffix, mark in ((".tsv", "\t"), (".csv", ",")):
        write_facts(facts, tmp_path / f"new{suffix}")
        with open(tmp_path / f"new{suffix}", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=mark))
        assert [row["source"] for row in rows] == [fact.source for fact in facts]
        assert rows[0]["because"] == facts[0].reasons[0].told
    write_facts(facts, tmp_path / "new.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines == json.loads(json.dumps([fact.to_dict() for fact in facts]))
    with pytest.raises(DataError, match=r"\.tsv, \.csv or \.jsonl"):
        write_facts(facts, tmp_path / "new.txt")
