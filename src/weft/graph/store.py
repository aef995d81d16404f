"""Typed graphs: nodes with names and types, edges with relations and weights; millions of both.

    edge e:  sources[e] --relations[e], weights[e]--> targets[e]     sorted by relation, source, target

The edges of one relation are a slice, and become compressed rows when they are asked for; so do all edges together,
for algorithms that ignore relations. A store is built in one pass over its edges, saved as one file, and either loaded
or mapped into memory.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from weft import storage
from weft.arrays import Ids, Ints, Singles
from weft.declared import Array, Arrays, Stored
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.strings import Strings
from weft.headers import Many, Record, Text

#: The type of nodes that have none.
UNTYPED = ""
HEADER = Record(kind=Text(("graph",)), types=Many(Text(), distinct=True), relations=Many(Text(), distinct=True))
ARRAYS = (
    Array("type", "int32", ("nodes",), below="types"),
    Array("slices", "int64", ("relations+1",), offsets_of="edges"),
    Array("sources", "int32", ("edges",), below="nodes"),
    Array("targets", "int32", ("edges",), below="nodes"),
    Array("weights", "float32", ("edges",)),
)


class Rows(NamedTuple):
    """Compressed rows: the targets of node u are `targets[offsets[u]:offsets[u + 1]]`; they rise within a row."""

    offsets: Ints
    targets: Ids
    weights: Singles

    @property
    def n_nodes(self) -> int:
        return len(self.offsets) - 1

    def of(self, node: int) -> list[int]:
        """The targets of a node."""
        found: list[int] = self.targets[self.offsets[node] : self.offsets[node + 1]].tolist()
        return found

    def reversed(self) -> Rows:
        """The same edges against their direction.

        >>> Rows(np.array([0, 1, 2]), np.array([1, 1], np.int32), np.ones(2, np.float32)).reversed().of(1)
        [0, 1]
        """
        sources = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.offsets))
        return rows_of(self.n_nodes, self.targets, sources, self.weights)


def rows_of(n: int, sources: Ids, targets: Ids, weights: Singles) -> Rows:
    """Compressed rows of edges in any order; weights of edges that are given more than once are added.

    >>> rows = rows_of(3, np.array([1, 0, 1]), np.array([2, 1, 2]), np.ones(3, np.float32))
    >>> rows.offsets.tolist(), rows.targets.tolist(), rows.weights.tolist()
    ([0, 1, 2, 2], [1, 2], [1.0, 2.0])
    """
    for ends in (sources, targets):
        if len(ends) and (ends.min() < 0 or ends.max() >= n):
            raise DataError(f"edges join nodes 0 to {n - 1}, got {ends.min()} to {ends.max()}")
    keys = sources.astype(np.int64) * n + targets
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], np.asarray(weights, dtype=np.float32)[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1)) if len(keys) else np.zeros(0, dtype=np.int64)
    sums = np.add.reduceat(weights, first) if len(first) else weights
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys[first] // n, minlength=n) if n else np.zeros(0, np.int64), out=offsets[1:])
    return Rows(offsets, (keys[first] % max(n, 1)).astype(np.int32), sums.astype(np.float32))


class TypedGraph:
    """Nodes with names and types, and typed, weighted edges between them; see `Builder`.

    >>> builder = Builder()
    >>> builder.add("Mario Gomez", "plays for", "FC Bayern Munich")
    >>> builder.add("Mario Gomez", "is", "striker", 2.0)
    >>> builder.type("Mario Gomez", "entity")
    >>> graph = builder.graph()
    >>> graph.n_nodes, graph.n_edges, graph.relations, graph.type_of(0)
    (3, 2, ['is', 'plays for'], 'entity')
    >>> [graph.names[node] for node in graph.rows("is").of(graph.names.find("Mario Gomez"))]
    ['striker']
    """

    def __init__(
        self, names: Strings, types: list[str], type: Ids, relations: list[str], slices: Ints, sources: Ids,
        targets: Ids, weights: Singles,
    ) -> None:  # fmt: skip
        self.names, self.types, self.type, self.relations = names, types, type, relations
        self.slices, self.sources, self.targets, self.weights = slices, sources, targets, weights

    @property
    def n_nodes(self) -> int:
        return len(self.names)

    @property
    def n_edges(self) -> int:
        return len(self.sources)

    def type_of(self, node: int) -> str:
        """The type of a node, "" if it has none."""
        return self.types[self.type[node]]

    def rows(self, relation: str | None = None) -> Rows:
        """Compressed rows of one relation, or of all together, in which parallel edges are one."""
        if relation is None:
            return rows_of(self.n_nodes, self.sources, self.targets, self.weights)
        if relation not in self.relations:
            raise ConfigError(f"the graph has no relation {relation!r}; {did_you_mean(relation, self.relations, '')}")
        number = self.relations.index(relation)
        part = slice(int(self.slices[number]), int(self.slices[number + 1]))
        return rows_of(self.n_nodes, self.sources[part], self.targets[part], self.weights[part])

    def edges(self) -> Iterator[tuple[str, str, str, float]]:
        """All edges as source, relation, target and weight."""
        for number, relation in enumerate(self.relations):
            for e in range(int(self.slices[number]), int(self.slices[number + 1])):
                source, target = self.names[int(self.sources[e])], self.names[int(self.targets[e])]
                yield source, relation, target, float(self.weights[e])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph as one file."""
        header = {"kind": "graph", "types": self.types, "relations": self.relations}
        arrays: Arrays = {
            "type": self.type, "slices": self.slices, "sources": self.sources, "targets": self.targets,
            "weights": self.weights, **{f"names/{name}": part for name, part in self.names.state().items()},
        }  # fmt: skip
        storage.save(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], mapped: bool = False) -> TypedGraph:
        """Read a graph; `mapped` leaves its arrays in the file, which must then not be changed while it is in use."""
        header, arrays = storage.load_mapped(path) if mapped else storage.load(path)
        HEADER.check(header)
        stored = Stored.of(arrays)
        names = Strings.from_state(stored.under("names/"))
        sizes = {"nodes": len(names), "types": len(header["types"]), "relations": len(header["relations"])}
        taken = stored.take(*ARRAYS, **sizes)
        stored.refuse_rest()
        return cls(names, header["types"], taken["type"], header["relations"], *(
            taken[name] for name in ("slices", "sources", "targets", "weights")
        ))  # fmt: skip


class Builder:
    """Collects the nodes and edges of a graph, in one pass; edges are kept as numbers, 16 bytes each.

    >>> builder = Builder()
    >>> builder.add_all([("a", "r", "b"), ("b", "r", "a")])
    >>> builder.graph().rows("r").of(0)
    [1]
    """

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}
        self._types: dict[str, int] = {UNTYPED: 0}
        self._type: array[int] = array("i")
        self._relations: dict[str, int] = {}
        self._ends: tuple[array[int], array[int], array[int]] = (array("i"), array("i"), array("i"))
        self._weights: array[float] = array("f")

    def node(self, name: str) -> int:
        """The number of a node, which is added if it is new."""
        number = self._nodes.setdefault(name, len(self._type))
        if number == len(self._type):
            self._type.append(0)
        return number

    def type(self, name: str, type: str) -> None:
        """Give a node a type."""
        self._type[self.node(name)] = self._types.setdefault(type, len(self._types))

    def add(self, source: str, relation: str, target: str, weight: float = 1.0) -> None:
        """Add an edge; its nodes are added if they are new."""
        if not 0 < weight < float("inf"):
            raise DataError(f"the edge {source!r} {relation!r} {target!r} needs a weight above 0, got {weight}")
        number = self._relations.setdefault(relation, len(self._relations))
        for cells, value in zip(self._ends, (number, self.node(source), self.node(target)), strict=True):
            cells.append(value)
        self._weights.append(weight)

    def add_all(self, edges: Iterable[tuple[str, str, str]]) -> None:
        """Add edges given as source, relation and target."""
        for source, relation, target in edges:
            self.add(source, relation, target)

    def graph(self) -> TypedGraph:
        """The graph of what was added; relations are sorted by name."""
        names = sorted(self._relations)
        rank = np.zeros(len(names), dtype=np.int64)
        rank[[self._relations[name] for name in names]] = np.arange(len(names))
        relation, sources, targets = (np.frombuffer(cells, dtype=np.int32) for cells in self._ends)
        ranked = rank[relation]
        order = np.lexsort((targets, sources, ranked))
        slices = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum(np.bincount(ranked, minlength=len(names)), out=slices[1:])
        return TypedGraph(
            Strings.of(self._nodes), list(self._types), np.array(self._type, dtype=np.int32), names, slices,
            sources[order], targets[order], np.frombuffer(self._weights, dtype=np.float32)[order],
        )  # fmt: skip


def counted(graph: TypedGraph) -> Mapping[str, Any]:
    """How many nodes and edges of each type a graph has.

    >>> builder = Builder()
    >>> builder.add("a", "r", "b")
    >>> counted(builder.graph())
    {'nodes': 2, 'edges': 1, 'types': {'': 2}, 'relations': {'r': 1}}
    """
    sizes = np.diff(graph.slices).tolist()
    kinds = np.bincount(graph.type, minlength=len(graph.types)).tolist()
    return {
        "nodes": graph.n_nodes, "edges": graph.n_edges,
        "types": {name: count for name, count in zip(graph.types, kinds, strict=True) if count},
        "relations": dict(zip(graph.relations, sizes, strict=True)),
    }  # fmt: skip
