"""Graph Factorization Clustering: monotone, normalized, and it finds planted blocks, soft ones too."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph.network import network_of
from weft.learn.topics.factorization import factorize

EDGES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 5)), min_size=1, max_size=25)


def divergence(net, found):
    """l(W, W') over all pairs, as printed."""
    n = net.n_nodes
    given, fitted = np.zeros((n, n)), (found.members * found.sizes) @ found.members.T
    given[net.sources(), net.targets] = net.weights
    some = given > 0
    return (given[some] * np.log(given[some] / fitted[some])).sum() - given.sum() + fitted.sum()


@pytest.mark.must_show("heterogeneous-networks", 3)
@settings(max_examples=60, deadline=None)
@given(EDGES, st.integers(1, 4), st.integers(0, 9))
def test_the_divergence_never_increases(edges, clusters, seed):
    columns = [list(part) for part in zip(*edges, strict=True)]
    net = network_of(9, columns[0], columns[1], columns[2])
    found = factorize(net, clusters, rounds=30, tolerance=0.0, seed=seed)
    scale = net.weights.sum()
    assert all(after <= before + 1e-9 * scale for before, after in pairwise(found.divergences))
    assert divergence(net, found) <= found.divergences[-1] + 1e-9 * scale
    again = factorize(net, clusters, rounds=1, seed=seed)
    two = factorize(net, clusters, rounds=2, tolerance=0.0, seed=seed)
    assert divergence(net, again) == pytest.approx(two.divergences[1], abs=1e-9 * scale)


@pytest.mark.must_show("heterogeneous-networks", 3)
@settings(max_examples=30, deadline=None)
@given(EDGES, st.integers(1, 4))
def test_columns_sum_to_one_and_sizes_to_the_weight_of_the_graph(edges, clusters):
    columns = [list(part) for part in zip(*edges, strict=True)]
    net = network_of(9, columns[0], columns[1], columns[2])
    found = factorize(net, clusters, rounds=10)
    assert found.members.sum(axis=0) == pytest.approx(np.ones(clusters))
    assert found.sizes.sum() == pytest.approx(net.weights.sum())
    some = net.strengths() > 0
    assert found.memberships().sum(axis=1) == pytest.approx(some.astype(float))


@pytest.mark.must_show("heterogeneous-networks", 3)
def test_planted_blocks_are_found_with_nodes_that_belong_to_two():
    """Blocks of ten; node 10 i belongs to blocks i and i + 1 alike."""
    rng = np.random.default_rng(0)
    blocks = [list(range(10 * i, 10 * i + 11)) for i in range(3)]  # 10 and 20 are shared
    rows, columns = [], []
    for block in blocks:
        for place, u in enumerate(block):
            for v in block[place + 1 :]:
                if rng.random() < 0.9:
                    rows.append(u)
                    columns.append(v)
    net = network_of(31, rows, columns)
    runs = [factorize(net, 3, rounds=300, tolerance=1e-9, seed=seed) for seed in range(4)]
    found = min(runs, key=lambda run: run.divergences[-1])
    shares = found.memberships()
    own = [shares[[u for u in block if u % 10 or u in (0, 30)]].mean(axis=0) for block in blocks]
    assert sorted(int(row.argmax()) for row in own) == [0, 1, 2]
    assert min(row.max() for row in own) > 0.9
    for node, (one, other) in ((10, (0, 1)), (20, (1, 2))):
        parts = shares[node, own[one].argmax()], shares[node, own[other].argmax()]
        assert min(parts) > 0.25
        assert sum(parts) > 0.9


def test_threads_give_the_same_bits():
    rng = np.random.default_rng(4)
    net = network_of(60, rng.integers(0, 60, 300), rng.integers(0, 60, 300))
    one, two = (factorize(net, 5, rounds=10, workers=workers) for workers in (1, 2))
    assert (one.members == two.members).all()


def test_what_cannot_be_factorized_is_a_plain_error():
    with pytest.raises(DataError, match="without edges"):
        factorize(network_of(3, [], []), 2)
    with pytest.raises(DataError, match="both directions"):
        factorize(network_of(3, [0], [1], directed=True), 2)
    with pytest.raises(ConfigError, match="at least one cluster"):
        factorize(network_of(3, [0], [1]), 0)
