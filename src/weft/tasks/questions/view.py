"""What one user sees of a graph: public edges, and of the hidden ones those that begin or end at the user.

Nothing else looks at edges: answers, closeness, numbers of edges and what is suggested all come from a view, so a
hidden edge cannot change what others see. Public edges are kept once, in compressed rows, for all users.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import DataError
from weft.graph.attributes import Column
from weft.graph.store import Rows, TypedGraph, rows_of
from weft.graph.triples import read_edges
from weft.tasks.questions.schema import Schema

#: The file of a graph's folder that lists hidden edges.
HIDDEN = "hidden.tsv"
_NONE = np.zeros(0, dtype=np.int32)
#: Where sources are cut, their targets are this many times more.
_CUT = 20
Edge = tuple[str, int, int]


class Store:
    """The public edges of a graph by relation and direction, and the hidden ones by the nodes they join.

    >>> from weft.graph.store import Builder
    >>> from weft.tasks.questions.schema import inferred
    >>> builder = Builder()
    >>> builder.add_all([("Ada", "likes", "Bo"), ("Bo", "likes", "Cy")])
    >>> graph = builder.graph()
    >>> store = Store(graph, inferred(graph), hidden=[("likes", 1, 2)])
    >>> View(store, None).neighbours("likes", "out", 1).tolist(), View(store, 2).neighbours("likes", "in", 2).tolist()
    ([], [1])
    """

    def __init__(
        self, graph: TypedGraph, schema: Schema, hidden: Iterable[Edge] = (),
        columns: dict[str, Column] | None = None,
    ) -> None:  # fmt: skip
        self.graph, self.columns = graph, columns or {}
        secret = set(hidden)
        if secret:
            graph = _without(graph, secret)
        self.schema = schema.bound(graph)
        self.public = graph
        self.private: dict[int, dict[tuple[str, str, int], list[int]]] = {}
        for relation, source, target in secret:
            for owner in (source, target):
                mine = self.private.setdefault(owner, {})
                mine.setdefault((relation, "out", source), []).append(target)
                mine.setdefault((relation, "in", target), []).append(source)
        self._rows: dict[tuple[str, str], Rows] = {}

    def rows(self, relation: str, side: str) -> Rows | None:
        """The public edges of a relation, from sources ("out") or from targets ("in")."""
        key = (relation, side)
        if key not in self._rows:
            if relation not in self.public.relations:
                return None
            forward = self.public.rows(relation)
            self._rows[relation, "out"], self._rows[relation, "in"] = forward, forward.reversed()
        return self._rows[key]

    @cached_property
    def links(self) -> Rows:
        """All public edges in both directions."""
        sources, targets = self.public.sources, self.public.targets
        both = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        return rows_of(self.public.n_nodes, *both, np.ones(2 * len(sources), dtype=np.float32))

    @cached_property
    def degrees(self) -> Ints:
        """How many public edges every node has."""
        return np.diff(self.links.offsets)

    @cached_property
    def members(self) -> dict[str, Ids]:
        """The nodes of every type."""
        types = self.schema.node_types
        return {name: np.flatnonzero(types == number).astype(np.int32) for number, name in enumerate(self.schema.types)}


class View:
    """A store as one user sees it; without a user, what everybody sees."""

    def __init__(self, store: Store, user: int | None = None) -> None:
        if user is not None and not 0 <= user < store.graph.n_nodes:
            raise DataError(f"the graph has no node {user}")
        self.store, self.user = store, user
        self.schema = store.schema
        self._mine = store.private.get(user, {}) if user is not None else {}

    def neighbours(self, relation: str, side: str, node: int) -> Ids:
        """The nodes that one edge of a relation leads to, sorted."""
        rows = self.store.rows(relation, side)
        found = _NONE if rows is None else rows.targets[rows.offsets[node] : rows.offsets[node + 1]]
        extra = self._mine.get((relation, side, node))
        return np.union1d(found, np.array(extra, dtype=np.int32)) if extra else found

    def links(self, node: int) -> Ids:
        """The nodes joined to a node by any edge."""
        rows = self.store.links
        found = rows.targets[rows.offsets[node] : rows.offsets[node + 1]]
        extra = [each for (_, _, own), targets in self._mine.items() if own == node for each in targets]
        return np.union1d(found, np.array(extra, dtype=np.int32)) if extra else found

    def image(self, relation: str, side: str, nodes: Ids, most: int | None = None) -> Ids:
        """The nodes that edges of a relation lead to from any of some nodes; from the first `most` of them only."""
        nodes = nodes if most is None else nodes[:most]
        rows = self.store.rows(relation, side)
        found = _NONE
        if rows is not None and len(nodes):
            starts, sizes = rows.offsets[nodes], rows.offsets[nodes.astype(np.int64) + 1] - rows.offsets[nodes]
            total = int(sizes.sum())
            if len(nodes) == 1:
                found = rows.targets[int(starts[0]) : int(starts[0] + sizes[0])]
            elif total:
                shift = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
                found = rows.targets[(np.arange(total) + shift)[: None if most is None else _CUT * most]]
        extra = [
            each for (name, way, own), targets in self._mine.items()
            if name == relation and way == side and own in nodes for each in targets
        ]  # fmt: skip
        if extra:
            found = np.concatenate([found, np.array(extra, dtype=np.int32)])
        if len(nodes) == 1 and not extra:
            return found  # a row is sorted, and has every target once
        found = np.sort(found)
        return found[np.diff(found, prepend=-1) > 0] if len(found) else found

    def counts(self, relation: str, side: str) -> Ints:
        """How many edges of a relation every node has."""
        rows = self.store.rows(relation, side)
        found = np.diff(rows.offsets) if rows is not None else np.zeros(self.store.graph.n_nodes, dtype=np.int64)
        if self._mine:
            found = found.copy()
            for (name, way, own), targets in self._mine.items():
                if name == relation and way == side:
                    found[own] += len(set(targets) - set(self._public(relation, side, own)))
        return found

    def _public(self, relation: str, side: str, node: int) -> list[int]:
        rows = self.store.rows(relation, side)
        return [] if rows is None else rows.of(node)


def _without(graph: TypedGraph, secret: set[Edge]) -> TypedGraph:
    """The graph without some edges."""
    relation = np.repeat(np.arange(len(graph.relations)), np.diff(graph.slices))
    numbers = {name: number for number, name in enumerate(graph.relations)}
    n = graph.n_nodes
    keys = (relation.astype(np.int64) * n + graph.sources) * n + graph.targets
    wanted = np.array([(numbers[r] * n + s) * n + t for r, s, t in secret if r in numbers], dtype=np.int64)
    kept = ~np.isin(keys, wanted)
    slices = np.zeros(len(graph.relations) + 1, dtype=np.int64)
    np.cumsum(np.bincount(relation[kept], minlength=len(graph.relations)), out=slices[1:])
    return TypedGraph(
        graph.names, graph.types, graph.type, graph.relations, slices, graph.sources[kept], graph.targets[kept],
        graph.weights[kept],
    )  # fmt: skip


def read_hidden(graph: TypedGraph, path: str) -> list[Edge]:
    """The hidden edges of a file of edges; one that the graph does not have is an error."""
    found = []
    for edge in read_edges(path):
        ends = graph.names.find(edge.source), graph.names.find(edge.target)
        if min(ends) < 0 or edge.relation not in graph.relations:
            raise DataError(f"{path}: the graph has no edge {edge.source!r} {edge.relation!r} {edge.target!r}")
        found.append((edge.relation, *ends))
    return found
