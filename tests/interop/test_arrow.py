"""Arrow data in and out, and the tools that hand it over."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import weft
from weft.errors import ConfigError, WeftError
from weft.interop.arrow import annotate, annotated_schema, arrow_types
from weft.tasks.entities.recognizer import EntityRecognizer
from weft.text import Doc, SpanLayer

TEXTS = ["Ada met Bob. They left.", None, "", "Nobody came."]


@pytest.fixture(scope="module")
def nlp() -> weft.Pipeline:
    """A recognizer that knows two names."""
    docs = []
    for one, other in [("Ada", "Bob"), ("Bob", "Ada")] * 5:
        doc = Doc.from_words([[one, "met", other, "."], ["They", "left", "."], ["Nobody", "came", "."]])
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 3, "PER")])
        docs.append(doc)
    recognizer = EntityRecognizer()
    recognizer.fit(docs)
    return weft.Pipeline([recognizer])


def batch() -> pyarrow.RecordBatch:
    return pyarrow.record_batch({"id": [7, 8, 9, 10], "text": TEXTS, "stars": [1, 2, 3, 4]})


def test_a_batch_comes_back_with_lists_of_structs(nlp: weft.Pipeline) -> None:
    found = annotate(batch(), nlp)
    assert isinstance(found, pyarrow.RecordBatch)
    assert found.schema == annotated_schema(batch().schema)
    assert found.schema.names == ["id", "text", "stars", "sentences", "words", "spans"]
    first, none, empty, last = found.to_pylist()
    assert {(span["layer"], span["label"], span["text"], span["start"], span["end"]) for span in first["spans"]} == {
        ("entities", "PER", "Ada", 0, 3), ("entities", "PER", "Bob", 8, 11),
    }  # fmt: skip
    assert [sentence["text"] for sentence in first["sentences"]] == ["Ada met Bob.", "They left."]
    words = first["words"]
    assert [TEXTS[0][word["start"] : word["end"]] for word in words] == [word["form"] for word in words]
    assert (none["words"], none["spans"]) == (None, None)
    assert (empty["words"], empty["spans"], last["spans"]) == ([], [], [])


def test_tables_and_arrays_come_back_as_such(nlp: weft.Pipeline) -> None:
    table = annotate(pyarrow.table(batch().to_pydict()), nlp, columns=["spans"], probabilities=True)
    assert isinstance(table, pyarrow.Table)
    assert 0 < table.column("spans")[0].as_py()[0]["probability"] <= 1
    spans = annotate(pyarrow.array(TEXTS, pyarrow.large_string()), nlp, columns=["spans"])
    assert spans.type == arrow_types()["spans"]
    assert annotate(pyarrow.chunked_array([TEXTS]), nlp)[0].as_py()["words"][0]["form"] == "Ada"


def test_a_model_is_named_and_loaded_once(nlp: weft.Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp.save(tmp_path / "names.weft")
    loaded = []
    load = weft.load
    monkeypatch.setattr(weft, "load", lambda name: loaded.append(name) or load(name))
    for _ in range(2):
        assert annotate(batch(), tmp_path / "names.weft").to_pylist()[0]["spans"]
    assert len(loaded) == 1


def test_wrong_data_is_told(nlp: weft.Pipeline) -> None:
    with pytest.raises(WeftError, match="no column 'body' with texts; the columns are id, text, stars"):
        annotate(batch(), nlp, text="body")
    with pytest.raises(WeftError, match="expected an Arrow batch, table or array of texts, but got list"):
        annotate(["Ada"], nlp)
    with pytest.raises(ConfigError, match="expected some of sentences, words, spans"):
        annotate(batch(), nlp, columns=["entities"])


def test_duckdb_reads_the_result_and_calls_the_function(nlp: weft.Pipeline) -> None:
    duckdb = pytest.importorskip("duckdb")
    annotated = annotate(pyarrow.table(batch().to_pydict()), nlp)
    query = "select id, s.text from (select id, unnest(spans) as s from annotated) order by s.start"
    with duckdb.connect() as db:
        given = db.sql("select 7 as id, 'Ada met Bob.' as text")
        for data in (given.to_arrow_table(), given.to_arrow_table().to_reader()):
            assert len(annotate(data, nlp).column("spans")[0]) == 2
        db.register("annotated", annotated)
        assert db.sql(query).fetchall() == [(7, "Ada"), (7, "Bob")]
        place = 'layer varchar, start integer, "end" integer'
        kind = f'struct({place}, label varchar, "text" varchar, probability double)[]'

        def spans(texts: pyarrow.ChunkedArray) -> pyarrow.Array:
            return annotate(texts, nlp, columns=["spans"])

        db.create_function("entities", spans, ["varchar"], kind, type="arrow")
        rows = db.sql("select unnest(entities(t), recursive := true) from (values ('Ada met Bob.')) v(t)").fetchall()
    assert [row[:5] for row in rows] == [("entities", 0, 3, "PER", "Ada"), ("entities", 8, 11, "PER", "Bob")]


def test_polars_maps_batches(nlp: weft.Pipeline) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": ["a", "b"], "text": ["Ada met Bob.", "Nobody came."]}).lazy()
    schema = polars.from_arrow(annotated_schema(frame.collect().to_arrow().schema).empty_table()).schema
    mapped = frame.map_batches(lambda part: polars.from_arrow(annotate(part.to_arrow(), nlp)), schema=schema)
    spans = mapped.explode("spans").unnest("spans", separator="_").drop_nulls("spans_label").collect()
    assert spans.select("id", "spans_label", "spans_start").rows() == [("a", "PER", 0), ("a", "PER", 8)]


def counted_spans(part: Any, model: str) -> Any:
    """A pandas frame with the number of spans in each of its texts."""
    found = annotate(pyarrow.Table.from_pandas(part, preserve_index=False), model, columns=["spans"])
    return part.assign(spans=[len(row or ()) for row in found.column("spans").to_pylist()])


def test_dask_maps_partitions(nlp: weft.Pipeline, tmp_path: Path) -> None:
    nlp.save(tmp_path / "names.weft")
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")

    frame = dataframe.from_pandas(pandas.DataFrame({"text": ["Ada met Bob.", "Nobody came."]}), npartitions=2)
    meta = pandas.DataFrame({"text": pandas.Series(dtype="str"), "spans": pandas.Series(dtype="int64")})
    counted = frame.map_partitions(counted_spans, str(tmp_path / "names.weft"), meta=meta)
    assert counted.compute(scheduler="synchronous")["spans"].tolist() == [2, 0]


def test_spark_maps_in_arrow(nlp: weft.Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from pyspark.sql.pandas.types import from_arrow_schema

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # Spark starts any python3 otherwise
    nlp.save(tmp_path / "names.weft")
    model = str(tmp_path / "names.weft")
    spark = sql.SparkSession.builder.master("local[1]").getOrCreate()
    try:
        frame = spark.createDataFrame([("a", "Ada met Bob.")], "id string, text string")
        given = pyarrow.schema([("id", pyarrow.string()), ("text", pyarrow.string())])
        schema = from_arrow_schema(annotated_schema(given))
        found = frame.mapInArrow(lambda batches: map(partial(annotate, model=model), batches), schema)
        assert [span["text"] for row in found.collect() for span in row["spans"]] == ["Ada", "Bob"]
    finally:
        spark.stop()
