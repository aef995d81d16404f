"""Arcs of a batch of sentences and the parts of trees above them, numbered once for all tree structures.

Sentence `s` has the words `offsets[s]:offsets[s + 1]`, numbered 1..n inside the sentence; 0 is ROOT. Its nodes 0..n
stand at `offsets[s] + s` and following. A space lists the arcs (head, modifier) that trees may use, grouped by head;
within a head first those to the left, then those to the right, each from the head outwards. Above arcs stand

    sibling         (h, m, s)      s the next child of h between h and m, or none: the first on its side
    grand-arc       (g, h, m)      g the head of h; ROOT has one virtual head
    grand-sibling   (g, h, m, s)   both
    tri-sibling     (h, m, s, t)   and t the next child of h between h and s, or none

so that an arc of rank r on its side (0: nearest to the head) has r + 1 sibling parts: none first, then the arcs of rank
0 .. r - 1. Every kind of part has its own numbers, from 0, and scores of parts are arrays in this order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.infer.parts import ArrayParts
from weft.kernel import kernel
from weft.ragged import Indices, States, check_offsets, check_shape, one_block

__all__ = ["ArcSpace", "HeadDecisions", "TreeParts", "all_arcs"]


def _none() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, slots=True)
class TreeParts(ArrayParts):
    """One number per part; the arrays of kinds of parts that a model lacks are empty.

    >>> parts = TreeParts(np.ones(3))
    >>> (parts + parts).scale(0.25).inner(parts)
    1.5
    """

    numbers = ("arc", "sibling", "grand", "tri", "grand_arc", "crossed")

    arc: Floats
    sibling: Floats = field(default_factory=_none)
    grand: Floats = field(default_factory=_none)
    tri: Floats = field(default_factory=_none)
    grand_arc: Floats = field(default_factory=_none)
    crossed: Floats = field(default_factory=_none)


@dataclass(frozen=True, slots=True)
class HeadDecisions:
    """Trees whose score is a sum over arcs as decisions of single words: `decision` is the word that an arc leads to,
    `score` its score, and `gold` the arc into every word of the gold trees.

    >>> decisions = HeadDecisions(np.array([0, 1, 1, 0]), np.zeros(4), np.array([0, 2]))
    >>> decisions.exchange(1).arc.tolist()  # the gold arc into the second word, 2, for arc 1
    [0.0, -1.0, 1.0, 0.0]
    """

    decision: Indices
    score: Floats
    gold: Indices

    def exchange(self, alternative: int) -> TreeParts:
        """Parts that are 1 for the gold arc of a word and -1 for another arc into it."""
        numbers = np.zeros(len(self.score))
        numbers[self.gold[self.decision[alternative]]], numbers[alternative] = 1.0, -1.0
        return TreeParts(numbers)


class ArcSpace:
    """The arcs that trees of a batch may use.

    >>> space = ArcSpace([0, 2], head=[0, 0, 1, 2], modifier=[1, 2, 2, 1])
    >>> list(zip(space.head.tolist(), space.modifier.tolist()))
    [(0, 1), (0, 2), (1, 2), (2, 1)]
    >>> space.n_siblings, space.n_grands  # (0, 2) may have the sibling 1 or none
    (5, 7)
    >>> space.arcs_of(np.array([0, 1])).tolist()  # of the tree 0 -> 1 -> 2
    [0, 2]
    """

    __slots__ = (
        "first", "grand_arcs", "grands", "head", "into", "into_first", "modifier", "node", "offsets", "rank", "right",
        "siblings", "tris",
    )  # fmt: skip

    #: Words of sentences.
    offsets: Indices
    #: Local head and modifier of every arc.
    head: States
    modifier: States
    #: Node of every arc's head, among the nodes of the batch.
    node: Indices
    #: Arcs of node v are `first[v]:first[v + 1]`; those to the right begin at `right[v]`.
    first: Indices
    right: Indices
    #: Number of arcs of the same head and side that are shorter.
    rank: States
    #: Arcs into node v, by rising head: `into[into_first[v]:into_first[v + 1]]`; none into ROOT.
    into: Indices
    into_first: Indices
    #: Sibling parts of arc a: `siblings[a]:siblings[a + 1]`.
    siblings: Indices
    #: Grand-arcs of node v begin at `grand_arcs[v]`: for each arc into v all arcs out of v.
    grand_arcs: Indices
    #: Grand-sibling parts of node v begin at `grands[v]`: for each arc into v the sibling parts of all arcs out of v.
    grands: Indices
    #: Tri-sibling parts of arc a: `tris[a]`: none; then for s of rank j: none, and t of rank 0 .. j - 1.
    tris: Indices

    def __init__(self, offsets: ArrayLike, head: ArrayLike, modifier: ArrayLike, sentence: ArrayLike | None = None):
        given = np.asarray(offsets)
        self.offsets = check_offsets(offsets, int(given[-1]) if given.size else 0)
        h, m = np.asarray(head, dtype=np.int32), np.asarray(modifier, dtype=np.int32)
        s = np.zeros(len(h), dtype=np.int64) if sentence is None else np.asarray(sentence, dtype=np.int64)
        check_shape(m, h.shape, "modifier")
        check_shape(s, h.shape, "sentence")
        sizes = np.diff(self.offsets)
        if len(h) and (s.min() < 0 or s.max() >= len(sizes)):
            raise InferenceError("an arc stands in a sentence that the batch does not have")
        if np.any((h < 0) | (h > sizes[s]) | (m < 1) | (m > sizes[s]) | (h == m)):
            raise InferenceError("an arc leads from 0..n to another word of 1..n")
        node = self.offsets[s] + s + h
        order = np.lexsort((np.abs(m - h), m > h, node))
        self.head, self.modifier, self.node = h[order], m[order], node[order]
        self._number()

    @classmethod
    def _sorted(cls, offsets: Indices, head: States, modifier: States, node: Indices) -> ArcSpace:
        """A space from arcs that are in order already."""
        space = cls.__new__(cls)
        space.offsets, space.head, space.modifier, space.node = offsets, head, modifier, node
        space._number()
        return space

    def _number(self) -> None:
        n_arcs, n_nodes = len(self.head), self.n_nodes
        same = np.flatnonzero(np.diff(self.node) == 0)
        if np.any(self.modifier[same] == self.modifier[same + 1]):
            raise InferenceError("an arc is listed twice")
        self.first, self.right = np.zeros(n_nodes + 1, np.int64), np.zeros(n_nodes, np.int64)
        self.into, self.into_first = np.zeros(n_arcs, np.int64), np.zeros(n_nodes + 1, np.int64)
        self.rank, self.siblings = np.zeros(n_arcs, np.int32), np.zeros(n_arcs + 1, np.int64)
        self.grands, self.tris = np.zeros(n_nodes + 1, np.int64), np.zeros(n_arcs + 1, np.int64)
        self.grand_arcs = np.zeros(n_nodes + 1, np.int64)
        _number(
            self.offsets, self.head, self.modifier, self.node, self.first, self.right, self.into, self.into_first,
            self.rank, self.siblings, self.grand_arcs, self.grands, self.tris,
        )  # fmt: skip

    def __len__(self) -> int:
        """Number of sentences."""
        return len(self.offsets) - 1

    @property
    def n_arcs(self) -> int:
        return len(self.head)

    @property
    def n_words(self) -> int:
        return int(self.offsets[-1])

    @property
    def longest(self) -> int:
        """Number of words of the longest sentence."""
        return int(np.diff(self.offsets).max(initial=0))

    @property
    def n_nodes(self) -> int:
        return int(self.offsets[-1]) + len(self.offsets) - 1

    @property
    def n_siblings(self) -> int:
        return int(self.siblings[-1])

    @property
    def n_grand_arcs(self) -> int:
        return int(self.grand_arcs[-1])

    @property
    def n_grands(self) -> int:
        return int(self.grands[-1])

    @property
    def n_tris(self) -> int:
        return int(self.tris[-1])

    @property
    def word(self) -> Indices:
        """The word that every arc leads to, among the words of the batch."""
        return self.offsets[self.sentence] + self.modifier - 1

    @property
    def sentence(self) -> Indices:
        """The sentence of every arc."""
        return np.searchsorted(self.node_offsets, self.node, side="right") - 1

    @property
    def node_offsets(self) -> Indices:
        """Nodes of sentences."""
        return self.offsets + np.arange(len(self.offsets))

    def arcs_of(self, heads: ArrayLike) -> Indices:
        """The arc into every word of trees; -1 if the space lacks it."""
        tree = np.asarray(heads, dtype=np.int32)
        check_shape(tree, (self.n_words,), "heads, one per word,")
        found = np.full(self.n_words, -1, dtype=np.int64)
        _arcs_of(self.offsets, one_block(tree, np.int32), self.head, self.into, self.into_first, found)
        return found

    def tree_arcs(self, heads: ArrayLike) -> Indices:
        """The arc into every word of trees that have no other arcs than those of the space."""
        arcs = self.arcs_of(heads)
        if np.any(arcs < 0):
            word = int(np.argmax(arcs < 0))
            raise InferenceError(f"word {word} of the batch (counting from 0) has a head that the space does not allow")
        return arcs

    def decisions(self, arc: Floats, heads: ArrayLike) -> HeadDecisions:
        """The decisions of all words for a head, given scores of arcs and the gold trees."""
        return HeadDecisions(self.word, arc, self.arcs_of(heads))

    def keep(self, mask: ArrayLike) -> ArcSpace:
        """The space with only the arcs of a mask."""
        kept = np.asarray(mask, dtype=np.bool_)
        check_shape(kept, (self.n_arcs,), "mask")
        return ArcSpace._sorted(self.offsets, self.head[kept], self.modifier[kept], self.node[kept])

    def cut(self, first: int, end: int) -> tuple[ArcSpace, slice]:
        """Sentences `first:end` as a space of their own, and which arcs they have here."""
        nodes = self.node_offsets
        arcs = slice(int(self.first[nodes[first]]), int(self.first[nodes[end]]))
        words = self.offsets[first : end + 1] - self.offsets[first]
        return ArcSpace._sorted(words, self.head[arcs], self.modifier[arcs], self.node[arcs] - nodes[first]), arcs

    def parts_of(self, heads: ArrayLike) -> tuple[Indices, Indices, Indices, Indices]:
        """The arc, sibling, grand-sibling and tri-sibling part of every word of trees.

        >>> space = all_arcs([0, 3])
        >>> arcs, siblings, _, _ = space.parts_of([0, 1, 1])  # 1 is the head of 2 and of 3
        >>> (space.head[arcs].tolist(), (siblings - space.siblings[arcs]).tolist())  # 3 has a sibling: that of rank 0
        ([0, 1, 1], [0, 0, 1])
        """
        arcs = self.tree_arcs(heads)
        found = np.zeros((3, self.n_words), dtype=np.int64)
        _parts_of(
            self.offsets, arcs, self.head, self.modifier, self.node, self.first, self.right, self.into, self.into_first,
            self.rank, self.siblings, self.grands, self.tris, found,
        )  # fmt: skip
        return arcs, found[0], found[1], found[2]


def all_arcs(offsets: ArrayLike) -> ArcSpace:
    """Every arc between different words, and every arc from ROOT.

    >>> all_arcs([0, 1, 3]).n_arcs
    5
    """
    given = np.asarray(offsets)
    words = check_offsets(offsets, int(given[-1]) if given.size else 0)
    sizes = np.diff(words)
    total = int((sizes * sizes).sum())
    head, modifier, node = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int64)
    _all_arcs(words, head, modifier, node)
    return ArcSpace._sorted(words, head, modifier, node)


@kernel
def _all_arcs(offsets: Indices, head: States, modifier: States, node: Indices) -> None:
    at = 0
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        for h in range(n + 1):
            for m in range(h - 1, 0, -1):
                head[at], modifier[at], node[at] = h, m, offsets[s] + s + h
                at += 1
            for m in range(h + 1, n + 1):
                head[at], modifier[at], node[at] = h, m, offsets[s] + s + h
                at += 1


@kernel
def _number(
    offsets: Indices, head: States, modifier: States, node: Indices, first: Indices, right: Indices, into: Indices,
    into_first: Indices, rank: States, siblings: Indices, grand_arcs: Indices, grands: Indices, tris: Indices,
) -> None:  # fmt: skip
    n_nodes, n_arcs = len(right), len(head)
    for a in range(n_arcs):
        first[node[a] + 1] += 1
        into_first[node[a] - head[a] + modifier[a] + 1] += 1
    for v in range(n_nodes):
        first[v + 1] += first[v]
        into_first[v + 1] += into_first[v]
    filled = into_first.copy()
    for a in range(n_arcs):
        target = node[a] - head[a] + modifier[a]
        into[filled[target]] = a
        filled[target] += 1
        alone = a == first[node[a]] or (modifier[a - 1] < head[a]) != (modifier[a] < head[a])
        rank[a] = 0 if alone else rank[a - 1] + 1
        siblings[a + 1] = siblings[a] + rank[a] + 1
        tris[a + 1] = tris[a] + 1 + rank[a] * (rank[a] + 1) // 2
    for v in range(n_nodes):
        right[v] = first[v]
        while right[v] < first[v + 1] and modifier[right[v]] < head[right[v]]:
            right[v] += 1
    for s in range(len(offsets) - 1):
        root = offsets[s] + s
        for v in range(root, offsets[s + 1] + s + 1):
            above = 1 if v == root else into_first[v + 1] - into_first[v]
            grand_arcs[v + 1] = grand_arcs[v] + above * (first[v + 1] - first[v])
            grands[v + 1] = grands[v] + above * (siblings[first[v + 1]] - siblings[first[v]])


@kernel
def _arcs_of(offsets: Indices, heads: States, head: States, into: Indices, into_first: Indices, found: Indices) -> None:
    for s in range(len(offsets) - 1):
        for w in range(offsets[s], offsets[s + 1]):
            for i in range(into_first[w + s + 1], into_first[w + s + 2]):
                if head[into[i]] == heads[w]:
                    found[w] = into[i]
                    break


@kernel
def _parts_of(
    offsets: Indices, arcs: Indices, head: States, modifier: States, node: Indices, first: Indices, right: Indices,
    into: Indices, into_first: Indices, rank: States, siblings: Indices, grands: Indices, tris: Indices,
    found: NDArray[np.int64],
) -> None:  # fmt: skip
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        for w in range(begin, end):
            a = arcs[w]
            h, m, v = head[a], modifier[a], node[a]
            step = 1 if m < h else -1
            near, next_near = -1, -1
            at = m + step
            while at != h:
                other = arcs[begin + at - 1]
                if head[other] == h:
                    if near < 0:
                        near = other
                    else:
                        next_near = other
                        break
                at += step
            part = siblings[a] + (0 if near < 0 else 1 + rank[near])
            found[0, w] = part
            above = 0
            if h > 0:
                up = arcs[begin + h - 1]
                while into[into_first[v] + above] != up:
                    above += 1
            width = siblings[first[v + 1]] - siblings[first[v]]
            found[1, w] = grands[v] + above * width + part - siblings[first[v]]
            third = 0
            if near >= 0:
                third = 1 + rank[near] * (rank[near] + 1) // 2 + (0 if next_near < 0 else 1 + rank[next_near])
            found[2, w] = tris[a] + third
