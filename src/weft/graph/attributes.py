"""Values of nodes, such as numbers and dates: columns beside a graph, one value per node or none.

    values[k] at node nodes[k], sorted by node; a date is its day as a number (days since 1970-01-01)

`kg/attributes.weft` keeps them; `read_attributes` reads files of lines `node <tab> attribute <tab> value`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from weft import storage
from weft.arrays import Floats, Ids
from weft.declared import Array, Arrays, Stored
from weft.errors import DataError
from weft.graph.store import TypedGraph
from weft.graph.triples import opened
from weft.headers import Many, Record, Text

#: The file of a graph's folder that holds them.
ATTRIBUTES = "attributes.weft"
NUMBER, DATE = "number", "date"
HEADER = Record(kind=Text(("attributes",)), names=Many(Text(), distinct=True), kinds=Many(Text((NUMBER, DATE))))
_DATE = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?$")
_DAY_ZERO = date(1970, 1, 1).toordinal()


def day_of(text: str) -> int | None:
    """The day of a date given as year, year and month, or year, month and day; the first day of what it names.

    >>> day_of("1970-01-02"), day_of("1971"), day_of("soon")
    (1, 365, None)
    """
    found = _DATE.match(text)
    if not found:
        return None
    try:
        return date(*(int(part or 1) for part in found.groups())).toordinal() - _DAY_ZERO
    except ValueError:
        return None


def date_of(day: float) -> str:
    """The date of a day.

    >>> date_of(365)
    '1971-01-01'
    """
    return date.fromordinal(int(day) + _DAY_ZERO).isoformat()


@dataclass(frozen=True)
class Column:
    """The values of one attribute at the nodes that have one."""

    kind: str
    nodes: Ids
    values: Floats

    def at(self, node: int) -> float | None:
        """The value of a node, if it has one."""
        place = int(np.searchsorted(self.nodes, node))
        return float(self.values[place]) if place < len(self.nodes) and self.nodes[place] == node else None

    def text(self, value: float) -> str:
        """A value as people write it."""
        return date_of(value) if self.kind == DATE else f"{value:g}"


def column(kind: str, values: Mapping[int, float]) -> Column:
    """A column of values by node.

    >>> column("number", {4: 1.5, 2: 0.5}).at(4)
    1.5
    """
    nodes = np.array(sorted(values), dtype=np.int32)
    return Column(kind, nodes, np.array([values[int(node)] for node in nodes], dtype=np.float64))


def read_attributes(graph: TypedGraph, *paths: str | os.PathLike[str]) -> dict[str, Column]:
    """The columns of files; an attribute whose values are all dates is a column of dates.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add("Mara Lind", "lives in", "Bergen")
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.tsv").write_text("Mara Lind\\tborn\\t1990-05-01\\n")
    ...     found = read_attributes(builder.graph(), Path(folder, "a.tsv"))
    >>> found["born"].kind, found["born"].text(found["born"].at(0))
    ('date', '1990-05-01')
    """
    texts: dict[str, dict[int, tuple[str, str]]] = {}
    for path in paths:
        with opened(os.fspath(path)) as lines:
            for number, line in enumerate(lines, 1):
                line = line.rstrip("\r\n")
                if not line.strip() or line.startswith("#"):
                    continue
                cells = line.split("\t")
                where = f"{os.fspath(path)}:{number}"
                if len(cells) != 3:
                    raise DataError(f"{where}: expected a node, an attribute and a value between tabs, got {line!r}")
                node = graph.names.find(cells[0])
                if node < 0:
                    raise DataError(f"{where}: the graph has no node {cells[0]!r}")
                texts.setdefault(cells[1], {})[node] = (cells[2].strip(), where)
    return {name: _column(name, values) for name, values in texts.items()}


def _column(name: str, texts: Mapping[int, tuple[str, str]]) -> Column:
    dates = {node: day_of(text) for node, (text, _) in texts.items()}
    plain = all(re.fullmatch(r"\d{4}", text) for text, _ in texts.values())
    if all(day is not None for day in dates.values()) and (not plain or "year" in name or "date" in name):
        return column(DATE, {node: float(day) for node, day in dates.items() if day is not None})
    values = {}
    for node, (text, where) in texts.items():
        try:
            values[node] = float(text.replace(",", ""))
        except ValueError:
            raise DataError(f"{where}: expected a number or a date such as 2004-05-01, got {text!r}") from None
        if not np.isfinite(values[node]):
            raise DataError(f"{where}: expected a number that is finite, got {text!r}")
    return column(NUMBER, values)


def save_attributes(columns: Mapping[str, Column], folder: str | os.PathLike[str]) -> None:
    """Write columns into a graph's folder."""
    arrays: Arrays = {}
    for number, each in enumerate(columns.values()):
        arrays |= {f"nodes{number}": each.nodes, f"values{number}": each.values}
    header = {"kind": "attributes", "names": list(columns), "kinds": [each.kind for each in columns.values()]}
    storage.save(Path(folder, ATTRIBUTES), header, arrays)


def load_attributes(folder: str | os.PathLike[str], nodes: int) -> dict[str, Column]:
    """The columns of a graph's folder, none if it has no such file; `nodes` is the size of the graph."""
    path = Path(folder, ATTRIBUTES)
    if not path.is_file():
        return {}
    header, arrays = storage.load(path)
    HEADER.check(header)
    if len(header["names"]) != len(header["kinds"]):
        raise DataError(f"{path} names {len(header['names'])} attributes and {len(header['kinds'])} kinds: damaged")
    stored, found = Stored.of(arrays), {}
    for number, (name, kind) in enumerate(zip(header["names"], header["kinds"], strict=True)):
        own, cells = f"nodes{number}", f"values{number}"
        taken = stored.take(
            Array(own, "int32", (f"rows{number}",), below="nodes"), Array(cells, "float64", (f"rows{number}",)),
            nodes=nodes,
        )  # fmt: skip
        if (np.diff(taken[own]) <= 0).any():
            raise DataError(f"{path}: the nodes of {name!r} are not sorted: the file is damaged")
        found[name] = Column(kind, taken[own], taken[cells])
    stored.refuse_rest()
    return found


def known(columns: Iterable[str]) -> str:
    """The names of attributes, for messages."""
    return ", ".join(sorted(columns)) or "none"
