"""Wrappers of scikit-learn's linear classifiers, with weights in the layout of `weft.learn.linear.choice`.

    score(item, label) = features(item) . weights[:, label] + bias[label]

A binary classifier of scikit-learn has one column w; here it is spread over two as -w/2 and +w/2, which leaves
decisions and, for logistic regression, probabilities as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.packages import needed


@dataclass(frozen=True)
class LinearClassifier:
    """Weights [features, labels], bias [labels], and the names of the labels."""

    weights: Floats
    bias: Floats
    labels: NDArray[Any]

    def scores(self, rows: Any) -> Floats:
        return np.asarray(rows @ self.weights) + self.bias

    def probabilities(self, rows: Any) -> Floats:
        """Softmax of the scores: those of logistic regression."""
        scores = self.scores(rows)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict(self, rows: Any) -> NDArray[Any]:
        return self.labels[self.scores(rows).argmax(axis=1)]


def linear_svm(
    rows: Any,
    labels: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    penalty: str = "l2",
    c: float = 1.0,
    loss: str = "squared_hinge",
    intercept: bool = True,
    tolerance: float = 1e-4,
    max_iterations: int = 2000,
    seed: int = 0,
) -> LinearClassifier:
    """A linear support vector machine (liblinear, one against the rest) on dense or CSR rows with item weights.

    >>> svm = linear_svm(np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"], c=10.0)
    >>> svm.predict(np.array([[0.5], [2.5]])).tolist()
    ['a', 'b']
    """
    svm = needed("sklearn.svm", "training a support vector machine")
    _check(penalty, c)
    # The dual knows no L1 and is the faster one only where features outnumber items.
    dual: Any = False if penalty == "l1" else (True if loss == "hinge" else "auto")
    machine = svm.LinearSVC(
        penalty=penalty, loss=loss, dual=dual, C=c, fit_intercept=intercept,
        tol=tolerance, max_iter=max_iterations, random_state=seed,
    )  # fmt: skip
    return fitted(machine, rows, labels, weight)


def logistic_regression(
    rows: Any,
    labels: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    penalty: str = "l2",
    c: float = 1.0,
    intercept: bool = True,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
    seed: int = 0,
) -> LinearClassifier:
    """Logistic regression on dense or CSR rows with item weights: multinomial under L2, one against the rest under L1.

    >>> model = logistic_regression(np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"])
    >>> model.predict(np.array([[0.5], [2.5]])).tolist()
    ['a', 'b']
    """
    regression = needed("sklearn.linear_model", "training a logistic regression").LogisticRegression
    _check(penalty, c)
    options: dict[str, Any] = {"C": c, "fit_intercept": intercept, "tol": tolerance, "max_iter": max_iterations}
    if penalty == "l2":
        return fitted(regression(solver="lbfgs", **options), rows, labels, weight)
    # scikit-learn 1.8 renamed the option.
    renamed = regression().get_params()["penalty"] == "deprecated"
    options |= {"l1_ratio": 1.0} if renamed else {"penalty": "l1"}
    names = np.asarray(labels)
    kinds = np.unique(names)
    if len(kinds) == 2:
        return fitted(regression(solver="liblinear", random_state=seed, **options), rows, names, weight)
    rivals = [
        fitted(regression(solver="liblinear", random_state=seed, **options), rows, names == kind, weight)
        for kind in kinds
    ]
    # The difference of the two columns of a binary classifier is its one column in scikit-learn.
    columns = np.stack([rival.weights[:, 1] - rival.weights[:, 0] for rival in rivals], axis=1)
    return LinearClassifier(columns, np.array([rival.bias[1] - rival.bias[0] for rival in rivals]), kinds)


def _check(penalty: str, c: float) -> None:
    if penalty not in ("l1", "l2"):
        raise ConfigError(f"The penalty is 'l1' or 'l2', not {penalty!r}.")
    if c <= 0:
        raise ConfigError(f"C must be above 0, got {c}.")


def fitted(machine: Any, rows: Any, labels: ArrayLike, weight: ArrayLike | None = None) -> LinearClassifier:
    """Fit a machine of scikit-learn, and take its weights in the layout of this module."""
    names = np.asarray(labels)
    if len(names) != rows.shape[0]:
        raise ConfigError(f"There are {rows.shape[0]} rows and {len(names)} labels; give one label per row.")
    if len(np.unique(names)) < 2:
        raise ConfigError(f"A classifier needs at least 2 labels, the data have {len(np.unique(names))}.")
    machine.fit(rows, names, sample_weight=None if weight is None else np.asarray(weight, dtype=np.float64))
    columns = np.asarray(machine.coef_, dtype=np.float64)
    bias = np.broadcast_to(np.asarray(machine.intercept_, dtype=np.float64), (len(columns),))
    if len(columns) == 1:
        columns, bias = np.vstack([-0.5 * columns, 0.5 * columns]), np.concatenate([-0.5 * bias, 0.5 * bias])
    return LinearClassifier(np.ascontiguousarray(columns.T), np.array(bias), machine.classes_)
