"""Weights with their mean over all updates, which online learners return.

The mean costs a second accumulator only: with t updates before this one, add  t * change  to it, and at the end

    mean = w - accumulator / updates
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from weft.arrays import Floats
from weft.learn.training import Arrays


class AveragedRun:
    """The part of a run of an online learner that keeps weights and their mean: a `weft.learn.online.loop.OnlineRun`
    but for `visit`, which moves `weights`, adds `updates` times the change to `late`, and counts `updates`.

    >>> run = AveragedRun(2, None, average=True)
    >>> for step in (1.0, 3.0):
    ...     run.weights += step
    ...     run.late += run.updates * step
    ...     run.updates += 1
    >>> run.weights_now()
    array([2.5, 2.5])
    """

    #: The arrays of a checkpoint.
    kept: ClassVar[tuple[str, ...]] = ("weights", "late")

    def __init__(self, size: int, start: Floats | None, average: bool) -> None:
        self.average = average
        self.weights = np.zeros(size) if start is None else np.array(start, dtype=np.float64)
        self.late = np.zeros(size if average else 0)
        self.updates = 0

    def weights_now(self) -> Floats:
        """The mean of the weights after every update, or the weights themselves where they are not averaged."""
        if not self.average or not self.updates:
            return self.weights
        return self.weights - self.late / self.updates

    def finished(self, loss: float) -> str:
        """Nothing but the number of epochs ends the training."""
        return ""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """What a checkpoint keeps."""
        return {name: getattr(self, name) for name in self.kept}, {"updates": self.updates}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """Resume from a checkpoint."""
        for name in self.kept:
            getattr(self, name)[:] = arrays[name]
        self.updates = values["updates"]
