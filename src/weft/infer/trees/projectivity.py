"""Projective trees: tests, projectivization, and labels that remember what was lifted.

A tree is projective when every word between a head and its dependent is dominated by the head. `lift` makes a tree
projective by moving the dependents of the shortest crossing arcs up to their head's head (Nivre & Nilsson 2005);
`projective_order` moves words instead, so that the same tree does not cross (McDonald, Crammer & Pereira 2005). With
`encode` a lifted word's label also tells the label of its old head (`nmod^obj`), so that `decode` finds, below the new
head, the nearest word with that label and hangs it there again.
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


def encode(heads: NDArray[np.int32], labels: Sequence[str]) -> tuple[Heads, list[str]]:
    """The lifted tree, with the old heads' labels in the labels of lifted words.

    >>> heads, labels = encode(np.array([3, 4, 0, 3], np.int32), ["a", "b", "root", "c"])
    >>> heads.tolist(), labels
    ([3, 3, 0, 3], ['a', 'b^c', 'root', 'c'])
    """
    lifted = lift(heads)
    marked = list(labels)
    for word in np.flatnonzero(lifted != heads).tolist():
        marked[word] = f"{labels[word]}{MARK}{labels[heads[word] - 1]}"
    return lifted, marked


def decode(heads: NDArray[np.int32], labels: Sequence[str]) -> tuple[Heads, list[str]]:
    """The tree with words of marked labels attached to the nearest word below their head with the old head's label.

    >>> heads, labels = decode(np.array([3, 3, 0, 3], np.int32), ["a", "b^c", "root", "c"])
    >>> heads.tolist(), labels
    ([3, 4, 0, 3], ['a', 'b', 'root', 'c'])
    """
    found = np.array(heads, dtype=np.int32)
    plain = [label.split(MARK, 1)[0] for label in labels]
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads.tolist(), start=1):
        children[head].append(word)
    for word, label in enumerate(labels, start=1):
        if MARK not in label:
            continue
        wanted = label.split(MARK, 1)[1]
        queue = deque(child for child in children[int(heads[word - 1])] if child != word)
        while queue:
            at = queue.popleft()
            if plain[at - 1] == wanted:
                found[word - 1] = at
                if not is_tree(found):
                    found[word - 1] = heads[word - 1]
                    queue.extend(child for child in children[at] if child != word)
                    continue
                break
            queue.extend(child for child in children[at] if child != word)
    return found, plain
