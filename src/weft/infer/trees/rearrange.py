"""Trees and graphs with sibling scores:  score(y) = sum over arcs (h, m) of y of arc(h, m) + sibling(h, m, s),

s the next child of h between h and m; arcs may cross. The best such tree is NP-hard to find; McDonald & Pereira (2006)
climb to it from a good tree. While it raises the score, one word gets another head: that of all words and heads which
raises it most. To put m under h, with p and q the children of h next to it inwards and outwards, adds

    arc(h, m) + sibling(h, m, p) + sibling(h, q, m) - sibling(h, q, p)

and to take it away loses the same, so that a round over all arcs takes O(n^2). In a graph words may have several heads:
a move changes a head or adds one, and must not close a cycle. Solutions of trees are heads, as everywhere; those of
graphs are masks over the arcs of the space.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.trees.arcs import ArcSpace, TreeParts
from weft.infer.trees.projective import ProjectiveTrees
from weft.kernel import kernel
from weft.ragged import Indices, States, check_scores, check_shape, one_block, sentence_weights

__all__ = ["DependencyGraphs", "Grown", "Rearranged", "RearrangedTrees", "grow_graph", "rearrange"]

#: A move must gain more than rounding can make up.
_LEAST = 1e-9


class Rearranged(NamedTuple):
    """Trees after rearranging, and how many moves each sentence made and what they gained."""

    heads: States
    moves: Indices
    gain: Floats


class Grown(NamedTuple):
    """Graphs as a mask over the arcs of the space, and how many moves each sentence made and what they gained."""

    arcs: Bools
    moves: Indices
    gain: Floats


def rearrange(
    space: ArcSpace,
    arc: ArrayLike,
    sibling: ArrayLike,
    heads: ArrayLike,
    limit: int | None = None,
    single_root: bool = False,
) -> Rearranged:
    """Change single heads, at most `limit` per sentence, until no change improves the score.

    With a single root the word on ROOT stays.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 2])  # arcs 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 1
    >>> rearrange(space, [5, 1, 3, 0], np.zeros(space.n_siblings), [0, 0])
    Rearranged(heads=array([0, 1], dtype=int32), moves=array([1]), gain=array([2.]))
    """
    arcs = _chosen(space, heads)
    moves, gain = _climb(space, arc, sibling, arcs, limit, single_root, several=False)
    by_word = space.into[arcs[space.into]]
    return Rearranged(space.head[by_word], moves, gain)


def grow_graph(
    space: ArcSpace,
    arc: ArrayLike,
    sibling: ArrayLike,
    heads: ArrayLike,
    limit: int | None = None,
    single_root: bool = False,
) -> Grown:
    """Change or add single heads until no move improves the score.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 2])  # arcs 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 1
    >>> grow_graph(space, [5, 1, 3, 0], np.zeros(space.n_siblings), [0, 0])
    Grown(arcs=array([ True,  True,  True, False]), moves=array([1]), gain=array([3.]))
    """
    arcs = _chosen(space, heads)
    moves, gain = _climb(space, arc, sibling, arcs, limit, single_root, several=True)
    return Grown(arcs, moves, gain)


class _FromProjective:
    """A batch with arc and sibling scores, searched from its best projective trees by at most `limit` moves each."""

    __slots__ = ("limit", "projective")

    def __init__(
        self,
        space: ArcSpace,
        arc: ArrayLike,
        sibling: ArrayLike,
        single_root: bool = False,
        limit: int | None = None,
    ) -> None:
        self.projective = ProjectiveTrees(space, arc, sibling, single_root=single_root)
        self.limit = limit

    @property
    def space(self) -> ArcSpace:
        return self.projective.space

    @property
    def sibling(self) -> Floats:
        """The scores of sibling parts."""
        scores = self.projective.sibling
        return np.zeros(self.space.n_siblings) if scores is None else scores

    @property
    def _start(self) -> tuple[ArcSpace, Floats, Floats, States, int | None, bool]:
        """What a search starts from."""
        trees = self.projective
        return trees.space, trees.arc, self.sibling, trees.best(), self.limit, trees.single_root

    def augment(self, parts: TreeParts) -> Self:
        """The same batch with numbers added to its scores."""
        return self._with(self.projective.augment(parts))

    def restrict(self, allowed: ArrayLike) -> Self:
        """The same batch with only the arcs of a mask."""
        return self._with(self.projective.restrict(allowed))

    def decisions(self, solution: ArrayLike) -> None:
        """None: more than arcs is scored."""

    def _with(self, projective: ProjectiveTrees) -> Self:
        same = copy(self)
        same.projective = projective
        return same


class RearrangedTrees(_FromProjective):
    """A batch with arc and sibling scores whose `best` is the best projective tree, rearranged.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 4])
    >>> wanted = [3, 4, 0, 3]  # crosses
    >>> trees = RearrangedTrees(space, np.zeros(space.n_arcs), np.zeros(space.n_siblings))
    >>> trees.augment(trees.parts(wanted)).best().tolist()
    [3, 4, 0, 3]
    """

    __slots__ = ()

    def best(self) -> States:
        """A tree of every sentence that no single change of a head makes better."""
        return self.rearranged().heads

    def rearranged(self) -> Rearranged:
        """The same with the number of moves and their gain."""
        return rearrange(*self._start)

    def score(self, heads: ArrayLike) -> Floats:
        """The score of trees, one number per sentence."""
        return self.projective.score(heads)

    def parts(self, heads: ArrayLike, weight: Floats | None = None) -> TreeParts:
        """Trees as indicators of their parts, times the weight of each sentence if weights are given."""
        return self.projective.parts(heads, weight)

    def hamming(self, heads: ArrayLike, weight: float = 1.0) -> TreeParts:
        """Parts that charge `weight` for every word whose head differs."""
        return self.projective.hamming(heads, weight)

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """How many words have different heads in two trees, one number per sentence."""
        return self.projective.differs(one, other)


class DependencyGraphs(_FromProjective):
    """A batch with arc and sibling scores whose `best` is a graph grown from the best projective tree.

    Solutions are masks over the arcs of the space: acyclic, with at least one head per word.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 2])  # arcs 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 1
    >>> graphs = DependencyGraphs(space, [5, 1, 3, 0], np.zeros(space.n_siblings))
    >>> graphs.best().tolist(), graphs.score(graphs.best()).tolist()
    ([True, True, True, False], [9.0])
    """

    __slots__ = ()

    def best(self) -> Bools:
        """A graph of every sentence that no change or further head makes better."""
        return self.grown().arcs

    def grown(self) -> Grown:
        """The same with the number of moves and their gain."""
        return grow_graph(*self._start)

    def score(self, arcs: ArrayLike) -> Floats:
        """The score of graphs, one number per sentence."""
        chosen, siblings = self._parts_of(arcs)
        numbers = self.projective.arc[chosen] + self.sibling[siblings]
        return _by_sentence(self.space, chosen, numbers)

    def parts(self, arcs: ArrayLike, weight: Floats | None = None) -> TreeParts:
        """Graphs as indicators of their parts, times the weight of each sentence if weights are given."""
        chosen, siblings = self._parts_of(arcs)
        each = sentence_weights(weight, self.space.offsets)[self.space.sentence[chosen]]
        parts = TreeParts(np.zeros(self.space.n_arcs), np.zeros(self.space.n_siblings))
        parts.arc[chosen], parts.sibling[siblings] = each, each
        return parts

    def hamming(self, arcs: ArrayLike, weight: float = 1.0) -> TreeParts:
        """Parts that charge `weight` for every arc too many, and pay it for every arc of the graph: a graph is charged
        for arcs too many and too few but for a constant, the number of arcs."""
        mask = self._mask(arcs)
        return TreeParts(np.where(mask, -float(weight), float(weight)), np.zeros(self.space.n_siblings))

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """How many arcs are in one of two graphs only, one number per sentence."""
        arcs = np.flatnonzero(self._mask(one) != self._mask(other))
        return _by_sentence(self.space, arcs, np.ones(len(arcs)))

    def _mask(self, arcs: ArrayLike) -> Bools:
        mask = one_block(arcs, np.bool_)
        check_shape(mask, (self.space.n_arcs,), "arcs, a mask over the space,")
        return mask

    def _parts_of(self, arcs: ArrayLike) -> tuple[Indices, Indices]:
        """The arcs of graphs and their sibling parts."""
        chosen = np.flatnonzero(self._mask(arcs))
        return chosen, _sibling_parts(self.space, chosen)


def _by_sentence(space: ArcSpace, arcs: Indices, numbers: Floats) -> Floats:
    sums = np.bincount(space.sentence[arcs], weights=numbers, minlength=len(space))
    return sums.astype(np.float64, copy=False)


def _sibling_parts(space: ArcSpace, arcs: Indices) -> Indices:
    """The sibling part of every arc of graphs."""
    siblings = np.zeros(len(arcs), dtype=np.int64)
    _siblings_of(arcs, space.node, space.rank, space.head, space.modifier, space.siblings, siblings)
    return siblings


def _chosen(space: ArcSpace, heads: ArrayLike) -> Bools:
    """Trees as a mask over arcs."""
    arcs = np.zeros(space.n_arcs, dtype=np.bool_)
    arcs[space.tree_arcs(heads)] = True
    return arcs


def _climb(
    space: ArcSpace, arc: ArrayLike, sibling: ArrayLike, arcs: Bools, limit: int | None, single: bool, several: bool
) -> tuple[Indices, Floats]:
    arc_scores, sibling_scores = check_scores(arc, "arc scores"), check_scores(sibling, "sibling scores")
    check_shape(arc_scores, (space.n_arcs,), "arc scores")
    check_shape(sibling_scores, (space.n_siblings,), "sibling scores")
    if limit is not None and limit < 0:
        raise InferenceError(f"limit must be 0 or more moves, or None for as many as help; given: {limit}")
    chosen = np.flatnonzero(arcs)
    forbidden = np.isneginf(arc_scores[chosen] + sibling_scores[_sibling_parts(space, chosen)])
    if forbidden.any():
        sentence = int(space.sentence[chosen[forbidden]][0])
        raise InferenceError(f"the tree of sentence {sentence} (counting from 0) has a part that its scores forbid")
    moves, gain = np.zeros(len(space), dtype=np.int64), np.zeros(len(space))
    most = np.iinfo(np.int64).max if limit is None else int(limit)
    _move(
        space.offsets, space.first, space.right, space.head, space.modifier, space.rank, space.siblings, arc_scores,
        sibling_scores, most, single, several, arcs, moves, gain,
    )  # fmt: skip
    return moves, gain


@kernel
def _siblings_of(
    chosen: Indices, node: Indices, rank: States, head: States, modifier: States, siblings: Indices, found: Indices
) -> None:
    for i in range(len(chosen)):
        a, near = chosen[i], chosen[i - 1]
        alone = i == 0 or node[near] != node[a] or (modifier[near] < head[near]) != (modifier[a] < head[a])
        found[i] = siblings[a] + (0 if alone else 1 + rank[near])


@kernel
def _move(
    offsets: Indices, first: Indices, right: Indices, head: States, modifier: States, rank: States, siblings: Indices,
    arc: Floats, sibling: Floats, limit: int, single: bool, several: bool, chosen: Bools, moves: Indices,
    gained: Floats,
) -> None:  # fmt: skip
    longest, most = 0, 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
        most = max(most, first[offsets[s + 1] + s + 1] - first[offsets[s] + s])
    toggle, inner = np.empty(most), np.empty(most, np.int64)
    loss, worst = np.empty(longest + 1), np.empty(longest + 1, np.int64)
    below = np.empty((longest + 1, longest + 1), np.bool_)
    children, ends, queue = np.empty(most, np.int64), np.empty(longest + 2, np.int64), np.empty(longest + 1, np.int64)
    for s in range(len(offsets) - 1):
        root, n = offsets[s] + s, offsets[s + 1] - offsets[s]
        begin, end = first[root], first[root + n + 1]
        while moves[s] < limit:
            # What it gains to take a chosen arc away, or to put another in.
            for v in range(root, root + n + 1):
                for side in range(2):
                    low = first[v] if side == 0 else right[v]
                    high = right[v] if side == 0 else first[v + 1]
                    near = -1
                    for a in range(low, high):
                        inner[a - begin] = near
                        if chosen[a]:
                            near = a
                    outer = -1
                    for a in range(high - 1, low - 1, -1):
                        near = inner[a - begin]
                        worth = arc[a] + sibling[siblings[a] + (0 if near < 0 else 1 + rank[near])]
                        if outer >= 0:
                            worth += sibling[siblings[outer] + 1 + rank[a]]
                            worth -= sibling[siblings[outer] + (0 if near < 0 else 1 + rank[near])]
                        toggle[a - begin] = -worth if chosen[a] else worth
                        if chosen[a]:
                            outer = a
            # The arc into each word that is given up most easily; who stands below whom.
            filled = 0
            for m in range(n + 1):
                loss[m], worst[m], ends[m] = -np.inf, -1, 0
            for a in range(begin, end):
                if chosen[a]:
                    m = modifier[a]
                    if toggle[a - begin] > loss[m] and not (single and head[a] == 0):
                        loss[m], worst[m] = toggle[a - begin], a
                    children[filled] = m
                    filled += 1
                    ends[head[a]] = filled
            for v in range(1, n + 1):
                ends[v] = max(ends[v], ends[v - 1])
            for v in range(1, n + 1):
                for m in range(n + 1):
                    below[v, m] = m == v
                queue[0], waiting = v, 1
                while waiting > 0:
                    waiting -= 1
                    at = queue[waiting]
                    for i in range(ends[at - 1], ends[at]):
                        if not below[v, children[i]]:
                            below[v, children[i]] = True
                            queue[waiting] = children[i]
                            waiting += 1
            top, best = _LEAST, -1
            for a in range(begin, end):
                m, h = modifier[a], head[a]
                if chosen[a] or below[m, h] or (single and h == 0):
                    continue
                total = toggle[a - begin] + (max(loss[m], 0.0) if several else loss[m])
                if total > top:
                    top, best = total, a
            if best < 0:
                break
            m = modifier[best]
            if not several or loss[m] > 0.0:
                chosen[worst[m]] = False
            chosen[best] = True
            moves[s] += 1
            gained[s] += top
