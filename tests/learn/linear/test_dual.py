"""The dual solvers reach the minima that liblinear finds."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.learn.linear.dual import (
    BinaryRows,
    binary_objective,
    crammer_singer_objective,
    fit_binary,
    fit_crammer_singer,
)


@pytest.fixture(scope="module")
def toy() -> tuple[np.ndarray, BinaryRows, np.ndarray]:
    rng = np.random.default_rng(0)
    dense = (rng.random((200, 40)) < 0.15).astype(np.float64)
    dense[:, 0] = 1.0
    labels = (dense @ rng.normal(size=(40, 5)) + rng.normal(size=(200, 5))).argmax(axis=1)
    return dense, BinaryRows.of([np.flatnonzero(row).tolist() for row in dense], 40), labels


@pytest.mark.must_show("multilingual-srl-pipeline", 4)
@pytest.mark.parametrize("c", [0.01, 0.1, 1.0])
def test_crammer_singer_reaches_the_objective_of_liblinear(toy, c: float):
    svm = pytest.importorskip("sklearn.svm")
    dense, rows, labels = toy
    peer = svm.LinearSVC(multi_class="crammer_singer", C=c, fit_intercept=False, tol=1e-5, max_iter=100_000)
    theirs = crammer_singer_objective(rows, labels, peer.fit(dense, labels).coef_.T.astype(np.float32).copy(), c)
    ours = crammer_singer_objective(rows, labels, fit_crammer_singer(rows, labels, 5, c, tolerance=1e-3), c)
    assert ours == pytest.approx(theirs, rel=1e-3)


@pytest.mark.must_show("multilingual-srl-pipeline", 4)
@pytest.mark.parametrize("c", [0.01, 1.0])
def test_the_binary_machine_reaches_the_objective_of_liblinear(toy, c: float):
    svm = pytest.importorskip("sklearn.svm")
    dense, rows, labels = toy
    peer = svm.LinearSVC(C=c, fit_intercept=False, tol=1e-5, max_iter=100_000, dual=True).fit(dense, labels > 2)
    theirs = binary_objective(rows, labels > 2, peer.coef_.T.astype(np.float32).copy(), c)
    ours = binary_objective(rows, labels > 2, fit_binary(rows, labels > 2, c, tolerance=1e-3), c)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_rows_without_features_and_wrong_labels_are_survived_or_refused():
    rows = BinaryRows.of([[], [0], [1]], 2)
    assert np.isfinite(fit_crammer_singer(rows, [0, 0, 1], 2, 1.0)).all()
    assert np.isfinite(fit_binary(rows, [True, True, False], 1.0)).all()
    with pytest.raises(ConfigError, match="labels must lie between 0 and 1"):
        fit_crammer_singer(rows, [0, 0, 2], 2, 1.0)
    with pytest.raises(ConfigError, match="one label per row"):
        fit_binary(rows, [True], 1.0)
