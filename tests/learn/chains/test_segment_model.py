"""The model over segments and its updates: inner products, demands that are met, and the smallest change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from weft.errors import ConfigError
from weft.features.templates import Templates
from weft.infer.chains.multilabel import Restrictions, Segment
from weft.learn import MIRA, BeatGold, Pairwise, Perceptron, Separate
from weft.tasks.spans.gapped_data import SegmentData, SegmentReader
from weft.text import Doc

TEMPLATES = "true w[-1..1] w[0].suffix1\npair: w[0] w[0].suffix1\nbetween: w[0]"
WORDS = ["ka", "lo", "mi", "na", "and"]


def random_data(
    seed: int, sentences: int = 3, length: int = 6, restrictions: Restrictions | None = None
) -> SegmentData:
    random = np.random.default_rng(seed)
    words = [[WORDS[w] for w in random.integers(0, len(WORDS), length)] for _ in range(sentences)]
    gold = []
    for _ in range(sentences):
        chosen = {
            Segment(int(random.integers(0, 2)), tuple(sorted(random.choice(length, 2, replace=False).tolist())))
            for _ in range(2)
        }
        gold.append(sorted(chosen))
    limits = restrictions if restrictions is not None else Restrictions()
    reader = SegmentReader(Templates(TEMPLATES), {"w": "form"}, limits.gap)
    return SegmentData.build(reader, [Doc.from_words(words)], gold, ["X", "Y"], limits)


@pytest.mark.parametrize("gap", [0, 1, 3])
def test_scores_of_segments_are_inner_products_of_weights_and_features(gap):
    data = random_data(1, restrictions=Restrictions(gap=gap))
    random = np.random.default_rng(2)
    weights = random.normal(size=data.model.size)
    for batch in data.batches:
        structure = data.model.score(batch, weights)
        found = structure.top(40)[0]
        assert len(found) == 40 or gap == 1
        for segment, value in found:
            indices, numbers = data.model.sparse(batch, structure.parts([[segment]]))
            assert value == pytest.approx(float(weights[indices] @ numbers))
            assert (np.diff(indices) > 0).all()
            assert set(indices.tolist()) <= set(data.model.active(batch).tolist())
        both = structure.parts([[found[0][0], found[1][0]]]).scale(0.5)
        into = np.zeros(data.model.size)
        data.model.scatter(batch, both, into)
        assert weights @ into == pytest.approx(0.5 * (found[0][1] + found[1][1]))


def test_the_state_and_the_distance_of_an_edge_are_told_apart():
    reader = SegmentReader(Templates("true\nbetween: w[0]"), {"w": "form"}, 0)
    data = SegmentData.build(reader, [Doc.from_words([["a", "b", "c", "d"]])], [[]], ["X"], Restrictions())
    (batch,) = data.batches
    structure = data.model.score(batch, np.zeros(data.model.size))

    def features(*words):
        return set(data.model.sparse(batch, structure.parts([[Segment(0, words)]]))[0].tolist())

    assert features(0, 1) != features(0, 2)
    assert len(features(0, 2) - features(0, 1)) == 4  # to/skip, from/skip, distance 2, the word between
    assert len(features(0, 3) - features(0, 2)) == 2  # distance 3, one more word between


def demands_of(data: SegmentData, weights, demands, k=0):
    demand = demands(data.model.score(data.batches[0], weights), data.batches[0], k)
    rows = np.zeros((len(demand.parts), data.model.size))
    for row, parts in zip(rows, demand.parts, strict=True):
        data.model.scatter(data.batches[0], parts, row)
    return rows, np.array(demand.missing)


@pytest.mark.must_show("structured-multilabel-segmentation", 2)
@pytest.mark.parametrize("demands", [Separate(), Pairwise()])
@pytest.mark.parametrize("seed", range(4))
def test_an_update_meets_all_demands_by_the_smallest_change(demands, seed):
    data = random_data(seed, sentences=1, length=4)
    start = np.random.default_rng(seed).normal(scale=0.2, size=data.model.size)
    rows, missing = demands_of(data, start, demands)
    assert missing.max() > 0
    result = MIRA(k=0, epochs=1, average=False, demands=demands).fit(data.model, data.batches[:1], start)
    change = result.weights - start
    assert (rows @ change >= missing - 1e-6).all()
    solved = minimize(
        lambda x: 0.5 * x @ x,
        np.zeros(len(start)),
        jac=lambda x: x,
        constraints={"type": "ineq", "fun": lambda x: rows @ x - missing, "jac": lambda x: rows},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert solved.success
    assert np.linalg.norm(change) == pytest.approx(np.linalg.norm(solved.x), rel=1e-4)
    np.testing.assert_allclose(change, solved.x, atol=1e-4)


@pytest.mark.must_show("structured-multilabel-segmentation", 2)
def test_nothing_moves_when_all_demands_are_met():
    data = random_data(3, sentences=1, length=5)
    learner = MIRA(k=31, epochs=30, average=False, demands=Separate())
    trained = learner.fit(data.model, data.batches)
    _, missing = demands_of(data, trained.weights, Separate(), k=31)
    assert missing.max() <= 1e-6
    again = MIRA(k=31, epochs=1, average=False, demands=Separate()).fit(data.model, data.batches, trained.weights * 1.1)
    np.testing.assert_array_equal(again.weights, trained.weights * 1.1)


def three_overlapping() -> tuple[Doc, list[list[Segment]]]:
    """Sentences like `p 11 / 18 / 19 h` in which three names share their first and last word."""
    random = np.random.default_rng(5)
    words, gold = [], []
    for _ in range(12):
        middle = [f"n{i}" for i in random.choice(9, 3, replace=False)]
        before, after = (["it"] * int(random.integers(0, 3)) for _ in range(2))
        words.append([*before, "p", middle[0], "/", middle[1], "/", middle[2], "h", *after])
        at = len(before)
        gold.append([Segment(0, (at, at + m, at + 6)) for m in (1, 3, 5)])
    return Doc.from_words(words), gold


@pytest.mark.must_show("structured-multilabel-segmentation", 3)
def test_separate_demands_are_all_met_on_separable_data_and_three_overlapping_segments_are_found():
    doc, gold = three_overlapping()
    reader = SegmentReader(Templates("true w[-1..1]\npair: w[0] w[0].prefix1\nbetween: w[0].prefix1"), {"w": "form"}, 0)
    data = SegmentData.build(reader, [doc], gold, ["enzyme"], Restrictions())
    result = MIRA(k=0, epochs=400, average=False, demands=Separate()).fit(data.model, data.batches)
    for batch, segments in zip(data.batches, gold, strict=True):
        demand = Separate()(data.model.score(batch, result.weights), batch, 0)
        assert max(demand.missing) <= 1e-6
        assert sorted(data.model.score(batch, result.weights).best()[0]) == segments


def test_a_perceptron_learns_segments_too():
    doc, gold = three_overlapping()
    reader = SegmentReader(Templates("true w[-1..1]\npair: w[0] w[0].prefix1\nbetween: w[0].prefix1"), {"w": "form"}, 0)
    data = SegmentData.build(reader, [doc], gold, ["enzyme"], Restrictions())
    result = Perceptron(epochs=60, average=False).fit(data.model, data.batches)
    found = [sorted(data.model.score(batch, result.weights).best()[0]) for batch in data.batches]
    assert sum(a == b for a, b in zip(found, gold, strict=True)) >= 10


def test_gold_beyond_the_gap_bound_asks_for_nothing():
    data = random_data(4, restrictions=Restrictions(gap=1))
    for batch in data.batches:
        structure = data.model.score(batch, np.zeros(data.model.size))
        kept = [label for label in batch.gold[0] if label.words[1] - label.words[0] == 1]
        assert structure.members(batch.gold) == [[[[label]] for label in kept]]


def test_gold_ahead_of_the_best_takes_any_loss_and_at_least_one_solution():
    from weft.learn.linear.choice import ChoiceModel

    model = ChoiceModel(features=1, labels=2)
    batch = model.batch([[1.0]], gold=[0])
    dear = MIRA(k=2, epochs=1, average=False, demands=BeatGold(loss=lambda s, b, y: 3.0 * (y[0] != b.gold[0])))
    np.testing.assert_allclose(dear.fit(model, [batch]).weights, [1.5, -1.5])
    with pytest.raises(ConfigError, match="k >= 1"):
        MIRA(k=0, epochs=1).fit(model, [batch])


def test_hashed_features_and_rare_ones_left_out():
    doc, gold = three_overlapping()
    reader = SegmentReader(Templates(TEMPLATES), {"w": "form"}, 4)
    whole = SegmentData.build(reader, [doc], gold, ["X"], Restrictions(gap=4))
    common = SegmentData.build(reader, [doc], gold, ["X"], Restrictions(gap=4), min_count=5)
    hashed = SegmentData.build(reader, [doc], gold, ["X"], Restrictions(gap=4), hash_bits=8)
    assert common.model.size < whole.model.size
    assert hashed.model.size == (6 + 1 + 1) * 256
    for data in (common, hashed):
        weights = np.random.default_rng(0).normal(size=data.model.size)
        structure = data.model.score(data.batches[0], weights)
        (segment, value) = structure.top(1)[0][0]
        indices, numbers = data.model.sparse(data.batches[0], structure.parts([[segment]]))
        assert value == pytest.approx(float(weights[indices] @ numbers))
