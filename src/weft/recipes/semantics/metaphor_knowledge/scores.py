"""Precision, recall and accuracy of decisions by a threshold, and thresholds chosen on other sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.evaluate.counts import Counts
from weft.evaluate.significance import confidence_interval


class Score(NamedTuple):
    """Percentages of found metaphors."""

    precision: float
    recall: float
    f1: float
    accuracy: float

    @classmethod
    def of(cls, found: Sequence[bool], gold: Sequence[bool]) -> Score:
        """Compare decisions with the truth.

        >>> Score.of([True, True, False, False], [True, False, True, False])
        Score(precision=50.0, recall=50.0, f1=50.0, accuracy=50.0)
        """
        one, other = np.asarray(found, dtype=bool), np.asarray(gold, dtype=bool)
        right = float((one & other).sum())
        precision, recall = right / max(one.sum(), 1), right / max(other.sum(), 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-12)
        return cls(*(100 * float(value) for value in (precision, recall, f1, np.mean(one == other))))

    def row(self) -> dict[str, float | int | str | None]:
        """The columns of a table."""
        return {"P": self.precision, "R": self.recall, "F": self.f1, "accuracy": self.accuracy}


def interval(found: Sequence[bool], gold: Sequence[bool]) -> tuple[float, float]:
    """The bootstrap interval of F over sentences, in points."""
    rows = np.array([found, gold, np.logical_and(found, gold)], dtype=int)
    ends = confidence_interval(Counts.of(rows[1].tolist(), rows[0].tolist(), rows[2].tolist()))
    return 100 * ends.low, 100 * ends.high


def best_threshold(margins: Floats, gold: Sequence[bool]) -> float:
    """The threshold with the highest F for decisions `margin >= threshold`; the highest of equally good ones.

    >>> best_threshold(np.array([0.0, 1.0, 2.0, 3.0]), [False, False, True, True])
    2.0
    """
    values = np.asarray(margins, dtype=np.float64)
    tried = np.unique(values[values > 0])
    if not len(tried):
        return 1.0
    tried = tried[np.unique(np.linspace(0, len(tried) - 1, min(len(tried), 200)).astype(int))]
    return float(max(tried, key=lambda each: (Score.of((values >= each).tolist(), gold).f1, each)))


def precise_threshold(margins: Floats, gold: Sequence[bool], precision: float) -> float:
    """The lowest threshold at which decisions `margin >= threshold` are this precise, in per cent; infinite if none is.

    >>> precise_threshold(np.array([0.0, 1.0, 2.0, 3.0]), [False, False, True, True], 60.0)
    1.0
    """
    values, right = np.asarray(margins, dtype=np.float64), np.asarray(gold, dtype=bool)
    order = np.argsort(-values, kind="stable")
    found = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    ends = np.append(values[order][1:] < values[order][:-1], True)  # a threshold takes all that are equal
    good = np.flatnonzero(ends & (found >= precision / 100) & (values[order] > 0))
    return float(values[order][good[-1]]) if len(good) else float("inf")
