"""The shape of an n-gram model: a trie in three arrays, the same for counts, probabilities and queries.

Nodes are numbered by length, and within a length in the order of their words; node 0 is the empty n-gram, and node
1 + w the word w, of which there is one per word of the vocabulary. For a node g = (h, w):

    words[g]     w
    suffix[g]    the node of g without its oldest word
    first[h]     the first child of h; children of h are first[h] ... first[h + 1] - 1, sorted by word

`first` holds the nodes that can be histories, those shorter than the order. The set is closed: with an n-gram it holds
all its prefixes and suffixes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import DataError
from weft.infer.decoding.backoff import child
from weft.kernel import kernel


@kernel
def _find(first: Ids, words: Ids, histories: int, rows: Ids, found: Ids) -> None:
    for i in range(rows.shape[0]):
        node = 0
        for k in range(rows.shape[1]):
            node = child(first, words, node, int(rows[i, k])) if node < histories else -1
            if node < 0:
                break
        found[i] = node


@kernel
def _link(first: Ids, words: Ids, suffix: Ids, parents: Ids, begin: int, end: int) -> int:
    """Fill the suffixes of nodes whose parents have theirs; the first node without one, -1 if all have."""
    for g in range(begin, end):
        node = child(first, words, int(suffix[parents[g - begin]]), int(words[g]))
        if node < 0:
            return g
        suffix[g] = node
    return -1


@dataclass(frozen=True)
class Trie:
    """A closed set of n-grams.

    >>> trie = Trie.of_rows(3, [np.array([[0, 1], [1, 2], [2, 1]], dtype=np.int32)])
    >>> trie.counts(), trie.find(np.array([[1, 2], [2, 2]], dtype=np.int32)).tolist()
    ([3, 3], [5, -1])
    >>> int(trie.suffix[5]), trie.ngram(5)
    (3, (1, 2))
    """

    words: Ids
    suffix: Ids
    first: Ids
    levels: Ints  #: nodes of k words are levels[k] ... levels[k + 1] - 1

    @property
    def order(self) -> int:
        return len(self.levels) - 2

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return int(self.levels[2] - 1)

    @property
    def n_histories(self) -> int:
        """How many nodes can be histories: those shorter than the order."""
        return int(self.levels[self.order])

    def __len__(self) -> int:
        return int(self.levels[-1])

    def counts(self) -> list[int]:
        """How many n-grams of every length there are."""
        sizes: list[int] = np.diff(self.levels)[1:].tolist()
        return sizes

    def level(self, length: int) -> slice:
        """The nodes of so many words."""
        return slice(int(self.levels[length]), int(self.levels[length + 1]))

    def parents(self) -> Ids:
        """The history of every node; that of the empty n-gram is itself."""
        found = np.zeros(len(self), dtype=np.int32)
        found[1:] = np.repeat(np.arange(self.n_histories, dtype=np.int32), np.diff(self.first))
        return found

    def ngram(self, node: int) -> tuple[int, ...]:
        """The words of a node."""
        length = int(np.searchsorted(self.levels, node, "right")) - 1
        found = []
        for _ in range(length):
            found.append(int(self.words[node]))
            node = int(np.searchsorted(self.first, node, "right")) - 1
        return tuple(reversed(found))

    def rows(self, length: int, parents: Ids | None = None) -> Ids:
        """All n-grams of a length, one per row."""
        above = self.parents() if parents is None else parents
        nodes = np.arange(self.levels[length], self.levels[length + 1])
        found = np.empty((len(nodes), length), dtype=np.int32)
        for k in range(length - 1, -1, -1):
            found[:, k] = self.words[nodes]
            nodes = above[nodes]
        return found

    def find(self, rows: Ids) -> Ids:
        """The nodes of n-grams, one per row, -1 for those that are not in the set."""
        found = np.empty(len(rows), dtype=np.int32)
        _find(self.first, self.words, self.n_histories, np.ascontiguousarray(rows, dtype=np.int32), found)
        return found

    def starting_with(self, word: int, parents: Ids | None = None) -> Bools:
        """Which nodes begin with a word."""
        above = self.parents() if parents is None else parents
        found = np.zeros(len(self), dtype=np.bool_)
        found[1 + word] = True
        for length in range(2, self.order + 1):
            here = self.level(length)
            found[here] = found[above[here]]
        return found

    def per_history(self, values: Floats) -> Floats:
        """Sums of values of nodes over the children of every history."""
        sums = np.bincount(self.parents()[1:], weights=values[1:], minlength=self.n_histories)
        return sums.astype(np.float64)

    def subset(self, kept: Bools, parents: Ids | None = None) -> Trie:
        """The trie of some nodes, which must be closed and hold all words."""
        above = self.parents() if parents is None else parents
        new = np.cumsum(kept, dtype=np.int64) - 1
        levels = np.concatenate([[0], np.cumsum([int(kept[self.level(k)].sum()) for k in range(self.order + 1)])])
        old = np.flatnonzero(kept)
        return _assembled(
            self.words[old], new[self.suffix[old]].astype(np.int32), new[above[old]].astype(np.int32), levels
        )

    @classmethod
    def of_rows(cls, n_words: int, rows: Sequence[Ids]) -> Trie:
        """The trie of all words and of longer n-grams: for every length from 2 distinct rows, sorted and closed."""
        words = np.arange(-1, n_words, dtype=np.int32)
        words[0] = 0
        none = np.zeros(1 + n_words, np.int32)
        trie = _assembled(words, none, none, [0, 1, 1 + n_words])
        for own in rows:
            above = trie.find(own[:, :-1]) if len(own) else np.zeros(0, np.int32)
            if (above < 0).any():
                raise DataError(f"the n-gram {own[int(np.argmax(above < 0))].tolist()} lacks its prefix")
            trie = trie.grown(own[:, -1], above)
        return trie

    def grown(self, words: Ids, parents: Ids) -> Trie:
        """The trie with n-grams that are longer by one word, given by their histories and last words, sorted."""
        begin = len(self)
        levels = np.append(self.levels, begin + len(words))
        all_words = np.concatenate([self.words, words.astype(np.int32)])
        sizes = np.bincount(parents - self.levels[-2], minlength=begin - int(self.levels[-2]))
        first = np.concatenate([self.first, begin + np.cumsum(sizes)]).astype(np.int32)
        suffix = np.concatenate([self.suffix, np.zeros(len(words), np.int32)])
        lacking = _link(first, all_words, suffix, parents.astype(np.int32), begin, begin + len(words))
        grown = Trie(all_words, suffix, first, levels)
        if lacking >= 0:
            raise DataError(f"the n-gram {grown.ngram(lacking)} lacks its suffix")
        return grown


def _assembled(words: Ids, suffix: Ids, parents: Ids, levels: Any) -> Trie:
    histories = int(levels[-2])
    sizes = np.bincount(parents[1:], minlength=histories)
    first = np.concatenate([[1], 1 + np.cumsum(sizes)]).astype(np.int32)
    return Trie(np.ascontiguousarray(words, dtype=np.int32), suffix, first, np.asarray(levels, dtype=np.int64))
