"""Columns of tables as evidence of classes: which class a column holds, by the known instances among its cells.

For a column g and classes with known instances I(C), M_C(g) = the known instances of C in g, and

    Q(g) = { C : |M_C(g)| >= a }
    score(C, g) = |M_C(g)|^2 / |union of I(C') over C' in Q(g)|      for C in Q(g)
    score(i, C) = 1/Z_C sum of score(C, g) over the columns g that hold i       Z_C: the maximum over instances

so that matches count, and a column whose matches come from unrelated classes scores low: overlapping classes make the
union little larger. Instances that stand in tables of fewer than d sources (sites, pages) are left out.
"""

from __future__ import annotations

import csv
import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import ConfigError, DataError, FormatError
from weft.graph.triples import opened

#: Rows of delimited files are read with these separators.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
LONGEST_CELL = 1_000_000


@dataclass(frozen=True)
class Column:
    """The distinct cells of a column, its name, and the source of its table (a site, a page, a file)."""

    name: str
    source: str
    cells: tuple[str, ...]

    @classmethod
    def of(cls, name: str, source: str, cells: Iterable[str]) -> Column:
        """A column without empty cells, and with each other cell once.

        >>> Column.of("town", "ports.csv", ["Bergen", "", " Bergen ", "Oslo"]).cells
        ('Bergen', 'Oslo')
        """
        return cls(name, source, tuple(dict.fromkeys(cell.strip() for cell in cells if cell.strip())))


def read_columns(path: str | os.PathLike[str]) -> Iterator[Column]:
    """The columns of a table with a header (.csv, .tsv), or of many tables as JSON Lines, gzipped or not.

    A line of JSON Lines is one table: {"source": ..., "header": [...], "rows": [[...], ...]}; the source is optional.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ports.csv")
    ...     _ = path.write_text("town,country\\nBergen,Norway\\nOslo,Norway\\n")
    ...     [(column.name, column.cells) for column in read_columns(path)]
    [('ports: town', ('Bergen', 'Oslo')), ('ports: country', ('Norway',))]
    """
    name = os.fspath(path)
    place = Path(name.removesuffix(".gz"))
    if place.suffix in SEPARATORS:
        yield from _delimited(name, place.stem, SEPARATORS[place.suffix])
    elif place.suffix in (".jsonl", ".ndjson"):
        yield from _tables(name, place.stem)
    else:
        raise DataError(f"cannot tell the format of {name}; tables are read from .csv, .tsv and .jsonl")


class ColumnScorer:
    """Scores columns and cells against classes with known instances.

    >>> known = {"city": ["bergen", "oslo", "turku"], "river": ["glomma", "vosso"], "port": ["bergen", "oslo"]}
    >>> scorer = ColumnScorer(known)
    >>> scorer.scores(Column.of("t", "s", ["bergen", "oslo", "bodø"]))
    {'city': 1.3333333333333333, 'port': 1.3333333333333333}
    >>> scorer.scores(Column.of("t", "s", ["bergen", "oslo", "glomma", "vosso"]))["city"]
    0.8
    """

    def __init__(self, known: Mapping[str, Collection[str]], least: int = 2) -> None:
        if least < 1:
            raise ConfigError(f"a class needs at least one known instance in a column, got {least}")
        self.known = {name: frozenset(instances) for name, instances in known.items()}
        self.least = least
        self._classes: dict[str, list[str]] = defaultdict(list)
        for name, instances in self.known.items():
            for instance in instances:
                self._classes[instance].append(name)

    def scores(self, column: Column) -> dict[str, float]:
        """score(C, g) of the classes that a column may hold."""
        matches: dict[str, int] = defaultdict(int)
        for cell in column.cells:
            for name in self._classes.get(cell, ()):
                matches[name] += 1
        fits = sorted(name for name, count in matches.items() if count >= self.least)
        size = len(frozenset().union(*(self.known[name] for name in fits)))
        return {name: matches[name] ** 2 / size for name in fits}

    def pairs(
        self, columns: Iterable[Column], sources: int = 2, together: bool = False
    ) -> list[tuple[str, str, float]]:
        """score(i, C) of all cells of columns, as instance, class and weight; of cells of so many sources at least.

        With `together`, the sources count in which a cell stands in a column of that class.

        >>> known = {"city": ["bergen", "oslo"]}
        >>> cells = ["bergen", "oslo", "bodø"]
        >>> ColumnScorer(known).pairs([Column.of("a", "one", cells), Column.of("b", "two", cells)])
        [('bergen', 'city', 1.0), ('bodø', 'city', 1.0), ('oslo', 'city', 1.0)]
        """
        if sources < 1:
            raise ConfigError(f"a cell stands in at least one source, got {sources}")
        sums: dict[tuple[str, str], float] = defaultdict(float)
        seen: dict[str | tuple[str, str], set[str]] = defaultdict(set)
        for column in columns:
            found = self.scores(column)
            for cell in column.cells:
                if not together:
                    seen[cell].add(column.source)
                for name, score in found.items():
                    sums[cell, name] += score
                    if together:
                        seen[cell, name].add(column.source)
        kept = {pair: score for pair, score in sums.items() if len(seen[pair if together else pair[0]]) >= sources}
        most: dict[str, float] = defaultdict(float)
        for (_, name), score in kept.items():
            most[name] = max(most[name], score)
        return [(cell, name, score / most[name]) for (cell, name), score in sorted(kept.items())]


def known_instances(
    pairs: Iterable[tuple[str, str, float]], least_weight: float = 0.0, least_instances: int = 1
) -> dict[str, set[str]]:
    """I(C): the instances of every class by pairs of some weight; of classes with so many instances.

    >>> known_instances([("oslo", "city", 5.0), ("bergen", "city", 1.0), ("oslo", "team", 5.0)], 2.0)
    {'city': {'oslo'}, 'team': {'oslo'}}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for instance, name, weight in pairs:
        if weight >= least_weight:
            found[name].add(instance)
    return {name: own for name, own in found.items() if len(own) >= least_instances}


def _delimited(name: str, stem: str, separator: str) -> Iterator[Column]:
    before = csv.field_size_limit(LONGEST_CELL)
    with opened(name) as lines:
        rows = csv.reader(lines, delimiter=separator)
        try:
            header = next(rows, None)
            if not header or not any(cell.strip() for cell in header):
                raise FormatError(
                    name, 1, "a line with the names of the columns", "nothing" if not header else "blanks"
                )
            cells: list[list[str]] = [[] for _ in header]
            for row in rows:
                if not row:
                    continue
                if len(row) != len(header):
                    raise FormatError(name, rows.line_num, f"{len(header)} cells", f"{len(row)} cells")
                for own, cell in zip(cells, row, strict=True):
                    own.append(cell)
        except csv.Error as error:
            raise FormatError(name, rows.line_num, "cells, quoted where they hold separators", str(error)) from None
        finally:
            csv.field_size_limit(before)
    for title, own in zip(header, cells, strict=True):
        yield Column.of(f"{stem}: {title.strip()}", stem, own)


def _tables(name: str, stem: str) -> Iterator[Column]:
    with opened(name) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            table = _table(line)
            if table is None:
                raise FormatError(
                    name, number, 'a table as {"header": [...], "rows": [[...], ...]}, of equally long lists of texts',
                    line[:80].rstrip(),
                )  # fmt: skip
            source, header, rows = table
            for at, title in enumerate(header):
                yield Column.of(f"{stem} {number}: {title}", source or f"{stem} {number}", (row[at] for row in rows))


def _table(line: str) -> tuple[str, list[str], list[list[str]]] | None:
    """The source, header and rows of a line, None if it is no table."""
    try:
        value: Any = json.loads(line)
        source, header, rows = value.get("source", ""), value["header"], value["rows"]
        is_table = isinstance(source, str) and all(
            isinstance(row, list) and len(row) == len(header) and all(isinstance(cell, str) for cell in row)
            for row in [header, *rows]
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return (source, header, rows) if is_table and isinstance(rows, list) else None
