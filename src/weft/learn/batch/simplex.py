"""The nearest point of a simplex, for many groups of numbers at once:

    argmin over x of  ||x - v||^2     subject to   x >= 0,   sum of x over each group  <=  r   (or  =  r)

The answer is  x = max(v - t, 0)  with one t per group: 0 where the clipped numbers keep the bound, else the t at which
their sum meets it, found in the sorted numbers (Duchi et al. 2008) in O(N log N).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.ragged import Indices, check_offsets, one_block


def project_simplex(values: ArrayLike, offsets: ArrayLike, radius: float, equal: bool = False) -> Floats:
    """The nearest numbers, none negative, whose sum in every group `offsets[g]:offsets[g + 1]` is at most `radius`.

    With `equal` the sum is the radius itself, as that of probabilities is 1.

    >>> project_simplex([0.5, -1, 3, 2, 0.2], [0, 2, 5], 1.0).tolist()
    [0.5, 0.0, 1.0, 0.0, 0.0]
    >>> project_simplex([0.5, 0.1], [0, 2], 1.0, equal=True).round(2).tolist()
    [0.7, 0.3]
    """
    if not radius >= 0:
        raise ConfigError(f"radius={radius}: numbers that are not negative cannot have a smaller sum than 0")
    given = one_block(values, np.float64)
    nearest = np.empty_like(given)
    project_groups(given, check_offsets(offsets, len(given)), float(radius), equal, nearest)
    return nearest


@dataclass(frozen=True, slots=True)
class Groups:
    """Numbers in groups: `order` brings those of a group together, group g being `offsets[g]:offsets[g + 1]` of it.

    >>> groups = Groups.of([1, 0, 1, 0])
    >>> groups.maxima(np.array([0.1, 0.2, 0.3, 0.4])).tolist()
    [0.4, 0.3]
    >>> groups.project(np.array([0.5, 2.0, 0.25, 3.0]), 1.0).tolist()
    [0.5, 0.0, 0.25, 1.0]
    """

    order: Indices
    offsets: Indices

    @classmethod
    def of(cls, group: ArrayLike) -> Groups:
        """From the number of each one's group; groups that nothing belongs to are left out."""
        given = np.asarray(group)
        order = np.argsort(given, kind="stable")
        begins = np.flatnonzero(np.diff(given[order], prepend=-1))
        return cls(order, np.append(begins, len(given)).astype(np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def project(self, values: Floats, radius: float) -> Floats:
        """The nearest numbers, none negative, with a sum of at most `radius` in every group."""
        nearest = np.empty_like(values)
        nearest[self.order] = project_simplex(values[self.order], self.offsets, radius)
        return nearest

    def maxima(self, values: Floats) -> Floats:
        """The largest number of every group."""
        return np.maximum.reduceat(values[self.order], self.offsets[:-1]) if len(self) else np.zeros(0)

    def sums(self, values: Floats) -> Floats:
        """The sum of every group."""
        return np.add.reduceat(values[self.order], self.offsets[:-1]) if len(self) else np.zeros(0)


@kernel
def project_groups(values: Floats, offsets: Indices, radius: float, equal: bool, nearest: Floats) -> None:
    for g in range(len(offsets) - 1):
        first, end = offsets[g], offsets[g + 1]
        total = 0.0
        for i in range(first, end):
            nearest[i] = max(values[i], 0.0)
            total += nearest[i]
        if first == end or (total <= radius and not equal):
            continue
        # With equality all numbers count, negative ones too: the bound may lie above the clipped sum.
        falling = np.sort(values[first:end])[::-1]
        above, threshold = 0.0, 0.0
        for k in range(len(falling)):
            above += falling[k]
            t = (above - radius) / (k + 1)
            if k > 0 and falling[k] <= t:
                break
            threshold = t
        for i in range(first, end):
            nearest[i] = max(values[i] - threshold, 0.0)
