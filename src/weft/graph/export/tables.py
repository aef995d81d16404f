"""Nodes and edges as tables: CSV, Parquet, and a DuckDB file.

nodes    id, name, type
edges    source, relation, target, weight, begin, end        source and target are names in CSV, ids in the others
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from weft.errors import DataError
from weft.graph.days import date_of
from weft.graph.store import TypedGraph
from weft.packages import needed

NODES, EDGES = ("id", "name", "type"), ("source", "relation", "target", "weight", "begin", "end")
#: Rows that are written together.
BATCH = 100_000
_TABLES = (
    "CREATE TABLE nodes (id INTEGER PRIMARY KEY, name VARCHAR, type VARCHAR)",
    'CREATE TABLE edges (source INTEGER, relation VARCHAR, target INTEGER, weight REAL, "begin" DATE, "end" DATE)',
    'CREATE VIEW facts AS SELECT s.name AS source, e.relation, t.name AS target, e.weight, e."begin", e."end" '
    "FROM edges e JOIN nodes s ON e.source = s.id JOIN nodes t ON e.target = t.id",
)


def node_rows(graph: TypedGraph) -> Iterator[tuple[int, str, str]]:
    """Every node: its number, name and type."""
    for number, name in enumerate(graph.names):
        yield number, name, graph.type_of(number)


def edge_rows(graph: TypedGraph) -> Iterator[tuple[int, str, int, float, str, str]]:
    """Every edge with numbers for its nodes; dates are "" where nothing is known."""
    for number, relation in enumerate(graph.relations):
        for e in range(int(graph.slices[number]), int(graph.slices[number + 1])):
            begin, end = (date_of(day) for day in graph.window(e))
            yield int(graph.sources[e]), relation, int(graph.targets[e]), float(graph.weights[e]), begin, end


def write_csv(graph: TypedGraph, folder: Path) -> list[Path]:
    """Write nodes.csv and edges.csv; the latter can be built again, and read by networkx and igraph."""
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    with open(nodes, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(NODES)
        out.writerows(node_rows(graph))
    with open(edges, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(EDGES)
        for source, relation, target, *rest in edge_rows(graph):
            out.writerow((graph.names[source], relation, graph.names[target], *rest))
    return [nodes, edges]


def write_parquet(graph: TypedGraph, folder: Path) -> list[Path]:
    """Write nodes.parquet and edges.parquet; the latter can be built again."""
    arrow = needed("pyarrow", "writing Parquet files")
    parquet = needed("pyarrow.parquet", "writing Parquet files")
    named = (
        (graph.names[source], relation, graph.names[target], *rest)
        for source, relation, target, *rest in edge_rows(graph)
    )
    kinds = {"id": arrow.int32(), "weight": arrow.float32()}
    files = []
    for name, columns, rows in (("nodes", NODES, node_rows(graph)), ("edges", EDGES, named)):
        schema = arrow.schema([(column, kinds.get(column, arrow.string())) for column in columns])
        with parquet.ParquetWriter(folder / f"{name}.parquet", schema) as out:
            given: Iterator[tuple[Any, ...]] = iter(rows)
            while batch := list(islice(given, BATCH)):
                cells = zip(*batch, strict=True)
                arrays = {
                    column: [value if value != "" else None for value in values]
                    for column, values in zip(columns, cells, strict=True)
                }
                out.write_table(arrow.table(arrays, schema))
        files.append(folder / f"{name}.parquet")
    return files


def write_duckdb(graph: TypedGraph, path: Path) -> list[Path]:
    """Write a DuckDB file with the tables `nodes` and `edges` and the view `facts`."""
    duckdb = needed("duckdb", "writing a DuckDB file")
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with TemporaryDirectory() as folder, duckdb.connect(str(part)) as base:
            for statement in _TABLES:
                base.execute(statement)
            for table, rows in (("nodes", node_rows(graph)), ("edges", edge_rows(graph))):
                file = Path(folder, f"{table}.csv")
                with open(file, "w", encoding="utf-8", newline="") as out:
                    csv.writer(out).writerows(rows)
                if file.stat().st_size:
                    quoted = str(file).replace("'", "''")
                    base.execute(f"COPY {table} FROM '{quoted}' (HEADER false, DELIMITER ',', QUOTE '\"', ESCAPE '\"')")
        part.replace(path)
    except duckdb.Error as error:
        raise DataError(f"DuckDB cannot write {path}: {str(error).splitlines()[0]}") from None
    finally:
        part.unlink(missing_ok=True)
    return [path]
