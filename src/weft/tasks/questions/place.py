"""Where a graph that can be asked stands: the graph, its schema, its attributes and its hidden edges in one folder.

kg/graph.weft   kg/schema.toml   kg/attributes.weft   kg/hidden.tsv        all but the first may be missing
"""

from __future__ import annotations

import os
from pathlib import Path

from weft.graph.attributes import load_attributes, read_attributes
from weft.graph.place import load_graph
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.schema import SCHEMA, inferred, read_schema
from weft.tasks.questions.view import HIDDEN, Store, read_hidden


def load_questions(
    graph: str | os.PathLike[str], schema: str | os.PathLike[str] | None = None,
    attributes: str | os.PathLike[str] | None = None, hidden: str | os.PathLike[str] | None = None,
) -> Questions:  # fmt: skip
    """Questions to the graph of a folder or file; without a schema, one derived from the graph's own names.

    >>> questions = load_questions("examples/graph/town.tsv", "examples/graph/town.toml")
    >>> questions.suggest("folks living in bergn")[0].text
    'people who live in Bergen'
    """
    place = Path(graph)
    found = load_graph(place)
    folder = place if place.is_dir() else None
    columns = load_attributes(folder, found.n_nodes) if folder else {}
    if attributes is not None:
        columns = columns | read_attributes(found, attributes)
    if schema is None and folder and (folder / SCHEMA).is_file():
        schema = folder / SCHEMA
    if hidden is None and folder and (folder / HIDDEN).is_file():
        hidden = folder / HIDDEN
    secret = read_hidden(found, os.fspath(hidden)) if hidden is not None else []
    words = inferred(found, columns) if schema is None else read_schema(schema)
    return Questions(Store(found, words, secret, columns))
