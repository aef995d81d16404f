"""Scores of partitions by vector sums, and clusters as items of the next level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.sampling.items import Items, canonical, refined


def random_problem(n: int, seed: int) -> tuple[Items, np.ndarray]:
    random = np.random.default_rng(seed)
    rows = random.random((n, 5)) * (random.random((n, 5)) < 0.6)
    items = Items.from_rows(rows)
    return Items.of(items.offsets, items.columns, items.values, random.random(n)), canonical(random.integers(0, n, n))


@pytest.mark.must_show("cross-document-coreference", 1)
@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10**6), st.floats(-1, 1))
def test_vector_sums_give_the_sum_over_pairs(n, seed, bias):
    items, labels = random_problem(n, seed)
    rows = items.matrix().toarray().astype(np.float64)
    g = rows @ rows.T - bias * np.outer(items.mass, items.mass)
    same = (labels[:, None] == labels) & ~np.eye(n, dtype=bool)
    assert items.score(labels, bias) == pytest.approx(float(g[same].sum()), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 10), st.integers(0, 10**6))
def test_partitions_of_clusters_score_as_those_of_their_items(n, seed):
    items, labels = random_problem(n, seed)
    united, number = items.united(labels)
    coarse = canonical(np.random.default_rng(seed).integers(0, 3, len(united)))
    apart = items.score(labels, 0.3)
    assert united.score(coarse, 0.3) == pytest.approx(items.score(coarse[number], 0.3) - apart, abs=1e-5)


def test_a_union_by_cosine_counts_as_one_item_of_the_usual_length():
    items = Items.from_rows([[3.0, 0.0], [0.0, 3.0], [0.0, 3.0], [0.0, 3.0]])
    united, _ = items.united([0, 0, 2, 2], "cosine")
    assert united.mass.tolist() == [1.0, 1.0]
    assert np.sqrt(united.norms) == pytest.approx([3.0, 3.0])
    assert united.matrix().toarray()[0] == pytest.approx([3 / np.sqrt(2)] * 2)


def test_labels_are_refined_where_a_coarser_partition_is_cut():
    assert refined([5, 5, 5, 1], [0, 0, 1, 1]).tolist() == [0, 0, 2, 3]
    assert canonical([]).tolist() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0], [1.0, 1.0]), "a column for each of their 2 values"),
        (([0, 1], [-1], [1.0]), "columns must be 0 or more"),
        (([0, 1], [0], [np.nan]), "not finite"),
        (([0, 1], [0], [1.0], [1.0, 1.0]), "2 masses for 1 items"),
        (([1, 1], [0], [1.0]), "offsets must rise from 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(InferenceError, match=message):
        Items.of(*arguments)


def test_a_partition_needs_a_label_per_item():
    with pytest.raises(InferenceError, match="one label for each of 2 items"):
        Items.from_rows(np.eye(2)).score([0, 0, 0], 0.0)
