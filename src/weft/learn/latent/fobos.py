"""Forward-backward splitting with an L1 penalty (Duchi and Singer 2009), lazily and yet exactly.

    w  <-  w - rate_t * g,      w  <-  sign(w) max(|w| - rate_t * penalty, 0),      rate_t = rate / sqrt(t)

The second step concerns every weight, also those whose gradient is 0. Their shrinking is put off until they are read:
between two gradients the thresholds add up. In floating point the sum of thresholds is not the same as one threshold
after the other, unless all numbers lie on one grid. So weights and thresholds are rounded to multiples of 2^-40; on
them sums and differences are exact, and the lazy weights equal the dense ones bit for bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.kernel import inner_kernel, kernel

#: The grid: beyond 2^12 a weight would lose bits.
GRID = 2.0**-40
LARGEST = 2.0**12


class Fobos:
    """Weights and what of their shrinking is put off.

    >>> learner = Fobos(3, rate=1.0, penalty=0.25)
    >>> learner.step([0, 1], [-1.0, 0.5])
    >>> learner.step([0], [0.0])
    >>> learner.weights().round(4).tolist()
    [0.5732, -0.0732, 0.0]
    """

    def __init__(self, size: int, rate: float, penalty: float) -> None:
        if rate <= 0 or penalty < 0:
            raise ConfigError(f"the rate must be above 0 and the penalty at least 0, got {rate} and {penalty}")
        self.rate, self.penalty = rate, penalty
        self.steps = 0
        self.stored = np.zeros(size)
        self.shrunk = 0.0  # the sum of all thresholds so far
        self._since = np.zeros(size)  # the sum up to which every weight is shrunk

    def settle(self, places: Ints) -> Floats:
        """Bring some weights up to date; returns all stored weights, of which only these may be read."""
        _settle(self.stored, self._since, self.shrunk, places)
        return self.stored

    def step(self, places: ArrayLike, gradient: ArrayLike) -> None:
        """One step along a sparse gradient; a place may be named several times."""
        self.steps += 1
        rate = self.rate / np.sqrt(self.steps)
        where, by = np.asarray(places, dtype=np.int64), np.asarray(gradient, dtype=np.float64)
        _step(self.stored, self._since, self.shrunk, where, by, rate)
        self.shrunk += threshold(rate, self.penalty)

    def weights(self) -> Floats:
        """All weights as they are now; this settles every one."""
        _settle(self.stored, self._since, self.shrunk, np.arange(len(self.stored), dtype=np.int64))
        return self.stored.copy()


def threshold(rate: float, penalty: float) -> float:
    """By how much one step shrinks a weight: a number on the grid."""
    return float(np.rint(rate * penalty / GRID) * GRID)


@inner_kernel
def _shrink(weight: float, by: float) -> float:
    if weight > by:
        return weight - by
    if weight < -by:
        return weight + by
    return 0.0


@kernel
def _settle(weights: Floats, since: Floats, shrunk: float, places: Ints) -> None:
    for i in places:
        if since[i] != shrunk:
            weights[i] = _shrink(weights[i], shrunk - since[i])
            since[i] = shrunk


@kernel
def _step(weights: Floats, since: Floats, shrunk: float, places: Ints, gradient: Floats, rate: float) -> None:
    for k in range(len(places)):
        i = places[k]
        if since[i] != shrunk:
            weights[i] = _shrink(weights[i], shrunk - since[i])
            since[i] = shrunk
        moved = np.rint((weights[i] - rate * gradient[k]) / GRID) * GRID
        weights[i] = min(max(moved, -LARGEST), LARGEST)
