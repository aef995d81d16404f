"""The probability of a seating under a Pitman-Yor process, and slice sampling of its two parameters.

    P(n_1 .. n_m | a, b) = prod_{i=1}^{m-1} (b + i a) / prod_{i=1}^{n-1} (b + i)  x  prod_k prod_{j=1}^{n_k - 1} (j - a)
    a ~ Beta(p, q),   b ~ Gamma(shape, scale)

A slice sampler draws a height under the density at the present point and then a point from where the density is
higher (Neal 2003): a from all of (0, 1), b over log b from an interval that steps out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Keys
from weft.draws import uniform
from weft.errors import ConfigError
from weft.kernel import inner_kernel, kernel

Counts = NDArray[np.int64]
_WIDTH, _STEPS = 1.0, 30  # of the interval for log b


@dataclass(frozen=True)
class PitmanYorPrior:
    """Priors of discount and strength; the defaults are vague, b having mean 1 and variance 100."""

    beta: tuple[float, float] = (1.0, 1.0)
    shape: float = 0.01
    scale: float = 100.0

    def __post_init__(self) -> None:
        if min(*self.beta, self.shape, self.scale) <= 0.0:
            raise ConfigError("the parameters of the priors of a Pitman-Yor process must be above 0")

    @property
    def numbers(self) -> Floats:
        return np.array([*self.beta, self.shape, self.scale])


def log_seating(table_sizes: ArrayLike, discount: float, strength: float) -> float:
    """log-probability of a seating with that many customers at its tables.

    >>> round(float(np.exp(log_seating([2, 1], 0.5, 1.0))), 4)  # 1/2 * (1 + 1 * 0.5) / 3
    0.125
    """
    sizes, tables = _histogram(np.asarray(table_sizes, dtype=np.int64))
    return float(_log_seating(sizes, tables, discount, strength))


def sample_parameters(
    table_sizes: ArrayLike, discount: float, strength: float, prior: PitmanYorPrior, random: Keys
) -> tuple[float, float]:
    """New discount and strength, one slice-sampling step each; `random` advances.

    >>> state = np.array([3], dtype=np.uint64)
    >>> a, b = sample_parameters([5, 1, 1], 0.5, 1.0, PitmanYorPrior(), state)
    >>> 0.0 < a < 1.0 and b > 0.0
    True
    """
    sizes, tables = _histogram(np.asarray(table_sizes, dtype=np.int64))
    a, b = _sample_parameters(sizes, tables, discount, strength, prior.numbers, random)
    return float(a), float(b)


def _histogram(table_sizes: Counts) -> tuple[Counts, Counts]:
    sizes, tables = np.unique(table_sizes, return_counts=True)
    return sizes, tables


@inner_kernel
def _log_seating(sizes: Counts, tables: Counts, a: float, b: float) -> float:
    n, m = 0, 0
    total = 0.0
    for x in range(sizes.shape[0]):
        n += sizes[x] * tables[x]
        m += tables[x]
        total += tables[x] * (math.lgamma(sizes[x] - a) - math.lgamma(1.0 - a))
    if n == 0:
        return 0.0
    for i in range(1, m):
        total += math.log(b + i * a)
    return total - math.lgamma(b + n) + math.lgamma(b + 1.0)


@inner_kernel
def _log_density(sizes: Counts, tables: Counts, a: float, b: float, prior: Floats) -> float:
    """log of seating times priors; the factor b of the change to log b is included."""
    of_a = (prior[0] - 1.0) * math.log(a) + (prior[1] - 1.0) * math.log(1.0 - a)
    return _log_seating(sizes, tables, a, b) + of_a + prior[2] * math.log(b) - b / prior[3]


@kernel
def _sample_parameters(
    sizes: Counts, tables: Counts, a: float, b: float, prior: Floats, random: Keys
) -> tuple[float, float]:
    height = _log_density(sizes, tables, a, b, prior) + math.log(1.0 - uniform(random))
    low, high = 0.0, 1.0
    while True:
        point = low + uniform(random) * (high - low)
        if 0.0 < point < 1.0 and _log_density(sizes, tables, point, b, prior) >= height:
            a = point
            break
        if point < a:
            low = point
        else:
            high = point
        if high - low < 1e-12:  # nothing but the present point is left
            break
    at = math.log(b)
    height = _log_density(sizes, tables, a, b, prior) + math.log(1.0 - uniform(random))
    low = at - uniform(random) * _WIDTH
    high = low + _WIDTH
    left = int(uniform(random) * _STEPS)
    right = _STEPS - 1 - left
    while left > 0 and _log_density(sizes, tables, a, math.exp(low), prior) > height:
        low -= _WIDTH
        left -= 1
    while right > 0 and _log_density(sizes, tables, a, math.exp(high), prior) > height:
        high += _WIDTH
        right -= 1
    while True:
        point = low + uniform(random) * (high - low)
        if _log_density(sizes, tables, a, math.exp(point), prior) >= height:
            return a, math.exp(point)
        if point < at:
            low = point
        else:
            high = point
        if high - low < 1e-12:
            return a, b
