"""The recipe of complex-relations: its corpora, generated data, and the checks that need no recorded run."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from weft.errors import DataError
from weft.evaluate.semantics.tuples import score_tuples
from weft.recipes.extraction.complex_relations import corpora, english, experiment
from weft.recipes.extraction.complex_relations.generated import SCHEMA, generated_graphs, generated_sentences
from weft.recipes.framework import RecipeOptions, RecipeResult
from weft.tasks.relations.enumeration import candidates_of
from weft.tasks.relations.pairs import Edge, PairTable
from weft.tasks.relations.tuples import build_tuples
from weft.text.conventions.tuples import tuple_rows

THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def sets(rows):
    return [{(row.label, frozenset(row.members)) for row in own} for own in rows]


@pytest.mark.must_show("complex-relations", 4)
def test_gold_pairs_of_generated_sentences_give_back_gold_tuples() -> None:
    graphs = generated_graphs(600, seed=1)
    gold = [set(sample.tuples) for sample in graphs.samples]
    for search in ("maximal", "probable"):
        found = sets(build_tuples(SCHEMA, graphs.nodes, graphs.edges, graphs.related, 0.5, search))
        assert score_tuples(gold, found).total().f1 >= 0.99


@pytest.mark.must_show("complex-relations", 4)
def test_gold_pairs_of_the_vice_versa_pattern_do_not() -> None:
    """John is C.E.O. and C.F.O. of Inc. and Biz., and Jane vice versa: every pair is related, so all tuples are."""
    fillers = SCHEMA.fillers(["person", "person", "job", "job", "company", "company"])
    edges = [Edge(0, a, b, 0) for a, b in combinations(fillers, 2) if SCHEMA.joins(a, b)]
    [found] = build_tuples(SCHEMA, [fillers], edges, np.ones(len(edges)), 0.5, "maximal")
    assert len(found) == 8  # of which four are right


@pytest.mark.must_show(
    "complex-relations",
    6,
    weaker="the number of tuples falls with the threshold only if all mentions of a sentence make up one tuple; with "
    "several tuples per sentence it rises, though every mention is part of one",
)
def test_a_lower_threshold_makes_larger_tuples_and_fewer_of_them_where_they_fill_their_sentences() -> None:
    several = generated_graphs(250, seed=2)
    single = generated_graphs(250, seed=3, low=4, high=4, shares=(0.0, 0.0, 1.0))
    counts = {}
    for name, graphs in (("several", several), ("single", single)):
        found = [
            sets(build_tuples(SCHEMA, graphs.nodes, graphs.edges, graphs.probabilities, threshold))
            for threshold in THRESHOLDS
        ]
        arity = [np.mean([len(members) for own in rows for _, members in own]) for rows in found]
        assert all(low >= high for low, high in pairwise(arity))
        assert arity[0] > arity[-1] + 0.2
        counts[name] = [sum(map(len, rows)) for rows in found]
    assert all(low <= high for low, high in pairwise(counts["single"]))
    assert counts["single"][0] < counts["single"][-1]
    assert counts["several"][0] > counts["several"][-1]


@pytest.mark.must_show(
    "complex-relations", 5, weaker="enumeration's time is a matter of counts: candidates and their pairs"
)
def test_enumeration_classifies_many_times_more_than_pairs_at_arity_four() -> None:
    samples = [sample for sample in generated_sentences(200, 1, clauses=(2, 4)) if len(sample.mentions) >= 6]
    pairs = whole = 0
    for sample in samples:
        fillers = SCHEMA.fillers(sample.types)
        candidates = candidates_of(SCHEMA, fillers)
        pairs += sum(len(each) == 2 for each in candidates)
        whole += sum(len(each) * (len(each) - 1) // 2 for each in candidates)
    assert whole > 3 * pairs


@pytest.mark.timing
@pytest.mark.must_show("complex-relations", 7)
def test_ten_thousand_sentences_of_twelve_mentions_take_seconds() -> None:
    import time

    graphs = generated_graphs(10_000, seed=4, low=12, high=12)
    start = time.process_time()
    build_tuples(SCHEMA, graphs.nodes, graphs.edges, graphs.probabilities)
    assert time.process_time() - start < 10


def test_events_are_read_as_tuples(tmp_path: Path) -> None:
    text = "Ads fooled Ann on Monday. Bob paid."

    def part(words: str, role: str = "", off: int = 0) -> dict:
        start = text.index(words) + off
        return {"text": words, "startOffset": start, "endOffset": start + len(words), "role": {"type": role}}

    events = [
        {"nugget": part("fooled"), "argument": [part("Ads", "Attacker"), part("Ann", "Victim", off=3),
         part("Bob", "Victim"), part("Monday", "Time")]},
        {"nugget": part("paid")},
        {"nugget": part("paid"), "argument": [part("Ads", "Attacker"), {"text": "one", "role": {"type": "Victim"}}]},
    ]  # fmt: skip
    file = json.dumps({"content": text, "cyberevent": {"hopper": [{"events": events}]}}).encode()
    path = tmp_path / "casie.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("annotation/7.json")
        info.size = len(file)
        archive.addfile(info, io.BytesIO(file))
    [doc] = corpora.casie(path)
    assert doc.id == "7"
    # A string off its offsets is found nearby, an argument of another sentence is left out, an event without one too.
    assert repr(doc.tuples) == "[RelationTuple('event', Trigger='fooled', Attacker='Ads', Victim='Ann', Time='Monday')]"


def test_combinations_of_drugs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    spans = [{"start": 0, "end": 1}, {"start": 6, "end": 7}]
    rels = [{"class": "POS", "spans": [0, 1]}, {"class": "NEG", "spans": [1, 0]}]
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"doc_id": "d", "sentence": "A and B", "spans": spans, "rels": rels}) + "\n")
    [doc] = corpora.drugs(path)
    assert repr(doc.tuples) == "[RelationTuple('combination', drug='A', drug='B')]"


def test_passages_are_read_with_inverse_relations_as_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"

    def mention(sentence: int, first: int, kind: str) -> dict:
        return {"sent_id": sentence, "pos": [first, first + 1], "type": kind, "name": ""}

    values = {
        "title": "t", "sents": [["Ulm", "is", "in", "Ost"], ["Ann", "left", "Ost", "in", "1900"]],
        "vertexSet": [[mention(0, 0, "LOC")], [mention(0, 3, "LOC"), mention(1, 2, "LOC")], [mention(1, 0, "PER")],
                      [mention(1, 4, "TIME")]],
        "labels": [{"h": 1, "t": 0, "r": "P150"}, {"h": 2, "t": 1, "r": "P19"}, {"h": 2, "t": 3, "r": "P569"},
                   {"h": 2, "t": 0, "r": "P27"}],
    }  # fmt: skip
    with gzip.open(path, "wt") as file:
        file.write(json.dumps(values) + "\n")
    [doc] = english.passages(path)
    english.related(doc)
    assert [repr(each) for each in doc.tuples] == [
        "RelationTuple('located in', Arg1='Ulm', Arg2='Ost')", "RelationTuple('born in', Arg1='Ann', Arg2='Ost')",
    ]  # fmt: skip
    every, near = english.counted([doc], [doc])
    assert (every.total().gold, every.total().correct, near.total().gold) == (3, 2, 2)
    assert len(tuple_rows(doc)) == 2


def test_the_smallest_run_of_generated_data() -> None:
    result = RecipeResult("complex-relations")
    size = experiment.Size(sentences=20, graphs=20, texts=20)
    experiment._generated(result, size, 0)
    assert {table.title for table in result.tables} == {"Generated graphs", "Time, CPU seconds"}
    assert result.cell("Generated graphs", "gold pairs, MC", "F") == 100.0


def test_systems_are_compared_on_the_same_sentences() -> None:
    train, test = generated_sentences(60, 1), generated_sentences(20, 2)
    found = experiment.experiment(train, test, "schema", 6)
    assert found.gold == [set(sample.tuples) for sample in test]  # mentions beyond the sixth count as missed
    assert set(found.found) == {"NE", "MC", "MC, gold pairs", *(f"PC {t}" for t in experiment.THRESHOLDS)}
    both = experiment.Run.joined([found, found])
    assert both.counts("MC").total().gold == 2 * found.counts("MC").total().gold


@pytest.mark.must_show(
    "complex-relations", 4, weaker="98 % on CASIE: tuples that are part of other tuples cannot be told from pairs"
)
def test_gold_pairs_of_corpora_give_back_gold_tuples() -> None:
    options = RecipeOptions()
    try:
        found = {
            "any": corpora.drugs(options.find(corpora.DRUGS.format("test"))),
            "schema": corpora.casie(options.find(corpora.CASIE)),
        }
    except DataError as error:
        pytest.skip(str(error))
    for (arity, docs), floor in zip(found.items(), (0.99, 0.98), strict=True):
        samples = [sample for sample in experiment.sentences(docs, context=False) if len(sample.mentions) <= 10]
        schema = experiment.schema_of(samples, arity)
        table = PairTable.of(samples, [schema])
        edges, nodes = table.edges(schema)
        related = table.labels(schema, edges).astype(float)
        tuples = sets(build_tuples(schema, nodes, edges, related, 0.5, "maximal"))
        assert score_tuples([set(sample.tuples) for sample in samples], tuples).total().f1 >= floor
