"""Pieces of dependency trees over the words of phrases, and the tree that a derivation puts together from them.

A piece has the tokens of its phrase (numbers of words with their tags) and their heads, counted within the phrase from
0, -1 for its roots. Its type is one of `shift_reduce`. Pieces are numbered; an option of a search has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats, Heads, Ids, Ints
from weft.errors import InferenceError
from weft.infer.decoding.ngrams import Automaton
from weft.infer.decoding.shift_reduce import REDUCE_LEFT, H
from weft.infer.decoding.siblings import STOP, event
from weft.kernel import kernel

NONE = -1


@dataclass(frozen=True, eq=False)
class Pieces:
    """A table of pieces.

    >>> pieces = Pieces.of([([5, 6], [1, -1], 0, False), ([7, 8], [-1, -1], 1, False)])
    >>> len(pieces), pieces.heads_of(0), pieces.roots.tolist(), pieces.left.tolist()
    (2, [1, -1], [6, 7, 8], [5, -1])
    """

    offsets: Ints
    tokens: Ids
    heads: Heads
    kind: Ids  #: the type of every piece
    ill_formed: Bools
    root_offsets: Ints
    roots: Ids  #: tokens
    left: Ids  #: the leftmost child of the root of a piece with one root; -1: none
    right: Ids

    @classmethod
    def of(cls, rows: Iterable[tuple[Sequence[int], Sequence[int], int, bool]]) -> Pieces:
        """Pieces from rows of tokens, heads, type, and whether the piece is ill-formed."""
        listed = list(rows)
        sizes = [len(row[0]) for row in listed]
        return cls.of_arrays(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([token for row in listed for token in row[0]], np.int32),
            np.array([head for row in listed for head in row[1]], np.int32),
            np.array([row[2] for row in listed], np.int32),
            np.array([row[3] for row in listed], np.bool_),
        )

    @classmethod
    def of_arrays(cls, offsets: Ints, tokens: Ids, heads: Heads, kind: Ids, ill_formed: Bools) -> Pieces:
        """Pieces whose tokens and heads are one after the other."""
        n = len(kind)
        if not len(offsets) - 1 == n == len(ill_formed) or not len(tokens) == len(heads) == offsets[-1]:
            raise InferenceError("the arrays of pieces must fit each other")
        is_root = heads < 0
        owner = np.repeat(np.arange(n), np.diff(offsets))
        counts = np.bincount(owner[is_root], minlength=n)
        if n and (counts.min() < 1 or (counts[kind == H] > 1).any()):
            raise InferenceError("every piece has a root, and one of type h exactly one")
        left, right = np.full(n, NONE, np.int32), np.full(n, NONE, np.int32)
        _outer_children(offsets, tokens, heads, kind, left, right)
        root_offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(offsets, tokens, heads, kind, ill_formed, root_offsets, tokens[is_root], left, right)

    def __len__(self) -> int:
        return len(self.kind)

    def heads_of(self, piece: int) -> list[int]:
        """The heads of a piece."""
        found: list[int] = self.heads[self.offsets[piece] : self.offsets[piece + 1]].tolist()
        return found

    def inner_scores(self, words: Ids, left: Automaton, right: Automaton, stops: bool = False) -> Floats:
        """The logarithms of the probabilities of all children within pieces; `words` are the words of tokens.

        With stops, words that get no more children end: all but the root of a piece of type h.
        """
        found = np.zeros(len(self))
        _score_inside(self.offsets, words[self.tokens], self.heads, self.kind, left, right, stops, found)
        return found

    def tree(self, chosen: Sequence[int], n_options: int, label: Ids) -> list[int]:
        """The heads of a translation's words, counted from 1; 0 is the root.

        `chosen` are the options of a derivation, numbers from `n_options` on moves; option o has the piece label[o].

        >>> pieces = Pieces.of([([5, 6], [1, -1], 0, False), ([7], [-1], 0, False)])
        >>> pieces.tree([0, 1, 2], 2, np.array([0, 1]))
        [2, 3, 0]
        >>> pieces.tree([0, 1, 3], 2, np.array([0, 1]))
        [2, 0, 2]
        """
        heads: list[int] = []
        stack: list[list[int]] = []
        for action in chosen:
            if action < n_options:
                base, own = len(heads), self.heads_of(int(label[action]))
                heads.extend(head + 1 + base if head >= 0 else 0 for head in own)
                stack.append([base + k for k, head in enumerate(own) if head < 0])
                continue
            top, below = stack.pop(), stack.pop()
            head, roots = (top, below) if action - n_options == REDUCE_LEFT else (below, top)
            for root in roots:
                heads[root] = head[0] + 1
            stack.append(head)
        return heads


@kernel
def _outer_children(offsets: Ints, tokens: Ids, heads: Heads, kind: Ids, left: Ids, right: Ids) -> None:
    for p in range(len(kind)):
        if kind[p] != H:
            continue
        first, last = offsets[p], offsets[p + 1]
        root = 0
        for k in range(first, last):
            if heads[k] < 0:
                root = k - first
        for k in range(first, last):
            if heads[k] == root and k - first > root:
                right[p] = tokens[k]
        for k in range(last - 1, first - 1, -1):
            if heads[k] == root and k - first < root:
                left[p] = tokens[k]


@kernel
def _score_inside(
    offsets: Ints, words: Ids, heads: Heads, kind: Ids, left: Automaton, right: Automaton, stops: bool, found: Floats
) -> None:  # fmt: skip
    for p in range(len(found)):
        first, last = offsets[p], offsets[p + 1]
        for k in range(first, last):
            # Children from the head outwards.
            ends = stops and (heads[k] >= 0 or kind[p] != H)
            sibling = NONE
            for m in range(k - 1, first - 1, -1):
                if heads[m] == k - first:
                    found[p] += event(left, sibling, words[k], words[m])
                    sibling = words[m]
            if ends:
                found[p] += event(left, sibling, words[k], STOP)
            sibling = NONE
            for m in range(k + 1, last):
                if heads[m] == k - first:
                    found[p] += event(right, sibling, words[k], words[m])
                    sibling = words[m]
            if ends:
                found[p] += event(right, sibling, words[k], STOP)
