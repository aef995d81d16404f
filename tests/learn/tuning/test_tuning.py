"""Line searches, gradients and tuners against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.learn.tuning.bleu import corpus_bleu, sentence_bleu, statistics
from weft.learn.tuning.envelope import line_search, profile
from weft.learn.tuning.held_out import Line
from weft.learn.tuning.lists import Lists, best_rows
from weft.learn.tuning.mert import MertSettings, mert
from weft.learn.tuning.mira import MiraSettings, mira
from weft.learn.tuning.parallel import groups, mapped
from weft.learn.tuning.pro import ProSettings, logistic, pro, sampled_pairs
from weft.learn.tuning.ramp import SparseGradient, added, costs, dense_gradient, loss, sparse_gradient

SPARSE = 12
shapes = st.tuples(st.integers(0, 2**20), st.integers(1, 5), st.integers(1, 6))


def random_lists(seed: int, n: int, k: int, dense: int = 3) -> Lists:
    rng = np.random.default_rng(seed)
    lists, sparse = [], []
    for _ in range(n):
        size = int(rng.integers(1, k + 1))
        reference = rng.integers(0, 4, rng.integers(1, 9)).astype(np.int32)
        words = [rng.integers(0, 4, rng.integers(1, 9)) for _ in range(size)]
        ends = np.concatenate([[0], np.cumsum([len(each) for each in words])])
        lists.append((rng.normal(size=(size, dense)), statistics(np.concatenate(words), ends, [reference])))
        sparse += [
            [(int(i), float(rng.integers(1, 3))) for i in np.unique(rng.integers(0, SPARSE, 3))] for _ in range(size)
        ]
    return Lists.of(lists, sparse)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 3))
def test_bleu_is_that_of_sacrebleu(seed: int, n_references: int) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    rng = np.random.default_rng(seed)
    rows, texts, references = [], [], []
    for _ in range(6):
        words = rng.integers(0, 3, rng.integers(1, 12))
        refs = [rng.integers(0, 3, rng.integers(1, 12)).astype(np.int32) for _ in range(n_references)]
        rows.append(statistics(words, np.array([0, len(words)]), refs)[0])
        texts.append(" ".join(map(str, words)))
        references.append([" ".join(map(str, each)) for each in refs])
    expected = sacrebleu.corpus_bleu(
        texts, list(map(list, zip(*references, strict=True))), tokenize="none", smooth_method="none", force=True
    )
    assert 100 * corpus_bleu(np.sum(rows, axis=0)) == pytest.approx(expected.score, abs=1e-9)


def test_sentence_bleu_of_what_has_no_match_is_0_at_any_length() -> None:
    rows = [[0, 0, 0, 0, n, max(0, n - 1), max(0, n - 2), max(0, n - 3), n, 8] for n in range(1, 20)]
    np.testing.assert_allclose(sentence_bleu(np.array(rows)), 0.0, atol=1e-12)


@pytest.mark.must_show("hols-smt-tuning", 2)
@settings(max_examples=120, deadline=None)
@given(shapes)
def test_the_line_search_finds_what_brute_force_finds(shape: tuple[int, int, int]) -> None:
    lists = random_lists(*shape)
    rng = np.random.default_rng(shape[0])
    weights, direction = rng.normal(size=3), rng.normal(size=3)
    a, b = lists.features @ weights, lists.features @ direction
    # BLEU can change only where two lines of a list cross; look between each two crossings, and far out.
    crossings = [
        (a[q] - a[r]) / (b[r] - b[q])
        for begin, end in zip(lists.offsets[:-1], lists.offsets[1:], strict=True)
        for q, r in combinations(range(begin, end), 2)
        if b[q] != b[r]
    ]
    corners = np.unique([*crossings, 0.0])
    points = [corners[0] - 1, *((corners[1:] + corners[:-1]) / 2), corners[-1] + 1, 0.0]
    values = [lists.bleu(weights + point * direction) for point in points]
    found = line_search(lists, weights, direction)
    assert found.bleu == pytest.approx(max(values), abs=1e-12)
    assert lists.bleu(weights + found.gamma * direction) == pytest.approx(found.bleu, abs=1e-12)
    assert found.before == pytest.approx(lists.bleu(weights), abs=1e-12)
    gammas, bleus = profile(lists.offsets, a, b, lists.stats)
    assert (np.diff(gammas) > 0).all()
    for gamma in points:
        at = np.searchsorted(gammas, gamma)
        if not len(gammas) or np.abs(gammas - gamma).min() > 1e-9:
            assert bleus[at] == pytest.approx(lists.bleu(weights + gamma * direction), abs=1e-12)


def test_equal_slopes_leave_the_higher_line() -> None:
    good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    lists = Lists.of([([[0.0, 1.0], [1.0, 1.0], [0.5, 2.0]], [bad, good, bad])])
    gammas, bleus = profile(lists.offsets, lists.features[:, 0], lists.features[:, 1], lists.stats)
    assert gammas.tolist() == [0.5]
    assert bleus.tolist() == [1.0, 0.0]


@pytest.mark.must_show("hols-smt-tuning", 2)
@settings(max_examples=60, deadline=None)
@given(shapes)
def test_two_more_features_give_the_score_of_all_sparse_ones(shape: tuple[int, int, int]) -> None:
    lists = random_lists(*shape)
    rng = np.random.default_rng(shape[0])
    line = Line(rng.normal(size=SPARSE), rng.normal(size=SPARSE))
    weights = rng.normal(size=5)
    dense, sparse = line.at(weights)
    np.testing.assert_allclose(line.columns(lists).scores(weights), lists.scores(dense, sparse), atol=1e-9)
    np.testing.assert_allclose(
        line.columns(lists).scores(line.start(dense)), lists.scores(dense, line.sparse), atol=1e-9
    )


@pytest.mark.must_show("hols-smt-tuning", 1)
@settings(max_examples=60, deadline=None)
@given(shapes)
def test_the_gradient_is_that_of_finite_differences(shape: tuple[int, int, int]) -> None:
    lists = random_lists(*shape)
    rng = np.random.default_rng(shape[0])
    weights, sparse = rng.normal(size=3), rng.normal(size=SPARSE)
    gradient = sparse_gradient(lists, weights, sparse)
    found, step = gradient.vector(SPARSE), 1e-5
    for i in range(SPARSE):
        move = step * np.eye(SPARSE)[i]
        slope = (loss(lists, weights, sparse + move) - loss(lists, weights, sparse - move)) / (2 * step)
        assert found[i] == pytest.approx(slope, rel=1e-6, abs=1e-7)
    dense = dense_gradient(lists, weights, sparse)
    for i in range(3):
        move = step * np.eye(3)[i]
        slope = (loss(lists, weights + move, sparse) - loss(lists, weights - move, sparse)) / (2 * step)
        assert dense[i] == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.must_show("hols-smt-tuning", 1)
def test_a_step_along_the_gradient_leaves_dense_weights_alone() -> None:
    lists = random_lists(1, 5, 5)
    line = Line(np.zeros(SPARSE), sparse_gradient(lists, np.ones(3)).vector(SPARSE))
    weights = np.array([0.3, -1.0, 2.0])
    for epsilon in (0.0, -0.5, 3.0):
        dense, sparse = line.at(np.array([*weights, 1.0, epsilon]))
        assert (dense == weights).all()
        np.testing.assert_array_equal(sparse, epsilon * line.direction)


def test_what_is_feared_has_a_positive_gradient_and_what_is_hoped_for_a_negative_one() -> None:
    good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    lists = Lists.of([([[0.0], [0.0]], [good, bad])] * 2, [[(0, 1.0)], [(1, 1.0)]] * 2)
    assert costs(lists)[0] < costs(lists)[1]
    found = sparse_gradient(lists, np.zeros(1))
    assert found.values[0] < 0 < found.values[1]
    np.testing.assert_array_equal(found.lists, [2, 2])
    np.testing.assert_allclose(found.conditioned().values, found.values / 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(2, 6))
def test_gradients_of_groups_add_up(seed: int, n: int) -> None:
    parts = [random_lists(seed + i, 2, 4) for i in range(n)]
    weights = np.random.default_rng(seed).normal(size=3)
    whole = sparse_gradient(Lists.chained(parts), weights)
    total = added(sparse_gradient(part, weights) for part in parts)
    np.testing.assert_array_equal(total.ids, whole.ids)
    np.testing.assert_array_equal(total.lists, whole.lists)
    np.testing.assert_allclose(total.values, whole.values, atol=1e-12)
    assert total.n_lists == whole.n_lists == 2 * n


def test_a_feature_counts_once_per_list_however_many_rows_have_it() -> None:
    lists = Lists.of([([[0.0], [1.0], [2.0]], np.ones((3, 10)))], [[(4, 1.0)], [(4, 3.0)], []])
    assert sparse_gradient(lists, np.ones(1)).lists.tolist() == [1]


@settings(max_examples=20, deadline=None)
@given(shapes)
def test_mert_never_loses(shape: tuple[int, int, int]) -> None:
    lists = random_lists(*shape)
    start = np.random.default_rng(shape[0]).normal(size=3)
    weights, bleu = mert(lists, start, MertSettings(restarts=2, directions=2))
    assert bleu == pytest.approx(lists.bleu(weights), abs=1e-12)
    assert bleu >= lists.bleu(start)
    kept = mert(lists, start, MertSettings(restarts=2), np.array([False, True, False]))[0]
    assert kept[1] == start[1]


def learnable(n: int = 60) -> tuple[Lists, np.ndarray]:
    """Lists in which the second feature tells good rows, and the first one is noise."""
    rng = np.random.default_rng(2)
    lists = []
    for _ in range(n):
        m = rng.integers(1, 9, 6)
        stats = [[k, max(0, k - 1), max(0, k - 2), max(0, k - 3), 9, 8, 7, 6, 9, 9] for k in m]
        lists.append((np.column_stack([3 * rng.normal(size=6), m + 0.2 * rng.normal(size=6)]), stats))
    return Lists.of(lists), np.array([1.0, 0.1])


def test_every_tuner_learns_what_makes_a_translation_good() -> None:
    lists, start = learnable()
    before = lists.bleu(start)
    tuned = {
        "mert": mert(lists, start, MertSettings(restarts=3))[0],
        "pro": pro(lists, start, ProSettings(samples=100, interpolation=1.0)),
        "mira": mira(lists, start, MiraSettings(rate=0.1)),
    }
    top = corpus_bleu(lists.stats[best_rows(sentence_bleu(lists.stats), lists.offsets)].sum(axis=0))
    assert before < 0.8 * top
    for name, weights in tuned.items():
        assert lists.bleu(weights) > 0.97 * top, name


def test_pro_prefers_pairs_that_differ_most_and_puts_the_better_row_first() -> None:
    lists, _ = learnable(5)
    better, worse = sampled_pairs(lists, ProSettings(samples=2000, pairs=3), np.random.default_rng(0))
    bleu = sentence_bleu(lists.stats)
    assert (bleu[better] > bleu[worse]).all()
    for begin, end in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        own = (better >= begin) & (better < end)
        assert own.sum() == 3
        widest = bleu[begin:end].max() - bleu[begin:end].min()
        np.testing.assert_allclose((bleu[better] - bleu[worse])[own].max(), widest)


def test_logistic_regression_is_at_its_minimum() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3)) + np.array([0.5, 0, 0])
    weights = logistic(rows, 0.1)
    gradient = -(1 / (1 + np.exp(rows @ weights))) @ rows / len(rows) + 0.1 * weights
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(shapes)
def test_merged_lists_hold_every_row_once(shape: tuple[int, int, int]) -> None:
    one = random_lists(*shape)
    other = one.take(np.arange(one.n_rows), one.offsets)
    again = one.merged(other)
    assert again.n_rows <= one.n_rows
    weights = np.random.default_rng(shape[0]).normal(size=3)
    assert again.bleu(weights) == pytest.approx(one.bleu(weights), abs=1e-12)
    looks = lambda lists: {  # noqa: E731
        (int(s), *row, *stats)
        for s, row, stats in zip(lists.owner(), lists.features.tolist(), lists.stats.tolist(), strict=True)
    }
    assert looks(again) == looks(one)


def test_the_best_row_is_the_first_of_equal_ones() -> None:
    assert best_rows(np.array([0.0, 2.0, 2.0, -1.0]), np.array([0, 3, 4])).tolist() == [1, 3]


class Gradients:
    """Work on groups of seeds."""

    def __call__(self, seeds: list[int]) -> SparseGradient:
        return sparse_gradient(Lists.chained([random_lists(seed, 3, 5) for seed in seeds]), np.ones(3))


def test_processes_and_a_cluster_give_the_same_gradient_to_the_last_bit() -> None:
    distributed = pytest.importorskip("distributed")
    work, items = Gradients(), groups(list(range(9)), 2)
    alone = added(mapped(work, items))
    together = added(mapped(work, items, workers=2))
    one = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**one) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        apart = added(mapped(work, items, client=client))
    for other in (together, apart):
        np.testing.assert_array_equal(alone.ids, other.ids)
        np.testing.assert_array_equal(alone.values, other.values)
        np.testing.assert_array_equal(alone.lists, other.lists)
