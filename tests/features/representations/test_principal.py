"""Principal components against a dense decomposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from weft.errors import ConfigError, DataError
from weft.features.representations.principal import principal_components


@given(st.integers(0, 2**32), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_distances_in_components_are_those_of_a_dense_decomposition(seed, k):
    random = np.random.default_rng(seed)
    rows = random.random((9, 14)) * (random.random((9, 14)) < 0.5)
    found = principal_components(csr_matrix(rows), k)
    left, size, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    kept = min(k, int((size > 1e-9).sum()))
    dense = (left * size)[:, :kept]
    assert found.shape == dense.shape
    # Signs of components are free; inner products are not.
    assert found @ found.T == pytest.approx(dense @ dense.T, abs=1e-6)


def test_the_same_vectors_give_the_same_components():
    rows = csr_matrix(np.random.default_rng(0).random((30, 50)))
    assert (principal_components(rows, 5) == principal_components(rows, 5)).all()


def test_bad_requests_are_refused():
    with pytest.raises(ConfigError, match="at least one"):
        principal_components(csr_matrix(np.ones((2, 2))), 0)
    with pytest.raises(DataError, match="need vectors"):
        principal_components(csr_matrix((0, 3)), 1)
