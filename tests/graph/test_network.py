"""Networks: what typed graphs become, and nodes that are split into instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.network import network, network_of
from weft.graph.store import Builder

EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4)), max_size=20)


def dense(net):
    table = np.zeros((net.n_nodes, net.n_nodes))
    np.add.at(table, (net.sources(), net.targets), net.weights)
    return table


@settings(max_examples=60, deadline=None)
@given(EDGES, st.booleans())
def test_networks_hold_the_sums_of_their_edges(edges, directed):
    columns = [list(part) for part in zip(*edges, strict=True)] or [[], [], []]
    net = network_of(6, columns[0], columns[1], columns[2], directed)
    table = np.zeros((6, 6))
    for u, v, w in edges:
        table[u, v] += w
        if not directed and u != v:
            table[v, u] += w
    assert (dense(net) == table).all()
    assert net.strengths() == pytest.approx(table.sum(axis=1))
    assert (dense(net.transposed()) == table.T).all()
    assert all(net.of(u) == sorted(net.of(u)) for u in range(6))


@settings(max_examples=60, deadline=None)
@given(EDGES, st.integers(0, 5))
def test_instances_take_the_place_of_a_split_node(edges, node):
    columns = [list(part) for part in zip(*edges, strict=True)] or [[], [], []]
    whole = network_of(6, columns[0], columns[1], columns[2])
    among = [other for other in whole.of(node) if other != node]
    split, instances = whole.split([node], among)
    before, after = dense(whole), dense(split)
    assert split.n_nodes == 6 + len(among)
    assert not after[node].any()
    assert not after[:, node].any()
    others = [other for other in range(6) if other != node]
    assert (after[np.ix_(others, others)] == before[np.ix_(others, others)]).all()
    for instance, other in zip(instances.tolist(), among, strict=True):
        assert split.of(instance) == [other]
        assert after[other, instance] == after[instance, other] == before[node, other]
    assert all(split.of(u) == sorted(split.of(u)) for u in range(split.n_nodes))


def test_relations_have_weights_and_may_be_left_out():
    builder = Builder()
    builder.add_all([("Mara", "writes", "p1"), ("p2", "cites", "p1"), ("p2", "published in", "Sea")])
    graph = builder.graph()
    assert network(graph, {"cites": 3.0}).weights.tolist().count(3.0) == 2
    assert network(graph, relations=["cites"]).strengths().sum() == 2
    assert network(graph, {"cites": 0.0}).n_nodes == 4
    with pytest.raises(ConfigError, match="no relation 'cite'; did you mean cites"):
        network(graph, {"cite": 1.0})
    with pytest.raises(ConfigError, match="weight of 0 or above"):
        network(graph, {"cites": -1.0})


def test_bad_edges_and_splits_are_plain_errors():
    with pytest.raises(DataError, match="nodes 0 to 1"):
        network_of(2, [0], [2])
    with pytest.raises(DataError, match="weights above 0"):
        network_of(2, [0], [1], [0.0])
    with pytest.raises(DataError, match="has no edge with"):
        network_of(3, [0], [1]).split([0], [2])
