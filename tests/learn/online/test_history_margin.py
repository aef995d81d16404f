"""The sub-gradient learner of sequences with label history."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.infer.chains.beam import Patterns
from weft.learn.online.history_margin import HistoryData, HistoryMargin, objective
from weft.learn.training import Checkpoint

WIDE = 100


def random_data(seed, sequences=6, n_labels=3, bits=0, only=False):
    """Sequences of up to 5 positions over 8 kinds of features; labels follow the first feature, or the label
    before."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, sequences)
    sentences = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(sentences[-1])
    patterns = Patterns.of([((-1, -1),), ((-2, -1),)])
    hidden = rng.integers(0, 4, n)
    base = np.stack([hidden, 4 + rng.integers(0, 4, n)], axis=1).ravel().astype(np.uint64) * np.uint64(n_labels)
    past = rng.integers(0, 2, n)
    starts = 8 * n_labels + past * (n_labels + 1) * n_labels
    gold = np.where(rng.random(n) < 0.1, rng.integers(0, n_labels, n), hidden % n_labels)
    for i in range(1, n):
        gold[i] = gold[i - 1] if hidden[i] == 3 and i not in sentences else gold[i]
    size = 8 * n_labels + 2 * (n_labels + 1) * n_labels
    hashed = np.uint64(0x9E3779B97F4A7C15)
    return HistoryData(
        sentences,
        2 * np.arange(n + 1, dtype=np.int64),
        base * hashed if bits else base,
        (rng.integers(-1, n_labels, 2 * n) if only else np.full(2 * n, -1)).astype(np.int8),
        np.arange(n + 1, dtype=np.int64),
        starts.astype(np.uint64) * hashed if bits else starts.astype(np.uint64),
        past.astype(np.int32),
        patterns,
        n_labels,
        n_labels << bits if bits else size,
        bits,
        gold.astype(np.int32),
        rng.uniform(0.5, 2.0, sequences),
    )


@pytest.mark.must_show("uncertainty-detection", 2)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 8]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_sub_gradient_is_that_of_finite_differences(seed, bits, only):
    data = random_data(seed, bits=bits, only=only)
    weights = np.random.default_rng(seed).normal(size=data.size)
    value, gradient = objective(data, weights, l2=0.3, width=WIDE)
    assert value > 0
    for j in np.random.default_rng(seed + 1).choice(data.size, 10, replace=False):
        moved = []
        for sign in (-1.0, 1.0):
            other = weights.copy()
            other[j] += sign * 1e-6
            moved.append(objective(data, other, l2=0.3, width=WIDE)[0])
        assert (moved[1] - moved[0]) / 2e-6 == pytest.approx(gradient[j], abs=1e-4)


@pytest.mark.must_show("uncertainty-detection", 2)
def test_the_objective_falls_over_the_epochs():
    data = random_data(7, sequences=200)
    met: list[float] = []

    def note(step):
        met.append(objective(data, step.weights, l2=1.0, width=WIDE)[0])

    HistoryMargin(epochs=12, l2=1.0, width=WIDE, average=True).train(data, callback=note)
    start = objective(data, np.zeros(data.size), l2=1.0, width=WIDE)[0]
    assert met[0] < start
    # The mean of the iterates wavers by a trifle once it is near the optimum.
    assert all(later < earlier + 0.002 * start for earlier, later in pairwise(met))
    assert met[-1] < 0.6 * start


# Seeds without equally good labellings behind the first step: rounding would choose between them.
@pytest.mark.parametrize("seed", range(10))
def test_scaled_weights_are_those_of_the_plain_update(seed):
    data = random_data(seed, sequences=4)
    learner = HistoryMargin(epochs=3, l2=2.0, rate=0.4, width=WIDE, shuffle=False, average=True)
    weights, total, step = np.zeros(data.size), np.zeros(data.size), 0
    for _ in range(3):
        for s in range(len(data)):
            step += 1
            one = alone(data, s)
            _, gradient = objective(one, weights, l2=2.0 / len(data), width=WIDE)
            weights = weights - 0.4 / np.sqrt(step) * gradient
            total += weights
    assert learner.train(data).weights == pytest.approx(total / step)
    plain = HistoryMargin(epochs=3, l2=2.0, rate=0.4, width=WIDE, shuffle=False, average=False)
    assert plain.train(data).weights == pytest.approx(weights)


def alone(data, s):
    """One sequence of the data."""
    first, end = data.sentences[s], data.sentences[s + 1]
    a, b = data.offsets[first], data.offsets[end]
    c, d = data.past_offsets[first], data.past_offsets[end]
    return HistoryData(
        np.array([0, end - first]), data.offsets[first : end + 1] - a, data.base[a:b], data.only[a:b],
        data.past_offsets[first : end + 1] - c, data.past_base[c:d], data.past_pattern[c:d], data.patterns,
        data.n_labels, data.size, data.bits, data.gold[first:end], data.weight[s : s + 1],
    )  # fmt: skip


def test_a_heavy_class_is_found_more_often():
    rng = np.random.default_rng(0)
    noisy = (rng.random(400) < 0.15).astype(np.int32)
    ones = np.arange(401, dtype=np.int64)

    def found(weight):
        data = HistoryData(
            ones, ones, np.repeat(np.array([0], dtype=np.uint64), 400), np.full(400, -1, dtype=np.int8), 0 * ones,
            np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32), Patterns.of([]), 2, 2, gold=noisy,
            weight=np.where(noisy == 1, weight, 1.0),
        )  # fmt: skip
        return data.chain(HistoryMargin(epochs=20).train(data).weights).best().sum()

    assert found(1.0) == 0
    assert found(20.0) == 400


def test_an_interrupted_training_goes_on_where_it_stopped(tmp_path):
    data = random_data(3, sequences=50)
    whole = HistoryMargin(epochs=6).train(data)
    checkpoint = Checkpoint(tmp_path / "run")
    HistoryMargin(epochs=3).train(data, checkpoint=checkpoint)
    assert (HistoryMargin(epochs=6).train(data, checkpoint=checkpoint).weights == whole.weights).all()


def test_options_that_make_no_sense_are_refused():
    data = random_data(1)
    with pytest.raises(ConfigError, match="rate above 0"):
        HistoryMargin(rate=0.0).train(data)
    with pytest.raises(ConfigError, match="data have none"):
        HistoryMargin().train(HistoryData(**{**vars(data), "gold": None}))
