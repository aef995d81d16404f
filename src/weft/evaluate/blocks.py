"""Intervals for sums over days that depend on their neighbours: the block bootstrap.

Days are resampled in blocks of neighbours, which wrap around at the end, so that the dependence within a block is kept.
Rows may hold several series, which then share their blocks: what happens to all of them on a day stays together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import WeftError
from weft.evaluate.significance import Interval, quantiles


def block_bootstrap(
    rows: ArrayLike, statistic: Callable[[Floats], Floats], block: int = 5, samples: int = 2000, seed: int = 0,
    confidence: float = 0.95,
) -> Interval:  # fmt: skip
    """A statistic of the sums of rows [days, columns], with its interval; it gets sums [samples, columns].

    >>> rows = np.stack([np.tile([1.0, -0.5], 100), np.ones(200)], axis=1)
    >>> interval = block_bootstrap(rows, lambda sums: sums[:, 0] / sums[:, 1], block=2)
    >>> interval.value, interval.low, interval.high
    (0.25, 0.25, 0.25)
    """
    table = np.asarray(rows, dtype=np.float64)
    days = len(table)
    if table.ndim != 2 or not days:
        raise WeftError("there is nothing to resample: rows of days and columns are needed")
    if block < 1 or samples < 1:
        raise WeftError(f"blocks and samples must be at least 1, got blocks of {block} days and {samples} samples")
    block = min(block, days)
    whole, rest = divmod(days, block)
    rng = np.random.default_rng(seed)
    sums = _block_sums(table, block)[rng.integers(0, days, size=(samples, whole))].sum(axis=1)
    if rest:
        sums += _block_sums(table, rest)[rng.integers(0, days, size=samples)]
    drawn = np.asarray(statistic(sums), dtype=np.float64)
    value = float(np.asarray(statistic(table.sum(axis=0)[None, :]))[0])
    return Interval(value, *quantiles(drawn, confidence))


def _block_sums(table: Floats, block: int) -> Floats:
    """The sum of the block that begins on each day."""
    total = np.cumsum(np.concatenate([np.zeros((1, table.shape[1])), table, table[: block - 1]]), axis=0)
    return np.asarray(total[block:] - total[:-block])


def profit_interval(earned: ArrayLike, most: ArrayLike, block: int = 5, samples: int = 2000, seed: int = 0) -> Interval:
    """The percentage that earnings are of the most that could be earned, with its interval.

    Of several series [days, series], which may lack days (with 0), it is the mean of their percentages.

    >>> interval = profit_interval([1.0, -1.0, 1.0, 1.0] * 50, [1.0] * 200)
    >>> interval.value, interval.low < 50 < interval.high
    (50.0, True)
    """
    one = np.asarray(earned, dtype=np.float64)
    other = np.asarray(most, dtype=np.float64)
    columns = 1 if one.ndim == 1 else one.shape[1]
    rows = np.concatenate([one.reshape(-1, columns), other.reshape(-1, columns)], axis=1)

    def statistic(sums: Floats) -> Floats:
        most = sums[:, columns:]
        shares = np.divide(sums[:, :columns], most, out=np.zeros_like(most), where=most > 0)
        return np.asarray(100 * shares.mean(axis=1))

    return block_bootstrap(rows, statistic, block, samples, seed)


def course_interval(
    earned: ArrayLike, block: int = 5, samples: int = 1000, seed: int = 0, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """The interval of what was earned up to each day: the sums of as many days, resampled in blocks of neighbours.

    >>> low, high = course_interval([1.0, -1.0, 1.0, 1.0] * 25)
    >>> bool(low[-1] < 50 < high[-1]), bool((high - low)[-1] > (high - low)[0])
    (True, True)
    """
    series = np.asarray(earned, dtype=np.float64)
    days = len(series)
    if series.ndim != 1 or not days:
        raise WeftError("there is nothing to resample: the earnings of some days are needed")
    if block < 1 or samples < 1:
        raise WeftError(f"blocks and samples must be at least 1, got blocks of {block} days and {samples} samples")
    block = min(block, days)
    rng = np.random.default_rng(seed)
    sums, reached = np.zeros(samples), 0
    low, high = np.empty(days), np.empty(days)
    while reached < days:  # block by block, so that memory does not grow with the days
        starts = rng.integers(0, days, size=samples)
        for k in range(min(block, days - reached)):
            sums += series[(starts + k) % days]
            low[reached], high[reached] = quantiles(sums, confidence)
            reached += 1
    return low, high
