"""Typed graphs: nodes with names and types, edges with relations and weights; millions of both.

    edge e:  sources[e] --relations[e], weights[e]--> targets[e]     sorted by relation, source, target
             begins[e] <= day <= ends[e]                             when it holds, if anything says so

The edges of one relation are a slice, and become compressed rows when they are asked for, in either direction; so do
all edges together, for algorithms that ignore relations. A store is built in one pass over its edges, 16 bytes each
while they are collected, saved as one file, and either loaded or mapped into memory; a hundred million edges fit
(`bench/graphs.py`). Days are counted from 1970-01-01 (`weft.graph.days`).
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft import storage
from weft.arrays import Ids, Ints, Singles
from weft.declared import ANY, Array, Arrays, Stored
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.days import ALWAYS, Window
from weft.graph.strings import Strings
from weft.headers import Many, Record, Text
from weft.kernel import kernel

#: The type of nodes that have none.
UNTYPED = ""
HEADER = Record(kind=Text(("graph",)), types=Many(Text(), distinct=True), relations=Many(Text(), distinct=True))
ARRAYS = (
    Array("type", "int32", ("nodes",), below="types"),
    Array("slices", "int64", ("relations+1",), offsets_of="edges"),
    Array("sources", "int32", ("edges",), below="nodes"),
    Array("targets", "int32", ("edges",), below="nodes"),
    Array("weights", "float32", ("edges",)),
    Array("begins", "int32", ("edges",), low=ANY, optional=True),
    Array("ends", "int32", ("edges",), low=ANY, optional=True),
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
        targets: Ids, weights: Singles, begins: Ids | None = None, ends: Ids | None = None,
    ) -> None:  # fmt: skip
        self.names, self.types, self.type, self.relations = names, types, type, relations
        self.slices, self.sources, self.targets, self.weights = slices, sources, targets, weights
        self.begins, self.ends = begins, ends

    @classmethod
    def of_arrays(
        cls, names: Strings, relations: list[str], relation: Ids, sources: Ids, targets: Ids, weights: Singles,
        types: list[str] | None = None, type: Ids | None = None, begins: Ids | None = None, ends: Ids | None = None,
    ) -> TypedGraph:  # fmt: skip
        """The graph of edges in any order, given as numbers of relations and nodes.

        >>> graph = TypedGraph.of_arrays(
        ...     Strings.of(["a", "b"]), ["s", "r"], np.array([0, 1, 1], np.int32), np.array([0, 1, 0], np.int32),
        ...     np.array([1, 0, 1], np.int32), np.ones(3, np.float32))
        >>> [edge[:3] for edge in graph.edges()]
        [('a', 'r', 'b'), ('b', 'r', 'a'), ('a', 's', 'b')]
        """
        n, order = len(names), np.argsort(np.array(relations), kind="stable") if relations else np.zeros(0, np.int64)
        rank = np.zeros(len(relations), dtype=np.int32)
        rank[order] = np.arange(len(relations), dtype=np.int32)
        for numbers, size, what in ((sources, n, "nodes"), (targets, n, "nodes"), (relation, len(rank), "relations")):
            if len(numbers) and (numbers.min() < 0 or numbers.max() >= size):
                raise DataError(f"edges name {what} 0 to {size - 1}, got {numbers.min()} to {numbers.max()}")
        ranked = rank[relation]
        slices = np.zeros(len(relations) + 1, dtype=np.int64)
        np.cumsum(np.bincount(ranked, minlength=len(relations)), out=slices[1:])
        place = np.arange(len(sources), dtype=np.int32 if len(sources) < 2**31 else np.int64)
        for keys, size in ((targets, n), (sources, n), (ranked, len(relations))):
            into = np.empty_like(place)
            _by_counting(keys, place, into, np.zeros(size + 1, dtype=np.int64))
            place = into
        del ranked
        return cls(
            names, types or [UNTYPED], np.zeros(n, np.int32) if type is None else type,
            [relations[k] for k in order.tolist()], slices, sources[place], targets[place], weights[place],
            None if begins is None else begins[place], None if ends is None else ends[place],
        )  # fmt: skip

    @property
    def n_nodes(self) -> int:
        return len(self.names)

    @property
    def n_edges(self) -> int:
        return len(self.sources)

    def type_of(self, node: int) -> str:
        """The type of a node, "" if it has none."""
        return self.types[self.type[node]]

    def rows(self, relation: str | None = None, inverse: bool = False) -> Rows:
        """Compressed rows of one relation, or of all together, in which parallel edges are one.

        With `inverse`, rows are targets, and hold the sources of their edges.
        """
        if relation is None:
            ends = (self.targets, self.sources) if inverse else (self.sources, self.targets)
            return rows_of(self.n_nodes, *ends, self.weights)
        part = self._slice(relation)
        sources, targets, weights = self.sources[part], self.targets[part], self.weights[part]
        if inverse:
            return rows_of(self.n_nodes, targets, sources, weights)
        if bool(((sources[1:] == sources[:-1]) & (targets[1:] == targets[:-1])).any()):
            return rows_of(self.n_nodes, sources, targets, weights)
        offsets = np.zeros(self.n_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=self.n_nodes), out=offsets[1:])
        return Rows(offsets, targets, weights)

    def _slice(self, relation: str) -> slice:
        if relation not in self.relations:
            known = did_you_mean(relation, self.relations, f"it has {', '.join(self.relations) or 'none'}")
            raise ConfigError(f"the graph has no relation {relation!r}; {known}")
        number = self.relations.index(relation)
        return slice(int(self.slices[number]), int(self.slices[number + 1]))

    def window(self, edge: int) -> Window:
        """The first and the last day on which an edge holds."""
        if self.begins is None or self.ends is None:
            return ALWAYS
        return Window(int(self.begins[edge]), int(self.ends[edge]))

    def during(self, first: int, last: int) -> TypedGraph:
        """The graph of the edges that hold on some day from the first to the last; all nodes stay.

        >>> from weft.graph.days import day
        >>> builder = Builder()
        >>> builder.add("Mara", "works for", "Nordvik", window=Window(day("2001"), day("2004", last=True)))
        >>> builder.add("Mara", "lives in", "Bergen")
        >>> [edge[1] for edge in builder.graph().during(day("2010"), day("2010")).edges()]
        ['lives in']
        """
        if self.begins is None or self.ends is None:
            return self
        return self.only((self.begins <= last) & (self.ends >= first))

    def only(self, kept: NDArray[np.bool_]) -> TypedGraph:
        """The graph of the edges that are marked; all nodes and relations stay."""
        counts = np.zeros(self.n_edges + 1, dtype=np.int64)
        np.cumsum(kept, out=counts[1:])
        return TypedGraph(
            self.names, self.types, self.type, self.relations, counts[self.slices], self.sources[kept],
            self.targets[kept], self.weights[kept], None if self.begins is None else self.begins[kept],
            None if self.ends is None else self.ends[kept],
        )  # fmt: skip

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
        if self.begins is not None and self.ends is not None:
            arrays |= {"begins": self.begins, "ends": self.ends}
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
        return cls(
            names, header["types"], taken["type"], header["relations"], taken["slices"], taken["sources"],
            taken["targets"], taken["weights"], taken.get("begins"), taken.get("ends"),
        )  # fmt: skip


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
        self._windows: tuple[array[int], array[int]] = (array("i"), array("i"))  # empty until an edge has a window

    def node(self, name: str) -> int:
        """The number of a node, which is added if it is new."""
        number = self._nodes.setdefault(name, len(self._type))
        if number == len(self._type):
            self._type.append(0)
        return number

    def type(self, name: str, type: str) -> None:
        """Give a node a type."""
        self._type[self.node(name)] = self._types.setdefault(type, len(self._types))

    def add(self, source: str, relation: str, target: str, weight: float = 1.0, window: Window = ALWAYS) -> None:
        """Add an edge; its nodes are added if they are new."""
        if not 0 < weight < float("inf"):
            raise DataError(f"the edge {source!r} {relation!r} {target!r} needs a weight above 0, got {weight}")
        number = self._relations.setdefault(relation, len(self._relations))
        for cells, value in zip(self._ends, (number, self.node(source), self.node(target)), strict=True):
            cells.append(value)
        self._weights.append(weight)
        if window != ALWAYS or self._windows[0]:
            for cells, value, default in zip(self._windows, window, ALWAYS, strict=True):
                missing = len(self._weights) - 1 - len(cells)
                cells.extend([default] * missing)
                cells.append(value)

    def add_all(self, edges: Iterable[tuple[str, str, str]]) -> None:
        """Add edges given as source, relation and target."""
        for source, relation, target in edges:
            self.add(source, relation, target)

    def graph(self) -> TypedGraph:
        """The graph of what was added; relations are sorted by name."""
        relation, sources, targets = (np.frombuffer(cells, dtype=np.int32) for cells in self._ends)
        begins, ends = (np.frombuffer(cells, dtype=np.int32) if cells else None for cells in self._windows)
        return TypedGraph.of_arrays(
            Strings.of(self._nodes), list(self._relations), relation, sources, targets,
            np.frombuffer(self._weights, dtype=np.float32), list(self._types), np.array(self._type, dtype=np.int32),
            begins, ends,
        )  # fmt: skip


@kernel
def _by_counting(keys: Ids, order: Any, into: Any, counts: Ints) -> None:
    """Put places into the order of their keys, equal ones as they are: one pass to count, one to move."""
    for i in range(len(keys)):
        counts[keys[i] + 1] += 1
    for k in range(1, len(counts)):
        counts[k] += counts[k - 1]
    for i in range(len(order)):
        at = order[i]
        into[counts[keys[at]]] = at
        counts[keys[at]] += 1


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
