"""The rules of propagation against dense loops, direct solutions, walks and finite differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from propagation_problems import dense_probabilities, dense_rounds, problem

from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph
from weft.graph.propagation.objective import mad_objective, roughness
from weft.graph.propagation.rules import RULES, Walk, adsorption, build, incoming, label_propagation, mad
from weft.graph.propagation.seeds import Seeds
from weft.graph.propagation.system import System
from weft.graph.propagation.walks import emitted

SEEDS = st.integers(0, 10**6)


@pytest.mark.must_show("mad-class-instances", 3)
@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(RULES), st.booleans(), st.integers(0, 6))
def test_rounds_are_those_of_the_formulas(seed: int, rule: str, directed: bool, rounds: int) -> None:
    graph, seeds = problem(seed, 25, directed=directed)
    assert np.abs(build(rule, graph, seeds).run(rounds) - dense_rounds(rule, graph, seeds, rounds)).max() < 1e-12


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans(), st.booleans())
def test_probabilities_are_those_of_the_formulas(seed: int, directed: bool, bits: bool) -> None:
    graph, seeds = problem(seed, 25, directed=directed)
    walk = Walk.of(graph, seeds, 2.0, "bits" if bits else "exp")
    expected = dense_probabilities(graph.matrix().toarray(), seeds.seeded, 2.0, bits)
    for ours, theirs in zip((walk.inject, walk.go_on, walk.abandon), expected, strict=True):
        assert np.abs(ours - theirs).max() < 1e-12
    if not bits:
        assert walk.go_on.max() <= np.log(2) / np.log(3) + 1e-12


@pytest.mark.must_show("adsorption-class-instances", 1)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(2, 120), st.booleans())
def test_the_fixed_point_of_adsorption_is_the_direct_solution(seed: int, n: int, directed: bool) -> None:
    graph, seeds = problem(seed, n, 4, directed)
    exact = adsorption(graph, seeds).solve()
    # The system as the sheet writes it, densely.
    w = graph.matrix().toarray()
    inject, go_on, abandon = dense_probabilities(w, seeds.seeded)
    total = w.sum(axis=0)
    transfer = np.divide(w.T, total[:, None], where=total[:, None] > 0, out=np.zeros_like(w))
    right = np.hstack([inject[:, None] * seeds.dense(), abandon[:, None]])
    assert np.abs(np.linalg.solve(np.eye(n) - go_on[:, None] * transfer, right) - exact).max() < 1e-10
    assert np.abs(adsorption(graph, seeds).run(200) - exact).max() < 1e-8


@pytest.mark.must_show("adsorption-class-instances", 1)
@pytest.mark.parametrize("directed", [False, True])
def test_walks_emit_the_fixed_point(directed: bool) -> None:
    graph, seeds = problem(11, 30, 3, directed)
    exact = adsorption(graph, seeds).solve()
    walk, walks = Walk.of(graph, seeds), 200_000
    for vertex in range(0, 30, 2):
        shares = emitted(graph, seeds, walk, vertex, walks, seed=vertex)
        error = np.sqrt(np.maximum(exact[vertex] * (1 - exact[vertex]), 1e-12) / walks)
        # 3 standard errors; of 60 comparisons one may be beyond them by chance, none beyond 4.
        assert (np.abs(shares - exact[vertex]) <= 4 * error + 1e-9).all()
        assert (np.abs(shares - exact[vertex]) <= 3 * error + 1e-9).mean() >= 0.75


@pytest.mark.must_show("adsorption-class-instances", 2)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(2, 80), st.booleans())
def test_rows_of_adsorption_are_distributions_and_rounds_contract(seed: int, n: int, directed: bool) -> None:
    graph, seeds = problem(seed, n, 4, directed)
    rounds: list[np.ndarray] = []
    adsorption(graph, seeds).run(12, watch=lambda _, x: rounds.append(x.copy()))
    for x in rounds:
        assert (x >= 0).all()
        assert np.abs(x.sum(axis=1) - 1).max() < 1e-12
    changes = [np.abs(after - before).max() for before, after in pairwise(rounds)]
    bound = np.log(2) / np.log(3)
    assert all(after <= bound * before + 1e-14 for before, after in pairwise(changes))


@pytest.mark.must_show("adsorption-class-instances", 2)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(RULES))
def test_the_order_of_vertices_does_not_matter(seed: int, rule: str) -> None:
    graph, seeds = problem(seed, 30)
    order = np.random.default_rng(seed).permutation(30)  # vertex v becomes order[v]
    u, v, w = graph.edges()
    moved = Graph.from_edges(30, order[u], order[v], w)
    other = Seeds.of(30, order[seeds.vertices], seeds.labels, seeds.weights, seeds.n_labels)
    assert np.abs(build(rule, moved, other).run(8)[order] - build(rule, graph, seeds).run(8)).max() < 1e-12


@pytest.mark.must_show("adsorption-class-instances", 3)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(3, 60), st.booleans())
def test_direct_and_shadow_injection_of_one_seed_differ_by_a_factor(seed: int, n: int, directed: bool) -> None:
    graph, several = problem(seed, n, 1, directed)
    at = int(several.vertices[0])
    one = Seeds.of(n, [at], [0])
    direct, shadow = (adsorption(graph, one, shadow=which).solve()[:n, 0] for which in (False, True))
    others = np.arange(n) != at
    reached = others & (direct > 1e-12)
    assert np.array_equal(reached, others & (shadow > 1e-12 * shadow.max()))
    if reached.any():
        factors = shadow[reached] / direct[reached]
        assert factors.max() <= factors.min() * (1 + 1e-8)


@pytest.mark.must_show("adsorption-class-instances", 3)
def test_direct_and_shadow_injection_of_several_seeds_may_rank_differently() -> None:
    differing = 0
    for seed in range(20):
        graph, seeds = problem(seed, 30, 2)
        direct, shadow = (adsorption(graph, seeds, shadow=which).solve()[:30] for which in (False, True))
        free = ~seeds.seeded & (direct[:, 0] > 1e-9)
        differing += not np.array_equal(np.argsort(direct[free, 0]), np.argsort(shadow[free, 0]))
        assert np.abs(shadow.sum(axis=1) - 1).max() < 1e-9
    assert differing > 10


@pytest.mark.must_show("mad-class-instances", 1)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(2, 100), st.booleans(), st.sampled_from([0.01, 1.0]), st.sampled_from([0.01, 0.3]))
def test_mad_is_the_direct_solution(seed: int, n: int, directed: bool, mu2: float, mu3: float) -> None:
    graph, seeds = problem(seed, n, 4, directed)
    system = mad(graph, seeds, 1.0, mu2, mu3)
    exact = system.solve()
    w = graph.matrix().toarray()
    np.fill_diagonal(w, 0)
    inject, go_on, abandon = dense_probabilities(graph.matrix().toarray(), seeds.seeded)
    both = go_on[:, None] * w
    both = both + both.T
    diagonal = inject + mu2 * both.sum(axis=1) + mu3
    right = np.hstack([inject[:, None] * seeds.dense(), mu3 * abandon[:, None]])
    assert np.abs(np.linalg.solve(np.diag(diagonal) - mu2 * both, right) - exact).max() < 1e-9
    assert np.abs(system.run(20_000, tolerance=1e-14) - exact).max() < 1e-8


@pytest.mark.must_show("mad-class-instances", 1)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.booleans())
def test_the_objective_of_mad_never_rises_and_is_flat_at_the_solution(seed: int, directed: bool) -> None:
    graph, seeds = problem(seed, 30, directed=directed)
    mu = {"mu1": 1.0, "mu2": 0.3, "mu3": 0.05}
    costs: list[float] = []
    system = mad(graph, seeds, **mu)
    system.run(25, watch=lambda _, x: costs.append(mad_objective(graph, seeds, x, **mu)))
    assert all(after <= before * (1 + 1e-12) + 1e-14 for before, after in pairwise(costs))
    exact = system.solve()
    rng = np.random.default_rng(seed)
    for _ in range(5):
        step = 1e-4 * rng.normal(size=exact.shape)
        up, down = (mad_objective(graph, seeds, exact + sign * step, **mu) for sign in (1, -1))
        assert abs(up - down) / 2e-4 < 1e-6
        assert min(up, down) > mad_objective(graph, seeds, exact, **mu)


@pytest.mark.must_show("mad-class-instances", 2)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(3, 80))
def test_label_propagation_is_harmonic_and_keeps_its_seeds(seed: int, n: int) -> None:
    graph, seeds = problem(seed, n)
    held = seeds.seeded
    exact = label_propagation(graph, seeds).solve()
    components = graph.components()
    lost = ~np.isin(components, components[held])
    assert (exact[lost] == [0] * seeds.n_labels + [1]).all()  # no seed within reach: unknown, and no NaN
    free = ~held & ~lost
    w = graph.matrix().toarray()
    system = np.diag(w.sum(axis=1)) - w
    if free.any():
        harmonic = np.linalg.solve(system[np.ix_(free, free)], w[np.ix_(free, held)] @ seeds.dense()[held])
        assert np.abs(harmonic - exact[free, :-1]).max() < 1e-8
    x = label_propagation(graph, seeds).run(7)
    assert np.array_equal(x[held, :-1], seeds.dense()[held])
    assert np.abs(label_propagation(graph, seeds).run(100_000, tolerance=1e-15) - exact).max() < 1e-6
    assert roughness(graph, exact) <= roughness(graph, x) + 1e-12


def test_vertices_without_edges_or_seeds_within_reach_are_unknown() -> None:
    graph = Graph.from_edges(6, [0, 2], [1, 3])  # 4 and 5 alone, 5 a seed; 2 - 3 without a seed
    seeds = Seeds.of(6, [0, 5], [0, 1])
    for rule in RULES:
        x = build(rule, graph, seeds).run(30)
        assert np.isfinite(x).all()
        assert (x[[2, 3, 4], :2] == 0).all()
        assert (x[[2, 3, 4], 2] > 0).all()
        assert x[5, 1] > 0.9
        assert x[5, 0] == 0
        assert x[1, 0] > x[1, 1]
        for entropy in ("exp", "bits"):
            if rule != "lp":
                assert np.isfinite(build(rule, graph, seeds, entropy=entropy).solve()).all()


def test_a_seed_with_one_neighbour_keeps_its_label() -> None:
    star = Graph.from_edges(4, [0, 1, 2], [3, 3, 3])
    x = adsorption(star, Seeds.of(4, [0], [0])).run(10)
    assert x[0, 0] >= 0.99
    assert x[3, 0] > 0.05


def test_without_abandonment_labels_leak_everywhere() -> None:
    graph, seeds = problem(4, 40)
    kept, leaked = (adsorption(graph, seeds, abandon=which).run(300) for which in (True, False))
    linked = ~np.isin(graph.components(), graph.components()[~seeds.seeded & (graph.degrees == 0)])
    assert (leaked[linked, -1] < kept[linked, -1]).all()
    assert np.abs(leaked.sum(axis=1) - 1).max() < 1e-9


def test_incoming_edges_of_an_undirected_graph_are_the_graph() -> None:
    graph, _ = problem(1)
    assert incoming(graph) is graph
    directed, _ = problem(1, directed=True)
    assert np.array_equal(incoming(directed).matrix().toarray(), directed.matrix().toarray().T)


@pytest.mark.parametrize(
    ("rule", "options", "words"),
    [
        ("walks", {}, "lp, adsorption, mad"),
        ("adsorption", {"beta": 1.0}, "beta"),
        ("adsorption", {"entropy": "nats"}, "exp, bits"),
        ("mad", {"mu3": -1.0}, "mu1"),
    ],
)
def test_bad_options_are_refused(rule: str, options: dict, words: str) -> None:
    graph, seeds = problem(1)
    with pytest.raises(ConfigError, match=words):
        build(rule, graph, seeds, **options)


def test_bad_graphs_and_seeds_are_refused() -> None:
    graph, seeds = problem(1)
    with pytest.raises(DataError, match="the graph has"):
        build("lp", Graph.from_edges(3, [0], [1]), seeds)
    with pytest.raises(DataError, match="at least 0"):
        build("lp", Graph.from_edges(2, [0], [1], [-1.0]), Seeds.of(2, [0], [0]))
    with pytest.raises(DataError, match="must rise"):
        build("lp", Graph([0, 2, 2], [1, 0], [1.0, 1.0]), Seeds.of(2, [0], [0]))
    bad = (([9], [0], [1.0], "vertices 0"), ([0], [5], [1.0], "labels"), ([0], [0], [-1.0], "above 0"))
    for at, of, weights, words in bad:
        with pytest.raises(DataError, match=words):
            Seeds.of(3, at, of, weights, 2)
    with pytest.raises(DataError, match="each"):
        Seeds.of(3, [0, 1], [0])
    assert isinstance(build("lp", graph, seeds), System)
