"""Dependency trees, binary trees and chains as structures of recursive networks.

    dependency tree   h_i = f( 1/l(i) (W_v x_i + sum_j l(j) W_m(j) h_j) ),   l(i): words of the subtree
    binary tree       h   = f( W_left h_left + W_right h_right ),            leaves are word vectors
    chain             h_t = f( W_x x_t + W_h h_t-1 )
    bag of words      h   = 1/m sum of word vectors

The matrix of an edge in a dependency tree goes by the child's position (the nearest child on the right is r1, the next
r2; on the left l1, l2) or by a label. Positions and labels that are not known get the identity (Socher et al. 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weft.arrays import Heads, Ids, Ints
from weft.errors import DataError
from weft.kernel import kernel
from weft.learn.neural.forests import IDENTITY, NO_WORD, Structures

#: Matrices of binary trees.
LEFT, RIGHT = 0, 1


def offsets_of(lengths: Sequence[int]) -> Ints:
    """Where each of several runs starts, and the end of the last.

    >>> offsets_of([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def positions(heads: Sequence[Heads]) -> list[str]:
    """The position of every word among the children on its side of its head: l1, r2; "" for roots.

    >>> positions([np.array([2, 0, 2, 2])])
    ['l1', '', 'r1', 'r2']
    """
    offsets = offsets_of([len(each) for each in heads])
    flat = _flat(heads)
    ranks = np.zeros(len(flat), dtype=np.int32)
    _positions(offsets, flat, ranks)
    return ["" if not k else f"r{k}" if k > 0 else f"l{-k}" for k in ranks.tolist()]


def dependency_structures(
    heads: Sequence[Heads],
    words: Ids,
    marks: Sequence[str],
    known: Mapping[str, int],
    weighted: bool = True,
) -> Structures:
    """Dependency trees, whose heads count from 1 (0 for the root), over words of all trees in a row.

    `marks` are the positions or labels of words, and `known` the matrices of those that are learned. Without
    `weighted`, all factors are 1. Further roots of a tree attach to its first.

    >>> found = dependency_structures([np.array([2, 0, 2])], np.arange(3, dtype=np.int32), ["l1", "", "r1"], {"r1": 0})
    >>> found.parents.tolist(), found.matrices.tolist(), found.shares.round(2).tolist()
    ([1, -1, 1], [-1, -1, 0], [1.0, 0.33, 1.0])
    """
    offsets, flat = offsets_of([len(each) for each in heads]), _flat(heads)
    if any(len(each) == 0 for each in heads):
        raise DataError("a sentence without words has no tree")
    parents, sizes = np.zeros(len(flat), dtype=np.int32), np.zeros(len(flat), dtype=np.int32)
    wrong = _parents(offsets, flat, parents, sizes)
    if wrong >= 0:
        raise DataError(f"sentence {wrong + 1} is not a tree: it has a cycle, no root, or a head outside of it")
    matrices = np.fromiter((known.get(mark, IDENTITY) for mark in marks), dtype=np.int32, count=len(flat))
    shares, factors = np.ones(len(flat)), np.ones(len(flat))
    if weighted:
        above = np.where(parents >= 0, parents + np.repeat(offsets[:-1], np.diff(offsets)), np.arange(len(flat)))
        shares, factors = 1.0 / sizes, sizes / sizes[above]
    return Structures.of(offsets, parents, words.astype(np.int32), matrices, shares, factors)


def chain_structures(lengths: Sequence[int], words: Ids) -> Structures:
    """Chains of words, the last of which is the root.

    >>> chain_structures([3], np.arange(3, dtype=np.int32)).parents.tolist()
    [1, 2, -1]
    """
    offsets = offsets_of(lengths)
    parents = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)) + 1).astype(np.int32)
    parents[offsets[1:] - 1] = -1
    ones = np.ones(len(parents))
    return Structures.of(
        offsets, parents, words.astype(np.int32), np.zeros(len(parents), dtype=np.int32), ones, ones.copy()
    )


def bag_structures(lengths: Sequence[int], words: Ids) -> Structures:
    """Bags of words, to be added up without any matrix; the words are sorted, so that equal bags are equal to the bit.

    >>> bag_structures([2], np.array([7, 3], dtype=np.int32)).words.tolist()
    [3, 7, -1]
    """
    starts, sizes = offsets_of(lengths), [length + 1 for length in lengths]
    offsets = offsets_of(sizes)
    parents = np.repeat(np.asarray(lengths, dtype=np.int32), sizes)
    factors = 1.0 / np.maximum(parents, 1)
    rows = np.full(offsets[-1], NO_WORD, dtype=np.int32)
    for k, length in enumerate(lengths):
        rows[offsets[k] : offsets[k] + length] = np.sort(words[starts[k] : starts[k] + length])
    parents[offsets[1:] - 1] = -1
    ones, none = np.ones(len(rows)), np.full(len(rows), IDENTITY, dtype=np.int32)
    return Structures.of(offsets, parents, rows, none, ones, factors, passes=True)


def binary_structures(trees: Sequence[Sequence[tuple[int, int]]], lengths: Sequence[int], words: Ids) -> Structures:
    """Binary trees over word vectors: `trees[k]` lists pairs of nodes (left, right), each a new node after the words.

    >>> found = binary_structures([[(0, 1), (3, 2)]], [3], np.arange(3, dtype=np.int32))
    >>> found.parents.tolist(), found.words.tolist(), found.matrices.tolist()
    ([3, 3, 4, 4, -1], [0, 1, 2, -1, -1], [0, 1, 1, 0, -1])
    """
    starts = offsets_of(lengths)
    sizes = [2 * length - 1 for length in lengths]
    offsets = offsets_of(sizes)
    parents = np.full(offsets[-1], -1, dtype=np.int32)
    matrices = np.full(offsets[-1], IDENTITY, dtype=np.int32)
    rows = np.full(offsets[-1], NO_WORD, dtype=np.int32)
    for k, pairs in enumerate(trees):
        first, length = int(offsets[k]), int(lengths[k])
        if len(pairs) != length - 1:
            raise DataError(f"a binary tree over {length} words has {length - 1} inner nodes, got {len(pairs)}")
        rows[first : first + length] = words[starts[k] : starts[k] + length]
        for number, (left, right) in enumerate(pairs):
            parents[first + left] = parents[first + right] = length + number
            matrices[first + left], matrices[first + right] = LEFT, RIGHT
    ones = np.ones(len(parents))
    return Structures.of(offsets, parents, rows, matrices, ones, ones.copy(), passes=True)


def binarized(heads: Heads) -> list[tuple[int, int]]:
    """A dependency tree as a binary tree: a head joins its children on the right, nearest first, then on the left.

    The constituents are the subtrees of words, so the result stands for a binarized phrase structure. Children that
    cross others are joined all the same.

    >>> binarized(np.array([2, 0, 2]))
    [(1, 2), (0, 3)]
    """
    length = len(heads)
    parents, sizes = np.zeros(length, dtype=np.int32), np.zeros(length, dtype=np.int32)
    if _parents(np.array([0, length], dtype=np.int64), np.asarray(heads, dtype=np.int32), parents, sizes) >= 0:
        raise DataError("the heads do not make a tree")
    children: list[list[int]] = [[] for _ in range(length)]
    for child, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(child)
    pairs: list[tuple[int, int]] = []
    node = list(range(length))
    order = sorted(range(length), key=lambda i: sizes[i])
    for i in order:
        for child in [j for j in children[i] if j > i] + [j for j in reversed(children[i]) if j < i]:
            pairs.append((node[i], node[child]) if child > i else (node[child], node[i]))
            node[i] = length + len(pairs) - 1
    return pairs


def _flat(heads: Sequence[Heads]) -> Ids:
    found: Ids = np.concatenate([np.zeros(0, dtype=np.int32), *heads]).astype(np.int32)
    return found


@kernel
def _positions(offsets: Ints, heads: Ids, ranks: Ids) -> None:
    seen = np.zeros(len(heads) + 1, dtype=np.int32)
    for k in range(len(offsets) - 1):
        first, end = offsets[k], offsets[k + 1]
        seen[: end - first + 1] = 0
        for i in range(first, end):
            head = heads[i]
            if 0 < head <= i - first:
                seen[head] += 1
                ranks[i] = seen[head]
        seen[: end - first + 1] = 0
        for i in range(end - 1, first - 1, -1):
            head = heads[i]
            if head > i - first + 1:
                seen[head] += 1
                ranks[i] = -seen[head]


@kernel
def _parents(offsets: Ints, heads: Ids, parents: Ids, sizes: Ids) -> int:
    """Fill in parents within sentences and sizes of subtrees; the first sentence that is no tree, else -1."""
    for k in range(len(offsets) - 1):
        first, end = offsets[k], offsets[k + 1]
        root = -1
        for i in range(first, end):
            head = heads[i]
            if head < 0 or head > end - first:
                return k
            if head == 0:
                parents[i] = -1 if root < 0 else root
                root = i - first if root < 0 else root
            else:
                parents[i] = head - 1
        if root < 0:
            return k
        for i in range(first, end):
            node, steps = i, 0
            sizes[node] += 1
            while parents[node] >= 0:
                node = first + parents[node]
                sizes[node] += 1
                steps += 1
                if steps > end - first:
                    return k
    return -1
