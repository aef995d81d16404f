"""What `weft graph rank`, `disambiguate` and `topics` read: a graph, or a table of papers that becomes one."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import option
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.graph.store import TypedGraph

Source = Annotated[
    Path,
    typer.Argument(metavar="GRAPH", help="Folder or file of a graph, file of edges, or table of papers."),
]
Table = Annotated[
    Path | None,
    option("--out", "-o", metavar="TABLE", help="Table to write: CSV, TSV, JSON Lines or Parquet, by its suffix."),
]


def read_source(path: Path, words: bool = False, contents: bool = False) -> tuple[TypedGraph, dict[int, int]]:
    """A graph and the years of its papers; the terms of a table's titles are phrases, or single words.

    With `contents`, a graph that was built from documents is joined with what these are about.
    """
    from weft.graph.place import load_graph
    from weft.lexical.instances.graphs import add_graph, builder_of
    from weft.tasks.bibliographies.papers import is_table_of_papers, read_papers
    from weft.tasks.bibliographies.schema import bibliography
    from weft.tasks.bibliographies.terms import single_terms, title_terms
    from weft.tasks.knowledge.contents import CONTENTS

    if not is_table_of_papers(path):
        graph = load_graph(path)
        if contents and path.is_dir() and (path / CONTENTS).is_file():
            builder = builder_of(graph)
            add_graph(builder, load_graph(path / CONTENTS))
            graph = builder.graph()
        return graph, {}
    papers = read_papers(path)
    titles = [paper.title for paper in papers]
    least = 2 if len(papers) < 1000 else 3
    terms = single_terms(titles, least, len(titles)) if words else title_terms(titles, least, len(titles))
    found = bibliography(papers, terms)
    return found.graph, found.years()


def write_rows(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write rows with the same keys as a table."""
    import json

    from weft.packages import needed

    suffix = path.suffix
    if suffix not in (".csv", ".tsv", ".jsonl", ".parquet"):
        raise ConfigError(f"a table is written to a file that ends in .csv, .tsv, .jsonl or .parquet, not to {path}")
    if suffix == ".parquet":
        arrow, parquet = needed("pyarrow", "writing Parquet"), needed("pyarrow.parquet", "writing Parquet")
        parquet.write_table(arrow.Table.from_pylist(list(rows)), path)
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        if suffix == ".jsonl":
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        elif rows:
            writer = csv.DictWriter(
                file, list(rows[0]), delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n"
            )
            writer.writeheader()
            writer.writerows(rows)
