"""CSV and TSV: one document per row, its text in one column, named in the first row.

A column `id` names the documents, all others are metadata. `.tsv` is separated by tabs, `.csv` by `,` or `;`, whichever
its first row has more of. What is written is a table of documents (`weft.formats.csv.tables`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from weft.errors import FormatError
from weft.formats.encodings import binary_error
from weft.formats.streams import LONGEST, Faults, checked_blocks, document_name, encoding_error, stray_byte
from weft.text.doc import Doc
from weft.text.strings import StringTable

TEXT = "text"
_TABLE_LIMIT = 200_000


def read(path: str, faults: Faults | None = None, *, text_column: str = TEXT, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in the rows of a table whose first row names its columns."""
    faults = faults or Faults()
    lines = _Lines(path, faults, encoding)
    rows = _rows(path, lines, faults)
    header = next(rows, (1, []))[1]
    if text_column not in header:
        named = ", ".join(header) or "none"
        hint = "Name the column that holds the text: --text-column NAME (in Python text_column=)"
        faults.meet(FormatError(path, 1, f"a column {text_column!r}", f"the columns {named}", hint))
        return
    place, name = header.index(text_column), document_name(path)
    strings = StringTable()
    for number, (line, row) in zip(count(1), rows, strict=False):
        if len(row) != len(header):
            faults.meet(FormatError(path, line, f"{len(header)} columns, as the first row has", str(len(row))))
            continue
        stray = stray_byte("".join(row)) if lines.unclean else None
        if stray is not None:
            faults.meet(encoding_error(path, line, stray[1]))
            continue
        meta = {key: value for key, value in zip(header, row, strict=True) if key != text_column}
        meta["id"] = meta.get("id") or (f"{name}-{number}" if name else str(number))
        yield Doc(row[place], strings, dict(meta))
        if len(strings) > _TABLE_LIMIT:
            strings = StringTable()


def write(docs: Iterable[Doc], path: str) -> int:
    """Write a table of documents, their names, texts and metadata, and return their number."""
    from weft.formats.csv.tables import write_table

    return write_table(docs, path, "documents")


class _Lines:
    """The lines of a file with their ends, as the module csv reads them, and the number of the last one."""

    def __init__(self, path: str, faults: Faults, encoding: str) -> None:
        self.path, self.faults = path, faults
        self.blocks = checked_blocks(path, faults, "\n", encoding)
        self.number, self.unclean = 0, False

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks:
            if "\0" in block.text:
                self.faults.meet(binary_error(self.path))
                return
            self.unclean |= not block.clean
            for line in block.text.removesuffix("\n").split("\n"):
                self.number += 1
                yield line + "\n"


def _rows(path: str, lines: _Lines, faults: Faults) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows that are not empty, each with the line in which it ends."""
    source = iter(lines)
    first = next(source, None)
    if first is None:
        faults.meet(FormatError(path, None, "a first row with the names of columns", "an empty file"))
        return
    tabs = path.removesuffix(".gz").endswith(".tsv")
    separator = "\t" if tabs else max(",;", key=first.count)
    reader = csv.reader(_with(first, source), delimiter=separator)
    while True:
        try:
            row = _next_row(reader)
        except StopIteration:
            return
        except csv.Error as error:
            faults.meet(FormatError(path, lines.number, "a row of a table", f"something else ({error})"))
            continue
        if row:
            yield lines.number, row


def _next_row(reader: Iterator[list[str]]) -> list[str]:
    """The next row, whose fields may be as long as a line; Python keeps the limit for all readers of the process."""
    before = csv.field_size_limit(LONGEST)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(before)


def _with(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest
