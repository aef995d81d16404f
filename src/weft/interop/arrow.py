"""Annotate Arrow data: a batch with texts in, the same batch with words, sentences and spans out, as lists of structs.

| column | fields of its structs |
|---|---|
| `sentences` | `start`, `end`, `text`, `first_word`, `end_word` |
| `words` | `start`, `end`, `form`, `lemma`, `upos`, `xpos`, `feats`, `head`, `deprel` |
| `spans` | `layer`, `start`, `end`, `label`, `text`, `probability` |

Counts begin at 0 as in records (`weft.text.records`). Everything that hands over Arrow data can use the one function
`annotate`: Spark's `mapInArrow`, DuckDB's functions, Polars' `map_batches`, Dask's `map_partitions`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from weft.errors import ConfigError, WeftError
from weft.packages import needed
from weft.text.doc import Doc
from weft.text.records import record_of

#: What is added to a batch.
COLUMNS = ("sentences", "words", "spans")
_WORD_STRINGS = ("form", "lemma", "upos", "xpos", "feats", "deprel")


def annotate(
    data: Any,
    model: Any = "en",
    *,
    columns: Sequence[str] = COLUMNS,
    text: str = "text",
    probabilities: bool = False,
) -> Any:
    """Annotate the texts of a record batch or table, which is returned with the columns asked for added.

    `model` is a pipeline, or the name or file of a model, which is loaded once per process. The column `text` holds the
    texts; all columns of the batch stay. A reader of batches gives a table. An array of texts gives an array, of
    structs of the columns or of the one column asked for.

    >>> import pyarrow
    >>> import weft
    >>> nlp = weft.Pipeline([])
    >>> batch = pyarrow.record_batch({"id": ["a"], "text": ["Dogs bark."]})
    >>> [word["form"] for word in annotate(batch, nlp).to_pylist()[0]["words"]]
    ['Dogs', 'bark', '.']
    """
    pyarrow = needed("pyarrow", "Arrow data")
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown or not columns:
        raise ConfigError(f"columns={list(columns)}: expected some of {', '.join(COLUMNS)}")
    types = arrow_types()
    if isinstance(data, pyarrow.RecordBatchReader):
        data = data.read_all()
    if isinstance(data, pyarrow.Array | pyarrow.ChunkedArray):
        made = _annotated(data.to_pylist(), model, columns, probabilities)
        if len(columns) == 1:
            return pyarrow.array(made[columns[0]], types[columns[0]])
        return pyarrow.StructArray.from_arrays(
            [pyarrow.array(made[name], types[name]) for name in columns], names=list(columns)
        )
    if not isinstance(data, pyarrow.RecordBatch | pyarrow.Table):
        raise WeftError(f"expected an Arrow batch, table or array of texts, but got {type(data).__name__}")
    if text not in data.schema.names:
        raise WeftError(f"there is no column {text!r} with texts; the columns are {', '.join(data.schema.names)}")
    made = _annotated(data.column(text).to_pylist(), model, columns, probabilities)
    kept = [name for name in data.schema.names if name not in columns]
    arrays = [data.column(name) for name in kept]
    arrays += [pyarrow.array(made[name], types[name]) for name in columns]
    fields = [data.schema.field(name) for name in kept]
    schema = pyarrow.schema([*fields, *(pyarrow.field(name, types[name]) for name in columns)])
    return type(data).from_arrays(arrays, schema=schema)


def annotated_schema(schema: Any, columns: Sequence[str] = COLUMNS) -> Any:
    """The Arrow schema of what `annotate` returns for data of a schema, for tools that ask for it beforehand.

    >>> import pyarrow
    >>> annotated_schema(pyarrow.schema([("text", pyarrow.string())]), ["spans"]).names
    ['text', 'spans']
    """
    pyarrow = needed("pyarrow", "Arrow data")
    kept = [field for field in schema if field.name not in columns]
    types = arrow_types()
    return pyarrow.schema([*kept, *(pyarrow.field(name, types[name]) for name in columns)])


def arrow_types() -> dict[str, Any]:
    """The Arrow types of the columns that are added.

    >>> str(arrow_types()["spans"].value_type.field("end").type)
    'int32'
    """
    pyarrow = needed("pyarrow", "Arrow data")
    string, number = pyarrow.string(), pyarrow.int32()
    place = [("start", number), ("end", number)]
    fields = {
        "sentences": [*place, ("text", string), ("first_word", number), ("end_word", number)],
        "words": [*place, *((name, string) for name in _WORD_STRINGS[:-1]), ("head", number), ("deprel", string)],
        "spans": [("layer", string), *place, ("label", string), ("text", string), ("probability", pyarrow.float64())],
    }
    return {name: pyarrow.list_(pyarrow.struct(members)) for name, members in fields.items()}


def _annotated(
    texts: Iterable[str | None], model: Any, columns: Sequence[str], probabilities: bool
) -> dict[str, list[list[dict[str, Any]] | None]]:
    """The rows of each column; a missing text has none."""
    nlp = _pipeline(os.fspath(model)) if isinstance(model, str | os.PathLike) else model
    given = list(texts)
    docs = nlp.pipe([Doc(text) for text in given if text is not None], probabilities=probabilities)
    made: dict[str, list[list[dict[str, Any]] | None]] = {name: [] for name in columns}
    for text in given:
        record = None if text is None else record_of(next(docs))
        for name in columns:
            made[name].append(None if record is None else _rows(record, name))
    return made


def _rows(record: dict[str, Any], column: str) -> list[dict[str, Any]]:
    """The structs of one document; Arrow leaves out keys that are no fields."""
    if column != "spans":
        rows: list[dict[str, Any]] = record[column]
        return rows
    return [{"layer": layer, **span} for layer, spans in record["spans"].items() for span in spans]


@lru_cache(maxsize=4)
def _pipeline(model: str) -> Any:
    import weft

    return weft.load(model)
