"""Options: the ways to translate spans of one source sentence, as numbers.

Option o translates the source positions `start[o] ... end[o] - 1` into the words `words[offsets[o]:offsets[o + 1]]`,
and has a row of scores, one per name. It may also fire sparse features, ids with values, of which there may be
millions. A derivation is a sequence of options that cover every source position once; its translation is the
concatenation of their words.

A word lattice is translated with the same arrays: positions are then the nodes of the lattice in topological order,
the last left out, and an option from node i to node j has the span i ... j - 1. Options that cover every position once
follow one path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import InferenceError


@dataclass(frozen=True, eq=False)
class Options:
    """The options of one sentence.

    >>> options = Options.of(2, [(0, 1, [7]), (1, 2, [8, 9]), (0, 2, [5])], scores=[[-1.0], [-2.0], [-2.5]])
    >>> len(options), options.target(1)
    (3, [8, 9])
    """

    length: int  #: source positions
    start: Ids
    end: Ids
    offsets: Ints
    words: Ids
    scores: Floats  #: a row per option
    names: tuple[str, ...]  #: of the columns of scores
    pair: Ids  #: what an option was made of: the row of a phrase table, for instance; -1: nothing
    sparse_offsets: Ints  #: sparse features of option o are sparse_offsets[o] ... sparse_offsets[o + 1] - 1
    sparse_ids: Ids
    sparse_values: Floats
    label: Ids | None = None  #: a number per option that means something to a feature, such as a piece of a tree

    @classmethod
    def of(
        cls,
        length: int,
        rows: Sequence[tuple[int, int, Sequence[int]]],
        scores: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        pair: ArrayLike | None = None,
        sparse: Sequence[Sequence[tuple[int, float]]] | None = None,
    ) -> Options:
        """Options from rows of start, end and words."""
        n = len(rows)
        width = -1 if n and scores is not None else len(names or ())
        table = np.zeros((n, width)) if scores is None else np.asarray(scores, np.float64).reshape(n, width)
        fired = [[] for _ in rows] if sparse is None else [list(each) for each in sparse]
        return cls(
            length,
            np.array([row[0] for row in rows], np.int32),
            np.array([row[1] for row in rows], np.int32),
            _ends([len(row[2]) for row in rows]),
            np.array([word for row in rows for word in row[2]], np.int32),
            table,
            tuple(f"score {k}" for k in range(table.shape[1])) if names is None else tuple(names),
            np.full(n, -1, np.int32) if pair is None else np.asarray(pair, np.int32),
            _ends([len(each) for each in fired]),
            np.array([number for each in fired for number, _ in each], np.int32),
            np.array([value for each in fired for _, value in each], np.float64),
        )

    def __post_init__(self) -> None:
        n = len(self.start)
        if not (
            len(self.end) == len(self.pair) == len(self.scores) == len(self.offsets) - 1 == len(self.sparse_offsets) - 1
        ):
            raise InferenceError("the arrays of options must have one row per option")
        if n and (self.start.min() < 0 or self.end.max() > self.length or (self.end < self.start).any()):
            raise InferenceError(f"an option's span must lie within the {self.length} source positions")
        if self.scores.shape[1] != len(self.names):
            raise InferenceError(f"options have {self.scores.shape[1]} scores, but {len(self.names)} names of scores")
        if not np.isfinite(self.scores).all():
            raise InferenceError("scores of options must be finite; leave out options that are forbidden")

    def __len__(self) -> int:
        return len(self.start)

    def target(self, option: int) -> list[int]:
        """The words of an option."""
        found: list[int] = self.words[self.offsets[option] : self.offsets[option + 1]].tolist()
        return found

    def sizes(self) -> Ints:
        """The number of words of every option."""
        return np.diff(self.offsets)

    def weighted(self, weights: Floats, sparse: Floats | None = None) -> Floats:
        """The score of every option, from weights of the columns and of sparse features.

        >>> options = Options.of(1, [(0, 1, [4])], [[2.0, 1.0]], sparse=[[(3, 1.0)]])
        >>> options.weighted(np.array([1.0, -1.0]), np.array([0, 0, 0, 0.5])).tolist()
        [1.5]
        """
        total: Floats = self.scores @ weights
        if sparse is not None and len(self.sparse_ids):
            values = sparse[self.sparse_ids] * self.sparse_values
            total = total + np.bincount(_owners(self.sparse_offsets), values, len(self))
        return total

    def take(self, rows: ArrayLike) -> Options:
        """The options of some rows, in their order; a row may occur several times.

        >>> options = Options.of(1, [(0, 1, [4]), (0, 1, [5, 6])])
        >>> options.take([1, 0, 1]).words.tolist()
        [5, 6, 4, 5, 6]
        """
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        places, offsets = _gathered(self.offsets, chosen)
        fired, sparse_offsets = _gathered(self.sparse_offsets, chosen)
        return replace(
            self, start=self.start[chosen], end=self.end[chosen], offsets=offsets, words=self.words[places],
            scores=self.scores[chosen], pair=self.pair[chosen], sparse_offsets=sparse_offsets,
            sparse_ids=self.sparse_ids[fired], sparse_values=self.sparse_values[fired],
            label=None if self.label is None else self.label[chosen],
        )  # fmt: skip

    def labelled(self, label: ArrayLike) -> Options:
        """The options with a number each.

        >>> Options.of(1, [(0, 1, [4]), (0, 1, [5])]).labelled([7, 8]).take([1]).label.tolist()
        [8]
        """
        found = np.asarray(label, np.int32)
        if len(found) != len(self):
            raise InferenceError(f"{len(self)} options need a label each, got {len(found)}")
        return replace(self, label=found)

    def with_scores(self, names: Sequence[str], scores: ArrayLike) -> Options:
        """The options with more scores.

        >>> Options.of(1, [(0, 1, [4])]).with_scores(["length"], [[1.0]]).names
        ('length',)
        """
        more = np.asarray(scores, np.float64).reshape(len(self), len(names))
        return replace(self, names=(*self.names, *names), scores=np.hstack([self.scores, more]))

    def with_moves(self, number: int) -> Options:
        """The options with so many at the end that cover nothing and say nothing."""
        if number == 0:
            return self
        none = np.zeros(number, np.int32)
        ends = np.full(number, self.offsets[-1])
        return replace(
            self, start=np.concatenate([self.start, none]), end=np.concatenate([self.end, none]),
            offsets=np.concatenate([self.offsets, ends]), pair=np.concatenate([self.pair, none - 1]),
            scores=np.vstack([self.scores, np.zeros((number, self.scores.shape[1]))]),
            sparse_offsets=np.concatenate([self.sparse_offsets, np.full(number, self.sparse_offsets[-1])]),
            label=None if self.label is None else np.concatenate([self.label, none - 1]),
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: Sequence[Options]) -> Options:
        """The options of several sets for one sentence, with the same scores."""
        first = parts[0]
        if any(part.names != first.names or part.length != first.length for part in parts):
            raise InferenceError("options can be joined if they are of one sentence and have the same scores")
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("start", "end", "words", "scores", "pair", "sparse_ids", "sparse_values")
        }
        labels = [np.full(len(part), -1, np.int32) if part.label is None else part.label for part in parts]
        if any(part.label is not None for part in parts):
            columns["label"] = np.concatenate(labels)
        offsets = _ends(np.concatenate([part.sizes() for part in parts]))
        fired = _ends(np.concatenate([np.diff(part.sparse_offsets) for part in parts]))
        return replace(first, offsets=offsets, sparse_offsets=fired, **columns)

    def uncovered(self) -> Bools:
        """Which source positions no option covers.

        >>> Options.of(2, [(0, 1, [4])]).uncovered().tolist()
        [False, True]
        """
        change = np.zeros(self.length + 1, np.int64)
        np.add.at(change, self.start, 1)
        np.add.at(change, self.end, -1)
        return np.cumsum(change)[: self.length] == 0


def _ends(sizes: ArrayLike) -> Ints:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


def _owners(offsets: Ints) -> Ints:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _gathered(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Places of the entries of chosen rows, and their offsets."""
    sizes = offsets[rows + 1] - offsets[rows]
    ends = _ends(sizes)
    return np.arange(ends[-1]) + np.repeat(offsets[rows] - ends[:-1], sizes), ends
