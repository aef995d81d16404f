"""Paths that are found: all that pass both filters, none else, and never the edge in question."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_paths import EDGES, STEPS, enumerated, graph_of

from weft.errors import ConfigError
from weft.graph.paths.discover import MOST_FREE, Search, discover
from weft.graph.paths.steps import StepGraph
from weft.graph.store import Builder


@settings(max_examples=40, deadline=None)
@given(EDGES, st.integers(0, 2), st.sampled_from([0.0, 0.1]))
def test_both_filters_keep_what_enumeration_keeps(edges, active, hits):
    graph = graph_of(edges)
    known = graph.answers("r")
    wanted = set()
    for size in (1, 2, 3):
        for path in product(STEPS, repeat=size):
            reached = [enumerated(edges, path, graph.names[source], "r") for source in known]
            mean = np.mean([
                sum(own.get(graph.names[t], 0.0) for t in known[source])
                for source, own in zip(known, reached, strict=True)
            ])  # fmt: skip
            if sum(map(bool, reached)) > active and mean > hits + 1e-12 and path != ("r",):
                wanted.add(path)
    found = discover(graph, "r", known, Search(3, active, hits))
    assert {tuple(graph.step_name(step) for step in each.path) for each in found} == wanted
    assert [each.hits for each in found] == sorted((each.hits for each in found), reverse=True)


def test_free_steps_do_not_count_and_never_turn_straight_back():
    builder = Builder()
    for k in range(6):
        builder.add_all([(f"p{k}", "mention", f"m{k}"), (f"c{k % 2}", "mention", f"n{k}"), (f"m{k}", "nmod", f"n{k}"),
                         (f"p{k}", "of", f"c{k % 2}")])  # fmt: skip
    graph = StepGraph.of([builder.graph()], free=("mention",))
    found = discover(graph, "of", graph.answers("of"), Search(length=1, active=2, hits=0.1))
    assert [graph.told(each.path) for each in found] == ["⟨mention, nmod, mention⁻¹⟩"]
    assert graph.length(found[0].path) == 1
    longer = discover(graph, "of", graph.answers("of"), Search(length=3, active=1, hits=0.0))
    for each in longer:
        names = [graph.step_name(step) for step in each.path]
        assert ["mention", "mention⁻¹"] not in [names[k : k + 2] for k in range(len(names))]
        assert sum(graph.free[list(each.path)]) <= MOST_FREE


@pytest.mark.must_show("path-ranking-web-reading", 3)
def test_the_path_of_the_relation_itself_is_worth_nothing():
    """A toy graph in which walking the edge in question would answer every query."""
    builder = Builder()
    for k in range(8):
        builder.add(f"p{k}", "of", f"c{k}")
        builder.add(f"p{k}", "likes", "tea")
    graph = StepGraph.of([builder.graph()])
    found = discover(graph, "of", graph.answers("of"), Search(length=3, active=0, hits=0.0))
    assert found == []  # with the edge, ⟨of⟩ and ⟨of, of⁻¹, of⟩ would hit every time


def test_width_and_number_of_paths_are_bounds():
    graph = graph_of([("a", "s", "b"), ("b", "t", "c"), ("a", "r", "c"), ("b", "r", "c"), ("b", "s", "c")])
    every = discover(graph, "r", graph.answers("r"), Search(3, 0, 0.0))
    assert discover(graph, "r", graph.answers("r"), Search(3, 0, 0.0, most=2)) == every[:2]
    assert len(discover(graph, "r", graph.answers("r"), Search(3, 0, 0.0, width=1))) < len(every)
    with pytest.raises(ConfigError, match="at least 1"):
        Search(length=0)
