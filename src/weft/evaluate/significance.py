"""Is the difference between two systems more than chance?

McNemar's test uses the items that exactly one system gets right, `b` and `c` of them. If the systems are equally good,
b ~ Binomial(b + c, 1/2), and for many items (|b - c| - 1)^2 / (b + c) ~ chi-square with one degree of freedom.

The paired bootstrap resamples the units (sentences) with replacement, the same ones for both systems, and computes the
difference d* of their scores: its quantiles are a confidence interval, and p is how often |d* - d| >= |d|.

Approximate randomization swaps the two systems' outputs in every unit with probability 1/2: if the systems do not
differ, the labels "A" and "B" carry no information, and p is how often the difference is at least the observed one.

Wilcoxon's rank-sum test compares the scores of several runs (seeds) of two systems by their ranks among all of them.

Bootstrap and randomization accept any counts per unit and any measure of their sums, so F1, which is not a mean over
sentences, is tested directly. All tests are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import WeftError
from weft.evaluate.counts import Counts, Measure, measure_of

#: The minimum number of discordant pairs for McNemar's chi-square instead of the exact binomial.
FEW = 25
_CELLS = 4_000_000  # random numbers drawn at a time
_EQUAL = 1e-12  # closer differences count as equal: sums of the same numbers in another order


@dataclass(frozen=True)
class McNemar:
    """The outcome of McNemar's test."""

    only_a: int  # items that only the first system gets right
    only_b: int
    exact_p: float
    chi_square: float
    chi_square_p: float

    @property
    def p(self) -> float:
        """The exact p-value for few discordant pairs, else that of the continuity-corrected chi-square."""
        return self.exact_p if self.only_a + self.only_b < FEW else self.chi_square_p


@dataclass(frozen=True)
class Comparison:
    """Two systems by one measure: scores, their difference `a - b`, its confidence interval, and the p-value."""

    a: float
    b: float
    low: float
    high: float
    p: float
    samples: int
    exact: bool = False  # all outcomes were enumerated, none sampled

    @property
    def difference(self) -> float:
        return self.a - self.b


@dataclass(frozen=True)
class Interval:
    """A score and its confidence interval."""

    value: float
    low: float
    high: float


def mcnemar(right_a: Any, right_b: Any) -> McNemar:
    """McNemar's test on two systems: for every item, whether each gets it right.

    >>> a, b = np.array([1, 1, 1, 1, 1, 1, 0, 1]), np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> result = mcnemar(a, b)
    >>> result.only_a, result.only_b, result.p, round(result.chi_square, 3)
    (5, 1, 0.21875, 1.5)
    """
    one, other = np.asarray(right_a, dtype=np.bool_), np.asarray(right_b, dtype=np.bool_)
    if one.shape != other.shape:
        raise WeftError(f"McNemar's test needs the same items for both systems, but got {one.size} and {other.size}")
    return mcnemar_of_counts(int((one & ~other).sum()), int((other & ~one).sum()))


def mcnemar_of_counts(only_a: int, only_b: int) -> McNemar:
    """McNemar's test from the numbers of items that only one system gets right.

    >>> round(mcnemar_of_counts(40, 20).chi_square_p, 4)
    0.0142
    """
    if only_a < 0 or only_b < 0:
        raise WeftError(f"counts of items cannot be negative: {only_a}, {only_b}")
    n = only_a + only_b
    # If all pairs tie, there is nothing to correct, and the difference is as small as it can be.
    chi_square = max(abs(only_a - only_b) - 1, 0) ** 2 / n if n else 0.0
    return McNemar(
        only_a, only_b, _binomial_p(n, min(only_a, only_b)), chi_square, math.erfc(math.sqrt(chi_square / 2))
    )


def rank_sum(a: Sequence[float], b: Sequence[float]) -> float:
    """The p-value of Wilcoxon's rank-sum test: do runs of one system tend to score higher across seeds?

    Exact if there are no ties, otherwise by the normal approximation.

    >>> rank_sum([85.8, 85.9, 86.1, 86.0], [81.3, 81.2, 81.9, 81.0]) == 2 / 70
    True
    """
    if not len(a) or not len(b):
        raise WeftError(f"the rank-sum test needs scores of both systems, but got {len(a)} and {len(b)}")
    from scipy.stats import mannwhitneyu

    ties = len(set(a) | set(b)) < len(a) + len(b)
    if len(set(a) | set(b)) == 1:
        return 1.0
    return float(mannwhitneyu(a, b, method="asymptotic" if ties else "exact").pvalue)


def signed_rank(differences: Sequence[float] | NDArray[Any]) -> float:
    """The p-value of Wilcoxon's signed-rank test: do differences between two systems, one per language, deviate from 0?

    Two-sided; exact for up to fifty differences without ties. Five or fewer cannot reach 0.05.

    >>> signed_rank([2.1, 0.4, 1.5, 3.0, 0.9, 1.1]) == 2 / 2**6
    True
    >>> signed_rank([0.0, 0.0])
    1.0
    """
    values = np.asarray(differences, dtype=float)
    if not len(values) or not np.isfinite(values).all():
        raise WeftError(f"the signed-rank test needs numeric differences, but got {list(values)}")
    from scipy.stats import wilcoxon

    return float(wilcoxon(values).pvalue) if values.any() else 1.0


def paired_bootstrap(
    a: Counts | NDArray[Any],
    b: Counts | NDArray[Any],
    measure: str | Measure = "f1",
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems by resampling units with replacement.

    Counts may also be arrays, one row per unit, with a measure of sums of such rows (see `macro_f1`).

    >>> a = Counts.of([4] * 50, [4] * 50, [4, 4, 3, 4, 3] * 10)
    >>> b = Counts.of([4] * 50, [4] * 50, [3, 4, 3, 2, 3] * 10)
    >>> result = paired_bootstrap(a, b, samples=1000)
    >>> round(result.difference, 3), result.low > 0, result.p < 0.01
    (0.15, True, True)
    """
    rows_a, rows_b, score = _pair(a, b, measure, samples)
    seen_a, seen_b = float(score(rows_a.sum(axis=0))), float(score(rows_b.sum(axis=0)))
    both = np.stack([rows_a, rows_b], axis=1)
    drawn = [score(sums[:, 0]) - score(sums[:, 1]) for sums in _resampled(both, samples, seed)]
    differences = np.concatenate(drawn)
    seen = seen_a - seen_b
    as_far = int((np.abs(differences - seen) >= abs(seen) - _EQUAL).sum())
    low, high = quantiles(differences, confidence)
    return Comparison(seen_a, seen_b, low, high, (as_far + 1) / (samples + 1), samples)


def mean_difference(
    pairs: Sequence[tuple[Counts | NDArray[Any], Counts | NDArray[Any]]],
    measure: str | Measure = "f1",
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems by the means of their scores over several test sets, such as one per language.

    The units of every set are resampled as in `paired_bootstrap`; the sets themselves are fixed.

    >>> good, bad = Counts.of([4] * 50, [4] * 50, [4, 3] * 25), Counts.of([4] * 50, [4] * 50, [3, 3] * 25)
    >>> result = mean_difference([(good, bad), (bad, bad)])
    >>> result.difference, 0.03 < result.low < result.high < 0.09, result.p < 0.01
    (0.0625, True, True)
    """
    if not pairs:
        raise WeftError("there is no test set to compare the systems on")
    rng = np.random.default_rng(seed)
    seen, drawn = np.zeros(2), np.zeros(samples)
    for a, b in pairs:
        rows_a, rows_b, score = _pair(a, b, measure, samples)
        n = len(rows_a)
        times = rng.multinomial(n, np.full(n, 1 / n), size=samples).astype(np.float64)
        drawn += score(np.tensordot(times, rows_a, axes=1)) - score(np.tensordot(times, rows_b, axes=1))
        seen += [float(score(rows.sum(axis=0))) for rows in (rows_a, rows_b)]
    seen, drawn = seen / len(pairs), drawn / len(pairs)
    difference = float(seen[0] - seen[1])
    as_far = int((np.abs(drawn - difference) >= abs(difference) - _EQUAL).sum())
    low, high = quantiles(drawn, confidence)
    return Comparison(float(seen[0]), float(seen[1]), low, high, (as_far + 1) / (samples + 1), samples)


def approximate_randomization(
    a: Counts | NDArray[Any],
    b: Counts | NDArray[Any],
    measure: str | Measure = "f1",
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems by swapping their outputs unit by unit; the interval is that of the paired bootstrap.

    If there are no more ways to swap than samples, all are enumerated and p is exact.

    >>> a, b = Counts.of([1] * 6, [1] * 6, [1] * 6), Counts.of([1] * 6, [1] * 6, [0] * 6)
    >>> result = approximate_randomization(a, b)
    >>> result.p == 2 / 2**6, result.exact
    (True, True)
    """
    rows_a, rows_b, score = _pair(a, b, measure, samples)
    total_a, total_b = rows_a.sum(axis=0), rows_b.sum(axis=0)
    change = rows_b - rows_a
    change = change[np.abs(change).reshape(len(change), -1).any(axis=1)]
    seen = abs(float(score(total_a) - score(total_b)))
    exact = len(change) < 63 and 2 ** len(change) <= samples
    as_large = 0
    for swapped in _all_swaps(len(change)) if exact else _random_swaps(len(change), samples, seed):
        moved = np.tensordot(swapped, change, axes=1)
        differences = np.abs(score(total_a + moved) - score(total_b - moved))
        as_large += int((differences >= seen - _EQUAL).sum())
    p = as_large / 2 ** len(change) if exact else (as_large + 1) / (samples + 1)
    interval = paired_bootstrap(a, b, measure, samples, seed, confidence)
    return Comparison(interval.a, interval.b, interval.low, interval.high, p, samples, exact)


def confidence_interval(
    counts: Counts | NDArray[Any],
    measure: str | Measure = "f1",
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """A score with its bootstrap interval.

    >>> interval = confidence_interval(Counts.of([10] * 100, [10] * 100, [9, 8] * 50), samples=1000)
    >>> interval.value, 0.83 < interval.low < 0.85 < interval.high < 0.87
    (0.85, True)
    """
    rows, _, score = _pair(counts, counts, measure, samples)
    drawn = np.concatenate([score(sums) for sums in _resampled(rows, samples, seed)])
    return Interval(float(score(rows.sum(axis=0))), *quantiles(drawn, confidence))


def holm(p_values: Any) -> Floats:
    """Holm-corrected p-values: they bound the probability of any false positive among all tests.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    return _step(p_values, lambda p, n: np.maximum.accumulate(p * np.arange(n, 0, -1)))


def benjamini_hochberg(p_values: Any) -> Floats:
    """Benjamini-Hochberg-corrected p-values: they bound the expected fraction of false positives.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    return _step(p_values, lambda p, n: np.minimum.accumulate((p * n / np.arange(1, n + 1))[::-1])[::-1])


def _step(p_values: Any, adjust: Callable[[Floats, int], Floats]) -> Floats:
    given = np.asarray(p_values, dtype=np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise WeftError(f"p-values must be numbers between 0 and 1, but got {p_values!r}")
    order = np.argsort(given, kind="stable")
    result = np.empty_like(given)
    result[order] = np.minimum(adjust(given[order], len(given)), 1.0)
    return result


def _binomial_p(n: int, smaller: int) -> float:
    """The probability that the smaller of two counts in n fair coin flips is at most this small."""
    term = total = 1
    for k in range(smaller):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / 2**n)


def _pair(
    a: Counts | NDArray[Any], b: Counts | NDArray[Any], measure: str | Measure, samples: int
) -> tuple[Floats, Floats, Measure]:
    one, other = (
        np.asarray(counts.rows if isinstance(counts, Counts) else counts, dtype=np.float64) for counts in (a, b)
    )
    if one.shape != other.shape:
        raise WeftError(
            f"a paired test needs the same units for both systems, but got {len(one)} and {len(other)}; "
            "score both against the same gold documents"
        )
    if one.ndim < 2 or not len(one):
        raise WeftError("there is nothing to test: the counts contain no units (sentences)")
    if samples < 1:
        raise WeftError(f"a test needs at least one sample, but got {samples}")
    return one, other, measure_of(measure)


def _resampled(rows: Floats, samples: int, seed: int) -> Iterator[Floats]:
    """Sums over units resampled with replacement, many samples at a time."""
    rng = np.random.default_rng(seed)
    n = len(rows)
    step = max(1, _CELLS // n)
    for done in range(0, samples, step):
        size = min(step, samples - done)
        drawn = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        yield np.tensordot(times.astype(np.float64), rows, axes=1)


def _random_swaps(n: int, samples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // max(n, 1))
    for done in range(0, samples, step):
        yield rng.integers(0, 2, size=(min(step, samples - done), n), dtype=np.int8).astype(np.float64)


def _all_swaps(n: int) -> Iterator[Floats]:
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def quantiles(values: Floats, confidence: float) -> tuple[float, float]:
    """The central interval that contains the given fraction of the values.

    >>> quantiles(np.arange(101.0), 0.5)
    (25.0, 75.0)
    """
    if not 0 < confidence < 1:
        raise WeftError(f"a confidence level must be between 0 and 1, such as 0.95, but is {confidence}")
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
