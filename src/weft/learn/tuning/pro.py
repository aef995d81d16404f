"""Tuning as ranking (PRO, Hopkins and May 2011): learn which of two derivations of a sentence has the higher BLEU.

Per sentence many pairs of rows are drawn, and those with the largest differences in sentence BLEU are kept. Their
differences of features are classified by logistic regression with a Gaussian prior; its weights are the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.errors import ConfigError
from weft.learn.tuning.bleu import sentence_bleu
from weft.learn.tuning.lists import Lists


@dataclass(frozen=True)
class ProSettings:
    """How pairs are drawn, and how weights are learned from them."""

    samples: int = 5000  #: pairs drawn per sentence
    pairs: int = 50  #: of those, pairs kept
    least: float = 0.05  #: the least difference of their BLEU (0 to 1)
    l2: float = 1e-3  #: strength of the prior
    interpolation: float = 0.1  #: how much of the new weights is added to the old ones
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 1 or self.pairs < 1 or not 0 < self.interpolation <= 1 or self.l2 < 0:
            raise ConfigError("samples and pairs must be at least 1, interpolation in (0, 1], l2 at least 0")


def sampled_pairs(lists: Lists, settings: ProSettings, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of rows, the better one first."""
    bleu = sentence_bleu(lists.stats)
    better, worse = [], []
    for begin, end in zip(lists.offsets[:-1].tolist(), lists.offsets[1:].tolist(), strict=True):
        if end - begin < 2:
            continue
        one, other = rng.integers(begin, end, (2, settings.samples))
        gap = np.abs(bleu[one] - bleu[other])
        wide = np.flatnonzero(gap > settings.least)
        if len(wide) > settings.pairs:
            wide = wide[np.argsort(-gap[wide], kind="stable")[: settings.pairs]]
        first = bleu[one[wide]] > bleu[other[wide]]
        better.append(np.where(first, one[wide], other[wide]))
        worse.append(np.where(first, other[wide], one[wide]))
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *better]), np.concatenate([none, *worse])


def pro(lists: Lists, weights: Floats, settings: ProSettings | None = None, fixed: Bools | None = None) -> Floats:
    """New weights of the features; `fixed` ones stay as they are.

    >>> good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    >>> lists = Lists.of([([[1.0, 0.0], [0.0, 1.0]], [bad, good])])
    >>> found = pro(lists, np.array([1.0, 0.5]), ProSettings(interpolation=1.0))
    >>> bool(found[1] > found[0])
    True
    """
    settings = settings or ProSettings()
    better, worse = sampled_pairs(lists, settings, np.random.default_rng(settings.seed))
    free = np.ones(len(weights), np.bool_) if fixed is None else ~fixed
    rows = (lists.features[better] - lists.features[worse])[:, free]
    found = np.array(weights, np.float64)
    if len(rows):
        learned = logistic(rows, settings.l2)
        found[free] = (1 - settings.interpolation) * found[free] + settings.interpolation * learned
    return found


def logistic(rows: Floats, l2: float) -> Floats:
    """Weights that make the products with all rows positive: the minimum of mean log(1 + exp(-x . w)) + l2 |w|^2 / 2.

    >>> bool(logistic(np.array([[1.0, 0.0], [1.0, 1.0]]), 0.1)[0] > 0)
    True
    """
    weights = np.zeros(rows.shape[1])

    def loss(w: Floats) -> float:
        return float(np.logaddexp(0, -(rows @ w)).mean() + l2 * (w @ w) / 2)

    value = loss(weights)
    for _ in range(50):
        wrong = 1 / (1 + np.exp(np.clip(rows @ weights, -500, 500)))
        gradient = -(wrong @ rows) / len(rows) + l2 * weights
        curvature = (rows * (wrong * (1 - wrong))[:, None]).T @ rows / len(rows) + (l2 + 1e-9) * np.eye(len(weights))
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while size > 1e-6 and loss(weights - size * step) > value:
            size /= 2
        weights = weights - size * step
        new = loss(weights)
        if value - new < 1e-10:
            break
        value = new
    return weights
