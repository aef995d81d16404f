"""Layers as tables: names of documents, character offsets, text, label and probability, for other tools."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.formats import read, write
from weft.formats.csv.tables import columns_of, write_table
from weft.text import Doc, SpanLayer


def documents() -> list[Doc]:
    """Two documents, one with a contraction before its entity, one with a span counted in characters."""
    one = Doc('We don\'t know Oslo. Go, "Ada".', meta={"id": "a/x"})
    one.set_offsets([0, 3, 9, 14, 18, 20, 22, 24, 25, 28, 29], [2, 8, 13, 18, 19, 22, 23, 25, 28, 29, 30])
    one.word_token = np.array([0, 1, 1, *range(2, 11)], dtype=np.int32)
    one.set_column("form", ["We", "do", "n't", "know", "Oslo", ".", "Go", ",", '"', "Ada", '"', "."])
    one.set_column("upos", ["PRON", "AUX", "PART", "VERB", "PROPN", "PUNCT", "VERB", *["X"] * 5])
    one.set_sentences([0, 6, 12])
    one.head = np.array([4, 4, 4, 0, 4, 4, 0, 1, 1, 1, 1, 1], dtype=np.int32)
    layer = one.spans["entities"] = SpanLayer(one.strings)
    layer.add([(4, 5)], "LOC", probability=0.75)
    layer.add([(9, 10)], "PER")
    two = Doc("Zoë\nslept", meta={"id": "b/x"})
    two.spans["entities"] = SpanLayer.of(two.strings, [(0, 3, "PER")], "chars")
    return [one, two]


ENTITIES = [
    ("a/x", 0, 14, 18, "Oslo", "LOC", 0.75), ("a/x", 1, 25, 28, "Ada", "PER", None),
    ("b/x", None, 0, 3, "Zoë", "PER", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ","), ("t.tsv", "\t")])
def test_entities_are_a_table_with_characters_and_probabilities(tmp_path: Path, name: str, separator: str) -> None:
    assert write_table(documents(), tmp_path / name, "entities") == 3
    with (tmp_path / name).open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter=separator)
    assert header == ["document", "sentence", "start", "end", "text", "label", "probability"]
    assert rows == [["" if value is None else str(value) for value in row] for row in ENTITIES]


def test_words_and_sentences_are_tables_counted_from_0(tmp_path: Path) -> None:
    assert write_table(documents(), tmp_path / "words.csv", "words") == 12
    with (tmp_path / "words.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [rows[i]["text"] for i in (1, 2, 9)] == ["do", "n't", "Ada"]
    assert (rows[4]["document"], rows[4]["sentence"], rows[4]["word"], rows[4]["head"]) == ("a/x", "0", "4", "3")
    assert (rows[3]["head"], rows[6]["head"], rows[9]["head"], rows[0]["upos"]) == ("-1", "-1", "6", "PRON")
    assert write_table(documents(), tmp_path / "sentences.csv", "sentences") == 2
    with (tmp_path / "sentences.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["start"], row["end"], row["text"]) for row in rows] == [
        ("0", "19", "We don't know Oslo."), ("20", "30", 'Go, "Ada".'),
    ]  # fmt: skip


def test_spans_counted_in_characters_have_their_sentence_too(tmp_path: Path) -> None:
    doc = documents()[0]
    doc.spans["marks"] = SpanLayer.of(doc.strings, [(14, 18, "X"), (20, 22, "X"), (26, 27, "X")], "chars")
    write_table([doc], tmp_path / "t.csv", "marks")
    with (tmp_path / "t.csv").open(newline="") as file:
        assert [row["sentence"] for row in csv.DictReader(file)] == ["0", "1", "1"]


def test_a_table_of_documents_is_read_again(tmp_path: Path) -> None:
    write(documents(), tmp_path / "docs.csv")
    assert [(doc.id, doc.text) for doc in read(tmp_path / "docs.csv")] == [(doc.id, doc.text) for doc in documents()]


def test_a_layer_that_no_document_has_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no document has a layer 'entites'; did you mean entities"):
        write_table(documents(), tmp_path / "t.csv", "entites")
    with pytest.raises(ConfigError, match=r"ends in \.csv, \.tsv, \.parquet"):
        write_table(documents(), tmp_path / "t.xlsx", "entities")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def table(tmp_path: Path) -> str:
    write_table(documents(), tmp_path / "entities.parquet", "entities")
    return str(tmp_path / "entities.parquet")


def rows_of(values: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(None if value != value else value for value in row.values()) for row in values]


def test_pandas_reads_a_table_in_one_line(table: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(table)
    assert rows_of(frame.to_dict("records")) == ENTITIES
    assert [frame[name].dtype.kind for name in ("start", "end", "probability")] == ["i", "i", "f"]


def test_polars_reads_a_table_in_one_line(table: str) -> None:
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(table).rows() == ENTITIES


def test_duckdb_reads_a_table_in_one_line(table: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"select * from '{table}'").fetchall() == ENTITIES


def test_a_folder_of_annotated_files_becomes_a_table(weft, tmp_path: Path) -> None:
    (tmp_path / "annotated").mkdir()
    for number, doc in enumerate(documents()):
        write([doc], tmp_path / "annotated" / f"{number}.jsonl")
    (tmp_path / "annotated" / "_weft.manifest").write_text("{}\n")
    done = weft("convert", "annotated", "entities.parquet", "--layer", "entities")
    assert (done.returncode, done.stderr) == (0, "3 rows written\n")
    import pyarrow.parquet

    assert [
        tuple(row.values()) for row in pyarrow.parquet.read_table(tmp_path / "entities.parquet").to_pylist()
    ] == ENTITIES
    shown = weft("convert", "annotated", "-", "--layer", "entities", "--to", "tsv").stdout
    assert shown.splitlines()[1] == "a/x\t0\t14\t18\tOslo\tLOC\t0.75"
    assert (
        "written as csv, tsv, parquet, not as brat"
        in weft("convert", "annotated", "x", "--layer", "chunks", "--to", "brat").stderr
    )
    assert columns_of("chunks") == columns_of("entities")
