"""PropFlow, hitting times, visits and hops against hand computation, plain recursion and drawn walks."""

from __future__ import annotations

from collections import deque
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.flows.commute import commute_times, hitting_times, visits
from weft.graph.flows.hops import hops
from weft.graph.flows.propflow import propflow
from weft.graph.network import network_of

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 3)), min_size=1, max_size=16)
EVERY = list(range(8))


def drawn(edges):
    columns = [list(part) for part in zip(*edges, strict=True)]
    return network_of(8, columns[0], columns[1], columns[2])


def rows_of(net):
    return [
        list(zip(net.of(u), net.weights[net.offsets[u] : net.offsets[u + 1]].tolist(), strict=True))
        for u in range(net.n_nodes)
    ]


def spread(rows, source, length):
    """PropFlow as it is printed."""
    flow, depth = {source: 1.0}, {source: 0}
    queue = deque([source])
    while queue:
        v = queue.popleft()
        if depth[v] == length:
            break
        total, amount = sum(weight for _, weight in rows[v]), flow[v]
        for u, weight in rows[v]:
            flow[u] = flow.get(u, 0.0) + amount * weight / total
            if u not in depth:
                depth[u] = depth[v] + 1
                queue.append(u)
    return flow


@pytest.mark.must_show("heterogeneous-networks", 2)
def test_propflow_of_a_small_graph_is_that_computed_by_hand():
    """0 joins 1 (weight 3) and 2 (weight 1); 1 and 2 join 3, 1 joins 2, and 3 joins 4."""
    net = network_of(5, [0, 0, 1, 2, 1, 3], [1, 2, 3, 3, 2, 4], [3.0, 1.0, 1.0, 1.0, 1.0, 2.0])
    one = propflow(net, [0], EVERY[:5], 1)[0]
    assert one.tolist() == pytest.approx([1.0, 0.75, 0.25, 0.0, 0.0])
    # 1 spreads .75 over weights 3, 1, 1; so 2 has .25 + .15 by its turn, and spreads it over three neighbours.
    two = propflow(net, [0], EVERY[:5], 2)[0]
    at_two = 0.25 + 0.15
    assert two.tolist() == pytest.approx([1 + 0.45 + at_two / 3, 0.75 + at_two / 3, at_two, 0.15 + at_two / 3, 0.0])
    # 3 spreads half of what it has to 4; nothing spreads twice.
    three = propflow(net, [0], EVERY[:5], 3)[0]
    assert three[4] == pytest.approx((0.15 + at_two / 3) / 2)
    assert propflow(net, [0], [4], 10)[0, 0] == pytest.approx(three[4])


@pytest.mark.must_show("heterogeneous-networks", 2)
@settings(max_examples=80, deadline=None)
@given(EDGES, st.integers(1, 5))
def test_propflow_equals_the_printed_algorithm(edges, length):
    net = drawn(edges)
    rows = rows_of(net)
    found = propflow(net, EVERY, EVERY, length)
    for source in EVERY:
        flow = spread(rows, source, length)
        assert found[source].tolist() == pytest.approx([flow.get(u, 0.0) for u in EVERY])


@pytest.mark.must_show("heterogeneous-networks", 2)
@settings(max_examples=60, deadline=None)
@given(EDGES, st.integers(1, 5))
def test_hitting_times_follow_their_recursion_and_commute_times_are_symmetric(edges, length):
    net = drawn(edges)
    rows = rows_of(net)

    @cache
    def expected(i, j, steps):
        if i == j or steps == 0:
            return 0.0
        if not rows[i]:
            return 1 + expected(i, j, steps - 1)
        total = sum(weight for _, weight in rows[i])
        return 1 + sum(weight / total * expected(k, j, steps - 1) for k, weight in rows[i])

    found = hitting_times(net, EVERY, EVERY, length)
    assert found == pytest.approx(np.array([[expected(i, j, length) for j in EVERY] for i in EVERY]))
    times = commute_times(net, EVERY, length)
    assert (times == times.T).all()
    assert times == pytest.approx(found + found.T)
    assert times.max() <= 2 * length + 1e-9


@pytest.mark.must_show("heterogeneous-networks", 2)
def test_drawn_walks_take_as_long_as_hitting_times_say():
    rng = np.random.default_rng(1)
    net = network_of(8, rng.integers(0, 8, 14), rng.integers(0, 8, 14), rng.integers(1, 4, 14))
    rows, length, walks = rows_of(net), 6, 4000
    found = hitting_times(net, [0], EVERY, length)[0]
    steps = np.full((walks, 8), length, dtype=float)
    for walk in range(walks):
        at = 0
        for step in range(length + 1):
            steps[walk, at] = min(steps[walk, at], step)
            ends, weights = zip(*rows[at], strict=True)
            at = rng.choice(ends, p=np.array(weights) / sum(weights))
    error = steps.std(axis=0) / walks**0.5
    assert (abs(steps.mean(axis=0) - found) <= 4 * error + 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(EDGES, st.integers(1, 4))
def test_visits_are_powers_of_the_matrix_of_steps(edges, length):
    net = drawn(edges)
    matrix = np.zeros((8, 8))
    np.add.at(matrix, (net.sources(), net.targets), net.weights)
    sums = matrix.sum(axis=1, keepdims=True)
    matrix = np.where(sums > 0, matrix / np.where(sums > 0, sums, 1), np.eye(8))
    powers = sum(np.linalg.matrix_power(matrix, t) for t in range(1, length + 1))
    assert visits(net, EVERY, EVERY, length) == pytest.approx(powers)


@settings(max_examples=40, deadline=None)
@given(EDGES)
def test_hops_are_lengths_of_shortest_paths(edges):
    net = drawn(edges)
    joined = np.zeros((8, 8), dtype=bool)
    joined[net.sources(), net.targets] = True
    lengths, reached = np.full((8, 8), -1), np.eye(8, dtype=bool)
    for step in range(9):
        lengths[reached & (lengths < 0)] = step
        reached = reached | (reached.astype(int) @ joined.astype(int) > 0)
    assert (hops(net, EVERY, EVERY) == lengths).all()


def test_threads_give_the_same_bits():
    rng = np.random.default_rng(3)
    net = network_of(300, rng.integers(0, 300, 900), rng.integers(0, 300, 900))
    nodes = list(range(0, 300, 7))
    for function in (propflow, hitting_times, visits):
        one, two = (function(net, nodes, nodes, 4, workers=workers) for workers in (1, 2))
        assert (one == two).all()
    assert (hops(net, nodes, nodes) == hops(net, nodes, nodes, workers=2)).all()


def test_a_least_flow_prunes():
    net = network_of(5, [0, 1, 2, 3], [1, 2, 3, 4])
    assert propflow(net, [0], [4], 10)[0, 0] > 0
    assert propflow(net, [0], [4], 10, least=0.3)[0, 0] == 0


def test_bad_input_is_a_plain_error():
    net = network_of(2, [0], [1])
    with pytest.raises(ConfigError, match="length"):
        propflow(net, [0], [1], 0)
    with pytest.raises(ConfigError, match="length"):
        hitting_times(net, [0], [1], 0)
    with pytest.raises(DataError, match="from 0 to 1"):
        hops(net, [2], [0])
