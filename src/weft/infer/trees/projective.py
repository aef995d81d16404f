"""Projective trees:  score(y) = sum over arcs (h, m) of y of

    arc(h, m) + sibling(h, m, s) + grand(g, h, m, s) + tri(h, m, s, t)

with s the next child of h between h and m, t the next after s, g the head of h (McDonald & Pereira 2006; Koo & Collins
2010); kinds of scores that are not given count nothing. A tree is projective when a head dominates every word between
it and its modifiers. A solution is the int32 array of the heads of all words of the batch, 0 = ROOT. The best trees
without tri-siblings and the sums of first order are found by charts over the whole batch (`weft.infer.trees.eisner`,
`weft.infer.trees.eisner_sums`); all else works on the forest of every sentence (`weft.infer.trees.projective_forest`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.trees.arcs import ArcSpace, HeadDecisions, TreeParts
from weft.infer.trees.eisner import best_first_order, best_higher_order
from weft.infer.trees.eisner_sums import sum_first_order
from weft.infer.trees.projective_forest import TreeForest, tree_forest
from weft.kernel import kernel
from weft.ragged import Indices, States, check_scores, check_shape, sentence_of, sentence_weights, sum_by_sentence

__all__ = ["ProjectiveTrees"]

_KINDS = ("arc", "sibling", "grand", "tri")


class ProjectiveTrees:
    """A batch of sentences with scores of the parts of their projective trees.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 2])
    >>> list(zip(space.head.tolist(), space.modifier.tolist()))
    [(0, 1), (0, 2), (1, 2), (2, 1)]
    >>> trees = ProjectiveTrees(space, [1.5, 2, 0.5, 1])
    >>> trees.best().tolist(), trees.score([0, 0]).tolist()
    ([0, 0], [3.5])
    >>> one_root = ProjectiveTrees(space, [1.5, 2, 0.5, 1], single_root=True)
    >>> [heads.tolist() for heads in one_root.kbest(5)[0]]
    [[2, 0], [0, 1]]
    >>> one_root.marginals().arc.round(2).tolist()
    [0.27, 0.73, 0.27, 0.73]
    """

    __slots__ = ("arc", "grand", "sibling", "single_root", "space", "tri")

    arc: Floats
    sibling: Floats | None
    grand: Floats | None
    tri: Floats | None

    def __init__(
        self,
        space: ArcSpace,
        arc: ArrayLike,
        sibling: ArrayLike | None = None,
        grand: ArrayLike | None = None,
        tri: ArrayLike | None = None,
        single_root: bool = False,
    ) -> None:
        self.space, self.single_root = space, bool(single_root)
        sizes = (space.n_arcs, space.n_siblings, space.n_grands, space.n_tris)
        for name, scores, size in zip(_KINDS, (arc, sibling, grand, tri), sizes, strict=True):
            checked = None if scores is None else check_scores(scores, f"{name} scores")
            if checked is not None:
                check_shape(checked, (size,), f"{name} scores")
            setattr(self, name, checked)

    def best(self) -> States:
        """The highest-scoring tree of every sentence."""
        if self.tri is not None:
            found = [self._heads(s, trees.arcs(trees.forest.best())) for s, trees in self._forests()]
            return np.concatenate([np.zeros(0, dtype=np.int32), *found])
        if self.is_first_order:
            heads, score = best_first_order(self.space, self.arc, self.single_root)
        else:
            heads, score = best_higher_order(self.space, self.arc, self.sibling, self.grand, self.single_root)
        if np.isneginf(score).any():
            raise self._no_tree(int(np.isneginf(score).argmax()))
        return heads

    def kbest(self, k: int) -> list[list[States]]:
        """For every sentence its k best trees, best first, all different; fewer where there are no more."""
        return [[tree for tree, _ in trees] for trees in self.kbest_scored(k)]

    def kbest_scored(self, k: int) -> list[list[tuple[States, float]]]:
        """The k best trees of every sentence with their scores."""
        return [
            [(self._heads(s, trees.arcs(way)), score) for way, score in trees.forest.kbest_scored(k)]
            for s, trees in self._forests()
        ]

    def score(self, heads: ArrayLike) -> Floats:
        """The score of trees, projective or not, one number per sentence."""
        total = np.zeros(self.space.n_words)
        for scores, numbers in zip(self._scores, self.space.parts_of(heads), strict=True):
            if scores is not None:
                total += scores[numbers]
        return sum_by_sentence(total, self.space.offsets)

    def parts(self, heads: ArrayLike, weight: Floats | None = None) -> TreeParts:
        """Trees as indicators of their parts, times the weight of each sentence if weights are given."""
        each = sentence_weights(weight, self.space.offsets)[sentence_of(self.space.offsets)]
        parts = self._zeros()
        for own, numbers in zip(parts.arrays[:4], self.space.parts_of(heads), strict=True):
            if own.size:
                own[numbers] = each
        return parts

    def log_partition(self) -> Floats:
        """log Z of every sentence."""
        if self.is_first_order:
            return self.log_partition_and_marginals()[0]
        return np.array([trees.forest.inside()[-1] for _, trees in self._forests()])

    def marginals(self, weight: Floats | None = None) -> TreeParts:
        """Probabilities of all parts, times the weight of each sentence if weights are given."""
        return self.log_partition_and_marginals(weight)[1]

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, TreeParts]:
        """Both at the cost of one; the weights do not affect log Z."""
        each = sentence_weights(weight, self.space.offsets)
        total, parts = np.full(len(self.space), np.nan), self._zeros()
        if self.is_first_order:
            total, parts.arc[:] = sum_first_order(self.space, self.arc, each, self.single_root)
        for s, trees in self._forests(np.isnan(total)):
            inside = trees.forest.inside()
            total[s] = inside[-1]
            _gather(trees.made, trees.parts, trees.forest.posteriors(inside), each[s], *parts.arrays[:4])
        return total, parts

    def sample(self, n: int, seed: int | np.random.Generator) -> States:
        """`n` independent trees of every sentence as [n, words], each drawn with its probability."""
        rng = np.random.default_rng(seed)
        drawn = np.zeros((n, self.space.n_words), dtype=np.int32)
        for s, trees in self._forests():
            own = slice(self.space.offsets[s], self.space.offsets[s + 1])
            for i, way in enumerate(trees.forest.sample(n, rng)):
                drawn[i, own] = self._heads(s, trees.arcs(way))
        return drawn

    def augment(self, parts: TreeParts) -> ProjectiveTrees:
        """The same trees with numbers added to their scores; kinds of parts that are empty add nothing."""
        others = (_plus(self.sibling, parts.sibling), _plus(self.grand, parts.grand), _plus(self.tri, parts.tri))
        return ProjectiveTrees(self.space, self.arc + parts.arc, *others, self.single_root)

    def restrict(self, allowed: ArrayLike) -> ProjectiveTrees:
        """The same trees with only the arcs of a mask."""
        mask = np.asarray(allowed, dtype=np.bool_)
        check_shape(mask, self.arc.shape, "allowed")
        arc = np.where(mask, self.arc, -np.inf)
        return ProjectiveTrees(self.space, arc, self.sibling, self.grand, self.tri, self.single_root)

    def hamming(self, heads: ArrayLike, weight: float = 1.0) -> TreeParts:
        """Parts that charge `weight` for every word whose head differs."""
        parts = self._zeros()
        arcs = self.space.arcs_of(heads)
        parts.arc[:] = float(weight)
        parts.arc[arcs[arcs >= 0]] = 0.0
        return parts

    def decisions(self, heads: ArrayLike) -> HeadDecisions | None:
        """The choice of a head for every word, with the gold trees; None where more than arcs is scored."""
        return self.space.decisions(self.arc, heads) if self.is_first_order else None

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """How many words have different heads in two trees, one number per sentence."""
        return sum_by_sentence((np.asarray(one) != np.asarray(other)).astype(np.float64), self.space.offsets)

    @property
    def is_first_order(self) -> bool:
        return self.sibling is None and self.grand is None and self.tri is None

    @property
    def _scores(self) -> tuple[Floats, Floats | None, Floats | None, Floats | None]:
        return self.arc, self.sibling, self.grand, self.tri

    def _zeros(self) -> TreeParts:
        return TreeParts(*(np.zeros(0 if scores is None else len(scores)) for scores in self._scores))

    def _heads(self, sentence: int, arcs: Indices) -> States:
        heads = np.zeros(self.space.offsets[sentence + 1] - self.space.offsets[sentence], dtype=np.int32)
        heads[self.space.modifier[arcs] - 1] = self.space.head[arcs]
        return heads

    def _forests(self, wanted: Bools | None = None) -> Iterator[tuple[int, TreeForest]]:
        """The forests of all sentences, or of those wanted, one after the other: they may be large."""
        none = np.zeros(0)
        arc, sibling, grand, tri = (none if scores is None else scores for scores in self._scores)
        kinds = np.array([scores is not None for scores in self._scores])
        for s in range(len(self.space)) if wanted is None else np.flatnonzero(wanted).tolist():
            trees = tree_forest(self.space, s, (arc, sibling, grand, tri), kinds, self.single_root)
            if trees is None:
                raise self._no_tree(s)
            yield s, trees

    def _no_tree(self, sentence: int) -> InferenceError:
        root = " with a single root" if self.single_root else ""
        return InferenceError(
            f"sentence {sentence} (counting from 0) has no projective tree{root}; allow more arcs in it"
        )


def _plus(own: Floats | None, more: Floats) -> Floats | None:
    return own if not more.size else more if own is None else own + more


@kernel
def _gather(
    made: Indices, parts: Indices, probability: Floats, weight: float,
    arc: Floats, sibling: Floats, grand: Floats, tri: Floats,
) -> None:  # fmt: skip
    for i in range(len(made)):
        p = weight * probability[made[i]]
        arc[parts[i, 0]] += p
        if len(sibling) > 0:
            sibling[parts[i, 1]] += p
        if len(grand) > 0:
            grand[parts[i, 2]] += p
        if len(tri) > 0:
            tri[parts[i, 3]] += p
