"""Errors that come in bursts, and what checking in a fixed order costs until enough of them are removed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.annotate.plans.costs import CostModel, segment_features
from weft.annotate.plans.planner import WorkList
from weft.arrays import Floats


def bursts(seed: int, n: int) -> Floats:
    """Probabilities of errors of a chain with two states: enter a burst with .05, leave it with .35.

    >>> bool(0.1 < bursts(0, 5000).mean() < 0.2)
    True
    """
    rng = np.random.default_rng(seed)
    inside = np.zeros(n, dtype=bool)
    moves = rng.random(n)
    state = False
    for i in range(n):
        state = bool(moves[i] < (0.65 if state else 0.05))
        inside[i] = state
    chances: Floats = np.where(inside, rng.beta(5, 3, n), rng.beta(1, 12, n))
    return chances


def in_order(
    doubts: Floats, units: Sequence[tuple[int, int]], wanted: float, cost: CostModel, counts: Floats | None = None
) -> tuple[float, float]:
    """The seconds that units take, in their order, until so much of `counts` (by default the doubts) is removed.

    >>> from weft.annotate.plans.costs import FixedCost
    >>> in_order(np.array([0.5, 0.1]), [(0, 1), (1, 2)], 0.5, FixedCost())
    (4.4, 0.5)
    """
    removed, seconds = 0.0, 0.0
    counted = doubts if counts is None else counts
    lengths = np.array([end - start for start, end in units])
    means = np.array([doubts[start:end].mean() for start, end in units])
    times = cost.seconds(segment_features(lengths, 1 - means))
    for (start, end), time in zip(units, times.tolist(), strict=True):
        if removed >= wanted - 1e-9:
            break
        removed += float(counted[start:end].sum())
        seconds += time
    return seconds, removed


def removed_by(plan: WorkList, counts: Floats) -> float:
    """How many errors really stand in the spans of a plan."""
    return float(sum(counts[each.start : each.end].sum() for each in plan.work))
