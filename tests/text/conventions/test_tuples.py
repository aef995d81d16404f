"""Tuples of mentions as relation layers: slots, missing slots, repeated slots, formats, and contradictions."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import DataError, WeftError
from weft.formats import read, write
from weft.text.conventions.tuples import TupleRow, set_tuples, tuple_rows
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer

ROWS = [
    TupleRow("employment", (("person", 0), ("job", 1), ("company", 3)), (0.9, 0.8, 0.7)),
    TupleRow("employment", (("person", 2), ("job", 1)), (0.6,)),
    TupleRow("near", (("Arg1", 3), ("Arg2", 2)), (0.55,)),
    TupleRow("mix", (("who", 0), ("who", 2), ("where", 3)), (0.5, 0.25, 1.0)),
]


def note() -> Doc:
    doc = Doc.from_words([["Ada", "is", "editor", ",", "like", "Bo", ",", "at", "Quill", "Press"]])
    spans = [(0, 1, "person"), (2, 3, "job"), (5, 6, "person"), (8, 10, "company")]
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


def test_tuples_come_back_as_they_were_set() -> None:
    doc = note()
    set_tuples(doc, ROWS)
    assert tuple_rows(doc) == ROWS
    first, second, third, fourth = doc.tuples
    assert first["company"].text == "Quill Press"  # type: ignore[union-attr]
    assert second["company"] is None
    assert [len(each) for each in doc.tuples] == [3, 2, 2, 3]
    assert third.label == "near"
    assert [slot for slot, _ in fourth.members] == ["who", "who", "where"]
    assert first.probability == pytest.approx((0.9 * 0.8 * 0.7) ** (1 / 3))
    assert [edge.probability for edge in first.pairs] == [0.9, 0.8, 0.7]
    assert first.sentence == doc.sentences[0]


@pytest.mark.parametrize("suffix", [".tuples.jsonl", ".jsonl", ".records.jsonl", ".parquet", "brat"])
def test_formats_that_keep_relations_keep_tuples(tmp_path: Path, suffix: str) -> None:
    doc = note()
    doc.id = "note"
    set_tuples(doc, ROWS)
    path = tmp_path / f"x{suffix}"
    write([doc], path, "brat" if suffix == "brat" else None)
    [back] = read(path, "brat" if suffix == "brat" else None)
    assert back.text == doc.text
    found = {(row.label, row.members): row.pairs for row in tuple_rows(back)}
    assert found == {(row.label, row.members): row.pairs for row in ROWS}


def test_a_file_written_back_by_its_own_format_is_the_same(tmp_path: Path) -> None:
    doc = note()
    set_tuples(doc, ROWS)
    one, other = tmp_path / "one.tuples.jsonl", tmp_path / "two.tuples.jsonl"
    write([doc], one)
    write(read(one), other)
    lines = [path.read_text().partition('"text"')[2] for path in (one, other)]
    assert lines[0] == lines[1]


def test_tables_of_parquet_can_be_unnested(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    doc = note()
    set_tuples(doc, ROWS)
    write([doc], tmp_path / "x.parquet")
    [rows] = parquet.read_table(tmp_path / "x.parquet")["relations"].to_pylist()
    assert [row["label"] for row in rows].count("employment") == 4
    assert '"tuple": 0' in rows[0]["attributes"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([TupleRow("x", (("a", 0),))], "two or more"),
        ([TupleRow("x", (("a", 0), ("b", 0)))], "different spans"),
        ([TupleRow("x", (("a", 0), ("b", 9)))], "spans of 'entities'"),
        ([TupleRow("x", (("a", 0), ("b", 1)), (0.5, 0.5))], "1 pairs"),
    ],
)
def test_tuples_that_cannot_be(rows: list[TupleRow], message: str) -> None:
    with pytest.raises(WeftError, match=message):
        set_tuples(note(), rows)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ([{"tuple": 1, "roles": ["a", "b"]}, {"tuple": 1, "roles": ["c", "d"]}], "of one tuple"),
        ([{"roles": "ab"}, {}], "two names"),
        ([{"roles": ["a", 3]}, {}], "two names"),
    ],
)
def test_layers_that_contradict_themselves(attributes: list[dict[str, object]], message: str) -> None:
    doc = note()
    layer = doc.relations["relations"] = RelationLayer(doc.strings, "entities")
    for other, own in zip((1, 2), attributes, strict=True):
        layer.add(0, other, "x", **own)
    with pytest.raises(DataError, match=message):
        tuple_rows(doc)


def test_rows_of_one_tuple_have_one_relation() -> None:
    doc = note()
    layer = doc.relations["relations"] = RelationLayer(doc.strings, "entities")
    layer.add(0, 1, "x", tuple=1)
    layer.add(0, 2, "y", tuple=1)
    with pytest.raises(DataError, match="relations x, y"):
        tuple_rows(doc)
