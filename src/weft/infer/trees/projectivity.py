"""Projective trees: tests, projectivization, and labels that remember what was lifted.

A tree is projective when every word between a head and its dependent is dominated by the head. `lift` makes a tree
projective by moving the dependents of the shortest crossing arcs up to their head's head (Nivre & Nilsson 2005);
`projective_order` moves words instead, so that the same tree does not cross (McDonald, Crammer & Pereira 2005). With
`encode` a lifted word's label also tells the label of its old head (`nmod^obj`), so that `decode` finds, below the new
head, the nearest word with that label and attaches it there again; with paths (head+path of Nivre & Nilsson 2005), the
labels of the words on the way are marked as well (`obj>`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Heads
from weft.kernel import kernel

#: Stands between the label of a lifted word and that of its old head.
MARK = "^"
#: Ends the label of a word on the path from the new head of a lifted word to its old one.
PATH = ">"


@kernel
def _is_tree(heads: Heads, mark: Heads) -> bool:
    """`mark` has one zero more than there are words; words on a path that reached ROOT are marked."""
    n = len(heads)
    for word in range(1, n + 1):
        at = word
        while at > 0 and mark[at] == 0:
            mark[at] = -word
            at = heads[at - 1]
            if at < 0 or at > n:
                return False
        if at > 0 and mark[at] == -word:
            return False
        at = word
        while at > 0 and mark[at] == -word:
            mark[at] = 1
            at = heads[at - 1]
    return True


def is_tree(heads: NDArray[np.int32]) -> bool:
    """Whether every word descends from ROOT: no head missing, no cycle.

    >>> is_tree(np.array([2, 0, 2], np.int32)), is_tree(np.array([2, 1, 0], np.int32)), is_tree(np.array([-1], np.int32))
    (True, False, False)
    """  # noqa: E501
    return bool(_is_tree(np.ascontiguousarray(heads, np.int32), np.zeros(len(heads) + 1, np.int32)))


@kernel
def _shortest_crossing(heads: Heads) -> int:
    """The dependent of the shortest arc over a word that its head does not dominate, 0 if there is none."""
    n = len(heads)
    found, length = 0, n + 2
    for word in range(1, n + 1):
        head = heads[word - 1]
        low, high = min(word, head), max(word, head)
        if high - low >= length:
            continue
        for inside in range(low + 1, high):
            at = inside
            while at > 0 and at != head:
                at = heads[at - 1]
            if at != head:
                found, length = word, high - low
                break
    return found


def is_projective(heads: NDArray[np.int32]) -> bool:
    """Whether a tree is projective.

    >>> is_projective(np.array([2, 0, 2], np.int32)), is_projective(np.array([3, 4, 0, 3], np.int32))
    (True, False)
    """
    return _shortest_crossing(np.ascontiguousarray(heads, np.int32)) == 0


@kernel
def _mark_nonprojective(heads: Heads, found: NDArray[np.bool_]) -> None:
    for word in range(1, len(heads) + 1):
        head = heads[word - 1]
        for inside in range(min(word, head) + 1, max(word, head)):
            at = inside
            while at > 0 and at != head:
                at = heads[at - 1]
            if at != head:
                found[word - 1] = True
                break


def nonprojective_arcs(heads: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which words of a tree attach to a head that does not dominate every word between the two.

    >>> nonprojective_arcs(np.array([3, 4, 0, 3], np.int32)).tolist()
    [False, True, False, False]
    """
    found = np.zeros(len(heads), np.bool_)
    _mark_nonprojective(np.ascontiguousarray(heads, np.int32), found)
    return found


def lift(heads: NDArray[np.int32]) -> Heads:
    """The projective tree that lifting the shortest crossing arcs first gives.

    >>> lift(np.array([3, 4, 0, 3], np.int32)).tolist()
    [3, 3, 0, 3]
    """
    lifted = np.array(heads, dtype=np.int32)
    while True:
        word = _shortest_crossing(lifted)
        if word == 0:
            return lifted
        lifted[word - 1] = lifted[lifted[word - 1] - 1]


def projective_order(heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """The words of a tree, counted from 0, in the order in which it is projective: every head stands between its
    dependents to the left and to the right, and all descendants of a word stand with it.

    >>> projective_order(np.array([3, 4, 0, 3], np.int32)).tolist()  # 2 moves next to its head 4
    [0, 2, 1, 3]
    """
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads.tolist(), start=1):
        children[head].append(word)
    order: list[int] = []
    waiting = [(0, True)]
    while waiting:
        word, closed = waiting.pop()
        if not closed:
            order.append(word - 1)
            continue
        left = [(child, True) for child in children[word] if child < word]
        right = [(child, True) for child in children[word] if child > word]
        waiting += reversed([*left, *([(word, False)] if word else []), *right])
    return np.array(order, dtype=np.int64)


def reorder_heads(heads: NDArray[np.int32], order: NDArray[np.int64]) -> Heads:
    """The heads of words in another order.

    >>> reorder_heads(np.array([3, 4, 0, 3], np.int32), np.array([0, 2, 1, 3])).tolist()
    [2, 0, 4, 2]
    """
    place = np.zeros(len(heads) + 1, dtype=np.int32)
    place[order + 1] = np.arange(1, len(heads) + 1)
    return place[np.asarray(heads)[order]]


def mirrored(sentences: NDArray[np.int64]) -> NDArray[np.int64]:
    """The words of a batch, counted from 0, with the words of every sentence from right to left.

    >>> mirrored(np.array([0, 3, 5])).tolist()
    [2, 1, 0, 4, 3]
    """
    lengths = np.diff(sentences)
    return np.repeat(sentences[:-1] + sentences[1:] - 1, lengths) - np.arange(int(sentences[-1]))


def mirror(
    heads: NDArray[np.int32], labels: NDArray[np.int32], sentences: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The heads and labels of a batch after all its sentences are written from right to left.

    >>> heads, labels = mirror(np.array([2, 0, 2, 0]), np.array([5, 6, 7, 8]), np.array([0, 3, 4]))
    >>> heads.tolist(), labels.tolist()
    ([2, 0, 2, 0], [7, 6, 5, 8])
    """
    order = mirrored(sentences)
    turned = np.where(heads > 0, np.repeat(np.diff(sentences), np.diff(sentences)) + 1 - heads, heads)
    return turned[order].astype(np.int32), labels[order]


def encode(heads: NDArray[np.int32], labels: Sequence[str], path: bool = False) -> tuple[Heads, list[str]]:
    """The lifted tree, with the old heads' labels in the labels of lifted words.

    With `path`, the words between the new and the old head of a lifted word are marked too.

    >>> heads, labels = encode(np.array([3, 4, 0, 3], np.int32), ["a", "b", "root", "c"])
    >>> heads.tolist(), labels
    ([3, 3, 0, 3], ['a', 'b^c', 'root', 'c'])
    >>> encode(np.array([3, 4, 0, 3], np.int32), ["a", "b", "root", "c"], path=True)[1]
    ['a', 'b^c', 'root', 'c>']
    """
    lifted = lift(heads)
    marked = list(labels)
    passed: set[int] = set()
    for word in np.flatnonzero(lifted != heads).tolist():
        marked[word] = f"{labels[word]}{MARK}{labels[heads[word] - 1]}"
        at = int(heads[word])
        while path and at not in (0, lifted[word]):
            passed.add(at - 1)
            at = int(lifted[at - 1])
    return lifted, [label + PATH * (word in passed) for word, label in enumerate(marked)]


def decode(heads: NDArray[np.int32], labels: Sequence[str], path: bool = False) -> tuple[Heads, list[str]]:
    """The tree with words of marked labels attached to the nearest word below their head with the old head's label.

    With `path`, only marked words are gone through; ends of paths are preferred to words on the way, and arcs that
    cross to others.

    >>> heads, labels = decode(np.array([3, 3, 0, 3], np.int32), ["a", "b^c", "root", "c"])
    >>> heads.tolist(), labels
    ([3, 4, 0, 3], ['a', 'b', 'root', 'c'])
    >>> decode(np.array([3, 3, 0, 3, 3], np.int32), ["a", "b^c", "root", "c", "c>"], path=True)[0].tolist()
    [3, 5, 0, 3, 3]
    """
    marks = _Marks(heads, labels, path)
    restored = np.array(heads, dtype=np.int32)
    for word in marks.wanted:
        marks.attach(restored, word)
    if path:  # arcs that do not cross were not lifted: their words have another head
        for word in marks.wanted:
            if restored[word - 1] != heads[word - 1] and not nonprojective_arcs(restored)[word - 1]:
                marks.attach(restored, word, crossing=True)
    return restored, marks.plain


class _Marks:
    """A lifted tree with what its labels say: plain labels, wanted heads of lifted words, words on paths."""

    def __init__(self, heads: NDArray[np.int32], labels: Sequence[str], path: bool) -> None:
        self.heads, self.path = heads.tolist(), path
        self.on_path = [path and label.endswith(PATH) for label in labels]
        bare = [
            label.removesuffix(PATH) if marked else label for label, marked in zip(labels, self.on_path, strict=True)
        ]
        self.plain = [label.split(MARK, 1)[0] for label in bare]
        self.wanted = {word: label.split(MARK, 1)[1] for word, label in enumerate(bare, start=1) if MARK in label}
        self.children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
        for word, head in enumerate(self.heads, start=1):
            self.children[head].append(word)

    def attach(self, restored: Heads, word: int, crossing: bool = False) -> None:
        """Give a lifted word the first head that its label allows and that makes a tree; or whose arc crosses, too."""
        present = restored[word - 1]
        for at in self.by_path(word) if self.path else self.below(self.heads[word - 1], word):
            if self.plain[at - 1] == self.wanted[word]:
                restored[word - 1] = at
                if is_tree(restored) and not (crossing and not nonprojective_arcs(restored)[word - 1]):
                    return
        restored[word - 1] = present

    def below(self, head: int, word: int, marked: bool = False) -> list[int]:
        """The words below a head, nearest first, without a word and what is below it; only along marked words."""
        queue, found = deque([head]), []
        while queue:
            steps = [c for c in self.children[queue.popleft()] if c != word and (not marked or self.on_path[c - 1])]
            found += steps
            queue.extend(steps)
        return found

    def by_path(self, word: int) -> list[int]:
        """Marked words below the head of a lifted word: ends of paths first, then those before it, then near ones.

        A path ends at a word without marked children, or whose marked children are the beginning of other paths, which
        lead to the heads of words that were lifted to it. A head that was lifted itself may not be below the new head:
        what is below the words above that comes last.
        """
        found: list[int] = []
        head = self.heads[word - 1]
        while True:
            more = [at for at in self.below(head, word, marked=True) if at not in found]
            found += sorted(more, key=lambda at: (not self._ends(at, word), at > word, abs(at - word)))
            if head == 0:
                return found
            head = self.heads[head - 1]

    def _ends(self, at: int, word: int) -> bool:
        children = [child for child in self.children[at] if child != word]
        return not any(self.on_path[child - 1] for child in children) or any(child in self.wanted for child in children)
