"""Yes or no for many items: the threshold with the best F1, and the best F1 of a system that cannot look at the items.

    1 - F1 = A / (1 + A),   A = sum over i of (s_i FP_i + (1 - s_i) FN_i) / sum over i of 2 s_i TP_i

A blind system answers all items of a group i alike (s_i is 1 for yes): every clip for one sentence, for instance. The
ratio A is minimized by Dinkelbach's method: for a given A, s_i = 1 where FP_i - FN_i - 2 A TP_i < 0; the new decisions
give the next A, which falls until it is the smallest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.errors import DataError


def chance_f1(share: float) -> float:
    """The F1 of answers by the toss of a coin, if this share of the items is positive.

    >>> round(chance_f1(0.09), 3)
    0.153
    """
    return share / (share + 0.5) if share > 0 else 0.0


def best_threshold(scores: Any, truth: Any) -> float:
    """The threshold with the best F1 if items with scores of at least that are positive; half-way between two scores.

    >>> best_threshold([0.1, 0.4, 0.5, 0.9], [0, 0, 1, 1])
    0.45
    """
    values, gold = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.bool_)
    if values.shape != gold.shape or not gold.any():
        raise DataError("a threshold needs as many scores as answers, and a positive one")
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    correct = np.cumsum(gold[order])
    f1 = 2 * correct / (np.arange(1, len(order) + 1) + gold.sum())
    f1[:-1][ordered[:-1] == ordered[1:]] = -1  # no threshold separates equal scores
    k = int(np.argmax(f1))
    return (
        float((ordered[k] + ordered[k + 1]) / 2) if k + 1 < len(ordered) else float(np.nextafter(ordered[k], -np.inf))
    )


def blind_decisions(positives: Any, totals: Any) -> tuple[Bools, float]:
    """The decisions for groups with the best F1, and that F1: `positives` and `totals` count the items per group.

    >>> decisions, f1 = blind_decisions([4, 1, 0], [5, 5, 5])
    >>> decisions.tolist(), round(f1, 3)
    ([True, False, False], 0.8)
    """
    true = np.asarray(positives, dtype=np.float64)
    false = np.asarray(totals, dtype=np.float64) - true
    if not true.sum():
        return np.zeros(len(true), dtype=np.bool_), 0.0
    chosen = true > 0
    ratio = _ratio(chosen, true, false)
    while True:
        following = false - true - 2 * ratio * true < 0
        lower = _ratio(following, true, false)
        if not lower < ratio:
            return chosen, 1 / (1 + ratio)
        chosen, ratio = following, lower


def _ratio(chosen: Bools, true: Floats, false: Floats) -> float:
    hits = 2 * float(true[chosen].sum())
    return (float(false[chosen].sum()) + float(true[~chosen].sum())) / hits if hits else np.inf


def f1_counts(answers: Any, truth: Any) -> Ints:
    """Rows of gold, answered and correct items, one per row of a table of items.

    >>> f1_counts([[1, 0], [1, 1]], [[1, 1], [0, 1]]).tolist()
    [[2, 1, 1], [1, 2, 1]]
    """
    said, gold = np.asarray(answers, dtype=np.bool_), np.asarray(truth, dtype=np.bool_)
    return np.stack([gold.sum(axis=1), said.sum(axis=1), (said & gold).sum(axis=1)], axis=1).astype(np.int64)
