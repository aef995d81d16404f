"""Soft ramp 3, a smooth loss of k best lists (Gimpel and Smith 2012), and its gradient for sparse weights.

    loss = sum over lists of  log sum exp(score + cost) - log sum exp(score - cost)
    gradient = sum of  E+[f] - E-[f],      p+(row) ~ exp(score + cost),  p-(row) ~ exp(score - cost)

p+ is what to fear, p- what to hope for. The cost of a row is `COST` times one minus its sentence BLEU. Gradients of
groups of sentences are sums, so that they can be computed anywhere and added up in the order of the groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.learn.tuning.bleu import sentence_bleu
from weft.learn.tuning.lists import Lists
from weft.ragged import sentence_of

COST = 20.0


def costs(lists: Lists, scale: float = COST) -> Floats:
    """The cost of every row."""
    return scale * (1.0 - sentence_bleu(lists.stats))


def loss(lists: Lists, weights: Floats, sparse: Floats | None = None, scale: float = COST) -> float:
    """The loss of lists.

    >>> lists = Lists.of([([[0.0]], np.ones((1, 10)))])
    >>> round(loss(lists, np.zeros(1)), 3) == round(2 * float(costs(lists)[0]), 3)
    True
    """
    scores, cost = lists.scores(weights, sparse), costs(lists, scale)
    return float((_log_sums(scores + cost, lists.offsets) - _log_sums(scores - cost, lists.offsets)).sum())


def differences(lists: Lists, weights: Floats, sparse: Floats | None = None, scale: float = COST) -> Floats:
    """p+ - p- of every row: the derivative of the loss by its score."""
    scores, cost = lists.scores(weights, sparse), costs(lists, scale)
    owner = lists.owner()
    fear = np.exp(scores + cost - _log_sums(scores + cost, lists.offsets)[owner])
    hope = np.exp(scores - cost - _log_sums(scores - cost, lists.offsets)[owner])
    found: Floats = fear - hope
    return found


def dense_gradient(lists: Lists, weights: Floats, sparse: Floats | None = None, scale: float = COST) -> Floats:
    """The gradient for the dense weights."""
    found: Floats = differences(lists, weights, sparse, scale) @ lists.features
    return found


@dataclass(frozen=True, eq=False)
class SparseGradient:
    """A gradient for sparse weights: for rising ids their values, and the number of lists in which each occurs."""

    ids: Ids
    values: Floats
    lists: Ints
    n_lists: int  #: all lists that were looked at

    def conditioned(self) -> SparseGradient:
        """The gradient per list in which a feature occurs.

        >>> one = SparseGradient(np.array([3]), np.array([2.0]), np.array([4]), 5)
        >>> one.conditioned().values.tolist()
        [0.5]
        """
        return SparseGradient(self.ids, self.values / self.lists, self.lists, self.n_lists)

    def vector(self, size: int) -> Floats:
        """The gradient as one array."""
        found = np.zeros(size)
        found[self.ids] = self.values
        return found


def sparse_gradient(lists: Lists, weights: Floats, sparse: Floats | None = None, scale: float = COST) -> SparseGradient:
    """The gradient for the sparse weights; dense weights have no part in it.

    >>> good, bad = [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 4, 3, 2, 1, 4, 4]
    >>> lists = Lists.of([([[0.0], [0.0]], [good, bad])], [[(5, 1.0)], [(2, 1.0)]])
    >>> found = sparse_gradient(lists, np.zeros(1))
    >>> found.ids.tolist(), found.values.round(3).tolist(), found.lists.tolist()
    ([2, 5], [1.0, -1.0], [1, 1])
    """
    change = differences(lists, weights, sparse, scale)
    row = sentence_of(lists.sparse_offsets)
    ids, where = np.unique(lists.sparse_ids, return_inverse=True)
    where = where.reshape(-1)
    values = np.bincount(where, change[row] * lists.sparse_values, len(ids)).astype(np.float64)
    seen = np.unique(where * max(1, len(lists)) + lists.owner()[row])
    counts = np.bincount(seen // max(1, len(lists)), minlength=len(ids))
    return SparseGradient(ids.astype(np.int32), values, counts, len(lists))


def added(parts: Iterable[SparseGradient]) -> SparseGradient:
    """The sum of gradients, in their order.

    >>> one = SparseGradient(np.array([1, 3]), np.array([1.0, 2.0]), np.array([1, 1]), 1)
    >>> both = added([one, one])
    >>> both.ids.tolist(), both.values.tolist(), both.lists.tolist(), both.n_lists
    ([1, 3], [2.0, 4.0], [2, 2], 2)
    """
    held = list(parts)
    size = 1 + max((int(part.ids[-1]) for part in held if len(part.ids)), default=-1)
    values, counts = np.zeros(size), np.zeros(size, np.int64)
    for part in held:
        values[part.ids] += part.values
        counts[part.ids] += part.lists
    ids = np.flatnonzero(counts)
    return SparseGradient(ids.astype(np.int32), values[ids], counts[ids], sum(part.n_lists for part in held))


def _log_sums(values: Floats, offsets: Ints) -> Floats:
    top = np.maximum.reduceat(values, offsets[:-1])
    sums = np.add.reduceat(np.exp(values - np.repeat(top, np.diff(offsets))), offsets[:-1])
    found: Floats = top + np.log(sums)
    return found
