"""Caches: the values of the function, each computed once, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.features.cache import Cache, RowCache, distinct_rows

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)


def as_array(rows: list[tuple[int, int]]) -> np.ndarray:
    return np.array(rows, dtype=np.int32).reshape(-1, 2)


def test_a_cache_forgets_what_was_not_asked_for_lately_and_keeps_the_rest():
    asked: list[str] = []
    cache: Cache[str, int] = Cache(lambda key: asked.append(key) or len(key), limit=4)
    assert [cache[key] for key in ("a", "bb", "a", "ccc", "a", "dd", "e", "a", "bb")] == [1, 2, 1, 3, 1, 2, 1, 1, 2]
    assert asked == ["a", "bb", "ccc", "dd", "e", "bb"]


@given(st.lists(st.integers(0, 30)), st.integers(1, 12))
def test_a_cache_gives_the_values_of_the_function_within_its_limit(keys: list[int], limit: int):
    cache: Cache[int, int] = Cache(lambda key: -key, limit)
    for key in keys:
        assert cache[key] == -key
        assert len(cache) + len(cache.older) <= limit + 1


@pytest.mark.parametrize("limit", [1, 4, 64])
@given(batches=st.lists(ROWS, min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_a_row_cache_gives_the_values_of_the_function(limit: int, batches: list[list[tuple[int, int]]]):
    cache = RowCache(2, limit)
    for batch in batches:
        rows = as_array(batch)
        assert cache.lookup(rows, lambda new: new[:, 0] * 10 + new[:, 1]).tolist() == [10 * a + b for a, b in batch]


@given(ROWS)
def test_a_row_cache_with_room_asks_for_no_row_twice(rows: list[tuple[int, int]]):
    cache = RowCache(2)
    asked: list[tuple[int, ...]] = []

    def compute(new: np.ndarray) -> np.ndarray:
        asked.extend(map(tuple, new.tolist()))
        return new.sum(axis=1)

    for _ in range(2):
        cache.lookup(as_array(rows), compute)
    assert asked == list(dict.fromkeys(rows))


@given(ROWS)
def test_distinct_rows_are_numbered_by_first_occurrence(rows: list[tuple[int, int]]):
    distinct, numbers = distinct_rows(as_array(rows))
    assert list(map(tuple, distinct.tolist())) == list(dict.fromkeys(rows))
    assert distinct[numbers].tolist() == as_array(rows).tolist()
