"""Walks towards a type: exact scores are those of drawn walks, and above the background they sum to 0."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import DataError
from weft.graph.flows.towards import above_background, arrivals, drawn_arrivals, towards, type_distances
from weft.graph.network import network_of

TOPICS, WORDS, PAPERS, AUTHORS, HOUSES = 3, 12, 20, 9, 4
STARTS = np.cumsum([0, WORDS, PAPERS, AUTHORS])


def schema(seed=0):
    """Words in papers by authors of institutions; papers cite papers, and one venue that nobody publishes in."""
    rng = np.random.default_rng(seed)
    n = WORDS + PAPERS + AUTHORS + HOUSES + 1
    types = np.repeat(np.arange(5, dtype=np.int32), [WORDS, PAPERS, AUTHORS, HOUSES, 1])
    papers = WORDS + rng.integers(0, PAPERS, 60)
    pairs = [(rng.integers(0, WORDS, 60), papers)]
    pairs.append((WORDS + rng.integers(0, PAPERS, 30), WORDS + PAPERS + rng.integers(0, AUTHORS, 30)))
    pairs.append((STARTS[2] + np.arange(AUTHORS), STARTS[3] + rng.integers(0, HOUSES, AUTHORS)))
    pairs.append((WORDS + rng.integers(0, PAPERS, 15), WORDS + rng.integers(0, PAPERS, 15)))
    sources, targets = (np.concatenate(part) for part in zip(*pairs, strict=True))
    starts = np.zeros((TOPICS, n))
    starts[:, :WORDS] = rng.random((TOPICS, WORDS)) * (rng.random((TOPICS, WORDS)) < 0.6)
    return network_of(n, sources, targets, rng.integers(1, 4, len(sources))), types, starts


def test_types_have_distances_and_walks_only_come_nearer():
    net, types, _ = schema()
    assert type_distances(net, types, 3).tolist() == [3, 2, 1, 0, -1]
    way = towards(net, types, 2)
    steps = {(int(types[u]), int(types[v])) for u, v in zip(way.sources(), way.targets, strict=True)}
    assert steps == {(0, 1), (1, 2), (3, 2)}
    with pytest.raises(DataError, match="numbered from 0 to 4"):
        type_distances(net, types, 7)


@pytest.mark.must_show("heterogeneous-networks", 4)
@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_exact_scores_lie_within_the_error_of_drawn_walks(wanted):
    net, types, starts = schema()
    walks = 50_000
    exact = arrivals(net, types, wanted, starts)
    found = drawn_arrivals(net, types, wanted, starts, walks, seed=3)
    assert exact.sum(axis=1) == pytest.approx([1] * TOPICS)
    assert not exact[:, types != wanted].any()
    error = np.sqrt(exact * (1 - exact) / walks)
    assert (abs(found - exact) <= 4.5 * error + 1e-12).all()


@pytest.mark.must_show("heterogeneous-networks", 4)
@pytest.mark.parametrize("wanted", [0, 1, 2, 3])
def test_scores_above_the_background_sum_to_zero_per_topic_and_type(wanted):
    net, types, starts = schema(1)
    above = above_background(arrivals(net, types, wanted, starts)[:, types == wanted])
    assert above.sum(axis=1) == pytest.approx([0] * TOPICS, abs=1e-12)
    assert above.sum(axis=0) == pytest.approx(np.zeros(above.shape[1]), abs=1e-12)
    assert abs(above).max() > 0.01


def test_exact_scores_are_the_product_of_row_normalized_blocks():
    net, types, starts = schema(2)
    table = np.zeros((net.n_nodes, net.n_nodes))
    table[net.sources(), net.targets] = net.weights

    def block(one, other):
        part = table[np.ix_(types == one, types == other)]
        sums = part.sum(axis=1, keepdims=True)
        return part / np.where(sums > 0, sums, 1)

    product = starts[:, types == 0] @ block(0, 1) @ block(1, 2)
    product /= product.sum(axis=1, keepdims=True)
    assert arrivals(net, types, 2, starts)[:, types == 2] == pytest.approx(product)


def test_a_type_that_no_walk_reaches_has_no_scores():
    net, types, starts = schema()
    assert not arrivals(net, types, 4, starts).any()
    assert not drawn_arrivals(net, types, 4, starts, 10).any()
