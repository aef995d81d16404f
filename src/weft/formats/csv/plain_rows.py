"""Any rows as a table for other tools: CSV, TSV, Parquet or JSON, by the suffix of the file."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from weft.errors import ConfigError
from weft.formats.streams import open_output
from weft.packages import needed

SUFFIXES = (".csv", ".tsv", ".json", ".parquet")


def write_rows(rows: Sequence[Mapping[str, Any]], path: str | os.PathLike[str], columns: Sequence[str]) -> int:
    """Write rows of numbers and texts and return how many; a list in a cell is joined by "; " except in JSON.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_rows([{"day": "2024-03-05", "because": ["a", "b"]}], f"{folder}/days.csv", ["day", "because"])
    ...     print(Path(folder, "days.csv").read_text(), end="")
    day,because
    2024-03-05,a; b
    """
    name = os.fspath(path)
    suffix = check_rows_path(name)
    if suffix == ".json":
        data = json.dumps(
            [{column: row.get(column) for column in columns} for row in rows], ensure_ascii=False, indent=1
        )
        with open_output(name) as file:
            file.write((data + "\n").encode())
        return len(rows)
    flat = [[_cell(row.get(column)) for column in columns] for row in rows]
    if suffix == ".parquet":
        pyarrow, parquet = needed("pyarrow", "Parquet"), needed("pyarrow.parquet", "Parquet")
        table = pyarrow.table({column: [row[k] for row in flat] for k, column in enumerate(columns)})
        with open_output(name) as file:
            parquet.write_table(table, file, compression="zstd")
        return len(rows)
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerows([columns, *flat])
    with open_output(name) as file:
        file.write(text.getvalue().encode())
    return len(rows)


def check_rows_path(path: str | os.PathLike[str]) -> str:
    """The suffix of a table; an error lists those that are known."""
    suffix = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1]
    if suffix not in SUFFIXES or os.fspath(path).endswith(".parquet.gz"):
        raise ConfigError(f"a table is written to a file that ends in {', '.join(SUFFIXES)}, not to {os.fspath(path)}")
    return suffix


def _cell(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
