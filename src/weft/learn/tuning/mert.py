"""Minimum error rate training: weights with the highest BLEU on k best lists (Och 2003).

From every start, lines are searched exactly along each feature and along random directions, in random order, until none
of them gains. The best end of all starts is the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import ConfigError
from weft.learn.tuning.envelope import search_lines
from weft.learn.tuning.lists import Lists

#: A gain below this many points of BLEU (0 to 1) is none.
_LEAST = 1e-7


@dataclass(frozen=True)
class MertSettings:
    """How much is searched."""

    restarts: int = 20  #: random starts besides the weights given
    directions: int = 8  #: random directions per round, besides those of single features
    rounds: int = 30  #: of all directions, at most
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.restarts, self.directions) < 0 or self.rounds < 1:
            raise ConfigError("restarts and directions must be at least 0, rounds at least 1")


def mert(
    lists: Lists, weights: Floats, settings: MertSettings | None = None, fixed: Bools | None = None
) -> tuple[Floats, float]:
    """The best weights that were found, and their BLEU on the lists; `fixed` weights stay as they are.

    BLEU never falls: the weights given are one of the starts.

    >>> good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    >>> lists = Lists.of([([[1.0, 0.0], [0.0, 1.0]], [bad, good])])
    >>> lists.bleu(np.array([1.0, 0.5])), mert(lists, np.array([1.0, 0.5]))[1]
    (0.0, 1.0)
    """
    settings = settings or MertSettings()
    rng = np.random.default_rng(settings.seed)
    free = np.ones(len(weights), np.bool_) if fixed is None else ~fixed
    best, top = _climbed(lists, np.asarray(weights, np.float64), free, rng, settings)
    for _ in range(settings.restarts):
        start = np.where(free, rng.normal(size=len(weights)), weights)
        found, bleu = _climbed(lists, start, free, rng, settings)
        if bleu > top + _LEAST:
            best, top = found, bleu
    return best, top


def _climbed(
    lists: Lists, weights: Floats, free: Bools, rng: np.random.Generator, settings: MertSettings
) -> tuple[Floats, float]:
    axes = [np.eye(len(weights))[k] for k in np.flatnonzero(free)]
    bleu = lists.bleu(weights)
    for _ in range(settings.rounds):
        before = bleu
        more = [np.where(free, rng.normal(size=len(weights)), 0.0) for _ in range(settings.directions)]
        directions = [*axes, *more]
        for k in rng.permutation(len(directions)):
            scores = lists.features @ weights
            found = search_lines(lists.offsets, scores, lists.features @ directions[k], lists.stats)
            if found.bleu <= bleu + _LEAST:
                continue
            step = weights + found.gamma * directions[k]
            reached = lists.bleu(step)
            if reached > bleu + _LEAST:  # not so if rounding moves a corner
                weights, bleu = step, reached
        if bleu <= before + _LEAST:
            break
    return weights, bleu
