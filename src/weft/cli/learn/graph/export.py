"""`weft graph export KG --to duckdb --out kg.duckdb`: a graph for databases and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import option, short_path

EXAMPLE = "weft graph export kg --to duckdb --out kg.duckdb"

Graph = Annotated[Path, typer.Argument(metavar="GRAPH", help="Folder of a graph, or a file of edges.")]
To = Annotated[str, option("--to", metavar="duckdb|sparql|cypher|csv|parquet", help="Format to write.")]
Out = Annotated[
    Path, option("--out", "-o", metavar="PATH", help="File to write; a folder for csv, parquet and a SPARQL store.")
]


def export(graph: Graph, to: To, out: Out) -> None:
    """Write a graph for SQL (DuckDB), SPARQL, Cypher, or as tables for networkx, igraph and spreadsheets.

    SPARQL is N-Triples if the file ends in .nt, else a store of pyoxigraph.
    """
    from weft.graph.export import export as exported
    from weft.graph.place import load_graph

    for path in exported(load_graph(graph), to, out):
        print(f"wrote {short_path(path)}")
