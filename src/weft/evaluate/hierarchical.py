"""The bootstrap for grouped items: sentences in one review are more alike than sentences in two.

    resample the groups with replacement, then the parts of each drawn group, and so on down to the items

With groups at several levels (cross-validation folds, documents, sentences), each level is resampled inside the one
above it. The quantiles of the measure over the draws are its confidence interval. Two systems are compared on the same
draws; p is how often the difference d* is at least as far from the observed one as that is from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import WeftError
from weft.evaluate.counts import Measure
from weft.evaluate.significance import Comparison, Interval, quantiles

Indices = NDArray[np.int64]


def mean_of(sums: NDArray[Any]) -> Floats:
    """The measure of rows `(value, 1)`: the mean of the values.

    >>> float(mean_of(np.array([3.0, 4.0])))
    0.75
    """
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1e-300))


def hierarchical_interval(
    values: ArrayLike,
    groups: Sequence[ArrayLike],
    measure: Measure = mean_of,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """A measure of items with its interval; `groups` name each item's group at every level, the widest first.

    `values` are one number per item, for their mean, or rows whose sum the measure takes.

    >>> right = np.tile([1, 1, 0, 1], 50)
    >>> interval = hierarchical_interval(right, [np.arange(200) // 10], samples=200)
    >>> interval.value, interval.low < 0.75 < interval.high
    (0.75, True)
    """
    rows = _rows(values)
    drawn = np.array([float(measure(rows[items].sum(axis=0))) for items in _draws(groups, len(rows), samples, seed)])
    low, high = quantiles(drawn, confidence)
    return Interval(float(measure(rows.sum(axis=0))), low, high)


def hierarchical_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    groups: Sequence[ArrayLike],
    measure: Measure = mean_of,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems on the same items.

    >>> a, b = np.tile([1, 1, 0, 1], 50), np.tile([1, 0, 0, 1], 50)
    >>> result = hierarchical_bootstrap(a, b, [np.arange(200) // 10], samples=200)
    >>> result.difference, result.low > 0
    (0.25, True)
    """
    one, other = _rows(a), _rows(b)
    if one.shape != other.shape:
        raise WeftError(f"a paired test needs the same items for both systems, but got {len(one)} and {len(other)}")
    seen_a, seen_b = float(measure(one.sum(axis=0))), float(measure(other.sum(axis=0)))
    drawn = np.array([
        float(measure(one[items].sum(axis=0)) - measure(other[items].sum(axis=0)))
        for items in _draws(groups, len(one), samples, seed)
    ])  # fmt: skip
    seen = seen_a - seen_b
    far = int((np.abs(drawn - seen) >= abs(seen) - 1e-12).sum())
    low, high = quantiles(drawn, confidence)
    return Comparison(seen_a, seen_b, low, high, (far + 1) / (samples + 1), samples)


def _rows(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        raise WeftError("there is nothing to test: no items were given")
    return np.stack([array, np.ones(len(array))], axis=1) if array.ndim == 1 else array


def _draws(groups: Sequence[ArrayLike], size: int, samples: int, seed: int) -> Iterator[Indices]:
    """The item indices in each sample."""
    if samples < 1:
        raise WeftError(f"a test needs at least one sample, but got {samples}")
    names = [np.unique(np.asarray(level), return_inverse=True)[1] for level in groups]
    for level in names:
        if len(level) != size:
            raise WeftError(f"groups name {len(level)} items, but there are {size}")
    order = np.lexsort(names[::-1]) if names else np.arange(size)
    levels = _offsets([level[order] for level in names], size)
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        units = np.zeros(1, dtype=np.int64)
        for offsets in levels:
            first, sizes = offsets[units], offsets[units + 1] - offsets[units]
            starts, each = np.repeat(first, sizes), np.repeat(sizes, sizes)
            units = starts + (rng.random(len(each)) * each).astype(np.int64)
        yield order[units]


def _offsets(names: Sequence[Indices], size: int) -> list[Indices]:
    """For every level, where the children of each unit begin among the units of the next level."""
    starts = [np.array([0], dtype=np.int64)]
    changes = np.zeros(size, dtype=np.bool_)
    changes[:1] = True
    for level in names:
        changes = changes.copy()
        changes[1:] |= level[1:] != level[:-1]
        starts.append(np.flatnonzero(changes))
    starts.append(np.arange(size))
    return [np.append(np.searchsorted(below, above), len(below)) for above, below in pairwise(starts)]
