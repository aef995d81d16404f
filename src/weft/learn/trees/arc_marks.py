"""Marks: what is known of arcs besides their words, for templates to name (`a.1|h.t|m.t`).

A mark is a number other than 0 where something holds of an arc: a tree has it, both of its words are of some kind, or
both stand in the same stretch of words. Rows are the arcs of a space. Marks of another parser's arcs, and of arcs that
cross them, are made by `weft.tasks.parsing.guides`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Heads, Keys
from weft.hashing import hash_string
from weft.infer.trees.arcs import ArcSpace

_MARK = np.uint64(hash_string("mark"))


def marks_of(*columns: Bools) -> Keys:
    """A table of marks [arc, column] from what holds of arcs.

    >>> (marks_of(np.array([True, False]), np.array([True, True])) != 0).tolist()
    [[True, True], [False, True]]
    """
    return np.stack([np.where(column, _MARK, np.uint64(0)) for column in columns], axis=1)


def has_arc(space: ArcSpace, heads: Heads) -> Bools:
    """Which arcs a tree has; a head of -1 is none.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> space = all_arcs([0, 2])
    >>> has_arc(space, np.array([2, 0])).tolist() == ((space.head == 0) == (space.modifier == 2)).tolist()
    True
    """
    return np.asarray(heads)[space.word] == space.head


def both(space: ArcSpace, words: Bools) -> Bools:
    """Which arcs join two words of a kind, the root being none.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> int(both(all_arcs([0, 3]), np.array([True, False, True])).sum())
    2
    """
    return words[space.word] & (space.head > 0) & words[_head_word(space)]


def same_stretch(space: ArcSpace, stretch: NDArray[np.int64]) -> Bools:
    """Which arcs join two words of the same stretch, given by its number; words of -1 are in none.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> int(same_stretch(all_arcs([0, 3]), np.array([0, 0, -1])).sum())
    2
    """
    own, other = stretch[space.word], stretch[_head_word(space)]
    return (space.head > 0) & (own >= 0) & (own == other)


def _head_word(space: ArcSpace) -> NDArray[np.int64]:
    """The head of every arc as a word of the batch; for the root, the modifier."""
    first = space.word - (space.modifier - 1)
    return np.where(space.head > 0, first + space.head - 1, space.word)
