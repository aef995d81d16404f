"""Closures, reductions and cycles of relations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from weft.errors import InferenceError
from weft.infer.orders.relations import closure, cycle, is_partial_order, reduction

relations = st.integers(1, 6).flatmap(lambda n: arrays(np.bool_, (n, n)))


@settings(deadline=None, max_examples=100)
@given(relations)
def test_the_closure_has_every_pair_joined_by_a_path_and_no_other(matrix):
    reached = matrix.copy()
    for _ in range(len(matrix)):
        reached = reached | (reached.astype(int) @ matrix.astype(int) > 0)
    assert np.array_equal(closure(matrix), reached)
    assert is_partial_order(matrix) == (np.array_equal(reached, matrix) and not matrix.diagonal().any())


@settings(deadline=None, max_examples=60)
@given(relations)
def test_the_reduction_has_the_same_closure_and_no_pair_to_spare(matrix):
    upper = np.triu(matrix, 1)
    reduced = reduction(upper)
    assert np.array_equal(closure(reduced), closure(upper))
    for u, v in np.argwhere(reduced):
        fewer = reduced.copy()
        fewer[u, v] = False
        assert not closure(fewer)[u, v]


@settings(deadline=None, max_examples=100)
@given(relations)
def test_the_cycle_is_a_shortest_one(matrix):
    found = cycle(matrix)
    power, lengths = matrix.astype(int), []  # a cycle of length k is a one on the diagonal of the k-th power
    for length in range(1, len(matrix) + 1):
        lengths += [length] * int(power.trace() > 0)
        power = (power @ matrix > 0).astype(int)
    assert len(found) == (lengths[0] + 1 if lengths else 0)
    assert all(matrix[u, v] for u, v in pairwise(found))
    assert found[:1] == found[-1:]


def test_what_is_no_order_is_told():
    with pytest.raises(InferenceError, match="cycle: 0 > 1 > 0"):
        reduction([[0, 1], [1, 0]])
    with pytest.raises(InferenceError, match="square"):
        closure(np.zeros((2, 3)))
