"""Scores of temporal links: closure, awareness, agreement, and the community scorer."""

from __future__ import annotations

import logging
import random
import re
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.semantics.timelines import (
    PlacedGraph,
    PlacedLink,
    agreement,
    evaluate_timelines,
    placed_links,
    score_awareness,
    score_closure,
    score_plain,
)
from weft.formats import anafora as ours
from weft.infer.orders.intervals import THYME
from weft.recipes.extraction.thyme_clinical_time.corpora import THYME as CORPUS
from weft.recipes.extraction.thyme_clinical_time.corpora import thyme_files
from weft.text import Doc
from weft.text.conventions.timeline import new_layers


def link(text: str) -> PlacedLink:
    return PlacedLink(*text.split())


def links(text: str) -> list[PlacedLink]:
    return [link(each) for each in text.split(";")]


def note(*pairs: str, events: int = 4, value: str = "BEFORE") -> Doc:
    """Events a, b, c ... with links."""
    doc = Doc.from_words([[chr(97 + i) for i in range(events)]])
    spans, relations = new_layers(doc)
    for i in range(events):
        spans.add([(i, i + 1)], "EVENT", DocTimeRel=value)
    for first, relation, second in (each.split() for each in pairs):
        relations.add(ord(first) - 97, ord(second) - 97, relation)
    return doc


def test_precision_and_recall_use_the_closure_of_the_other_side():
    gold = links("a BEFORE b; b BEFORE c".replace("; ", ";"))
    score = score_closure(gold, links("a BEFORE c;c BEFORE d"))
    assert (score.precision, score.recall) == (0.5, 0)
    assert score_plain(gold, gold[:1]).recall == 0.5
    assert score_plain([], []).f1 == 1


def test_awareness_leaves_redundant_links_out():
    gold = links("a BEFORE b;b BEFORE c;a BEFORE c")
    system = links("a BEFORE b;a BEFORE c")
    assert (score_closure(gold, system).gold, score_awareness(gold, system).gold) == (3, 2)
    assert score_awareness(gold, system).recall == 0.5
    assert score_closure(gold, system).recall == pytest.approx(2 / 3)


def test_links_that_say_the_same_count_once():
    score = score_closure(links("a OVERLAP b;b OVERLAP a"), links("b OVERLAP a"))
    assert (score.gold, score.system, score.f1) == (1, 1, 1.0)


@pytest.mark.must_show("thyme-clinical-time", 4)
def test_an_annotator_who_spells_out_what_follows_agrees_fully():
    found = agreement([note("a BEFORE b", "b BEFORE c")], [note("a BEFORE b", "b BEFORE c", "a BEFORE c")])
    for kind in ("link participants", "links"):
        assert found[kind][:2] == (1, 1)


pairs_of_events = st.tuples(st.permutations("abcd"), st.sampled_from(("BEFORE", "CONTAINS")))
nested = st.lists(pairs_of_events.map(lambda each: f"{each[0][0]} {each[1]} {each[0][1]}"), max_size=5)


@pytest.mark.must_show("thyme-clinical-time", 4)
@settings(deadline=None, max_examples=60)
@given(nested, nested)
def test_inferred_links_that_are_added_to_either_side_leave_agreement_unchanged(first, second):
    def with_inferred(given_links):
        graph = PlacedGraph(links(";".join(given_links)) if given_links else [])
        every = [f"{x} {r} {y}" for r in ("BEFORE", "CONTAINS") for x, y in permutations("abcd", 2)]
        return [*given_links, *(each for each in every if graph.holds(link(each)) and each not in given_links)]

    plain = agreement([note(*first)], [note(*second)])
    for a, b in ((with_inferred(first), second), (first, with_inferred(second))):
        more = agreement([note(*a)], [note(*b)])
        for kind in ("links", "CONTAINS"):
            assert more.get(kind, (0,))[0] == pytest.approx(plain.get(kind, (0,))[0])


@pytest.mark.must_show("thyme-clinical-time", 4)
def test_the_same_annotation_agrees_in_everything():
    doc = note("a CONTAINS b", "b CONTAINS c", "d BEFORE a")
    for found in agreement([doc], [doc]).values():
        assert (found.f1, found.alpha) == (1, 1)


def test_links_in_opposite_directions_disagree():
    found = agreement([note("a BEFORE b", "c BEFORE d")], [note("b BEFORE a", "c BEFORE d")])
    assert found["links"].f1 == 0.5
    # Units (x, y) and (x, x): of four values three are the same, so that half of all pairs differ, as in the units.
    assert found["links"].alpha == pytest.approx(0)
    assert found["link participants"][:2] == (1, 1)


def test_containers_that_follow_from_links_of_other_relations_count_neither_way():
    plain = "a CONTAINS b", "b BEGINS-ON c", "b ENDS-ON c"
    found = agreement([note(*plain)], [note(*plain, "a CONTAINS c")])["CONTAINS"]
    assert (found.f1, found.units) == (1, 1)


def test_alpha_of_links_counts_missing_ones_and_over_all_pairs_it_is_nearly_f1():
    # Three links of A, two of them in B; B has one more: units (x, x), (x, x), (x, none), (none, y).
    found = agreement(
        [note("a BEFORE b", "b BEFORE c", "c BEFORE d", events=30)],
        [note("a BEFORE b", "b BEFORE c", "d CONTAINS c", events=30)],
    )["links"]
    assert found.f1 == pytest.approx(2 / 3)
    assert found.units == 3
    # Values: BEFORE 5, CONTAINS 1 in 3 units of which one disagrees.
    assert found.alpha == pytest.approx(1 - (2 / 6) / (2 * 5 / (6 * 5)))
    assert found.alpha_all == pytest.approx(2 / 3, abs=0.2)


def test_events_match_by_their_span_and_attributes_on_matched_events():
    other = note(events=3, value="AFTER")
    other.text = note().text
    found = agreement([note()], [other])
    assert found["EVENT"].f1 == pytest.approx(2 * 3 / 7)
    assert found["DocTimeRel"].f1 == 0


def test_all_measures_are_counted_per_document():
    gold, system = [note("a CONTAINS b"), note()], [note("a CONTAINS b", "b BEFORE c"), note(events=3)]
    system[1].text = gold[1].text
    counts = evaluate_timelines(gold, system)
    assert counts["EVENT"].gold.tolist() == [4, 4]
    assert counts["EVENT"].system.tolist() == [4, 3]
    assert counts["CONTAINS"].total().f1 == 1
    assert counts["links (closure precision)"].total().precision == 0.5
    outcome = evaluate_documents(gold, system, "timeline")
    assert (outcome.layer, outcome.main) == ("timeline", "EVENT")
    with pytest.raises(ConfigError, match="McNemar"):
        outcome.right("EVENT")
    with pytest.raises(WeftError, match="another text"):
        evaluate_timelines([note()], [note(events=3)])
    with pytest.raises(WeftError, match="1 documents on one side"):
        evaluate_timelines([note()], [])


def test_times_are_matched_by_overlap_one_to_one():
    def timed(*spans):
        doc = Doc.from_words([["on", "June", "third", "or", "so"]])
        layer, _ = new_layers(doc)
        for span in spans:
            layer.add([span], "TIMEX3", Class="DATE")
        return doc

    counts = evaluate_timelines([timed((1, 3))], [timed((1, 2), (2, 3))])
    assert counts["TIMEX3"].total().correct == 0
    assert counts["TIMEX3 (overlap)"].total()[:3] == (1, 2, 1)


def theirs(gold: str, system: str, tmp_path, closure: bool) -> tuple:
    """Reference, predicted and correct links of the community scorer."""
    scorer = pytest.importorskip("anafora.evaluate")
    package = pytest.importorskip("anafora")
    logging.getLogger().setLevel(logging.ERROR)
    data = []
    for name, content in (("gold", gold), ("system", system)):
        (tmp_path / f"{name}.xml").write_text(content)
        data.append(package.AnaforaData.from_file(str(tmp_path / f"{name}.xml")))
    kind = scorer.TemporalClosureScores if closure else scorer.Scores
    scores = scorer.score_data(*data, include={("TLINK", "Type")}, scores_type=kind)["TLINK", "Type"]
    return scores.reference, scores.predicted, scores.correct


def perturbed(content: str, seed: int) -> str:
    """A copy with links dropped, retyped and turned round."""
    draw = random.Random(seed)

    def change(found: re.Match[str]) -> str:
        element, chance = found[0], draw.random()
        if "<type>TLINK" not in element:
            return element
        if chance < 0.2:
            return ""
        if chance < 0.3:
            return re.sub("<Type>[^<]*", f"<Type>{draw.choice(THYME)}", element)
        if chance < 0.4:
            swapped = re.sub(r"(</?)(Source)>", r"\1Other>", element)
            return re.sub(r"(</?)Other>", r"\1Target>", re.sub(r"(</?)Target>", r"\1Source>", swapped))
        return element

    return re.sub(r"\t<relation>.*?\t</relation>\n\n", change, content, flags=re.S)


def assert_scored_alike(gold: str, system: str, tmp_path) -> None:
    sides = [placed_links(ours.parse(content)) for content in (gold, system)]
    plain, closure = score_plain(*sides), score_closure(*sides)
    assert (plain.gold, plain.system, plain.gold_matched) == theirs(gold, system, tmp_path, False)
    expected = theirs(gold, system, tmp_path, True)
    assert (closure.gold, closure.system, (closure.system_matched, closure.gold_matched)) == expected


@pytest.mark.must_show("thyme-clinical-time", 5, weaker="random small files; the corpus has its own test")
@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(THYME), st.integers(0, 4)), min_size=1, max_size=7),
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(THYME), st.integers(0, 4)), min_size=1, max_size=7),
)
def test_scores_of_random_links_are_those_of_the_community_scorer(tmp_path_factory, gold, system):  # fmt: skip
    folder = tmp_path_factory.mktemp("scorer")
    files = []
    for rows in (gold, system):
        doc = Doc("abcde")
        spans, relations = new_layers(doc)
        doc.spans["timeline"] = type(spans)(doc.strings, "chars")
        for i in range(5):
            doc.spans["timeline"].add([(i, i + 1)], "EVENT")
        for first, relation, second in rows:
            relations.add(first, second, relation)
        files.append(ours.to_text(doc))
    assert_scored_alike(*files, folder)


@pytest.mark.corpus
@pytest.mark.must_show("thyme-clinical-time", 5)
def test_scores_of_dev_notes_are_those_of_the_community_scorer(corpus_file, tmp_path):
    contents = [text for name, text in thyme_files(corpus_file(CORPUS.format("dev"))) if "Relation" in name][:20]
    total = [0, 0]
    for number, content in enumerate(contents):
        if number < 8:  # the community scorer takes a second per note and comparison
            assert_scored_alike(content, perturbed(content, number), tmp_path)
        if number % 5 == 0:
            assert_scored_alike(content, content, tmp_path)
        found = placed_links(ours.parse(content))
        total[0] += score_plain(found, found).gold
        total[1] += score_closure(found, found).gold
    assert total == [1517, 1515]
