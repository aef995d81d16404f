"""Supported graphs by brute force: every label and every evidence of every edge."""

from __future__ import annotations

from itertools import product

import numpy as np

from weft.infer.supports.problem import Demands, Scores, SupportGraph, violations


def best_by_enumeration(graph: SupportGraph, scores: Scores, demands: Demands) -> float | None:
    """The value of the best graph, None if no graph satisfies all constraints."""
    options = []
    for edge in range(graph.n_edges):
        rows = range(int(graph.first[edge]), int(graph.first[edge + 1]))
        labels = [label for label in range(graph.n_labels) if int(graph.allowed[edge]) >> label & 1]
        options.append([(-1, -1), *product(rows, labels)])
    best = None
    for choice in product(*options):
        rows, labels = [row for row, _ in choice], [label for _, label in choice]
        if violations(graph, rows, labels, demands):
            continue
        value = _worth(graph, scores, choice, demands)
        best = value if best is None else max(best, value)
    return best


def _worth(graph, scores, choice, demands):
    """The objective, term by term."""
    total = sum(float(scores.rows[row, label]) for row, label in choice if row >= 0)
    for number, (one, other) in enumerate(graph.pairs.tolist()):
        if choice[one][0] >= 0 and choice[other][0] >= 0:
            total += float(scores.pairs[number, choice[one][1], choice[other][1]])
    used = [int(graph.evidence[row]) for row, _ in choice if row >= 0]
    return total - demands.reuse * sum(used.count(c) - 1 for c in set(used))


def random_graph(draw: np.random.Generator) -> tuple[SupportGraph, Scores, Demands]:
    """A small graph as sentences have them: up to three mentions, up to three pieces of evidence, random scores."""
    n_edges, n_evidence, n_labels = int(draw.integers(1, 5)), int(draw.integers(1, 4)), int(draw.integers(2, 4))
    rows = [
        (edge, int(c))
        for edge in range(n_edges)
        for c in sorted(draw.choice(n_evidence, int(draw.integers(1, n_evidence + 1)), replace=False))
    ]
    allowed = [
        sorted(draw.choice(n_labels, int(draw.integers(1, n_labels + 1)), replace=False).tolist())
        for _ in range(n_edges)
    ]
    alternatives = []
    if n_edges > 1 and draw.random() < 0.6:
        sides = draw.integers(0, 3, n_edges)
        alternatives.append((np.flatnonzero(sides == 0).tolist(), np.flatnonzero(sides == 1).tolist()))
    pairs = [(a, b) for a in range(n_edges) for b in range(a + 1, n_edges) if draw.random() < 0.3]
    graph = SupportGraph.of(rows, allowed, n_labels, alternatives, pairs)
    scores = Scores.of(
        graph, draw.normal(size=(len(rows), n_labels)), draw.normal(size=(len(pairs), n_labels, n_labels))
    )
    demands = Demands(
        reuse=float(draw.random()), least=int(draw.integers(0, n_edges + 1)), marked=int(draw.integers(0, 4)),
        least_marked=int(draw.integers(0, 2)), once=bool(draw.random() < 0.3),
    )  # fmt: skip
    return graph, scores, demands
