"""AdaGrad over dense matrices, whose memory is erased every few epochs.

    G <- G + g^2,     w <- w - rate * g / sqrt(G),     G <- 1 at the start and after every `reset` epochs

Without resets the steps of a recursive network die out before it has settled (Socher et al. 2014).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError

Parameters = dict[str, Floats]


@dataclass
class ResettingAdaGrad:
    """The memory of a descent; `reset` = 0 never erases it.

    >>> weights = {"w": np.array([1.0])}
    >>> descent = ResettingAdaGrad(rate=0.5, reset=1)
    >>> descent.step(weights, {"w": np.array([3.0])})
    >>> weights["w"].round(4).tolist()  # 1 - 0.5 * 3 / sqrt(1 + 9)
    [0.5257]
    """

    rate: float = 0.01
    reset: int = 5
    squares: Parameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.reset < 0:
            raise ConfigError(f"AdaGrad needs a rate above 0 and resets from 0, got {self.rate} and {self.reset}")

    def begin_epoch(self, epoch: int) -> None:
        """Erase the memory if an epoch (counted from 0) starts with a reset."""
        if self.reset and epoch % self.reset == 0:
            self.squares.clear()

    def step(self, weights: Parameters, gradients: Parameters) -> None:
        """Move the weights that have gradients, in place."""
        for name, gradient in gradients.items():
            squares = self.squares.setdefault(name, np.ones_like(gradient))
            squares += gradient * gradient
            weights[name] -= self.rate * gradient / np.sqrt(squares)
