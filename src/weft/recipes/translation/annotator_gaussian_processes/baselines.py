"""Baselines: means of groups, and support vector regression with its grid, pooled, per task and EasyAdapt."""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints

#: Grid of the support vector machine, chosen by cross-validation on the training set.
_C, _GAMMA, _EPSILON = (0.5, 2.0, 8.0), (0.01, 0.03, 0.1), (0.1, 0.3)


def group_means(train: Ints, y: Floats, test: Ints) -> Floats:
    """The mean of the group of every row; of a new group, the mean of all.

    >>> group_means(np.array([0, 0, 1]), np.array([1.0, 3.0, 5.0]), np.array([1, 0, 2])).tolist()
    [5.0, 2.0, 3.0]
    """
    means = {group: y[train == group].mean() for group in np.unique(train).tolist()}
    return np.array([means.get(group, y.mean()) for group in test.tolist()])


class SupportVectors:
    """An RBF support vector regression; C, gamma and epsilon by 5-fold cross-validation."""

    def __init__(self, x: Floats, y: Floats, folds: int = 5) -> None:
        from sklearn.model_selection import GridSearchCV, KFold
        from sklearn.svm import SVR

        self.centre, spread = x.mean(axis=0), x.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)
        self.level = float(y.mean())
        grid = {"C": _C, "gamma": _GAMMA, "epsilon": _EPSILON}
        split = KFold(folds, shuffle=True, random_state=0)
        self.model = GridSearchCV(SVR(), grid, scoring="neg_mean_absolute_error", cv=split)
        self.model.fit((x - self.centre) / self.spread, y - self.level)

    def predict(self, x: Floats) -> Floats:
        predicted: Floats = self.model.predict((x - self.centre) / self.spread) + self.level
        return predicted


def independent(x: Floats, groups: Ints, y: Floats, new: Floats, of_new: Ints) -> Floats:
    """One machine per group; groups with few rows, or none, get the pooled one."""
    found = SupportVectors(x, y).predict(new)
    for group in np.unique(of_new).tolist():
        own, theirs = groups == group, of_new == group
        if own.sum() >= 20:
            found[theirs] = SupportVectors(x[own], y[own]).predict(new[theirs])
    return found


def easy_adapt(x: Floats, groups: Ints, y: Floats, new: Floats, of_new: Ints) -> Floats:
    """Features shared by all, and again for every group (Daume 2007)."""
    return SupportVectors(doubled(x, groups, groups), y).predict(doubled(new, of_new, groups))


def doubled(x: Floats, groups: Ints, known: Ints) -> Floats:
    """Standardized by columns, features once for all and once for their group.

    >>> doubled(np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([0, 1])).tolist()
    [[1.0, 1.0, 0.0], [2.0, 0.0, 2.0]]
    """
    parts = [x]
    for group in np.unique(known).tolist():
        parts.append(np.where((groups == group)[:, None], x, 0.0))
    return np.concatenate(parts, axis=1)
