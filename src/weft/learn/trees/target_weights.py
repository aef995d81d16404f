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
from weft.learn.trees.model import TreeBatch, TreeModel

#: Classifier of domains: penalty of its squared weights, and how many parts each sentence is left out of in turn.
PENALTY, FOLDS = 1.0, 2
_ITERATIONS = 100


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


def feature_counts(model: TreeModel, batch: TreeBatch) -> Floats:
    """How often every feature fires in all possible parts of sentences, trees or no trees.

    >>> from weft.features.tree_templates import compile_tree_templates
    >>> from weft.learn.trees.features import TreeWords
    >>> words = TreeWords(np.array([[1], [2], [2]], np.uint64), np.zeros(4, np.int64), np.zeros(0, np.uint64))
    >>> model = TreeModel(compile_tree_templates("arc: m.t", ["t"]), bits=8)
    >>> batch = TreeBatch(np.array([0, 2]), words, None, np.ones(1))
    >>> sorted(feature_counts(model, batch)[feature_counts(model, batch) > 0].tolist())
    [1.0, 1.0, 2.0, 4.0]
    """
    counts = np.zeros(model.size)
    plain = TreeModel(model.program, model.order, model.shape, model.single_root, model.bits)
    for part in batch.batches():
        space = part.arc_space
        sizes = (space.n_arcs, space.n_siblings, space.n_grands)[: model.order]
        plain.scatter(part, TreeParts(*(np.ones(size) for size in sizes)), counts)
    return counts


def seen_factors(target: Floats) -> Floats:
    """Factors that leave out the features which the target does not have, from its `feature_counts`.

    >>> seen_factors(np.array([0.0, 2.0])).tolist()
    [0.0, 1.0]
    """
    return (target > 0).astype(np.float64)


def frequency_factors(source: Floats, target: Floats, most: float = 2.0) -> Floats:
    """Factors that grow with how much more frequent a feature is in the target, between 1 / most and most; roots are
    taken, as a factor acts twice, on the score and on the step.

    >>> frequency_factors(np.array([9.0, 9.0, 0.0]), np.array([0.0, 18.0, 0.0])).round(3).tolist()
    [0.5, 1.378, 1.0]
    """
    scale = source.sum() / max(float(target.sum()), 1.0)
    return np.clip(np.sqrt((scale * target + 1.0) / (source + 1.0)), 1 / most, most)
