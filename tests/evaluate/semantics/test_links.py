"""Scores of links: several right ids, open mentions, and what is left out."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.semantics.links import score_links
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


def said(*links, **attributes) -> Doc:
    doc = Doc.from_words([["The", "grand", "jury", "left", "Apple"]])
    doc.spans["links"] = SpanLayer(doc.strings)
    for start, end, id in links:
        doc.spans["links"].add([(start, end)], id, **attributes)
    return doc


def test_any_of_several_right_ids_counts():
    gold = said((2, 3, "a"), also=["b"])
    assert score_links([gold], [said((2, 3, "b"))]).links.total().f1 == 1
    assert score_links([gold], [said((2, 3, "c"))]).links.total().f1 == 0
    assert score_links([gold], [said((2, 3, "x"), key="b")]).links.total().f1 == 1


def test_what_is_not_answered_lowers_recall_alone():
    total = score_links([said((2, 3, "a"), (4, 5, "b"))], [said((2, 3, "a"))]).links.total()
    assert (total.precision, total.recall) == (1.0, 0.5)


def test_links_that_gold_does_not_mention_count_only_if_asked_for():
    gold, system = said((2, 3, "a")), said((2, 3, "a"), (1, 3, "c"))
    assert score_links([gold], [system]).links.total().precision == 1
    assert score_links([gold], [system], everywhere=True).links.total().precision == 0.5


def test_open_mentions_count_on_neither_side():
    report = score_links([said((2, 3, "NIL"), (4, 5, "b"))], [said((2, 3, "a"), (4, 5, "NIL"))])
    assert (report.links.total().gold, report.links.total().system) == (1, 0)
    assert report.right.tolist() == [False]


def test_documents_are_scored_by_layer():
    outcome = evaluate_documents([said((2, 3, "a"))], [said((2, 3, "b"))], "links")
    assert (outcome.main, outcome.counts["links"].total().f1, outcome.counts["spans"].total().f1) == ("links", 0, 1)
    assert outcome.right("links").tolist() == [False]
    with pytest.raises(WeftError, match="documents"):
        score_links([said()], [])
