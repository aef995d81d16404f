"""`weft graph build EDGES ... --out KG/`: a knowledge graph from files of edges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import JsonFlag, option, print_json, short_path

EXAMPLE = "weft graph build examples/graph/harbour.tsv --out kg"

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Edges: tab-separated, JSON Lines or N-Triples, gzipped or not."),
]
Out = Annotated[Path, option("--out", "-o", metavar="FOLDER", help="Folder to write the graph to.")]


def build(files: Files, out: Out, as_json: JsonFlag = False) -> None:
    """Build a knowledge graph from files of edges: source, relation, target and perhaps a weight."""
    from weft.graph.place import save_graph
    from weft.graph.store import counted
    from weft.graph.triples import read_graph

    graph = read_graph(*files)
    save_graph(graph, out)
    counts = dict(counted(graph))
    if as_json:
        print_json(counts)
        return
    print(f"{counts['nodes']:,} nodes, {counts['edges']:,} edges, {len(counts['relations'])} relations")
    print(f"wrote {short_path(out)}")
