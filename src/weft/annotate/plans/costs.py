"""How long a person takes for a segment, learned from recorded times.

    linear       log seconds = a + sum_d b_d x_d + noise,   noise ~ N(0, s^2)
    gaussian     log seconds = a Gaussian process of x

Times are modelled by their logarithm: errors on short segments matter most, and a time cannot be negative. exp(m) is
the median of a prediction, which ranks segments; exp(m + s^2 / 2) is its mean, which adds up to a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.learn.gaussian.process import GaussianProcess

METHODS = ("linear", "gaussian")


class CostModel(Protocol):
    """Predicts seconds for rows of features."""

    def seconds(self, features: ArrayLike, mean: bool = True) -> Floats:
        """The mean, or the median, time of every row."""


def segment_features(lengths: ArrayLike, confidences: ArrayLike) -> Floats:
    """The features of segments: the logarithm of their number of words, and their mean doubt.

    >>> segment_features([1, 9], [1.0, 0.5]).round(2).tolist()
    [[0.0, 0.0], [2.2, 0.5]]
    """
    rows: Floats = np.stack([np.log(np.asarray(lengths, dtype=np.float64)), 1 - np.asarray(confidences)], axis=1)
    return rows


@dataclass(frozen=True)
class FixedCost:
    """A time for changing to a segment, one per word, and one per expected error.

    >>> FixedCost(3.0, 0.9, 1.0).seconds([[0.0, 0.5]]).tolist()
    [4.4]
    """

    switch: float = 3.0
    word: float = 0.9
    error: float = 1.0

    def seconds(self, features: ArrayLike, mean: bool = True) -> Floats:
        rows = np.asarray(features, dtype=np.float64)
        length = np.exp(rows[:, 0])
        times: Floats = self.switch + self.word * length + self.error * length * rows[:, 1]
        return times


@dataclass(frozen=True)
class LearnedCost:
    """A model of the logarithm of times."""

    method: str
    weights: Floats
    variance: float
    process: GaussianProcess | None = None

    @classmethod
    def fit(cls, features: ArrayLike, seconds: ArrayLike, method: str = "linear", **options: Any) -> LearnedCost:
        """Learn from rows of features and the seconds that they took.

        >>> x = segment_features([1, 2, 4, 8, 16], [0.9] * 5)
        >>> model = LearnedCost.fit(x, [2.0, 3.0, 4.5, 6.75, 10.1])
        >>> model.seconds(segment_features([4], [0.9]), mean=False).round(1).tolist()
        [4.5]
        """
        rows, times = np.asarray(features, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
        if method not in METHODS:
            raise ConfigError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        if rows.ndim != 2 or times.shape != (len(rows),):
            raise DataError(f"expected rows of features and seconds, got shapes {rows.shape} and {times.shape}")
        if len(rows) < 3 or not (times > 0).all() or not np.isfinite(rows).all():
            raise DataError("a model of times needs at least three segments that took more than 0 seconds each")
        logs = np.log(times)
        if method == "gaussian":
            return cls(method, np.zeros(0), 0.0, GaussianProcess.fit(rows, logs, **options))
        design = np.column_stack([np.ones(len(rows)), rows])
        weights = np.linalg.lstsq(design, logs, rcond=None)[0]
        left = max(1, len(rows) - np.linalg.matrix_rank(design))
        return cls(method, weights, float(((logs - design @ weights) ** 2).sum() / left))

    def seconds(self, features: ArrayLike, mean: bool = True) -> Floats:
        rows = np.asarray(features, dtype=np.float64)
        if self.process is not None:
            found = self.process.predict(rows)
            level, variance = found.mean, found.variance
        else:
            level = self.weights[0] + rows @ self.weights[1:]
            variance = np.full(len(rows), self.variance)
        times: Floats = np.exp(level + (0.5 * variance if mean else 0.0))
        return times
