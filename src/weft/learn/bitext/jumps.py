"""The table of jumps of alignment models, from expected counts.

Jumps from source word b of I end at one of I words, so that with c the table, clipped at its ends, their likelihood is

    L(c) = sum_d n(d) log c(d)  -  sum over (I, b) of m(I, b) log Z(I, b),     Z(I, b) = sum over i < I of c(i - b)

which no division of counts maximizes. Since  -log Z >= -log Z_old - (Z - Z_old) / Z_old,  every round of

    c(d) <- n(d) / sum over (I, b, i) with i - b = d of m(I, b) / Z_old(I, b)

raises it. A pseudo-count a for every jump, as under a Dirichlet prior, adds  a sum_d log( c(d) / sum_d' c(d') ).
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats


def estimate_jumps(sums: Floats, departures: Floats, jumps: Floats, pseudo: float = 1.0, rounds: int = 10) -> Floats:
    """A table of jumps that explains the counts better than `jumps`; it sums to 1.

    `sums` and `departures` are those of `AlignmentMarginals`.

    >>> departures = np.zeros((3, 3))
    >>> departures[2, 0] = 10.0  # from the beginning, in sentences of two words: 8 jumps to the first, 2 to the second
    >>> estimate_jumps(np.array([0, 0, 0, 8.0, 2.0]), departures, np.ones(5), pseudo=0.1).round(2).tolist()
    [0.2, 0.2, 0.2, 0.32, 0.08]
    """
    reach = len(jumps) // 2
    size, start = (index.astype(np.int64) for index in np.nonzero(departures))
    n_jumps = departures[size, start]
    longest = departures.shape[0]
    bucket = np.clip(np.arange(-longest, longest + 1), -reach, reach) + reach  # of distances from -longest on
    low = 1 - start + longest  # distance of the first word: 0 - (start - 1)
    high = low + size
    counts = sums + pseudo
    table = jumps / jumps.sum()
    for _ in range(rounds):
        running = np.concatenate([[0.0], np.cumsum(table[bucket])])
        share = n_jumps / (running[high] - running[low])
        width = len(bucket) + 1
        change = np.bincount(low, share, width) - np.bincount(high, share, width)
        demand = np.bincount(bucket, np.cumsum(change)[: len(bucket)], len(table))
        table = counts / (demand + pseudo * len(table))
        table /= table.sum()
    return table


def jump_log_prior(jumps: Floats, pseudo: float) -> float:
    """What the prior says of a table, up to a constant.

    >>> jump_log_prior(np.array([0.5, 0.5]), 0.0)
    0.0
    """
    return float(pseudo * np.log(jumps / jumps.sum()).sum()) if pseudo and len(jumps) else 0.0
