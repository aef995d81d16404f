"""Kernels of Gaussian processes and their derivatives by logarithms of their hyper-parameters.

    squared exponential      k(x, z) = s^2 exp(-r^2 / 2)                 r^2 = sum_d (x_d - z_d)^2 / l_d^2
    rational quadratic       k(x, z) = s^2 (1 + r^2 / 2a)^-a
    Matern 5/2               k(x, z) = s^2 (1 + t + t^2 / 3) exp(-t)     t = sqrt(5) r
    linear                   k(x, z) = sum_d x_d z_d / l_d^2
    neural network           k(x, z) = s^2 asin(x'Pz / sqrt((1 + x'Px) (1 + z'Pz))),    x with 1 before, P = diag(1/l^2)
    sum                      k(x, z) = k_1(x, z) + k_2(x, z)

A length-scale that grows says that its feature does not matter (automatic relevance determination); an isotropic
kernel has one length-scale for all features. No matrix of derivatives is ever formed: what learning needs is their
product with given weights w, and for all length-scales together that is one product of matrices,

    sum_ij w_ij (x_id - z_jd)^2 = sum_i w_i. x_id^2 + sum_j w_.j z_jd^2 - 2 x_d' w z_d
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError


class Kernel(Protocol):
    """Covariances of rows; `logs` are the logarithms of the hyper-parameters, which learning moves."""

    logs: Floats

    def matrix(self, x: Floats, z: Floats) -> Floats:
        """k(x_i, z_j)."""

    def diagonal(self, x: Floats) -> Floats:
        """k(x_i, x_i)."""

    def slopes(self, x: Floats, z: Floats, weights: Floats) -> Floats:
        """sum_ij weights_ij dk(x_i, z_j)/dt for every logarithm t."""

    def diagonal_slopes(self, x: Floats, weights: Floats) -> Floats:
        """sum_i weights_i dk(x_i, x_i)/dt for every logarithm t."""

    def with_logs(self, logs: Floats) -> Kernel:
        """The same kernel with other hyper-parameters."""


class Scaled:
    """What kernels with length-scales share: `logs` are log s, and one log l_d per feature or one for all."""

    extra = 1  #: logarithms before the length-scales

    def __init__(self, logs: Floats) -> None:
        self.logs = np.asarray(logs, dtype=np.float64)

    @classmethod
    def of(cls, features: int) -> Self:
        """A kernel with scales of 1, for features that are standardized; `features` is 1 for an isotropic kernel."""
        return cls(np.zeros(cls.extra + features))

    @property
    def length_scales(self) -> Floats:
        scales: Floats = np.exp(self.logs[self.extra :])
        return scales

    def with_logs(self, logs: Floats) -> Self:
        return type(self)(logs)

    def spread(self, x: Floats) -> Self:
        """The same kernel with a length-scale per feature, where an isotropic one starts."""
        if len(self.length_scales) == x.shape[1]:
            return self
        return type(self)(np.concatenate([self.logs[: self.extra], np.full(x.shape[1], self.logs[-1])]))

    def _by_scale(self, per_feature: Floats) -> Floats:
        """Slopes by the length-scales: of an isotropic kernel their sum."""
        return per_feature if len(self.length_scales) == len(per_feature) else per_feature.sum(keepdims=True)


class Radial(Scaled):
    """A kernel of the scaled distance of two rows."""

    def matrix(self, x: Floats, z: Floats) -> Floats:
        return self._of_squares(self._squares(x, z))[0]

    def diagonal(self, x: Floats) -> Floats:
        return np.full(len(x), np.exp(2 * self.logs[0]))

    def slopes(self, x: Floats, z: Floats, weights: Floats) -> Floats:
        squares = self._squares(x, z)
        covariance, steep = self._of_squares(squares)
        scale = [2 * float(np.vdot(weights, covariance)), *self._shape_slopes(squares, covariance, weights)]
        w = weights * steep
        apart = w.sum(axis=1) @ (x * x) + w.sum(axis=0) @ (z * z) - 2 * np.einsum("id,id->d", x, w @ z)
        lengths = self.length_scales if len(self.length_scales) > 1 else self.length_scales[0]
        return np.concatenate([scale, self._by_scale(apart / lengths**2)])

    def diagonal_slopes(self, x: Floats, weights: Floats) -> Floats:
        slopes = np.zeros(len(self.logs))
        slopes[0] = 2 * np.exp(2 * self.logs[0]) * weights.sum()
        return slopes

    def _squares(self, x: Floats, z: Floats) -> Floats:
        a, b = x / self.length_scales, z / self.length_scales
        squares = a @ b.T
        squares *= -2
        squares += (a * a).sum(axis=1)[:, None]
        squares += (b * b).sum(axis=1)[None, :]
        return np.maximum(squares, 0.0, out=squares)

    def _of_squares(self, squares: Floats) -> tuple[Floats, Floats]:
        """k, and f in dk / d log l_d = f (x_d - z_d)^2 / l_d^2."""
        raise NotImplementedError

    def _shape_slopes(self, squares: Floats, covariance: Floats, weights: Floats) -> list[float]:
        """Slopes by logarithms that stand between log s and the length-scales."""
        return []


class SquaredExponential(Radial):
    """The squared exponential kernel.

    >>> kernel = SquaredExponential(np.zeros(2))
    >>> kernel.matrix(np.array([[0.0]]), np.array([[0.0], [1.0]])).round(3).tolist()
    [[1.0, 0.607]]
    """

    def _of_squares(self, squares: Floats) -> tuple[Floats, Floats]:
        covariance: Floats = np.exp(2 * self.logs[0] - 0.5 * squares)
        return covariance, covariance


class RationalQuadratic(Radial):
    """A mixture of squared exponentials of many lengths; `logs` are log s, log a and log l_d.

    >>> RationalQuadratic(np.zeros(3)).matrix(np.array([[0.0]]), np.array([[1.0]])).round(3).tolist()
    [[0.667]]
    """

    extra = 2

    def _of_squares(self, squares: Floats) -> tuple[Floats, Floats]:
        a = np.exp(self.logs[1])
        base = 1 + squares / (2 * a)
        covariance: Floats = np.exp(2 * self.logs[0] - a * np.log(base))
        return covariance, covariance / base

    def _shape_slopes(self, squares: Floats, covariance: Floats, weights: Floats) -> list[float]:
        a = float(np.exp(self.logs[1]))
        base = 1 + squares / (2 * a)
        return [float(np.vdot(weights, covariance * (squares / (2 * base) - a * np.log(base))))]


class Matern(Radial):
    """The Matern kernel of order 5/2: rougher functions.

    >>> Matern(np.zeros(2)).matrix(np.array([[0.0]]), np.array([[1.0]])).round(3).tolist()
    [[0.524]]
    """

    def _of_squares(self, squares: Floats) -> tuple[Floats, Floats]:
        t = np.sqrt(5 * squares)
        fall = np.exp(2 * self.logs[0] - t)
        covariance: Floats = (1 + t + 5 * squares / 3) * fall
        return covariance, 5 / 3 * (1 + t) * fall


class Linear(Scaled):
    """The linear kernel; `logs` are log l_d.

    >>> Linear(np.zeros(2)).matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[11.0]]
    """

    extra = 0

    def matrix(self, x: Floats, z: Floats) -> Floats:
        product: Floats = (x / self.length_scales**2) @ z.T
        return product

    def diagonal(self, x: Floats) -> Floats:
        squares: Floats = ((x / self.length_scales) ** 2).sum(axis=1)
        return squares

    def slopes(self, x: Floats, z: Floats, weights: Floats) -> Floats:
        return self._by_scale(-2 * np.einsum("id,id->d", x, weights @ z) / self.length_scales**2)

    def diagonal_slopes(self, x: Floats, weights: Floats) -> Floats:
        return self._by_scale(-2 * (weights @ (x * x)) / self.length_scales**2)


class NeuralNetwork(Scaled):
    """The kernel of infinitely many hidden units; `logs` are log s, log l_0 of the bias, and log l_d.

    >>> NeuralNetwork(np.zeros(3)).matrix(np.array([[0.0]]), np.array([[0.0]])).round(3).tolist()
    [[0.524]]
    """

    extra = 2

    def matrix(self, x: Floats, z: Floats) -> Floats:
        sines, _, _ = self._parts(x, z)
        covariance: Floats = np.exp(2 * self.logs[0]) * np.arcsin(sines)
        return covariance

    def diagonal(self, x: Floats) -> Floats:
        size = self._sizes(x)
        covariance: Floats = np.exp(2 * self.logs[0]) * np.arcsin(size / (1 + size))
        return covariance

    def slopes(self, x: Floats, z: Floats, weights: Floats) -> Floats:
        sines, rows, columns = self._parts(x, z)
        scale = np.exp(2 * self.logs[0])
        w = weights * scale / np.sqrt(1 - sines * sines)
        a, b = _with_one(x), _with_one(z)
        shared = w * sines
        across = np.einsum("id,id->d", a, (w / np.sqrt(rows[:, None] * columns[None, :])) @ b)
        per = (shared.sum(axis=1) / rows) @ (a * a) + (shared.sum(axis=0) / columns) @ (b * b) - 2 * across
        per /= self._lengths(x) ** 2
        first = [2 * scale * float(np.vdot(weights, np.arcsin(sines))), per[0]]
        return np.concatenate([first, self._by_scale(per[1:])])

    def diagonal_slopes(self, x: Floats, weights: Floats) -> Floats:
        size, scale = self._sizes(x), np.exp(2 * self.logs[0])
        sines = size / (1 + size)
        steep = weights * scale / np.sqrt(1 - sines * sines) / (1 + size) ** 2
        per = -2 * (steep @ _with_one(x) ** 2) / self._lengths(x) ** 2
        first = [2 * scale * float(weights @ np.arcsin(sines)), per[0]]
        return np.concatenate([first, self._by_scale(per[1:])])

    def _lengths(self, x: Floats) -> Floats:
        lengths = np.broadcast_to(self.length_scales, x.shape[1])
        return np.concatenate([[np.exp(self.logs[1])], lengths])

    def _sizes(self, x: Floats) -> Floats:
        sizes: Floats = ((_with_one(x) / self._lengths(x)) ** 2).sum(axis=1)
        return sizes

    def _parts(self, x: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
        """The arguments of the arc sine, and 1 + x'Px of rows and columns."""
        rows, columns = 1 + self._sizes(x), 1 + self._sizes(z)
        product = (_with_one(x) / self._lengths(x) ** 2) @ _with_one(z).T
        return product / np.sqrt(rows[:, None] * columns[None, :]), rows, columns


def _with_one(x: Floats) -> Floats:
    return np.concatenate([np.ones((len(x), 1)), x], axis=1)


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

    def slopes(self, x: Floats, z: Floats, weights: Floats) -> Floats:
        return np.concatenate([self.first.slopes(x, z, weights), self.second.slopes(x, z, weights)])

    def diagonal_slopes(self, x: Floats, weights: Floats) -> Floats:
        return np.concatenate([self.first.diagonal_slopes(x, weights), self.second.diagonal_slopes(x, weights)])

    def with_logs(self, logs: Floats) -> Sum:
        cut = len(self.first.logs)
        return Sum(self.first.with_logs(logs[:cut]), self.second.with_logs(logs[cut:]))


#: Kernels with length-scales, by their names in settings.
KERNELS: dict[str, type[Radial] | type[Linear] | type[NeuralNetwork]] = {
    "squared-exponential": SquaredExponential, "rational-quadratic": RationalQuadratic, "matern": Matern,
    "linear": Linear, "neural-network": NeuralNetwork,
}  # fmt: skip


def kernel_class(name: str) -> type[Radial] | type[Linear] | type[NeuralNetwork]:
    """The class of a kernel.

    >>> kernel_class("matern").__name__
    'Matern'
    """
    if name not in KERNELS:
        raise ConfigError(f"unknown kernel {name!r}; the kernels are: {', '.join(KERNELS)}")
    return KERNELS[name]
