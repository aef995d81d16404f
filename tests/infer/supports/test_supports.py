"""Supported graphs: the search and the integer program against enumeration, and what is attainable."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from supported_twins import best_by_enumeration, random_graph

from weft.errors import InferenceError
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


def test_a_search_that_is_too_long_is_left_to_the_integer_program():
    graph, scores, _ = random_graph(np.random.default_rng(4))
    one, other = (best_graph(graph, scores, Demands(), most) for most in (1, 200_000))
    assert one.value == pytest.approx(other.value)
    assert one.labels.tolist() == other.labels.tolist()


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
