"""Parquet: one row per document, columns of lists; for large corpora, read and written in row groups.

Strings are dictionary-encoded per row group, so ids map from file to document by one table lookup and no string is
created twice. Irregular data (comments, multiword tokens, spans, relations, graphs, metadata) are stored as JSON in the
column `rest`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.errors import ConfigError, DataError, FormatError, WeftError
from weft.formats.conllu.files import TABLE_LIMIT
from weft.formats.streams import STANDARD, Faults, open_output
from weft.text.doc import WORD_COLUMNS, Doc
from weft.text.record import irregular_from_record, to_record
from weft.text.strings import StringTable

GROUP = 500
_NUMBERS = ("token_start", "token_end", "word_token", "sentence_offsets", "head")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a Parquet file written by Weft."""
    import pyarrow.parquet
    from pyarrow import ArrowException

    faults = faults or Faults()
    if path == STANDARD:
        raise DataError("Parquet cannot be read from standard input; name a file")
    strings = StringTable()
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            missing = {"text", "rest", *_NUMBERS, *WORD_COLUMNS} - set(file.schema_arrow.names)
            if missing:
                actual = f"no column {', '.join(sorted(missing))}"
                raise FormatError(path, None, "a Parquet file of documents", actual)
            for group in file.iter_batches(batch_size=GROUP):
                yield from _documents(group, strings)
                if len(strings) > TABLE_LIMIT:
                    strings = StringTable()
    except (ArrowException, OSError) as error:
        hint = "Unzip it first; Parquet is compressed internally" if path.endswith(".gz") else ""
        faults.meet(FormatError(path, None, "a Parquet file", f"something else ({error})", hint))


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as Parquet and return their number."""
    import pyarrow
    import pyarrow.parquet

    if path == STANDARD:
        raise ConfigError("Parquet cannot be written to standard output; name a file")
    if path.endswith(".gz"):
        raise ConfigError(f"{path}: Parquet is compressed internally, not gzipped; remove .gz from the name")
    numbers = [(name, pyarrow.list_(pyarrow.int32())) for name in _NUMBERS]
    strings = pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    columns = [("id", pyarrow.string()), ("text", pyarrow.string()), *numbers]
    schema = pyarrow.schema([*columns, *((name, strings) for name in WORD_COLUMNS), ("rest", pyarrow.string())])
    count = 0
    with open_output(path) as output, pyarrow.parquet.ParquetWriter(output, schema, compression="zstd") as file:
        group: list[Doc] = []
        for doc in docs:
            group.append(doc)
            count += 1
            if len(group) == GROUP:
                file.write_batch(_batch(group, schema))
                group = []
        if group:
            file.write_batch(_batch(group, schema))
    return count


def _batch(docs: Sequence[Doc], schema: Any) -> Any:
    import pyarrow

    def lists(arrays: Sequence[np.ndarray | None], values: Any) -> Any:
        lengths = [0 if array is None else len(array) for array in arrays]
        borders = [None if array is None else 0 for array in arrays]
        ends = np.cumsum([0, *lengths])
        offsets = [None if border is None else int(end) for border, end in zip(borders, ends[:-1], strict=True)]
        return pyarrow.ListArray.from_arrays(pyarrow.array([*offsets, int(ends[-1])], pyarrow.int32()), values)

    columns: list[Any] = [
        pyarrow.array([doc.id or None for doc in docs], pyarrow.string()),
        pyarrow.array([doc.text for doc in docs], pyarrow.string()),
    ]
    for name in _NUMBERS:
        arrays = [getattr(doc, name) for doc in docs]
        flat = np.concatenate([np.zeros(0, np.int32), *(array for array in arrays if array is not None)])
        columns.append(lists(arrays, pyarrow.array(flat.astype(np.int32))))
    for name in WORD_COLUMNS:
        table = StringTable()
        ids: list[np.ndarray | None] = []
        for doc in docs:
            column = doc.columns.get(name)
            if column is None:
                ids.append(None)
                continue
            used, places = np.unique(column, return_inverse=True)
            ids.append(table.ids(doc.strings.strings(used))[places])
        flat = np.concatenate([np.zeros(0, np.int32), *(array for array in ids if array is not None)])
        dictionary = pyarrow.array(table.since(0), pyarrow.string())
        columns.append(
            lists(ids, pyarrow.DictionaryArray.from_arrays(pyarrow.array(flat.astype(np.int32)), dictionary))
        )
    columns.append(pyarrow.array([_rest(doc) for doc in docs], pyarrow.string()))
    return pyarrow.record_batch(columns, schema=schema)


def _rest(doc: Doc) -> str:
    """Everything that has no column, as JSON."""
    record = to_record(doc)
    for name in ("text", "tokens", "words", "sentences", "head"):
        record.pop(name, None)
    columns = {name: values for name, values in record.pop("columns", {}).items() if name not in WORD_COLUMNS}
    if columns:
        record["columns"] = columns
    try:
        return json.dumps(record, ensure_ascii=False)
    except TypeError as error:
        raise WeftError(
            f"{doc!r}: metadata or attributes contain a value that JSON cannot represent: {error}"
        ) from error


def _documents(group: Any, strings: StringTable) -> Iterator[Doc]:
    """The documents in a row group."""
    columns: dict[str, tuple[list[int], list[bool], np.ndarray]] = {}
    for name in (*_NUMBERS, *WORD_COLUMNS):
        column = group.column(name)
        offsets = column.offsets.to_pylist()
        present = column.is_valid().to_pylist()
        values = column.values
        if name in WORD_COLUMNS:
            if not hasattr(values, "indices"):
                values = values.dictionary_encode()
            table = strings.ids(values.dictionary.to_pylist())
            flat = table[values.indices.to_numpy(zero_copy_only=False)] if len(values) else np.zeros(0, np.int32)
        else:
            flat = values.to_numpy(zero_copy_only=False)
        columns[name] = (offsets, present, flat)
    texts, rests = group.column("text").to_pylist(), group.column("rest").to_pylist()
    for row, (text, rest) in enumerate(zip(texts, rests, strict=True)):
        values = {}
        for name, (offsets, present, flat) in columns.items():
            if present[row]:
                values[name] = flat[offsets[row] : offsets[row + 1]].astype(np.int32)
        record = json.loads(rest)
        more_columns = record.pop("columns", {})
        comments = record.pop("comments", None)
        doc = Doc(text, strings, record.pop("meta", {}))
        for name in ("token_start", "token_end", "word_token", "sentence_offsets"):
            setattr(doc, name, values[name])
        doc.head = values.get("head")
        doc.columns = {name: values[name] for name in WORD_COLUMNS if name in values}
        for name, strings_of_name in more_columns.items():
            doc.set_column(name, strings_of_name)
        doc.comments = [()] * doc.n_sentences if comments is None else [tuple(lines) for lines in comments]
        irregular_from_record(doc, record)
        yield doc
