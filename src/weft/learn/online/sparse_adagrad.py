"""The perceptron with AdaGrad's rates for structures with sparse features (Flanigan et al. 2014).

    s = f(x, y') - f(x, y)              y' the best structure under the weights, y the gold one
    G_i <- G_i + s_i^2,     w_i <- w_i - rate * s_i / sqrt(G_i)

Only the features that the two structures do not share move. The learner knows neither the structure nor its features:
it takes rows of weights and the values of s. `average` keeps the sum that the mean of all weights needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.kernel import kernel


class SparseAdaGrad:
    """Weights and the sums of squares that set their rates.

    >>> learner = SparseAdaGrad(3)
    >>> learner.update([0, 2, 0], [1.0, -2.0, 1.0])  # rows may repeat: values are added up first
    >>> learner.weights.tolist()
    [-1.0, 0.0, 1.0]
    >>> learner.update([0], [2.0])
    >>> learner.weights.round(3).tolist(), learner.averaged().round(3).tolist()
    ([-1.707, 0.0, 1.0], [-1.354, 0.0, 1.0])
    """

    def __init__(self, size: int, rate: float = 1.0) -> None:
        if size < 1 or rate <= 0:
            raise ConfigError(f"AdaGrad needs at least one weight and a rate above 0, got {size} and {rate}")
        self.weights, self.squares, self.late = np.zeros(size), np.zeros(size), np.zeros(size)
        self.rate, self.updates = rate, 0

    def update(self, rows: ArrayLike, difference: ArrayLike) -> None:
        """Move the weights away from what the prediction has and the gold structure has not."""
        places, inverse = np.unique(np.asarray(rows, dtype=np.int64), return_inverse=True)
        sums: Floats = np.bincount(
            inverse, weights=np.asarray(difference, dtype=np.float64), minlength=len(places)
        ).astype(np.float64)
        _move(places, sums, self.weights, self.squares, self.late, self.rate, float(self.updates))
        self.updates += 1

    def skip(self) -> None:
        """Count a structure that was predicted right."""
        self.updates += 1

    def averaged(self) -> Floats:
        """The mean of the weights after every update."""
        return self.weights - self.late / max(self.updates, 1)


@kernel
def _move(
    rows: Ints, difference: Floats, weights: Floats, squares: Floats, late: Floats, rate: float, updates: float
) -> None:
    for k in range(len(rows)):
        value = difference[k]
        if value != 0.0:
            i = rows[k]
            squares[i] += value * value
            change = -rate * value / np.sqrt(squares[i])
            weights[i] += change
            late[i] += updates * change
