"""The cost of wrong decisions during search: one number for all, or a confusion matrix.

    cost(y, y') = c * number of wrong decisions                   a number c
    cost(y, y') = sum over positions i of table[y_i, y'_i]        ConfusionCost(table)

A learner's option `cost` is a number or a `Cost`: anything that gives, for a structure and its gold solution, the parts
to add to the scores. What should be avoided most is made dearest: with a high cost on missing what is there, a model
learns to keep a margin against misses, and its recall rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError


class Cost(Protocol):
    """Parts that charge every decision for how wrong it is."""

    def __call__(self, structure: Any, gold: Any) -> Any: ...


@dataclass(frozen=True)
class ConfusionCost:
    """The cost of every confusion: `table[gold][guess]`, zero where the two are the same. For chains.

    >>> from weft.infer.chains.chain import Chain
    >>> cost = ConfusionCost.of([[0.0, 1.0], [5.0, 0.0]])
    >>> chain = Chain(np.zeros((2, 2)), np.zeros((2, 2)), [0, 2])
    >>> cost(chain, np.array([1, 0])).node.tolist()
    [[5.0, 0.0], [0.0, 1.0]]
    """

    table: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, table: Sequence[Sequence[float]] | NDArray[np.float64]) -> ConfusionCost:
        """A cost from any square table of numbers."""
        numbers = np.asarray(table, dtype=np.float64)
        if numbers.ndim != 2 or numbers.shape[0] != numbers.shape[1]:
            raise ConfigError(f"a table of confusions has a row and a column per state, got the shape {numbers.shape}")
        if (numbers < 0).any() or numbers.diagonal().any():
            raise ConfigError("a table of confusions holds costs of at least 0, and 0 for what is right")
        return cls(tuple(map(tuple, numbers.tolist())))

    def __call__(self, structure: Any, gold: Any) -> Any:
        return structure.confusion(gold, np.array(self.table))


def cost_parts(cost: float | Cost, structure: Any, gold: Any) -> Any:
    """The parts of a learner's option `cost`."""
    return structure.hamming(gold, cost) if isinstance(cost, int | float) else cost(structure, gold)


def check_cost(cost: float | Cost, who: str) -> None:
    """Reject anything but a cost or a number of at least 0."""
    if callable(cost):
        return
    if not isinstance(cost, int | float) or not cost >= 0:
        raise ConfigError(f"{who}'s cost must be at least 0, got {cost}.")
