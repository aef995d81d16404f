"""Conditional tables over a few factors, smoothed by backing off factor by factor (Witten-Bell).

With N(c, x) the count of outcome x in context c, T(c) the number of different outcomes there, and c' the context
without its next factor to drop,

    P(x | c) = (N(c, x) + T(c) P(x | c')) / (N(c) + T(c))

and P(x | c) = P(x | c') in a context that never occurred. Without any factor left, P(x | c') is even or a given prior,
which may depend on the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import ConfigError


@dataclass(frozen=True, eq=False)
class FactoredTable:
    """P(outcome | factors), for every context.

    >>> table = FactoredTable.learn([[0, 1], [0, 1], [1, 0]], [1, 1, 0], sizes=(2, 2), outcomes=2, drop=(1, 0))
    >>> table.probabilities[0, 1].round(3).tolist(), table.probabilities.sum(axis=-1).tolist()
    ([0.044, 0.956], [[1.0, 1.0], [1.0, 1.0]])
    """

    probabilities: NDArray[np.float64]  #: an axis per factor, and one of outcomes at the end

    @classmethod
    def learn(
        cls,
        contexts: ArrayLike,
        outcomes_seen: ArrayLike,
        sizes: Sequence[int],
        outcomes: int,
        drop: Sequence[int],
        prior: Floats | None = None,
    ) -> FactoredTable:
        """Learn from samples: a row of factors and an outcome each. Factors are dropped in the order `drop`."""
        if sorted(drop) != list(range(len(sizes))):
            raise ConfigError(f"drop={tuple(drop)}: expected every factor from 0 to {len(sizes) - 1} once")
        rows = np.asarray(contexts, np.int64).reshape(-1, len(sizes))
        seen = np.asarray(outcomes_seen, np.int64)
        limits = np.array([*sizes, outcomes])
        samples = np.hstack([rows, seen.reshape(-1, 1)])
        if len(samples) and ((samples < 0).any() or (samples >= limits).any()):
            raise ConfigError(f"factors and outcomes must be numbers below {', '.join(map(str, limits))}")
        counts = np.zeros(tuple(limits))
        np.add.at(counts, tuple(samples.T), 1.0)
        levels = [counts]
        for axis in drop:
            levels.append(levels[-1].sum(axis=axis, keepdims=True))
        found: Floats = np.full(levels[-1].shape, 1.0 / outcomes) if prior is None else np.asarray(prior, np.float64)
        for level in reversed(levels):
            kinds = (level > 0).sum(axis=-1, keepdims=True)
            total = level.sum(axis=-1, keepdims=True)
            with np.errstate(invalid="ignore"):
                smoothed = (level + kinds * found) / (total + kinds)
            found = np.where(total > 0, smoothed, found)
        return cls(np.ascontiguousarray(np.broadcast_to(found, counts.shape)))

    def of(self, *factors: ArrayLike) -> Floats:
        """The distributions of contexts, a column of outcomes at the end.

        >>> table = FactoredTable.learn([[0]], [0], sizes=(1,), outcomes=2, drop=(0,))
        >>> table.of([0, 0]).shape
        (2, 2)
        """
        found: Floats = self.probabilities[tuple(np.asarray(each) for each in factors)]
        return found
