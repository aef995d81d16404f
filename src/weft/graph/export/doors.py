"""One door to all exports.

| kind | path | what is written |
|---|---|---|
| duckdb | kg.duckdb | tables `nodes` and `edges`, and the view `facts` with names in place of numbers |
| sparql | kg.nt, or a folder | N-Triples, or a store of pyoxigraph |
| cypher | kg.cypher | statements that create the graph in a database that speaks Cypher |
| csv, parquet | a folder | `nodes.csv` and `edges.csv`, for networkx, igraph and spreadsheets; or the same as Parquet |
"""

from __future__ import annotations

import os
from pathlib import Path

from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.export.cypher import write_cypher
from weft.graph.export.rdf import write_ntriples, write_oxigraph
from weft.graph.export.tables import write_csv, write_duckdb, write_parquet
from weft.graph.store import TypedGraph

KINDS = ("duckdb", "sparql", "cypher", "csv", "parquet")


def export(graph: TypedGraph, kind: str, path: str | os.PathLike[str]) -> list[Path]:
    """Write a graph for other programs; the files are returned.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add("Mara", "lives in", "Bergen")
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in export(builder.graph(), "csv", folder)]
    ['nodes.csv', 'edges.csv']
    """
    if kind not in KINDS:
        raise ConfigError(f"a graph cannot be exported to {kind!r}; {did_you_mean(kind, KINDS, '')}".rstrip("; "))
    place = Path(path)
    try:
        if kind in ("csv", "parquet"):
            if place.is_file():
                raise DataError(f"{place} is a file; {kind} is written to a folder")
            place.mkdir(parents=True, exist_ok=True)
            return write_csv(graph, place) if kind == "csv" else write_parquet(graph, place)
        if place.is_dir() and kind != "sparql":
            raise DataError(f"{place} is a folder; {kind} is written to a file")
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "duckdb":
            return write_duckdb(graph, place)
        if kind == "cypher":
            return write_cypher(graph, place)
        return write_ntriples(graph, place) if place.suffix == ".nt" else write_oxigraph(graph, place)
    except OSError as error:
        raise DataError(f"cannot write {place}: {error.strerror or error}") from None
