"""Structures that recursive networks compose, and batches of them whose nodes are sorted by height.

A node adds up its own word and its children, each through a matrix, with a factor:

    a_i = s_i W_v x_i + sum over children j of  c_j W_m(j) h_j

Dependency trees, binary trees and chains differ in words, matrices and factors only. A batch holds the nodes of one
height next to each other, and the edges of one matrix within a height, so that a network needs one matrix product per
height and matrix, however many sentences there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import DataError
from weft.kernel import kernel

#: As the matrix of an edge: the identity, which is not learned.
IDENTITY = -1
#: As the word of a node: none.
NO_WORD = -1


@dataclass(frozen=True)
class Structures:
    """Many structures; every node but the root of each has one parent.

    `parents` counts within the structure (-1 for its root). `passes` says that nodes without children are their word
    vectors, unchanged, as in binary trees.
    """

    offsets: Ints  #: first node of each structure, and one more
    parents: Ids
    words: Ids  #: row of the word vectors, or NO_WORD
    matrices: Ids  #: of the edge to the parent
    shares: Floats  #: the factor of the word
    factors: Floats  #: the factor of the edge to the parent
    heights: Ids
    roots: Ids
    passes: bool = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(
        cls,
        offsets: Ints,
        parents: Ids,
        words: Ids,
        matrices: Ids,
        shares: Floats,
        factors: Floats,
        passes: bool = False,
    ) -> Structures:
        """Structures from their parents; heights and roots follow."""
        heights, roots = np.zeros(len(parents), dtype=np.int32), np.zeros(len(offsets) - 1, dtype=np.int32)
        wrong = _heights(offsets, parents, heights, roots)
        if wrong >= 0:
            raise DataError(f"structure {wrong} is not a tree: it needs one root and no cycles")
        return cls(offsets, parents, words, matrices, shares, factors, heights, roots, passes)

    def batch(self, chosen: Ints | Sequence[int] | None = None) -> Batch:
        """A batch of all structures, or of those with the chosen numbers, in that order."""
        picked = np.arange(len(self)) if chosen is None else np.asarray(chosen, dtype=np.int64)
        starts, sizes = self.offsets[picked], self.offsets[picked + 1] - self.offsets[picked]
        first = np.concatenate([[0], np.cumsum(sizes)])
        nodes = np.repeat(starts - first[:-1], sizes) + np.arange(first[-1])
        order = np.argsort(self.heights[nodes], kind="stable")
        place = np.empty(len(nodes), dtype=np.int64)
        place[order] = np.arange(len(nodes))
        base = np.repeat(first[:-1], sizes)
        parents = self.parents[nodes]
        children = np.flatnonzero(parents >= 0)
        above = place[base[children] + parents[children]]
        levels = self.heights[nodes][order]
        matrices = self.matrices[nodes[children]]
        by_level = np.lexsort((matrices, levels[above]))
        children, above, matrices = children[by_level], above[by_level], matrices[by_level]
        return Batch(
            self.words[nodes][order], self.shares[nodes][order], place[children], above, matrices,
            self.factors[nodes[children]], place[first[:-1] + self.roots[picked]],
            _runs(levels), _groups(levels[above], matrices), self.passes,
        )  # fmt: skip


class Group(NamedTuple):
    """Edges of one matrix to parents of one height: from `first` to before `end`."""

    matrix: int
    first: int
    end: int


@dataclass(frozen=True)
class Batch:
    """Nodes sorted by height, edges by the height of their parents and by matrix."""

    words: Ids
    shares: Floats
    children: Ints  #: of each edge
    parents: Ints
    matrices: Ids
    factors: Floats
    roots: Ints
    levels: list[tuple[int, int]]  #: the nodes of each height
    groups: list[list[Group]]  #: the edges to nodes of each height
    passes: bool

    @property
    def nodes(self) -> int:
        return len(self.words)


def _runs(levels: Ids) -> list[tuple[int, int]]:
    """First and end of the nodes of every height.

    >>> _runs(np.array([0, 0, 1], dtype=np.int32))
    [(0, 2), (2, 3)]
    """
    if not len(levels):
        return []
    ends = np.searchsorted(levels, np.arange(levels[-1] + 1), side="right").tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _groups(levels: Ids, matrices: Ids) -> list[list[Group]]:
    """The groups of edges by height; those of height 0 have none."""
    if not len(levels):
        return [[]]
    found: list[list[Group]] = [[] for _ in range(int(levels[-1]) + 1)]
    change = np.flatnonzero((levels[1:] != levels[:-1]) | (matrices[1:] != matrices[:-1])) + 1
    bounds = [0, *change.tolist(), len(levels)]
    for first, end in pairwise(bounds):
        found[levels[first]].append(Group(int(matrices[first]), first, end))
    return found


@kernel
def _heights(offsets: Ints, parents: Ids, heights: Ids, roots: Ids) -> int:
    """Fill in heights and roots; the number of the first structure that is no tree, else -1."""
    for k in range(len(offsets) - 1):
        first, end = offsets[k], offsets[k + 1]
        found = 0
        for i in range(first, end):
            if parents[i] < 0:
                roots[k] = i - first
                found += 1
        if found != 1:
            return k
        for i in range(first, end):
            node, height = i, 0
            while parents[node] >= 0:
                node = first + parents[node]
                height += 1
                if height > end - first:
                    return k
                if heights[node] < height:
                    heights[node] = height
    return -1
