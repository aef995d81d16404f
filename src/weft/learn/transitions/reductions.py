"""A classifier of what a shift-reduce parser does with two pieces that have one root each (Liu 2013).

    P(a | c, s, t) = exp(w_a . h(c, s, t)) / sum over possible a' of exp(w_a' . h(c, s, t))        a: shift, R_l, R_r

c says whether the whole source is translated, and shifting is impossible then. Features are those of
`weft.infer.decoding.syntax`, in a hashed table; weights maximize the likelihood of events with a Gaussian prior, by
L-BFGS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from weft.arrays import Floats, Ids, Ints, Singles
from weft.errors import ConfigError, DataError
from weft.infer.decoding.shift_reduce import SHIFT
from weft.infer.decoding.syntax import N_TEMPLATES, Reductions, keys_of_events


@dataclass(frozen=True)
class ReductionSettings:
    """How the classifier is trained."""

    variance: float = 1.0  #: of the Gaussian prior
    iterations: int = 100
    bits: int = 20  #: the table has 2^bits slots

    def __post_init__(self) -> None:
        if not self.variance > 0 or self.iterations < 1 or not 1 <= self.bits <= 30:
            raise ConfigError("the variance must be above 0, iterations at least 1, and bits from 1 to 30")


def fit_reductions(events: Ids, labels: Ids, settings: ReductionSettings | None = None) -> Singles:
    """The table of weights: a row per slot, a column per action.

    >>> events = np.array([[0, 4, 1, -1, -1, 5, 2, -1, -1], [0, 5, 2, -1, -1, 4, 1, -1, -1]] * 3, dtype=np.int32)
    >>> weights = fit_reductions(events, np.array([1, 2] * 3), ReductionSettings(bits=10))
    >>> Reductions(weights, np.zeros(0, np.int32), np.zeros(0, np.int32)).probabilities(events[:2]).argmax(axis=1)
    array([1, 2])
    """
    settings = settings or ReductionSettings()
    if len(events) == 0:
        raise DataError("there are no decisions to learn from; are there trees whose pieces are phrases?")
    joined, times = np.unique(np.column_stack([events, labels]).astype(np.int32), axis=0, return_counts=True)
    rows, slots = _rows(joined[:, :-1], settings.bits)
    actions, closed = joined[:, -1], joined[:, 0] == 1
    turned = rows.T.tocsr()
    shape = (len(slots), 3)
    counts = times.astype(np.float64)

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        scores = rows @ weights
        scores[closed, SHIFT] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        total = shares.sum(axis=1, keepdims=True)
        at = np.arange(len(actions))
        value = -float(counts @ (scores[at, actions] - np.log(total[:, 0])))
        shares /= total
        shares[at, actions] -= 1.0
        gradient = turned @ (shares * counts[:, None]) + weights / settings.variance
        return value + float(flat @ flat) / (2 * settings.variance), gradient.ravel()

    found = minimize(
        objective, np.zeros(3 * len(slots)), jac=True, method="L-BFGS-B", options={"maxiter": settings.iterations}
    ).x.reshape(shape)
    table = np.zeros((1 << settings.bits, 3), np.float32)
    table[slots] = found
    return table


def _rows(events: Ids, bits: int) -> tuple[sparse.csr_matrix, Ints]:
    """The features of events as columns of those slots of the table that occur."""
    keys = np.empty((len(events), N_TEMPLATES), np.uint64)
    keys_of_events(np.ascontiguousarray(events), keys)
    slots, column = np.unique((keys & np.uint64((1 << bits) - 1)).astype(np.int64), return_inverse=True)
    ends = np.arange(len(events) + 1) * N_TEMPLATES
    values = np.ones(len(events) * N_TEMPLATES)
    return sparse.csr_matrix((values, column.reshape(-1), ends), shape=(len(events), len(slots))), slots


def accuracy(reductions: Reductions, events: Ids, labels: Ids) -> float:
    """The share of events whose action is the most probable one."""
    return float((reductions.probabilities(events).argmax(axis=1) == labels).mean())
