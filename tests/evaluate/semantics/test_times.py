"""Scores of time expressions."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.semantics.times import padded, score_times
from weft.text import Doc, SpanLayer


def said(*times: tuple[int, int, str, str]) -> Doc:
    doc = Doc.from_words([["from", "last", "Friday", "to", "May"]])
    doc.spans["times"] = SpanLayer(doc.strings)
    for start, end, kind, value in times:
        doc.spans["times"].add([(start, end)], kind, value=value)
    return doc


GOLD = said((1, 3, "DATE", "1998-02-27"), (4, 5, "DATE", "1998-5"))


def test_types_and_values_count_where_extents_agree():
    system = said((1, 3, "TIME", "1998-02-27"), (3, 5, "DATE", "1998-05"))
    report = score_times([GOLD], [system])
    assert report.extents.total().correct == 1
    assert report.type.total().correct == 0
    assert report.value.total().correct == 1
    assert report.as_dict() == {"extents F": 0.5, "type": 0.0, "value": 0.5}


def test_zeros_are_filled_in_unless_strings_are_compared():
    system = said((1, 3, "DATE", "1998-02-27"), (4, 5, "DATE", "1998-05"))
    assert score_times([GOLD], [system]).value.total().correct == 2
    assert score_times([GOLD], [system], normalized=False).value.total().correct == 1
    assert padded("T9:30") == "T09:30"


def test_the_layer_is_scored_by_value_and_units_can_be_tested():
    outcome = evaluate_documents([GOLD], [GOLD], "times")
    assert (outcome.main, outcome.counts["value"].total().f1) == ("value", 1.0)
    assert outcome.right("value").tolist() == [True]


def test_other_documents_are_refused():
    with pytest.raises(WeftError, match="gold has 1 documents"):
        score_times([GOLD], [])
