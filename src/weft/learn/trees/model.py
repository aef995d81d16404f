"""The linear model over dependency trees: features of arcs, of siblings, of grandparents.

    score(y, x) = sum over the parts r of y of  w . f(r, x)

with the parts of `weft.infer.trees.arcs` up to the model's order: arcs; and siblings; and grand-siblings. Weights are
one hashed array; features are made anew wherever they are needed (`weft.learn.trees.features`), which takes less time
than fetching them from memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Heads, Keys
from weft.budget import afford
from weft.errors import ConfigError
from weft.features.tree_templates import TreeProgram
from weft.infer.crossing.parts import add_smaller_parts, grand_arcs_of_grands, smaller_parts
from weft.infer.crossing.trees import CrossingTrees
from weft.infer.trees.arcs import ArcSpace, TreeParts, all_arcs
from weft.infer.trees.nonprojective import SpanningTrees
from weft.infer.trees.projective import ProjectiveTrees
from weft.infer.trees.projectivity import reorder_heads
from weft.infer.trees.rearrange import RearrangedTrees
from weft.learn.batches import cut_by_words
from weft.learn.trees.features import (
    COLLECT,
    COUNT,
    SCATTER,
    SCORE,
    Given,
    TreeWords,
    arrays_of,
    new_room,
    visit_arcs,
    visit_grand_arcs,
    visit_grands,
    visit_siblings,
)
from weft.ragged import Indices

#: Trees that a model searches through.
SHAPES = ("projective", "nonprojective", "crossing")
ORDERS = {"projective": (1, 2, 3), "nonprojective": (1, 2), "crossing": (1, 3)}
#: Bytes of a part while its score is computed: the score, what it is added to, and numbers of smaller parts.
BYTES = 48
#: Steps to compute the score of a part from its features.
STEPS = 64
_NO_MARKS = np.zeros((0, 0), dtype=np.uint64)


@dataclass(frozen=True)
class TreeBatch:
    """Sentences ready for a `TreeModel`.

    `arcs` holds the arcs that trees may use, as a mask over `all_arcs`, where not all may; `marks`, one row per arc of
    `all_arcs`, what templates call a.1, a.2 ...; `gold` are heads; `costs`, what a wrong head of each word costs in
    `weft.learn.trees.target_weights.WeighWords`; `head_sets`, a mask over `all_arcs` of the arcs that right trees may
    be built from, is what `weft.learn.signals.Partial` learns from.
    """

    offsets: Indices
    words: TreeWords
    gold: Heads | None
    weight: Floats
    arcs: NDArray[np.bool_] | None = None
    marks: Keys | None = None
    costs: Floats | None = None
    head_sets: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def arc_space(self) -> ArcSpace:
        """The arcs of the batch; rebuilt at every call, as spaces are larger than what they are built from."""
        space = all_arcs(self.offsets)
        return space if self.arcs is None else space.keep(self.arcs)

    @property
    def arc_marks(self) -> Keys:
        """The marks of the arcs of `arc_space`."""
        if self.marks is None:
            return _NO_MARKS
        return self.marks if self.arcs is None else self.marks[self.arcs]

    @property
    def allowed(self) -> NDArray[np.bool_] | None:
        """Which arcs of `arc_space` are in the head sets."""
        return self.head_sets if self.arcs is None or self.head_sets is None else self.head_sets[self.arcs]

    def cut(self, first: int, end: int) -> TreeBatch:
        """Sentences `first:end`."""
        lo, hi = int(self.offsets[first]), int(self.offsets[end])
        squares = np.diff(self.offsets) ** 2
        begin, stop = int(squares[:first].sum()), int(squares[:end].sum())
        return TreeBatch(
            self.offsets[first : end + 1] - lo,
            cut_words(self.words, lo, hi),
            None if self.gold is None else self.gold[lo:hi],
            self.weight[first:end],
            None if self.arcs is None else self.arcs[begin:stop],
            None if self.marks is None else self.marks[begin:stop],
            None if self.costs is None else self.costs[lo:hi],
            None if self.head_sets is None else self.head_sets[begin:stop],
        )

    def select(self, sentences: Sequence[int]) -> TreeBatch:
        """The named sentences, all arcs allowed.

        >>> words = TreeWords(np.arange(5, dtype=np.uint64)[:, None], np.zeros(6, np.int64), np.zeros(0, np.uint64))
        >>> batch = TreeBatch(np.array([0, 2, 3, 4]), words, None, np.ones(3)).select([0, 2])
        >>> batch.offsets.tolist(), batch.words.values.ravel().tolist()
        ([0, 2, 3], [0, 1, 2, 4])
        """
        chosen = np.asarray(sentences, dtype=np.int64)
        used = np.zeros(len(self), dtype=np.bool_)
        used[chosen] = True
        words, arcs = np.repeat(used, np.diff(self.offsets)), np.repeat(used, np.diff(self.offsets) ** 2)
        rows = np.concatenate([[True], words])
        sizes = np.diff(self.words.set_offsets)
        sets = self.words.sets[np.repeat(rows, sizes)]
        return TreeBatch(
            np.concatenate([[0], np.cumsum(np.diff(self.offsets)[used])]),
            TreeWords(self.words.values[rows], np.concatenate([[0], np.cumsum(sizes[rows])]), sets),
            None if self.gold is None else self.gold[words],
            self.weight[used],
            marks=None if self.marks is None else self.marks[arcs],
            costs=None if self.costs is None else self.costs[words],
            head_sets=None if self.head_sets is None else self.head_sets[arcs],
        )

    def reorder(self, order: Indices) -> TreeBatch:
        """The sentences with words, counted over the batch, in another order, and their trees with them.

        >>> words = TreeWords(np.arange(4, dtype=np.uint64)[:, None], np.zeros(5, np.int64), np.zeros(0, np.uint64))
        >>> batch = TreeBatch(np.array([0, 3]), words, np.array([2, 0, 2], np.int32), np.ones(1))
        >>> other = batch.reorder(np.array([1, 0, 2]))
        >>> other.words.values.ravel().tolist(), other.gold.tolist()
        ([0, 2, 1, 3], [0, 1, 1])
        """
        if self.gold is None or any(given is not None for given in (self.arcs, self.marks, self.head_sets)):
            raise ConfigError("sentences are put in another order with their trees, before arcs are left out or marked")
        rows = np.concatenate([[0], np.asarray(order) + 1])
        sizes = np.diff(self.words.set_offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self.words.set_offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
        gold = [
            reorder_heads(self.gold[first:end], order[first:end] - first)
            for first, end in pairwise(self.offsets.tolist())
        ]
        words = TreeWords(self.words.values[rows], offsets.astype(np.int64), self.words.sets[places])
        costs = None if self.costs is None else self.costs[order]
        return replace(self, words=words, gold=np.concatenate(gold), costs=costs)

    def batches(self, words: int = 2000) -> Iterator[TreeBatch]:
        """The same sentences in batches of about `words` words."""
        return cut_by_words(self, self.offsets, words)


def cut_words(words: TreeWords, first: int, end: int) -> TreeWords:
    """The words `first:end`, counted from 0, and ROOT."""
    rows = np.concatenate([words.values[:1], words.values[first + 1 : end + 1]])
    sizes = np.diff(words.set_offsets)
    root, lo, hi = int(sizes[0]), int(words.set_offsets[first + 1]), int(words.set_offsets[end + 1])
    offsets = np.concatenate([[0], words.set_offsets[first + 1 : end + 2] - lo + root]).astype(np.int64)
    return TreeWords(rows, offsets, np.concatenate([words.sets[:root], words.sets[lo:hi]]))


class TreeModel:
    """Weights to trees and back; what online learners need of `weft.learn.protocol.Model`.

    >>> from weft.features.tree_templates import compile_tree_templates
    >>> program = compile_tree_templates("arc: h.t|m.t", ["t"])
    >>> words = TreeWords(np.array([[1], [2], [3]], np.uint64), np.zeros(4, np.int64), np.zeros(0, np.uint64))
    >>> batch = TreeBatch(np.array([0, 2]), words, np.array([2, 0], np.int32), np.ones(1))
    >>> model = TreeModel(program, bits=8)
    >>> weights = np.zeros(model.size)
    >>> trees = model.score(batch, weights)
    >>> model.scatter(batch, trees.parts(batch.gold), weights)
    >>> model.score(batch, weights).best().tolist()
    [2, 0]
    """

    def __init__(
        self,
        program: TreeProgram,
        order: int = 1,
        shape: str = "projective",
        single_root: bool = True,
        bits: int = 22,
        factors: Floats | None = None,
    ) -> None:
        if shape not in SHAPES:
            raise ConfigError(f"shape must be one of {', '.join(SHAPES)}, got {shape!r}")
        if order not in ORDERS[shape]:
            raise ConfigError(f"{shape} trees have the orders {', '.join(map(str, ORDERS[shape]))}; got {order}")
        if not 4 <= bits <= 30:
            raise ConfigError(f"bits must be from 4 to 30, got {bits}")
        self.program, self.order, self.shape, self.single_root, self.bits = program, order, shape, single_root, bits
        self.factors = np.zeros(0) if factors is None else np.ascontiguousarray(factors, np.float64)
        if factors is not None and len(factors) != self.size:
            raise ConfigError(f"there must be one factor per weight, {self.size}; got {len(factors)}")
        self._shift = np.uint64(64 - bits)

    @property
    def size(self) -> int:
        return 1 << self.bits

    def score(self, batch: TreeBatch, weights: NDArray[Any]) -> Any:
        """The trees of a batch under the weights."""
        return self.trees(batch.arc_space, batch.words, weights, batch.arc_marks)

    def trees(
        self,
        space: ArcSpace,
        words: TreeWords,
        weights: NDArray[Any],
        marks: Keys | None = None,
        temperature: float = 1.0,
    ) -> Any:
        """The trees of a space under the weights, their scores divided by the temperature."""
        afford(space.longest, *self.cost(space))
        parts = self.scores(space, words, weights, marks)
        if temperature != 1.0:
            parts = parts.scale(1.0 / temperature)
        return self.structure(space, parts)

    def cost(self, space: ArcSpace) -> tuple[int, int]:
        """About how many bytes the scores of all parts take, and how many steps it takes to compute them."""
        scored = sum(self._sizes(space))
        kept = scored
        if self.shape == "crossing" and self.order == 1:  # every part has the score of its arc
            kept += space.n_siblings + space.n_grands + space.n_grand_arcs
        return BYTES * kept, STEPS * scored

    def structure(self, space: ArcSpace, parts: TreeParts) -> Any:
        """The trees of a space, given the scores of all parts."""
        if self.shape == "crossing":
            if self.order == 1:
                return CrossingTrees.from_edges(space, parts.arc, self.single_root)
            own = add_smaller_parts(space, parts)
            return CrossingTrees(space, own.crossed, own.arc, own.sibling, own.grand_arc, own.grand, self.single_root)
        if self.shape == "nonprojective":
            if self.order == 1:
                return SpanningTrees(space, parts.arc, single_root=self.single_root)
            return RearrangedTrees(space, parts.arc, parts.sibling, single_root=self.single_root)
        grand = parts.grand + parts.grand_arc[grand_arcs_of_grands(space)] if self.order > 2 else None
        sibling = parts.sibling if self.order > 1 else None
        return ProjectiveTrees(space, parts.arc, sibling, grand, single_root=self.single_root)

    def scores(self, space: ArcSpace, words: TreeWords, weights: NDArray[Any], marks: Keys | None = None) -> TreeParts:
        """The scores of all parts of a space; those of smaller parts inside a part are not included."""
        parts = self._filled(space, 0.0)
        given = Given(_NO_MARKS if marks is None else marks, self.factors)
        self._visit(SCORE, space, words, given, parts, weights, np.zeros(0, np.int64), np.zeros(0))
        return parts

    def _filled(self, space: ArcSpace, number: float) -> TreeParts:
        """Parts that are all one number."""
        return TreeParts(*(np.full(size, number) for size in self._sizes(space)))

    def _sizes(self, space: ArcSpace) -> list[int]:
        """How many parts of each kind there are."""
        sizes = [space.n_arcs, space.n_siblings if self.order > 1 else 0]
        sizes += [space.n_grands, 0, space.n_grand_arcs] if self.order > 2 else [0, 0, 0]
        sizes.append(space.n_arcs if self.order > 2 and self.shape == "crossing" else 0)
        return sizes

    def features_of(self, space: ArcSpace, parts: TreeParts) -> TreeParts:
        """Numbers of parts as a structure has them, given on to the smaller parts whose features they also have."""
        if self.shape == "crossing":
            found = smaller_parts(space, parts)
            if self.order == 1:
                return TreeParts(found.arc)
            return found
        if self.order < 3:
            return parts
        grand_arc = np.bincount(grand_arcs_of_grands(space), parts.grand, space.n_grand_arcs).astype(np.float64)
        return TreeParts(parts.arc, parts.sibling, parts.grand, grand_arc=grand_arc)

    def scatter(self, batch: TreeBatch, parts: TreeParts, into: Floats) -> None:
        space = batch.arc_space
        own, given = self.features_of(space, parts), Given(batch.arc_marks, self.factors)
        self._visit(SCATTER, space, batch.words, given, own, into, np.zeros(0, np.int64), np.zeros(0))

    def sparse(self, batch: TreeBatch, parts: TreeParts) -> tuple[Indices, Floats]:
        space = batch.arc_space
        slots, numbers = self._listed(space, batch, self.features_of(space, parts))
        return _summed(slots, numbers)

    def sparse_each(self, batch: TreeBatch, parts: Sequence[TreeParts]) -> list[tuple[Indices, Floats]]:
        """The same for several parts of one batch; features of an arc that several of them share are computed once."""
        if self.order > 1 or self.shape == "crossing" or len(parts) < 2:
            return [self.sparse(batch, each) for each in parts]
        space = batch.arc_space
        arcs = np.flatnonzero(np.any([each.arc != 0.0 for each in parts], axis=0))
        numbers = np.zeros(space.n_arcs)
        numbers[arcs] = np.arange(len(arcs)) + 1.0
        slots, owners = self._listed(space, batch, TreeParts(numbers), Given(batch.arc_marks, np.zeros(0)))
        ends = np.searchsorted(owners, np.arange(len(arcs) + 1), side="right")
        found = []
        for each in parts:
            own = np.flatnonzero(each.arc[arcs])
            taken = np.concatenate([np.arange(ends[i], ends[i + 1]) for i in own])
            values = np.repeat(each.arc[arcs[own]], ends[own + 1] - ends[own])
            if len(self.factors):
                values = values * self.factors[slots[taken]]
            found.append(_summed(slots[taken], values))
        return found

    def listed(self, batch: TreeBatch, parts: TreeParts) -> tuple[Indices, Floats]:
        """Slots of the features of all parts that are not zero, part by part, each with its part's number."""
        return self._listed(batch.arc_space, batch, parts, Given(batch.arc_marks, np.zeros(0)))

    def active(self, batch: TreeBatch) -> Indices:
        space = batch.arc_space
        return self._listed(space, batch, self._filled(space, 1.0))[0]

    def _listed(
        self, space: ArcSpace, batch: TreeBatch, parts: TreeParts, given: Given | None = None
    ) -> tuple[Indices, Floats]:
        """Slots of the features of parts that are not zero, with their numbers."""
        own = Given(batch.arc_marks, self.factors) if given is None else given
        slots, numbers = np.empty(0, np.int64), np.empty(0)
        count = self._visit(COUNT, space, batch.words, own, parts, np.zeros(1), slots, numbers)
        slots, numbers = np.empty(count, np.int64), np.empty(count)
        self._visit(COLLECT, space, batch.words, own, parts, np.zeros(1), slots, numbers)
        return slots, numbers

    def _visit(
        self, mode: int, space: ArcSpace, words: TreeWords, given: Given, parts: TreeParts,
        weights: NDArray[Any], slots: Indices, numbers: Floats,
    ) -> int:  # fmt: skip
        arrays, room = arrays_of(space), new_room(self.program, words, space)
        program, shift = self.program, self._shift
        count = 0
        for crossed, array in ((False, parts.arc), (True, parts.crossed)):
            if len(array):
                count += visit_arcs(
                    mode, program, words, given, arrays, room, shift, crossed, array, weights, slots[count:],
                    numbers[count:],
                )  # fmt: skip
        higher = (
            (visit_siblings, parts.sibling),
            (visit_grand_arcs, parts.grand_arc),
            (visit_grands, parts.grand),
        )
        for visit, array in higher:
            if len(array):
                count += visit(
                    mode, program, words, given, arrays, room, shift, array, weights, slots[count:], numbers[count:]
                )
        return count


def _summed(slots: Indices, numbers: Floats) -> tuple[Indices, Floats]:
    """Distinct slots, sorted, with the sums of their numbers, where these are not zero."""
    distinct, inverse = np.unique(slots, return_inverse=True)
    sums = np.bincount(inverse, numbers, len(distinct)).astype(np.float64)
    kept = sums != 0.0
    return distinct[kept], sums[kept]
