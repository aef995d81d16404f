"""A thousand random graphs: the search equals enumeration, and the relaxation is certified."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from weft.infer.relaxation.spanning import SpanningGraph


def connected(pairs, n: int) -> bool:
    parent = list(range(n))

    def root(node: int) -> int:
        return node if parent[node] == node else root(parent[node])

    for u, v in pairs:
        parent[root(u)] = root(v)
    return len({root(node) for node in range(n)}) == 1


@pytest.mark.must_show("jamr", 1)
def test_the_best_subgraph_is_that_of_enumeration_for_a_thousand_graphs():
    """Of the edges between two nodes only the best can matter, so subsets of pairs are enumerated."""
    tables = {}
    for n in (2, 3, 4, 5):
        pairs = list(combinations(range(n), 2))
        subsets = [bits for bits in product((0, 1), repeat=len(pairs)) if connected(
            [pair for pair, bit in zip(pairs, bits, strict=True) if bit], n)]  # fmt: skip
        tables[n] = pairs, np.array(subsets)
    for seed in range(1000):
        random = np.random.default_rng(seed)
        n = 2 + seed % 4
        scores = random.normal(size=(n, n, 3)) - random.choice([0.0, 1.0])
        pairs, subsets = tables[n]
        fixed = [(*pairs[random.integers(len(pairs))], random.integers(3))] if random.random() < 0.5 else []
        best = np.array([max(scores[u, v].max(), scores[v, u].max()) for u, v in pairs])
        allowed = np.ones(len(subsets), dtype=bool)
        for u, v, label in fixed:
            at = pairs.index((u, v))
            best[at] = scores[u, v, label]
            allowed &= subsets[:, at] == 1
        assert SpanningGraph(scores, fixed).best().value == pytest.approx((subsets @ best)[allowed].max())


def every_graph(n: int, n_labels: int, deterministic: int) -> np.ndarray:
    """All connected, simple, deterministic graphs as rows over the edges of a flat array of scores."""
    pairs = list(combinations(range(n), 2))
    options = [[None, *((a, b, k) for a, b in ((u, v), (v, u)) for k in range(n_labels))] for u, v in pairs]
    rows = []
    for choice in product(*options):
        edges = [edge for edge in choice if edge is not None]
        used = [(u, k) for u, _, k in edges if k < deterministic]
        if len(used) == len(set(used)) and connected([edge[:2] for edge in edges], n):
            row = np.zeros((n, n, n_labels))
            for edge in edges:
                row[edge] = 1.0
            rows.append(row.ravel())
    return np.array(rows)


@pytest.mark.must_show("jamr", 2)
@pytest.mark.parametrize(("n", "n_labels", "seeds"), [(3, 3, 600), (4, 2, 400)])
def test_certified_graphs_are_those_of_enumeration_for_a_thousand_graphs(n, n_labels, seeds):
    rows = every_graph(n, n_labels, n_labels - 1)
    certified = 0
    for seed in range(seeds):
        scores = np.random.default_rng(seed).normal(size=(n, n, n_labels))
        found, relaxed = SpanningGraph(scores).best_deterministic(range(n_labels - 1))
        best = (rows @ scores.ravel()).max()
        assert relaxed.bounds.min() >= best - 1e-9
        if relaxed.certified:
            certified += 1
            assert found.value == pytest.approx(best)
    assert certified >= 0.99 * seeds


@pytest.mark.must_show("jamr", 2)
def test_ninety_nine_percent_of_graphs_of_up_to_ten_nodes_are_certified():
    outcomes = []
    for seed in range(300):
        n = 2 + seed % 9
        scores = np.random.default_rng(seed).normal(size=(n, n, 8))
        outcomes.append(SpanningGraph(scores).best_deterministic([0, 1, 2, 3])[1].certified)
    assert np.mean(outcomes) >= 0.99


def test_the_greedy_search_obeys_the_rule_and_is_never_better():
    worse = 0
    for seed in range(100):
        n = 3 + seed % 5
        scores = np.random.default_rng(seed).normal(size=(n, n, 4))
        greedy = SpanningGraph(scores).best_greedy([0, 1])
        used = [(u, k) for u, _, k in greedy.edges.tolist() if k < 2]
        assert len(used) == len(set(used))
        assert connected([edge[:2] for edge in greedy.edges.tolist()], n)
        best, relaxed = SpanningGraph(scores).best_deterministic([0, 1])
        if relaxed.certified:
            assert greedy.value <= best.value + 1e-9
            worse += greedy.value < best.value - 1e-9
    assert worse > 5


def test_graphs_that_need_not_be_simple_take_every_positive_edge():
    scores = np.full((3, 3, 2), -1.0)
    scores[0, 1, 0], scores[1, 0, 1], scores[1, 2, 0] = 2.0, 1.0, -0.5
    assert SpanningGraph(scores).best().value == 1.5
    assert SpanningGraph(scores, simple=False).best().value == 2.5
