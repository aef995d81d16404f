"""Walks along typed paths equal the enumeration of node sequences, alone, in a trie, in threads, and from samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_paths import EDGES, NODES, PATHS, enumerated, graph_of

from weft.errors import ConfigError, DataError
from weft.graph.paths.steps import StepGraph
from weft.graph.paths.trie import Trie
from weft.graph.paths.walk import Walker, Walking, probabilities, simulated, walk_all
from weft.graph.store import Builder


def named(graph, found) -> dict[str, float]:
    return {graph.names[node]: value for node, value in found.items()}


@pytest.mark.must_show("path-ranking-web-reading", 1)
@settings(max_examples=150, deadline=None)
@given(EDGES, PATHS, st.sampled_from(NODES), st.sampled_from(["", "r"]))
def test_probabilities_equal_the_enumeration_of_node_sequences(edges, paths, source, hidden):
    graph = graph_of(edges)
    for path in paths:
        found = named(graph, probabilities(graph, graph.path(path), graph.node(source), hidden))
        wanted = enumerated(edges, path, source, hidden)
        assert found.keys() == wanted.keys()
        assert all(abs(found[node] - wanted[node]) < 1e-12 for node in wanted)
        assert sum(found.values()) <= 1 + 1e-12


def drawn_graph(seed: int, n: int = 30, edges: int = 150):
    draw = np.random.default_rng(seed)
    names = [f"n{k}" for k in range(n)]
    return [(names[draw.integers(n)], "rst"[draw.integers(3)], names[draw.integers(n)]) for _ in range(edges)]


@pytest.mark.must_show("path-ranking-web-reading", 1)
def test_monte_carlo_walks_agree():
    edges = drawn_graph(1)
    graph = graph_of(edges)
    for path in (("r", "s"), ("r⁻¹", "t", "s⁻¹"), ("s", "s⁻¹", "r")):
        for hidden in ("", "s"):
            source = graph.node("n3")
            exact = probabilities(graph, graph.path(path), source, hidden)
            drawn = simulated(graph, graph.path(path), source, 40_000, hidden)
            assert drawn.keys() <= exact.keys()
            for node, p in exact.items():
                assert abs(drawn.get(node, 0.0) - p) < 5 * np.sqrt(p * (1 - p) / 40_000) + 1e-9


@pytest.mark.must_show("path-ranking-web-reading", 2)
@settings(max_examples=60, deadline=None)
@given(EDGES, PATHS, st.sampled_from([0, 1, 2]))
def test_a_trie_finds_what_its_paths_find_one_by_one_capped_or_not(edges, paths, cap):
    graph = graph_of(edges)
    listed = [graph.path(path) for path in paths]
    walking = Walking(cap=cap, seed=5)
    together = Walker(graph, Trie.of(listed), "r", walking=walking)
    for source in range(graph.n_nodes):
        found = together.reached(source)
        for number, path in enumerate(listed):
            own = found.paths == number
            alone = probabilities(graph, path, source, "r", walking)
            assert dict(zip(found.nodes[own].tolist(), found.values[own].tolist(), strict=True)) == alone
            assert bool(found.active[number]) == bool(alone)


@pytest.mark.must_show("path-ranking-web-reading", 2)
def test_threads_find_what_one_thread_finds():
    graph = graph_of(drawn_graph(2))
    paths = [graph.path(path) for path in (("r",), ("r", "s"), ("r", "s⁻¹", "t"), ("t⁻¹", "t"))]
    walker = Walker(graph, Trie.of(paths), "r", walking=Walking(cap=2))

    def kept(source, found):
        return source, found.paths.tolist(), found.nodes.tolist(), found.values.tolist()

    serial = walk_all(walker, range(graph.n_nodes), kept)
    assert walk_all(walker, range(graph.n_nodes), kept, workers=4) == serial


def test_a_fan_out_cap_leaves_the_expected_probability_as_it_is():
    builder = Builder()
    for k in range(7):
        builder.add("s", "r", f"m{k}")
        for t in range(k + 1):
            builder.add(f"m{k}", "s", f"t{t}")
    graph = StepGraph.of([builder.graph()])
    path = graph.path(["r", "s"])
    exact = probabilities(graph, path, graph.node("s"))
    sums = dict.fromkeys(exact, 0.0)
    runs = 4000
    for seed in range(runs):
        drawn = probabilities(graph, path, graph.node("s"), walking=Walking(cap=3, seed=seed))
        assert abs(sum(drawn.values()) - 1) < 1e-12
        for node, value in drawn.items():
            sums[node] += value / runs
    assert all(abs(sums[node] - exact[node]) < 0.01 for node in exact)


@pytest.mark.must_show("path-ranking-web-reading", 3)
@settings(max_examples=80, deadline=None)
@given(EDGES, PATHS, st.sampled_from(NODES))
def test_hiding_an_edge_is_as_if_it_were_not_in_the_graph(edges, paths, source):
    """The graph without the edges of the query gives the same probabilities, whatever the path."""
    graph = graph_of(edges)
    bare = graph_of([(s, r, t) for s, r, t in edges if not (s == source and r == "r")])
    left_out = graph_of(edges, without={"r": [graph.node(source)]})
    for path in paths:
        hidden = named(graph, probabilities(graph, graph.path(path), graph.node(source), "r"))
        assert hidden == named(bare, probabilities(bare, bare.path(path), bare.node(source)))
        assert hidden == named(left_out, probabilities(left_out, left_out.path(path), left_out.node(source)))


def test_the_edge_in_question_takes_no_share_of_others() -> None:
    graph = graph_of([("a", "s", "c"), ("a", "r", "c"), ("b", "r", "c"), ("d", "r", "c")])
    path, source = graph.path(["s", "r⁻¹"]), graph.node("a")
    assert named(graph, probabilities(graph, path, source)) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "d": 1 / 3})
    assert named(graph, probabilities(graph, path, source, "r")) == {"b": 0.5, "d": 0.5}


def test_less_than_the_least_probability_is_dropped_and_edges_are_counted():
    graph = graph_of([("a", "r", "b"), ("a", "r", "c"), ("b", "s", "d")])
    path = graph.path(["r", "s"])
    assert probabilities(graph, path, graph.node("a"), walking=Walking(0, least=0.6)) == {}
    found = Walker(graph, Trie.of([path])).reached(graph.node("a"))
    assert (found.edges, found.values.tolist()) == (3, [0.5])


def test_more_results_than_room_are_all_there():
    builder = Builder()
    for k in range(9000):
        builder.add("hub", "r", f"n{k}")
    graph = StepGraph.of([builder.graph()])
    assert len(probabilities(graph, (0,), graph.node("hub"))) == 9000


def test_wrong_names_and_settings_are_plain_errors():
    graph = graph_of([("a", "r", "b")])
    with pytest.raises(ConfigError, match="no relation 'q'"):
        graph.path(["q⁻¹"])
    with pytest.raises(DataError, match="no node 'nobody'"):
        graph.node("nobody")
    with pytest.raises(ConfigError, match="distinct"):
        Trie.of([(0,), (0,)])
    with pytest.raises(ConfigError, match="cap"):
        Walking(cap=-1)


def test_graphs_are_joined_by_the_names_of_their_nodes():
    one, other = Builder(), Builder()
    one.add("Ada", "born in", "Ulm")
    other.add("x1", "named", "Ada")
    other.add("Ulm", "born in", "Ada")
    graph = StepGraph.of([one.graph(), other.graph()], free=("named",))
    path = graph.path(["named", "born in"])
    assert named(graph, probabilities(graph, path, graph.node("x1"))) == {"Ulm": 1.0}
    assert (graph.length(path), graph.n_edges, graph.told(path)) == (1, 3, "⟨named, born in⟩")
    assert graph.answers("born in") == {graph.node("Ada"): [graph.node("Ulm")], graph.node("Ulm"): [graph.node("Ada")]}
