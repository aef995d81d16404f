"""Classes of the nodes of a typed graph, by names: seeds in, ranked labels per node and ranked nodes per label out.

Relations and directions do not matter: edges that join two nodes become one, with the sum of their weights. A node that
no seed reaches is *unknown*, which is an answer; `unknown` of every other node is the share of "unknown" in its scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats, Ids
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.csr import Graph
from weft.graph.propagation.rules import RULES, build
from weft.graph.propagation.seeds import Seeds
from weft.graph.propagation.top import TopRows
from weft.graph.store import TypedGraph

#: The answer where nothing is known.
UNKNOWN = "unknown"
#: The options of the rules.
OPTIONS = {
    "lp": (), "adsorption": ("beta", "entropy", "shadow", "abandon"),
    "mad": ("mu1", "mu2", "mu3", "beta", "entropy"),
}  # fmt: skip
#: With more labels than this, rows are truncated within the run, as the papers do.
MANY_LABELS = 200


class Scored(NamedTuple):
    """A node with a label and its score."""

    node: str
    label: str
    score: float


@dataclass(frozen=True)
class Classes:
    """The labels of all nodes of a graph."""

    graph: TypedGraph
    labels: list[str]
    rows: TopRows
    seeded: Bools

    def of(self, node: str) -> list[Scored]:
        """The labels of a node, best first; none if it is unknown."""
        number = self.graph.names.find(node)
        if number < 0:
            raise DataError(f"the graph has no node {node!r}; names are matched as they are written")
        return self.of_number(number)

    def of_number(self, number: int) -> list[Scored]:
        """The labels of a node by its number."""
        name, scores = self.graph.names[number], self.rows.scores[number].tolist()
        pairs = zip(self.rows.labels[number].tolist(), scores, strict=True)
        return [Scored(name, self.labels[label], score) for label, score in pairs if label >= 0]

    def answer(self, node: str) -> str:
        """The best label of a node, or "unknown"."""
        found = self.of(node)
        return found[0].label if found else UNKNOWN

    def unknown(self) -> Floats:
        """The share of "unknown" in the scores of every node: 1 where there is no label."""
        known = self.rows.scores.sum(axis=1, dtype=np.float64)
        total = known + self.rows.unknown
        return np.where(known > 0, np.divide(self.rows.unknown, total, where=total > 0, out=np.zeros_like(known)), 1.0)

    def instances(self, label: str, count: int = 20, types: Sequence[str] | None = None) -> list[Scored]:
        """The nodes with the highest scores of a label, seeds left out; of some types only, if they are given.

        >>> from weft.graph.store import Builder
        >>> builder = Builder()
        >>> for name, of in (("bob dylan", "musician"), ("johnny cash", "musician"), ("johnny cash", "singer")):
        ...     builder.add(name, "is a", of)
        >>> builder.type("musician", "class"), builder.type("singer", "class")
        (None, None)
        >>> found = classes(builder.graph(), [("bob dylan", "musician")])
        >>> [each.node for each in found.instances("musician", types=[""])]
        ['johnny cash']
        >>> [each.node for each in found.instances("musician", types=["class"])]  # related classes
        ['musician', 'singer']
        """
        if label not in self.labels:
            raise ConfigError(f"there is no label {label!r}; {did_you_mean(label, self.labels, '')}")
        held = self.rows.labels == self.labels.index(label)
        at, place = np.nonzero(held & ~self.seeded[:, None])
        if types is not None:
            kinds = [number for number, name in enumerate(self.graph.types) if name in types]
            kept = np.isin(self.graph.type[at], kinds)
            at, place = at[kept], place[kept]
        scores = self.rows.scores[at, place]
        best = np.lexsort((at, -scores))[:count]
        return [Scored(self.graph.names[int(at[i])], label, float(scores[i])) for i in best]

    def counts(self) -> dict[str, int]:
        """How many nodes are answered by each label, and how many are unknown."""
        answers = self.rows.answers()
        found = {name: int((answers == number).sum()) for number, name in enumerate(self.labels)}
        return {**found, UNKNOWN: int((answers < 0).sum())}

    def table(self, numbers: Iterable[int] | None = None) -> Iterator[dict[str, Any]]:
        """Rows for a file: node, type, rank, label, score, share of unknown, and whether the node is a seed."""
        share = self.unknown()
        for number in range(self.graph.n_nodes) if numbers is None else numbers:
            own = self.of_number(number) or [Scored(self.graph.names[number], UNKNOWN, 0.0)]
            for rank, (node, label, score) in enumerate(own, 1):
                yield {
                    "node": node, "type": self.graph.type_of(number), "rank": rank, "label": label, "score": score,
                    "unknown": float(share[number]), "seed": bool(self.seeded[number]),
                }  # fmt: skip


def classes(
    graph: TypedGraph, seeds: Iterable[tuple[str, str] | tuple[str, str, float]], method: str = "mad",
    iterations: int = 10, top: int = 15, relations: Sequence[str] | None = None, tolerance: float = 0.0,
    workers: int = 1, cluster: Any = None, **options: Any,
) -> Classes:  # fmt: skip
    """Spread the labels of seeds, given as node, label and perhaps a weight, over a graph.

    `top` labels are kept per node; `options` are those of the rule (see `weft.graph.propagation.rules`).

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("bob dylan", "is a", "musician"), ("johnny cash", "is a", "musician")])
    >>> _ = builder.node("isaac newton")
    >>> found = classes(builder.graph(), [("bob dylan", "musician")])
    >>> found.answer("johnny cash"), found.answer("isaac newton")
    ('musician', 'unknown')
    """
    if method not in RULES:
        raise ConfigError(f"labels are propagated by one of {', '.join(RULES)}, not by {method!r}")
    known, labels = seeds_of(graph, seeds)
    for name in options:
        if name not in OPTIONS[method]:
            has = ", ".join(OPTIONS[method]) or "none"
            raise ConfigError(f"the method {method} has no option {name!r}; its options are: {has}")
    system = build(method, undirected(graph, relations), known.normalized(), **options)
    if len(labels) > MANY_LABELS:
        rows = system.run_top(iterations, top, tolerance, workers, cluster)
    else:
        rows = system.best(iterations, top, 64, tolerance, workers, cluster)
    return Classes(graph, labels, rows, known.seeded)


def seeds_of(graph: TypedGraph, seeds: Iterable[Sequence[Any]]) -> tuple[Seeds, list[str]]:
    """Seeds by number and the names of their labels, sorted; seeds that the graph does not have are an error."""
    given = [(str(each[0]), str(each[1]), float(each[2]) if len(each) > 2 else 1.0) for each in seeds]
    if not given:
        raise DataError("there are no seeds; name some nodes and their labels")
    labels = sorted({label for _, label, _ in given})
    number = {label: at for at, label in enumerate(labels)}
    places = {name: graph.names.find(name) for name, _, _ in given}
    missing = [name for name, at in places.items() if at < 0]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(places)} seeds are no nodes of the graph, such as {missing[0]!r}; names are "
            "matched as they are written"
        )
    vertices = [places[name] for name, _, _ in given]
    of, weights = [number[label] for _, label, _ in given], [weight for _, _, weight in given]
    return Seeds.of(graph.n_nodes, vertices, of, weights, len(labels)), labels


def undirected(graph: TypedGraph, relations: Sequence[str] | None = None) -> Graph:
    """The edges of a typed graph without relations and directions, and without edges from a node to itself.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("a", "r", "b"), ("b", "s", "a"), ("a", "r", "a")])
    >>> undirected(builder.graph()).edges()[2].tolist()
    [2.0]
    """
    parts = []
    for relation in graph.relations if relations is None else dict.fromkeys(relations):
        if relation not in graph.relations:
            known = did_you_mean(relation, graph.relations, f"it has {', '.join(graph.relations) or 'none'}")
            raise ConfigError(f"the graph has no relation {relation!r}; {known}")
        at = graph.relations.index(relation)
        parts.append(np.arange(graph.slices[at], graph.slices[at + 1]))
    kept = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    kept = kept[graph.sources[kept] != graph.targets[kept]]
    return Graph.from_edges(graph.n_nodes, graph.sources[kept], graph.targets[kept], graph.weights[kept])


def reciprocal_rank(rows: TopRows, vertices: ArrayLike, labels: ArrayLike) -> Floats:
    """1 / rank of the gold label of every vertex, 0 where it is not among its labels.

    >>> reciprocal_rank(TopRows.of([[0.2, 0.5, 0.3]], 2), [0, 0], [0, 1]).tolist()
    [0.5, 1.0]
    """
    ranks: Ids = rows.ranks(vertices, labels)
    return np.divide(1.0, ranks, where=ranks > 0, out=np.zeros(len(ranks)))


def mean_by_class(values: Floats, labels: ArrayLike) -> float:
    """The mean over classes of the mean of their items, so that every class counts the same.

    >>> mean_by_class(np.array([1.0, 1.0, 1.0, 0.0]), [0, 0, 0, 1])
    0.5
    """
    of = np.asarray(labels)
    scores = np.asarray(values)
    return float(np.mean([scores[of == label].mean() for label in np.unique(of)])) if len(of) else 0.0
