"""Scores for multiword expressions: links, as in MUC, and exact groups, averaged over two treatments of strength.

A link connects two neighbouring words of a group:

    P = fraction of system links with both ends in one gold group       R = the same with gold and system swapped

so that a predicted group that misses a word in its middle still gets credit. Weak groups are counted once as if strong
(raised) and once not at all (lowered); P, R and F1 are the means of the two. Exact scores count groups of the same
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import WeftError
from weft.text.conventions.expressions import Expressions, Group, has_gap


class MweScore(NamedTuple):
    """Precision, recall and F1, each the mean of the raised and the lowered reading."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class MweReport:
    """Counts per sentence `[sentence, reading, (system, system right, gold, gold found)]`, and their scores.

    >>> gold, system = [Expressions.of(strong=[[0, 1, 2]])], [Expressions.of(strong=[[0, 2]])]
    >>> report = score_expressions(gold, system)
    >>> report.link, report.exact.f1
    (MweScore(precision=1.0, recall=0.0, f1=0.0), 0.0)
    """

    links: Ints
    groups: Ints
    gaps: Ints  # [sentence, (gold links over a gap, found, gold groups with a gap, found)]

    @property
    def link(self) -> MweScore:
        return score_of(self.links.sum(axis=0))

    @property
    def exact(self) -> MweScore:
        return score_of(self.groups.sum(axis=0))

    @property
    def gap_recall(self) -> float:
        """The fraction of gold links over a gap whose ends are in one system group."""
        total = self.gaps.sum(axis=0)
        return float(total[1] / total[0]) if total[0] else 0.0

    @property
    def gappy_groups_recall(self) -> float:
        """The fraction of gold groups with a gap that are predicted exactly."""
        total = self.gaps.sum(axis=0)
        return float(total[3] / total[2]) if total[2] else 0.0


def score_expressions(gold: Sequence[Expressions], system: Sequence[Expressions]) -> MweReport:
    """Score the expressions in sentences.

    >>> gold = [Expressions.of(strong=[[0, 1], [3, 5]], weak=[[6, 7]])]
    >>> score_expressions(gold, [Expressions.of(strong=[[0, 1]], weak=[[6, 7]])]).link.recall.__round__(3)
    0.583
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} sentences, the system {len(system)}: score the same sentences")
    links = np.zeros((len(gold), 2, 4), dtype=np.int64)
    groups = np.zeros((len(gold), 2, 4), dtype=np.int64)
    gaps = np.zeros((len(gold), 4), dtype=np.int64)
    for s, (wanted, predicted) in enumerate(zip(gold, system, strict=True)):
        if not (wanted.strong or wanted.weak or predicted.strong or predicted.weak):
            continue
        readings = ((wanted.outermost(), predicted.outermost()), (list(wanted.strong), list(predicted.strong)))
        for reading, (a, b) in enumerate(readings):
            links[s, reading] = (*_links(b, a), *_links(a, b))
            same = len(set(a) & set(b))
            groups[s, reading] = (len(b), same, len(a), same)
        gaps[s] = _gap_counts(*readings[0])
    return MweReport(links, groups, gaps)


def score_of(sums: NDArray[Any]) -> MweScore:
    """The score of counts `[reading, 4]` summed over sentences.

    >>> score_of(np.array([[4, 2, 2, 2], [0, 0, 0, 0]]))
    MweScore(precision=0.25, recall=0.5, f1=0.3333333333333333)
    """
    ratios = _ratio(sums[..., [1, 3]], sums[..., [0, 2]])
    return MweScore(*map(float, (*ratios.mean(axis=-2), mean_f1(sums))))


def mean_f1(sums: NDArray[Any]) -> Floats:
    """F1 of counts `[..., reading, 4]`: a measure for the tests in `weft.evaluate.significance`.

    >>> float(mean_f1(np.array([[1, 1, 1, 1], [1, 1, 1, 1]])))
    1.0
    """
    precision, recall = _ratio(sums[..., 1], sums[..., 0]), _ratio(sums[..., 3], sums[..., 2])
    return np.asarray(_ratio(2 * precision * recall, precision + recall).mean(axis=-1))


def _links(groups: Sequence[Group], others: Sequence[Group]) -> tuple[int, int]:
    """The number of links in groups, and how many of them have both ends in one of the other groups."""
    home = {word: number for number, group in enumerate(others) for word in group}
    pairs = [pair for group in groups for pair in pairwise(group)]
    return len(pairs), sum(a in home and home[a] == home.get(b) for a, b in pairs)


def _gap_counts(gold: Sequence[Group], system: Sequence[Group]) -> tuple[int, int, int, int]:
    home = {word: number for number, group in enumerate(system) for word in group}
    over = [(a, b) for group in gold for a, b in pairwise(group) if b > a + 1]
    joined = sum(a in home and home[a] == home.get(b) for a, b in over)
    gappy = {group for group in gold if has_gap(group)}
    return len(over), joined, len(gappy), len(gappy & set(system))


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> Floats:
    zero = below == 0
    return np.where(zero, 0.0, above / np.where(zero, 1, below))
