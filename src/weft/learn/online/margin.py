"""Max-margin training by stochastic subgradient (Pegasos, Shalev-Shwartz et al. 2007, for structures).

    minimize  sum_s w_s max_y [score(y) + cost(gold, y) - score(gold)] + l2 * ||w||^2 / 2

The updates are those of `weft.learn.online.sgd` with the `Margin` signal; an SVM's C is 1 / l2. The mean of the
iterates, which is what the theory bounds, is the default result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.learn.cost import Cost
from weft.learn.online.sgd import SGD
from weft.learn.signals import Margin
from weft.learn.training import Result


@dataclass(frozen=True)
class MaxMargin:
    """Options of the structural support vector machine.

    >>> from weft.learn.linear.choice import ChoiceModel
    >>> model = ChoiceModel(features=2, labels=2)
    >>> batches = [model.batch([row], gold=[label]) for row, label in [([1.0, 0.0], 0), ([0.0, 1.0], 1)]]
    >>> result = MaxMargin(l2=0.1, epochs=100).fit(model, batches)
    >>> [int(model.score(batch, result.weights).best()[0]) for batch in batches]
    [0, 1]
    """

    epochs: int = 20
    l2: float = 1.0
    cost: float | Cost = 1.0
    rate: float | None = None
    average: bool = True
    shuffle: bool = True
    seed: int = 0

    def fit(self, model: Any, batches: Sequence[Any], start: Floats | None = None, **others: Any) -> Result:
        """Train a model on batches; further arguments as for `SGD.fit`."""
        if self.l2 <= 0:
            raise ConfigError(f"MaxMargin needs l2 above 0, got {self.l2}: without it the margin has no scale.")
        learner = SGD(
            epochs=self.epochs,
            l2=self.l2,
            rate=self.rate,
            signal=Margin(self.cost),
            average=self.average,
            shuffle=self.shuffle,
            seed=self.seed,
        )
        return learner.fit(model, batches, start, **{"describe": "max margin", **others})
