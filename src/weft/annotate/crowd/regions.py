"""Where workers are, and which languages a crowd really speaks.

A worker is in the region of a language if she was only seen in countries where it is spoken. If those outside the
region are as good and as many, they are more likely cheats than emigrants.

    many   at least 50 workers in the region        high   quality at least 70 %
    few    1 to 49                                  fast   all items within two weeks
    none   nobody
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.annotate.crowd.quality import Work
from weft.errors import DataError

MANY, HIGH, DAYS = 50, 0.70, 14.0
SAMPLES = 2000


class Regions(NamedTuple):
    """Workers in and out of the region of a language; p by permutation and by Welch's t test, NaN with too few."""

    language: str
    inside: float
    outside: float
    n_inside: int
    n_outside: int
    unclear: int  #: seen in several countries or in none
    p: float
    welch: float

    @property
    def stars(self) -> str:
        """Two stars for p < .05, one for p < .10."""
        return "**" if self.p < 0.05 else "*" if self.p < 0.10 else ""

    @property
    def suspicious(self) -> bool:
        """As many and as good outside as inside."""
        return self.n_outside >= max(5, self.n_inside / 2) and self.outside >= self.inside - 0.05


def regions(
    work: Sequence[Work], seen: Mapping[str, set[str]], countries: Mapping[str, set[str]], seed: int = 0
) -> list[Regions]:
    """Compare the workers in and out of the region of every language.

    >>> rows = [Work(str(n), "ga", 0.9 if n < 6 else 0.2, 0.5, 3, 6, 30) for n in range(12)]
    >>> found, = regions(rows, {str(n): {"IE" if n < 6 else "IN"} for n in range(12)}, {"ga": {"IE"}})
    >>> round(found.inside, 2), round(found.outside, 2), found.stars, found.suspicious
    (0.9, 0.2, '**', False)
    """
    found = []
    for language in sorted({row.language for row in work}):
        region = countries.get(language, set())
        groups: dict[bool, list[float]] = {True: [], False: []}
        unclear = 0
        for row in work:
            if row.language != language or not row.controls:
                continue
            places = seen.get(row.worker, set())
            if len(places) != 1:
                unclear += 1
            else:
                groups[places <= region].append(row.quality)
        inside, outside = np.array(groups[True]), np.array(groups[False])
        p, welch = permutation(inside, outside, seed), welch_p(inside, outside)
        means = [float(each.mean()) if len(each) else float("nan") for each in (inside, outside)]
        found.append(Regions(language, means[0], means[1], len(inside), len(outside), unclear, p, welch))
    return found


def permutation(a: np.ndarray, b: np.ndarray, seed: int = 0, samples: int = SAMPLES) -> float:
    """How often a random split of all values differs at least as much; two-sided, NaN with an empty group.

    >>> permutation(np.array([1.0, 1.0, 0.9, 0.8]), np.array([0.1, 0.2, 0.1, 0.0])) < 0.05
    True
    """
    if not len(a) or not len(b) or len(a) + len(b) < 3:
        return float("nan")
    rng = np.random.default_rng(seed)
    both = np.concatenate([a, b])
    shuffled = rng.permuted(np.tile(both, (samples, 1)), axis=1)
    differences = shuffled[:, : len(a)].mean(axis=1) - shuffled[:, len(a) :].mean(axis=1)
    observed = abs(a.mean() - b.mean())
    return float((1 + np.sum(np.abs(differences) >= observed - 1e-12)) / (1 + samples))


def welch_p(a: np.ndarray, b: np.ndarray) -> float:
    """The p-value of Welch's t test; NaN with fewer than two workers in a group, or without any spread."""
    if min(len(a), len(b)) < 2 or max(a.std(), b.std()) < 1e-9:
        return float("nan")
    from scipy.stats import ttest_ind

    return float(ttest_ind(a, b, equal_var=False).pvalue)


class Class(NamedTuple):
    """How a language can be had from a crowd."""

    language: str
    size: str
    quality: str
    speed: str

    @property
    def recommended(self) -> bool:
        return (self.size, self.quality, self.speed) == ("many", "high", "fast")


def classify(language: str, in_region: int, quality: float, days: float | None) -> Class:
    """The class of a language; without times its speed is unknown.

    >>> classify("ml", 219, 0.76, 6.0).recommended, classify("bn", 100, 0.5, 30.0)
    (True, Class(language='bn', size='many', quality='lower', speed='slow'))
    """
    size = "many" if in_region >= MANY else "few" if in_region else "none"
    speed = "unknown" if days is None else "fast" if days <= DAYS else "slow"
    return Class(language, size, "high" if quality >= HIGH else "lower", speed)


def completion(days: Sequence[float], total: int) -> tuple[list[tuple[float, float]], float | None]:
    """The share of `total` assignments that is there after so many days, and the day of the last; None if some lack.

    >>> completion([2.0, 1.0, 9.0], 3)
    ([(1.0, 0.3333333333333333), (2.0, 0.6666666666666666), (9.0, 1.0)], 9.0)
    """
    if total < 1:
        raise DataError(f"a completion curve needs at least one assignment, got {total}")
    ordered = sorted(days)
    curve = [(day, (number + 1) / total) for number, day in enumerate(ordered)]
    return curve, (ordered[total - 1] if len(ordered) >= total else None)
