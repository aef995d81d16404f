"""Affinity propagation (Frey and Dueck 2007): messages choose exemplars, and so the number of clusters.

    r(i, k) <- s(i, k) - max over k' != k of a(i, k') + s(i, k')
    a(i, k) <- min(0, r(k, k) + sum over i' not in {i, k} of max(0, r(i', k)))        i != k
    a(k, k) <- sum over i' != k of max(0, r(i', k))

s(k, k) is the preference of k to be an exemplar. Messages are damped; i belongs to the k of the largest a + r.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Ints
from weft.errors import ConfigError, DataError


def affinity_clusters(
    similarities: ArrayLike, preference: float | None = None, damping: float = 0.7, rounds: int = 300, rest: int = 20
) -> Ints:
    """The cluster of every item; the median similarity is the usual preference.

    Messages end after `rest` rounds in which no exemplar changes. Without exemplars, all items are one cluster.

    >>> affinity_clusters([[0, 5, 0, 0], [5, 0, 0, 0], [0, 0, 0, 5], [0, 0, 5, 0]], preference=1.0).tolist()
    [0, 0, 1, 1]
    """
    s = np.array(similarities, dtype=np.float64)
    n = len(s)
    if s.shape != (n, n) or not n or not np.isfinite(s).all():
        raise DataError(f"similarities are a square matrix of finite numbers, got shape {s.shape}")
    if not 0 <= damping < 1 or rounds < 1:
        raise ConfigError("affinity propagation needs a damping from 0 to below 1, and at least one round")
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    others = ~np.eye(n, dtype=np.bool_)
    np.fill_diagonal(s, float(np.median(s[others])) if preference is None else preference)
    # Exact ties would keep the messages from choosing: later items are a hair less similar.
    s -= 1e-9 * (np.abs(s).max() + 1e-9) * np.arange(n) / n
    r, a, every = np.zeros((n, n)), np.zeros((n, n)), np.arange(n)
    before, same = np.zeros(n, dtype=np.bool_), 0
    for _ in range(rounds):
        both = a + s
        first = both.argmax(axis=1)
        top = both[every, first]
        both[every, first] = -np.inf
        new = s - top[:, None]
        new[every, first] = s[every, first] - both.max(axis=1)
        r = damping * r + (1 - damping) * new
        positive = np.maximum(r, 0)
        positive[every, every] = r[every, every]
        total = positive.sum(axis=0) - positive
        diagonal = total[every, every].copy()
        new = np.minimum(total, 0)
        new[every, every] = diagonal
        a = damping * a + (1 - damping) * new
        exemplars = np.diag(a + r) > 0
        same = same + 1 if (exemplars == before).all() else 0
        before = exemplars
        if same >= rest and exemplars.any():
            break
    chosen = np.flatnonzero(before)
    if not len(chosen):
        return np.zeros(n, dtype=np.int64)
    labels = s[:, chosen].argmax(axis=1)
    labels[chosen] = np.arange(len(chosen))
    return labels.astype(np.int64)
