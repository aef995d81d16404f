"""The quality of assignments, workers and languages, from control items whose answer is known.

    assignment   share of its controls that are answered with the gold answer or a synonym of it
    worker       mean of her assignments, for each language apart
    language     mean of its workers, not of assignments, which a few very active workers would decide

Rows are added as they come in; the qualities of two batches are those of all their rows in one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.annotate.crowd.answers import AnswerLog, normalized
from weft.arrays import Bools, Floats

#: Confidence of the intervals of languages.
CONFIDENCE = 0.95
#: Resampled crowds.
SAMPLES = 2000
#: Fewer workers are too few to resample: their interval is Student's.
FEW = 10

#: The gold answer of a control item, by language and item; the language is "" where there is only one.
Controls = Mapping[tuple[str, str], str]


class Work(NamedTuple):
    """What a worker did in a language."""

    worker: str
    language: str
    quality: float  #: mean over assignments with a control, NaN without one
    exact: float  #: the same with exact answers only
    assignments: int
    controls: int
    answers: int


class Estimate(NamedTuple):
    """The quality of a language: mean over workers, with an interval over workers."""

    language: str
    quality: float
    low: float
    high: float
    exact: float
    by_assignment: float  #: mean over assignments
    workers: int
    assignments: int


@dataclass
class _Assignment:
    right: int = 0
    exact: int = 0
    controls: int = 0
    answers: int = 0


class Tally:
    """Adds up the controls of assignments, batch by batch.

    >>> log = AnswerLog.of([("w", "1", "pani", "water"), ("w", "1", "vaidya", "physician"), ("w", "1", "x", "y")],
    ...                    ("worker", "assignment", "item", "answer"))
    >>> tally = Tally({("", "pani"): "water", ("", "vaidya"): "doctor"}, lambda a, b: {a, b} == {"physician", "doctor"})
    >>> tally.add(log)
    >>> tally.work()
    [Work(worker='w', language='', quality=1.0, exact=0.5, assignments=1, controls=2, answers=3)]
    """

    def __init__(self, controls: Controls, same: Callable[[str, str], bool] = lambda a, b: False) -> None:
        self.controls = {place: normalized(gold) for place, gold in controls.items()}
        self.same = same
        self._assignments: dict[tuple[str, str, str], _Assignment] = {}

    def add(self, log: AnswerLog) -> None:
        """Count the rows of a log; an assignment may be spread over several logs."""
        is_control, right, exact = judged(log, self.controls, self.same)
        group, first = log.groups("language", "worker", "assignment")
        sums = [np.bincount(group, each, len(first)).astype(np.int64) for each in (right, exact, is_control)]
        total = np.bincount(group, minlength=len(first))
        for number, row in enumerate(first.tolist()):
            key = (
                log.languages[log.language[row]], log.workers[log.worker[row]], log.assignments[log.assignment[row]]
            )  # fmt: skip
            kept = self._assignments.setdefault(key, _Assignment())
            kept.right += int(sums[0][number])
            kept.exact += int(sums[1][number])
            kept.controls += int(sums[2][number])
            kept.answers += int(total[number])

    def work(self) -> list[Work]:
        """What every worker did in every language, by language and name."""
        own: dict[tuple[str, str], list[_Assignment]] = {}
        for (language, worker, _), kept in self._assignments.items():
            own.setdefault((language, worker), []).append(kept)
        rows = []
        for (language, worker), done in sorted(own.items()):
            scored = [each for each in done if each.controls]
            shares = [each.right / each.controls for each in scored]
            exact = [each.exact / each.controls for each in scored]
            rows.append(
                Work(
                    worker, language, _mean(shares), _mean(exact), len(done), sum(each.controls for each in done),
                    sum(each.answers for each in done),
                )
            )  # fmt: skip
        return rows

    def assignment_quality(self, language: str, worker: str, assignment: str) -> float:
        """The share of controls that are right in an assignment; NaN without controls."""
        kept = self._assignments.get((language, worker, assignment), _Assignment())
        return kept.right / kept.controls if kept.controls else float("nan")


def judged(
    log: AnswerLog, controls: Mapping[tuple[str, str], str], same: Callable[[str, str], bool]
) -> tuple[Bools, Bools, Bools]:
    """Which rows answer a control, which of them rightly, and which with the gold answer itself.

    Every distinct pair of item and answer is judged once.
    """
    numbers: dict[str, int] = {}
    by_item, first = log.groups("language", "item")
    gold_of = np.full(len(first), -1, dtype=np.int64)
    for number, row in enumerate(first.tolist()):
        language, item = log.languages[log.language[row]], log.items[log.item[row]]
        gold = controls.get((language, item), controls.get(("", item)))
        if gold is not None:
            gold_of[number] = numbers.setdefault(gold, len(numbers))
    golds = gold_of[by_item]
    is_control = golds >= 0
    names = list(numbers)
    rows = np.flatnonzero(is_control)
    right, exact = np.zeros(len(log), dtype=bool), np.zeros(len(log), dtype=bool)
    if len(rows):
        keys = golds[rows] * len(log.answers) + log.answer[rows]
        distinct, inverse = np.unique(keys, return_inverse=True)
        verdicts = np.zeros((len(distinct), 2), dtype=bool)
        for k, key in enumerate(distinct.tolist()):
            gold, answer = names[key // len(log.answers)], log.answers[key % len(log.answers)]
            verdicts[k] = gold == answer or same(answer, gold), gold == answer
        right[rows], exact[rows] = verdicts[inverse, 0], verdicts[inverse, 1]
    return is_control, right, exact


def estimates(work: list[Work], samples: int = SAMPLES, seed: int = 0) -> list[Estimate]:
    """The quality of every language with an interval, from workers who answered controls.

    >>> rows = [Work("a", "hi", 1.0, 1.0, 9, 18, 90), Work("b", "hi", 0.5, 0.25, 1, 2, 10)]
    >>> [(each.quality, each.by_assignment, each.workers) for each in estimates(rows)]
    [(0.75, 0.95, 2)]
    """
    found = []
    for language in sorted({row.language for row in work}):
        rows = [row for row in work if row.language == language and row.controls]
        if not rows:
            continue
        quality = np.array([row.quality for row in rows])
        done = np.array([row.assignments for row in rows])
        low, high = interval(quality, samples, seed)
        found.append(
            Estimate(
                language, float(quality.mean()), low, high, float(np.mean([row.exact for row in rows])),
                float((quality * done).sum() / done.sum()), len(rows), int(done.sum()),
            )
        )  # fmt: skip
    return found


def interval(values: Floats, samples: int = SAMPLES, seed: int = 0) -> tuple[float, float]:
    """The interval of a mean by a bootstrap whose means are studentized; for a few workers, Student's.

    With m and s the mean and its standard error, and t* = (m* - m) / s* in a resampled crowd, the interval is
    m - s * (upper and lower quantile of t*), within 0 and 1.

    >>> low, high = interval(np.array([0.4, 0.6, 0.5, 0.7, 0.3]))
    >>> low < 0.5 < high
    True
    """
    n = len(values)
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    if n < 2:
        return 0.0, 1.0
    if error < 1e-12:  # all alike: Hoeffding's bound for values between 0 and 1
        half = math.sqrt(math.log(2 / (1 - CONFIDENCE)) / (2 * n))
        return max(0.0, mean - half), min(1.0, mean + half)
    if n < FEW:
        from scipy.stats import t

        half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
        return max(0.0, mean - half), min(1.0, mean + half)
    rng = np.random.default_rng(seed)
    drawn = values[rng.integers(0, n, (samples, n))]
    errors = drawn.std(axis=1, ddof=1) / np.sqrt(n)
    usable = errors > 0
    ratios = (drawn.mean(axis=1)[usable] - mean) / errors[usable]
    tail = (1 - CONFIDENCE) / 2
    high_t, low_t = np.quantile(ratios, [tail, 1 - tail])
    return max(0.0, mean - error * float(low_t)), min(1.0, mean - error * float(high_t))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def by_country(log: AnswerLog) -> dict[str, set[str]]:
    """The countries that every worker was seen in; a worker seen in several is in no region for certain.

    >>> log = AnswerLog.of([("w", "a", "x", "IN"), ("w", "b", "x", "US")], ("worker", "item", "answer", "country"))
    >>> {worker: sorted(seen) for worker, seen in by_country(log).items()}
    {'w': ['IN', 'US']}
    """
    _, first = log.groups("worker", "country")
    seen: dict[str, set[str]] = {}
    for row in first.tolist():
        country = log.countries[log.country[row]]
        own = seen.setdefault(log.workers[log.worker[row]], set())
        if country:
            own.add(country)
    return seen
