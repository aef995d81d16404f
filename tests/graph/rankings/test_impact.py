"""Measures of citations and rankings of years against their definitions, one group at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.graph.rankings.impact import group_citations, h_indexes, i10_indexes, impact_factors, sums_by_group
from weft.graph.rankings.years import best_of_type, edge_years, network_of_year, yearly_ranks
from weft.graph.store import Builder

PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), unique=True, max_size=16)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 14), min_size=8, max_size=8), PAIRS)
def test_indexes_follow_their_definitions(citations, pairs):
    items, groups = [item for item, _ in pairs], [group for _, group in pairs]
    own = [[citations[item] for item, group in pairs if group == g] for g in range(4)]
    assert sums_by_group(citations, items, groups, 4).tolist() == [sum(values) for values in own]
    assert i10_indexes(citations, items, groups, 4).tolist() == [sum(v >= 10 for v in values) for values in own]
    for found, values in zip(h_indexes(citations, items, groups, 4).tolist(), own, strict=True):
        assert found == max(h for h in range(len(values) + 1) if sum(v >= h for v in values) >= h)


def test_impact_factors_count_the_two_years_before():
    years = [2008, 2009, 2010, 2011, 2011]
    citing, cited = [3, 3, 4, 4, 3, 2], [1, 2, 1, 0, 4, 1]
    items, groups = [0, 1, 2, 3], [0, 0, 0, 1]
    assert impact_factors(citing, cited, years, items, groups, 2, 2011).tolist() == [3 / 2, 0.0]


def test_groups_cite_each_other_through_their_items():
    net = group_citations([0, 0, 2], [1, 2, 3], [0, 1, 2, 3], [0, 1, 1, 0], 2)
    found = {(int(u), int(v)): w for u, v, w in zip(net.sources(), net.targets, net.weights, strict=True)}
    assert found == {(0, 1): 2.0, (1, 0): 1.0}


def bibliography():
    builder = Builder()
    builder.add_all([("p2", "cites", "p1"), ("p3", "cites", "p2"), ("Mara", "writes", "p3"), ("Sea", "is", "open")])
    for name in ("p1", "p2", "p3"):
        builder.type(name, "paper")
    graph = builder.graph()
    return graph, {graph.names.find(name): year for name, year in (("p1", 1990), ("p2", 1994), ("p3", 2001))}


def test_a_year_has_the_edges_of_its_window():
    graph, years = bibliography()
    ages = edge_years(graph, years)

    def edges(year, window):
        net = network_of_year(graph, ages, year, window)
        return {
            (graph.names[int(u)], graph.names[int(v)])
            for u, v in zip(net.sources(), net.targets, strict=True) if u < v
        }  # fmt: skip

    always = ("Sea", "open")
    assert edges(1994, 5) == {("p2", "p1"), always}
    assert edges(1998, 5) == {("p2", "p1"), always}
    assert edges(1999, 5) == {always}
    assert edges(2001, 8) == {("p2", "p1"), ("p2", "p3"), ("p3", "Mara"), always}
    with pytest.raises(ConfigError, match="window"):
        network_of_year(graph, ages, 2000, 0)


def test_relative_ranks_are_over_the_mean_of_the_living_of_a_type():
    graph, years = bibliography()
    [ranks] = yearly_ranks(graph, years, [1994]).values()
    papers = [graph.names.find(name) for name in ("p1", "p2", "p3")]
    assert ranks[papers].tolist() == pytest.approx([1.0, 1.0, 0.0])
    best = best_of_type(graph, np.arange(graph.n_nodes) / 10, "paper", 2)
    assert [row.rank for row in best] == [1, 2]
    assert best[0].score > best[1].score
    with pytest.raises(ConfigError, match="no nodes of type 'book'"):
        best_of_type(graph, np.zeros(graph.n_nodes), "book", 2)
