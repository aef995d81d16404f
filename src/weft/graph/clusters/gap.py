"""The number of clusters by the gap statistic (Tibshirani, Walther and Hastie 2001), from distances alone.

    W_k    = sum over clusters r of D_r / (2 n_r)        D_r: the sum of distances over ordered pairs of cluster r
    Gap(k) = E*[log W_k] - log W_k                       s_k = sd*(log W_k) sqrt(1 + 1/B)
    chosen = the smallest k with Gap(k) >= Gap(k + 1) - s_(k+1)

The null distribution clusters B matrices whose distances are drawn, pair by pair, from a pool: distances of the whole
graph, or those of the items themselves. It depends on the number of items and the pool alone, so it can be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.graph.clusters.medoids import checked_distances, medoids

#: Matrices that the null distribution is estimated from.
DRAWS = 30
_LEAST = 1e-9  # the least W: items that coincide have none


class Null(NamedTuple):
    """Mean and standard deviation of log W for every number of clusters, where distances say nothing."""

    numbers: tuple[int, ...]
    mean: Floats
    spread: Floats


class Gaps(NamedTuple):
    """The gap of every number of clusters that was tried, its error, and the number chosen."""

    numbers: tuple[int, ...]
    gaps: Floats
    errors: Floats
    chosen: int


def dispersion(distances: ArrayLike, labels: ArrayLike) -> float:
    """W of a clustering.

    >>> dispersion([[0, 2, 9], [2, 0, 9], [9, 9, 0]], [0, 0, 1])
    1.0
    """
    table, own = np.asarray(distances, dtype=np.float64), np.asarray(labels)
    total = 0.0
    for label in np.unique(own):
        inside = own == label
        total += float(table[np.ix_(inside, inside)].sum()) / (2 * int(inside.sum()))
    return total


def null_of(n: int, pool: ArrayLike, numbers: Sequence[int], draws: int = DRAWS, seed: int = 0) -> Null:
    """The null distribution for n items, with distances drawn from a pool.

    >>> null_of(6, [1.0, 2.0], [1, 2], draws=5).numbers
    (1, 2)
    """
    values = np.asarray(pool, dtype=np.float64).ravel()
    if draws < 2:
        raise ConfigError(f"the null distribution needs at least 2 draws, got {draws}")
    if not len(values) or not np.isfinite(values).all() or values.min() < 0:
        raise DataError("the null distribution needs a pool of finite distances of 0 or above")
    tried = tuple(sorted({number for number in numbers if 1 <= number <= n}))
    rng = np.random.default_rng(seed)
    logs = np.empty((draws, len(tried)))
    upper = np.triu_indices(n, 1)
    for draw in range(draws):
        table = np.zeros((n, n))
        table[upper] = rng.choice(values, size=len(upper[0]))
        table += table.T
        for column, number in enumerate(tried):
            logs[draw, column] = _log_dispersion(table, medoids(table, number).labels)
    return Null(tried, logs.mean(axis=0), logs.std(axis=0))


def gaps(distances: ArrayLike, null: Null, draws: int = DRAWS) -> Gaps:
    """The gap statistic of items whose null distribution is given.

    >>> points = np.array([0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2, 9.3])
    >>> table = abs(points[:, None] - points)
    >>> gaps(table, null_of(8, table[np.triu_indices(8, 1)], [1, 2, 3])).chosen
    2
    """
    table = checked_distances(distances)
    own = np.array([_log_dispersion(table, medoids(table, number).labels) for number in null.numbers])
    differences, errors = null.mean - own, null.spread * np.sqrt(1 + 1 / draws)
    return Gaps(null.numbers, differences, errors, null.numbers[_first(differences, errors)])


def _log_dispersion(table: Floats, labels: Ints) -> float:
    return float(np.log(max(dispersion(table, labels), _LEAST)))


def _first(differences: Floats, errors: Floats) -> int:
    """The first place whose gap is not exceeded by the next one beyond chance; the last one if there is none."""
    for place in range(len(differences) - 1):
        if differences[place] >= differences[place + 1] - errors[place + 1]:
            return place
    return len(differences) - 1
