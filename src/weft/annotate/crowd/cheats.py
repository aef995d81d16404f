"""Workers whose answers are not their own: copied from machine translation, or made up.

    machine    the share of a worker's answers that equal a machine's, where there is one, is above a cut (70 %)
    spam       next to none of her answers is right on a control, or shared with a machine or another worker

Every flag names its rule and its numbers; what a flag takes out comes back when the flag is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.annotate.crowd.answers import AnswerLog, normalized
from weft.annotate.crowd.quality import Controls, judged
from weft.arrays import Bools

MACHINE, SPAM = "machine", "spam"
#: Above this share of answers that equal the machine's, a worker is a copyist.
CUT = 0.7
#: Below this share of answers that anybody confirms, a worker makes answers up.
CONFIRMED = 0.12
#: So many answers it takes to judge a worker.
FEWEST = 5


class Evidence(NamedTuple):
    """What is known of a worker in a language."""

    worker: str
    language: str
    answers: int
    comparable: int  #: answers to items that the machine translates
    copied: int  #: of these, equal to the machine's
    confirmed: int  #: right on a control, or shared with a machine or another worker

    @property
    def overlap(self) -> float:
        """The share of answers that equal the machine's; NaN without a machine."""
        return self.copied / self.comparable if self.comparable else float("nan")

    @property
    def support(self) -> float:
        """The share of answers that anybody confirms."""
        return self.confirmed / self.answers


class Flag(NamedTuple):
    """A worker taken out, with the rule and its numbers."""

    worker: str
    language: str
    rule: str
    share: float
    cut: float
    answers: int

    @property
    def reason(self) -> str:
        """The flag in words.

        >>> Flag("A7", "ga", "machine", 0.92, 0.7, 40).reason
        '92 % of 40 answers equal the machine translation (cut 70 %)'
        """
        words = {MACHINE: "equal the machine translation", SPAM: "are confirmed by a control, machine or other worker"}
        return f"{100 * self.share:.0f} % of {self.answers} answers {words[self.rule]} (cut {100 * self.cut:.0f} %)"


@dataclass(frozen=True)
class Kept:
    """What a cut leaves, and how many answers have which overlap."""

    workers: float
    answers: float
    histogram: NDArray[np.int64]  #: workers by tenths of overlap


def evidence(
    log: AnswerLog, machine: Controls, controls: Controls, same: Callable[[str, str], bool] = lambda a, b: False
) -> list[Evidence]:
    """What is known of every worker in every language; `machine` has its answers by language and item.

    >>> log = AnswerLog.of([("w", "pani", "water"), ("w", "vaidya", "doctor"), ("v", "vaidya", "nurse")])
    >>> [(each.worker, each.overlap, each.confirmed) for each in evidence(log, {("", "pani"): "water"}, {})]
    [('w', 1.0, 1), ('v', nan, 0)]
    """
    comparable, copied, _ = judged(log, _normalized(machine), lambda a, b: False)
    _, right, _ = judged(log, _normalized(controls), same)
    confirmed = right | copied | shared(log)
    group, first = log.groups("language", "worker")
    sums = [np.bincount(group, each, len(first)).astype(int).tolist() for each in (comparable, copied, confirmed)]
    total = np.bincount(group, minlength=len(first)).tolist()
    return [
        Evidence(
            log.workers[log.worker[row]], log.languages[log.language[row]], total[k],
            sums[0][k], sums[1][k], sums[2][k],
        )
        for k, row in enumerate(first.tolist())
    ]  # fmt: skip


def shared(log: AnswerLog) -> Bools:
    """Which answers another worker gave to the same item.

    >>> shared(AnswerLog.of([("w", "a", "x"), ("w", "a", "x"), ("v", "b", "x"), ("u", "b", "X")])).tolist()
    [False, False, True, True]
    """
    group, first = log.groups("language", "item", "answer")
    pair, _ = log.groups("language", "item", "answer", "worker")
    givers = np.zeros(len(first), dtype=np.int64)
    _, one = np.unique(pair, return_index=True)
    np.add.at(givers, group[one], 1)
    several: Bools = givers[group] > 1
    return several


def flags(
    known: Sequence[Evidence], cut: float = CUT, confirmed: float = CONFIRMED, fewest: int = FEWEST
) -> list[Flag]:
    """The workers to take out, copyists first.

    >>> flags([Evidence("w", "ga", 20, 20, 19, 19), Evidence("v", "ga", 20, 20, 0, 1), Evidence("u", "ga", 2, 2, 2, 2)])
    [Flag(worker='w', language='ga', rule='machine', share=0.95, cut=0.7, answers=20), Flag(worker='v', ...)]
    """
    found = []
    for each in known:
        if each.comparable >= fewest and each.overlap > cut:
            found.append(Flag(each.worker, each.language, MACHINE, each.overlap, cut, each.comparable))
        elif each.answers >= fewest and each.support < confirmed:
            found.append(Flag(each.worker, each.language, SPAM, each.support, confirmed, each.answers))
    return sorted(found, key=lambda flag: (flag.rule, flag.language, -flag.answers, flag.worker))


def without(log: AnswerLog, taken_out: Sequence[Flag]) -> Bools:
    """The rows of a log that flags leave.

    >>> log = AnswerLog.of([("w", "a", "x"), ("v", "a", "y")])
    >>> without(log, [Flag("w", "", "spam", 0.0, 0.1, 9)]).tolist()
    [False, True]
    """
    out = {(flag.language, flag.worker) for flag in taken_out}
    group, first = log.groups("language", "worker")
    keep = np.array([
        (log.languages[log.language[row]], log.workers[log.worker[row]]) not in out for row in first.tolist()
    ], dtype=bool)  # fmt: skip
    rows: Bools = keep[group] if len(log) else np.zeros(0, dtype=bool)
    return rows


def coverage(known: Sequence[Evidence], cut: float = CUT) -> Kept:
    """The shares of workers and answers that a cut on the overlap keeps, and the distribution it cuts.

    >>> kept = coverage([Evidence("w", "", 30, 30, 30, 30), Evidence("v", "", 10, 10, 5, 9)])
    >>> kept.workers, kept.answers, kept.histogram.tolist()
    (0.5, 0.25, [0, 0, 0, 0, 0, 1, 0, 0, 0, 1])
    """
    rows = [each for each in known if each.comparable]
    if not rows:
        return Kept(1.0, 1.0, np.zeros(10, dtype=np.int64))
    overlap = np.array([each.overlap for each in rows])
    answers = np.array([each.answers for each in rows])
    kept = overlap <= cut
    histogram = np.bincount(np.minimum((overlap * 10).astype(np.int64), 9), minlength=10).astype(np.int64)
    return Kept(float(kept.mean()), float(answers[kept].sum() / answers.sum()), histogram)


def _normalized(texts: Controls) -> dict[tuple[str, str], str]:
    return {place: normalized(text) for place, text in texts.items()}
