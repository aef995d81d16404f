"""K best MIRA (Chiang 2012; Cherry and Foster 2012): per sentence, prefer a hopeful row to a fearful one by their BLEU.

    hope = argmax score + BLEU        fear = argmax score - BLEU
    loss = (BLEU of hope - BLEU of fear) - (score of hope - score of fear)
    w   += min(C, loss / |f|^2) f,    f = features of hope - features of fear        where loss > 0

The weights after all steps are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import ConfigError
from weft.learn.tuning.bleu import sentence_bleu
from weft.learn.tuning.lists import Lists


@dataclass(frozen=True)
class MiraSettings:
    """How far a step goes, and how often lists are gone through."""

    rate: float = 0.01  #: C, the largest step
    epochs: int = 10
    scale: float = 1.0  #: what BLEU (0 to 1) is multiplied by
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.rate > 0 or not self.scale > 0 or self.epochs < 1:
            raise ConfigError("rate and scale must be above 0, epochs at least 1")


def mira(lists: Lists, weights: Floats, settings: MiraSettings | None = None, fixed: Bools | None = None) -> Floats:
    """New weights of the features; `fixed` ones stay as they are.

    >>> good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    >>> lists = Lists.of([([[1.0, 0.0], [0.0, 1.0]], [bad, good])])
    >>> found = mira(lists, np.array([1.0, 0.8]), MiraSettings(rate=1.0))
    >>> bool(found[1] > found[0])
    True
    """
    settings = settings or MiraSettings()
    rng = np.random.default_rng(settings.seed)
    bleu = settings.scale * sentence_bleu(lists.stats)
    free = np.ones(len(weights), np.bool_) if fixed is None else ~fixed
    now = np.array(weights, np.float64)
    total, steps = np.zeros(len(now)), 0
    for _ in range(settings.epochs):
        for s in rng.permutation(len(lists)):
            begin, end = lists.offsets[s], lists.offsets[s + 1]
            rows, own = lists.features[begin:end], bleu[begin:end]
            scores = rows @ now
            hope, fear = int(np.argmax(scores + own)), int(np.argmax(scores - own))
            change = np.where(free, rows[hope] - rows[fear], 0.0)
            loss = (own[hope] - own[fear]) - (scores[hope] - scores[fear])
            norm = float(change @ change)
            if loss > 0 and norm > 0:
                now = now + min(settings.rate, loss / norm) * change
            total += now
            steps += 1
    return total / max(1, steps)
