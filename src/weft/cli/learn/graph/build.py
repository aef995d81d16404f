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


Attributes = Annotated[
    list[Path] | None,
    option("--attributes", metavar="FILE", help="Keep numbers and dates too: lines of node, attribute, value; repeat."),
]
Names = Annotated[
    Path | None, option("--schema", metavar="FILE", help="Keep a TOML file of names and synonyms, for `weft ask`.")
]


def build(
    files: Files, out: Out, id: Id = "", text: Text = "", least: Least = 0.0, attributes: Attributes = None,
    schema: Names = None, as_json: JsonFlag = False,
) -> None:  # fmt: skip
    """Build a knowledge graph from files of edges, from tables, and from annotated documents.

    Entities, relations, events and links of documents become nodes and edges; the sentences that say so are kept.
    """
    from weft.cli.common import counted
    from weft.tasks.knowledge.folder import build as built

    counts = built(files, out, identity=id, text=[kind for kind in text.split(",") if kind], least=least)
    if attributes or schema:
        _keep(out, attributes or [], schema)
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


def _keep(folder: Path, attributes: list[Path], schema: Path | None) -> None:
    """Put what `weft ask` needs beside the graph of a folder."""
    import shutil

    from weft.graph.attributes import read_attributes, save_attributes
    from weft.graph.place import load_graph
    from weft.tasks.questions.schema import SCHEMA, read_schema

    if attributes:
        save_attributes(read_attributes(load_graph(folder), *attributes), folder)
    if schema is not None:
        read_schema(schema)  # what is wrong in it is told now
        shutil.copyfile(schema, folder / SCHEMA)
