"""Relation tuples in JSON Lines: what is read, and what is wrong with a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import DataError, FormatError
from weft.formats import detect, read
from weft.text.report import Report

GOOD = '{"id": "a", "text": "Ada edits at Quill", "mentions": [[0, 3, "who"], {"start": 13, "end": 18, "label": "at"}]'


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.tuples.jsonl"
    path.write_text(GOOD + ', "tuples": [{"relation": "job", "slots": {"who": 0, "at": [1]}}], "source": "me"}\n\n')
    assert detect(path) == "tuples"
    [doc] = read(path)
    assert repr(doc.tuples) == "[RelationTuple('job', who='Ada', at='Quill')]"
    assert doc.meta == {"id": "a", "source": "me"}


def test_a_document_without_tuples_has_no_layer_of_them(tmp_path: Path) -> None:
    path = tmp_path / "x.tuples.jsonl"
    path.write_text(GOOD + "}\n")
    [doc] = read(path)
    assert "relations" not in doc.relations
    assert len(doc.entities) == 2


def test_tuples_become_a_table_of_filled_slots(tmp_path: Path) -> None:
    from weft.formats.csv.tables import write_table

    path = tmp_path / "x.tuples.jsonl"
    path.write_text(GOOD + ', "tuples": [{"relation": "job", "slots": {"who": 0, "at": [1]}, "pairs": [0.5]}]}\n')
    assert write_table(read(path), tmp_path / "x.csv", "relations") == 2
    assert (tmp_path / "x.csv").read_text().splitlines() == [
        "document,sentence,tuple,relation,slot,start,end,text,label,probability",
        "a,,0,job,who,0,3,Ada,who,0.5",
        "a,,0,job,at,13,18,Quill,at,0.5",
    ]
    parquet = pytest.importorskip("pyarrow.parquet")
    write_table(read(path), tmp_path / "x.parquet", "relations")
    assert parquet.read_table(tmp_path / "x.parquet")["tuple"].to_pylist() == [0, 0]
    path.write_text(GOOD + "}\n")
    with pytest.raises(DataError, match="no document has a layer 'relations'"):
        write_table(read(path), tmp_path / "y.csv", "relations")


BAD = [
    ("{", "not JSON"),
    ("[1]", "document in JSON"),
    ('{"text": 3}', "document in JSON"),
    ('{"text": "Ada", "mentions": {}}', "a list of mentions"),
    ('{"text": "Ada", "mentions": [[0, 9, "x"]]}', "3 characters"),
    ('{"text": "Ada", "mentions": [[0, true, "x"]]}', "a mention such as"),
    ('{"text": "Ada", "mentions": [[0, 2]]}', "a mention such as"),
    (GOOD + ', "tuples": [3]}', "a tuple such as"),
    (GOOD + ', "tuples": [{"relation": "job", "slots": [0, 1]}]}', "a tuple such as"),
    (GOOD + ', "tuples": [{"relation": "job", "slots": {"who": 0, "at": 2}}]}', "from 0 to 1"),
    (GOOD + ', "tuples": [{"relation": "job", "slots": {"who": 0}}]}', "two or more"),
    (GOOD + ', "tuples": [{"relation": "job", "slots": {"who": 0, "at": 1}, "pairs": [2]}]}', "probabilities"),
    (GOOD + ', "tuples": [{"relation": "job", "slots": {"who": 0, "at": 1}, "pairs": [0.1, 0.1]}]}', "1 pairs"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "x.tuples.jsonl"
    path.write_text(f"{GOOD}}}\n{line}\n")
    with pytest.raises(FormatError, match=message) as raised:
        list(read(path))
    assert "line 2" in str(raised.value)
    report = Report()
    assert len(list(read(path, skip_bad=True, report=report))) == 1
    assert report.count == 1
