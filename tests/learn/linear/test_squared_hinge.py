"""Machines of one label against the rest: against LIBLINEAR and a dense solver; windows against written rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack, random

from weft.errors import ConfigError
from weft.learn.linear.classifiers import linear_svm
from weft.learn.linear.squared_hinge import SparseDesign, WindowDesign, fit_squared_hinge


def sample(seed: int, rows: int = 60, columns: int = 12, labels: int = 4) -> tuple[csr_matrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    return csr_matrix(random(rows, columns, 0.4, random_state=rng)), rng.integers(0, labels, rows)


def dense(rows: np.ndarray, own: np.ndarray, c: float) -> np.ndarray:
    """The optimum of one machine by a general optimizer."""
    y = np.where(own, 1.0, -1.0)

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        short = np.maximum(0.0, 1.0 - y * (rows @ w))
        return 0.5 * w @ w + c * short @ short, w - 2 * c * rows.T @ (y * short)

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(objective, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options=options).x


@pytest.mark.must_show("flors", 7)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 10.0]))
def test_margins_are_those_of_a_dense_solver(seed: int, c: float) -> None:
    rows, labels = sample(seed)
    found = rows @ fit_squared_hinge(SparseDesign(rows), labels, 4, c, tolerance=1e-7, block=3)
    for label in range(4):
        expected = rows @ dense(rows.toarray(), labels == label, c)
        assert found[:, label] == pytest.approx(expected, abs=1e-3)


@pytest.mark.must_show("flors", 7)
@pytest.mark.parametrize("seed", range(3))
def test_margins_are_those_of_liblinear(seed: int) -> None:
    rows, labels = sample(seed, 400, 80, 5)
    own = fit_squared_hinge(SparseDesign(rows), labels, 5, tolerance=1e-6)
    theirs = linear_svm(rows, labels, intercept=False, tolerance=1e-8, max_iterations=100_000)
    assert rows @ own == pytest.approx(theirs.scores(rows), abs=1e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_a_window_gives_the_margins_of_rows_written_out(seed: int, history: bool) -> None:
    rng = np.random.default_rng(seed)
    vectors = csr_matrix(np.round(random(6, 5, 0.5, random_state=rng).toarray(), 1))
    vectors = csr_matrix(hstack([vectors, vectors[:, :2]]))  # some columns are equal
    narrow = vectors[:, :3]
    types = rng.integers(0, 6, (40, 3))
    more = csr_matrix(np.eye(3)[rng.integers(0, 3, 40)]) if history else None
    kinds = [narrow, vectors, narrow]
    parts = [kind[types[:, p]] for p, kind in enumerate(kinds)] + ([more] if history else [])
    written = csr_matrix(hstack(parts))
    labels = rng.integers(0, 3, 40)
    design = WindowDesign(kinds, types, more)
    weights = fit_squared_hinge(design, labels, 3, tolerance=1e-8)
    expected = fit_squared_hinge(SparseDesign(written), labels, 3, tolerance=1e-8)
    assert design.scores(weights) == pytest.approx(written @ expected, abs=1e-5)
    places, rest = design.spread(weights)
    spread = np.concatenate([*places, rest])
    assert spread == pytest.approx(expected, abs=1e-4)
    assert design.shape[1] < written.shape[1]


def test_threads_and_single_precision_change_little_or_nothing() -> None:
    rows, labels = sample(1, 300, 40, 6)
    one = fit_squared_hinge(SparseDesign(rows), labels, 6, block=2)
    two = fit_squared_hinge(SparseDesign(rows), labels, 6, block=2, workers=2)
    assert np.array_equal(one, two)
    exact = fit_squared_hinge(SparseDesign(rows), labels, 6, tolerance=1e-4)
    single = fit_squared_hinge(SparseDesign(rows, np.float32), labels, 6, tolerance=1e-4)
    assert single == pytest.approx(exact, abs=1e-3)


def test_what_does_not_fit_is_refused() -> None:
    rows, labels = sample(0)
    with pytest.raises(ConfigError, match="60 rows and 3 labels"):
        fit_squared_hinge(SparseDesign(rows), [0, 1, 1], 2)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        fit_squared_hinge(SparseDesign(rows), labels, 2)
    with pytest.raises(ConfigError, match="above 0"):
        fit_squared_hinge(SparseDesign(rows), labels, 4, c=0.0)
    with pytest.raises(ConfigError, match="one column a matrix"):
        WindowDesign([rows], np.zeros((3, 2), dtype=np.int64))
