"""Canonical correlation analysis with a ridge, of two views of the same items, and its form with kernels.

    maximize  a' X'Y b   with   a' (X'X + r I) a = 1,  b' (Y'Y + r I) b = 1        (X and Y centred)

    with kernels K = X X' (or any other), X'a is K alpha:  alpha' Kx Ky beta,  alpha' (Kx^2 + r Kx) alpha = 1

Both are solved by whitening each view and a singular value decomposition of what is left. With the linear kernel they
are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError, DataError

KERNELS = ("linear", "rbf")
_TINY = 1e-10


@dataclass
class CCA:
    """Projections of two views; `power` weighs the directions by their correlations.

    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.standard_normal((200, 1))
    >>> x, y = hidden @ rng.standard_normal((1, 3)), np.hstack([hidden, rng.standard_normal((200, 1))])
    >>> CCA.fit(x, y, 1, ridge=0.001).correlations.round(3).tolist()
    [1.0]
    """

    means: tuple[Floats, Floats]
    maps: tuple[Floats, Floats]
    correlations: Floats

    @classmethod
    def fit(cls, x: Floats, y: Floats, k: int, ridge: float = 1.0, power: float = 0.5) -> CCA:
        """Fit on rows that belong together; `ridge` is added to both scatter matrices."""
        _check(x, y, k, ridge)
        means = x.mean(axis=0), y.mean(axis=0)
        x, y = x - means[0], y - means[1]
        whiten_x, whiten_y = _whitening(x.T @ x, ridge), _whitening(y.T @ y, ridge)
        left, sizes, right = np.linalg.svd(whiten_x.T @ (x.T @ y) @ whiten_y, full_matrices=False)
        weights = sizes[:k] ** power
        return cls(means, (whiten_x @ left[:, :k] * weights, whiten_y @ right[:k].T * weights), sizes[:k])

    def first(self, x: Floats) -> Floats:
        """Items of the first view in the common space."""
        found: Floats = (x - self.means[0]) @ self.maps[0]
        return found

    def second(self, y: Floats) -> Floats:
        """Items of the second view in the common space."""
        found: Floats = (y - self.means[1]) @ self.maps[1]
        return found


@dataclass
class KernelCCA:
    """The same over kernels, `linear` or `rbf` (exp(-|x - x'|^2 / width), by default the mean squared distance).

    >>> x = np.random.default_rng(0).standard_normal((30, 4))
    >>> found, plain = KernelCCA.fit(x, x[:, :2], 2, ridge=0.5), CCA.fit(x, x[:, :2], 2, ridge=0.5)
    >>> bool(np.allclose(found.correlations, plain.correlations))
    True
    """

    kernel: str
    data: tuple[Floats, Floats]
    widths: tuple[float, float]
    means: tuple[Floats, Floats]  #: of the columns of kernels
    weights: tuple[Floats, Floats]
    correlations: Floats

    @classmethod
    def fit(
        cls, x: Floats, y: Floats, k: int, ridge: float = 1.0, power: float = 0.5, kernel: str = "linear"
    ) -> KernelCCA:
        """Fit on rows that belong together."""
        _check(x, y, k, ridge)
        if kernel not in KERNELS:
            raise ConfigError(f"the kernel must be one of {', '.join(KERNELS)}, got {kernel!r}")
        widths = float(2 * x.var(axis=0).sum()) or 1.0, float(2 * y.var(axis=0).sum()) or 1.0
        tables = [_kernel(kernel, each, each, width) for each, width in zip((x, y), widths, strict=True)]
        means = tables[0].mean(axis=0), tables[1].mean(axis=0)
        parts = [_decomposed(_centred(table, mean), ridge) for table, mean in zip(tables, means, strict=True)]
        (ux, sx), (uy, sy) = parts
        inner = np.sqrt(sx / (sx + ridge))[:, None] * (ux.T @ uy) * np.sqrt(sy / (sy + ridge))
        left, sizes, right = np.linalg.svd(inner, full_matrices=False)
        scale = sizes[:k] ** power
        alpha = ux @ (left[:, :k] / np.sqrt(sx * (sx + ridge))[:, None]) * scale
        beta = uy @ (right[:k].T / np.sqrt(sy * (sy + ridge))[:, None]) * scale
        return cls(kernel, (x, y), widths, means, (alpha, beta), sizes[:k])

    def first(self, x: Floats) -> Floats:
        """Items of the first view in the common space."""
        return self._project(x, 0)

    def second(self, y: Floats) -> Floats:
        """Items of the second view in the common space."""
        return self._project(y, 1)

    def _project(self, items: Floats, view: int) -> Floats:
        table = _kernel(self.kernel, items, self.data[view], self.widths[view])
        mean = self.means[view]
        centred = table - table.mean(axis=1, keepdims=True) - mean + mean.mean()
        found: Floats = centred @ self.weights[view]
        return found


def _check(x: Floats, y: Floats, k: int, ridge: float) -> None:
    if len(x) != len(y) or len(x) < 2:
        raise DataError(f"both views need the same items, at least two; got {len(x)} and {len(y)}")
    if ridge <= 0 or k < 1:
        raise ConfigError(f"the ridge must be above 0 and the dimensions at least 1, got {ridge} and {k}")


def _whitening(scatter: Floats, ridge: float) -> Floats:
    values, vectors = np.linalg.eigh(scatter)
    found: Floats = vectors / np.sqrt(np.maximum(values, 0.0) + ridge)
    return found


def _kernel(kind: str, a: Floats, b: Floats, width: float) -> Floats:
    inner: Floats = a @ b.T
    if kind == "linear":
        return inner
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * inner
    found: Floats = np.exp(-np.maximum(squares, 0.0) / width)
    return found


def _centred(table: Floats, mean: Floats) -> Floats:
    found: Floats = table - mean - table.mean(axis=1, keepdims=True) + mean.mean()
    return found


def _decomposed(table: Floats, ridge: float) -> tuple[Floats, Floats]:
    values, vectors = np.linalg.eigh((table + table.T) / 2)
    kept = values > _TINY * max(float(values[-1]), ridge)
    return vectors[:, kept], values[kept]
