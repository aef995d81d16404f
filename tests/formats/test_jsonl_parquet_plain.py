"""JSONL of other tools, bad lines and files, streams of plain text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from weft.errors import ConfigError, FormatError, WeftError
from weft.formats import Report, read, write
from weft.text import ClusterLayer, Doc, RelationLayer, SpanLayer


@pytest.mark.parametrize(
    "line",
    [
        '{"text": "Ada left", "spans": [[0, 3, "PER"]], "source": "x"}',
        '{"text": "Ada left", "spans": [{"start": 0, "end": 3, "label": "PER"}], "source": "x"}',
    ],
)
def test_lines_of_other_tools_are_read(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.jsonl").write_text(line)
    (doc,) = read(tmp_path / "a.jsonl")
    assert [(span.text, span.label) for span in doc.span_views("spans")] == [("Ada", "PER")]
    assert doc.meta == {"source": "x"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not JSON"),
        ("[]", "found a list"),
        ('{"txt": "a"}', '"text"'),
        ('{"text": "a", "spans": [[0, 5, "X"]]}', "exceeds the text"),
        ('{"text": "a", "tokens": [[0, 3]]}', "a token ends at character 3"),
        ('{"text": "ab", "tokens": [[1, 2], [0, 1]]}', "in ascending order"),
        ('{"text": "a", "tokens": [[0, 1]], "sentences": [0, 2]}', "must rise"),
        ('{"text": "a", "tokens": [[0, 1]], "sentences": [0, 1], "head": [2]}', "outside their sentence"),
        ('{"text": "a", "tokens": [[0, 1]], "columns": {"upos": ["A", "B"]}}', "2 values for 1 words"),
        ('{"text": "a", "relations": {"r": {"rows": []}}}', "the key 'spans'"),
    ],
)
def test_bad_lines_are_named_and_skipped(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n' + line + "\n")
    with pytest.raises(FormatError) as caught:
        list(read(path))
    assert caught.value.line == 2
    assert words in str(caught.value)
    report = Report()
    assert [doc.text for doc in read(path, skip_bad=True, report=report)] == ["good"]
    assert report.count == 1


def test_values_that_json_cannot_hold_are_refused(tmp_path: Path) -> None:
    doc = Doc("a", meta={"x": {1, 2}})
    for name in ("a.jsonl", "a.parquet"):
        with pytest.raises(WeftError, match="JSON cannot"):
            write([doc], tmp_path / name)
    with pytest.raises(WeftError, match="JSON cannot"):
        doc.to_bytes()


def test_parquet_streams_groups_of_rows(tmp_path: Path) -> None:
    docs = [Doc.from_words([[f"w{i}", "x"]], upos=[["A", "B"]]) for i in range(1200)]
    docs[7].head = None
    assert write(docs, tmp_path / "a.parquet") == 1200
    back = read(tmp_path / "a.parquet").load()
    assert all(one.same(other) for one, other in zip(docs, back, strict=True))


def test_files_that_are_not_parquet_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no")
    with pytest.raises(FormatError, match="expected a Parquet file"):
        list(read(tmp_path / "a.parquet"))
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(FormatError, match="no column"):
        list(read(tmp_path / "b.parquet"))


def test_gzipped_parquet_is_refused_and_the_name_tells_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"remove \.gz from the name"):
        write([Doc("a")], tmp_path / "a.parquet.gz")
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(FormatError, match="Unzip it first"):
        list(read(tmp_path / "b.parquet.gz"))


def test_damaged_bytes_are_refused() -> None:
    data = Doc.from_words([["a"]]).to_bytes()
    for bad in (b"", data[:20], data[:-1], b"\x00" * 40):
        with pytest.raises(WeftError, match="no Weft document"):
            Doc.from_bytes(bad)


def test_long_plain_text_comes_in_parts_and_goes_back_to_the_byte(tmp_path: Path) -> None:
    text = "".join(f"Paragraph {i}.\r\nIts second line.\n\n" for i in range(20_000))
    (tmp_path / "a.txt").write_bytes(text.encode())
    docs = list(read(tmp_path / "a.txt"))
    assert len(docs) > 1
    assert [doc.meta["part"] for doc in docs] == list(range(1, len(docs) + 1))
    write(docs, tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == text.encode()


def test_text_without_empty_lines_is_still_read_in_bounded_parts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one line\n" * 400_000)
    docs = list(read(tmp_path / "a.txt"))
    assert len(docs) > 1
    assert max(len(doc.text) for doc in docs) < 1 << 21


def test_lines_can_be_documents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n")
    assert [doc.text for doc in read(tmp_path / "a.txt", documents="lines")] == ["one", "two"]
    with pytest.raises(ConfigError, match="expected 'files' or 'lines'"):
        list(read(tmp_path / "a.txt", documents="words"))


def test_lines_have_words_and_forms_whether_or_not_there_is_a_contraction(tmp_path: Path) -> None:
    plain, contracted = "1\tDogs\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n"
    contracted += "1\tzu\t_\t_\t_\t_\t0\troot\t_\t_\n2\tdem\t_\t_\t_\t_\t1\tdet\t_\t_\n\n"
    for text, words, forms in ((plain, [0], ["Dogs"]), (contracted, [0, 0], ["zu", "dem"])):
        (tmp_path / "a.conllu").write_text(text)
        write(read(tmp_path / "a.conllu"), tmp_path / "a.jsonl")
        line = json.loads((tmp_path / "a.jsonl").read_text())
        assert (line["words"], line["columns"]["form"]) == (words, forms)


def test_lines_without_words_and_forms_are_still_read(tmp_path: Path) -> None:
    line = '{"text": "Dogs bark", "tokens": [[0, 4], [5, 9]], "sentences": [0, 2], "columns": {"upos": ["N", "V"]}}'
    (tmp_path / "a.jsonl").write_text(line)
    (doc,) = read(tmp_path / "a.jsonl")
    assert doc.same(Doc.from_words([["Dogs", "bark"]], upos=[["N", "V"]]))


def a_relation() -> Doc:
    doc = Doc.from_words([["Ada", "met", "Bob", "."]])
    doc.meta["id"] = "a/x"
    spans = doc.spans["entities"] = SpanLayer(doc.strings)
    spans.add([(0, 1)], "PER", probability=0.75)
    spans.add([(0, 1), (2, 3)], "GROUP", "T2", sure=True)
    doc.spans["chunks"] = SpanLayer(doc.strings)
    doc.relations["links"] = RelationLayer(doc.strings, "entities")
    doc.relations["links"].add(0, 1, "part_of")
    doc.clusters["same"] = ClusterLayer("entities", [4, 4])
    return doc


def test_parquet_has_columns_of_structs_for_spans_relations_and_clusters(tmp_path: Path) -> None:
    import pyarrow.parquet

    write([a_relation(), Doc("")], tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    names = ("layer", "start", "end", "label", "text", "probability")
    assert [tuple(row[name] for name in names) for row in table.column("spans")[0].as_py()] == [
        ("entities", 0, 3, "PER", "Ada", 0.75), ("entities", 0, 11, "GROUP", "Ada ... Bob", None),
    ]  # fmt: skip
    assert table.column("relations")[0].as_py()[0]["label"] == "part_of"
    assert table.column("clusters")[0].as_py() == [
        {"layer": "same", "spans": "entities", "cluster": 4, "members": [0, 1]}
    ]
    assert "part_of" not in table.column("rest")[0].as_py()
    first, second = read(tmp_path / "a.parquet")
    assert first.same(a_relation())
    assert second.same(Doc(""))


@pytest.mark.parametrize("package", ["duckdb", "polars", "pandas"])
def test_other_tools_unnest_the_spans_of_parquet(tmp_path: Path, package: str) -> None:
    tool = pytest.importorskip(package)
    path = str(tmp_path / "a.parquet")
    write([a_relation()], path)
    if package == "duckdb":
        rows = tool.sql(f"select id, s.label, s.text from (select id, unnest(spans) as s from '{path}')").fetchall()
    elif package == "polars":
        rows = tool.read_parquet(path).explode("spans").unnest("spans", separator="_")
        rows = rows.select("id", "spans_label", "spans_text").rows()
    else:
        frame = tool.read_parquet(path).explode("spans")
        rows = [(name, span["label"], span["text"]) for name, span in zip(frame["id"], frame["spans"], strict=True)]
    assert rows == [("a/x", "PER", "Ada"), ("a/x", "GROUP", "Ada ... Bob")]


def test_a_column_of_spans_that_is_something_else_is_told(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    write([a_relation()], tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    place = table.schema.get_field_index("spans")
    pyarrow.parquet.write_table(table.set_column(place, "spans", pyarrow.array(["x"])), tmp_path / "b.parquet")
    with pytest.raises(FormatError, match=r"expected list<.*> in the column spans, found string"):
        list(read(tmp_path / "b.parquet"))


def test_parquet_without_columns_of_structs_is_still_read(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    from weft.text.record import to_record

    write([a_relation()], tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet").drop_columns(["spans", "relations", "clusters"])
    record = {
        name: value
        for name, value in to_record(a_relation()).items()
        if name in ("meta", "spans", "relations", "clusters")
    }
    place = table.schema.get_field_index("rest")
    table = table.set_column(place, "rest", pyarrow.array([json.dumps(record)]))
    pyarrow.parquet.write_table(table, tmp_path / "old.parquet")
    (doc,) = read(tmp_path / "old.parquet")
    assert doc.same(a_relation())
