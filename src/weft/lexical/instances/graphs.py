"""Graphs of instances, classes, columns and attributes, which are joined as they are added.

    pairs        instance -is a- class             the weight of the pair; of several extractors, their sum
    columns      cell -in column- column           weight 1; cells of fewer columns than a bound are left out
    attributes   instance -has attribute- attribute    weight 1

Nodes are strings: an instance and a class of one name are one node, as in Adsorption. Columns and attributes have nodes
of their own, `column: ...` and `attribute: ...`, and types, so that results can be told apart.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from weft.errors import FormatError
from weft.graph.store import Builder, TypedGraph
from weft.graph.triples import opened
from weft.lexical.instances.columns import Column

IS_A, IN_COLUMN, HAS = "is a", "in column", "has attribute"
INSTANCE, CLASS, COLUMN, ATTRIBUTE = "instance", "class", "column", "attribute"


def add_pairs(builder: Builder, pairs: Iterable[tuple[str, str, float]]) -> int:
    """Add scored pairs of instance and class; how many.

    >>> builder = Builder()
    >>> add_pairs(builder, [("bob dylan", "musician", 0.95), ("bob dylan", "singer", 0.75)])
    2
    """
    count = 0
    classes = set()
    for instance, name, weight in pairs:
        if instance != name:
            builder.add(instance, IS_A, name, weight)
            classes.add(name)
            count += 1
    for name in sorted(classes):
        builder.type(name, CLASS)
    return count


def add_columns(builder: Builder, columns: Iterable[Column], least: int = 1) -> int:
    """Add columns of tables, with their cells that stand in at least so many columns; how many edges.

    >>> add_columns(Builder(), [Column.of("people: name", "p", ["Dylan", "Cash"]), Column.of("music", "f", ["Dylan"])])
    3
    """
    kept = list(columns)
    times = Counter(cell for column in kept for cell in column.cells)
    count = 0
    for column in kept:
        node = f"column: {column.name}"
        for cell in column.cells:
            if times[cell] >= least:
                builder.add(cell, IN_COLUMN, node)
                builder.type(node, COLUMN)
                count += 1
    return count


def add_attributes(builder: Builder, attributes: Iterable[tuple[str, str]]) -> int:
    """Add pairs of instance and attribute; how many.

    >>> add_attributes(Builder(), [("Dylan", "albums")])
    1
    """
    count = 0
    for instance, attribute in attributes:
        node = f"attribute: {attribute}"
        builder.add(instance, HAS, node)
        builder.type(node, ATTRIBUTE)
        count += 1
    return count


def builder_of(graph: TypedGraph) -> Builder:
    """A builder that holds a graph, to which more can be added.

    >>> builder = Builder()
    >>> builder.add("a", "r", "b", 2.0)
    >>> list(builder_of(builder.graph()).graph().edges())
    [('a', 'r', 'b', 2.0)]
    """
    builder = Builder()
    add_graph(builder, graph)
    return builder


def add_graph(builder: Builder, graph: TypedGraph) -> None:
    """Add the nodes, types and edges of a graph."""
    for number, name in enumerate(graph.names):
        builder.node(name)
        if kind := graph.type_of(number):
            builder.type(name, kind)
    for source, relation, target, weight in graph.edges():
        builder.add(source, relation, target, weight)


def pairs_of(graph: TypedGraph) -> list[tuple[str, str, float]]:
    """The pairs of instance and class of a graph."""
    return [(source, target, weight) for source, relation, target, weight in graph.edges() if relation == IS_A]


def read_pairs(path: str | os.PathLike[str]) -> list[tuple[str, str, float]]:
    """Pairs of a file of tab-separated columns: two names and perhaps a weight above 0."""
    name = os.fspath(path)
    pairs = []
    with opened(name) as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split("\t")]
            weight = _weight(cells[2]) if len(cells) == 3 else 1.0
            if not 2 <= len(cells) <= 3 or not all(cells) or weight is None:
                raise FormatError(name, number, "two names and perhaps a weight above 0, separated by tabs", line[:80])
            pairs.append((cells[0], cells[1], weight))
    return pairs


def _weight(text: str) -> float | None:
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if 0 < weight < 1e30 else None
