"""A model of dependency trees that caches the features of its batches, for learners with many passes over them.

    score(a) = sum over k of w[slots[a, k]]        gradient:  w[slots[a, k]] += g(a)

`weft.learn.trees.model.TreeModel` makes features anew at every visit, in constant memory. Here they are made once, four
bytes a feature, and then only fetched, which is faster as long as the weights fit into the processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.trees.arcs import ArcSpace, TreeParts
from weft.infer.trees.projective import ProjectiveTrees
from weft.kernel import kernel
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.ragged import Indices, States

#: Arcs whose features are kept at most; a feature set of an arc takes some 100 bytes.
MOST_ARCS = 6_000_000


class ListedTrees:
    """The arcs of a `TreeModel` of first-order projective trees, with the features of these batches at hand.

    >>> from weft.features.tree_templates import compile_tree_templates
    >>> from weft.learn.trees.features import TreeWords
    >>> words = TreeWords(np.array([[1], [2], [3]], np.uint64), np.zeros(4, np.int64), np.zeros(0, np.uint64))
    >>> batch = TreeBatch(np.array([0, 2]), words, np.array([2, 0], np.int32), np.ones(1))
    >>> model = ListedTrees(TreeModel(compile_tree_templates("arc: h.t|m.t", ["t"]), bits=8), [batch])
    >>> weights = np.zeros(model.size)
    >>> model.scatter(batch, model.score(batch, weights).parts(batch.gold), weights)
    >>> model.score(batch, weights).best().tolist()
    [2, 0]
    """

    def __init__(self, model: TreeModel, batches: Sequence[TreeBatch]) -> None:
        if model.order != 1 or model.shape != "projective":
            raise ConfigError(f"features are kept for first-order projective trees, not for {model.shape} trees")
        self.model = model
        self._kept = {id(batch): self._listed(batch) for batch in batches}

    def _listed(self, batch: TreeBatch) -> tuple[TreeBatch, ArcSpace, States, Indices]:
        space = batch.arc_space
        # Every slot is listed with the number of its arc, counted from 1.
        slots, owners = self.model.listed(batch, TreeParts(np.arange(1.0, space.n_arcs + 1)))
        counts = np.bincount(owners.astype(np.int64) - 1, minlength=space.n_arcs)
        return batch, space, slots.astype(np.int32), np.concatenate([[0], np.cumsum(counts)])

    @property
    def size(self) -> int:
        return self.model.size

    def score(self, batch: TreeBatch, weights: NDArray[Any]) -> ProjectiveTrees:
        """The trees of a batch under the weights."""
        _, space, slots, starts = self._kept[id(batch)]
        scores = np.empty(space.n_arcs)
        _sum_slots(slots, starts, np.asarray(weights, dtype=np.float64), scores)
        return ProjectiveTrees(space, scores, single_root=self.model.single_root)

    def scatter(self, batch: TreeBatch, parts: TreeParts, into: Floats) -> None:
        """Add the numbers of arcs to the weights of their features."""
        _, _, slots, starts = self._kept[id(batch)]
        _add_slots(slots, starts, parts.arc, into)


def kept_features(model: TreeModel, batches: Sequence[TreeBatch], most: int = MOST_ARCS) -> TreeModel | ListedTrees:
    """The model with the features of the batches at hand where they are few enough, else the model as it is."""
    arcs = sum(int((np.diff(batch.offsets) ** 2).sum()) for batch in batches)
    plain = model.order == 1 and model.shape == "projective" and not len(model.factors)
    return ListedTrees(model, batches) if plain and arcs <= most else model


@kernel
def _sum_slots(slots: States, starts: Indices, weights: Floats, scores: Floats) -> None:
    for a in range(len(scores)):
        total = 0.0
        for k in range(starts[a], starts[a + 1]):
            total += weights[slots[k]]
        scores[a] = total


@kernel
def _add_slots(slots: States, starts: Indices, numbers: Floats, into: Floats) -> None:
    for a in range(len(numbers)):
        number = numbers[a]
        if number != 0.0:
            for k in range(starts[a], starts[a + 1]):
                into[slots[k]] += number
