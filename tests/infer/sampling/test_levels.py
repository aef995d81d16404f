"""Searches in levels: nested partitions, annealing, the best so far, checkpoints."""

from __future__ import annotations

import json

import numpy as np
import pytest

from weft import storage
from weft.errors import ConfigError, WeftError
from weft.infer.sampling.items import Items, canonical
from weft.infer.sampling.levels import Annealing, Level, Search, check_nested, spread


def blobs(count: int, size: int, seed: int = 0) -> tuple[Items, np.ndarray]:
    """Clusters of items that share most of three columns of their own."""
    random = np.random.default_rng(seed)
    rows = np.zeros((count * size, 3 * count))
    truth = np.repeat(np.arange(count), size)
    for i, blob in enumerate(truth):
        rows[i, 3 * blob + random.permutation(3)[:2]] = 1 / np.sqrt(2)
    return Items.from_rows(rows), truth


@pytest.fixture
def search() -> Search:
    items, _ = blobs(5, 8)
    levels = [Level(0.6), Level(0.3), Level(0.05)]
    return Search(items, levels, Annealing(12, 0.5, 0.02), spread(40, 2), seed=3)


def test_levels_stay_nested_and_the_best_score_never_falls(search):
    for _ in range(12):
        search.step()
        check_nested(search.labels)
        check_nested(search.best)
    best = [row["best"] for row in search.trace]
    assert best == sorted(best)
    scores = [search.items.score(*each) for each in zip(search.best, (0.6, 0.3, 0.05), strict=True)]
    assert best[-1] == pytest.approx(sum(scores))
    assert all(row["best"] >= row["score"] - 1e-9 for row in search.trace)


def test_the_best_of_a_hot_flat_search_is_kept_though_the_chain_leaves_it():
    items, truth = blobs(4, 6)
    search = Search(items, [Level(0.3)], Annealing(10, 2.0, 2.0), start=[canonical(truth)])
    search.run()
    assert np.array_equal(search.best[0], canonical(truth))
    assert search.trace[-1]["score"] < search.highest


@pytest.mark.parametrize("union", ["pairs", "cosine"])
def test_all_clusters_are_found_level_by_level(union):
    items, truth = blobs(6, 10)
    levels = [Level(0.6, union), Level(0.3, union), Level(0.05, union)]
    search = Search(items, levels, Annealing(30, 0.2, 0.005), spread(60, 1), seed=0, reach=60)
    search.run()
    assert np.array_equal(search.best[1], canonical(truth))


def test_clusters_are_spread_anew_every_round():
    """Items that lie in six groups find each other only if the groups change."""
    items, truth = blobs(2, 20)
    search = Search(items, [Level(0.3)], Annealing(60, 0.05, 0.01), spread(40, 6), seed=1)
    search.run()
    assert np.array_equal(search.best[0], canonical(truth))


def two_halves() -> tuple[Items, np.ndarray]:
    """A cluster of two kinds of items: alike within a kind, half alike between them."""
    rows = np.repeat([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], 30, axis=0) / np.sqrt(2)
    return Items.from_rows(rows), canonical(np.repeat([0, 1], 30))


def test_whole_blocks_move_where_single_items_cannot():
    items, halves = two_halves()
    flat = Search(items, [Level(0.3)], Annealing(3, 0.01, 0.01), start=[halves])
    flat.run()
    assert len(set(flat.labels[0])) == 2
    blocks = Search(items, [Level(0.6), Level(0.3)], Annealing(3, 0.01, 0.01), start=[halves, halves])
    blocks.run()
    assert len(set(blocks.labels[0])) == 2
    assert len(set(blocks.labels[1])) == 1


def test_splits_and_merges_cross_what_single_items_cannot():
    items, halves = two_halves()
    search = Search(items, [Level(0.3)], Annealing(3, 0.05, 0.05), share=0.2, start=[halves])
    search.run()
    assert len(set(search.best[0])) == 1
    search = Search(items, [Level(0.7)], Annealing(3, 0.05, 0.05), share=0.2, start=[np.zeros(60)])
    search.run()
    assert np.array_equal(search.best[0], halves)


def test_a_search_resumes_from_a_file_to_the_same_state(search, tmp_path):
    whole = Search(search.items, search.levels, search.annealing, search.keys, seed=3, workers=2)
    whole.run()
    for _ in range(5):
        search.step()
    header, arrays = search.state()
    storage.save(tmp_path / "c.weft", header, arrays)
    resumed = Search(search.items, search.levels, search.annealing, search.keys, seed=3)
    resumed.restore(*storage.load(tmp_path / "c.weft"))
    resumed.run()
    assert resumed.trace == json.loads(json.dumps(whole.trace))
    for k in range(3):
        assert np.array_equal(resumed.labels[k], whole.labels[k])
        assert np.array_equal(resumed.best[k], whole.best[k])
    other = Search(search.items, search.levels, search.annealing, search.keys, seed=4)
    other.run()
    assert other.trace != whole.trace


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(seed=9), "other items, levels or another seed"),
        (lambda h, a: h.update(round=-1), "the header's round"),
        (lambda h, a: h.pop("trace"), "trace is missing"),
        (lambda h, a: a.update(labels0=a["labels0"] * 0 + 40), "must hold numbers from 0 to 39"),
        (lambda h, a: a.update(labels0=a["labels0"] * 0 + 1), "does not hold a partition"),
        (lambda h, a: a.update(labels0=a["labels0"] * 0), "coarsening"),
        (lambda h, a: a.update(labels0=a["labels0"][:5]), "sizes are inconsistent"),
        (lambda h, a: a.update(more=a["labels0"]), "'more' does not belong"),
        (lambda h, a: a.pop("best1"), "best1"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(search, change, message):
    search.step()
    header, arrays = search.state()
    change(header, arrays)
    with pytest.raises(WeftError, match=message):
        Search(search.items, search.levels, search.annealing, search.keys, seed=3).restore(header, arrays)


def test_levels_and_temperatures_are_checked():
    items, _ = blobs(1, 4)
    with pytest.raises(ConfigError, match="biases that fall"):
        Search(items, [Level(0.1), Level(0.2)])
    with pytest.raises(WeftError, match="coarsening"):
        Search(items, [Level(0.2), Level(0.1)], start=[[0, 0, 2, 3], [0, 1, 2, 3]])
    for given in ({"rounds": 0}, {"end": 0.0}, {"start": 0.001}):
        with pytest.raises(ConfigError, match="temperatures that fall"):
            Annealing(**given)
    assert Annealing(1, 1.0, 0.5).temperature(0) == 0.5
