"""How good a ranking of words is, by the words that are keywords."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

MEASURES = ("nDCG", "P", "MRR")


def at(ranked: Sequence[str], keywords: Collection[str], n: int) -> tuple[float, float, float]:
    """nDCG, precision and reciprocal rank at n; gains are discounted from the third place on.

    >>> at(["a", "x", "b"], {"a", "b"}, 3)
    (0.8154648767857288, 0.6666666666666666, 1.0)
    >>> at(["x", "y"], {"a"}, 2)
    (0.0, 0.0, 0.0)
    """
    gains = np.array([word in keywords for word in ranked[:n]], dtype=np.float64)
    gains = np.append(gains, np.zeros(n - len(gains)))
    weights = 1 / np.log2(np.maximum(np.arange(1, n + 1), 2))
    ideal = weights[: min(len(keywords), n)].sum()
    hits = np.flatnonzero(gains)
    first = 1 / (int(hits[0]) + 1) if len(hits) else 0.0
    return float(gains @ weights / ideal) if ideal else 0.0, float(gains.mean()), first
