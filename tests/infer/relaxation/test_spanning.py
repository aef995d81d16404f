"""Connected spanning subgraphs: equal to enumeration and to an integer program."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from weft.errors import InferenceError
from weft.infer.relaxation.programs import Program
from weft.infer.relaxation.spanning import SpanningGraph


def is_connected(edges, n: int) -> bool:
    reached, frontier = {0}, [0]
    while frontier:
        node = frontier.pop()
        for u, v, _ in edges:
            for one, other in ((u, v), (v, u)):
                if one == node and other not in reached:
                    reached.add(other)
                    frontier.append(other)
    return len(reached) == n


def is_deterministic(edges, labels) -> bool:
    used = [(u, label) for u, _, label in edges if label in labels]
    return len(set(used)) == len(used)


def subgraphs(scores, fixed):
    """All connected, simple subgraphs that keep the fixed edges, with their values."""
    n, _, n_labels = scores.shape
    kept = {frozenset(edge[:2]): [tuple(edge)] for edge in fixed}
    choices = [
        kept.get(frozenset((u, v)))
        or [None, *((a, b, label) for a, b in ((u, v), (v, u)) for label in range(n_labels))]
        for u, v in combinations(range(n), 2)
    ]
    for each in product(*choices):
        edges = [edge for edge in each if edge is not None]
        if is_connected(edges, n):
            yield edges, sum(scores[edge] for edge in edges)


def some_graph(seed: int, n: int, n_labels: int):
    draw = np.random.default_rng(seed)
    scores = draw.normal(size=(n, n, n_labels)) - draw.choice([0.0, 1.0])
    if draw.random() < 0.3:
        scores = np.round(scores)  # ties
    u, v = draw.choice(n, 2, replace=False)
    fixed = [(u, v, draw.integers(n_labels))] if draw.random() < 0.5 else []
    return scores, fixed


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_best_subgraph_is_that_of_enumeration(n):
    for seed in range({2: 100, 3: 60, 4: 10}[n]):
        scores, fixed = some_graph(seed, n, {2: 3, 3: 2, 4: 1}[n])
        found = SpanningGraph(scores, fixed).best()
        edges = [tuple(edge) for edge in found.edges.tolist()]
        assert is_connected(edges, n)
        assert set(map(tuple, fixed)) <= set(edges)
        assert len({frozenset(edge[:2]) for edge in edges}) == len(edges)
        assert found.value == pytest.approx(max(value for _, value in subgraphs(scores, fixed)))


def exact(graphs, labels) -> list[float]:
    """The values of the best deterministic subgraphs by one integer program: connectivity is flow from node 0.

    Graphs share no rows, so the best solution is best for each; a program of several is solved faster than several.
    """
    program = Program()
    for g, (scores, fixed) in enumerate(graphs):
        n, _, n_labels = scores.shape
        kept = set(map(tuple, fixed))
        for u, v, label in product(range(n), range(n), range(n_labels)):
            if u != v:
                program.variable((g, u, v, label), scores[u, v, label], low=float((u, v, label) in kept))
        for u, v in combinations(range(n), 2):
            between = [(g, a, b, label) for a, b in ((u, v), (v, u)) for label in range(n_labels)]
            program.row(("simple", g, u, v), between, high=1)
            for a, b in ((u, v), (v, u)):
                program.variable(("flow", g, a, b), high=n - 1, whole=False)
                program.row(("open", g, a, b), {("flow", g, a, b): 1.0} | dict.fromkeys(between, 1.0 - n), high=0)
        for v in range(1, n):
            into = {("flow", g, u, v): 1.0 for u in range(n) if u != v}
            out = {("flow", g, v, u): -1.0 for u in range(n) if u != v}
            program.row(("reached", g, v), into | out, low=1, high=1)
        for u, label in product(range(n), labels):
            program.row(("once", g, u, label), [(g, u, v, label) for v in range(n) if u != v], high=1)
    solution = program.maximize()
    assert solution.proven
    values = [0.0] * len(graphs)
    for g, *edge in (name for name in solution.chosen() if name[0] != "flow"):
        values[g] += graphs[g][0][tuple(edge)]
    return values


@pytest.mark.must_show("jamr", 2)
@pytest.mark.parametrize(("step", "seeds"), [("decaying", 1000), ("root", 40)])
def test_certified_deterministic_subgraphs_are_those_of_the_integer_program(step, seeds):
    outcomes: list[tuple[bool, bool]] = []
    for low in range(0, seeds, 20):
        graphs = [some_graph(seed, 3 + seed % 4, 3) for seed in range(low, low + 20)]
        for (scores, fixed), best in zip(graphs, exact(graphs, [0, 1]), strict=True):
            found, relaxed = SpanningGraph(scores, fixed).best_deterministic([0, 1], step=step)
            edges = [tuple(edge) for edge in found.edges.tolist()]
            assert is_connected(edges, len(scores))
            assert set(map(tuple, fixed)) <= set(edges)
            assert np.all(relaxed.bounds >= best - 1e-6)
            outcomes.append((bool(np.any(scores != np.round(scores))), relaxed.certified))
            if relaxed.certified:
                assert is_deterministic(edges, [0, 1])
                assert found.value == pytest.approx(best, abs=1e-6)
            elif is_deterministic(edges, [0, 1]):
                assert found.value <= best + 1e-6
    untied, tied = ([certified for each, certified in outcomes if each == untied] for untied in (True, False))
    assert np.mean(untied) >= 0.99
    assert np.mean(tied) >= 0.75  # where scores tie, no prices need to tell the best graph from an impossible one


def test_the_decaying_step_certifies_where_the_constant_step_does_not():
    """As measured for the sheet of jamr: dense graphs of ten nodes, eight labels, four of them deterministic."""
    shares = {
        step: np.mean(
            [
                SpanningGraph(np.random.default_rng(seed).normal(size=(10, 10, 8)))
                .best_deterministic([0, 1, 2, 3], step=step)[1]
                .certified
                for seed in range(20)
            ]
        )
        for step in ("decaying", "constant")
    }
    assert shares["decaying"] == 1.0
    assert shares["constant"] < 0.5


def test_prices_are_subtracted_before_the_best_edge_between_two_nodes_is_chosen():
    """Node 0 may have one edge of label 0; its second best label to node 2 wins only once the price is known."""
    scores = np.full((3, 3, 2), -9.0)
    scores[0, 1, 0], scores[0, 2, 0], scores[0, 2, 1] = 2.0, 1.9, 1.8
    found, relaxed = SpanningGraph(scores).best_deterministic([0])
    assert relaxed.certified
    assert found.edges.tolist() == [[0, 1, 0], [0, 2, 1]]


def test_fixed_edges_that_break_the_rule_stay_and_no_other_is_added():
    scores = np.zeros((4, 4, 2))
    scores[0, 3, 0] = 5.0
    found, relaxed = SpanningGraph(scores, [(0, 1, 0), (0, 2, 0)]).best_deterministic([0])
    edges = found.edges.tolist()
    assert relaxed.feasible
    assert [0, 1, 0] in edges
    assert [0, 2, 0] in edges
    assert [0, 3, 0] not in edges


def test_forbidden_edges_are_never_used_even_if_the_graph_stays_apart():
    scores = np.full((3, 3, 1), -np.inf)
    scores[0, 1, 0] = -5.0
    graph = SpanningGraph(scores)
    assert graph.best().edges.tolist() == [[0, 1, 0]]
    assert not graph.connected


@pytest.mark.parametrize(
    ("fixed", "message"),
    [([(0, 0, 0)], "two different nodes"), ([(0, 1, 0), (1, 0, 0)], "twice"), ([(0, 5, 0)], "within")],
)
def test_fixed_edges_are_checked(fixed, message):
    with pytest.raises(InferenceError, match=message):
        SpanningGraph(np.zeros((3, 3, 1)), fixed)
