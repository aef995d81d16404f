"""Lists of the k best derivations of sentences, as arrays: their scores, BLEU statistics and sparse features.

A derivation is a row: list s has the rows offsets[s] ... offsets[s + 1] - 1. Its score is

    w_dense . features[row]  +  sum over its sparse features of w_sparse[id] * value
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import DataError
from weft.learn.tuning.bleu import corpus_bleu
from weft.ragged import sentence_of


@dataclass(frozen=True, eq=False)
class Lists:
    """K best lists of sentences.

    >>> lists = Lists.of([([[1.0], [3.0]], np.zeros((2, 10))), ([[2.0]], np.zeros((1, 10)))])
    >>> len(lists), lists.best(np.array([1.0])).tolist(), lists.best(np.array([-1.0])).tolist()
    (2, [1, 2], [0, 2])
    """

    offsets: Ints
    features: Floats  #: one row per derivation
    stats: Ints  #: of BLEU, one row per derivation
    sparse_offsets: Ints  #: sparse features of a row, none at all if they were not asked for
    sparse_ids: Ids
    sparse_values: Floats

    @classmethod
    def of(
        cls,
        lists: Sequence[tuple[Sequence[Sequence[float]] | Floats, Ints | Floats]],
        sparse: Sequence[Sequence[tuple[int, float]]] | None = None,
    ) -> Lists:
        """Lists from features and statistics of each, and sparse features of all rows."""
        sizes = [len(features) for features, _ in lists]
        n = sum(sizes)
        fired = [list(each) for each in sparse] if sparse is not None else [[] for _ in range(n)]
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([np.asarray(features, np.float64) for features, _ in lists]),
            np.concatenate([np.asarray(stats, np.int64) for _, stats in lists]),
            np.concatenate([[0], np.cumsum([len(each) for each in fired])]).astype(np.int64),
            np.array([number for each in fired for number, _ in each], np.int32),
            np.array([value for each in fired for _, value in each], np.float64),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        return len(self.features)

    def owner(self) -> Ints:
        """The list of every row."""
        return sentence_of(self.offsets)

    def dot(self, weights: Floats) -> Floats:
        """Sums of the sparse features of every row with these weights.

        >>> one = [([[0.0], [0.0]], np.zeros((2, 10)))]
        >>> Lists.of(one, [[(0, 1.0), (2, 2.0)], []]).dot(np.array([1.0, 0.0, 0.5])).tolist()
        [2.0, 0.0]
        """
        values = weights[self.sparse_ids] * self.sparse_values
        found: Floats = np.bincount(sentence_of(self.sparse_offsets), values, self.n_rows).astype(np.float64)
        return found

    def scores(self, weights: Floats, sparse: Floats | None = None) -> Floats:
        """The score of every row."""
        found: Floats = self.features @ weights
        return found if sparse is None else found + self.dot(sparse)

    def best(self, weights: Floats, sparse: Floats | None = None) -> Ints:
        """The row with the highest score of every list, the first of equal ones."""
        return best_rows(self.scores(weights, sparse), self.offsets)

    def bleu(self, weights: Floats, sparse: Floats | None = None) -> float:
        """BLEU (0 to 1) of the best of all lists."""
        return float(corpus_bleu(self.stats[self.best(weights, sparse)].sum(axis=0)))

    def with_columns(self, columns: Floats) -> Lists:
        """The lists with more features.

        >>> Lists.of([([[1.0]], np.zeros((1, 10)))]).with_columns(np.array([[5.0]])).features.tolist()
        [[1.0, 5.0]]
        """
        return replace(self, features=np.hstack([self.features, columns]))

    def dense(self) -> Lists:
        """The lists without sparse features."""
        none = np.zeros(self.n_rows + 1, np.int64)
        return replace(self, sparse_offsets=none, sparse_ids=np.zeros(0, np.int32), sparse_values=np.zeros(0))

    def take(self, rows: Ints, offsets: Ints) -> Lists:
        """Some of the rows, divided into lists by `offsets`."""
        sizes = np.diff(self.sparse_offsets)[rows]
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(ends[-1]) + np.repeat(self.sparse_offsets[rows] - ends[:-1], sizes)
        return Lists(
            offsets, self.features[rows], self.stats[rows], ends, self.sparse_ids[places], self.sparse_values[places]
        )

    @classmethod
    def chained(cls, parts: Sequence[Lists]) -> Lists:
        """The lists of several groups of sentences, one after the other."""
        if not parts:
            raise DataError("there are no lists of translations")
        return cls(
            _chained([part.offsets for part in parts]),
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.stats for part in parts]),
            _chained([part.sparse_offsets for part in parts]),
            np.concatenate([part.sparse_ids for part in parts]),
            np.concatenate([part.sparse_values for part in parts]),
        )

    def merged(self, other: Lists) -> Lists:
        """Lists of the same sentences together; of rows with equal features and statistics one stays."""
        if len(self) != len(other):
            raise DataError(f"lists of {len(self):,} and of {len(other):,} sentences cannot be merged")
        both = Lists.chained([self, other])
        owner = np.concatenate([self.owner(), other.owner()])
        order = np.argsort(owner, kind="stable")
        looks = np.ascontiguousarray(
            np.hstack([owner[:, None].astype(np.float64), both.features, both.stats.astype(np.float64)])[order]
        )
        keys = looks.view(np.dtype((np.void, looks.dtype.itemsize * looks.shape[1]))).reshape(-1)
        _, first = np.unique(keys, return_index=True)
        kept = order[np.sort(first)]
        counts = np.bincount(owner[kept], minlength=len(self))
        return both.take(kept, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


def best_rows(scores: Floats, offsets: Ints) -> Ints:
    """The row with the highest score of every list.

    >>> best_rows(np.array([1.0, 3.0, 3.0, 0.0]), np.array([0, 3, 4])).tolist()
    [1, 3]
    """
    sizes = np.diff(offsets)
    top = np.maximum.reduceat(scores, offsets[:-1])
    rows = np.flatnonzero(scores == np.repeat(top, sizes))
    found: Ints = rows[np.searchsorted(rows, offsets[:-1])]
    return found


def _chained(offsets: Sequence[Ints]) -> Ints:
    starts = np.cumsum([0, *(int(each[-1]) for each in offsets)])
    return np.concatenate([[0], *(each[1:] + start for each, start in zip(offsets, starts, strict=False))]).astype(
        np.int64
    )
