"""Runs of systems: blocks, the best labels, threads, clusters, sides."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from propagation_problems import problem
from steps import steps_of

from weft.errors import ConfigError
from weft.graph.csr import Graph
from weft.graph.propagation.rules import RULES, adsorption, build, mad
from weft.graph.propagation.seeds import Seeds
from weft.graph.propagation.top import TopRows

SEEDS = st.integers(0, 10**6)


def truncated(rule: str, graph: Graph, seeds: Seeds, rounds: int, k: int) -> np.ndarray:
    """Rounds with all but the k best labels of every row set to 0 after each: what `run_top` must be."""
    system = build(rule, graph, seeds)
    x = system.run(0)
    x[:, :-1] = keep(x[:, :-1], k)
    a = np.zeros((graph.n_vertices, graph.n_vertices))
    for v in range(graph.n_vertices):
        row = slice(system.offsets[v], system.offsets[v + 1])
        a[v, system.neighbours[row]] = system.coefficients[row]
    right = np.hstack([system.injected.dense(), system.rest[:, None]])
    for _ in range(rounds):
        x = a @ x + right
        x[:, :-1] = keep(x[:, :-1], k)
    return x


def keep(table: np.ndarray, k: int) -> np.ndarray:
    best = np.argsort(-table, axis=1, kind="stable")[:, :k]
    kept = np.zeros_like(table)
    np.put_along_axis(kept, best, np.take_along_axis(table, best, 1), 1)
    return kept


@pytest.mark.must_show("mad-class-instances", 4)
@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(RULES), st.integers(1, 7), st.integers(0, 8))
def test_as_many_places_as_labels_give_the_dense_run(seed: int, rule: str, labels: int, rounds: int) -> None:
    graph, seeds = problem(seed, 30, labels)
    system = build(rule, graph, seeds)
    rows = system.run_top(rounds, top=labels + 2)
    assert np.array_equal(rows.dense(), system.run(rounds))
    assert np.array_equal(system.best(rounds, keep=labels, block=2).dense(), system.run(rounds))


@pytest.mark.must_show("mad-class-instances", 4)
@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(RULES), st.integers(1, 4), st.integers(0, 8))
def test_rows_hold_the_best_labels_and_never_more(seed: int, rule: str, k: int, rounds: int) -> None:
    graph, seeds = problem(seed, 30, 6)
    rows = build(rule, graph, seeds).run_top(rounds, top=k)
    assert rows.labels.shape[1] == k
    for labels, scores in zip(rows.labels.tolist(), rows.scores.tolist(), strict=True):
        held = [label for label in labels if label >= 0]
        assert len(set(held)) == len(held)
        assert labels[len(held) :] == [-1] * (k - len(held))
        ranked = [(-score, label) for score, label in zip(scores, held, strict=False)]
        assert ranked == sorted(ranked)
    expected = truncated(rule, graph, seeds, rounds, k)
    # Sums are added in another order there, so equal scores may be told apart there.
    assert np.abs(np.sort(rows.dense(), axis=1) - np.sort(expected, axis=1)).max() < 1e-9


def test_of_equal_scores_the_lower_label_is_kept() -> None:
    star = Graph.from_edges(4, [0, 1, 2], [3, 3, 3])
    rows = build("lp", star, Seeds.of(4, [0, 1, 2], [2, 0, 1])).run_top(3, top=2)
    assert rows.labels[3].tolist() == [0, 1]


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from(RULES), st.integers(1, 4))
def test_blocks_of_labels_give_the_same_bits(seed: int, rule: str, block: int) -> None:
    graph, seeds = problem(seed, 40, 7)
    system = build(rule, graph, seeds)
    assert np.array_equal(system.run(6, block=block), system.run(6))
    whole = TopRows.of(system.run(6), 3)
    parts = system.best(6, keep=3, block=block)
    assert np.array_equal(parts.labels, whole.labels)
    assert np.array_equal(parts.scores, whole.scores)
    assert np.array_equal(parts.unknown, whole.unknown)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES)
def test_threads_find_the_same_bits(rule: str, kind: type) -> None:
    graph, seeds = problem(3, 300, 9, edges=1500)
    system = build(rule, graph, seeds)
    one = system.run(6, dtype=kind)
    top = system.run_top(6, top=3, dtype=kind)
    assert one.dtype == kind
    for workers in (2, 3, 7):
        assert np.array_equal(system.run(6, dtype=kind, workers=workers), one)
        assert np.array_equal(system.run_top(6, top=3, dtype=kind, workers=workers).dense(), top.dense())


def test_a_dask_cluster_finds_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    graph, seeds = problem(9, 200, 5, directed=True)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for rule in RULES:
            system = build(rule, graph, seeds)
            seen: list[Any] = []
            assert np.array_equal(
                system.run(5, cluster=client, watch=lambda at, x, seen=seen: seen.append(at)),
                system.run(5),
            )
            assert seen == [0, 1, 2, 3, 4]
            tops = [system.run_top(5, top=2, cluster=where) for where in (client, None)]
            assert np.array_equal(tops[0].dense(), tops[1].dense())
        stopped = [adsorption(graph, seeds).run(90, tolerance=1e-6, cluster=where) for where in (client, None)]
        assert np.array_equal(*stopped)
        with pytest.raises(ConfigError, match="together"):
            adsorption(graph, seeds).run(5, cluster=client, order="sides")


def two_sided(seed: int) -> tuple[Graph, Seeds]:
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, 30, 120), rng.integers(30, 45, 120)
    graph = Graph.from_edges(45, u, v, rng.random(120) + 0.1)
    return graph, Seeds.of(45, rng.choice(30, 6, replace=False), rng.integers(0, 3, 6), n_labels=3)


@pytest.mark.parametrize("rule", RULES)
def test_sides_in_turn_reach_the_same_fixed_point_in_fewer_rounds(rule: str) -> None:
    graph, seeds = two_sided(1)
    system = build(rule, graph, seeds)
    exact = system.solve()
    together, sides = (np.abs(system.run(9, order=order) - exact).max() for order in ("together", "sides"))
    assert sides < 0.7 * together
    assert np.abs(system.run(3000, order="sides", tolerance=1e-15) - exact).max() < 1e-8
    assert np.array_equal(system.run(4, order="sides", workers=3), system.run(4, order="sides"))
    assert np.array_equal(system.run_top(4, 9, order="sides").dense(), system.run(4, order="sides"))


def test_a_graph_without_two_sides_is_refused() -> None:
    triangle = Graph.from_edges(3, [0, 1, 2], [1, 2, 0])
    with pytest.raises(ConfigError, match="odd length"):
        mad(triangle, Seeds.of(3, [0], [0])).run(3, order="sides")


def test_a_run_stops_once_nothing_changes() -> None:
    graph, seeds = problem(5)
    system = adsorption(graph, seeds)
    for run in (system.run, lambda *args, **more: system.run_top(*args, top=3, **more)):
        seen: list[int] = []
        run(500, tolerance=1e-6, watch=lambda at, x, seen=seen: seen.append(at))
        assert 5 < len(seen) < 60
    assert np.abs(system.run(500, tolerance=1e-9) - system.solve()).max() < 1e-8


def test_memory_is_that_of_the_places() -> None:
    """A million labels in a graph of some vertices: rows of all labels would take gigabytes."""
    n, m = 2000, 1_000_000
    rng = np.random.default_rng(0)
    u = np.arange(n - 1)
    graph = Graph.from_edges(n, u, u + 1)
    seeds = Seeds.of(n, np.arange(n), rng.integers(0, m, n), n_labels=m)
    rows = mad(graph, seeds).run_top(4, top=5)
    assert rows.labels.shape == (n, 5)
    assert (rows.answers() >= 0).all()


def regular(n: int, k: int) -> tuple[Graph, Seeds]:
    rng = np.random.default_rng(0)
    u = np.repeat(np.arange(n, dtype=np.int32), k)
    v = (u + rng.integers(1, n, len(u), dtype=np.int32).astype(np.int64)) % n
    graph = Graph.from_edges(n, u, v, rng.random(len(u), dtype=np.float32) + np.float32(0.1))
    at = rng.choice(n, n // 10, replace=False)
    return graph, Seeds.of(n, at, rng.integers(0, 8, len(at)), n_labels=8)


@pytest.mark.must_show("adsorption-class-instances", 7)
@pytest.mark.must_show("mad-class-instances", 8)
@pytest.mark.parametrize("rule", RULES)
def test_steps_grow_with_edges_and_rounds(rule: str) -> None:
    def steps(n: int, k: int, rounds: int, top: int | None = None) -> int:
        graph, seeds = regular(n, k)
        system = build(rule, graph, seeds)
        if top is None:
            return steps_of(lambda: system.run(rounds))
        return steps_of(lambda: system.run_top(rounds, top=top))

    base = steps(100, 5, 4)
    assert 3.5 * base < steps(400, 5, 4) < 4.4 * base
    assert steps(100, 20, 4) < 4.4 * base
    assert steps(100, 5, 16) < 4.4 * base
    few = steps(100, 5, 4, top=2)
    assert 3.5 * few < steps(400, 5, 4, top=2) < 4.6 * few
    assert steps(100, 5, 4, top=3) < 1.6 * few


@pytest.mark.timing
@pytest.mark.must_show("adsorption-class-instances", 7)
def test_a_million_vertices_and_forty_labels_take_less_than_five_minutes() -> None:
    n = 1_000_000
    graph, _ = regular(n, 20)
    rng = np.random.default_rng(1)
    at = rng.choice(n, 1000, replace=False)
    seeds = Seeds.of(n, at, rng.integers(0, 40, 1000), n_labels=40)
    started = time.process_time()
    x = adsorption(graph, seeds).run(10)
    assert time.process_time() - started < 300
    assert x.shape == (n, 41)
    assert np.abs(x.sum(axis=1) - 1).max() < 1e-4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"iterations": -1}, "iterations"),
        ({"workers": 0}, "workers"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"dtype": np.int64}, "float32 or float64"),
        ({"order": "random"}, "together, sides"),
        ({"block": 0}, "block"),
        ({"block": 1, "watch": print}, "watched"),
    ],
)
def test_bad_runs_are_refused(options: dict, words: str) -> None:
    graph, seeds = problem(1)
    with pytest.raises(ConfigError, match=words):
        adsorption(graph, seeds).run(**options)


def test_rows_keep_at_least_one_label() -> None:
    graph, seeds = problem(1)
    with pytest.raises(ConfigError, match="top=0"):
        adsorption(graph, seeds).run_top(top=0)
    with pytest.raises(ConfigError, match="keep=0"):
        adsorption(graph, seeds).best(keep=0)
    with pytest.raises(ConfigError, match="at least one"):
        TopRows.of(np.zeros((2, 3)), 0)
