"""Training on one domain for another: weights of sentences, words and features.

    L(y, y')   = sum over words j of  cost_j * [head of j is wrong]    a margin that asks more of some words
    ratio(v)   = p_target(v) / p_source(v), smoothed                   of what can be counted: words, features
    odds(s)    = p(target | s) / p(source | s)                         from a logistic classifier of sentences

`TreeBatch.weight` caps the step of a sentence (a weight times MIRA's C), `TreeBatch.costs` scale its losses, and the
`factors` of a `TreeModel` scale the values of features, in training and ever after. With all of them 1 a learner takes
exactly the steps it takes without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.trees.arcs import TreeParts
from weft.learn.batch.objective import Objective
from weft.learn.batch.optimize import minimize
from weft.learn.linear.choice import ChoiceModel
from weft.learn.online.demands import BeatGold, Demand
from weft.learn.protocol import Indices
from weft.learn.trees.model import TreeBatch, TreeModel

#: Classifier of domains: penalty of its squared weights, and how many parts each sentence is left out of in turn.
PENALTY, FOLDS = 1.0, 2
_ITERATIONS = 100
_KEY_BITS = 30  # as many as a model can have
_MERGE = 1 << 24  # features that are listed before they are counted


@dataclass(frozen=True)
class WordCosts:
    """What wrong heads cost, word by word: a `weft.learn.cost.Cost` of trees.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> from weft.infer.trees.projective import ProjectiveTrees
    >>> trees, gold = ProjectiveTrees(all_arcs([0, 3]), np.zeros(9)), np.array([2, 0, 2])
    >>> parts = WordCosts(np.array([0.5, 1.0, 4.0]))(trees, gold)
    >>> parts.inner(trees.parts(gold)), parts.inner(trees.parts(np.array([2, 3, 0])))
    (0.0, 5.0)
    """

    costs: Floats

    def __call__(self, structure: Any, gold: Any) -> TreeParts:
        parts: TreeParts = structure.hamming(gold)
        return replace(parts, arc=parts.arc * self.costs[structure.space.word])


@dataclass(frozen=True)
class WeighWords:
    """Gold ahead of the k best trees by the costs of their wrong heads, which the batch gives: demands for MIRA.

    >>> WeighWords()
    WeighWords(worst=False)
    """

    worst: bool = False

    def __call__(self, structure: Any, batch: TreeBatch, k: int) -> Demand:
        cost = 1.0 if batch.costs is None else WordCosts(batch.costs)
        return BeatGold(cost, worst=self.worst)(structure, batch, k)


def ratios(source: Counter[Any], target: Counter[Any], smooth: float = 1.0, most: float = 4.0) -> dict[Hashable, float]:
    """How much more frequent things are in the target than in the source, between 1 / most and most.

    >>> ratios(Counter(a=8, b=8), Counter(a=2, b=6))
    {'a': 0.5555555555555556, 'b': 1.4444444444444444}
    """
    scale = source.total() / max(target.total(), 1)
    return {
        each: float(np.clip((scale * target[each] + smooth) / (source[each] + smooth), 1 / most, most))
        for each in sorted({*source, *target}, key=str)
    }


def mean_one(weights: Floats) -> Floats:
    """The same weights scaled to a mean of 1, so that only their balance changes.

    >>> mean_one(np.array([1.0, 3.0])).tolist()
    [0.5, 1.5]
    """
    mean = float(weights.mean()) if len(weights) else 0.0
    if mean <= 0.0:
        raise ConfigError("all weights are 0: nothing of the source resembles the target")
    return weights / mean


def target_odds(
    source: Sequence[Iterable[Hashable]], target: Sequence[Iterable[Hashable]], most: float = 4.0
) -> Floats:
    """For every source sentence, given by its features, the odds that it comes from the target.

    Each is judged by a logistic classifier that has not seen it; both domains count the same, whatever their sizes.
    The odds are kept between 1 / most and most.

    >>> odds = target_odds([["a", "b"], ["b"], ["a", "b"], ["a"]] * 5, [["a"], ["a", "c"]] * 5)
    >>> bool(odds[3] > odds[1])
    True
    """
    if not len(source) or not len(target):
        raise ConfigError("a classifier of domains needs sentences of both, source and target")
    from scipy.sparse import csr_matrix

    numbers: dict[Hashable, int] = {}
    rows = [[numbers.setdefault(each, len(numbers)) for each in features] for features in (*source, *target)]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    lengths = np.maximum(np.diff(ends), 1)
    values = 1.0 / np.repeat(lengths, np.diff(ends))  # frequencies: long sentences are not surer than short ones
    matrix = csr_matrix((values, columns, ends), shape=(len(rows), max(len(numbers), 1)))
    gold = np.repeat([0, 1], [len(source), len(target)])
    balance = np.where(gold == 1, len(source) / len(target), 1.0)
    fold = np.arange(len(rows)) % FOLDS
    model = ChoiceModel(matrix.shape[1], 2)
    odds = np.ones(len(source))
    for left_out in range(FOLDS):
        seen = fold != left_out
        if len(set(gold[seen].tolist())) < 2:
            seen = np.ones(len(rows), dtype=np.bool_)
        batch = model.batch(matrix[seen] * 10.0, gold[seen], balance[seen])
        objective = Objective(model, [batch], l2=PENALTY)
        weights = minimize(objective, np.zeros(model.size), max_iterations=_ITERATIONS, describe="domains").weights
        own = np.flatnonzero((fold == left_out) & (gold == 0))
        scores = model.score(model.batch(matrix[own] * 10.0), weights).scores
        odds[own] = np.exp(np.clip(scores[:, 1] - scores[:, 0], -np.log(most), np.log(most)))
    return odds


@dataclass(frozen=True)
class FeatureCounts:
    """Features, each by a hash of its own, in order; the weight that each uses, and how often each fires."""

    features: Indices
    slots: Indices
    times: Floats

    @property
    def total(self) -> float:
        return float(self.times.sum())

    def times_of(self, features: Indices) -> Floats:
        """How often given features fire.

        >>> counts = FeatureCounts(np.array([3, 8]), np.array([0, 1]), np.array([2.0, 5.0]))
        >>> counts.times_of(np.array([8, 9])).tolist()
        [5.0, 0.0]
        """
        if not len(self.features):
            return np.zeros(len(features))
        place = np.minimum(np.searchsorted(self.features, features), len(self.features) - 1)
        return np.where(self.features[place] == features, self.times[place], 0.0)

    def by_slot(self, factors: Floats, size: int) -> Floats:
        """One factor per weight from one per feature: the mean of the features that share a weight, by their counts.

        >>> FeatureCounts(np.array([3, 8]), np.array([0, 0]), np.array([1.0, 3.0])).by_slot(np.array([1.0, 0.0]), 2)
        array([0.25, 1.  ])
        """
        sums = np.bincount(self.slots, weights=self.times, minlength=size)
        weighed = np.bincount(self.slots, weights=self.times * factors, minlength=size)
        return np.divide(weighed, sums, out=np.ones(size), where=sums > 0)


def feature_counts(model: TreeModel, batch: TreeBatch) -> FeatureCounts:
    """How often every feature fires in all possible parts of sentences, trees or no trees.

    Features are told apart by 30 bits, however few the weights of the model are hashed into: with those, nearly every
    place is taken in any text.

    >>> from weft.features.tree_templates import compile_tree_templates
    >>> from weft.learn.trees.features import TreeWords
    >>> words = TreeWords(np.array([[1], [2], [2]], np.uint64), np.zeros(4, np.int64), np.zeros(0, np.uint64))
    >>> model = TreeModel(compile_tree_templates("arc: m.t", ["t"]), bits=8)
    >>> batch = TreeBatch(np.array([0, 2]), words, None, np.ones(1))
    >>> sorted(feature_counts(model, batch).times.tolist())
    [1.0, 1.0, 2.0, 4.0]
    """
    narrow, wide = (
        TreeModel(model.program, model.order, model.shape, model.single_root, bits) for bits in (model.bits, _KEY_BITS)
    )
    listed = [FeatureCounts(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for part in batch.batches():
        features = wide.active(part)  # in the order in which the other model lists them
        listed.append(FeatureCounts(features, narrow.active(part), np.ones(len(features))))
        if sum(len(each.features) for each in listed) > _MERGE:
            listed = [_merged(listed)]
    return _merged(listed)


def _merged(parts: Sequence[FeatureCounts]) -> FeatureCounts:
    features, first, inverse = np.unique(
        np.concatenate([part.features for part in parts]), return_index=True, return_inverse=True
    )
    slots = np.concatenate([part.slots for part in parts])[first]
    times = np.bincount(inverse, weights=np.concatenate([part.times for part in parts]))
    return FeatureCounts(features, slots, np.asarray(times, dtype=np.float64))


def seen_factors(target: Floats) -> Floats:
    """Factors that leave out the features which the target does not have, from how often it has them.

    >>> seen_factors(np.array([0.0, 2.0])).tolist()
    [0.0, 1.0]
    """
    return (target > 0).astype(np.float64)


def frequency_factors(source: Floats, target: Floats, total: float, most: float = 2.0) -> Floats:
    """Factors that grow with how much more frequent a feature is in the target, between 1 / most and most; roots are
    taken, as a factor acts twice, on the score and on the step. `total` counts all features of the target.

    >>> frequency_factors(np.array([9.0, 9.0]), np.array([0.0, 18.0]), 18).round(3).tolist()
    [0.5, 1.378]
    """
    scale = source.sum() / max(total, 1.0)
    return np.clip(np.sqrt((scale * target + 1.0) / (source + 1.0)), 1 / most, most)
