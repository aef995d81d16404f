"""Rows of a sparse table of probabilities, estimated from expected counts: as they are, or under a Dirichlet prior.

    as they are           theta(f | e) = n(e, f) / n(e)
    variational Bayes     theta(f | e) = exp( psi(n(e, f) + alpha) - psi(n(e) + V(e) alpha) )

with psi the digamma function and V(e) the number of entries of the row: what has no entry has no probability. The
second is exp of the expected logarithm of a row that has the posterior Dirichlet(alpha + n): it takes from what was
seen once more than from what was seen often. EM with it raises the bound

    sum of log-likelihoods  -  sum over rows of KL( Dirichlet(alpha + n) || Dirichlet(alpha) )

(Beal 2003; Johnson 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.generative.cooccurrence import Types
from weft.ragged import Indices, one_block

_LEAST = -500.0  # of logarithms of weights: a small alpha must not make them vanish


@dataclass(frozen=True, slots=True)
class Rows:
    """A weight per entry; what an entry never seen weighs in its row (`unseen`); what the prior says of it all."""

    weight: Floats
    unseen: Floats
    log_prior: float


def estimate_rows(counts: Floats, row: Types, n_rows: int, alpha: float) -> Rows:
    """Weights of entries from their expected counts, `row` telling the row of each; `alpha` 0 takes them as they are.

    >>> rows = estimate_rows(np.array([3.0, 1.0]), np.array([0, 0], np.int32), 1, alpha=0.0)
    >>> rows.weight.tolist(), rows.unseen.tolist()
    ([0.75, 0.25], [0.0])
    >>> estimate_rows(np.array([3.0, 0.1]), np.array([0, 0], np.int32), 1, alpha=0.1).weight.round(3).tolist()
    [0.929, 0.002]
    """
    if alpha < 0:
        raise ConfigError(f"alpha={alpha}: the parameter of a Dirichlet prior is positive, or 0 for no prior")
    counts = one_block(counts, np.float64)
    weight, unseen = np.empty_like(counts), np.empty(n_rows)
    sums = np.bincount(row, weights=counts, minlength=n_rows).astype(np.float64, copy=False)
    log_prior = _estimate(counts, row, sums, np.bincount(row, minlength=n_rows), alpha, weight, unseen)
    return Rows(weight, unseen, float(log_prior))


@kernel
def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, for x > 0.

    >>> round(digamma.py_func(1.0), 6)
    -0.577216
    """
    below = 0.0
    while x < 6.0:
        below -= 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132)))))
    return below + math.log(x) - 0.5 / x - series


@kernel
def _estimate(
    counts: Floats, row: Types, sums: Floats, sizes: Indices, alpha: float, weight: Floats, unseen: Floats
) -> float:
    if alpha == 0.0:
        for n in range(len(counts)):
            weight[n] = counts[n] / sums[row[n]] if sums[row[n]] > 0.0 else 0.0
        unseen[:] = 0.0
        return 0.0
    log_prior = 0.0
    of_row = np.empty(len(sums))
    at_zero = digamma(alpha)
    for r in range(len(sums)):
        whole = max(sizes[r], 1) * alpha
        of_row[r] = digamma(sums[r] + whole)
        unseen[r] = math.exp(max(at_zero - of_row[r], _LEAST))
        if sums[r] > 0.0:
            log_prior -= math.lgamma(sums[r] + whole) - math.lgamma(whole)
    base = math.lgamma(alpha)
    for n in range(len(counts)):
        expected = digamma(counts[n] + alpha) - of_row[row[n]]
        weight[n] = math.exp(max(expected, _LEAST))
        log_prior += math.lgamma(counts[n] + alpha) - base - counts[n] * expected
    return log_prior
