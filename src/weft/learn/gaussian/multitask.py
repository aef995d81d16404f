"""Covariances of rows that belong to tasks: features, descriptors (annotator, system ...), and noise by descriptor.

    k((x, m), (x', m')) = k_data(x, x') prod_i B^(i)[m_i, m'_i]
    y = f(x, m) + noise,    log s(m) = sum over chosen descriptors i of n^(i)[m_i],   or one s for all

All parameters stand in one vector: the kernel's logarithms, those of the descriptors, those of the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weft.arrays import Floats, Ints
from weft.learn.gaussian.kernels import KERNELS, Linear, NeuralNetwork, Radial
from weft.learn.gaussian.tasks import Share

DataKernel = Radial | Linear | NeuralNetwork
#: Bounds of the logarithms of kernels and of noise, for standardized features and targets.
_KERNEL_BOUNDS, _NOISE_BOUNDS = (-6.0, 6.0), (-3.5, 3.0)


@dataclass(frozen=True)
class Design:
    """Rows: standardized features, and the number of the value of every descriptor, -1 for one never seen."""

    x: Floats
    tasks: Ints

    def __len__(self) -> int:
        return len(self.x)

    def rows(self, chosen: Sequence[int] | Ints) -> Design:
        """Some of the rows."""
        return Design(self.x[chosen], self.tasks[chosen])


@dataclass(frozen=True)
class Noise:
    """Standard deviations of observations: one for all, or by the values of descriptors, additive in their logarithms.

    >>> Noise.by((0,), (2,)).with_values(np.log([0.5, 2.0])).variances(np.array([[0], [1], [-1]])).tolist()
    [0.25, 4.0, 1.0]
    """

    descriptors: tuple[int, ...]
    sizes: tuple[int, ...]
    values: Floats

    @classmethod
    def by(cls, descriptors: Sequence[int], sizes: Sequence[int], level: float = np.log(0.5)) -> Noise:
        """The same noise everywhere, to be learned by descriptor."""
        kept = tuple(sizes[k] for k in descriptors)
        values = np.zeros(sum(kept) or 1)
        values[: kept[0] if kept else 1] = level
        return cls(tuple(descriptors), kept, values)

    def with_values(self, values: Floats) -> Noise:
        return replace(self, values=np.asarray(values, dtype=np.float64))

    def logs(self, tasks: Ints) -> Floats:
        """log s of rows."""
        if not self.descriptors:
            return np.full(len(tasks), self.values[0])
        total, start = np.zeros(len(tasks)), 0
        for k, size in zip(self.descriptors, self.sizes, strict=True):
            own = self.values[start : start + size]
            total += np.append(own, own.mean())[tasks[:, k]]
            start += size
        return total

    def variances(self, tasks: Ints) -> Floats:
        """s^2 of rows."""
        variances: Floats = np.exp(2 * self.logs(tasks))
        return variances

    def slopes(self, tasks: Ints, weights: Floats) -> Floats:
        """sum_i weights_i ds_i^2/dt for every parameter t; all values are known ones."""
        moved = 2 * self.variances(tasks) * weights
        if not self.descriptors:
            return moved.sum(keepdims=True)
        parts = [
            np.bincount(tasks[:, k], moved, size) for k, size in zip(self.descriptors, self.sizes, strict=True)
        ]  # fmt: skip
        return np.concatenate(parts)

    def level(self) -> float:
        """The mean of log s over all values."""
        starts = np.cumsum([0, *self.sizes])
        if not self.descriptors:
            return float(self.values[0])
        return float(sum(self.values[starts[k] : starts[k + 1]].mean() for k in range(len(self.sizes))))


@dataclass(frozen=True)
class Covariance:
    """A kernel of features, a covariance per descriptor, and noise."""

    kernel: DataKernel
    shares: tuple[Share, ...]
    noise: Noise

    @classmethod
    def of(cls, kernel: str, features: int, kinds: Sequence[str], sizes: Sequence[int], noise: Sequence[int] = ()
           ) -> Covariance:  # fmt: skip
        """All hyper-parameters at 1, the noise at .5.

        >>> Covariance.of("matern", 2, ["combined"], [3]).parameters.round(2).tolist()
        [0.0, 0.0, 0.0, 0.0, -0.69]
        """
        shares = tuple(Share.of(kind, size) for kind, size in zip(kinds, sizes, strict=True))
        return cls(KERNELS[kernel].of(features), shares, Noise.by(tuple(noise), tuple(sizes)))

    @property
    def parameters(self) -> Floats:
        """All of them."""
        return np.concatenate([self.kernel.logs, *(share.values for share in self.shares), self.noise.values])

    def with_parameters(self, parameters: Floats) -> Covariance:
        """The same covariance with other parameters."""
        ends = np.cumsum([len(self.kernel.logs), *(len(share.values) for share in self.shares)])
        kernel, *shares, noise = np.split(np.asarray(parameters, dtype=np.float64), ends)
        return Covariance(
            self.kernel.with_logs(kernel),
            tuple(share.with_values(own) for share, own in zip(self.shares, shares, strict=True)),
            self.noise.with_values(noise),
        )

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of the parameters for learning."""
        own = [_KERNEL_BOUNDS] * len(self.kernel.logs)
        return [*own, *(pair for share in self.shares for pair in share.bounds),
                *[_NOISE_BOUNDS] * len(self.noise.values)]  # fmt: skip

    @cached_property
    def _tables(self) -> list[Floats]:
        return [share.extended() for share in self.shares]

    def matrix(self, one: Design, other: Design) -> Floats:
        """Covariances of f."""
        return self.shared(one, other, self.kernel.matrix(one.x, other.x))

    def shared(self, one: Design, other: Design, covariance: Floats, without: int = -1) -> Floats:
        """A matrix times the covariances of descriptors, all or all but one; in place."""
        for k, (share, table) in enumerate(zip(self.shares, self._tables, strict=True)):
            if k != without and share.kind != "pooled":
                covariance *= table[one.tasks[:, k][:, None], other.tasks[:, k][None, :]]
        return covariance

    def diagonal(self, rows: Design) -> Floats:
        """Variances of f."""
        variances = self.kernel.diagonal(rows.x)
        for k, table in enumerate(self._tables):
            variances = variances * np.diag(table)[rows.tasks[:, k]]
        return variances

    def slopes(self, one: Design, other: Design, weights: Floats) -> Floats:
        """sum_ij weights_ij dK_ij/dt for all parameters t but those of the noise; all values are known ones."""
        parts = [self.kernel.slopes(one.x, other.x, self.shared(one, other, weights.copy()))]
        learned = [k for k, share in enumerate(self.shares) if len(share.values)]
        data = weights * self.kernel.matrix(one.x, other.x) if learned else weights
        for k, share in enumerate(self.shares):
            if k in learned:
                own = self.shared(one, other, data.copy(), without=k) if len(self.shares) > 1 else data
                parts.append(share.slopes(_by_value(own, one.tasks[:, k], other.tasks[:, k], share.size)))
        return np.concatenate(parts)

    def diagonal_slopes(self, rows: Design, weights: Floats) -> Floats:
        """sum_i weights_i dK_ii/dt for all parameters t but those of the noise."""
        factors = [np.diag(table)[rows.tasks[:, k]] for k, table in enumerate(self._tables)]
        every = np.prod(factors, axis=0) if factors else np.ones(len(rows))
        parts = [self.kernel.diagonal_slopes(rows.x, weights * every)]
        data = weights * self.kernel.diagonal(rows.x)
        for k, share in enumerate(self.shares):
            if len(share.values):
                others = np.prod([factor for j, factor in enumerate(factors) if j != k], axis=0)
                parts.append(share.slopes(np.diag(np.bincount(rows.tasks[:, k], data * others, share.size))))
        return np.concatenate(parts)

    def scaled(self, by: float) -> Covariance:
        """The same with the variance of the data kernel times `by`."""
        logs = self.kernel.logs.copy()
        if isinstance(self.kernel, Linear):
            logs -= 0.5 * np.log(by)
        else:
            logs[0] += 0.5 * np.log(by)
        return replace(self, kernel=self.kernel.with_logs(logs))


def _by_value(weights: Floats, rows: Ints, columns: Ints, size: int) -> Floats:
    """Sums of weights by the values of rows and columns."""
    from scipy.sparse import csr_array

    def indicator(values: Ints) -> csr_array:
        n = len(values)
        return csr_array((np.ones(n), (values, np.arange(n))), shape=(size, n))

    sums: Floats = (indicator(columns) @ (indicator(rows) @ weights).T).T
    return sums
