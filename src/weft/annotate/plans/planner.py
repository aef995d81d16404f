"""Which spans to check, of what length, for the minutes there are or for the quality that is asked.

errors of a span  = sum over its words of the probability that the label is wrong   (calibrated)
seconds of a span = what a cost model says of its length and doubt

for a budget      most expected errors removed, such that the seconds are at most the budget
for a quality     fewest seconds, such that at least so many expected errors are removed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.annotate.plans.costs import CostModel, segment_features
from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.infer.segmentations.budgets import Plan, solve, solve_by_labels
from weft.infer.segmentations.problem import SKIP, SegmentationProblem

#: The longest span in words.
LONGEST = 20
#: Plans for so few words are exact; for more, the gap is small.
EXACTLY = 60


class Mode(NamedTuple):
    """A way of checking a span: its cost model, and the share of errors that it removes."""

    name: str
    cost: CostModel
    reliability: float = 1.0


class Work(NamedTuple):
    """A span to check, words from `start` to `end` of all documents together."""

    start: int
    end: int
    mode: str
    seconds: float
    errors: float


@dataclass(frozen=True)
class WorkList:
    """What to check, in the order of the text; the gap is how much better any plan could be."""

    work: list[Work]
    seconds: float
    errors: float
    gap: float

    def by_rate(self) -> list[Work]:
        """The spans that remove most errors per second first."""
        return sorted(self.work, key=lambda each: (-each.errors / each.seconds, each.start))


def span_errors(doubts: ArrayLike, longest: int) -> Floats:
    """The expected errors of all spans, [start, length - 1].

    >>> span_errors([0.1, 0.5, 0.0], 2).round(2).tolist()
    [[0.1, 0.6], [0.5, 0.5], [0.0, 0.0]]
    """
    doubt = np.asarray(doubts, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(doubt)])
    ends = np.minimum(np.arange(len(doubt))[:, None] + np.arange(1, longest + 1), len(doubt))
    errors: Floats = sums[ends] - sums[: len(doubt), None]
    return errors


class Planner:
    """Plans for a corpus of words with doubts.

    >>> from weft.annotate.plans.costs import FixedCost
    >>> planner = Planner([0.0, 0.9, 0.8, 0.0, 0.0, 0.1], [Mode("type", FixedCost())])
    >>> [(each.start, each.end) for each in planner.for_errors(1.5).work]
    [(1, 3)]
    """

    def __init__(
        self, doubts: ArrayLike, modes: Sequence[Mode], documents: Sequence[int] = (), longest: int = LONGEST
    ) -> None:
        self.doubts = np.asarray(doubts, dtype=np.float64)
        if self.doubts.ndim != 1 or not len(self.doubts):
            raise DataError("a plan needs the doubt of at least one word")
        if not (self.doubts.min() >= 0 and self.doubts.max() <= 1):
            raise DataError("doubts are probabilities from 0 to 1")
        if not modes or longest < 1:
            raise ConfigError("a plan needs a mode of checking, and spans of at least one word")
        self.modes, self.documents = list(modes), list(documents)
        longest = min(longest, len(self.doubts))
        self.errors = span_errors(self.doubts, longest)
        lengths = np.broadcast_to(np.arange(1, longest + 1), self.errors.shape)
        features = segment_features(lengths.ravel(), 1 - (self.errors / lengths).ravel())
        self._seconds = np.stack([mode.cost.seconds(features).reshape(self.errors.shape) for mode in self.modes])
        self._removed = np.stack([mode.reliability * self.errors for mode in self.modes])
        self.total = float(self.doubts.sum())

    def for_errors(self, errors: float) -> WorkList:
        """The least time that removes at least so many expected errors."""
        most = float(self._problem(self._removed * -1, self._seconds).best().totals[0]) * -1
        if errors > most + 1e-9:
            raise DataError(f"at most {most:.2f} of the expected errors can be removed, not {errors:.2f}")
        return self._list(self.time_problem(), -errors)

    def for_seconds(self, seconds: float) -> WorkList:
        """The most expected errors that can be removed in the time."""
        if seconds < 0:
            raise ConfigError(f"a budget of time cannot be negative, got {seconds}")
        return self._list(self._problem(-self._removed, self._seconds), seconds)

    def what_if(self, shares: Sequence[float] = (0.1, 0.2, 0.4, 0.6, 0.8)) -> list[tuple[float, float]]:
        """The seconds that it takes to remove shares of the expected errors.

        >>> from weft.annotate.plans.costs import FixedCost
        >>> planner = Planner([0.0, 0.9, 0.8, 0.0, 0.0, 0.1], [Mode("type", FixedCost())])
        >>> [(share, round(seconds, 1)) for share, seconds in planner.what_if([0.5, 0.9])]
        [(0.5, 4.8), (0.9, 6.5)]
        """
        most = float(self._removed[:, :, 0].max(axis=0).sum())
        return [(share, self.for_errors(share * most).seconds) for share in shares]

    def time_problem(self) -> SegmentationProblem:
        """The problem of `for_errors`: the first criterion is time, the second the errors removed, negated."""
        return self._problem(self._seconds, -self._removed)

    def _problem(self, objective: Floats, bounded: Floats) -> SegmentationProblem:
        return SegmentationProblem.of(np.stack([objective, bounded]), self.documents)

    def _list(self, problem: SegmentationProblem, bound: float) -> WorkList:
        few = problem.n_tokens <= EXACTLY
        plan: Plan = solve_by_labels(problem, bound) if few else solve(problem, [bound])
        work = []
        for each in plan.segmentation.segments:
            if each.mode != SKIP:
                place = each.mode, each.start, each.end - each.start - 1
                work.append(
                    Work(
                        each.start, each.end, self.modes[each.mode].name, float(self._seconds[place]),
                        float(self._removed[place]),
                    )
                )  # fmt: skip
        return WorkList(work, sum(each.seconds for each in work), sum(each.errors for each in work), plan.gap)


def fixed_units(doubts: ArrayLike, documents: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Spans of a fixed size within documents, the least sure first: what most tools show.

    >>> fixed_units([0.0, 0.1, 0.9, 0.1, 0.5], [3, 2], 2)
    [(2, 3), (3, 5), (0, 2)]
    """
    doubt = np.asarray(doubts, dtype=np.float64)
    units, first = [], 0
    for length in documents or [len(doubt)]:
        units += [(start, min(start + size, first + length)) for start in range(first, first + length, size)]
        first += length
    return sorted(units, key=lambda unit: (-float(doubt[unit[0] : unit[1]].mean()), unit))
