"""How often a label is wrong when the model is so sure: from labels that are known, by bins with equal counts.

    doubt(p) = the share of wrong labels among known ones near p,   pooled so that it never rises with p

Between the means of bins it is linear, and scaled so that the known labels have as many expected errors as true ones.
The number of bins grows with the root of the number of labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import DataError


@dataclass(frozen=True)
class Calibrator:
    """Turns probabilities into doubts.

    >>> p = np.linspace(0, 1, 1001)
    >>> Calibrator.fit(p, np.arange(1001) % 2 == 0)([0.2, 0.9]).round(1).tolist()
    [0.5, 0.5]
    """

    places: Floats
    wrong: Floats

    @classmethod
    def fit(cls, probabilities: ArrayLike, right: ArrayLike) -> Calibrator:
        """Learn from the probabilities of labels and whether they are right."""
        p, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
        if p.ndim != 1 or p.shape != truth.shape or len(p) < 2:
            raise DataError("calibration needs the probability of at least two labels, and whether each is right")
        order = np.argsort(p, kind="stable")
        bins = np.array_split(order, max(2, int(np.sqrt(len(p)) / 4)))
        places = [float(p[each].mean()) for each in bins]
        wrong = [float(1 - truth[each].mean()) for each in bins]
        sizes = [float(len(each)) for each in bins]
        found = cls(np.array(places), _falling(wrong, sizes))
        expected = float(found(p).sum())
        scale = float((1 - truth).sum()) / expected if expected > 0 else 1.0
        return cls(found.places, np.minimum(scale * found.wrong, 1.0))

    def __call__(self, probabilities: ArrayLike) -> Floats:
        """The probability that each label is wrong."""
        doubts: Floats = np.interp(np.asarray(probabilities, dtype=np.float64), self.places, self.wrong)
        return doubts


def _falling(values: list[float], sizes: list[float]) -> Floats:
    """The nearest values that never rise, by pooling neighbours that do."""
    pools: list[list[float]] = []
    for value, size in zip(values, sizes, strict=True):
        pools.append([value, size, 1])
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            last = pools.pop()
            before = pools[-1]
            total = before[1] + last[1]
            pools[-1] = [(before[0] * before[1] + last[0] * last[1]) / total, total, before[2] + last[2]]
    return np.concatenate([np.full(int(count), value) for value, _, count in pools])
