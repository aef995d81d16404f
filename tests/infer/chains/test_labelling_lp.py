"""Metric labelling against enumeration and against minimum cuts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling_lp import Bound, Labelling
from min_cuts import min_cut

from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph


def random_edges(random, n, share=0.5):
    u, v = np.nonzero(np.triu(random.random((n, n)) < share, 1))
    return u, v, random.random(len(u))


def sequences(random, n_states, lengths):
    """Parts of sequences of so many parts, labelled by pairs of states and bound where they overlap."""
    first, second, at = [], [], 0
    for length in lengths:
        first += range(at, at + length - 1)
        second += range(at + 1, at + length)
        at += length
    label = np.arange(n_states**2)
    bound = Bound(np.array(first, dtype=int), np.array(second, dtype=int), label % n_states, label // n_states)
    u, v, weights = random_edges(random, at, 0.3)
    return Labelling(random.random((at, n_states**2)), u, v, weights, bound=bound)


def enumerated(problem):
    n, labels = problem.costs.shape
    return min(problem.value(each) for each in product(range(labels), repeat=n))


@pytest.mark.must_show("constrained-min-cuts", 1)
def test_two_labels_without_structure_are_the_minimum_cut_of_100_random_graphs():
    random = np.random.default_rng(0)
    for _ in range(100):
        n = int(random.integers(4, 13))
        u, v, weights = random_edges(random, n)
        costs = np.zeros((n, 2))
        costs[0, 1] = costs[n - 1, 0] = np.inf
        found = Labelling(costs, u, v, weights).relax()
        assert found.whole
        assert found.value == pytest.approx(min_cut(Graph.from_edges(n, u, v, weights), [0], [n - 1]).value, abs=1e-6)


@pytest.mark.must_show("constrained-min-cuts", 2)
@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_both_programmes_have_one_optimum_and_branch_and_bound_that_of_enumeration(seed):
    random = np.random.default_rng(seed)
    problem = sequences(random, 2, (3, 2))
    compact, full = problem.relax(), problem.relax("full")
    assert compact.value == pytest.approx(full.value, abs=1e-7)
    best = problem.solve()
    assert problem.agrees(best)
    assert problem.value(best) == pytest.approx(enumerated(problem), abs=1e-7)
    assert compact.value <= problem.value(best) + 1e-7
    if compact.whole:
        assert problem.value(compact.x.argmax(axis=1)) == pytest.approx(problem.value(best), abs=1e-6)


@pytest.mark.must_show("constrained-min-cuts", 2)
@pytest.mark.parametrize("seed", range(6))
def test_programmes_of_three_states_and_nine_parts_agree(seed):
    problem = sequences(np.random.default_rng(seed), 3, (3, 4, 2))
    compact, full, best = problem.relax(), problem.relax("full"), problem.value(problem.solve())
    assert compact.value == pytest.approx(full.value, abs=1e-7)
    assert compact.value <= best + 1e-7
    if compact.whole:
        assert compact.value == pytest.approx(best, abs=1e-6)


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_other_distances_are_solved_in_the_full_form(seed):
    random = np.random.default_rng(seed)
    u, v, weights = random_edges(random, 5)
    line = np.sort(random.random(3))
    problem = Labelling(random.random((5, 3)), u, v, weights, np.abs(line[:, None] - line[None, :]))
    best = problem.value(problem.solve())
    assert best == pytest.approx(enumerated(problem), abs=1e-7)
    assert problem.relax("full").value <= best + 1e-7


@pytest.mark.must_show("constrained-min-cuts", 3)
@pytest.mark.parametrize("seed", range(10))
def test_relaxed_exact_and_rounded_values_rise_and_rounding_at_most_doubles_the_cost(seed):
    random = np.random.default_rng(seed)
    u, v, _ = random_edges(random, 9, 0.7)
    problem = Labelling(0.3 * random.random((9, 4)), u, v, np.ones(len(u)) * 0.15)
    relaxed = problem.relax()
    exact = problem.value(problem.solve())
    drawn = [problem.value(problem.round(relaxed.x, each)) for each in range(300)]
    assert relaxed.value <= exact + 1e-7
    assert exact <= min(drawn) + 1e-7
    assert np.mean(drawn) <= 2 * relaxed.value + 1e-7


def test_a_vertex_never_gets_a_label_that_it_cannot_have():
    costs = [[0, np.inf, 1], [np.inf, 0, 1], [0.5, 0.5, 0]]
    problem = Labelling(costs, [0, 1, 2], [1, 2, 0], [5.0, 5.0, 5.0])
    relaxed = problem.relax()
    for seed in range(50):
        assert np.isfinite(problem.value(problem.round(relaxed.x, seed)))
    assert problem.solve().tolist() == [2, 2, 2]


@pytest.mark.parametrize(("arguments", "told"), [
    (([[np.inf, np.inf]], [], [], []), "no label at all"),
    (([[0, np.nan]], [], [], []), "a table"),
    (([[0, 0]] * 2, [0], [1], [-1.0]), "0 and above"),
    (([[0, 0]] * 2, [0], [1], []), "two ends and a weight"),
    (([[0, 0]] * 2, [0], [1], [1.0], [[0, 1], [2, 0]]), "same both ways"),
    (([[0, 0]] * 2, [0], [1], [1.0], [[0, 1]]), "2 x 2"),
])  # fmt: skip
def test_impossible_problems_are_refused(arguments, told):
    with pytest.raises(DataError, match=told):
        Labelling(*arguments)


def test_the_compact_form_refuses_other_distances():
    problem = Labelling(np.zeros((2, 2)), [0], [1], [1.0], [[0, 2], [2, 0]])
    with pytest.raises(ConfigError, match="form='full'"):
        problem.relax()
    with pytest.raises(ConfigError, match="compact, full"):
        problem.relax("short")
