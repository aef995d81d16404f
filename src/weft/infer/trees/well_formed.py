"""Which spans of a dependency tree can be pieces of it: well-formed dependency structures (Shen et al. 2008).

For the heads d of a sentence, a span [i, j) of its words is

    fixed      one word h has its head outside; no other word has, and outside words have heads outside or h
    floating   several words C share one head outside; no other word has its head outside, and no outside word has
               its head inside: left floating if the head follows the span, right floating if it precedes it
    ill-formed neither

The roots of a span are the words whose heads are outside. An ill-formed span is used in spite of what it lacks: as if
it were fixed if it has one root, else as if it were floating, to the left or to the right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Heads, Ids, Ints
from weft.errors import InferenceError
from weft.kernel import inner_kernel, kernel

FIXED, LEFT, RIGHT, ILL_FORMED = 0, 1, 2, 3
CATEGORIES = ("fixed", "left floating", "right floating", "ill-formed")


def category(heads: ArrayLike, start: int, end: int) -> int:
    """The category of the span of words start ... end - 1; words count from 1 in heads, and 0 is the root.

    >>> heads = [2, 4, 4, 0, 4, 5]  # The President will visit in April
    >>> [CATEGORIES[category(heads, *span)] for span in [(0, 2), (0, 3), (4, 6), (1, 3)]]
    ['fixed', 'left floating', 'fixed', 'ill-formed']
    """
    tree = np.asarray(heads, np.int32)
    if not 0 <= start < end <= len(tree):
        raise InferenceError(f"a span of {len(tree)} words must have words; got {start} to {end}")
    spans = np.array([[start, end]], np.int32)
    return int(categories_of(tree, np.array([0, len(tree)]), np.zeros(1, np.int32), spans)[0])


def categories(heads: Heads, longest: int) -> tuple[Ids, Ids, Ids]:
    """Starts, ends and categories of all spans of a sentence of at most so many words.

    >>> start, end, kind = categories(np.array([2, 0], dtype=np.int32), 2)
    >>> list(zip(start.tolist(), end.tolist(), kind.tolist()))
    [(0, 1, 0), (0, 2, 0), (1, 2, 0)]
    """
    n = len(heads)
    spans = np.array([(i, j) for i in range(n) for j in range(i + 1, min(n, i + longest) + 1)], np.int32).reshape(-1, 2)
    return spans[:, 0], spans[:, 1], categories_of(heads, np.array([0, n]), np.zeros(len(spans), np.int32), spans)


def categories_of(heads: Heads, offsets: ArrayLike, sentence: Ids, spans: Ids) -> Ids:
    """The categories of spans of many sentences: rows of start and end within their sentence."""
    found = np.empty(len(spans), np.int32)
    ends = np.asarray(offsets, np.int64)
    _categories(np.asarray(heads, np.int32), ends, sentence.astype(np.int32), spans.astype(np.int32), found)
    return found


def roots_of(heads: ArrayLike, start: int, end: int) -> list[int]:
    """The words of a span whose heads are outside, counted from 0.

    >>> roots_of([2, 4, 4, 0], 0, 3)
    [1, 2]
    """
    tree = np.asarray(heads)
    return [k for k in range(start, end) if not start < tree[k] <= end]


@inner_kernel
def _category(heads: Heads, base: int, size: int, start: int, end: int) -> int:
    roots, root, shared, same = 0, -1, -1, True
    for k in range(start, end):
        head = int(heads[base + k]) - 1
        if not start <= head < end:
            if roots == 0:
                shared = head
            elif head != shared:
                same = False
            root = k
            roots += 1
    if roots == 0 or not same:
        return ILL_FORMED
    for k in range(size):
        head = int(heads[base + k]) - 1
        if not start <= k < end and start <= head < end and (roots > 1 or head != root):
            return ILL_FORMED
    if roots == 1:
        return FIXED
    if shared < 0:  # two words without a head
        return ILL_FORMED
    return LEFT if shared >= end else RIGHT


@kernel
def _categories(heads: Heads, offsets: Ints, sentence: Ids, spans: Ids, out: Ids) -> None:
    for i in range(len(spans)):
        base = offsets[sentence[i]]
        size = offsets[sentence[i] + 1] - base
        out[i] = _category(heads, base, size, spans[i, 0], spans[i, 1])
