"""Exact line search: the BLEU of all 1-best translations along a direction, by upper envelopes (Och 2003).

Along  w + gamma d  the score of row r is the line  a_r + gamma b_r.  The best row of a list changes where its upper
envelope has a corner. Between two corners of any list nothing changes, so a sweep over all corners in order, with BLEU
statistics updated at each, sees every BLEU that the direction can give.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.kernel import kernel
from weft.learn.tuning.bleu import corpus_bleu
from weft.learn.tuning.lists import Lists

#: How far beyond the last corner a step goes.
_BEYOND = 0.1


class Best(NamedTuple):
    """The best step along a direction."""

    gamma: float
    bleu: float  #: there
    before: float  #: at 0


def line_search(lists: Lists, weights: Floats, direction: Floats) -> Best:
    """The step with the highest BLEU: the middle of the widest of its best intervals, or 0 if no step is better.

    >>> stats = [[1, 1, 1, 1, 1, 1, 1, 1, 4, 4], [0, 0, 0, 0, 4, 3, 2, 1, 4, 4]]
    >>> lists = Lists.of([([[0.0, 1.0], [2.0, 0.0]], stats)])
    >>> best = line_search(lists, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    >>> best.gamma > 2, best.bleu, best.before
    (True, 1.0, 0.0)
    """
    return search_lines(lists.offsets, lists.features @ weights, lists.features @ direction, lists.stats)


def search_lines(offsets: Ints, a: Floats, b: Floats, stats: Ints) -> Best:
    """The best step for the lines a + gamma b of all rows."""
    gammas, bleus = profile(offsets, a, b, stats)
    at = int(np.searchsorted(gammas, 0.0, "right"))
    before = float(bleus[at])
    top = float(bleus.max())
    if top <= before:
        return Best(0.0, before, before)
    left = np.concatenate([[-np.inf], gammas])
    right = np.concatenate([gammas, [np.inf]])
    places = np.flatnonzero(bleus == top)
    width = right[places] - left[places]
    inner = np.isfinite(width)
    place = int(places[inner][np.argmax(width[inner])]) if inner.any() else int(places[0])
    low, high = left[place], right[place]
    gamma = high - _BEYOND if np.isinf(low) else low + _BEYOND if np.isinf(high) else (low + high) / 2
    return Best(float(gamma), top, before)


def profile(offsets: Ints, a: Floats, b: Floats, stats: Ints) -> tuple[Floats, Floats]:
    """All corners in order, and BLEU before the first, between each two, and behind the last."""
    n = len(a)
    corner, row, before = np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32)
    first = np.empty(len(offsets) - 1, np.int32)
    size = _corners(offsets, a, b, np.empty(n, np.int32), np.empty(n), first, corner, row, before)
    order = np.argsort(corner[:size], kind="stable")
    change = stats[row[:size][order]] - stats[before[:size][order]]
    sums = np.concatenate([stats[first].sum(axis=0)[None], change]).cumsum(axis=0)
    gammas = corner[:size][order]
    # Corners at one place are one.
    last = np.append(np.flatnonzero(np.diff(gammas) > 0), size - 1) if size else np.zeros(0, np.int64)
    return gammas[last], corpus_bleu(sums[np.concatenate([[0], last + 1])])


@kernel
def _corners(
    offsets: Ints, a: Floats, b: Floats, stack: Ids, since: Floats, first: Ids, corner: Floats, row: Ids, before: Ids
) -> int:
    """The corners of upper envelopes, list by list, the rows that are best from there on, and those best before."""
    n = 0
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        order = np.argsort(b[begin:end], kind="mergesort")
        top = 0
        for k in range(len(order)):
            r = begin + order[k]
            at = -np.inf
            while top > 0:
                q = stack[top - 1]
                if b[r] == b[q]:
                    if a[r] <= a[q]:
                        at = np.inf
                        break
                    top -= 1
                    continue
                at = (a[q] - a[r]) / (b[r] - b[q])
                if at > since[top - 1]:
                    break
                top -= 1
                at = -np.inf
            if at == np.inf:
                continue
            stack[top], since[top] = r, at if top > 0 else -np.inf
            top += 1
        first[s] = stack[0]
        for k in range(1, top):
            corner[n], row[n], before[n] = since[k], stack[k], stack[k - 1]
            n += 1
    return n
