"""Pruning before expensive searches: a first-order model leaves out improbable arcs.

    keep (h, m)  where  P(h -> m) >= threshold * max over h' of P(h' -> m),  at most `most` heads per word, and ROOT

P are marginals of a log-linear model over all spanning trees, by the matrix-tree theorem. The arcs of the projective
tree with the largest sum of them stay too, so that every search finds a tree, and in training the gold arcs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Mask
from weft.infer.trees.arcs import ArcSpace, all_arcs
from weft.infer.trees.projective import ProjectiveTrees
from weft.learn.online.adagrad import AdaGrad
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel

#: Rate of learning; at a higher one filters are surer of themselves than they should be.
RATE = 0.2


@dataclass(frozen=True)
class ArcPruner:
    """A trained filter of arcs; its model is of first order and nonprojective."""

    model: TreeModel
    weights: NDArray[Any]
    threshold: float = 0.001
    most: int = 20

    def keep(self, space: ArcSpace, words: TreeWords) -> Mask:
        """Which arcs of a space stay."""
        marginals = self.model.trees(space, words, self.weights).marginals().arc
        mask = kept(space, marginals, self.threshold, self.most)
        mask[space.arcs_of(ProjectiveTrees(space, marginals, single_root=True).best())] = True
        return mask


def kept(space: ArcSpace, marginals: NDArray[np.float64], threshold: float, most: int) -> Mask:
    """Arcs with at least `threshold` times the probability of their word's best head, at most `most` per word.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 2])
    >>> kept(space, np.array([0.9, 0.05, 0.95, 0.1]), 0.5, 20).tolist()  # ROOT may head any word
    [True, True, True, False]
    """
    word = space.word
    best = np.zeros(space.n_words)
    np.maximum.at(best, word, marginals)
    mask = marginals >= threshold * best[word]
    order = np.lexsort((-marginals, word))
    counts = np.bincount(word, minlength=space.n_words)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    mask[order[place >= most]] = False
    result: Mask = mask | (space.head == 0)
    return result


def train_pruner(model: TreeModel, batch: TreeBatch, threshold: float, most: int, epochs: int, seed: int) -> ArcPruner:
    """A filter trained on gold trees by likelihood."""
    result = AdaGrad(epochs=epochs, seed=seed, rate=RATE).fit(model, list(batch.batches(200)), describe="arc filter")
    return ArcPruner(model, result.weights.astype(np.float32), threshold, most)


def prune_folds(
    model: TreeModel, batch: TreeBatch, threshold: float, most: int, epochs: int, seed: int, folds: int = 2
) -> tuple[TreeBatch, float, float]:
    """Training sentences with the arcs that filters leave which have not seen them, and their gold arcs.

    A filter is surer of the trees it was trained on than of any other: a parser trained on what that leaves would never
    see the arcs that it has to choose between later. Also gives the shares of arcs and of gold arcs that stayed.
    """
    folds = min(folds, len(batch))
    masks: list[Mask] = [np.zeros(0, np.bool_)] * len(batch)
    arcs = found = 0
    for fold in range(folds):
        own = [s for s in range(len(batch)) if s % folds == fold]
        others = [s for s in range(len(batch)) if s % folds != fold] or own
        pruner = train_pruner(model, batch.select(others), threshold, most, epochs, seed)
        at = 0
        for part in batch.select(own).batches():
            space = all_arcs(part.offsets)
            mask = pruner.keep(space, part.words)
            arcs += int(mask.sum())
            assert part.gold is not None
            gold = space.arcs_of(part.gold)
            found += int(mask[gold].sum())
            mask[gold] = True
            for one in np.split(mask, np.cumsum(np.diff(part.offsets) ** 2)[:-1]):
                masks[own[at]] = one
                at += 1
    everything: Mask = np.concatenate(masks)
    return replace(batch, arcs=everything), arcs / max(1, len(everything)), found / max(1, int(batch.offsets[-1]))
