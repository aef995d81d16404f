"""Ranked retrieval: the rank of the best correct item of every query, mean ranks, and recall at k.

    rank = h + (t + 1) / (c + 1)

for h items that score higher than the best correct one and t that tie with it, c of these correct (itself included),
so that a system that gives all items one score has the mean rank of a random order: (N + 1) / (c + 1) for the best of c
correct items among N.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import DataError


def best_ranks(scores: Floats, correct: Bools) -> Floats:
    """The rank of the best correct item of each query (a row); items that score minus infinity are left out.

    >>> best_ranks(np.array([[0.1, 0.7, 0.2]]), np.array([[True, False, True]])).tolist()
    [2.0]
    """
    if scores.shape != correct.shape or not correct.any(axis=1).all():
        raise DataError("every query needs a correct item, and a score for every item")
    best = np.where(correct, scores, -np.inf).max(axis=1, keepdims=True)
    higher = (scores > best).sum(axis=1)
    ties, others = (scores == best).sum(axis=1), (~correct & (scores == best)).sum(axis=1)
    # Of t tied items, c of them correct, the first correct one is expected at (t + 1) / (c + 1).
    found: Floats = higher + (ties + 1) / (ties - others + 1)
    return found


def expected_rank(correct: int, items: int) -> float:
    """The mean rank of the best of several correct items in a random order.

    >>> expected_rank(1, 100), expected_rank(4, 499), expected_rank(5, 500)
    (50.5, 100.0, 83.5)
    """
    if not 1 <= correct <= items:
        raise DataError(f"{correct} of {items} items cannot be correct")
    return (items + 1) / (correct + 1)


def recall_at(ranks: Floats, k: int) -> float:
    """The share of queries with a correct item among the first k.

    >>> recall_at(np.array([1.0, 2.0, 7.0, 30.0]), 5)
    0.5
    """
    return float((np.asarray(ranks) <= k).mean())
