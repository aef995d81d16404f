"""Cliques of typed graphs against enumeration of all sets of nodes."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import interpreted, steps_of

from weft.errors import InferenceError
from weft.infer.cliques.graphs import Clique, TypedGraphs, clique_weight, maximal_cliques, probable_cliques

PERSON, JOB, COMPANY = 0, 1, 2


def consistent_sets(kinds: list[int], limits: list[int]) -> list[Clique]:
    """All sets of two or more nodes that keep the limits; 0 is no limit."""
    n = len(kinds)
    sets = []
    for size in range(2, n + 1):
        for nodes in combinations(range(n), size):
            counts = [sum(kinds[v] == k for v in nodes) for k in range(len(limits))]
            if all(count <= limit or limit <= 0 for count, limit in zip(counts, limits, strict=True)):
                sets.append(nodes)
    return sets


def not_contained(sets: list[Clique]) -> list[Clique]:
    found = [set(nodes) for nodes in sets]
    return sorted(nodes for nodes in sets if not any(set(nodes) < other for other in found))


def brute_maximal(matrix: np.ndarray, kinds: list[int], limits: list[int], threshold: float) -> list[Clique]:
    cliques = [
        nodes for nodes in consistent_sets(kinds, limits)
        if all(matrix[u, v] >= threshold for u, v in combinations(nodes, 2))
    ]  # fmt: skip
    return not_contained(cliques)


def brute_probable(matrix: np.ndarray, kinds: list[int], limits: list[int], threshold: float) -> list[Clique]:
    valid = []
    for nodes in consistent_sets(kinds, limits):
        edges = [matrix[u, v] for u, v in combinations(nodes, 2)]
        if min(edges) > 0 and sum(map(math.log, edges)) >= len(edges) * math.log(threshold) - 1e-9:
            valid.append(nodes)
    return not_contained(valid)


def drawn(draw: np.random.Generator, most: int = 7, slots: int = 4, repeated: bool = True):
    """A random graph: few probable edges among many, and often the same kind several times."""
    n = int(draw.integers(0, most + 1))
    kinds = draw.integers(0, slots, n).tolist()
    limits = (draw.choice([1, 1, 1, 2, 0], slots) if repeated else np.ones(slots, dtype=int)).tolist()
    matrix = np.triu(draw.beta(0.6, 0.6, (n, n)), 1)
    matrix = np.where(matrix < draw.uniform(0, 0.3), 0.0, matrix)
    return matrix + matrix.T, kinds, limits


def together(cases, threshold: float, **options):
    """The batch answers of cases that have limits of their own, which a batch shares."""
    for matrix, kinds, limits in cases:
        graphs = TypedGraphs([matrix], [kinds], limits)
        yield graphs.maximal(threshold)[0], graphs.probable(threshold, **options)[0]


@pytest.mark.must_show("complex-relations", 1)
def test_cliques_equal_brute_force_on_thousands_of_graphs() -> None:
    draw = np.random.default_rng(1)
    sizes = []
    for number in range(2500):
        most = 10 if number % 10 == 0 else 7
        matrix, kinds, limits = drawn(draw, most, slots=3 + number % 3, repeated=number % 2 == 0)
        threshold = float(draw.choice([0.2, 0.4, 0.5, 0.6, 0.9]))
        graphs = TypedGraphs([matrix], [kinds], limits)
        maximal, probable = graphs.maximal(threshold)[0], graphs.probable(threshold)[0]
        assert maximal == brute_maximal(matrix, kinds, limits, threshold)
        assert probable == brute_probable(matrix, kinds, limits, threshold)
        assert graphs.probable(threshold, prune=False)[0] == probable
        sizes += [len(clique) for clique in probable]
    assert max(sizes) >= 5  # larger cliques than the pairs that a threshold on edges gives
    assert sizes.count(2) > 500


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5, 0.75]))
@settings(max_examples=60, deadline=None)
def test_cliques_of_drawn_graphs_equal_brute_force(seed: int, threshold: float) -> None:
    with interpreted():
        matrix, kinds, limits = drawn(np.random.default_rng(seed), 6)
        [(maximal, probable)] = together([(matrix, kinds, limits)], threshold)
        assert maximal == brute_maximal(matrix, kinds, limits, threshold)
        assert probable == brute_probable(matrix, kinds, limits, threshold)


@pytest.mark.must_show("complex-relations", 2)
def test_the_figure_of_the_paper() -> None:
    names = ["John", "Jane", "CEO", "Inc.", "Biz."]
    kinds = [PERSON, PERSON, JOB, COMPANY, COMPANY]
    joined = np.zeros((5, 5))
    edges = ["John CEO", "John Inc.", "John Biz.", "CEO Inc.", "CEO Biz.", "Jane CEO"]
    for one, other in (edge.split() for edge in edges):
        u, v = names.index(one), names.index(other)
        joined[u, v] = joined[v, u] = 1
    found = {tuple(names[v] for v in clique) for clique in maximal_cliques(joined, kinds, [1, 1, 1])}
    assert found == {("John", "CEO", "Inc."), ("John", "CEO", "Biz."), ("Jane", "CEO")}


def test_a_weak_edge_does_not_keep_a_strong_clique_apart() -> None:
    matrix = np.array([[0, 0.49, 0.99], [0.49, 0, 0.99], [0.99, 0.99, 0]])
    kinds = [PERSON, COMPANY, JOB]
    assert probable_cliques(matrix, kinds, [1, 1, 1]) == [(0, 1, 2)]
    assert maximal_cliques(matrix >= 0.5, kinds, [1, 1, 1]) == [(0, 2), (1, 2)]
    assert clique_weight(matrix, (0, 1, 2)) == pytest.approx(0.4802 ** (1 / 3), abs=1e-4)


def test_a_smaller_clique_is_returned_where_every_larger_one_fails() -> None:
    matrix = np.array([[0, 0.9, 0.2], [0.9, 0, 0.2], [0.2, 0.2, 0]])
    assert probable_cliques(matrix, [0, 1, 2], [1, 1, 1]) == [(0, 1)]


def test_a_valid_clique_may_contain_invalid_ones() -> None:
    """w is not monotone: of four nodes every three may fail while all of them hold, or a pair fail inside."""
    matrix = np.full((4, 4), 0.95)
    matrix[0, 1] = matrix[1, 0] = 0.1
    kinds, limits = [0, 1, 2, 3], [1, 1, 1, 1]
    assert clique_weight(matrix, (0, 1, 2)) < 0.6 < clique_weight(matrix, (0, 1, 2, 3))
    assert probable_cliques(matrix, kinds, limits, 0.6) == [(0, 1, 2, 3)]


@pytest.mark.must_show("complex-relations", 3)
@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1.0))
@settings(deadline=None)
def test_certain_edges_give_the_maximal_cliques_at_every_threshold(seed: int, threshold: float) -> None:
    matrix, kinds, limits = drawn(np.random.default_rng(seed), 8)
    certain = (matrix > 0.5).astype(float)
    graphs = TypedGraphs([certain], [kinds], limits)
    assert graphs.probable(threshold) == graphs.maximal(0.5)
    assert graphs.probable(1.0) == graphs.maximal(0.5)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 0.8]))
@settings(deadline=None)
def test_no_valid_clique_has_a_pruned_edge(seed: int, threshold: float) -> None:
    matrix, kinds, limits = drawn(np.random.default_rng(seed), 8)
    [kept] = TypedGraphs([matrix], [kinds], limits).kept_edges(threshold)
    for nodes in consistent_sets(kinds, limits):
        edges = list(combinations(nodes, 2))
        if min(matrix[edge] for edge in edges) > 0 and clique_weight(matrix, nodes) >= threshold:
            assert all(kept[edge] for edge in edges)


def test_an_edge_too_weak_for_any_clique_of_the_schema_is_pruned() -> None:
    """With all other edges certain an edge of a schema of four slots needs p >= 0.5 ** 6."""
    for p, stays in ((0.5**6 * 1.01, True), (0.5**6 * 0.99, False)):
        matrix = np.ones((4, 4))
        matrix[0, 1] = matrix[1, 0] = p
        [kept] = TypedGraphs([matrix], [[0, 1, 2, 3]], [1, 1, 1, 1]).kept_edges(0.5)
        assert kept[0, 1] == stays
        assert kept[2, 3]


def test_kinds_that_may_repeat_and_kinds_without_a_limit() -> None:
    matrix = np.full((4, 4), 0.9)
    assert probable_cliques(matrix, [0] * 4, [0]) == [(0, 1, 2, 3)]
    assert maximal_cliques(matrix > 0, [0] * 4, [0]) == [(0, 1, 2, 3)]
    assert (
        probable_cliques(matrix, [0] * 4, [2])
        == maximal_cliques(matrix > 0, [0] * 4, [2])
        == list(combinations(range(4), 2))
    )
    assert probable_cliques(matrix, [0] * 4, [1]) == maximal_cliques(matrix > 0, [0] * 4, [1]) == []


def test_a_batch_answers_as_its_graphs_do_one_by_one() -> None:
    draw = np.random.default_rng(5)
    limits = [1, 2, 0]
    cases = [drawn(draw, 9, slots=3)[:2] for _ in range(60)]
    batch = TypedGraphs([matrix for matrix, _ in cases], [kinds for _, kinds in cases], limits)
    singles = [TypedGraphs([matrix], [kinds], limits) for matrix, kinds in cases]
    assert batch.probable(0.4) == [single.probable(0.4)[0] for single in singles]
    assert batch.maximal(0.4) == [single.maximal(0.4)[0] for single in singles]
    assert len(batch) == 60
    assert not batch.simplified


def test_a_search_that_takes_too_long_drops_the_weakest_edges() -> None:
    draw = np.random.default_rng(0)
    matrix = np.triu(draw.uniform(0.2, 0.9, (40, 40)), 1)
    matrix += matrix.T
    easy = np.array([[0, 0.9], [0.9, 0]])
    graphs = TypedGraphs([easy, matrix, easy], [[0, 0], [0] * 40, [0, 0]], [0], most_steps=2000)
    for found in (graphs.probable(), graphs.maximal()):
        assert found[0] == found[2] == [(0, 1)]
        assert found[1]
        assert graphs.simplified == [1]
        for clique in found[1]:  # what is found is found in the graph as given
            assert clique_weight(matrix, clique) >= 0.5 - 1e-9


def test_bounds_keep_the_number_of_steps_small() -> None:
    """Of all sets of twelve mentions of four slots, only a few are looked at."""
    draw = np.random.default_rng(3)
    matrices = []
    for _ in range(5):
        matrix = np.triu(draw.beta(2, 6, (12, 12)), 1)
        matrices.append(matrix + matrix.T)
    kinds = [[k % 4 for k in range(12)]] * 5

    def searched(prune: bool) -> int:
        return steps_of(lambda: TypedGraphs(matrices, kinds, [1] * 4).probable(0.5, prune=prune))

    assert searched(True) < 400_000


@pytest.mark.parametrize(
    ("matrix", "kinds", "limits", "message"),
    [
        ([[0, 0.5], [0.4, 0]], [0, 1], [1, 1], "symmetric"),
        ([[0, 1.5], [1.5, 0]], [0, 1], [1, 1], "from 0 to 1"),
        ([[0, float("nan")], [float("nan"), 0]], [0, 1], [1, 1], "from 0 to 1"),
        ([[0, 0.5], [0.5, 0]], [0, 2], [1, 1], "numbers from 0 to 1"),
        ([[0, 0.5], [0.5, 0]], [0, 1, 1], [1, 1], "3 nodes"),
    ],
)
def test_bad_graphs_are_refused(matrix, kinds, limits, message: str) -> None:
    with pytest.raises(InferenceError, match=message):
        TypedGraphs([matrix], [kinds], limits)


def test_bad_thresholds_and_cliques_are_refused() -> None:
    with pytest.raises(InferenceError, match="threshold"):
        probable_cliques([[0.0]], [0], [1], 0.0)
    with pytest.raises(InferenceError, match="two nodes"):
        clique_weight([[0.0]], (0,))
