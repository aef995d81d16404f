"""Label propagation against the closed form, and what it must do on graphs made by hand."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import steps_of

from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph
from weft.graph.propagation.quadratic import METHODS, Propagation, propagate


def problem(seed: int, n: int = 60, labels: int = 4, mu: float = 0.5, nu: float = 0.01) -> Propagation:
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, 3 * n))
    apart = u != v
    graph = Graph.from_edges(n, u[apart], v[apart], rng.random(int(apart.sum())))
    labelled = rng.choice(n, size=rng.integers(0, n + 1), replace=False)
    return Propagation(graph, labelled, rng.dirichlet(np.ones(labels), size=len(labelled)), mu, nu)


def regular(n: int, k: int, seed: int = 0) -> Graph:
    """A random graph where every vertex names k others."""
    rng = np.random.default_rng(seed)
    u = np.repeat(np.arange(n, dtype=np.int32), k)
    v = (u + rng.integers(1, n, len(u), dtype=np.int32)) % n
    return Graph.from_edges(n, u, v, rng.random(len(u), dtype=np.float32))


@pytest.mark.must_show("graph-ssl-crf", 1)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 200), st.integers(1, 6), st.sampled_from([0.1, 0.5, 2.0]))
def test_many_sweeps_reach_the_closed_form(seed: int, n: int, labels: int, mu: float) -> None:
    own = problem(seed, n, labels, mu, nu=0.05)
    start = np.random.default_rng(seed).dirichlet(np.ones(labels), size=n)
    exact = own.solve()
    # The system as the sheet writes it, densely.
    weights = own.graph.matrix().toarray()
    inside = np.isin(np.arange(n), own.labelled).astype(float)
    system = np.diag(inside + own.nu) + mu * (np.diag(weights.sum(axis=1)) - weights)
    right = np.full((n, labels), own.nu / labels)
    right[own.labelled] += own.targets
    assert np.abs(np.linalg.solve(system, right) - exact).max() < 1e-10
    for method in METHODS:
        found = own.run(start, sweeps=10_000, method=method)
        assert np.abs(found - exact).max() < 1e-8


@pytest.mark.must_show("graph-ssl-crf", 1)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 200), st.sampled_from([0.1, 0.5, 2.0]))
def test_gauss_seidel_never_raises_the_cost_and_rows_stay_on_the_simplex(seed: int, n: int, mu: float) -> None:
    own = problem(seed, n, 5, mu)
    start = np.random.default_rng(seed).dirichlet(np.ones(5), size=n)
    for method in METHODS:
        costs = [own.cost(start)]

        def watch(sweep: int, q: np.ndarray, costs: list[float] = costs) -> None:
            costs.append(own.cost(q))
            assert (q >= 0).all()
            assert np.abs(q.sum(axis=1) - 1).max() < 1e-12

        own.run(start, sweeps=15, method=method, watch=watch)
        if method == "gauss-seidel":
            assert all(after <= before * (1 + 1e-12) + 1e-12 for before, after in pairwise(costs))


@pytest.mark.must_show("graph-ssl-crf", 2)
@pytest.mark.parametrize("method", METHODS)
def test_an_isolated_vertex_tends_to_uniform_and_one_among_equals_to_their_distribution(method: str) -> None:
    r = np.array([0.7, 0.2, 0.1])
    graph = Graph.from_edges(5, [0, 1, 2], [3, 3, 3])  # 3 between labelled 0, 1 and 2; 4 alone
    start = np.tile([0.0, 0.0, 1.0], (5, 1))
    q = propagate(graph, [0, 1, 2], [r, r, r], nu=1e-9, start=start, sweeps=200, method=method)
    assert np.abs(q[4] - 1 / 3).max() < 1e-12
    assert np.abs(q[3] - r).max() < 1e-6
    held = propagate(graph, [0, 1, 2], [r, r, r], nu=0.01, start=start, sweeps=200, method=method)
    assert np.abs(held[3] - r).max() < 0.02  # the pull to uniform, nu against mu times three edges


def test_a_vertex_without_label_neighbour_or_prior_stays_where_it_began() -> None:
    graph = Graph.from_edges(3, [0], [1])
    start = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])
    assert propagate(graph, [0], [[1.0, 0.0]], nu=0.0, start=start)[2].tolist() == [0.9, 0.1]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_threads_find_the_same_bits(method: str, kind: type) -> None:
    own = problem(5, n=500)
    one, *others = (own.run(sweeps=7, method=method, workers=workers, dtype=kind) for workers in (1, 2, 3, 7))
    assert one.dtype == kind
    assert all(np.array_equal(one, other) for other in others)


def test_a_dask_cluster_finds_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    own = problem(9, n=300)
    start = np.random.default_rng(0).dirichlet(np.ones(4), size=300)
    seen: list[float] = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = own.run(start, sweeps=6, cluster=client, watch=lambda sweep, q: seen.append(float(q[0, 0])))
        with pytest.raises(ConfigError, match="jacobi"):
            own.run(method="gauss-seidel", cluster=client)
    assert np.array_equal(found, own.run(start, sweeps=6))
    assert len(seen) == 6


def test_no_sweeps_give_back_the_start() -> None:
    own = problem(2)
    start = np.random.default_rng(0).dirichlet(np.ones(4), size=60)
    for method in METHODS:
        assert np.array_equal(own.run(start, sweeps=0, method=method), start)


def large_problem(n: int) -> tuple[Graph, np.ndarray, np.ndarray]:
    """A graph of five neighbours a vertex, a tenth of the vertices with one of twelve tags."""
    rng = np.random.default_rng(1)
    labelled = rng.choice(n, n // 10, replace=False)
    return regular(n, 5), labelled, np.eye(12, dtype=np.float32)[rng.integers(0, 12, len(labelled))]


@pytest.mark.must_show("graph-ssl-crf", 7)
def test_ten_sweeps_over_many_vertices_give_distributions() -> None:
    graph, labelled, targets = large_problem(50_000)
    q = propagate(graph, labelled, targets, sweeps=10)
    assert q.shape == (50_000, 12)
    assert np.abs(q.sum(axis=1) - 1).max() < 1e-4


@pytest.mark.must_show("graph-ssl-crf", 7)
def test_steps_grow_with_edges_tags_and_sweeps() -> None:
    def steps(n: int, sweeps: int) -> int:
        graph, labelled, targets = large_problem(n)
        return steps_of(lambda: propagate(graph, labelled, targets, sweeps=sweeps))

    base = steps(100, 10)
    assert steps(400, 10) < 4.4 * base
    assert steps(100, 40) < 4.4 * base


@pytest.mark.timing
@pytest.mark.must_show("graph-ssl-crf", 7)
def test_a_million_vertices_twelve_tags_and_ten_sweeps_take_less_than_30_seconds() -> None:
    n = 1_000_000
    graph, labelled, targets = large_problem(n)
    propagate(regular(10, 2), [0], targets[:1], sweeps=1)  # compile
    started = time.process_time()
    q = propagate(graph, labelled, targets, sweeps=10)
    assert time.process_time() - started < 30
    assert q.shape == (n, 12)
    assert np.abs(q.sum(axis=1) - 1).max() < 1e-4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labelled": [9]}, "numbers 0 to 2"),
        ({"labelled": [0, 0], "targets": [[1.0], [1.0]]}, "twice"),
        ({"targets": [[1.0], [1.0]]}, "one row of label probabilities"),
        ({"targets": [[-1.0]]}, "probabilities"),
        ({"mu": -1.0}, "mu and nu"),
        ({"sweeps": -1}, "sweeps"),
        ({"workers": 0}, "workers"),
        ({"method": "sor"}, "jacobi, gauss-seidel"),
        ({"dtype": np.int64}, "float32 or float64"),
        ({"start": [[1.0]]}, "one row a vertex"),
        ({"graph": Graph.from_edges(3, [0], [1], [-1.0])}, "negative"),
    ],
)
def test_bad_problems_are_refused_in_plain_words(change: dict, words: str) -> None:
    given_ = {"graph": Graph.from_edges(3, [0], [1]), "labelled": [0], "targets": [[1.0]]} | change
    with pytest.raises((ConfigError, DataError), match=words):
        propagate(**given_)


def test_a_direct_solution_needs_the_prior() -> None:
    with pytest.raises(ConfigError, match="nu"):
        problem(0, nu=0.0).solve()
