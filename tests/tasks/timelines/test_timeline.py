"""The closed timeline of a document: what follows, contradictions, dates, rules of care."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import DataError, WeftError
from weft.formats import read
from weft.infer.orders.intervals import IntervalGraph
from weft.recipes.extraction.thyme_clinical_time.corpora import THYME, thyme_notes
from weft.recipes.extraction.thyme_clinical_time.notes import notes
from weft.tasks.timelines.rules import calendar_links
from weft.tasks.timelines.sections import sections
from weft.text import Doc
from weft.text.conventions.timeline import new_layers, temporal_links

EXAMPLES = Path(__file__).parents[3] / "examples" / "timeline"


def note(words: str, *links: str, **attributes: dict[str, str]) -> Doc:
    """Words with a capital are times, `x R y` are links; attributes by word."""
    doc = Doc.from_words([words.split()])
    spans, relations = new_layers(doc)
    numbers = {}
    for i, word in enumerate(words.split()):
        kind = "TIMEX3" if word[0].isupper() else "EVENT"
        numbers[word] = spans.add([(i, i + 1)], kind, **attributes.get(word, {}))
    for link in links:
        first, relation, second = link.split()
        relations.add(numbers[first], numbers[second], relation)
    return doc


@pytest.mark.must_show("thyme-clinical-time", 2)
def test_nested_containers_give_what_the_paper_infers():
    [doc] = read(EXAMPLES / "surgery.anafora.xml")
    timeline = doc.timeline()
    assert timeline.consistent
    assert timeline.holds("December 19", "CONTAINS", "bled")
    found = {(str(link.first), str(link.second)) for link in timeline.inferred("CONTAINS")}
    assert ("December 19", "bled") in found
    assert ("December 19", "MRI") not in found
    assert all(link.inferred for link in timeline.inferred())
    assert not any(link.inferred for link in timeline.links)
    lines = str(timeline).splitlines()
    assert lines.index("December 19") < lines.index("    incision") < lines.index("      bled")


@pytest.mark.must_show("thyme-clinical-time", 2)
def test_contradictory_links_are_reported_as_a_minimal_cycle_and_the_rest_is_kept():
    doc = note("Monday a b c", "Monday CONTAINS a", "a BEFORE b", "b BEFORE c", "c BEFORE a", "Monday CONTAINS c")
    timeline = doc.timeline()
    assert not timeline.consistent
    assert {str(link) for link in timeline.cycle} == {"a BEFORE b", "b BEFORE c", "c BEFORE a"}
    assert [str(link) for link in timeline.left_out] == ["c BEFORE a"]
    assert timeline.holds("a", "BEFORE", "c")
    assert len(timeline) == 4
    assert "contradictory" in repr(timeline)


def test_relations_to_the_document_are_links_to_its_time_all_of_whose_spans_are_one():
    doc = note("Now was is will since", was={"DocTimeRel": "BEFORE"}, will={"DocTimeRel": "AFTER"},
               since={"DocTimeRel": "BEFORE/OVERLAP"})  # fmt: skip
    doc.spans["timeline"].add([(0, 1)], "DOCTIME")
    doc.spans["timeline"].add([(2, 3)], "DOCTIME")
    timeline = doc.timeline()
    assert timeline.holds("was", "BEFORE", "will")
    assert timeline.holds("since", "OVERLAP", "DOCTIME")
    assert not timeline.holds("was", "BEFORE", "since")
    assert sum(interval.kind == "DOCTIME" for interval in timeline.intervals) == 1
    assert {link.source for link in timeline.links} == {"DocTimeRel"}


def test_dates_are_ordered_by_their_values():
    doc = note(
        "May June op scan",
        "May CONTAINS op",
        "June CONTAINS scan",
        May={"value": "2014-05"},
        June={"value": "2014-06-03"},
    )
    doc.meta["date"] = "2015-01-01"
    timeline = doc.timeline()
    assert timeline.holds("op", "BEFORE", "scan")
    assert timeline.holds("scan", "BEFORE", "DOCTIME")
    assert {link.source for link in timeline.links} == {"link", "value"}


@pytest.mark.parametrize("value", ["2014-13", "2014-02-30", "P6M", "", "XXXX", "20145", "0000"])
def test_values_that_are_no_dates_order_nothing(value):
    assert list(calendar_links([value, "2015"])) == []


def test_dates_that_share_an_end_do_not_contain_each_other_strictly():
    assert list(calendar_links(["2014", "2014-01"])) == []
    assert [link.relation for link in calendar_links(["2014", "2014-02"])] == ["CONTAINS"]
    assert [link.relation for link in calendar_links(["2013-12", "2014-01"])] == ["BEFORE"]


def test_rules_of_care_are_off_until_they_are_asked_for():
    doc = note("Week colonoscopy biopsy pathology resection T3N1",
               *(f"Week CONTAINS {each}" for each in ("colonoscopy", "biopsy", "pathology", "resection")),
               )  # fmt: skip
    doc.spans["timeline"] = type(doc.spans["timeline"]).of(
        doc.strings, [(i, i + 1, "TIMEX3" if i == 0 else "EVENT") for i in range(6)]
    )
    doc.relations["timeline"].add(0, 5, "CONTAINS")
    plain, informed = doc.timeline(), doc.timeline(rules=True)
    for first, relation, second in (
        ("colonoscopy", "CONTAINS", "biopsy"),
        ("colonoscopy", "BEFORE", "resection"),
        ("pathology", "BEFORE", "T3N1"),
    ):
        assert not plain.holds(first, relation, second)
        assert informed.holds(first, relation, second)
    assert "rule" in {link.source for link in informed.links}


def test_sections_and_permanence_say_when_by_rule():
    text = "MEDICATIONS:\naspirin\nONGOING CARE ORDERS:\nscan"
    doc = Doc(text)
    layer = doc.spans["timeline"] = type(note("a").spans["timeline"])(doc.strings, "chars")
    for word in ("aspirin", "scan"):
        layer.add([(text.index(word), text.index(word) + len(word))], "EVENT")
    assert not doc.timeline().holds("scan", "AFTER", "DOCTIME")
    assert doc.timeline(rules=True).holds("scan", "AFTER", "DOCTIME")
    assert doc.timeline(rules=True).holds("aspirin", "OVERLAP", "DOCTIME")
    assert [title for _, title in sections(text)] == ["medications", "ongoing care orders"]
    lasting = note("diabetes", diabetes={"DocTimeRel": "OVERLAP", "Permanence": "PERMANENT"})
    assert lasting.timeline(rules=True).holds("diabetes", "BEFORE/OVERLAP", "DOCTIME")
    assert not lasting.timeline().holds("diabetes", "BEFORE/OVERLAP", "DOCTIME")


def test_what_is_asked_wrongly_is_said_plainly():
    timeline = note("a a b").timeline()
    with pytest.raises(WeftError, match="there are 2 intervals 'a'; name one of: E1 a, E2 a"):
        timeline.holds("a", "BEFORE", "b")
    with pytest.raises(WeftError, match="there is no interval 'z'"):
        timeline.holds("E1", "BEFORE", "z")
    with pytest.raises(WeftError, match="unknown relation 'NEAR'"):
        timeline.holds("E1", "NEAR", "E2")
    with pytest.raises(DataError, match="no span layer 'timeline'"):
        Doc.from_words([["a"]]).timeline()
    large = Doc.from_words([["a"] * 3001])
    large.spans["timeline"] = type(note("a").spans["timeline"]).of(
        large.strings, [(i, i + 1, "EVENT") for i in range(3001)]
    )
    with pytest.raises(WeftError, match="at most 3,000"):
        large.timeline()


def test_ranks_of_generated_notes_agree_with_every_link():
    for doc in notes(5, seed=1):
        timeline = doc.timeline()
        place = dict(zip(timeline.intervals, timeline.ranks, strict=True))
        for link in timeline.links:
            (a, b), (c, d) = place[link.first], place[link.second]
            if link.relation == "CONTAINS":
                assert a < c < d < b
            if link.relation == "BEFORE":
                assert b < c


@pytest.mark.corpus
@pytest.mark.must_show("thyme-clinical-time", 2)
def test_contradictory_notes_of_the_corpus_are_reported_and_none_is_dropped(corpus_file):
    found = contradictory = 0
    for doc in thyme_notes(corpus_file(THYME.format("dev"))):
        found += 1
        links = [(x, r, y) for x, r, y, _ in temporal_links(doc)]
        graph = IntervalGraph(len(doc.spans["timeline"]), links)
        if not graph.consistent:
            contradictory += 1
            cycle = [graph.links[i] for i in graph.cycle()]
            assert not IntervalGraph(graph.n, cycle).consistent
            for spared in cycle:
                assert IntervalGraph(graph.n, [each for each in cycle if each is not spared]).consistent
    assert found == 103
    assert 0 < contradictory < 60
