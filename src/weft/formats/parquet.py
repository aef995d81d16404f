"""Parquet: one row per document, columns of lists; for large corpora, read and written in row groups.

Strings are dictionary-encoded per row group, so ids map from file to document by one table lookup and no string is
created twice. Spans, relations and clusters are lists of structs (`weft.formats.layer_columns`), so that other tools
can unnest them; irregular data (comments, multiword tokens, graphs, metadata) are stored as JSON in the column `rest`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from weft.arrays import Ids
from weft.errors import ConfigError, DataError, FormatError, WeftError
from weft.formats.conllu.files import TABLE_LIMIT
from weft.formats.gate import admitted
from weft.formats.jsonl import load
from weft.formats.layer_columns import COLUMNS, arrow_types, layer_names, rows_of, set_layers
from weft.formats.streams import STANDARD, Faults, open_output
from weft.packages import needed
from weft.text.doc import WORD_COLUMNS, Doc
from weft.text.record import irregular_from_record, to_record
from weft.text.strings import StringTable

GROUP = 500
#: A row group with more values is refused: small files can claim any number of them.
MOST_VALUES = 1 << 28
_NUMBERS = ("token_start", "token_end", "word_token", "sentence_offsets", "head")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a Parquet file written by Weft."""
    pyarrow = needed("pyarrow", "Parquet")
    needed("pyarrow.parquet", "Parquet")
    faults = faults or Faults()
    if path == STANDARD:
        raise DataError("Parquet cannot be read from standard input; name a file")
    strings = StringTable()
    row = 1
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _check_file(path, file)
            for group in file.iter_batches(batch_size=GROUP):
                group.validate()
                yield from admitted(path, _items(path, row, group, strings), faults, unit="row")
                row += group.num_rows
                if len(strings) > TABLE_LIMIT:
                    strings = StringTable()
    except (pyarrow.ArrowException, OSError, UnicodeError, OverflowError, MemoryError) as error:
        hint = "Unzip it first; Parquet is compressed internally" if path.endswith(".gz") else ""
        faults.meet(FormatError(path, None, "a Parquet file", f"something else ({error})", hint))


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as Parquet and return their number."""
    pyarrow = needed("pyarrow", "Parquet")
    needed("pyarrow.parquet", "Parquet")
    if path == STANDARD:
        raise ConfigError("Parquet cannot be written to standard output; name a file")
    if path.endswith(".gz"):
        raise ConfigError(f"{path}: Parquet is compressed internally, not gzipped; remove .gz from the name")
    numbers = [(name, pyarrow.list_(pyarrow.int32())) for name in _NUMBERS]
    strings = pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    columns = [("id", pyarrow.string()), ("text", pyarrow.string()), *numbers]
    words = ((name, strings) for name in WORD_COLUMNS)
    schema = pyarrow.schema([*columns, *words, *arrow_types().items(), ("rest", pyarrow.string())])
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
    try:
        rows = [rows_of(doc) for doc in docs]
    except (TypeError, ValueError, RecursionError) as error:
        raise WeftError(f"an attribute contains a value that JSON cannot represent: {error}") from error
    columns += [pyarrow.array([row[name] for row in rows], schema.field(name).type) for name in COLUMNS]
    columns.append(pyarrow.array([_rest(doc) for doc in docs], pyarrow.string()))
    return pyarrow.record_batch(columns, schema=schema)


def _rest(doc: Doc) -> str:
    """Everything that has no column, as JSON."""
    record = to_record(doc)
    for name in ("text", "tokens", "words", "sentences", "head", *COLUMNS):
        record.pop(name, None)
    if layers := layer_names(doc):
        record["layers"] = layers
    columns = {name: values for name, values in record.pop("columns", {}).items() if name not in WORD_COLUMNS}
    if columns:
        record["columns"] = columns
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise WeftError(
            f"{doc!r}: metadata or attributes contain a value that JSON cannot represent: {error}"
        ) from error


def _check_file(path: str, file: Any) -> None:
    """Refuse a file whose columns are missing or of another kind, or whose row groups claim too many values."""
    from pyarrow import types

    schema = file.schema_arrow
    missing = {"text", "rest", *_NUMBERS, *WORD_COLUMNS} - set(schema.names)
    if missing:
        actual = f"no column {', '.join(sorted(missing))}"
        raise FormatError(path, None, "a Parquet file of documents", actual)
    for name in ("text", "rest", *_NUMBERS, *WORD_COLUMNS):
        if schema.names.count(name) > 1:
            raise FormatError(path, None, "each column once", f"the column {name} again")
        kind = schema.field(name).type
        if name in ("text", "rest"):
            fits = types.is_string(kind) or types.is_large_string(kind)
        elif fits := types.is_list(kind) or types.is_large_list(kind):
            kind = kind.value_type
            if types.is_dictionary(kind) and name in WORD_COLUMNS:
                kind = kind.value_type
            is_text = types.is_string(kind) or types.is_large_string(kind)
            fits = is_text if name in WORD_COLUMNS else types.is_integer(kind)
        if not fits:
            wanted = (
                "text" if name in ("text", "rest") else "lists of text" if name in WORD_COLUMNS else "lists of numbers"
            )
            raise FormatError(path, None, f"{wanted} in the column {name}", str(schema.field(name).type))
    for name, wanted in arrow_types().items():
        if name in schema.names and not _same_fields(schema.field(name).type, wanted):
            raise FormatError(path, None, f"{wanted} in the column {name}", str(schema.field(name).type))
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        count = sum(group.column(column).num_values for column in range(group.num_columns))
        if count > MOST_VALUES:
            expected = f"at most {MOST_VALUES:,} values in a row group"
            raise FormatError(path, None, expected, f"{count:,}", "Write smaller row groups")


def _same_fields(kind: Any, wanted: Any) -> bool:
    """Whether a column is a list of structs with the fields wanted; lists and strings may be large ones."""
    from pyarrow import types

    if not (types.is_list(kind) or types.is_large_list(kind)) or not types.is_struct(kind.value_type):
        return False
    members, needed = kind.value_type, wanted.value_type
    return {members.field(i).name for i in range(members.num_fields)} >= {
        needed.field(i).name for i in range(needed.num_fields)
    }


def _items(path: str, first: int, group: Any, strings: StringTable) -> Iterator[tuple[int, Doc | FormatError]]:
    """The documents in a row group with the numbers of their rows, or what is wrong with a row."""
    numbers = {name: _lists(group.column(name), _numbers_of(group.column(name).values)) for name in _NUMBERS}
    columns = {name: _lists(group.column(name), _ids_of(group.column(name).values, strings)) for name in WORD_COLUMNS}
    texts, rests = (_texts(group.column(name)) for name in ("text", "rest"))
    layers = {name: group.column(name) for name in COLUMNS if name in group.schema.names}
    for row, (text, rest) in enumerate(zip(texts, rests, strict=True)):
        try:
            if text is None or rest is None:
                raise WeftError("no text, or text that is not UTF-8")
            doc = Doc(text, strings)
            for name in _NUMBERS:
                values = numbers[name][row]
                if values is None and name != "head":
                    raise WeftError(f"nothing in the column {name}")
                setattr(doc, name, values)
            doc.columns = {name: ids for name, lists in columns.items() if (ids := lists[row]) is not None}
            doc.comments = [()] * doc.n_sentences
            if rest != "{}":
                record = load(rest)
                named = record.pop("layers", {}) if isinstance(record, dict) else {}
                _set_rest(doc, record)
                if named:
                    set_layers(doc, named, {name: column[row].as_py() for name, column in layers.items()})
            yield first + row, doc
        except KeyError as error:
            yield first + row, FormatError(path, first + row, f"the key {error}", "none", unit="row")
        except (WeftError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            found = f"invalid values: {error}"
            yield first + row, FormatError(path, first + row, "a document", found, unit="row")


def _set_rest(doc: Doc, record: Any) -> None:
    """Give a document what has no column of its own."""
    if not isinstance(record, dict) or not isinstance(record.get("meta", {}), dict):
        raise WeftError("the column rest must hold values by name")
    doc.meta = record.pop("meta", {})
    for name, values in record.pop("columns", {}).items():
        if not isinstance(values, list):
            raise WeftError(f"column {name!r} must be a list of strings, one per word")
        doc.set_column(name, values)
    if record:
        irregular_from_record(doc, record)


def _lists(column: Any, flat: Ids) -> list[Ids | None]:
    """The list in each row of a column, None where there is none."""
    borders = column.offsets.to_pylist()
    if not column.null_count:
        return [flat[start:end] for start, end in pairwise(borders)]
    present = column.is_valid().to_pylist()
    rows = zip(pairwise(borders), present, strict=True)
    return [flat[start:end] if valid else None for (start, end), valid in rows]


def _numbers_of(values: Any) -> Ids:
    """Numbers of 32 bits; what does not fit, or is missing, becomes one that no document may hold."""
    largest = np.iinfo(np.int32)
    if values.null_count:
        values = values.fill_null(np.iinfo(values.type.to_pandas_dtype()).max)
    flat = values.to_numpy(zero_copy_only=False)
    if flat.dtype != np.int32:
        flat = np.where((flat < largest.min) | (flat > largest.max), largest.min, flat.astype(np.int64))
    return flat.astype(np.int32)


def _ids_of(values: Any, strings: StringTable) -> Ids:
    """Numbers of the strings in a table, -1 where there is none."""
    if not hasattr(values, "indices"):
        values = values.dictionary_encode()
    indices = values.indices.fill_null(-1) if values.null_count else values.indices
    table = np.append(strings.ids(values.dictionary.to_pylist()), np.int32(-1))
    return table[indices.to_numpy(zero_copy_only=False)]


def _texts(column: Any) -> list[str | None]:
    """The texts of a column, None where there is none or where it is not UTF-8."""
    try:
        return list(column.to_pylist())
    except UnicodeError:
        return [_text(value) for value in column]


def _text(value: Any) -> str | None:
    try:
        return value.as_py()
    except UnicodeError:
        return None
