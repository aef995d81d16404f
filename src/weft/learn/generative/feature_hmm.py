"""Hidden Markov models with features, learned by direct gradient (Berg-Kirkpatrick et al. 2010).

    p(x, y)    = p(y_1)  prod_i p(x_i | y_i)  prod_{i>1} p(y_i | y_{i-1})
    p(x | y)   = exp(b . f(x, y)) / sum over x' in the vocabulary of exp(b . f(x', y)),      p(y' | y), p(y_1) likewise
    loss(b)    = - sum over sentences of log sum over allowed y of p(x, y)  +  l2 ||b||^2 / 2

With e(y, x) and t(y, y') the expected counts of the lattice under the model,

    - gradient = sum e(y, x) [f(x, y) - E_{x'|y} f(x', y)]  +  sum t(y, y') [f(y, y') - E_{y''|y} f(y, y'')]  -  l2 b

Features of words are rows of a layout over the vocabulary, each with a weight for every label; features of transitions
and of first labels are the pairs and labels themselves. The normalizer runs over the vocabulary once per call.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats
from weft.features.weights import Layout
from weft.learn.batch.descent import dot
from weft.learn.batch.objective import Objective
from weft.learn.chains.blocks import FeatureRows
from weft.learn.chains.lattice_model import LatticeBatch, TableModel
from weft.learn.signals import Likelihood


class FeatureHMM:
    """From weights to tables of log probabilities, and from gradients of tables back to weights.

    >>> one_feature_a_word = FeatureRows(np.arange(3, dtype=np.int32), np.arange(4), np.zeros(0))
    >>> hmm = FeatureHMM(one_feature_a_word, Layout.from_mask(np.ones((3, 2), dtype=bool)))
    >>> emission, transition, first = hmm.tables(np.zeros(hmm.size))
    >>> np.exp(emission[:, 0]).round(3).tolist(), np.exp(transition[0]).tolist(), np.exp(first).tolist()
    ([0.333, 0.333, 0.333], [0.5, 0.5], [0.5, 0.5])
    """

    def __init__(self, features: FeatureRows, layout: Layout) -> None:
        self.features, self.layout = features, layout
        self.chain = TableModel(len(features.offsets) - 1, layout.n_columns)

    @property
    def size(self) -> int:
        return self.layout.size + self.chain.labels * (self.chain.labels + 1)

    def scores(self, weights: Floats) -> Floats:
        """Scores `[word, label]` of the vocabulary before they are normalized."""
        own = self.features
        return self.layout.score(own.rows, own.offsets, own.values, weights[: self.layout.size])

    def tables(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Logarithms of p(x | y) as `[x, y]`, of p(y' | y) as `[y, y']` and of p(y_1)."""
        labels = self.chain.labels
        pairs = weights[self.layout.size : self.layout.size + labels**2].reshape(labels, labels)
        scores = self.scores(weights)
        return (
            scores - log_sum(scores, axis=0),
            pairs - log_sum(pairs, axis=1),
            weights[self.layout.size + labels**2 :] - log_sum(weights[None, self.layout.size + labels**2 :], 1)[0],
        )

    def pull_back(self, tables: tuple[Floats, Floats, Floats], gradient: Floats) -> Floats:
        """The gradient of weights from that of the tables they were made into."""
        into = np.zeros(self.size)
        counts, pairs, first = self.chain.cut(gradient)
        emission, transition, start = (np.exp(table) for table in tables)
        own, end = self.features, self.layout.size
        self.layout.scatter(
            own.rows, own.offsets, own.values, counts - emission * counts.sum(axis=0), into[: self.layout.size]
        )
        into[end : end + pairs.size] = (pairs - transition * pairs.sum(axis=1, keepdims=True)).ravel()
        into[end + pairs.size :] = first - start * first.sum()
        return into


class HMMObjective:
    """Loss and gradient of a feature HMM on lattices, for `weft.learn.minimize`.

    >>> words = FeatureRows(np.arange(2, dtype=np.int32), np.arange(3), np.zeros(0))
    >>> hmm = FeatureHMM(words, Layout.from_mask(np.ones((2, 2), dtype=bool)))
    >>> batch = LatticeBatch.from_masks(np.array([0, 1]), np.array([0, 2]), np.ones((2, 2), dtype=bool))
    >>> round(HMMObjective(hmm, [batch])(np.zeros(hmm.size))[0], 4)  # log 4: all words are as probable
    1.3863
    """

    def __init__(self, hmm: FeatureHMM, batches: Sequence[LatticeBatch], l2: float = 0.0, workers: int = 1) -> None:
        self.hmm, self.l2 = hmm, l2
        self.of_tables = Objective(hmm.chain, batches, Likelihood(), workers=workers)

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """Loss and gradient, both for minimization."""
        tables = self.hmm.tables(weights)
        loss, gradient = self.of_tables(np.concatenate([table.ravel() for table in tables]))
        own = self.hmm.pull_back(tables, gradient)
        own += self.l2 * weights
        return loss + 0.5 * self.l2 * dot(weights, weights), own


def log_sum(scores: Floats, axis: int) -> Floats:
    """Logarithm of the sum of exponentials along an axis, which stays with length 1.

    >>> log_sum(np.log(np.array([[1.0, 3.0]])), axis=1).round(4)
    array([[1.3863]])
    """
    top = scores.max(axis=axis, keepdims=True)
    total: Floats = top + np.log(np.exp(scores - top).sum(axis=axis, keepdims=True))
    return total
