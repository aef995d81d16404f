"""Confidence intervals over several runs (seeds, samples of the training text) scored on the same items.

    resample runs with replacement and, independently, items, the same for every run
    measure of the sum over both

An interval over items alone does not cover other seeds, one over runs alone does not cover other test texts. Treating
the items of all runs as distinct would make intervals too narrow, because they are the same items.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import WeftError
from weft.evaluate.counts import Measure
from weft.evaluate.hierarchical import _draws, mean_of
from weft.evaluate.significance import Comparison, Interval, quantiles


def interval_over_runs(
    values: ArrayLike,
    groups: Sequence[ArrayLike] = (),
    measure: Measure = mean_of,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """A measure with its interval: `values` are [run, item] numbers, for their mean, or [run, item] rows to add up.

    `groups` name each item's group at every level, as in `weft.evaluate.hierarchical`.

    >>> right = np.array([[1, 1, 0, 1] * 50, [1, 0, 0, 1] * 50, [1, 1, 1, 1] * 50])
    >>> found = interval_over_runs(right, samples=200)
    >>> found.value, found.low < 0.7 < 0.8 < found.high
    (0.75, True)
    """
    rows = _runs(values)
    drawn = _measured([rows], groups, measure, samples, seed)[:, 0]
    low, high = quantiles(drawn, confidence)
    return Interval(float(measure(rows.sum(axis=(0, 1)))), low, high)


def compare_over_runs(
    a: ArrayLike,
    b: ArrayLike,
    groups: Sequence[ArrayLike] = (),
    measure: Measure = mean_of,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems on the same runs and items; p is how often |d* - d| >= |d|.

    >>> a, b = np.array([[1, 1, 0, 1] * 50] * 3), np.array([[1, 0, 0, 1] * 50] * 3)
    >>> result = compare_over_runs(a, b, samples=200)
    >>> result.difference, result.low > 0
    (0.25, True)
    """
    return _compared([(a, b)], groups, measure, samples, seed, confidence)


def mean_over_runs(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    measure: Measure = mean_of,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems by the means of their scores over several test texts, such as one per language.

    Runs and items of every text are resampled separately; the texts themselves are fixed.

    >>> a, b = np.array([[1, 1, 0, 1] * 50] * 3), np.array([[1, 0, 0, 1] * 50] * 3)
    >>> result = mean_over_runs([(a, b), (b, b)], samples=200)
    >>> result.difference, result.low > 0
    (0.125, True)
    """
    if not pairs:
        raise WeftError("there is no test text to compare the systems on")
    return _compared(pairs, (), measure, samples, seed, confidence)


def _compared(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    groups: Sequence[ArrayLike],
    measure: Measure,
    samples: int,
    seed: int,
    confidence: float,
) -> Comparison:
    seen, drawn = np.zeros(2), np.zeros(samples)
    for k, (a, b) in enumerate(pairs):
        one, other = _runs(a), _runs(b)
        if one.shape != other.shape:
            raise WeftError(
                f"a paired test needs the same runs and items for both, but got {one.shape} and {other.shape}"
            )
        seen += [float(measure(each.sum(axis=(0, 1)))) for each in (one, other)]
        both = _measured([one, other], groups, measure, samples, seed + k)
        drawn += both[:, 0] - both[:, 1]
    (seen_a, seen_b), drawn = (seen / len(pairs)).tolist(), drawn / len(pairs)
    difference = seen_a - seen_b
    far = int((np.abs(drawn - difference) >= abs(difference) - 1e-12).sum())
    low, high = quantiles(drawn, confidence)
    return Comparison(seen_a, seen_b, low, high, (far + 1) / (samples + 1), samples)


def _runs(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (2, 3) or not array.size:
        raise WeftError(f"values must be numbers by run and item, but have the shape {array.shape}")
    return np.stack([array, np.ones(array.shape)], axis=2) if array.ndim == 2 else array


def _measured(
    systems: Sequence[Floats], groups: Sequence[ArrayLike], measure: Measure, samples: int, seed: int
) -> Floats:
    """The measure of every system on the same draws of runs and items."""
    runs, items = systems[0].shape[:2]
    chosen = np.random.default_rng((seed, 1)).integers(0, runs, size=(samples, runs))
    measured = np.empty((samples, len(systems)))
    for k, drawn in enumerate(_draws(groups, items, samples, seed)):
        times = np.bincount(chosen[k], minlength=runs).astype(np.float64)
        for i, rows in enumerate(systems):
            measured[k, i] = float(measure(np.tensordot(times, rows, axes=1)[drawn].sum(axis=0)))
    return measured
