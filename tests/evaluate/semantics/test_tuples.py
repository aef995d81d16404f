"""Scores of tuples: every slot counts, arities are counted apart, pairs besides."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.semantics.tuples import LARGEST, score_pairs, score_tuples
from weft.text.conventions.tuples import TupleRow, set_tuples
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


def named(label: str, **slots: int):
    return label, frozenset(slots.items())


def test_a_tuple_counts_only_if_every_slot_is_right() -> None:
    gold = [{named("work", who=0, does=1, at=2)}]
    for wrong in (
        named("work", who=0, does=1), named("work", who=0, does=1, at=3), named("play", who=0, does=1, at=2),
        named("work", who=1, does=0, at=2),
    ):  # fmt: skip
        assert score_tuples(gold, [{wrong}]).total().correct == 0
    assert score_tuples(gold, gold).total().f1 == 1.0


def test_pairs_count_what_tuples_have_in_part() -> None:
    gold, found = [{named("work", who=0, does=1, at=2)}], [{named("work", who=0, does=1)}]
    score = score_pairs(gold, found).total()
    assert (score.gold, score.system, score.correct) == (3, 1, 1)


def test_arities_are_counted_apart_and_large_ones_together() -> None:
    large = [named("mix", **{f"s{k}": k for k in range(n)}) for n in (LARGEST, LARGEST + 3)]
    gold = [{named("work", who=0, at=1), *large}]
    assert score_tuples(gold, gold, 2).total().gold == 1
    assert score_tuples(gold, gold, LARGEST).total().gold == 2
    assert score_tuples(gold, gold, 3).total().gold == 0


def test_documents_are_compared_by_characters_of_mentions() -> None:
    def note(unit: str, where: str = "at") -> Doc:
        doc = Doc.from_words([["Ada", "edits", "at", "Quill"]])
        spans = [(0, 1, "PER"), (3, 4, "ORG")] if unit == "words" else [(0, 3, "PER"), (13, 18, "ORG")]
        doc.spans["entities"] = SpanLayer.of(doc.strings, spans, unit)  # type: ignore[arg-type]
        set_tuples(doc, [TupleRow("work", (("who", 0), (where, 1)))])
        return doc

    same = evaluate_documents([note("words")], [note("chars")], "relations")
    assert same.main == "tuples"
    assert same.counts["tuples"].total().f1 == 1.0
    other = evaluate_documents([note("words")], [note("words", "in")], "relations")
    assert other.counts["tuples"].total().f1 == 0.0


def test_units_must_be_the_same() -> None:
    with pytest.raises(WeftError, match="same"):
        score_tuples([set()], [])
