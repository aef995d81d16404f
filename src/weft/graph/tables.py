"""Edges from tables: one edge per row, or one row per thing and one relation per further column.

    source,relation,target,weight,begin,end        columns in any order, other names are understood as well
    name,lives in,works for                        with `identity="name"`: (row's name) --lives in--> (cell)

A cell of a table of things is a node, several if it is a list separated by `|`; empty cells and numbers are left out.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import DataError, FormatError, did_you_mean
from weft.graph.days import ALWAYS, Window, window_of
from weft.packages import needed

#: The relation of edges that have none.
LINKED = "linked"
COLUMNS = {
    "source": ("source", "subject", "head", "src", "from"), "relation": ("relation", "predicate", "property", "rel"),
    "target": ("target", "object", "tail", "dst", "to"), "weight": ("weight", "count", "probability"),
    "begin": ("begin", "start", "since"), "end": ("end", "until"), "note": ("because", "note"),
}  # fmt: skip
_ROLE = {name: role for role, names in COLUMNS.items() for name in names}
#: Rows of a Parquet file that are read together.
BATCH = 65_536


class Edge(NamedTuple):
    """An edge of a file; `literal` if its target is a text rather than a node."""

    source: str
    relation: str
    target: str
    weight: float = 1.0
    literal: bool = False
    language: str = ""
    window: Window = ALWAYS


def is_header(cells: Sequence[str]) -> bool:
    """Whether a line names the columns of a table of edges.

    >>> is_header(["Subject", "Predicate", "Object"]), is_header(["Mara", "to", "Bergen"])
    (True, False)
    """
    roles = [_ROLE.get(cell.strip().lower()) for cell in cells]
    return None not in roles and {"source", "target"} <= set(roles)


def csv_edges(name: str, lines: Iterable[str], identity: str = "") -> Iterator[Edge]:
    """The edges of a table with commas, semicolons or tabs; its first row names the columns."""
    lines = iter(lines)
    first = next(lines, "").removeprefix("\ufeff")
    mark = max(",;\t", key=first.count)
    rows = csv.reader(_again(first, lines), delimiter=mark)
    try:
        header = next(rows, [])
        take = _reader(name, header, identity)
        for row in rows:
            if not any(row):
                continue
            if len(row) != len(header):
                raise FormatError(name, rows.line_num, f"{len(header)} cells, like its first line", mark.join(row)[:80])
            yield from take(rows.line_num, row)
    except csv.Error as error:
        raise FormatError(name, rows.line_num, f"a table ({error})", "") from None


def parquet_edges(name: str, identity: str = "") -> Iterator[Edge]:
    """The edges of a Parquet file."""
    parquet = needed("pyarrow.parquet", "reading Parquet files")
    arrow = needed("pyarrow", "reading Parquet files")
    if not Path(name).is_file():
        raise DataError(f"cannot read {name}: there is no such file")
    try:
        with parquet.ParquetFile(name) as file:
            header = list(file.schema_arrow.names)
            take, number = _reader(name, header, identity), 0
            for batch in file.iter_batches(BATCH):
                columns = [column.to_pylist() for column in batch.columns]
                for cells in zip(*columns, strict=True):
                    number += 1
                    yield from take(number, ["" if cell is None else str(cell) for cell in cells])
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"cannot read {name} as Parquet: {error}") from None


def weight_of(name: str, number: int, given: object) -> float:
    """A weight of a file: a number above 0."""
    try:
        weight = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        weight = 0.0
    if not 0 < weight < 1e30:
        raise FormatError(name, number, "a weight above 0", repr(given)[:80])
    return weight


def window_at(name: str, number: int, begin: str, end: str) -> Window:
    """A window of a file: two dates, of which either may be empty."""
    try:
        return window_of(begin, end)
    except DataError as error:
        raise FormatError(name, number, "dates such as 2014-05-17, 2014-05 or 2014", str(error)) from None


def _again(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _reader(name: str, header: Sequence[str], identity: str) -> Any:
    """What makes edges of a row."""
    if identity:
        if identity not in header:
            known = did_you_mean(identity, header, f"its columns are {', '.join(header)}")
            raise DataError(f"{name} has no column {identity!r}; {known}")
        return _Things(name, list(header), header.index(identity))
    places: dict[str, int] = {}
    for place, column in enumerate(header):
        role = _ROLE.get(column.strip().lower())
        if role is not None:
            places.setdefault(role, place)
    if not {"source", "target"} <= places.keys():
        raise DataError(
            f"{name} has the columns {', '.join(header) or '(none)'}; a table of edges needs source and target, and "
            "perhaps relation, weight, begin and end. If every row is a thing and every column a relation, name the "
            "column that identifies the rows: --id COLUMN"
        )
    return _Edges(name, places)


class _Edges:
    def __init__(self, name: str, places: dict[str, int]) -> None:
        self.name, self.places = name, places

    def __call__(self, number: int, row: Sequence[str]) -> Iterator[Edge]:
        def cell(role: str, default: str = "") -> str:
            return row[self.places[role]].strip() if role in self.places else default

        source, relation, target = cell("source"), cell("relation", LINKED), cell("target")
        if not (source and relation and target):
            raise FormatError(self.name, number, "a source, a relation and a target", ", ".join(row)[:80])
        weight = cell("weight")
        yield Edge(
            source, relation, target, weight_of(self.name, number, weight) if weight else 1.0,
            window=window_at(self.name, number, cell("begin"), cell("end")),
        )  # fmt: skip


class _Things:
    def __init__(self, name: str, header: list[str], identity: int) -> None:
        self.name, self.header, self.identity = name, header, identity

    def __call__(self, number: int, row: Sequence[str]) -> Iterator[Edge]:
        thing = row[self.identity].strip()
        if not thing:
            raise FormatError(
                self.name, number, f"a name in the column {self.header[self.identity]}", ", ".join(row)[:80]
            )
        for place, (relation, given) in enumerate(zip(self.header, row, strict=True)):
            for part in given.split("|") if place != self.identity and relation else ():
                if part.strip() and not _is_number(part):
                    yield Edge(thing, relation.strip(), part.strip())


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
