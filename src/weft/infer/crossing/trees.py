"""1-endpoint-crossing trees with crossing-sensitive third-order scores (Pitler 2014).

    score(y) = sum over edges of y of the score of the edge's one part

Which part an edge has depends on the crossings around it (`weft.infer.crossing.parts`): crossed(h, m), arc(h, m),
sibling(h, m, s), grand_arc(g, h, m) or grand(g, h, m, s). Nearly all trees of treebanks are 1-endpoint-crossing: the
edges that cross any one edge share a vertex. The best tree takes O(n^4) time and O(n^3) memory, with k heads per word
O(k n^3); the charts stand in `crossing_chart` and `crossing_regions`, with the tables of `crossing_states`. Where
crossed edges are forbidden, this is third-order projective parsing; where all parts of an edge have one score, the
edge-factored parser. A solution is the int32 array of the heads of all words of the batch, 0 = ROOT.

The best projective tree is found first; charts are filled only for sentences that may have a better one, and only with
edges that may be crossed in it (`crossing_bounds`).

A tree has several derivations, so there are neither sums over trees nor k best ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.budget import afford
from weft.errors import InferenceError
from weft.infer.crossing.bounds import forbid_crossings
from weft.infer.crossing.decode import chart_bytes, decode
from weft.infer.crossing.parts import KINDS, add_smaller_parts, crossings, is_one_endpoint_crossing, tree_parts
from weft.infer.crossing.states import tables
from weft.infer.trees.arcs import ArcSpace, TreeParts, all_arcs
from weft.infer.trees.eisner import best_higher_order
from weft.ragged import States, check_scores, check_shape, sentence_of, sentence_weights, sum_by_sentence

__all__ = ["CrossingTrees", "crossings", "is_one_endpoint_crossing", "nearest"]

#: Scores of parts, or numbers, in the order of `KINDS`.
FiveKinds = tuple[Floats, Floats, Floats, Floats, Floats]


class CrossingTrees:
    """A batch of sentences with scores of the parts of their 1-endpoint-crossing trees.

    Sentences longer than `longest` words get their best projective tree instead: charts grow with the cube of length.

    >>> space = all_arcs([0, 4])
    >>> gold = [3, 4, 0, 3]
    >>> trees = CrossingTrees.from_edges(space, (space.head == np.array(gold)[space.modifier - 1]) * 1.0)
    >>> trees.best().tolist(), trees.score(gold).tolist()
    ([3, 4, 0, 3], [4.0])
    >>> found = trees.parts(gold)
    >>> float(found.crossed.sum()), float(found.sibling.sum())
    (3.0, 1.0)
    """

    __slots__ = ("arc", "crossed", "grand", "grand_arc", "longest", "sibling", "single_root", "space")

    crossed: Floats
    arc: Floats
    sibling: Floats
    grand_arc: Floats
    grand: Floats

    def __init__(
        self,
        space: ArcSpace,
        crossed: ArrayLike,
        arc: ArrayLike,
        sibling: ArrayLike,
        grand_arc: ArrayLike,
        grand: ArrayLike,
        single_root: bool = False,
        longest: int = 100,
    ) -> None:
        self.space, self.single_root, self.longest = space, bool(single_root), int(longest)
        sizes = (space.n_arcs, space.n_arcs, space.n_siblings, space.n_grand_arcs, space.n_grands)
        for name, scores, size in zip(KINDS, (crossed, arc, sibling, grand_arc, grand), sizes, strict=True):
            checked = check_scores(scores, f"{name} scores")
            check_shape(checked, (size,), f"{name} scores")
            setattr(self, name, checked)

    @classmethod
    def from_edges(
        cls, space: ArcSpace, arc: ArrayLike, single_root: bool = False, longest: int = 100
    ) -> CrossingTrees:
        """The edge-factored parser: all parts of an edge have its score.

        >>> space = all_arcs([0, 2])
        >>> CrossingTrees.from_edges(space, [1.5, 2, 0.5, 1]).best().tolist()
        [0, 0]
        """
        scores = check_scores(arc, "arc scores")
        check_shape(scores, (space.n_arcs,), "arc scores")
        return cls(space, *_in_order(_of_arcs(space, scores)), single_root, longest)

    def best(self) -> States:
        """The highest-scoring tree of every sentence."""
        return self.best_scored()[0]

    def best_scored(self) -> tuple[States, Floats]:
        """The highest-scoring tree of every sentence, and its score."""
        space = self.space
        heads, score = best_higher_order(space, np.zeros(space.n_arcs), None, self.grand, self.single_root)
        crossed, asked = np.empty(space.n_arcs), np.empty(len(space), np.bool_)
        forbid_crossings(
            space.offsets, space.head, space.modifier, space.first, space.siblings, space.grand_arcs, space.grands,
            *self._scores, self.single_root, score, crossed, asked,
        )  # fmt: skip
        asked &= np.diff(space.offsets) <= self.longest
        if asked.any():
            words = int(np.diff(space.offsets)[asked].max())
            afford(words, chart_bytes(words + 1, space.n_arcs))
            scores, penalty = (crossed, *self._scores[1:]), 0.0
            if self.single_root:
                scores, penalty = self._penalized(scores)
            decode(
                space.offsets, space.head, space.modifier, space.first, space.right, space.into, space.into_first,
                space.rank, space.siblings, space.grand_arcs, space.grands, *scores, tables(), asked, heads, score,
            )  # fmt: skip
            score[asked] += penalty
        possible = score > -np.inf
        if self.single_root:
            possible &= sum_by_sentence((heads == 0).astype(np.float64), space.offsets) <= 1
        if not possible.all():
            raise self._no_tree(int(np.argmin(possible)))
        return heads, score

    def score(self, heads: ArrayLike) -> Floats:
        """The score of trees, one number per sentence."""
        kind, number = tree_parts(self.space, heads)
        total = np.zeros(self.space.n_words)
        for i, scores in enumerate(self._scores):
            total[kind == i] = scores[number[kind == i]]
        return sum_by_sentence(total, self.space.offsets)

    def parts(self, heads: ArrayLike, weight: Floats | None = None) -> TreeParts:
        """Trees as indicators of their parts, times the weight of each sentence if weights are given."""
        each = sentence_weights(weight, self.space.offsets)[sentence_of(self.space.offsets)]
        kind, number = tree_parts(self.space, heads)
        arrays = [np.zeros(len(scores)) for scores in self._scores]
        for i, array in enumerate(arrays):
            array[number[kind == i]] = each[kind == i]
        return TreeParts(**dict(zip(KINDS, arrays, strict=True)))

    def augment(self, parts: TreeParts) -> CrossingTrees:
        """The same trees with numbers added to their scores."""
        pairs = zip(self._scores, _in_order(parts), strict=True)
        crossed, arc, sibling, grand_arc, grand = (scores + numbers for scores, numbers in pairs)
        return CrossingTrees(self.space, crossed, arc, sibling, grand_arc, grand, self.single_root, self.longest)

    def restrict(self, allowed: ArrayLike) -> CrossingTrees:
        """The same trees with only the arcs of a mask."""
        mask = np.asarray(allowed, dtype=np.bool_)
        check_shape(mask, self.arc.shape, "allowed")
        return self.augment(_of_arcs(self.space, np.where(mask, 0.0, -np.inf)))

    def hamming(self, heads: ArrayLike, weight: float = 1.0) -> TreeParts:
        """Parts that charge `weight` for every word whose head differs."""
        arcs = self.space.arcs_of(heads)
        charge = np.full(self.space.n_arcs, float(weight))
        charge[arcs[arcs >= 0]] = 0.0
        return _of_arcs(self.space, charge)

    def decisions(self, heads: ArrayLike) -> None:
        """None: more than arcs is scored."""

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """How many words have different heads in two trees, one number per sentence."""
        return sum_by_sentence((np.asarray(one) != np.asarray(other)).astype(np.float64), self.space.offsets)

    @property
    def _scores(self) -> FiveKinds:
        return self.crossed, self.arc, self.sibling, self.grand_arc, self.grand

    def _penalized(self, given: FiveKinds) -> tuple[FiveKinds, float]:
        """Scores with a penalty on edges from ROOT that no gain elsewhere outweighs: the best tree has fewest."""
        space, nodes = self.space, self.space.node_offsets[:-1]
        finite = np.concatenate([scores[np.isfinite(scores)] for scores in given])
        spread = float(np.ptp(finite)) if len(finite) else 0.0
        penalty = 1.0 + 2.0 * spread * int(np.diff(space.offsets).max(initial=0))
        starts = (space.first, space.first, space.siblings[space.first], space.grand_arcs, space.grands)
        crossed, arc, sibling, grand_arc, grand = (scores.copy() for scores in given)
        for scores, start in zip((crossed, arc, sibling, grand_arc, grand), starts, strict=True):
            for begin, end in zip(start[nodes], start[nodes + 1], strict=True):
                scores[begin:end] -= penalty
        return (crossed, arc, sibling, grand_arc, grand), penalty

    def _no_tree(self, sentence: int) -> InferenceError:
        root = " with a single root" if self.single_root else ""
        return InferenceError(
            f"sentence {sentence} (counting from 0) has no 1-endpoint-crossing tree{root}; allow more arcs in it"
        )


def nearest(heads: ArrayLike, longest: int = 100) -> States:
    """The 1-endpoint-crossing tree that shares most edges with a tree; that tree itself if it is one.

    >>> nearest([3, 4, 0, 3]).tolist()
    [3, 4, 0, 3]
    >>> int((nearest([2, 0, 2, 1, 3]) == [2, 0, 2, 1, 3]).sum())
    4
    """
    tree = np.array(heads, dtype=np.int32)
    if is_one_endpoint_crossing(tree):
        return tree
    space = all_arcs([0, len(tree)])
    return CrossingTrees.from_edges(space, (space.head == tree[space.modifier - 1]) * 1.0, longest=longest).best()


def _in_order(parts: TreeParts) -> FiveKinds:
    return parts.crossed, parts.arc, parts.sibling, parts.grand_arc, parts.grand


def _of_arcs(space: ArcSpace, arc: Floats) -> TreeParts:
    """Every part has the number of its arc."""
    afford(space.longest, 24 * (space.n_siblings + space.n_grands + space.n_grand_arcs))
    zeros = [np.zeros(size) for size in (space.n_siblings, space.n_grands, space.n_grand_arcs, space.n_arcs)]
    sibling, grand, grand_arc, crossed = zeros
    return add_smaller_parts(space, TreeParts(arc, sibling, grand, grand_arc=grand_arc, crossed=crossed))
