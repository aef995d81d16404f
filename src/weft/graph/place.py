"""Where a knowledge graph stands: a folder with the graph and what belongs to it.

    kg/graph.weft      nodes, types, edges (`weft.graph.store`)
    kg/...             what other commands keep beside it: attributes, evidence, names of a schema

A model file alone, or a file of edges, is a graph too: commands take any of the three.
"""

from __future__ import annotations

import os
from pathlib import Path

from weft.errors import DataError, did_you_mean_file
from weft.graph.store import TypedGraph
from weft.graph.triples import read_graph

#: The file of a folder that holds the graph itself.
GRAPH = "graph.weft"


def save_graph(graph: TypedGraph, folder: str | os.PathLike[str]) -> Path:
    """Write a graph into a folder, which is made if it is missing; the file is returned.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add("Mara Lind", "lives in", "Bergen")
    >>> with TemporaryDirectory() as place:
    ...     _ = save_graph(builder.graph(), Path(place, "kg"))
    ...     load_graph(Path(place, "kg")).n_edges
    1
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise DataError(f"{place} is a file; a graph is written to a folder, such as kg/")
    place.mkdir(parents=True, exist_ok=True)
    graph.save(place / GRAPH)
    return place / GRAPH


def load_graph(path: str | os.PathLike[str], mapped: bool = False) -> TypedGraph:
    """The graph of a folder, of a model file, or of a file of edges (see `weft.graph.triples`)."""
    place = Path(path)
    if place.is_dir():
        if not (place / GRAPH).is_file():
            raise DataError(f"there is no graph in {place}: {GRAPH} is missing; make one with `weft graph build`")
        place = place / GRAPH
    if not place.is_file():
        raise DataError(f"there is no graph {place}{did_you_mean_file(place)}")
    if place.suffix == ".weft":
        return TypedGraph.load(place, mapped=mapped)
    return read_graph(place)
