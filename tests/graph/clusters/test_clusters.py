"""Medoids, gaps, affinity propagation and GHOST against enumeration and planted clusters."""

from __future__ import annotations

from itertools import combinations, permutations
from itertools import pairwise as pairwise_of

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.evaluate.clusters import normalized_information, pairwise, purity, rand_index
from weft.graph.clusters.affinity import affinity_clusters
from weft.graph.clusters.gap import dispersion, gaps, null_of
from weft.graph.clusters.ghost import ghost, path_similarities
from weft.graph.clusters.instances import FAR, instance_distances, part_instances
from weft.graph.clusters.medoids import medoids
from weft.graph.network import network_of

POINTS = st.lists(st.integers(0, 40), min_size=2, max_size=8)


def table_of(points):
    values = np.array(points, dtype=float)
    return abs(values[:, None] - values)


def blobs(sizes, seed, spread=1.0, apart=8.0):
    rng = np.random.default_rng(seed)
    points = np.concatenate([
        rng.normal(size=(n, 2)) * spread + apart * np.array([i % 2, i // 2]) for i, n in enumerate(sizes)
    ])  # fmt: skip
    return np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)), np.repeat(np.arange(len(sizes)), sizes)


@settings(max_examples=100, deadline=None)
@given(POINTS, st.integers(1, 3))
def test_no_exchange_of_a_medoid_lowers_the_cost(points, k):
    table = table_of(points)
    k = min(k, len(points))
    found = medoids(table, k)
    assert found.cost == pytest.approx(table[:, found.medoids].min(axis=1).sum())
    assert table[np.arange(len(points)), found.medoids[found.labels]].sum() == pytest.approx(found.cost)
    assert len(set(found.labels.tolist())) == k
    for place in range(k):
        for other in range(len(points)):
            swapped = found.medoids.copy()
            swapped[place] = other
            assert table[:, swapped].min(axis=1).sum() >= found.cost - 1e-9


def test_medoids_of_blobs_are_the_best_of_all():
    table, _ = blobs([4, 3, 3], 0)
    best = min(table[:, list(chosen)].min(axis=1).sum() for chosen in combinations(range(10), 3))
    assert medoids(table, 3).cost == pytest.approx(best)


def test_dispersion_is_half_the_mean_distance_within():
    assert dispersion(table_of([0, 2, 9, 10]), [0, 0, 1, 1]) == pytest.approx((4 / 4) + (2 / 4))


@pytest.mark.parametrize("sizes", [[8, 8], [7, 8, 9], [6, 6, 7, 7]])
def test_the_gap_statistic_finds_the_number_of_blobs(sizes):
    right = 0
    for seed in range(6):
        table, _ = blobs(sizes, seed)
        pool = table[np.triu_indices(len(table), 1)]
        right += gaps(table, null_of(len(table), pool, [1, 2, 3, 4, 5], 20, seed), 20).chosen == len(sizes)
    assert right >= 5


def test_affinity_propagation_finds_planted_clusters():
    table, gold = blobs([7, 8, 9], 2)
    assert rand_index(gold, affinity_clusters(-(table**2), preference=-50.0)) == 1.0
    assert affinity_clusters([[0.0]]).tolist() == [0]
    with pytest.raises(DataError, match="square matrix"):
        affinity_clusters([[0.0, 1.0]])


EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(EDGES)
def test_similarities_of_ghost_sum_over_simple_paths(edges):
    instances = np.array([0, 1], dtype=np.int32)
    net = network_of(7, [u for u, _ in edges], [v for _, v in edges])
    joined = {(int(u), int(v)) for u, v in zip(net.sources(), net.targets, strict=True)}
    expected = 0.0
    for inner in (1, 2, 3):
        for between in permutations(range(2, 7), inner):
            path = (0, *between, 1)
            expected += all(pair in joined for pair in pairwise_of(path)) / (inner + 1)
    assert path_similarities(net, instances)[0, 1] == pytest.approx(expected)


def test_ghost_joins_instances_with_common_coauthors():
    net = network_of(9, [0, 1, 2, 3, 4, 5], [6, 6, 6, 7, 7, 7])
    assert ghost(net, np.arange(6, dtype=np.int32)).tolist() == [0, 0, 0, 1, 1, 1]


def test_distances_between_instances():
    net = network_of(6, [0, 1, 2, 5], [3, 3, 4, 4])  # 0 and 1 by node 3; 2 by node 4 alone
    hops = instance_distances(net, [0, 1, 2], "shortest")
    assert hops.tolist() == [[0, 2, 2 * FAR], [2, 0, 2 * FAR], [2 * FAR, 2 * FAR, 0]]
    flows = instance_distances(net, [0, 1, 2], "propflow", 4)
    assert flows[0, 1] == pytest.approx(1 / 0.5 - 1)
    assert flows[0, 2] == FAR * flows[0, 1]
    assert instance_distances(net, [0, 1, 2], "commute", 3)[0, 2] == 6.0
    with pytest.raises(ConfigError, match="not by 'cosine'"):
        instance_distances(net, [0, 1], "cosine")


def test_numbers_are_given_or_chosen():
    table, gold = blobs([8, 9], 1)
    assert rand_index(gold, part_instances(table, [2]).labels) == 1.0
    chosen = part_instances(table, [1, 2, 3])
    assert chosen.gaps is not None
    assert chosen.gaps.chosen == 2
    assert part_instances(table[:2, :2], [1, 2, 3]).labels.tolist() == [0, 0]
    with pytest.raises(ConfigError, match="1 instances cannot be 2 clusters"):
        part_instances(table[:1, :1], [2])
    for bad in ([[0.0, 1.0], [2.0, 0.0]], [[0.0, np.inf], [np.inf, 0.0]]):
        with pytest.raises(DataError, match="symmetric, finite"):
            medoids(bad, 1)
    with pytest.raises(ConfigError, match="cannot have 3 medoids"):
        medoids(table[:2, :2], 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_scores_of_clusterings_follow_their_definitions(pairs):
    gold, found = [list(part) for part in zip(*pairs, strict=True)]
    n = len(pairs)
    agree = [(gold[i] == gold[j]) == (found[i] == found[j]) for i in range(n) for j in range(i)]
    assert rand_index(gold, found) == pytest.approx(sum(agree) / len(agree))
    most = [max(sum(f == c and g == own for g, f in pairs) for own in set(gold)) for c in set(found)]
    assert purity(gold, found) == pytest.approx(sum(most) / n)

    def entropy(labels):
        shares = np.array([labels.count(label) / n for label in set(labels)])
        return float(-(shares * np.log(shares)).sum())

    both = entropy(gold) + entropy(found) - entropy(pairs)
    if min(entropy(gold), entropy(found)) > 0:
        assert normalized_information(gold, found) == pytest.approx(both / (entropy(gold) * entropy(found)) ** 0.5)
    assert rand_index(gold, gold) == purity(gold, gold) == 1.0
    assert normalized_information(gold, gold) == pytest.approx(1.0)
    assert pairwise(gold, gold).f1 == pytest.approx(1.0)
