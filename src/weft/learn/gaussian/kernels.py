"""Kernels of Gaussian processes and their derivatives by logarithms of their hyper-parameters.

    squared exponential      k(x, z) = s^2 exp(-1/2 sum_d (x_d - z_d)^2 / l_d^2)       one length-scale l_d per feature
    sum                      k(x, z) = k_1(x, z) + k_2(x, z)

A length-scale that grows says that its feature does not matter (automatic relevance determination).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from weft.arrays import Floats


class Kernel(Protocol):
    """Covariances of rows; `logs` are the logarithms of the hyper-parameters, which learning moves."""

    logs: Floats

    def matrix(self, x: Floats, z: Floats) -> Floats:
        """k(x_i, z_j)."""

    def diagonal(self, x: Floats) -> Floats:
        """k(x_i, x_i)."""

    def gradients(self, x: Floats) -> Iterator[Floats]:
        """The derivative of `matrix(x, x)` by every logarithm."""

    def with_logs(self, logs: Floats) -> Kernel:
        """The same kernel with other hyper-parameters."""


class SquaredExponential:
    """The squared exponential kernel; `logs` are log s and log l_d.

    >>> kernel = SquaredExponential(np.zeros(2))
    >>> kernel.matrix(np.array([[0.0]]), np.array([[0.0], [1.0]])).round(3).tolist()
    [[1.0, 0.607]]
    """

    def __init__(self, logs: Floats) -> None:
        self.logs = np.asarray(logs, dtype=np.float64)

    @classmethod
    def of(cls, features: int) -> SquaredExponential:
        """A kernel with scales of 1, for features that are standardized."""
        return cls(np.zeros(features + 1))

    @property
    def length_scales(self) -> Floats:
        scales: Floats = np.exp(self.logs[1:])
        return scales

    def matrix(self, x: Floats, z: Floats) -> Floats:
        a, b = x / self.length_scales, z / self.length_scales
        squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * a @ b.T
        covariance: Floats = np.exp(2 * self.logs[0] - 0.5 * np.maximum(squares, 0.0))
        return covariance

    def diagonal(self, x: Floats) -> Floats:
        return np.full(len(x), np.exp(2 * self.logs[0]))

    def gradients(self, x: Floats) -> Iterator[Floats]:
        covariance = self.matrix(x, x)
        yield 2 * covariance
        for column, scale in enumerate(self.length_scales.tolist()):
            apart = (x[:, column, None] - x[None, :, column]) / scale
            yield covariance * apart * apart

    def with_logs(self, logs: Floats) -> SquaredExponential:
        return SquaredExponential(logs)


class Sum:
    """The sum of two kernels.

    >>> both = Sum(SquaredExponential(np.zeros(2)), SquaredExponential(np.zeros(2)))
    >>> both.diagonal(np.zeros((1, 1))).tolist(), len(both.logs)
    ([2.0], 4)
    """

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first, self.second = first, second
        self.logs = np.concatenate([first.logs, second.logs])

    def matrix(self, x: Floats, z: Floats) -> Floats:
        return self.first.matrix(x, z) + self.second.matrix(x, z)

    def diagonal(self, x: Floats) -> Floats:
        return self.first.diagonal(x) + self.second.diagonal(x)

    def gradients(self, x: Floats) -> Iterator[Floats]:
        yield from self.first.gradients(x)
        yield from self.second.gradients(x)

    def with_logs(self, logs: Floats) -> Sum:
        cut = len(self.first.logs)
        return Sum(self.first.with_logs(logs[:cut]), self.second.with_logs(logs[cut:]))
