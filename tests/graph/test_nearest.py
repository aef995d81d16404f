"""The nearest vectors against sorting all scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.graph import nearest
from weft.graph.nearest import METRICS, VectorIndex


def all_scores(vectors, query, metric):
    if metric == "euclidean":
        return -np.sqrt(((vectors - query) ** 2).sum(axis=1))
    inner = vectors @ query
    return inner / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)) if metric == "cosine" else inner


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(METRICS), st.integers(1, 12), st.sampled_from([3, 1 << 16]))
def test_the_exact_search_sorts_all_scores_in_blocks_of_any_size(seed, metric, k, block):
    random = np.random.default_rng(seed)
    vectors = random.integers(1, 4, (10, 2)).astype(np.float64)  # with ties
    queries = random.integers(1, 4, (2, 2)).astype(np.float64)
    kept, nearest._BLOCK = nearest._BLOCK, block
    try:
        numbers, scores = VectorIndex(vectors, metric).search(queries, k)
    finally:
        nearest._BLOCK = kept
    for query, found, own in zip(queries, numbers, scores, strict=True):
        wanted = all_scores(vectors, query, metric)
        assert own == pytest.approx(np.sort(wanted)[::-1][:k])
        assert wanted[found] == pytest.approx(own)
        assert len(set(found.tolist())) == min(k, 10)


def test_ties_go_to_the_smaller_number():
    assert VectorIndex(np.ones((9, 2))).search(np.ones(2), 3)[0].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("metric", METRICS)
def test_the_approximate_search_finds_nearly_all(metric):
    pytest.importorskip("hnswlib")
    random = np.random.default_rng(0)
    vectors, queries = random.standard_normal((2000, 8)), random.standard_normal((20, 8))
    exact, _ = VectorIndex(vectors, metric).search(queries, 10)
    found, scores = VectorIndex(vectors, metric, approximate=True).search(queries, 10)
    shared = [len(set(a) & set(b)) for a, b in zip(exact.tolist(), found.tolist(), strict=True)]
    assert np.mean(shared) > 9
    assert (np.diff(scores, axis=1) <= 0).all()


def test_wrong_queries_are_errors():
    index = VectorIndex(np.eye(3))
    with pytest.raises(DataError, match="2 dimensions, the vectors have 3"):
        index.search(np.ones(2), 1)
    with pytest.raises(DataError, match="not finite"):
        index.search(np.array([1.0, np.nan, 0.0]), 1)
    with pytest.raises(ConfigError, match="inner, cosine"):
        VectorIndex(np.eye(3), "manhattan")
