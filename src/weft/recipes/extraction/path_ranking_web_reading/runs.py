"""One run: a relation is split by its sources, learned on one part and ranked on the other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats
from weft.graph.paths.steps import StepGraph
from weft.graph.store import Builder, TypedGraph
from weft.tasks.knowledge.ranker import PathRanker, RankerSettings, targets_of
from weft.tasks.knowledge.table import reciprocal_ranks
from weft.tasks.knowledge.text_graph import FREE

Known = dict[str, list[str]]


@dataclass(frozen=True)
class Split:
    """Known facts of a relation by source, for training and for testing."""

    relation: str
    train: Known
    test: Known
    rest: Known = field(default_factory=dict)  #: sources that are not used, whose facts are not in the graph either

    @classmethod
    def of(cls, graph: TypedGraph, relation: str, seed: int, share: float = 0.6, most: int = 0) -> Split:
        """Sources drawn by seed: 60 % for training; `most` test sources at most, 0 for all."""
        known = known_facts(graph, relation)
        sources = sorted(known)
        order = np.random.default_rng(seed).permutation(len(sources))
        cut = int(share * len(sources))
        end = min(cut + most, len(sources)) if most else len(sources)
        parts = (order[:cut], order[cut:end], order[end:])
        return cls(relation, *({sources[k]: known[sources[k]] for k in part} for part in parts))

    def only_known(self) -> TypedGraph:
        """The training facts alone, as a graph: what text is combined with if there is no knowledge base."""
        builder = Builder()
        for source, targets in self.train.items():
            builder.add_all((source, self.relation, target) for target in targets)
        return builder.graph()


@dataclass(frozen=True)
class Run:
    """Reciprocal ranks of all test sources, in the order of the split, and how they came about."""

    ranks: Floats
    ranker: PathRanker
    graph: StepGraph
    seconds: float
    edges: int

    @property
    def mrr(self) -> float:
        return float(self.ranks.mean())


def known_facts(graph: TypedGraph, relation: str) -> Known:
    """The targets of a relation by source."""
    found: dict[str, dict[str, None]] = {}
    rows = graph.rows(relation)
    for node in np.flatnonzero(np.diff(rows.offsets)).tolist():
        found[graph.names[node]] = dict.fromkeys(graph.names[target] for target in rows.of(node))
    return {source: list(targets) for source, targets in found.items()}


def learn(graphs: Sequence[TypedGraph], split: Split, settings: RankerSettings, only_seen: bool = False) -> Run:
    """Learn from the training sources and rank for the test sources, whose facts are not in the graph.

    Candidates are the targets that the relation has in the data; with `only_seen`, in the training data.
    """
    start = time.process_time()
    graph = _without(graphs, split, set(split.test) | set(split.rest))
    numbers = {name: graph.names.find(name) for name in (*split.train, *split.test)}
    targets = {name: graph.names.find(name) for own in (*split.train.values(), *split.test.values()) for name in own}
    train = {numbers[s]: [targets[t] for t in own] for s, own in split.train.items() if numbers[s] >= 0}
    test = {
        numbers[s]: [targets[t] for t in own if targets[t] >= 0] for s, own in split.test.items() if numbers[s] >= 0
    }
    every = [*split.test.values(), *split.rest.values()]
    known = {-1: [n for own in every for t in own if (n := graph.names.find(t)) >= 0]}
    candidates = targets_of(graph, train if only_seen else {**train, **known})
    ranker = PathRanker.fit(graph, split.relation, train, settings, candidates)
    table = ranker.table(graph, sorted(test), candidates)
    ranks = reciprocal_ranks(table, ranker.scores(table), table.right(test))
    by_source = dict(zip(sorted(test), ranks.tolist(), strict=True))
    found = np.array([by_source.get(numbers[source], 0.0) for source in split.test])
    return Run(found, ranker, graph, time.process_time() - start, table.edges)


def _without(graphs: Sequence[TypedGraph], split: Split, sources: set[str]) -> StepGraph:
    """The steps of graphs without the facts of some sources."""
    bare = []
    for graph in graphs:
        if split.relation in graph.relations:
            numbers = {number for name in sources if (number := graph.names.find(name)) >= 0}
            relation = graph.relations.index(split.relation)
            low, high = int(graph.slices[relation]), int(graph.slices[relation + 1])
            kept = np.ones(graph.n_edges, dtype=np.bool_)
            kept[low:high] = ~np.isin(graph.sources[low:high], np.fromiter(numbers, np.int64))
            slices = graph.slices.copy()
            slices[relation + 1 :] -= int((~kept).sum())
            graph = TypedGraph(
                graph.names, graph.types, graph.type, graph.relations, slices, graph.sources[kept],
                graph.targets[kept], graph.weights[kept],
            )  # fmt: skip
        bare.append(graph)
    return StepGraph.of(bare, free=FREE)


def most_frequent(split: Split) -> Floats:
    """Reciprocal ranks if targets are ranked by how often they occur in training."""
    counts = Counter(target for own in split.train.values() for target in own)
    order = {target: 1.0 / rank for rank, (target, _) in enumerate(sorted(counts.items(), key=_by_count), 1)}
    return np.array([max((order.get(target, 0.0) for target in own), default=0.0) for own in split.test.values()])


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def rules(run: Run, most: int = 8) -> list[tuple[str, float]]:
    """The paths with the largest weights."""
    paths = run.ranker.paths[:most]
    return [(run.graph.told(path), float(run.ranker.theta[k])) for k, path in enumerate(paths)]
