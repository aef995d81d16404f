"""Peeling graphs of candidates: incremental counts against recomputation, and the worked example of the paper."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.graph.dense import PartGraph


@st.composite
def part_graphs(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))
    part = np.repeat(np.arange(len(sizes)), sizes)
    ends = st.tuples(st.integers(0, len(part) - 1), st.integers(0, len(part) - 1))
    edges = {(u, v) for u, v in draw(st.lists(ends, max_size=40)) if part[u] != part[v]}
    return PartGraph(part, [u for u, _ in edges], [v for _, v in edges]), edges


def naive_products(part, edges, alive) -> dict[int, int]:
    left = [(u, v) for u, v in edges if u in alive and v in alive]
    products = {}
    for x in alive:
        touching = [v if u == x else u for u, v in left if x in (u, v)]
        products[x] = len({part[y] for y in touching}) * len(touching)
    return products


def naive_peel(part, edges, limit):
    """Everything anew after each removal: the order of removals, and the densities on the way."""
    alive, removed, densities = set(range(len(part))), [], []
    while True:
        left = sum(u in alive and v in alive for u, v in edges)
        densities.append(Fraction(2 * left, len(alive)))
        sizes = [sum(part[x] == f for x in alive) for f in range(max(part) + 1)]
        largest = sizes.index(max(sizes))
        if sizes[largest] <= limit:
            return removed, densities
        products = naive_products(part, edges, alive)
        own = [x for x in sorted(alive) if part[x] == largest]
        worst = min(own, key=lambda x: (products[x], -x))
        alive.remove(worst)
        removed.append(worst)


@pytest.mark.must_show("babelfy", 3)
@settings(max_examples=150, deadline=None)
@given(part_graphs(), st.integers(1, 3))
def test_peeling_equals_recomputation_and_returns_the_densest_graph(given_graph, limit):
    graph, edges = given_graph
    peeled = graph.peel(limit)
    removed, densities = naive_peel(graph.part.tolist(), edges, limit)
    assert peeled.removed.tolist() == removed
    assert np.allclose(peeled.densities, [float(each) for each in densities])
    assert densities[peeled.best] == max(densities)
    assert densities.index(max(densities)) == peeled.best
    assert peeled.kept.tolist() == [x not in removed[: peeled.best] for x in range(len(graph.part))]
    assert graph.density(peeled.kept) == pytest.approx(float(max(densities)))
    last = [x for x in range(len(graph.part)) if x not in removed]
    assert max(np.bincount(graph.part[last])) <= limit


@settings(max_examples=150, deadline=None)
@given(part_graphs())
def test_scores_follow_from_degrees_and_joined_parts(given_graph):
    graph, edges = given_graph
    part = graph.part.tolist()
    products = naive_products(part, edges, set(range(len(part))))
    assert graph.products().tolist() == [products[x] for x in range(len(part))]
    scores = graph.scores()
    for f in range(graph.n_parts):
        own = [x for x in range(len(part)) if part[x] == f]
        total = sum(products[x] for x in own)
        assert np.allclose(scores[own], [products[x] / total if total else 0.0 for x in own])


#: The paper's figure 1: candidates by fragment.
FIGURE = {
    "Thomas": ["Tomás Milián", "Thomas Müller"],
    "Mario": ["Mario Adorf", "Mario Basler", "Mario Gomez"],
    "striker": ["forward", "striker"],
    "Munich": ["Munich", "FC Bayern Munich"],
}


def figure() -> tuple[PartGraph, list[str]]:
    """Edges as the text says: Gomez has five to all three other fragments, Adorf two to two, Basler one to one."""
    names = [name for own in FIGURE.values() for name in own]
    part = [number for number, own in enumerate(FIGURE.values()) for _ in own]
    at = {name: number for number, name in enumerate(names)}
    edges = [
        ("Mario Gomez", "Thomas Müller"), ("Thomas Müller", "Mario Gomez"), ("Mario Gomez", "striker"),
        ("Mario Gomez", "FC Bayern Munich"), ("FC Bayern Munich", "Mario Gomez"),
        ("Mario Adorf", "Tomás Milián"), ("Mario Adorf", "Munich"), ("Mario Basler", "FC Bayern Munich"),
        ("Thomas Müller", "FC Bayern Munich"), ("Thomas Müller", "striker"),
    ]  # fmt: skip
    return PartGraph(part, [at[u] for u, _ in edges], [at[v] for _, v in edges]), names


@pytest.mark.must_show("babelfy", 4)
def test_the_example_of_the_paper_removes_mario_basler_first():
    graph, names = figure()
    products = dict(zip(names, graph.products().tolist(), strict=True))
    fragments = len(FIGURE) - 1
    assert products["Mario Gomez"] / fragments == pytest.approx(3 / 3 * 5)
    assert products["Mario Adorf"] / fragments == pytest.approx(2 / 3 * 2)
    assert products["Mario Basler"] / fragments == pytest.approx(1 / 3 * 1)
    peeled = graph.peel(2)
    assert [names[x] for x in peeled.removed] == ["Mario Basler"]
    assert "Mario Gomez" in [names[x] for x in np.flatnonzero(graph.peel(1).kept)]


def test_the_densest_graph_is_not_the_last_one():
    """Two candidates of two parts, all joined both ways: every removal costs more edges than it is worth."""
    graph = PartGraph([0, 0, 0, 1, 1], [0, 0, 1, 1, 3, 4, 3, 4], [3, 4, 3, 4, 0, 0, 1, 1])
    peeled = graph.peel(1)
    assert (peeled.best, peeled.removed.tolist()[0]) == (1, 2)
    assert peeled.kept.tolist() == [True, True, False, True, True]
    assert peeled.densities[peeled.best] > peeled.densities[-1]


def test_scores_are_recomputed_after_each_removal():
    """Candidate 4 leans on candidate 2 alone, which goes first; after that 4 is the weaker one of its part."""
    graph = PartGraph([0, 0, 0, 1, 1, 2], [2, 4, 0, 5, 1, 5, 3], [4, 2, 5, 0, 5, 1, 5])
    assert graph.products().tolist() == [2, 2, 2, 1, 2, 10]
    assert graph.peel(1).removed.tolist() == [2, 1, 4]


def test_bad_graphs_are_plain_errors():
    with pytest.raises(DataError, match="sorted by their parts"):
        PartGraph([1, 0], [], [])
    with pytest.raises(DataError, match="different parts"):
        PartGraph([0, 0], [0], [1])
    with pytest.raises(DataError, match="at least one"):
        PartGraph([0, 1], [0], [1]).peel(0)
    assert PartGraph([], [], []).peel(1).kept.tolist() == []
