"""Supported graphs: searches and the integer program against enumeration, and what is attainable."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from supported_twins import best_by_enumeration, random_graph

from weft.errors import InferenceError
from weft.infer.supports.flows import best_by_flows
from weft.infer.supports.problem import Demands, Scores, SupportGraph, value_of, violations
from weft.infer.supports.program import solve_program
from weft.infer.supports.search import best_graph


def agrees(solve, graph, scores, demands):
    """Whether a solver finds the value of the enumeration, or no solution where there is none."""
    best = best_by_enumeration(graph, scores, demands)
    if best is None:
        with pytest.raises(InferenceError):
            solve(graph, scores, demands)
        return
    found = solve(graph, scores, demands)
    assert violations(graph, found.rows, found.labels, demands) == []
    assert found.value == pytest.approx(best, abs=1e-6)
    assert value_of(graph, scores, found.rows, found.labels, demands) == pytest.approx(best, abs=1e-6)


@pytest.mark.must_show("senti-lssvm", 1)
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_search_equals_enumeration(seed):
    agrees(best_graph, *random_graph(np.random.default_rng(seed)))


@pytest.mark.must_show("senti-lssvm", 1)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_integer_program_equals_enumeration(seed):
    agrees(solve_program, *random_graph(np.random.default_rng(seed)))


def by_flows(graph, scores, demands):
    found = best_by_flows(graph, scores, demands)
    if found.value == -np.inf:
        raise InferenceError("none")
    return found


@pytest.mark.must_show("senti-lssvm", 1)
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_search_over_flows_equals_enumeration(seed):
    graph, scores, demands = random_graph(np.random.default_rng(seed))
    agrees(by_flows, graph, scores, replace(demands, once=False, least_marked=0))


def crowded(seed, n_edges=14, pairs=0.2):
    """Many edges that share little evidence, almost equal scores, two alternatives: what edge by edge takes long."""
    draw = np.random.default_rng(seed)
    n_evidence, n_labels = 5, 4
    rows = [(e, int(c)) for e in range(n_edges) for c in sorted(draw.choice(n_evidence, 4, replace=False))]
    allowed = [sorted(draw.choice(n_labels, 2, replace=False).tolist()) for _ in range(n_edges)]
    third = n_edges // 3
    sides = [(range(third), range(third, 2 * third)), (range(third), range(2 * third, n_edges))]
    both = [(a, b) for a in range(n_edges) for b in range(a + 1, n_edges) if draw.random() < pairs]
    graph = SupportGraph.of(rows, allowed, n_labels, sides, both)
    scores = Scores.of(
        graph, draw.integers(0, 3, (len(rows), n_labels)) * 0.2, draw.normal(0, 0.1, (len(both), n_labels, n_labels))
    )
    return graph, scores, Demands(reuse=0.1, least=4)


@pytest.mark.must_show("senti-lssvm", 1)
@pytest.mark.parametrize("seed", range(6))
def test_crowded_graphs_are_solved_by_flows_as_by_the_integer_program(seed):
    graph, scores, demands = crowded(seed)
    found, best = best_by_flows(graph, scores, demands), solve_program(graph, scores, demands)
    assert found.value == pytest.approx(best.value, abs=1e-6)
    assert violations(graph, found.rows, found.labels, demands) == []
    assert value_of(graph, scores, found.rows, found.labels, demands) == pytest.approx(best.value, abs=1e-6)
    # A known solution to begin with changes nothing, and the search that begins edge by edge ends with the same value.
    assert best_by_flows(graph, scores, demands, found).value == pytest.approx(best.value, abs=1e-6)
    assert best_graph(graph, scores, demands, 50).value == pytest.approx(best.value, abs=1e-6)


def test_flows_leave_to_others_what_is_not_theirs():
    graph, scores, demands = crowded(1)
    assert best_by_flows(graph, scores, replace(demands, once=True)) is None
    assert best_by_flows(graph, scores, replace(demands, marked=1, least_marked=1)) is None
    assert best_by_flows(graph, scores, demands, most_branches=1) is None
    for other in (replace(demands, once=True), replace(demands, marked=1, least_marked=2)):
        best = solve_program(graph, scores, other)
        assert best_graph(graph, scores, other, 50).value == pytest.approx(best.value, abs=1e-6)


def test_many_edges_on_little_evidence_take_few_branches():
    # Edge by edge each of these takes more than a million steps.
    for seed in range(3):
        graph, scores, demands = crowded(seed, n_edges=30, pairs=0.0)
        assert best_by_flows(graph, scores, demands, most_branches=400) is not None


def test_reusing_evidence_is_discouraged_and_not_forbidden():
    graph = SupportGraph.of([(0, 0), (1, 0), (1, 1)], [[0], [0]], 1)
    scores = Scores.of(graph, [[1.0], [1.0], [0.6]])
    assert best_graph(graph, scores, Demands(reuse=0.3)).rows.tolist() == [0, 1]
    assert best_graph(graph, scores, Demands(reuse=0.5)).rows.tolist() == [0, 2]
    assert best_graph(graph, scores, Demands(once=True)).rows.tolist() == [0, 2]


def test_evidence_tells_of_one_label():
    graph = SupportGraph.of([(0, 0), (1, 0)], [[0, 1], [0, 1]], 2)
    found = best_graph(graph, Scores.of(graph, [[3.0, 0.0], [0.0, 2.0]]), Demands())
    assert found.labels.tolist() == [0, 0]


def test_exactly_one_side_of_an_alternative_is_labelled():
    graph = SupportGraph.of([(0, 0), (1, 1), (2, 2)], [[0]] * 3, 1, alternatives=[([0, 1], [2])])
    assert best_graph(graph, Scores.of(graph, [[1.0], [1.0], [3.0]]), Demands()).labels.tolist() == [-1, -1, 0]
    assert best_graph(graph, Scores.of(graph, [[2.0], [2.0], [3.0]]), Demands()).labels.tolist() == [0, 0, -1]
    # Where everything costs, one side is labelled all the same.
    assert best_graph(graph, Scores.of(graph, [[-2.0], [-2.0], [-3.0]]), Demands()).labels.tolist().count(0) == 1


@pytest.mark.must_show("senti-lssvm", 2)
@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_is_attainable_can_be_labelled_on_every_side(seed):
    graph, scores, _ = random_graph(np.random.default_rng(seed))
    for sides in product((0, 1), repeat=len(graph.alternatives)):
        inside = [int(own[side]) for own, side in zip(graph.alternatives, sides, strict=True)]
        closed = [int(own[1 - side]) for own, side in zip(graph.alternatives, sides, strict=True)]
        every = (1 << graph.n_edges) - 1
        for mask in closed:
            every &= ~mask
        if not all(graph.matching(every & mask) for mask in inside):
            continue
        least = graph.attainable()
        found = solve_on(graph, scores, every, least)
        assert found is not None


def solve_on(graph, scores, edges, least):
    """The best graph with labels on some edges only; None if there is none.

    Edges with labels of their own may have to share one: what a matching counts is possible because evidence is not
    shared.
    """
    allowed = np.where((edges >> np.arange(graph.n_edges)) & 1 > 0, graph.allowed, 0)
    part = SupportGraph(
        graph.evidence, graph.first, allowed, graph.alternatives, graph.pairs, graph.n_labels, graph.n_evidence
    )
    try:
        return best_graph(part, scores, Demands(least=least, once=True))
    except InferenceError:
        return None
