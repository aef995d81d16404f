"""Minimum cuts against all cuts of small graphs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from min_cuts import min_cut

from weft.errors import DataError
from weft.graph.csr import Graph


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_cut_is_the_least_of_all_cuts(seed, whole):
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 8))
    u, v = np.nonzero(np.triu(random.random((n, n)) < 0.6, 1))
    weights = random.integers(0, 9, len(u)).astype(float) if whole else random.random(len(u))
    cut = min_cut(Graph.from_edges(n, u, v, weights), [0], [n - 1])
    assert (cut.side[0], cut.side[n - 1]) == (True, False)
    sides = [np.array([True, *middle, False]) for middle in product((False, True), repeat=n - 2)]
    least = min(weights[side[u] != side[v]].sum() for side in sides)
    assert cut.value == pytest.approx(least, abs=1e-7)
    assert cut.value == pytest.approx(weights[cut.side[u] != cut.side[v]].sum())


def test_vertices_that_nothing_reaches_are_on_the_far_side():
    cut = min_cut(Graph.from_edges(4, [0], [1], [1.0]), [0], [1])
    assert (cut.side.tolist(), cut.value) == ([True, False, False, False], 1.0)


@pytest.mark.parametrize(("source", "sink", "told"), [
    ([], [1], "at least one source"), ([0], [7], "at least one sink"), ([0, 1], [1], "source and as sink"),
])  # fmt: skip
def test_impossible_cuts_are_refused(source, sink, told):
    with pytest.raises(DataError, match=told):
        min_cut(Graph.from_edges(3, [0], [1]), source, sink)


def test_negative_weights_are_refused():
    with pytest.raises(DataError, match="0 and above"):
        min_cut(Graph.from_edges(2, [0], [1], [-1.0]), [0], [1])
