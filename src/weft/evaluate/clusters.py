"""Scores of a clustering against the gold one, from label arrays: B-cubed, pairwise, Rand index, purity, NMI.

With c_ij the number of items in gold cluster i and predicted cluster j, g_i and p_j the sizes, n the number of items:

    B-cubed     precision = sum c_ij^2 / p_j / n         recall = sum c_ij^2 / g_i / n
    pairwise    precision = sum C(c_ij, 2) / sum C(p_j, 2)     recall = sum C(c_ij, 2) / sum C(g_i, 2)
    Rand        share of pairs of items that both clusterings put together, or both apart
    purity      sum_j max_i c_ij / n
    NMI         I(gold; predicted) / sqrt(H(gold) H(predicted))

One sort of the pairs of labels does it: time is n log n, and memory linear, for millions of items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import DataError


@dataclass(frozen=True)
class Score:
    """Precision and recall, and their harmonic mean.

    >>> round(Score(0.5, 1.0).f1, 3)
    0.667
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def as_dict(self) -> dict[str, float]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class Overlaps:
    """The overlaps of two clusterings: for every item, the size of its gold cluster, its predicted one and both."""

    gold: Floats
    predicted: Floats
    both: Floats

    @classmethod
    def of(cls, gold: ArrayLike, predicted: ArrayLike) -> Overlaps:
        """From the labels of all items, numbers or strings."""
        one, other = np.asarray(gold), np.asarray(predicted)
        if one.shape != other.shape or one.ndim != 1 or not len(one):
            raise DataError(
                f"two clusterings of the same items are compared, at least one item; got {one.shape} and {other.shape}"
            )
        _, i, g = np.unique(one, return_inverse=True, return_counts=True)
        _, j, p = np.unique(other, return_inverse=True, return_counts=True)
        _, k, c = np.unique(i.astype(np.int64) * len(p) + j, return_inverse=True, return_counts=True)
        return cls(g[i].astype(float), p[j].astype(float), c[k].astype(float))

    def b_cubed(self, weights: Floats | Ints | None = None) -> Score:
        """B-cubed; items may have weights, such as how often a bootstrap drew them."""
        precision, recall = self.both / self.predicted, self.both / self.gold
        return Score(float(np.average(precision, weights=weights)), float(np.average(recall, weights=weights)))

    def pairwise(self) -> Score:
        """Over pairs of items of one cluster; without any, precision or recall is 1."""
        pairs = float((self.both - 1).sum()), float((self.predicted - 1).sum()), float((self.gold - 1).sum())
        return Score(*(pairs[0] / total if total else 1.0 for total in pairs[1:]))

    def rand_index(self) -> float:
        """The share of pairs of items on which both clusterings agree; 1 for a single item."""
        n = len(self.both)
        together, gold, predicted = (float((sizes - 1).sum()) / 2 for sizes in (self.both, self.gold, self.predicted))
        pairs = n * (n - 1) / 2
        return (pairs - gold - predicted + 2 * together) / pairs if pairs else 1.0

    def information(self) -> float:
        """Normalized mutual information; 1 if both have one cluster, 0 if one of them has."""
        n = len(self.both)
        entropies = [-float(np.log(sizes / n).mean()) for sizes in (self.gold, self.predicted)]
        if min(entropies) <= 0:
            return float(max(entropies) <= 0)
        shared = float(np.log(self.both * n / (self.gold * self.predicted)).mean())
        return shared / float(np.sqrt(entropies[0] * entropies[1]))


def b_cubed(gold: ArrayLike, predicted: ArrayLike) -> Score:
    """B-cubed precision and recall.

    >>> score = b_cubed(["a", "a", "a", "b"], [0, 0, 1, 1])
    >>> score.precision, round(score.recall, 4)
    (0.75, 0.6667)
    """
    return Overlaps.of(gold, predicted).b_cubed()


def pairwise(gold: ArrayLike, predicted: ArrayLike) -> Score:
    """Precision and recall over pairs of items in one cluster.

    >>> score = pairwise(["a", "a", "a", "b"], [0, 0, 1, 1])
    >>> score.precision, round(score.recall, 4)
    (0.5, 0.3333)
    """
    return Overlaps.of(gold, predicted).pairwise()


def rand_index(gold: ArrayLike, predicted: ArrayLike) -> float:
    """The share of pairs of items that both clusterings put together, or both apart.

    >>> rand_index(["a", "a", "a", "b"], [0, 0, 1, 1])
    0.5
    """
    return Overlaps.of(gold, predicted).rand_index()


def purity(gold: ArrayLike, predicted: ArrayLike) -> float:
    """The share of items that belong to the most frequent gold cluster of their predicted one.

    >>> purity(["a", "a", "a", "b"], [0, 0, 1, 1])
    0.75
    """
    found = Overlaps.of(gold, predicted)
    own = np.asarray(predicted)
    _, clusters = np.unique(own, return_inverse=True)
    most = np.zeros(clusters.max() + 1)
    np.maximum.at(most, clusters, found.both)
    return float(most.sum()) / len(own)


def normalized_information(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Mutual information over the geometric mean of the entropies (Strehl and Ghosh 2003).

    >>> round(normalized_information(["a", "a", "a", "b"], [0, 0, 1, 1]), 4)
    0.3456
    >>> normalized_information(["a", "a", "b"], [1, 1, 0])
    1.0
    """
    return Overlaps.of(gold, predicted).information()
