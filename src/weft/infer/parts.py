"""Parts: one number for every part of a batch (labels, transitions, arcs ...), held in arrays.

Indicators, probabilities, costs and covariances of parts are all of this shape, and learners combine them linearly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.ragged import one_factor

P = TypeVar("P", bound="ArrayParts")


@dataclass(frozen=True, slots=True)
class ArrayParts:
    """The arithmetic of parts, array by array. A subclass says which of its fields hold the numbers.

    >>> @dataclass(frozen=True, slots=True)
    ... class Scores(ArrayParts):
    ...     numbers = ("values",)
    ...     values: Floats
    >>> parts = Scores(np.array([1.0, 2.0]))
    >>> (parts + parts).scale(0.5).inner(parts)
    5.0
    """

    #: The fields that hold numbers.
    numbers: ClassVar[tuple[str, ...]]

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """The numbers, field by field."""
        return tuple(getattr(self, name) for name in self.numbers)

    def with_arrays(self: P, arrays: Iterable[Floats]) -> P:
        """The same parts with other numbers."""
        return replace(self, **dict(zip(self.numbers, arrays, strict=True)))

    def __add__(self: P, other: P) -> P:
        return self.with_arrays(one + two for one, two in self._pairs(other))

    def __sub__(self: P, other: P) -> P:
        return self.with_arrays(one - two for one, two in self._pairs(other))

    def __iadd__(self: P, other: P) -> P:
        for one, two in self._pairs(other):
            np.add(one, two, out=one)
        return self

    def __isub__(self: P, other: P) -> P:
        for one, two in self._pairs(other):
            np.subtract(one, two, out=one)
        return self

    def scale(self: P, factor: float) -> P:
        """Every number times `factor`. One factor per sentence must be given where the parts are made, as `weight` of
        `parts`, `marginals` or `covariance`: sums over sentences cannot be taken apart again."""
        one = one_factor(factor)
        return self.with_arrays(array * one for array in self.arrays)

    def inner(self: P, other: P) -> float:
        """Inner product over the whole batch; of a function with marginals: the function's expectation."""
        return float(sum(np.vdot(one, two) for one, two in self._pairs(other)))

    def _pairs(self: P, other: P) -> list[tuple[Floats, Floats]]:
        """The arrays of both, once their shapes agree."""
        pairs = list(zip(self.arrays, other.arrays, strict=True))
        if any(one.shape != two.shape for one, two in pairs):
            shapes = [", ".join(str(array.shape) for array in parts.arrays) for parts in (self, other)]
            raise InferenceError(
                f"parts of different batches: arrays of shapes {shapes[0]} against {shapes[1]}; combine parts of the "
                "same batch only"
            )
        return pairs
