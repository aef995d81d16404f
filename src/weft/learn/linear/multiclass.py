"""Multiclass support vector machines after Crammer and Singer, through liblinear (scikit-learn).

    min over weights of  1/2 |weights|^2 + C sum over items i of  max over labels y of  [y != y_i] + s_i(y) - s_i(y_i)

    s_i(y) = features(i) . weights[:, y] + bias[y]

All labels are learned in one problem, so that their scores are on one scale; a softmax of them can serve as
probabilities (Manshadi, Gildea and Allen 2013). `weft.learn.linear.classifiers` has the machines that learn one label
against the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weft.errors import ConfigError
from weft.learn.linear.classifiers import LinearClassifier, fitted
from weft.packages import needed


def crammer_singer(
    rows: Any,
    labels: ArrayLike,
    *,
    c: float = 1.0,
    intercept: bool = True,
    tolerance: float = 1e-2,
    max_iterations: int = 5000,
    seed: int = 0,
) -> LinearClassifier:
    """A multiclass machine on dense or CSR rows; data of a single label give a classifier that always chooses it.

    >>> rows = np.array([[-2.5], [-1.5], [-0.5], [0.5], [1.5], [2.5]])
    >>> machine = crammer_singer(rows, ["a", "a", "b", "b", "c", "c"], c=10.0)
    >>> machine.predict(np.array([[-2.4], [2.4]])).tolist()
    ['a', 'c']
    >>> machine.probabilities(rows).sum(axis=1).round(6).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if c <= 0:
        raise ConfigError(f"C must be above 0, got {c}.")
    names = np.asarray(labels)
    kinds = np.unique(names)
    if len(kinds) == 1 and len(names) == rows.shape[0]:
        return LinearClassifier(np.zeros((rows.shape[1], 1)), np.zeros(1), kinds)
    svm = needed("sklearn.svm", "training a support vector machine")
    machine = svm.LinearSVC(
        multi_class="crammer_singer", C=c, fit_intercept=intercept, tol=tolerance, max_iter=max_iterations,
        random_state=seed,
    )  # fmt: skip
    return fitted(machine, rows, names)
