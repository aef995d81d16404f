"""PageRank against the solution of the dense system."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.network import network_of
from weft.graph.rankings.pagerank import is_symmetric, pagerank

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.5, 1.0, 3.0])), max_size=20)


def by_eigenvector(net, damping, start):
    """The leading eigenvector of the walk's matrix, dangling nodes and restarts included."""
    n = net.n_nodes
    matrix = np.zeros((n, n))
    np.add.at(matrix, (net.targets, net.sources()), net.weights)
    sums = matrix.sum(axis=0)
    matrix = np.where(sums > 0, matrix / np.where(sums > 0, sums, 1), start[:, None])
    values, vectors = np.linalg.eig(damping * matrix + (1 - damping) * start[:, None])
    leading = np.real(vectors[:, np.argmax(values.real)])
    return leading / leading.sum()


@pytest.mark.must_show("heterogeneous-networks", 1)
@settings(max_examples=150, deadline=None)
@given(EDGES, st.booleans(), st.sampled_from([0.3, 0.85, 0.99]), st.lists(st.integers(0, 3), min_size=7, max_size=7))
def test_pagerank_equals_the_leading_eigenvector(edges, directed, damping, start):
    columns = [list(part) for part in zip(*edges, strict=True)] or [[], [], []]
    net = network_of(7, columns[0], columns[1], columns[2], directed)
    start = np.array(start, dtype=float) if any(start) else np.ones(7)
    found = pagerank(net, damping, start)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert found == pytest.approx(by_eigenvector(net, damping, start / start.sum()), abs=1e-9)


@pytest.mark.must_show("heterogeneous-networks", 1)
def test_weights_and_dangling_nodes_matter():
    chain = network_of(3, [0, 0, 1], [1, 2, 2], [3.0, 1.0, 1.0], directed=True)  # node 2 is dangling
    ranks = pagerank(chain)
    assert ranks.sum() == pytest.approx(1, abs=1e-12)
    plain = pagerank(network_of(3, [0, 0, 1], [1, 2, 2], directed=True))
    assert ranks[1] > plain[1] + 0.03
    assert pagerank(network_of(3, [], [])).tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.must_show("heterogeneous-networks", 1)
def test_pagerank_equals_that_of_other_libraries():
    networkx = pytest.importorskip("networkx")
    rng = np.random.default_rng(0)
    for directed in (False, True):
        net = network_of(200, rng.integers(0, 200, 800), rng.integers(0, 150, 800), rng.random(800) + 0.1, directed)
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(200))
        graph.add_weighted_edges_from(
            zip(net.sources().tolist(), net.targets.tolist(), net.weights.tolist(), strict=True)
        )
        theirs = networkx.pagerank(graph, tol=1e-13, max_iter=1000)
        assert pagerank(net) == pytest.approx([theirs[node] for node in range(200)], abs=1e-8)


def test_symmetry_is_noticed():
    assert is_symmetric(network_of(4, [0, 1, 2], [1, 2, 2]))
    assert not is_symmetric(network_of(3, [0, 1, 0], [1, 0, 2], directed=True))
    assert not is_symmetric(network_of(2, [0, 1], [1, 0], [1.0, 2.0], directed=True))


def test_bad_options_are_plain_errors():
    net = network_of(2, [0], [1])
    with pytest.raises(ConfigError, match="damping"):
        pagerank(net, 1.0)
    with pytest.raises(DataError, match="not all 0"):
        pagerank(net, start=[0.0, 0.0])
    with pytest.raises(DataError, match="nodes 0 to 1"):
        pagerank(net, start={5: 1.0})
    assert len(pagerank(network_of(0, [], []))) == 0
