"""Levels of nested spans: each level is flat, and a span comes after all spans that contain it.

    level(s) = 0 if no longer span shares a word with s, else 1 + the highest level of those that do

Spans are taken from the longest to the shortest. Two labels of the same words, and spans that cross, go to levels of
their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.text.schemes import Chunk


def levels_of(spans: Sequence[Chunk]) -> list[int]:
    """The level of every span `(start, end, label)`.

    >>> levels_of([(0, 5, "ORG"), (3, 5, "LOC"), (0, 1, "ORG"), (6, 7, "PER")])
    [0, 1, 1, 0]
    """
    order = sorted(range(len(spans)), key=lambda i: (spans[i][0] - spans[i][1], spans[i]))
    level = [0] * len(spans)
    taken: dict[int, int] = {}  # word: one past the highest level that has it
    for i in order:
        start, end, _ = spans[i]
        level[i] = max(taken.get(word, 0) for word in range(start, end))
        for word in range(start, end):
            taken[word] = level[i] + 1
    return level
