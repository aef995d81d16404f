"""Linear chains over lattices, with features of types of words.

    score(y, x) = sum_i  sum_{f in features(x_i)} W[f, y_i]  +  sum_{i>1} T[y_{i-1}, y_i],      y_i in the list of i

Features depend on the type of a word alone, so that  S = features x W  is a table of types and labels, computed once
per call and not once per word; inference visits the labels that the lattice lists. `TableModel` is the same chain with
the table itself as its weights, and scores of first labels: what generative models are made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weft.arrays import Bools, Floats, Ints, Rows
from weft.features.weights import Layout
from weft.infer.chains.candidates import CandidateChain, CandidateParts
from weft.infer.chains.label_lists import LabelLists
from weft.learn.chains.blocks import FeatureRows

#: Pairs of neighbouring labels that a batch holds at most, unless one sentence alone has more.
PAIRS = 400_000


@dataclass(frozen=True)
class LatticeBatch:
    """Sentences whose words are types, with the labels each may have.

    `allowed` is a mask over the slots of the lists: what partial supervision takes to be true. `gold` is a path.
    """

    lists: LabelLists
    types: Ints
    weight: Floats
    allowed: Bools | None = None
    gold: Rows | None = field(default=None)

    @classmethod
    def from_masks(cls, types: Ints, sentences: Ints, space: Bools, allowed: Bools | None = None) -> LatticeBatch:
        """The batch of a lattice `[position, label]` and of what is allowed in it."""
        lists = LabelLists.from_mask(space, sentences)
        inside = None if allowed is None else np.asarray(lists.at_slots(allowed), dtype=np.bool_)
        return cls(lists, np.asarray(types, dtype=np.int64), np.ones(len(lists.offsets) - 1), inside)

    def __len__(self) -> int:
        return len(self.lists.offsets) - 1

    @cached_property
    def cells(self) -> Ints:
        """The cell of every slot in the flat table of types and labels."""
        return self.types[self.lists.position] * self.lists.n_labels + self.lists.labels

    @cached_property
    def first(self) -> Ints:
        """The slots of first positions."""
        starts = self.lists.offsets[:-1][np.diff(self.lists.offsets) > 0]
        is_first = np.zeros(len(self.lists), dtype=np.bool_)
        is_first[starts] = True
        return np.flatnonzero(is_first[self.lists.position])


def lattice_batches(
    types: Ints, sentences: Ints, space: Bools, allowed: Bools, pairs: int = PAIRS
) -> Iterator[LatticeBatch]:
    """Batches of whole sentences with at most that many pairs of neighbouring labels.

    >>> space = np.ones((4, 3), dtype=bool)
    >>> [len(batch) for batch in lattice_batches(np.zeros(4, int), np.array([0, 2, 4]), space, space, pairs=9)]
    [1, 1]
    """
    sizes = space.sum(axis=1)
    steps = np.zeros(len(sizes) + 1, dtype=np.int64)
    steps[2:] = np.cumsum(sizes[:-1] * sizes[1:])
    first = 0
    for s in range(1, len(sentences)):
        last = s == len(sentences) - 1
        if last or steps[sentences[s + 1]] - steps[sentences[first]] > pairs:
            lo, hi = int(sentences[first]), int(sentences[s])
            yield LatticeBatch.from_masks(types[lo:hi], sentences[first : s + 1] - lo, space[lo:hi], allowed[lo:hi])
            first = s


class TableModel:
    """The chain whose weights are its scores: a table of types and labels, transitions, and scores of first labels.

    >>> model = TableModel(types=2, labels=2)
    >>> batch = LatticeBatch.from_masks(np.array([0, 1]), np.array([0, 2]), np.ones((2, 2), dtype=bool))
    >>> model.score(batch, np.arange(10.0)).best().tolist()  # table 0 1 / 2 3, transitions 4 5 / 6 7, first 8 9
    [1, 1]
    """

    def __init__(self, types: int, labels: int) -> None:
        self.types, self.labels = types, labels

    @property
    def size(self) -> int:
        return self.labels * (self.types + self.labels + 1)

    def cut(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights as table `[type, label]`, transitions `[label, label]` and scores of first labels."""
        t, n = self.types * self.labels, self.labels**2
        return (
            weights[:t].reshape(self.types, self.labels),
            weights[t : t + n].reshape(self.labels, self.labels),
            weights[t + n :],
        )

    def score(self, batch: LatticeBatch, weights: Floats) -> CandidateChain:
        table, transitions, first = self.cut(weights)
        node = np.take(table.ravel(), batch.cells)
        node[batch.first] += first[batch.lists.labels[batch.first]]
        return batch.lists.chain(node, transitions)

    def scatter(self, batch: LatticeBatch, parts: CandidateParts, into: Floats) -> None:
        table, transitions, first = self.cut(into)
        table += table_sums(batch, parts, table.shape[0])
        transitions += batch.lists.transition_sums(parts.edge)
        first += np.bincount(batch.lists.labels[batch.first], parts.node[batch.first], self.labels)


class LatticeModel:
    """The linear model: features of types, and transitions. Its weights stand as those of `ChainModel` do.

    `features` are those of every type, `layout` has every label for each of them.
    """

    def __init__(self, features: FeatureRows, layout: Layout) -> None:
        self.features, self.layout = features, layout
        self.types, self.labels = len(features.offsets) - 1, layout.n_columns

    @property
    def size(self) -> int:
        return self.layout.size + self.labels**2

    def table(self, weights: Floats) -> Floats:
        """Scores `[type, label]`."""
        own = self.features
        return self.layout.score(own.rows, own.offsets, own.values, weights[: self.layout.size])

    def score(self, batch: LatticeBatch, weights: Floats) -> CandidateChain:
        node = np.take(self.table(weights).ravel(), batch.cells)
        return batch.lists.chain(node, weights[self.layout.size :].reshape(self.labels, self.labels))

    def scatter(self, batch: LatticeBatch, parts: CandidateParts, into: Floats) -> None:
        own = self.features
        sums = table_sums(batch, parts, self.types)
        self.layout.scatter(own.rows, own.offsets, own.values, sums, into[: self.layout.size])
        into[self.layout.size :] += batch.lists.transition_sums(parts.edge).ravel()


def table_sums(batch: LatticeBatch, parts: CandidateParts, types: int) -> Floats:
    """Numbers of slots added up by type and label."""
    n_labels = batch.lists.n_labels
    sums = np.bincount(batch.cells, parts.node, types * n_labels)
    return np.asarray(sums, dtype=np.float64).reshape(types, n_labels)
