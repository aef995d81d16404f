"""Several notes on one timeline: dates join them, and rules carry on what lasts."""

from __future__ import annotations

import pytest

from weft.errors import DataError, WeftError
from weft.tasks.timelines.course import Course
from weft.text import Doc
from weft.text.conventions.timeline import new_layers


def note(name: str, date: str, **events: str) -> Doc:
    """Events with their DocTimeRel, Permanence and Polarity."""
    doc = Doc.from_words([list(events) or ["nothing"]])
    doc.meta.update(id=name, date=date)
    spans, _ = new_layers(doc)
    for place, said in enumerate(events.values()):
        values = dict(zip(("DocTimeRel", "Permanence", "Polarity"), said.split(), strict=False))
        spans.add([(place, place + 1)], "EVENT", **values)
    return doc


def test_events_of_different_notes_are_ordered_by_the_dates_of_the_notes():
    notes = [note("late", "2014-07-01", surgery="BEFORE", plan="AFTER"), note("early", "2014-05-01", scan="BEFORE")]
    course = Course(notes)
    assert [timeline.doc.id for timeline in course.notes] == ["early", "late"]
    assert course.holds("scan", "BEFORE", "late/DOCTIME")
    assert course.holds("scan", "BEFORE", "plan")
    assert not course.holds("surgery", "BEFORE", "early/DOCTIME")
    assert course.consistent
    assert len(course) == 3


def test_what_is_permanent_goes_on_and_what_is_finite_ends_before_a_note_that_is_silent_about_it():
    notes = [
        note("1", "2014-05-01", diabetes="OVERLAP PERMANENT", fever="OVERLAP FINITE", cough="OVERLAP FINITE"),
        note("2", "2014-06-01", cough="OVERLAP FINITE"),
        note("3", "2014-07-01", fever="OVERLAP FINITE NEG"),
    ]
    plain, course = Course(notes), Course(notes, rules=True)
    assert course.consistent
    for number in ("2", "3"):
        assert course.holds("diabetes", "OVERLAP", f"{number}/DOCTIME")
        assert not plain.holds("diabetes", "OVERLAP", f"{number}/DOCTIME")
    assert course.holds("1/E2", "BEFORE", "2/DOCTIME")  # a fever that is denied is not one again
    assert not course.holds("1/E3", "BEFORE", "2/DOCTIME")
    assert course.holds("1/E3", "BEFORE", "3/DOCTIME")
    assert course.holds("2/E1", "BEFORE", "3/DOCTIME")
    assert not plain.holds("1/E2", "BEFORE", "2/DOCTIME")
    assert {link.source for link in course.links} == {"DocTimeRel", "value", "rule"}


def test_what_is_over_or_to_come_is_not_carried_on():
    notes = [note("1", "2014-05-01", fever="BEFORE PERMANENT", scan="AFTER FINITE"), note("2", "2014-06-01")]
    course = Course(notes, rules=True)
    assert "rule" not in {link.source for link in course.links}
    assert not course.holds("fever", "OVERLAP", "2/DOCTIME")


def test_notes_of_one_day_do_not_end_what_another_of_that_day_mentions():
    notes = [note("1", "2014-05-01", fever="OVERLAP FINITE"), note("2", "2014-05-01"), note("3", "2014-05-03")]
    course = Course(notes, rules=True)
    assert not course.holds("fever", "BEFORE", "2/DOCTIME")
    assert course.holds("fever", "BEFORE", "3/DOCTIME")


def test_notes_without_a_date_and_no_notes_are_refused():
    with pytest.raises(DataError, match=r"note 1 \(x\) has no date"):
        Course([note("x", "")])
    with pytest.raises(WeftError, match="no notes"):
        Course([])
