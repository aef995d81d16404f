"""Two orders of the same items, and topics: Kendall's tau, discounted gain, coherence.

tau_a       (concordant - discordant) / (n (n - 1) / 2)         tied pairs count as neither
tau_b       (concordant - discordant) / sqrt(pairs untied in a * pairs untied in b)
DCG         sum over ranks r = 1.. of gain_r / log2(r + 1)
coherence   sum over m = 2..M, l < m of log((D(v_m, v_l) + 1) / D(v_l))         (Mimno et al. 2011)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_matrix, csr_matrix

from weft.errors import DataError


def kendall(a: ArrayLike, b: ArrayLike, ties: bool = False) -> float:
    """Kendall's tau between two scores of the same items: tau_a, or tau_b if `ties` are corrected for.

    >>> kendall([1, 2, 3, 4], [1, 3, 2, 4]), round(kendall([1, 1, 2], [1, 2, 3]), 4)
    (0.6666666666666666, 0.6667)
    >>> round(kendall([1, 1, 2], [1, 2, 3], ties=True), 4)
    0.8165
    """
    from scipy.stats import kendalltau

    one, other = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or len(one) < 2:
        raise DataError(f"two scores of the same items are compared, at least 2; got {one.shape} and {other.shape}")
    n = len(one)
    pairs = n * (n - 1) / 2
    untied = [pairs - sum(c * (c - 1) / 2 for c in np.unique(x, return_counts=True)[1].tolist()) for x in (one, other)]
    if not min(untied):
        return 0.0
    corrected = float(kendalltau(one, other, variant="b").statistic)
    return corrected if ties else round(corrected * (untied[0] * untied[1]) ** 0.5) / pairs


def discounted_gain(gains: Sequence[float]) -> float:
    """DCG of a ranked list.

    >>> discounted_gain([3.0, 0.0, 1.0])
    3.5
    """
    values = np.asarray(gains, dtype=np.float64)
    return float((values / np.log2(np.arange(len(values)) + 2)).sum())


def coherence(documents: csr_matrix | csc_matrix, words: Sequence[int]) -> float:
    """The coherence of the words of a topic, most important first, in documents (rows) by words (columns).

    >>> documents = csr_matrix([[1, 1, 0], [1, 1, 1], [1, 0, 0]])
    >>> round(coherence(documents, [0, 1, 2]), 4)    # log(3 / 3) + log(2 / 3) + log(2 / 2)
    -0.4055
    """
    part = documents[:, list(words)]
    part.data = np.ones_like(part.data)
    together = np.asarray((part.T @ part).todense(), dtype=np.float64)
    total = 0.0
    for m in range(1, len(words)):
        for earlier in range(m):
            if not together[earlier, earlier]:
                raise DataError(f"word {words[earlier]} of the topic is in no document")
            total += float(np.log((together[m, earlier] + 1) / together[earlier, earlier]))
    return total
