"""Partitioning around medoids (Kaufman and Rousseeuw 1990): k items that the others are nearest to.

    cost(M) = sum_i min over m in M of d(i, m)
    build   add the medoid that lowers the cost most, k times
    swap    exchange the medoid and the item that lower the cost most, until no exchange does

Ties go to the first item. Time is k (n - k)^2 per exchange.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.kernel import kernel


class Medoids(NamedTuple):
    """The medoids, the cluster of every item (a place among the medoids), and the cost."""

    medoids: Ints
    labels: Ints
    cost: float


def checked_distances(distances: ArrayLike) -> Floats:
    """A matrix of distances: square, symmetric, finite, none below 0."""
    found = np.ascontiguousarray(distances, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not len(found):
        raise DataError(f"distances are a square matrix of at least one item, got shape {found.shape}")
    if not np.isfinite(found).all() or found.min() < 0 or not np.allclose(found, found.T):
        raise DataError("distances must be symmetric, finite and not below 0")
    return found


def medoids(distances: ArrayLike, k: int) -> Medoids:
    """The best k medoids that exchanges find.

    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> found = medoids(abs(points[:, None] - points), 2)
    >>> found.medoids.tolist(), found.labels.tolist(), found.cost
    ([1, 3], [0, 0, 0, 1, 1], 3.0)
    """
    table = checked_distances(distances)
    if not 1 <= k <= len(table):
        raise ConfigError(f"{len(table)} items cannot have {k} medoids")
    chosen = np.empty(k, dtype=np.int64)
    _medoids(table, chosen)
    chosen.sort()
    nearest = table[:, chosen]
    labels = nearest.argmin(axis=1)
    labels[chosen] = np.arange(k)  # where items coincide, each medoid is in its own cluster
    return Medoids(chosen, labels, float(nearest.min(axis=1).sum()))


@kernel
def _medoids(table: Floats, chosen: Ints) -> None:
    n, k = len(table), len(chosen)
    near = np.full(n, np.inf)
    second = np.full(n, np.inf)
    whose = np.zeros(n, dtype=np.int64)
    taken = np.zeros(n, dtype=np.bool_)
    for place in range(k):
        best, least = -1, np.inf
        for c in range(n):
            if taken[c]:
                continue
            cost = 0.0
            for i in range(n):
                cost += min(near[i], table[i, c])
            if cost < least:
                best, least = c, cost
        chosen[place] = best
        taken[best] = True
        for i in range(n):
            near[i] = min(near[i], table[i, best])
    while True:
        _nearest(table, chosen, near, second, whose)
        best_gain, best_place, best_item = -1e-12, -1, -1
        for c in range(n):
            if taken[c]:
                continue
            for place in range(k):
                change = 0.0
                for i in range(n):
                    d = table[i, c]
                    if whose[i] == place:
                        change += min(d, second[i]) - near[i]
                    elif d < near[i]:
                        change += d - near[i]
                if change < best_gain:
                    best_gain, best_place, best_item = change, place, c
        if best_place < 0:
            return
        taken[chosen[best_place]] = False
        taken[best_item] = True
        chosen[best_place] = best_item


@kernel
def _nearest(table: Floats, chosen: Ints, near: Floats, second: Floats, whose: Ints) -> None:
    for i in range(len(table)):
        near[i] = np.inf
        second[i] = np.inf
        for place in range(len(chosen)):
            d = table[i, chosen[place]]
            if d < near[i]:
                second[i] = near[i]
                near[i] = d
                whose[i] = place
            elif d < second[i]:
                second[i] = d
