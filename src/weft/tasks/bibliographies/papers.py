"""Papers from tables: CSV, TSV, JSON Lines or Parquet, one paper per row.

| column | holds |
|---|---|
| `id` | a name of its own; rows without one are named by their number |
| `title`, `year` | a text, a whole number |
| `venue`, `authors`, `institutions`, `cites` | one or several, separated by semicolons; lists in JSON and Parquet |

`institutions` stand in the order of `authors`. Other columns are ignored, and none but `authors` or `title` is needed.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import DataError, FormatError, did_you_mean_file
from weft.graph.triples import opened
from weft.packages import needed

COLUMNS = ("id", "title", "year", "venue", "authors", "institutions", "cites")
OTHER_NAMES = {"venues": "venue", "author": "authors", "institution": "institutions", "affiliations": "institutions",
               "references": "cites", "citations": "cites"}  # fmt: skip
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
#: The longest cell of a table, in characters.
_LONGEST = 10_000_000


class _Tabs(csv.excel_tab):
    quoting = csv.QUOTE_NONE


@dataclass(frozen=True)
class Paper:
    """One paper; several venues mean a joint meeting."""

    id: str
    title: str = ""
    year: int | None = None
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    institutions: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()


def read_papers(path: str | os.PathLike[str]) -> list[Paper]:
    """The papers of a table.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "p.csv").write_text("id,title,authors\\np1,Tide tables,Mara Lind; Ole Berg\\n")
    ...     read_papers(Path(folder, "p.csv"))[0].authors
    ('Mara Lind', 'Ole Berg')
    """
    name = os.fspath(path)
    if not Path(name).is_file():
        raise DataError(f"there is no table {name}{did_you_mean_file(Path(name))}")
    papers: list[Paper] = []
    seen: dict[str, int] = {}
    for number, row in _rows(name):
        paper = _paper(name, number, row, len(papers) + 1)
        if paper.id in seen:
            raise FormatError(name, number, "an id of its own", f"{paper.id!r}, which row {seen[paper.id]} has too")
        seen[paper.id] = number
        papers.append(paper)
    if not papers:
        raise DataError(f"{name} has no papers")
    return papers


def is_table_of_papers(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a table of papers rather than like edges: it has a column of authors or titles.

    >>> is_table_of_papers("kg")
    False
    """
    place = Path(path)
    suffix = Path(place.name.removesuffix(".gz")).suffix
    if not place.is_file() or suffix not in SUFFIXES:
        return False
    if suffix in (".csv", ".parquet"):
        return True
    with opened(os.fspath(path)) as lines:
        first = next(lines, "")
    if suffix == ".tsv":
        return bool({"authors", "author", "title"} & {cell.strip().lower() for cell in first.split("\t")})
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool({"authors", "author", "title"} & set(value)) and "source" not in value


def _rows(name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a table with the numbers of their lines."""
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in (".csv", ".tsv"):
        yield from _cells(name, "\t" if suffix == ".tsv" else ",")
    elif suffix in (".jsonl", ".ndjson"):
        with opened(name) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _named(name, number, _object(name, number, line))
    elif suffix == ".parquet":
        parquet = needed("pyarrow.parquet", "reading Parquet")
        try:
            table = parquet.read_table(name)
        except (OSError, ValueError) as error:
            raise DataError(f"{name} is not a Parquet file: {error}") from None
        for number, row in enumerate(table.to_pylist(), 1):
            yield number, _named(name, number, row)
    else:
        raise DataError(f"papers are read from {', '.join(SUFFIXES)}, not from {name}")


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise FormatError(name, number, "an object of JSON", line.strip()[:80])
    return value


def _cells(name: str, separator: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    before = csv.field_size_limit(_LONGEST)
    try:
        with opened(name) as lines:
            reader = csv.reader(
                (line.replace("\0", " ") for line in lines), dialect=_Tabs if separator == "\t" else csv.excel
            )
            header: list[str] | None = None
            for cells in reader:
                if not any(cell.strip() for cell in cells):
                    continue
                if header is None:
                    header = [cell.strip().lstrip("\ufeff").lower() for cell in cells]
                    _named(name, reader.line_num, dict.fromkeys(header))
                elif len(cells) != len(header):
                    raise FormatError(name, reader.line_num, f"{len(header)} cells", f"{len(cells)}")
                else:
                    yield reader.line_num, _named(name, reader.line_num, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise FormatError(name, None, "a table", str(error)) from None
    finally:
        csv.field_size_limit(before)


def _named(name: str, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row under the names of `COLUMNS`."""
    found = {OTHER_NAMES.get(key, key): value for key, value in row.items()}
    if "authors" not in found and "title" not in found:
        raise FormatError(name, number, "a column authors or title", ", ".join(map(str, row)) or "no columns")
    return found


def _paper(name: str, line: int, row: Mapping[str, Any], number: int) -> Paper:
    year = row.get("year")
    text = "" if year is None else str(year).strip()
    try:
        value = int(float(text)) if text else None
    except (ValueError, OverflowError):
        raise FormatError(name, line, "a year", text[:40]) from None
    return Paper(
        _text(name, line, row.get("id")) or f"paper {number}", _text(name, line, row.get("title")), value,
        tuple(dict.fromkeys(_several(name, line, row.get("venue")))),
        tuple(_several(name, line, row.get("authors"))),
        tuple(_several(name, line, row.get("institutions"), gaps=True)),
        tuple(dict.fromkeys(_several(name, line, row.get("cites")))),
    )  # fmt: skip


def _text(name: str, line: int, value: Any) -> str:
    if value is None or isinstance(value, str | int | float):
        return "" if value is None else str(value).strip()
    raise FormatError(name, line, "a text", str(value)[:40])


def _several(name: str, line: int, value: Any, gaps: bool = False) -> Iterable[str]:
    if isinstance(value, list | tuple):
        parts = [_text(name, line, each) for each in value]
    else:
        parts = [part.strip() for part in _text(name, line, value).split(";")]
    return parts if gaps and any(parts) else [part for part in parts if part]
