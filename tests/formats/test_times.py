"""Phrases in tables, and TimeML."""

from __future__ import annotations

import pytest

import weft
from weft.errors import FormatError, WeftError
from weft.formats import timeml
from weft.text import Doc, SpanLayer

ROWS = "# ours\nDATE\t2026-05-05\t2026-05-01 12:00:00\tnext Tuesday\nDURATION\tP3W\t2026-05-01\tthree weeks\n"
TIMEML = """<?xml version="1.0" ?>
<TimeML><DOCID>a1</DOCID>
<DCT><TIMEX3 tid="t0" type="DATE" value="2026-05-01" functionInDocument="CREATION_TIME">May 1</TIMEX3></DCT>
<TEXT>They <EVENT eid="e1" class="OCCURRENCE">met</EVENT> on <TIMEX3 tid="t1" type="DATE" value="2026-04-28"
temporalFunction="true">Tuesday</TIMEX3> &amp; left.</TEXT>
<TLINK lid="l1" relType="INCLUDES" timeID="t1" relatedToEvent="e1"/></TimeML>
"""


def test_phrases_are_documents_with_one_time(tmp_path):
    path = tmp_path / "own.times.tsv"
    path.write_text(ROWS)
    first, second = weft.read(path)
    assert repr(first.times) == "[Timex('next Tuesday', 'DATE', '2026-05-05')]"
    assert first.meta["date"] == "2026-05-01 12:00:00"
    assert second.times[0].value == "P3W"
    out = tmp_path / "again.times.tsv"
    weft.write([first, second], out)
    assert out.read_text().splitlines()[0] == ROWS.splitlines()[1]
    assert [doc.times[0].value for doc in weft.read(out)] == ["2026-05-05", "P3W"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DATE\t2026\tnoon", "line 2: expected type, value, reference time and phrase"),
        ("DAY\t2026\t2026-05-01\tx", "line 2: expected a type out of DATE, TIME, DURATION, SET, found 'DAY'"),
        ("DATE\t2026\tMay\tx", "line 2: expected a reference time such as 1998-03-01 12:00:00, found 'May'"),
        ("DATE\t2026\t2026-02-31\tx", "line 2: expected a reference time"),
        ("DATE\t2026\t2026-05-01\t ", "line 2: expected a phrase in the last column"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, message):
    path = tmp_path / "bad.times.tsv"
    path.write_text(f"{ROWS.splitlines()[1]}\n{line}\n")
    with pytest.raises(FormatError, match=message):
        list(weft.read(path))
    corpus = weft.read(path, skip_bad=True)
    assert len(list(corpus)) == 1
    assert corpus.report.count == 1


def test_a_blank_in_place_of_the_last_tab_is_repaired(tmp_path):
    path = tmp_path / "blank.times.tsv"
    path.write_text("DATE\t1931\t2002-01-16 19:51:00 1931\n")
    [doc] = weft.read(path)
    assert (doc.text, doc.meta["date"]) == ("1931", "2002-01-16 19:51:00")


def test_timeml_keeps_times_events_links_and_offsets(tmp_path):
    path = tmp_path / "a.tml"
    path.write_text(TIMEML)
    [doc] = weft.read(path)
    assert doc.text == "They met on Tuesday & left."
    assert (doc.id, doc.meta["date"]) == ("a1", "2026-05-01")
    [time] = doc.times
    assert (doc.text[time.start : time.end], time.attributes["temporalFunction"]) == ("Tuesday", "true")
    [event] = doc.span_views("events")
    assert (event.text, event.label) == ("met", "OCCURRENCE")
    assert doc.meta["links"][0]["relType"] == "INCLUDES"
    out = tmp_path / "b.tml"
    weft.write([doc], out)
    [again] = weft.read(out)
    assert again.same(doc)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<TimeML><TEXT>x</TimeML>", "line 1: expected well-formed XML"),
        ("<p>x</p>", "expected a TimeML element"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><TimeML><TEXT>x</TEXT></TimeML>', "no declared entities"),
        ("<TimeML>" + "<a>" * 200, "nested at most 100 deep"),
    ],
)
def test_damaged_timeml_is_a_plain_error(tmp_path, text, message):
    path = tmp_path / "bad.tml"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        list(weft.read(path))


def test_crossing_times_cannot_be_written():
    doc = Doc.from_words([["one", "two", "three"]])
    doc.spans["times"] = SpanLayer.of(doc.strings, [(0, 2, "DATE"), (1, 3, "DATE")])
    with pytest.raises(WeftError, match="cross"):
        timeml.to_text(doc)
