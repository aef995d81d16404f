"""Cypher: statements that create a graph in a database, in blocks of rows.

UNWIND [{name: "Mara Lind"}] AS row MERGE (n:Node {name: row.name}) SET n:`PER`;
UNWIND [...] AS row MATCH (s:Node {name: row.s}), (t:Node {name: row.t}) CREATE (s)-[:`lives in` {weight: row.w}]->(t);
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import TypeVar

from weft.graph.days import date_of
from weft.graph.store import TypedGraph

T = TypeVar("T")
#: Rows of one statement.
BLOCK = 500
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
INDEX = "CREATE INDEX node_name IF NOT EXISTS FOR (n:Node) ON (n.name);\n"


def text(value: str) -> str:
    """A string of Cypher.

    >>> print(text('the "Rose"'))
    "the \\"Rose\\""
    """
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value) + '"'


def name(value: str) -> str:
    """A label or a type of relationships, quoted.

    >>> name("lives in"), name("a`b")
    ('`lives in`', '`a``b`')
    """
    return "`" + value.replace("`", "``") + "`"


def statements(graph: TypedGraph) -> Iterator[str]:
    """The statements of a graph."""
    yield INDEX
    numbered = sorted(range(graph.n_nodes), key=lambda node: (int(graph.type[node]), node))
    for kind, nodes in groupby(numbered, key=lambda node: int(graph.type[node])):
        label = f" SET n:{name(graph.types[kind])}" if graph.types[kind] else ""
        for block in _blocks(nodes):
            rows = ", ".join(f"{{name: {text(graph.names[node])}}}" for node in block)
            yield f"UNWIND [{rows}] AS row MERGE (n:Node {{name: row.name}}){label};\n"
    for number, relation in enumerate(graph.relations):
        for block in _blocks(range(int(graph.slices[number]), int(graph.slices[number + 1]))):
            rows = ", ".join(_edge(graph, edge) for edge in block)
            yield (
                f"UNWIND [{rows}] AS row MATCH (s:Node {{name: row.s}}), (t:Node {{name: row.t}}) "
                f"CREATE (s)-[:{name(relation)} {{weight: row.w, begin: row.b, end: row.e}}]->(t);\n"
            )


def _edge(graph: TypedGraph, edge: int) -> str:
    begin, end = (date_of(day) for day in graph.window(edge))
    ends = (graph.names[int(graph.sources[edge])], graph.names[int(graph.targets[edge])])
    parts = [f"s: {text(ends[0])}", f"t: {text(ends[1])}", f"w: {float(graph.weights[edge]):g}"]
    parts += [f"{key}: {text(date)}" for key, date in (("b", begin), ("e", end)) if date]
    return "{" + ", ".join(parts) + "}"


def write_cypher(graph: TypedGraph, path: Path) -> list[Path]:
    """Write the statements to a file."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(statements(graph))
    return [path]


def _blocks(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while block := list(islice(rest, BLOCK)):
        yield block
