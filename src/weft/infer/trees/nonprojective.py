"""All spanning trees of a sentence, arc by arc:  score(y) = sum over words m of arc(y_m, m),  arcs may cross.

A tree y gives every word m a head y_m, 0 for ROOT, such that every word descends from ROOT; with a single root exactly
one word attaches to it directly. The best tree and the k best take O(n^2) and O(k n^2)
(`weft.infer.trees.arborescences`), sums over all trees, marginals and samples O(n^3) (`weft.infer.trees.matrix_tree`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.trees.arborescences import best_arborescences, k_best_arborescences
from weft.infer.trees.arcs import ArcSpace, HeadDecisions, TreeParts
from weft.infer.trees.matrix_tree import draw_trees, sum_trees
from weft.ragged import States, check_scores, check_shape, sentence_of, sentence_weights, sum_by_sentence

__all__ = ["SpanningTrees"]


class SpanningTrees:
    """The spanning trees of a batch of sentences, with one score per arc of a space; minus infinity forbids an arc.

    John saw Mary, with scores of arcs from ROOT, John, saw and Mary: greedy choice would close the cycle of John and
    saw.

    >>> space = ArcSpace([0, 3], head=[0, 0, 0, 1, 1, 2, 2, 3, 3], modifier=[1, 2, 3, 2, 3, 1, 3, 1, 2])
    >>> scores = {(0, 1): 9, (0, 2): 10, (0, 3): 9, (1, 2): 20, (1, 3): 3, (2, 1): 30, (2, 3): 30, (3, 1): 11}
    >>> arcs = zip(space.head.tolist(), space.modifier.tolist())
    >>> trees = SpanningTrees(space, [scores.get(arc, 0) for arc in arcs])
    >>> trees.best().tolist(), trees.score(trees.best()).tolist()
    ([2, 0, 2], [70.0])
    >>> [(heads.tolist(), score) for heads, score in trees.kbest_scored(2)[0]]
    [([2, 0, 2], 70.0), ([0, 1, 2], 59.0)]
    """

    __slots__ = ("arc", "single_root", "space")

    def __init__(self, space: ArcSpace, arc: ArrayLike, single_root: bool = False) -> None:
        self.space = space
        self.arc = check_scores(arc, "arc scores")
        check_shape(self.arc, (space.n_arcs,), "arc scores")
        self.single_root = bool(single_root)

    def best(self) -> States:
        """The heads of the best tree of every sentence."""
        heads, found = best_arborescences(self.space, self.arc, self.single_root)
        self._check_possible(found)
        return heads

    def kbest(self, k: int) -> list[list[States]]:
        """For every sentence its k best trees, best first, all different; fewer where there are no more."""
        return [[heads for heads, _ in trees] for trees in self.kbest_scored(k)]

    def kbest_scored(self, k: int) -> list[list[tuple[States, float]]]:
        """The k best trees of every sentence with their scores."""
        if k < 1:
            raise InferenceError(f"k must be at least 1; given: {k}")
        heads, scores, count = k_best_arborescences(self.space, self.arc, self.single_root, k)
        self._check_possible(count > 0)
        return [
            [(heads[rank, first:end], float(scores[rank, s])) for rank in range(count[s])]
            for s, (first, end) in enumerate(zip(self.space.offsets[:-1], self.space.offsets[1:], strict=True))
        ]

    def score(self, heads: ArrayLike) -> Floats:
        """The score of trees, one number per sentence."""
        return sum_by_sentence(self.arc[self.space.tree_arcs(heads)], self.space.offsets)

    def parts(self, heads: ArrayLike, weight: Floats | None = None) -> TreeParts:
        """Trees as indicators of their arcs, times the weight of each sentence if weights are given."""
        arc = np.zeros(self.space.n_arcs)
        arc[self.space.tree_arcs(heads)] = sentence_weights(weight, self.space.offsets)[sentence_of(self.space.offsets)]
        return TreeParts(arc)

    def log_partition(self) -> Floats:
        """log Z of every sentence."""
        return self.log_partition_and_marginals()[0]

    def marginals(self, weight: Floats | None = None) -> TreeParts:
        """Probabilities of all arcs, times the weight of each sentence if weights are given.

        >>> SpanningTrees(ArcSpace([0, 2], [0, 0, 1, 2], [1, 2, 2, 1]), np.zeros(4)).marginals().arc.round(3).tolist()
        [0.667, 0.667, 0.333, 0.333]
        """
        return self.log_partition_and_marginals(weight)[1]

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, TreeParts]:
        """Both at the cost of one; the weights do not affect log Z."""
        each = sentence_weights(weight, self.space.offsets)
        total, arc = sum_trees(self.space, self.arc, self.single_root, each)
        self._check_possible(total > -np.inf)
        return total, TreeParts(arc)

    def sample(self, n: int, seed: int | np.random.Generator) -> States:
        """`n` independent trees of every sentence as [n, words], each drawn with its probability."""
        heads, total = draw_trees(self.space, self.arc, self.single_root, n, np.random.default_rng(seed))
        self._check_possible(total > -np.inf)
        return heads

    def augment(self, parts: TreeParts) -> SpanningTrees:
        """The same trees with numbers added to the scores of arcs."""
        return SpanningTrees(self.space, self.arc + parts.arc, self.single_root)

    def restrict(self, allowed: ArrayLike) -> SpanningTrees:
        """The same trees with only the arcs of a mask."""
        mask = np.asarray(allowed, dtype=np.bool_)
        check_shape(mask, self.arc.shape, "allowed")
        return SpanningTrees(self.space, np.where(mask, self.arc, -np.inf), self.single_root)

    def hamming(self, heads: ArrayLike, weight: float = 1.0) -> TreeParts:
        """Parts that charge `weight` for every word with another head; heads outside the space are always missed."""
        arc = np.full(self.space.n_arcs, float(weight))
        arcs = self.space.arcs_of(heads)
        arc[arcs[arcs >= 0]] = 0.0
        return TreeParts(arc)

    def decisions(self, heads: ArrayLike) -> HeadDecisions:
        """The choice of a head for every word, with the gold trees."""
        return self.space.decisions(self.arc, heads)

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """How many words have different heads in two trees, one number per sentence."""
        return sum_by_sentence((np.asarray(one) != np.asarray(other)).astype(np.float64), self.space.offsets)

    def _check_possible(self, found: Bools) -> None:
        if not found.all():
            kind = " with a single root" if self.single_root else ""
            raise InferenceError(
                f"sentence {int(np.argmin(found))} (counting from 0) has no tree{kind} over the arcs of its space; "
                "allow more arcs in it"
            )
