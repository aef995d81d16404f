"""Path ranking: a relation as a weighted sum of typed paths (Lao and Cohen 2010; Lao, Subramanya et al. 2012).

    score(s, t) = sum over paths of  theta_path P(s -> t; path)

Training: sample known facts, find paths, walk them with the fact in question hidden, take biased negatives, fit a
logistic regression under L1 and L2 on columns scaled to a maximum of 1. K, alpha and both penalties are chosen by the
mean reciprocal rank of queries left out; the model is the mean of the models of all folds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.graph.paths.discover import Search, discover
from weft.graph.paths.sampling import at_random, stratified
from weft.graph.paths.steps import Path, StepGraph
from weft.graph.paths.walk import Flags, Walking
from weft.learn.linear.elastic_net import elastic_net
from weft.tasks.knowledge.table import Bools, PathTable, reciprocal_ranks

SAMPLINGS = ("stratified", "random", "all")


@dataclass(frozen=True)
class RankerSettings:
    """How a relation is learned; tuples of values are searched by cross-validation."""

    length: int = 3
    cap: int = 100
    binary: bool = False
    sampling: str = "stratified"
    offset: float = 100.0
    active: tuple[int, ...] = (2, 5)
    hits: tuple[float, ...] = (1e-4, 1e-3)
    l1: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    l2: tuple[float, ...] = (1e-5, 1e-3)
    folds: int = 3
    width: int = 2000
    most: int = 1000
    finding: int = 1000
    seed: int = 0

    def check(self) -> None:
        """Raise an error that says which setting is wrong."""
        if self.sampling not in SAMPLINGS:
            raise ConfigError(f"facts are sampled {', '.join(SAMPLINGS)}, not {self.sampling!r}")
        if self.folds < 2 or not (self.active and self.hits and self.l1 and self.l2):
            raise ConfigError("cross-validation needs at least 2 folds and one value of each setting")


@dataclass
class PathRanker:
    """Paths with weights for one relation; `theta` holds a weight per path and, after them, the bias.

    Paths are in the order of what each can add to a score: the weight times the largest probability in training.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> for number in range(40):
    ...     town, country = f"town {number % 8}", f"land {number % 4}"
    ...     builder.add_all([(f"p{number}", "born in", town), (town, "in", country), (f"p{number}", "likes", "tea")])
    ...     if number < 30:
    ...         builder.add(f"p{number}", "citizen of", country)
    >>> graph = StepGraph.of([builder.graph()])
    >>> ranker = PathRanker.fit(graph, "citizen of", graph.answers("citizen of"), RankerSettings(length=2))
    >>> graph.names[ranker.ranked(graph, graph.node("p35"))[0][0]]
    'land 3'
    """

    relation: str
    paths: list[Path]
    theta: Floats
    settings: RankerSettings = field(default_factory=RankerSettings)
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, graph: StepGraph, relation: str, known: Mapping[int, Sequence[int]],
        settings: RankerSettings = RankerSettings(), candidates: Flags | None = None, workers: int = 1,
    ) -> PathRanker:  # fmt: skip
        """Learn from known facts of a relation, by source; candidates are all its known targets if none are given."""
        settings.check()
        if candidates is None:
            candidates = targets_of(graph, known)
        sampled = _sampled(known, settings)
        if len(sampled) < settings.folds:
            raise DataError(
                f"the relation {relation!r} has {len(sampled)} sources with known facts; "
                f"at least {settings.folds} are needed to learn from"
            )
        sources = sorted(sampled)
        draw = np.random.default_rng(settings.seed)
        walking = Walking(settings.cap, seed=settings.seed)
        search = Search(settings.length, min(settings.active), min(settings.hits), settings.width, settings.most)
        asked = draw.permutation(len(sources))[: settings.finding]
        found = discover(graph, relation, {sources[k]: known[sources[k]] for k in asked}, search, walking)
        if not found:
            raise DataError(
                f"no path of up to {settings.length} steps leads from sources of {relation!r} to its targets; "
                "allow longer paths, or add relations to the graph"
            )
        paths = [each.path for each in found]
        table = PathTable.of(
            graph, paths, sources, relation=relation, candidates=candidates, walking=walking, workers=workers
        )
        table = table.binary() if settings.binary else table
        theta, report = _fitted(table, sampled, known, settings)
        kept = np.flatnonzero(theta[:-1])
        largest = np.asarray(abs(table.values).max(axis=0).todense()).ravel()
        order = kept[np.lexsort((kept, -np.abs(theta[kept]) * largest[kept]))]
        report |= {"queries": len(sources), "paths found": len(paths), "paths kept": len(kept), "edges": table.edges}
        return cls(relation, [paths[k] for k in order], np.append(theta[order], theta[-1]), settings, report)

    def table(
        self, graph: StepGraph, sources: Sequence[int], candidates: Flags | None = None, workers: int = 1
    ) -> PathTable:
        """The features of queries."""
        found = PathTable.of(
            graph, self.paths, sources, relation=self.relation, candidates=candidates,
            walking=Walking(self.settings.cap, seed=self.settings.seed), workers=workers,
        )  # fmt: skip
        return found.binary() if self.settings.binary else found

    def scores(self, table: PathTable) -> Floats:
        """The score of every row of a table: the log odds of a fact."""
        return np.asarray(table.values @ self.theta[:-1]) + self.theta[-1]

    def ranked(self, graph: StepGraph, source: int, candidates: Flags | None = None) -> list[tuple[int, float]]:
        """Candidates for a source with their scores, the best first."""
        table = self.table(graph, [source], candidates)
        scores = self.scores(table)
        order = np.lexsort((table.nodes, -scores))
        return [(int(table.nodes[k]), float(scores[k])) for k in order]


def targets_of(graph: StepGraph, known: Mapping[int, Collection[int]]) -> Flags:
    """The known targets of a relation: the usual candidates."""
    flags = np.zeros(graph.n_nodes, dtype=np.bool_)
    flags[sorted({target for own in known.values() for target in own})] = True
    return flags


def _sampled(known: Mapping[int, Sequence[int]], settings: RankerSettings) -> dict[int, list[int]]:
    if settings.sampling == "all":
        return {source: list(own) for source, own in known.items() if own}
    kept = stratified(known, settings.offset, settings.seed)
    if settings.sampling == "stratified":
        return kept
    return at_random(known, sum(map(len, kept.values())), settings.seed)


def _fitted(
    table: PathTable, positive: Mapping[int, Collection[int]], known: Mapping[int, Collection[int]],
    settings: RankerSettings,
) -> tuple[Floats, dict[str, Any]]:  # fmt: skip
    """Weights of all paths and the bias: the best setting, and the mean of the models of its folds."""
    rows, labels = table.examples(positive, known)
    right = table.right(known)
    queries = table.queries
    folds = np.random.default_rng(settings.seed + 1).permutation(len(table.sources)) % settings.folds
    hits = _hits(table, right)
    best: tuple[float, Floats, dict[str, Any]] | None = None
    for k, alpha in product(settings.active, settings.hits):
        for l2 in settings.l2:
            models: dict[float, list[Floats]] = {l1: [] for l1 in settings.l1}
            ranks: dict[float, list[Floats]] = {l1: [] for l1 in settings.l1}
            for fold in range(settings.folds):
                inside = folds != fold
                used = inside[queries[rows]]
                columns = np.flatnonzero((table.active[inside].sum(axis=0) > k) & (hits[inside].mean(axis=0) > alpha))
                start = None
                for l1 in sorted(settings.l1, reverse=True):
                    theta, start = _one(table, rows[used], labels[used], columns, l1, l2, start)
                    models[l1].append(theta)
                    scores = np.asarray(table.values @ theta[:-1]) + theta[-1]
                    ranks[l1].append(reciprocal_ranks(table, scores, right)[~inside])
            for l1 in settings.l1:
                reached = float(np.concatenate(ranks[l1]).mean())
                if best is None or reached > best[0] + 1e-12:
                    chosen = {"active": k, "hits": alpha, "l1": l1, "l2": l2, "cross-validated MRR": reached}
                    best = reached, np.mean(models[l1], axis=0), chosen
    assert best is not None
    return best[1], {**best[2], "positive": int(labels.sum()), "negative": int((~labels).sum())}


def _one(
    table: PathTable, rows: Any, labels: Bools, columns: Any, l1: float, l2: float, start: Floats | None
) -> tuple[Floats, Floats]:
    """Weights of all paths from some rows and columns; and the same as the learner sees them, to start from."""
    chosen = csc_array(table.values[rows][:, columns])
    if labels.all():  # paths reach nothing wrong: learn from candidates that no path reaches
        labels = np.append(labels, np.zeros(len(rows), np.bool_))
        chosen.resize(len(labels), len(columns))
    largest = np.asarray(abs(chosen).max(axis=0).todense()).ravel() if chosen.shape[1] else np.zeros(0)
    scale = np.where(largest > 0, largest, 1.0)
    chosen.data = chosen.data / np.repeat(scale, np.diff(chosen.indptr))
    inner = elastic_net(chosen, labels, l1, l2, start)
    theta = np.zeros(table.values.shape[1] + 1)
    theta[columns] = inner[:-1] / scale
    theta[-1] = inner[-1]
    return theta, inner


def _hits(table: PathTable, right: Bools) -> Floats:
    """P(s -> answers of s; path) for every query and path."""
    answers = table.values[np.flatnonzero(right)]
    queries = np.repeat(table.queries[right], np.diff(answers.indptr))
    found = np.zeros(table.active.shape)
    np.add.at(found, (queries, answers.indices), answers.data)
    return found
