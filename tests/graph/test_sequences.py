"""Links between rows, scores of orders, insertions and joints against their definitions."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.sequences import (
    Links,
    best_order,
    best_places,
    insertion_scores,
    joint_strengths,
    link_rows,
    score_orders,
)


def grid(seed: int, n: int, columns: int, density: float = 0.3) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.integers(1, 4, (n, columns)) * (random.random((n, columns)) < density)


def links_of(table: np.ndarray) -> Links:
    offsets = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))])
    rows, columns = np.nonzero(table)
    return link_rows(offsets, columns, table[rows, columns].astype(float))


def by_edges(table: np.ndarray, order: np.ndarray, distance: bool) -> np.ndarray:
    """Average out-degrees of the permuted grid, edge by edge: every edge leads from an earlier row to a later one."""
    own = table[order]
    sums = np.zeros(3)
    for i in range(len(own)):
        for k in range(i + 1, len(own)):
            shared = [e for e in range(own.shape[1]) if own[i, e] and own[k, e]]
            if shared:
                weights = np.array([1, len(shared), sum(own[i, e] * own[k, e] for e in shared)], dtype=float)
                sums += weights / (k - i if distance else 1)
    return sums / len(own)


problems = st.tuples(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 8))


@pytest.mark.must_show("graph-coherence", 2)
@settings(max_examples=60, deadline=None)
@given(problems)
def test_links_are_the_products_of_the_grid_and_scores_those_of_edge_by_edge(problem):
    seed, n, _ = problem
    table = grid(*problem)
    links = links_of(table)
    full = {"unweighted": np.zeros((n, n)), "weighted": np.zeros((n, n)), "roles": np.zeros((n, n))}
    for k, matrix in enumerate(full.values()):
        matrix[links.first, links.second] = links.weights[:, k]
    there = (table > 0).astype(float)
    above = np.triu(np.ones((n, n)), 1)
    assert (full["roles"] == above * (table @ table.T)).all()
    assert (full["weighted"] == above * (there @ there.T)).all()
    assert (full["unweighted"] == above * (there @ there.T > 0)).all()
    order = np.random.default_rng(seed).permutation(n)
    for distance in (False, True):
        np.testing.assert_allclose(score_orders(links, order, distance)[0], by_edges(table, order, distance))


@pytest.mark.must_show("graph-coherence", 1)
@settings(max_examples=40, deadline=None)
@given(problems)
def test_without_distance_every_order_has_exactly_the_same_score(problem):
    links = links_of(grid(*problem))
    random = np.random.default_rng(problem[0])
    orders = [random.permutation(links.n) for _ in range(5)]
    scores = score_orders(links, orders, distance=False)
    assert (scores == scores[0]).all()
    np.testing.assert_array_equal(scores[0], by_edges(grid(*problem), np.arange(links.n), False))


def test_with_distance_orders_differ():
    links = links_of(grid(3, 12, 10))
    random = np.random.default_rng(0)
    scores = score_orders(links, [random.permutation(12) for _ in range(10)])
    assert (np.ptp(scores, axis=0) > 0).all()


@pytest.mark.must_show("graph-coherence", 3)
@settings(max_examples=40, deadline=None)
@given(problems)
def test_a_shared_mention_more_never_lowers_counts_and_roles(problem):
    table = grid(*problem)
    before = score_orders(links_of(table), np.arange(len(table)))[0]
    random = np.random.default_rng(problem[0])
    row, column = random.integers(len(table)), random.integers(table.shape[1])
    table[row, column] = max(table[row, column], 1)
    after = score_orders(links_of(table), np.arange(len(table)))[0]
    assert (after[1:] >= before[1:] - 1e-12).all()


@pytest.mark.must_show("graph-coherence", 3)
def test_moving_the_only_linked_pair_apart_lowers_every_score_by_distance():
    table = np.zeros((6, 6), dtype=int)
    table[0, 0] = table[1, 0] = 2
    links = links_of(table)
    scores = [
        score_orders(links, [0, *range(2, 2 + apart), 1, *range(2 + apart, 6)])[0] for apart in range(5)
    ]  # fmt: skip
    assert all((near > far).all() for near, far in pairwise(scores))


@pytest.mark.must_show("graph-coherence", 4)
@settings(max_examples=60, deadline=None)
@given(problems)
def test_insertions_at_once_equal_scores_from_scratch(problem):
    table = grid(*problem)
    links, n = links_of(table), len(table)
    random = np.random.default_rng(problem[0])
    row, order = int(random.integers(n)), random.permutation(n)
    rest = [each for each in order.tolist() if each != row]
    expected = [by_edges(table, np.array([*rest[:place], row, *rest[place:]]), True) for place in range(n)]
    np.testing.assert_allclose(insertion_scores(links, row, order), expected, atol=1e-12)


def test_joints_are_the_mean_weight_of_the_pairs_across():
    table = grid(5, 9, 8)
    links, n = links_of(table), len(table)
    weights = np.zeros((n, n, 3))
    weights[links.first, links.second] = links.weights
    for joint, found in enumerate(joint_strengths(links)):
        pairs = [(i, k) for i in range(joint + 1) for k in range(joint + 1, n)]
        possible = sum(1 / (k - i) for i, k in pairs)
        np.testing.assert_allclose(found, sum(weights[i, k] / (k - i) for i, k in pairs) / possible)
    assert joint_strengths(links_of(table[:1])).shape == (0, 3)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_order_of_few_rows_is_that_of_enumeration(seed):
    links = links_of(grid(seed, 6, 6, 0.4))
    best = score_orders(links, list(permutations(range(6))))[:, 2].max()
    assert score_orders(links, best_order(links))[0, 2] == pytest.approx(best)


def test_the_best_order_of_many_rows_is_one_that_no_move_improves_and_runs_like_the_start():
    links = links_of(grid(1, 30, 40, 0.1))
    order = best_order(links)
    reached = score_orders(links, order)[0, 2]
    assert reached > score_orders(links, np.arange(30))[0, 2]
    for row in range(30):
        assert insertion_scores(links, row, order)[:, 2].max() <= reached * (1 + 1e-6)
    rank = np.argsort(order)
    assert sum(rank[i] < rank[k] for i in range(30) for k in range(i + 1, 30)) >= 30 * 29 / 4
    assert best_order(links, seed=0).tolist() == order.tolist()


def test_places_that_only_rounding_tells_apart_tie():
    assert best_places(np.array([0.1 + 0.2, 0.3, 0.2])).tolist() == [0, 1]


def test_what_is_no_grid_or_order_is_refused():
    with pytest.raises(DataError, match="occurs twice in a row"):
        link_rows([0, 2], [3, 3], [1.0, 2.0])
    with pytest.raises(DataError, match="a weight above 0"):
        link_rows([0, 2], [3, 4], [1.0, 0.0])
    links = links_of(grid(1, 4, 4))
    with pytest.raises(DataError, match="each of the 4 rows once"):
        score_orders(links, [0, 1, 2, 2])
    with pytest.raises(ConfigError, match="no row 4"):
        insertion_scores(links, 4)
    with pytest.raises(ConfigError, match="weighted by unweighted, weighted, roles"):
        best_order(links, "heavy")
    with pytest.raises(ConfigError, match="starts must be at least 1"):
        best_order(links, starts=0)
    assert score_orders(link_rows([0], [], []), [[]]).shape[1] == 3
