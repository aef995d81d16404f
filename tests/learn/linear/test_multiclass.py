"""The multiclass machine of Crammer and Singer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from weft.errors import ConfigError
from weft.learn.linear.classifiers import linear_svm
from weft.learn.linear.multiclass import crammer_singer


def objective(weights: np.ndarray, rows: np.ndarray, labels: np.ndarray, c: float) -> float:
    """The objective of the module's formula, with a constant feature for the bias."""
    scores = rows @ weights
    right = scores[np.arange(len(labels)), labels]
    margins = scores - right[:, None] + 1.0
    margins[np.arange(len(labels)), labels] = 0.0
    return 0.5 * float((weights**2).sum()) + c * float(margins.max(axis=1).sum())


def test_the_machine_minimizes_the_objective_of_its_formula():
    random = np.random.default_rng(0)
    labels = np.arange(30) % 3
    rows = np.column_stack([random.normal(size=(30, 2)) + 1.5 * np.eye(3)[labels][:, :2], np.ones(30)])
    machine = crammer_singer(rows, labels, c=0.5, intercept=False, tolerance=1e-6, max_iterations=100_000)
    found = objective(machine.weights, rows, labels, 0.5)

    def slack_form(flat):
        return 0.5 * float((flat[:9] ** 2).sum()) + 0.5 * float(flat[9:].sum())

    def slack(flat):
        scores = rows @ flat[:9].reshape(3, 3)
        margins = scores[np.arange(30), labels][:, None] - scores - 1.0
        margins[np.arange(30), labels] = 0.0
        return (margins + flat[9:, None]).ravel()

    start = np.concatenate([np.zeros(9), np.full(30, 2.0)])
    best = minimize(slack_form, start, constraints={"type": "ineq", "fun": slack}, method="SLSQP")
    assert found == pytest.approx(best.fun, rel=1e-3)
    rivals = linear_svm(rows, labels, c=0.5, intercept=False)
    assert objective(rivals.weights, rows, labels, 0.5) > 1.02 * found  # one against the rest solves another problem


def test_a_single_label_is_always_chosen_and_bad_values_are_refused():
    one = crammer_singer(np.ones((3, 2)), ["a", "a", "a"])
    assert one.predict(np.zeros((2, 2))).tolist() == ["a", "a"]
    two = crammer_singer(np.array([[-1.0], [1.0]]), ["a", "b"], c=10.0)
    assert two.predict(np.array([[-1.0], [1.0]])).tolist() == ["a", "b"]
    with pytest.raises(ConfigError, match="C must be above 0"):
        crammer_singer(np.ones((2, 1)), ["a", "b"], c=0.0)
    with pytest.raises(ConfigError, match="3 rows and 2 labels"):
        crammer_singer(np.ones((3, 1)), ["a", "b"])
