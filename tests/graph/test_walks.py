"""Triangle weights, transitions and signatures against enumeration and exact solutions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.store import Rows, rows_of
from weft.graph.triangles import transitions, triangle_weights
from weft.graph.walks import pagerank, signatures


def random_rows(seed: int, n: int, edges: int) -> Rows:
    random = np.random.default_rng(seed)
    u, v = random.integers(0, n, (2, edges)).astype(np.int32)
    apart = u != v
    return rows_of(n, u[apart], v[apart], np.ones(int(apart.sum()), np.float32))


def exact(rows: Rows, shares: np.ndarray, start: int, restart: float = 0.85) -> np.ndarray:
    """Personalized PageRank by solving its equations; a vertex without edges leads back to the start."""
    n = rows.n_nodes
    matrix = np.zeros((n, n))
    for u in range(n):
        for e in range(rows.offsets[u], rows.offsets[u + 1]):
            matrix[u, rows.targets[e]] = shares[e]
        if rows.offsets[u] == rows.offsets[u + 1]:
            matrix[u, start] = 1.0
    return restart * np.linalg.solve((np.eye(n) - (1 - restart) * matrix).T, np.eye(n)[start])


@pytest.mark.must_show("babelfy", 2)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 14), st.integers(0, 60), st.sampled_from([1, 2]))
def test_triangle_weights_equal_brute_force_and_transitions_sum_to_one(seed, n, count, workers):
    rows = random_rows(seed, n, count)
    edges = {(u, v) for u in range(n) for v in rows.of(u)}
    weights = triangle_weights(rows, workers)
    for u in range(n):
        for place, v in enumerate(rows.of(u)):
            triangles = sum((v, w) in edges and (w, u) in edges for w in range(n))
            assert weights[rows.offsets[u] + place] == triangles + 1
    shares = transitions(rows, weights)
    for u in range(n):
        own = shares[rows.offsets[u] : rows.offsets[u + 1]]
        assert len(own) == 0 or math.isclose(own.sum(), 1.0)


def test_triangles_are_directed():
    """0 -> 1 -> 2 -> 0 is a cycle; 0 -> 1 -> 2 with 0 -> 2 is none."""
    cycle = rows_of(3, np.array([0, 1, 2]), np.array([1, 2, 0]), np.ones(3, np.float32))
    chain = rows_of(3, np.array([0, 1, 0]), np.array([1, 2, 2]), np.ones(3, np.float32))
    assert triangle_weights(cycle).tolist() == [2, 2, 2]
    assert triangle_weights(chain).tolist() == [1, 1, 1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 40), st.floats(0.2, 0.95))
def test_push_solves_the_equations(seed, n, count, restart):
    rows = random_rows(seed, n, count)
    shares = transitions(rows, triangle_weights(rows))
    start = seed % n
    assert np.allclose(pagerank(rows, shares, start, restart), exact(rows, shares, start, restart), atol=1e-8)


@pytest.mark.must_show("babelfy", 1)
@pytest.mark.parametrize("seed", [0, 1])
def test_drawn_and_exact_signatures_differ_only_within_three_standard_deviations(seed):
    rows = random_rows(seed, 60, 400)
    shares = transitions(rows, triangle_weights(rows))
    steps, least = 200_000, 100
    pushed = signatures(rows, shares, steps=steps, least=least, tolerance=1e-9)
    drawn = signatures(rows, shares, method="walks", steps=steps, least=least, seed=seed)
    near = 0
    for v in range(rows.n_nodes):
        found = exact(rows, shares, v)
        expected = steps * found
        expected[v] -= steps * (0.85 + 0.15 * found[np.diff(rows.offsets) == 0].sum())
        assert set(pushed.of(v)) == set(np.flatnonzero(expected >= least).tolist())
        for x in set(pushed.of(v)) ^ set(drawn.of(v)):
            near += 1
            # Visits come in short runs, so their variance is a little above that of independent draws.
            assert abs(expected[x] - least) <= 3 * math.sqrt(expected[x] * 1.2)
    assert near < 0.05 * len(pushed.members)
    assert len(drawn.members) > 500


def test_the_count_of_the_start_itself_leaves_restarts_out():
    """A signature holds its own vertex only if walks come back to it."""
    away = rows_of(2, np.array([0]), np.array([1]), np.ones(1, np.float32))
    back = rows_of(2, np.array([0, 1]), np.array([1, 0]), np.ones(2, np.float32))
    assert signatures(away, transitions(away)).of(0) == [1]
    assert signatures(back, transitions(back)).of(0) == [0, 1]
    assert signatures(back, transitions(back), method="walks", steps=20_000, least=10).of(0) == [0, 1]


def test_threads_find_the_same():
    rows = random_rows(3, 200, 1500)
    shares = transitions(rows)
    for method in ("push", "walks"):
        one = signatures(rows, shares, method=method, steps=2000, least=2, seed=5)
        two = signatures(rows, shares, method=method, steps=2000, least=2, seed=5, workers=2)
        assert np.array_equal(one.offsets, two.offsets)
        assert np.array_equal(one.members, two.members)


def test_the_workers_of_a_cluster_find_the_same():
    """A client that runs what it is given at once stands for Dask."""

    class Client:
        def scheduler_info(self, n_workers):
            return {"workers": {"one": {}, "two": {}}}

        def scatter(self, value, **options):
            return value

        def submit(self, function, *given, pure):
            return function(*given)

        def gather(self, results):
            return results

    rows = random_rows(4, 50, 300)
    shares = transitions(rows)
    here, there = signatures(rows, shares), signatures(rows, shares, client=Client())
    assert np.array_equal(here.offsets, there.offsets)
    assert np.array_equal(here.members, there.members)


def test_bad_settings_are_plain_errors():
    rows = random_rows(0, 5, 10)
    with pytest.raises(ConfigError, match="push or walks"):
        signatures(rows, transitions(rows), method="guess")
    with pytest.raises(ConfigError, match="between 0 and 1"):
        signatures(rows, transitions(rows), restart=1.0)
    with pytest.raises(DataError, match="probabilities"):
        signatures(rows, np.ones(1))


def test_a_graph_without_vertices_has_no_signatures():
    empty = rows_of(0, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    assert len(signatures(empty, transitions(empty)).members) == 0
