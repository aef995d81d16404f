"""Losses over a list of candidates, some of which have the right answer, whatever their derivation.

    softmax margin   log sum_i exp(s_i + c [i wrong]) - log sum_(i right) exp(s_i)
    beam hinge       max_i (1 [i wrong] + p_i - p_*),   p = softmax(s), p_* the best right one's

A loss returns its value and the derivative of minus the loss by every score: what the model should be moved by. A list
without a right answer teaches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from weft.arrays import Bools, Floats


class ListLoss(Protocol):
    """A loss over a list of candidates."""

    def __call__(self, scores: Floats, right: Bools) -> tuple[float, Floats]: ...


def softmax(scores: Floats) -> Floats:
    """Probabilities of candidates."""
    shifted = np.exp(scores - scores.max())
    found: Floats = shifted / shifted.sum()
    return found


@dataclass(frozen=True)
class SoftmaxMargin:
    """The log loss of the right answers, with wrong ones raised by a cost.

    >>> value, pull = SoftmaxMargin(cost=0.0)(np.zeros(4), np.array([True, False, False, False]))
    >>> round(value, 3), pull.tolist()
    (1.386, [0.75, -0.25, -0.25, -0.25])
    """

    cost: float = 1.0

    def __call__(self, scores: Floats, right: Bools) -> tuple[float, Floats]:
        if not right.any():
            return 0.0, np.zeros(len(scores))
        raised = scores + self.cost * ~right
        top = raised.max()
        all_sum = np.exp(raised - top)
        good = np.where(right, np.exp(np.where(right, scores, -np.inf) - scores[right].max()), 0.0)
        value = top + np.log(all_sum.sum()) - scores[right].max() - np.log(good.sum())
        return float(value), good / good.sum() - all_sum / all_sum.sum()


@dataclass(frozen=True)
class BeamHinge:
    """The hinge of Angeli and Uszkoreit (2013): the worst wrong candidate's probability against the best right one's.

    >>> value, pull = BeamHinge()(np.zeros(2), np.array([True, False]))
    >>> value, pull.tolist()
    (1.0, [0.5, -0.5])
    """

    def __call__(self, scores: Floats, right: Bools) -> tuple[float, Floats]:
        none = np.zeros(len(scores))
        if not right.any():
            return 0.0, none
        p = softmax(scores)
        best = int(np.argmax(np.where(right, scores, -np.inf)))
        margins = ~right + p - p[best]
        worst = int(np.argmax(margins))
        if worst == best or margins[worst] <= 0.0:
            return 0.0, none
        # d p_i / d s_j = p_i ([i = j] - p_j)
        pull = p * (p[worst] - p[best])
        pull[best] += p[best]
        pull[worst] -= p[worst]
        return float(margins[worst]), pull
