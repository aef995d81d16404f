"""Graphs in compressed rows, against plain dictionaries of edges."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph

EDGES = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(1, 9)), max_size=25),
    )
)


def as_dict(graph: Graph) -> dict[tuple[int, int], float]:
    pairs = zip(np.repeat(np.arange(graph.n_vertices), graph.degrees).tolist(), graph.neighbours.tolist(), strict=True)
    return dict(zip(pairs, graph.weights.tolist(), strict=True))


def hops(graph: Graph, sources: list[int]) -> list[int]:
    """Path lengths, vertex by vertex."""
    length = dict.fromkeys(sources, 0)
    queue = deque(sources)
    while queue:
        u = queue.popleft()
        for v in graph.neighbours[graph.offsets[u] : graph.offsets[u + 1]].tolist():
            if v not in length:
                length[v] = length[u] + 1
                queue.append(v)
    return [length.get(u, -1) for u in range(graph.n_vertices)]


@settings(max_examples=60, deadline=None)
@given(EDGES)
def test_edges_stand_in_both_directions_and_weights_of_one_edge_add_up(given_: tuple) -> None:
    n, rows = given_
    rows = [(u, v, w) for u, v, w in rows if u != v]
    expected: dict[tuple[int, int], float] = {}
    for u, v, w in rows:
        for pair in ((u, v), (v, u)):
            expected[pair] = expected.get(pair, 0.0) + w
    graph = Graph.from_edges(n, *([row[i] for row in rows] for i in range(3)))
    assert as_dict(graph) == expected
    assert all((np.diff(graph.neighbours[a:b]) > 0).all() for a, b in pairwise(graph.offsets))
    assert graph.n_edges == len(expected) // 2
    u, v, w = graph.edges()
    assert (u < v).all()
    assert as_dict(Graph.from_edges(n, u, v, w)) == expected


@settings(max_examples=60, deadline=None)
@given(EDGES, st.sampled_from(["or", "and"]))
def test_lists_become_symmetric_by_either_end_or_both(given_: tuple, rule: str) -> None:
    n, rows = given_
    lists = {(u, v): float(w) for u, v, w in rows if u != v}
    ids, weights = np.full((n, n), -1), np.zeros((n, n))
    for (u, v), w in lists.items():
        ids[u, v], weights[u, v] = v, w
    expected = {}
    for u, v in {*lists, *((v, u) for u, v in lists)}:
        own = [lists[pair] for pair in ((u, v), (v, u)) if pair in lists]
        if rule == "or" or len(own) == 2:
            expected[u, v] = max(own) if rule == "or" else min(own)
    assert as_dict(Graph.from_lists(ids, weights).symmetric(rule)) == expected


@settings(max_examples=60, deadline=None)
@given(EDGES, st.randoms(use_true_random=False))
def test_path_lengths_and_components_agree_with_a_plain_search(given_: tuple, random: object) -> None:
    n, rows = given_
    rows = [row for row in rows if row[0] != row[1]]
    graph = Graph.from_edges(n, [row[0] for row in rows], [row[1] for row in rows])
    sources = random.sample(range(n), random.randint(0, n))  # type: ignore[attr-defined]
    assert graph.path_lengths(sources).tolist() == hops(graph, sources)
    component = graph.components()
    for u in range(n):
        assert [c == component[u] for c in component] == [length >= 0 for length in hops(graph, [u])]
    assert sorted(set(component.tolist())) == list(range(component.max() + 1))


def test_thinning_keeps_fewer_of_the_same_edges() -> None:
    graph = Graph.from_edges(50, np.arange(49), np.arange(1, 50), np.linspace(0.1, 1, 49))
    kept = [as_dict(graph.thin(share, seed=3)) for share in (0.0, 0.25, 0.5, 1.0)]
    assert kept[0] == {}
    assert kept[3] == as_dict(graph)
    assert kept[1].items() < kept[2].items() < kept[3].items()


def test_float32_weights_stay_float32() -> None:
    assert Graph.from_edges(2, [0], [1], np.ones(1, dtype=np.float32)).weights.dtype == np.float32


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: Graph.from_edges(2, [0], [2]), DataError, "vertices 0 to 1"),
        (lambda: Graph.from_edges(2, [1], [1]), DataError, "to itself"),
        (lambda: Graph.from_edges(2, [1], [0, 1]), DataError, "two ends"),
        (lambda: Graph(np.array([0, 2]), np.array([0]), np.array([1.0])), DataError, "offsets"),
        (lambda: Graph(np.array([0, 1]), np.array([3]), np.array([1.0])), DataError, "vertices 0 to 0"),
        (lambda: Graph.from_edges(2, [0], [1]).symmetric("xor"), ConfigError, "xor"),
        (lambda: Graph.from_edges(2, [0], [1]).path_lengths([5]), DataError, "sources"),
        (lambda: Graph.from_edges(2, [0], [1]).thin(2.0), ConfigError, "between 0 and 1"),
        (lambda: Graph.from_lists([0, 1], [0, 1]), DataError, "vertex, k"),
    ],
)
def test_bad_graphs_are_refused_in_plain_words(make, kind, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind, match=words):
        make()
