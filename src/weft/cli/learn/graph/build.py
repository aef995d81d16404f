"""`weft graph build INPUT ... --out KG/`: a knowledge graph from edges, tables and annotated documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import JsonFlag, option, print_json, short_path

EXAMPLE = "weft graph build examples/graph/harbour.tsv --out kg"

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="INPUT...",
        help="Edges (TSV, CSV, JSON Lines, N-Triples, Parquet) or annotated documents (files, folders).",
    ),
]
Out = Annotated[Path, option("--out", "-o", metavar="FOLDER", help="Folder to write the graph to.")]
Id = Annotated[
    str, option("--id", metavar="COLUMN", help="Read tables with a row per thing, named by this column.", shown="")
]
Text = Annotated[
    str,
    option(
        "--text", metavar="KINDS", help="Keep the text too, for `complete`: paths, words, dependencies, or several."
    ),
]
Least = Annotated[
    float, option("--least", min=0.0, max=1.0, help="Leave out predicted relations of a lower probability.")
]


def build(files: Files, out: Out, id: Id = "", text: Text = "", least: Least = 0.0, as_json: JsonFlag = False) -> None:
    """Build a knowledge graph from files of edges, from tables, and from annotated documents.

    Entities, relations, events and links of documents become nodes and edges; the sentences that say so are kept.
    """
    from weft.cli.common import counted
    from weft.tasks.knowledge.folder import build as built

    counts = built(files, out, identity=id, text=[kind for kind in text.split(",") if kind], least=least)
    if as_json:
        print_json(counts)
        return
    said = [counted(counts["nodes"], "node"), counted(counts["edges"], "edge"),
            counted(len(counts["relations"]), "relation")]  # fmt: skip
    if counts.get("documents"):
        said.append(f"from {counted(counts['documents'], 'document')}")
    print(", ".join(said))
    if "text" in counts:
        print(f"text: {counted(counts['text']['nodes'], 'node')}, {counted(counts['text']['edges'], 'edge')}")
    print(f"wrote {short_path(out)}")
