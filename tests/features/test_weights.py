"""Index, layouts and frozen tables against dictionaries and dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, ModelError
from weft.features.index import FeatureIndex, HashedIndex
from weft.features.weights import FrozenTable, Layout


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=400), st.lists(st.integers(0, 80), max_size=50))
def test_index_numbers_keys_like_a_dictionary(added, asked):
    scatter = np.uint64(0x9E3779B97F4A7C15)
    index, numbers = FeatureIndex(), {}
    expected = [numbers.setdefault(key, len(numbers)) for key in added]
    assert index.add(np.array(added, dtype=np.uint64) * scatter).tolist() == expected
    found = index.rows(np.array(asked, dtype=np.uint64) * scatter).tolist()
    assert found == [numbers.get(key, -1) for key in asked]
    assert index.counts.tolist() == [added.count(key) for key in numbers]


def test_index_grows_past_its_first_size():
    keys = np.random.default_rng(0).integers(0, 2**63, 20_000, dtype=np.uint64)
    index = FeatureIndex()
    rows = index.add(keys)
    assert (index.rows(keys) == rows).all()
    assert len(index) == len(np.unique(keys))
    half = index.select(np.arange(len(index)) % 2 == 0)
    assert len(half) == (len(index) + 1) // 2
    assert (half.rows(index.keys()[1::2]) == -1).all()


@pytest.mark.parametrize("size", [0, 3, 512, 513, 5000])
def test_a_settled_index_answers_and_grows_as_before(size):
    keys = np.random.default_rng(size).integers(0, 2**63, size).astype(np.uint64)
    index, settled = FeatureIndex(), FeatureIndex()
    index.add(keys)
    settled.add(keys)
    settled.settle()
    assert settled.rows(keys).tolist() == index.rows(keys).tolist()
    settled.settle()
    more = np.concatenate([keys[::2], np.arange(1000, dtype=np.uint64)])
    assert settled.add(more).tolist() == index.add(more).tolist()
    assert settled.keys().tolist() == index.keys().tolist()
    assert settled.counts.tolist() == index.counts.tolist()


def random_problem(seed, n_rows=40, n_columns=5, positions=30, real=False):
    random = np.random.default_rng(seed)
    index = FeatureIndex()
    index.add(random.integers(0, 2**63, n_rows, dtype=np.uint64) * np.uint64(2))
    present = random.random((n_rows, n_columns)) < 0.5
    layout = Layout.from_mask(present)
    weights = random.normal(size=layout.size)
    dense = np.zeros((n_rows, n_columns))
    dense[present] = weights
    offsets = np.concatenate([[0], np.cumsum(random.integers(0, 6, positions))])
    rows = random.integers(-1, n_rows, offsets[-1]).astype(np.int32)
    values = random.normal(size=offsets[-1]) if real else np.zeros(0)
    return random, index, layout, weights, dense, offsets, rows, values


@pytest.mark.parametrize("real", [False, True])
def test_scores_and_gradients_equal_dense_matrices(real):
    random, _, layout, weights, dense, offsets, rows, values = random_problem(1, real=real)
    design = np.zeros((len(offsets) - 1, len(dense)))
    for i in range(len(offsets) - 1):
        for f in range(offsets[i], offsets[i + 1]):
            if rows[f] >= 0:
                design[i, rows[f]] += values[f] if real else 1.0
    assert np.allclose(layout.score(rows, offsets, values, weights), design @ dense)
    coefficients = random.normal(size=(len(offsets) - 1, layout.n_columns))
    coefficients[::3] = 0.0
    into = np.zeros(layout.size)
    layout.scatter(rows, offsets, values, coefficients, into)
    full = design.T @ coefficients
    row_of = np.repeat(np.arange(len(dense)), np.diff(layout.starts))
    assert np.allclose(into, full[row_of, layout.columns])
    indices, numbers = layout.sparse(rows, offsets, values, coefficients)
    assert np.allclose(np.bincount(indices, numbers, minlength=layout.size), into)


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-6), ("int16", 1e-3), ("int8", 0.2)])
@pytest.mark.parametrize("real", [False, True])
def test_frozen_tables_score_as_the_layout_does(precision, tolerance, real):
    random, index, layout, weights, _, offsets, rows, values = random_problem(2, n_rows=500, real=real)
    strangers = random.integers(0, 2**63, len(rows), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.where(rows >= 0, index.keys()[rows], strangers)
    table = FrozenTable.freeze(index, layout, weights, precision)
    expected = layout.score(rows, offsets, values, weights)
    assert np.abs(table.score(keys, offsets, values) - expected).max() < tolerance * (3 if real else 1)


def test_pruning_drops_small_weights_and_empty_rows():
    _, index, layout, weights, _, offsets, rows, values = random_problem(3)
    table = FrozenTable.freeze(index, layout, weights, prune=1.0)
    assert table.n_weights == int((np.abs(weights) > 1.0).sum())
    assert len(table) <= len(index)
    rows = np.where(rows < 0, 0, rows)
    pruned = np.where(np.abs(weights) > 1.0, weights, 0.0)
    assert np.allclose(
        table.score(index.keys()[rows], offsets, values), layout.score(rows, offsets, values, pruned), atol=1e-5
    )


def test_empty_and_single_row_tables_work():
    index = FeatureIndex()
    index.add(np.array([5 << 60], dtype=np.uint64))
    layout = Layout.from_mask(np.ones((1, 2), dtype=bool))
    for weights in (np.zeros(2), np.array([1.0, -1.0])):
        table = FrozenTable.freeze(index, layout, weights)
        got = table.score(np.array([5 << 60, 7], dtype=np.uint64), np.array([0, 2]), np.zeros(0))
        assert got.tolist() == [weights.tolist()]


def test_hashed_rows_freeze_like_exact_ones():
    index = HashedIndex(bits=6)
    random = np.random.default_rng(0)
    layout = Layout.from_mask(np.ones((len(index), 3), dtype=bool))
    weights = random.normal(size=layout.size)
    keys = random.integers(0, 2**63, 200, dtype=np.uint64) * np.uint64(2)
    offsets = np.arange(0, 201, 4)
    table = FrozenTable.freeze(index, layout, weights)
    assert np.allclose(
        table.score(keys, offsets, np.zeros(0)),
        layout.score(index.rows(keys), offsets, np.zeros(0), weights),
        atol=1e-5,
    )


def test_bad_requests_and_damaged_tables_are_refused():
    _, index, layout, weights, *_ = random_problem(4)
    with pytest.raises(ConfigError, match="unknown precision"):
        FrozenTable.freeze(index, layout, weights, "int4")
    with pytest.raises(ConfigError, match="4 to 30 bits"):
        HashedIndex(bits=40)
    arrays = dict(FrozenTable.freeze(index, layout, weights).arrays)
    arrays["columns"] = arrays["columns"][:-1]
    with pytest.raises(ModelError, match="does not fit together"):
        FrozenTable(arrays, layout.n_columns)
