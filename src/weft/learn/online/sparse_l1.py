"""AdaGrad with an L1 penalty for hashed, sparse features: a proximal step per weight (Duchi, Hazan and Singer 2011).

    G_i <- G_i + g_i^2,      v = w_i + rate * g_i / sqrt(G_i)
    w_i <- c_i + sign(v - c_i) * max(0, |v - c_i| - rate * penalty / sqrt(G_i))

g is the gradient of one example's objective, which is climbed; c is what weights are drawn to, 0 unless it is given. A
weight that an example does not touch is shrunk later, by as many steps as it missed, when it is touched again or at the
end: its rate has not changed meanwhile.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.kernel import kernel


class L1AdaGrad:
    """Weights, the sums of squares that set their rates, and when each was last moved.

    >>> learner = L1AdaGrad(3, rate=1.0, penalty=0.1)
    >>> learner.step(np.array([0, 2]), np.array([2.0, 0.0, -4.0]))
    >>> learner.weights.round(3).tolist()
    [0.95, 0.0, -0.975]
    >>> learner.step(np.array([2]), np.array([0.0, 0.0, 3.0]))
    >>> learner.settle()
    >>> learner.weights.round(3).tolist()
    [0.9, 0.0, -0.355]
    """

    def __init__(self, size: int, rate: float = 0.1, penalty: float = 0.001, center: Floats | None = None) -> None:
        if size < 1 or rate <= 0 or penalty < 0:
            raise ConfigError(
                f"AdaGrad needs at least one weight, a rate above 0 and a penalty of at least 0, got {size}, {rate} "
                f"and {penalty}"
            )
        self.center = np.zeros(size) if center is None else np.asarray(center, dtype=np.float64)
        self.weights, self.squares = self.center.copy(), np.zeros(size)
        self.moved = np.zeros(size, dtype=np.int64)
        self.rate, self.penalty, self.steps = rate, penalty, 0

    def step(self, touched: Ints, gradient: Floats) -> None:
        """Move the weights that an example touches, each listed once; `gradient` has a value for every weight."""
        self.steps += 1
        _step(
            touched, gradient, self.weights, self.squares, self.moved, self.center, self.rate, self.penalty, self.steps
        )

    def settle(self) -> None:
        """Shrink all weights by the steps that they missed."""
        everything = np.arange(len(self.weights))
        _catch_up(everything, self.weights, self.squares, self.moved, self.center, self.rate, self.penalty, self.steps)


@kernel
def _step(
    touched: Ints, gradient: Floats, weights: Floats, squares: Floats, moved: Ints, center: Floats, rate: float,
    penalty: float, now: int,
) -> None:  # fmt: skip
    _catch_up(touched, weights, squares, moved, center, rate, penalty, now - 1)
    for k in range(len(touched)):
        i = touched[k]
        squares[i] += gradient[i] * gradient[i]
        if squares[i] > 0.0:
            pace = rate / np.sqrt(squares[i])
            weights[i] += pace * gradient[i]
            away = weights[i] - center[i]
            weights[i] = center[i] + np.sign(away) * max(0.0, abs(away) - pace * penalty)
        moved[i] = now


@kernel
def _catch_up(
    touched: Ints, weights: Floats, squares: Floats, moved: Ints, center: Floats, rate: float, penalty: float, now: int
) -> None:
    for k in range(len(touched)):
        i = touched[k]
        if squares[i] > 0.0 and now > moved[i]:
            away = weights[i] - center[i]
            less = (now - moved[i]) * rate * penalty / np.sqrt(squares[i])
            weights[i] = center[i] + np.sign(away) * max(0.0, abs(away) - less)
        moved[i] = max(moved[i], now)
