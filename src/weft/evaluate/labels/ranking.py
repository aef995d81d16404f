"""How good the surest answers are: precision at a level of recall, and the confidence that reaches it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.errors import WeftError
from weft.evaluate.labels.sentiment import precision_recall


def precision_at_recall(confidence: ArrayLike, gold: ArrayLike, level: float) -> float:
    """The precision of the surest answers, just as many as it takes to find a share `level` of the gold items.

    >>> precision_at_recall([0.9, 0.8, 0.7, 0.6], [True, False, True, False], 0.5)
    1.0
    >>> round(precision_at_recall([0.9, 0.8, 0.7, 0.6], [True, False, True, False], 0.6), 3)
    0.667
    """
    recall, precision = precision_recall(confidence, gold)
    return float(precision[np.flatnonzero(recall >= level - 1e-12)[0]])


def threshold_at_recall(confidence: ArrayLike, gold: ArrayLike, level: float) -> float:
    """The highest confidence at which at least a share `level` of the gold items is found.

    >>> threshold_at_recall([0.9, 0.8, 0.7, 0.6], [True, False, True, False], 0.6)
    0.7
    """
    values, truth = np.asarray(confidence, dtype=np.float64), np.asarray(gold, dtype=np.bool_)
    if not truth.any():
        raise WeftError("a threshold needs at least one gold item")
    own = np.sort(values[truth])[::-1]
    return float(own[max(int(np.ceil(level * len(own) - 1e-12)), 1) - 1])
