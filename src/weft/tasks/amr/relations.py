"""Relation identification: the best connected graph over the nodes of the chosen pieces, and its top.

    max over graphs G of  sum over edges (u, v, l) in G of  w . f(u, v, l)

G contains the edges of the pieces, has at most one edge between two nodes, connects all of them, and no node has two
outgoing edges with the same label of ARG0 ... ARG5. An artificial root has edges FOCUS to all concepts, of which G may
use one; its target is the top. A constant belongs to one node only: the paper does not say so, but nodes that meet
only in a constant are not connected once it is written. The search is `weft.infer.relaxation.spanning`: Kruskal's
algorithm for the first three conditions, Lagrangian relaxation for the others. Graphs without a certificate are the
best feasible ones seen, or, if none was, those of the greedy search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from weft.arrays import Floats, Ints, Keys
from weft.deadline import check
from weft.hashing import hash_strings
from weft.infer.relaxation.lagrangian import Step
from weft.infer.relaxation.spanning import SpanningGraph
from weft.learn.online.sparse_adagrad import SparseAdaGrad
from weft.tasks.amr.concepts import Choice, Sentence
from weft.tasks.amr.edge_features import Nodes, edge_features, edge_scores, focus_rows, paths_between
from weft.tasks.amr.fragments import plain_role
from weft.text.conventions.amr import Edge

#: Labels that a node has once at most.
DETERMINISTIC = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5")
FOCUS, OTHER = "(focus)", "(other)"
Search = Literal["relaxation", "greedy", "none"]


@dataclass
class RelationOptions:
    """How relations are learned and searched for."""

    rich: bool = True
    passes: int = 5
    search: Search = "relaxation"
    simple: bool = True
    step: Step = "decaying"
    steps: int = 500
    hash_bits: int = 21


class Found(NamedTuple):
    """Edges between nodes (FOCUS has no source: -1), whether the search is certified, and how many steps it took."""

    edges: list[Edge]
    certified: bool
    steps: int


class Problem:
    """A sentence with its pieces: nodes, what edges may use, and the edges that are fixed."""

    def __init__(self, sentence: Sentence, choices: Sequence[Choice]) -> None:
        self.choices = choices
        labels = [label for choice in choices for label in choice.piece.labels]
        sizes = [len(choice.piece.labels) for choice in choices]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        span = np.repeat(np.arange(len(choices)), sizes)
        constant = np.array([value for choice in choices for value in choice.piece.constants], dtype=np.bool_)
        root = np.zeros(len(labels), dtype=np.bool_)
        root[self.first[:-1]] = True
        starts, ends = (np.array([choice[side] for choice in choices], dtype=np.int64) for side in (0, 1))
        relations, tags = hash_strings(sentence.relations), hash_strings(sentence.tags)
        heads = np.maximum(np.array(sentence.heads, dtype=np.int64), 0)
        path, distance, upward = paths_between(starts, ends, heads, relations, tags)
        words = hash_strings([" ".join(sentence.words[a:b]).lower() for a, b in zip(starts, ends, strict=True)])
        self.nodes = Nodes(
            hash_strings(labels), span.astype(np.int64), root, constant, constant & ~root, words, path, distance, upward
        )
        self.fixed = [
            Edge(int(first) + source, int(first) + target, role)
            for choice, first in zip(choices, self.first, strict=False)
            for source, target, role in choice.piece.edges
        ]
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)


@dataclass
class RelationModel:
    """Labels and weights."""

    options: RelationOptions
    labels: list[str] = field(default_factory=list)
    weights: Floats = field(default_factory=lambda: np.zeros(1))

    @classmethod
    def fit(
        cls, problems: Sequence[Problem], gold: Sequence[Sequence[Edge]], options: RelationOptions
    ) -> RelationModel:
        """Learn weights from gold edges (FOCUS has the source -1), decoding with the whole constrained search."""
        roles = Counter(edge.role for edges in gold for edge in edges if edge.role != FOCUS)
        model = cls(options, sorted(roles) or ["ARG0"])
        size = 1 << options.hash_bits
        learner = SparseAdaGrad(size)
        model.weights = learner.weights
        for _ in range(options.passes):
            for problem, edges in zip(problems, gold, strict=True):
                if problem.nodes.constant.all():
                    continue
                predicted = model.decode(problem).edges
                rows: list[Ints] = []
                values: list[Floats] = []
                for edge, sign in [(e, -1.0) for e in edges if e not in predicted] + [
                    (e, 1.0) for e in predicted if e not in edges
                ]:
                    own_rows, own_values = model._features(problem, edge)
                    rows.append(own_rows)
                    values.append(sign * own_values)
                if rows:
                    learner.update(np.concatenate(rows), np.concatenate(values))
                else:
                    learner.skip()
        model.weights = learner.averaged()
        return model

    @property
    def label_keys(self) -> Keys:
        return hash_strings(self.labels)

    def scores(self, problem: Problem) -> Floats:
        """Scores of all edges, with the root as the last node and the labels FOCUS and OTHER as the last ones."""
        n, known = len(problem), len(self.labels)
        scores = np.full((n + 1, n + 1, known + 2), -np.inf)
        scores[:n, :n, :known] = edge_scores(problem.nodes, self.label_keys, self.weights, self.options.rich)
        focus = self.weights[focus_rows(problem.nodes, len(self.weights))].sum(axis=1)
        scores[n, :n, known] = np.where(problem.nodes.constant, -np.inf, focus)
        return scores

    def fixed(self, problem: Problem, scores: Floats) -> Ints:
        """The edges of pieces as rows (tail, head, label); their scores are set to 0."""
        number = {label: i for i, label in enumerate(self.labels)}
        rows, pairs = [], set()
        for source, target, role in problem.fixed:
            if (min(source, target), max(source, target)) in pairs:
                continue
            pairs.add((min(source, target), max(source, target)))
            label = number.get(plain_role(role), len(self.labels) + 1)
            scores[source, target, label] = 0.0
            rows.append((source, target, label))
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    def graph(self, problem: Problem) -> SpanningGraph:
        """The search problem of a sentence."""
        scores = self.scores(problem)
        return SpanningGraph(scores, self.fixed(problem, scores), self.options.simple)

    def deterministic(self) -> list[int]:
        """The labels that a node may have once."""
        return [i for i, label in enumerate(self.labels) if label in DETERMINISTIC] + [len(self.labels)]

    def decode(self, problem: Problem) -> Found:
        """The best graph: new edges and the FOCUS edge; edges of pieces are left out."""
        check()
        if problem.nodes.constant.all():  # there is nothing that could be the top
            return Found([], True, 0)
        graph = self.graph(problem)
        options, labels = self.options, self.deterministic()
        certified, steps = False, 1
        leaves = np.flatnonzero(problem.nodes.constant & ~problem.nodes.closed).tolist()
        if options.search == "relaxation":
            size = float(np.ptp(graph.scores[np.isfinite(graph.scores)])) / 4 if len(problem) > 1 else 1.0
            best, relaxed = graph.best_deterministic(labels, options.step, max(size, 1.0), options.steps, leaves)
            certified, steps = relaxed.certified, relaxed.steps
            if not relaxed.feasible:
                best = graph.best_greedy(labels, leaves)
        elif options.search == "greedy":
            best = graph.best_greedy(labels, leaves)
        else:
            best = graph.best_greedy(labels[-1:], leaves)
        n = len(problem)
        kept = {tuple(row) for row in graph.fixed.tolist()}
        names = [*self.labels, FOCUS, OTHER]
        edges = [
            Edge(-1 if u == n else u, v, names[label])
            for u, v, label in best.edges.tolist()
            if (u, v, label) not in kept
        ]
        return Found(edges, certified, steps)

    def _features(self, problem: Problem, edge: Edge) -> tuple[Ints, Floats]:
        if edge.role == FOCUS:
            return focus_rows(problem.nodes, len(self.weights))[edge.target], np.ones(3)
        label = hash_strings([edge.role])[0]
        return edge_features(problem.nodes, edge.source, edge.target, label, len(self.weights), self.options.rich)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header and arrays of a model file."""
        used = np.flatnonzero(self.weights)
        arrays = {"rows": used.astype(np.uint32), "weights": self.weights[used].astype(np.float32)}
        return {"labels": self.labels}, arrays
