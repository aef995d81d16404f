"""Moves, splits and merges against enumeration: changes of the score, the distribution sampled, and the best found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from steps import interpreted

from weft.errors import InferenceError
from weft.infer.sampling.items import Items, canonical
from weft.infer.sampling.levels import Annealing, Level, Search, spread
from weft.infer.sampling.placement import place, shared_columns
from weft.infer.sampling.rounds import sample_round


@cache
def partitions(n: int) -> np.ndarray:
    """All partitions of n items, with canonical labels."""

    def grow(labels: list[int], count: int) -> Iterator[list[int]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(count + 1):
            yield from grow([*labels, label], max(count, label + 1))

    return np.array([canonical(labels) for labels in grow([], 0)])


def log_p(rows: np.ndarray, mass: np.ndarray, labels: np.ndarray, bias: float) -> float:
    """The sheet's sum, pair by pair: what is within counts for a partition, what is between against it."""
    total = 0.0
    for i in range(len(rows)):
        for j in range(i):
            g = float(rows[i].astype(np.float64) @ rows[j].astype(np.float64)) - bias * mass[i] * mass[j]
            total += g if labels[i] == labels[j] else -g
    return total


def random_items(n: int, seed: int, width: int = 6, masses: bool = False) -> Items:
    random = np.random.default_rng(seed)
    rows = random.random((n, width)) * (random.random((n, width)) < 0.5)
    items = Items.from_rows(rows)
    return Items.of(items.offsets, items.columns, items.values, random.integers(1, 4, n)) if masses else items


def copies(items: Items, count: int) -> Items:
    """The same items many times over; copies never meet if their keys differ."""
    offsets = np.concatenate([[0], np.cumsum(np.tile(np.diff(items.offsets), count))])
    return Items.of(offsets, np.tile(items.columns, count), np.tile(items.values, count), np.tile(items.mass, count))


@pytest.mark.must_show("cross-document-coreference", 1)
@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 9), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.05, 0.7, 3.0]),
    st.booleans(),
)  # fmt: skip
def test_the_change_that_moves_report_is_that_of_log_p_recomputed(n, seed, share, tau, masses):
    items = random_items(n, seed, masses=masses)
    rows, random = items.matrix().toarray(), np.random.default_rng(seed)
    labels, bias = canonical(random.integers(0, n, n)), 0.3
    keys = random.integers(0, 2, n).astype(np.uint64)
    done = sample_round(items, labels, keys, bias, tau, seed=seed, reach=7, share=share)
    before, after = (log_p(rows, items.mass, each, bias) for each in (labels, done.labels))
    assert done.change == pytest.approx(after - before, abs=1e-9)
    assert items.score(done.labels, bias) - items.score(labels, bias) == pytest.approx(after - before, abs=1e-9)
    best = log_p(rows, items.mass, done.best, bias)
    assert done.best_change == pytest.approx(best - before, abs=1e-9)
    assert done.best_change >= -1e-9
    assert np.array_equal(canonical(done.labels), done.labels)


def sampled(items: Items, chains: int, rounds: int, bias: float, keys_of, share: float, union=None) -> np.ndarray:
    """How often each partition of the items is the state of independent chains after some rounds."""
    n = len(items)
    many = copies(items, chains)
    labels = np.arange(n * chains)
    chain = np.repeat(np.arange(chains), n)
    for r in range(rounds):
        keys = (chain * 64 + keys_of(r, n * chains)).astype(np.uint64)
        labels = sample_round(many, labels, keys, bias, 1.0, seed=r, reach=3, share=share).labels
    states = labels.reshape(chains, n) - n * np.arange(chains)[:, None]
    codes = {tuple(each): k for k, each in enumerate(partitions(n).tolist())}
    return np.bincount([codes[tuple(state)] for state in states.tolist()], minlength=len(codes))


def one_group(r: int, n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.int64)


def three_groups(r: int, n: int) -> np.ndarray:
    return np.random.default_rng([5, r]).integers(0, 3, n)


def uneven_groups(r: int, n: int) -> np.ndarray:
    """Keys that are fixed for most items, as those by names are."""
    return np.where(np.arange(n) % 4 == r % 4, 1, 0)


@pytest.mark.must_show("cross-document-coreference", 2)
@pytest.mark.parametrize(
    ("n", "keys_of", "share", "rounds"),
    [
        (5, one_group, 0.0, 12), (4, one_group, 1.0, 12), (4, one_group, 0.4, 12), (4, three_groups, 0.0, 30),
        (4, three_groups, 0.3, 30), (4, uneven_groups, 0.3, 30), (4, uneven_groups, 0.0, 30),
    ],
)  # fmt: skip
def test_chains_sample_partitions_as_often_as_their_probability_says(n, keys_of, share, rounds):
    """Redistribution over groups included; a wrong q or D shows after a few thousand chains."""
    items = random_items(n, seed=3)
    rows, bias, chains = items.matrix().toarray(), 0.35, 8_000
    weights = np.exp([log_p(rows, items.mass, labels, bias) for labels in partitions(n)])
    expected = chains * weights / weights.sum()
    counts = sampled(items, chains, rounds, bias, keys_of, share)
    assert expected.min() > 5
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert statistic < chi2.ppf(1 - 1e-4, len(expected) - 1)


@pytest.mark.must_show("cross-document-coreference", 3)
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_annealing_finds_the_best_partition_of_up_to_eight_items(share):
    problems, n, bias = 200, 8, 0.35
    random = np.random.default_rng(0)
    rows = random.random((problems * n, 6)) * (random.random((problems * n, 6)) < 0.4)
    items = Items.from_rows(rows)
    chain = np.repeat(np.arange(problems), n).astype(np.uint64)
    single = items.matrix().toarray().astype(np.float64).reshape(problems, n, -1)
    i, j = np.triu_indices(n, 1)
    g = (single @ single.transpose(0, 2, 1))[:, i, j] - bias
    best = 2 * (g @ (partitions(n)[:, i] == partitions(n)[:, j]).T.astype(np.float64)).max(axis=1)
    labels, found, schedule = np.arange(problems * n), np.zeros(problems), Annealing(150, 1.0, 0.01)
    for r in range(schedule.rounds):  # as a search does, but every problem keeps its own best
        done = sample_round(items, labels, chain, bias, schedule.temperature(r), seed=r, share=share)
        kept = done.best.reshape(problems, n)
        found = np.maximum(found, 2 * (g * (kept[:, i] == kept[:, j])).sum(axis=1))
        labels = done.labels
    assert np.mean(found >= best - 1e-6) >= 0.99


def test_a_proposal_takes_as_many_steps_as_the_item_has_columns_whatever_the_cluster():
    """Two clusters of copies: 8 or 64 items each, the same number of proposals."""
    from weft.infer.sampling import moves

    def steps(size: int) -> float:
        items = Items.from_rows(np.repeat(np.eye(2), size, axis=0))
        labels = canonical(np.repeat([0, 1], size))
        keys = np.zeros(2 * size, dtype=np.uint64)
        with interpreted() as counted:
            done = sample_round(items, labels, keys, 0.5, 0.001, reach=4)
        assert done.accepted == 0
        return (counted["_move"] + counted["_gain"] + counted["_own_gain"]) / done.proposals

    assert moves.MOST_SPLIT >= 64
    assert steps(64) < 1.1 * steps(8)


def test_rounds_end_in_the_same_state_with_any_number_of_threads():
    items = random_items(300, 1, width=40)
    keys = np.random.default_rng(2).integers(0, 12, 300).astype(np.uint64)
    one, *others = (
        sample_round(items, np.arange(300), keys, 0.3, 0.5, seed=4, share=0.1, workers=workers) for workers in (1, 2, 5)
    )
    assert all(np.array_equal(one.labels, other.labels) for other in others)
    assert one.proposals == others[0].proposals
    assert np.count_nonzero(one.labels == np.arange(300)) < 300


def test_rounds_on_a_dask_cluster_end_in_the_same_state():
    distributed = pytest.importorskip("distributed")
    items = random_items(200, 1, width=30)
    search = [Search(items, [Level(0.5), Level(0.2)], Annealing(3), spread(200, 5), share=0.1) for _ in range(2)]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        search[0].client = client
        search[0].run()
    search[1].run()
    assert all(np.array_equal(a, b) for a, b in zip(search[0].labels, search[1].labels, strict=True))
    assert search[0].trace[-1]["proposals"] == search[1].trace[-1]["proposals"]


def test_clusters_stay_whole_and_come_to_the_group_of_each_item_equally_often():
    labels = canonical([0, 0, 0, 1, 2, 2])
    keys = np.array([1, 2, 2, 2, 1, 3], dtype=np.uint64)
    came = {1: 0, 2: 0}
    for seed in range(600):
        groups = place(labels, keys, np.random.default_rng(seed))
        for lo, hi, key in zip(groups.offsets[:-1], groups.offsets[1:], groups.keys, strict=True):
            rows = groups.rows[lo:hi]
            for label in set(labels[rows].tolist()):
                assert set(np.flatnonzero(labels == label)) <= set(rows.tolist())
            if 0 in rows:
                came[int(key)] += 1
            assert np.array_equal(groups.anchored[lo:hi], keys[rows] == key)
    assert came[1] == pytest.approx(200, abs=45)
    assert came[2] == pytest.approx(400, abs=45)


def test_items_meet_as_often_as_they_share_columns_and_crowds_are_cut():
    offsets = np.array([0, 3, 6, 8, 8, 8])
    columns = np.array([1, 2, 3, 2, 3, 4, 8, 9], dtype=np.int32)
    keys = [shared_columns([(offsets, columns)], seed) for seed in range(400)]
    assert np.mean([key[0] == key[1] for key in keys]) == pytest.approx(0.5, abs=0.08)
    assert not any(key[0] == key[2] or key[3] == key[4] for key in keys)
    crowd = np.arange(0, 1001), np.full(1000, 7, dtype=np.int32)
    apart = np.arange(0, 1001), np.arange(1000, dtype=np.int32) % 20
    sizes = np.unique(shared_columns([crowd], 0, largest=100), return_counts=True)[1]
    assert len(sizes) == 10
    assert sizes.max() < 150
    assert len(np.unique(shared_columns([crowd, apart], 0, largest=100))) == 20


def test_a_temperature_of_zero_is_refused():
    with pytest.raises(InferenceError, match="temperature must be above 0"):
        sample_round(random_items(3, 0), np.arange(3), np.zeros(3, dtype=np.uint64), 0.1, 0.0)
