"""Rows of CSV and TSV by the names of their columns, for tables that hold more numbers than text."""

from __future__ import annotations

import os
from collections.abc import Iterator

from weft.errors import FormatError
from weft.formats.csv.files import _Lines, _rows
from weft.formats.streams import Faults, document_name
from weft.text.doc import Doc

TEXT = "text"


def read_rows(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, str]]]:
    """The line and the cells of every row of a table whose first row names its columns.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("who,score\\nAnn,3\\n")
    ...     print(list(read_rows(f"{folder}/a.csv")))
    [(2, {'who': 'Ann', 'score': '3'})]
    """
    name = os.fspath(path)
    faults = Faults()
    rows = _rows(name, _Lines(name, faults, encoding), faults)
    header = next(rows, (1, []))[1]
    if len(set(header)) < len(header) or not all(header):
        raise FormatError(name, 1, "columns with different names", ", ".join(header))
    for line, row in rows:
        if len(row) != len(header):
            raise FormatError(name, line, f"{len(header)} columns, as the first row has", str(len(row)))
        yield line, dict(zip(header, row, strict=True))


def read_labels(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> list[Doc]:
    """A document per row: its cells are metadata, and its text is that of a column `text`, if there is one."""
    name = document_name(os.fspath(path))
    docs = []
    for line, row in read_rows(path, encoding=encoding):
        docs.append(Doc(row.get(TEXT, ""), meta={**row, "id": row.get("id") or f"{name} line {line}"}))
    return docs
