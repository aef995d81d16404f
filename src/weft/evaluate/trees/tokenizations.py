"""Align the words of two tokenizations of one text, as defined by the CoNLL 2018 shared task.

Words are located by their first and last character, ignoring whitespace, and processed in order of their first
character, gold before system. Two plain words at the same location are aligned. The words of a multiword token have no
location of their own: they open a *region*, the smallest stretch of text that cuts through no multiword token of either
side. The words inside a region are aligned by the longest common subsequence of their lower-cased forms,

    L(i, j) = 1 + L(i+1, j+1) if form i = form j, else max(L(i+1, j), L(i, j+1)).

Whether a word that extends beyond a region belongs to it follows the order of traversal in the shared task's scorer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints


@dataclass(frozen=True)
class Words:
    """Words in text order: offsets without whitespace, whether they are part of a multiword token, forms."""

    start: Ints
    end: Ints
    multiword: NDArray[np.bool_]
    form: list[str]

    @classmethod
    def of(cls, start: list[int], end: list[int], multiword: list[bool], form: list[str]) -> Words:
        """Words from lists."""
        return cls(np.array(start, np.int64), np.array(end, np.int64), np.array(multiword, np.bool_), form)

    def __len__(self) -> int:
        return len(self.start)


def align_words(gold: Words, system: Words) -> tuple[Ints, Ints]:
    """The aligned pairs in text order, as indices of gold words and of system words.

    >>> gold = Words.of([0, 3, 3], [3, 5, 5], [False, True, True], ["vis", "de", "le"])
    >>> system = Words.of([0, 3], [3, 5], [False, False], ["vis", "le"])
    >>> [pair.tolist() for pair in align_words(gold, system)]
    [[0, 2], [0, 1]]
    """
    start = np.concatenate([gold.start, system.start])
    is_gold = (np.argsort(start, kind="stable") < len(gold)).tolist()
    multiword, their_multiword = gold.multiword.tolist(), system.multiword.tolist()
    place = list(zip(gold.start.tolist(), gold.end.tolist(), strict=True))
    their_place = list(zip(system.start.tolist(), system.end.tolist(), strict=True))
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if multiword[g] or their_multiword[s]:
            first_g, first_s, g, s = _region(gold, system, is_gold, g, s)
            forms = [form.lower() for form in gold.form[first_g:g]], [form.lower() for form in system.form[first_s:s]]
            pairs.extend((first_g + i, first_s + j) for i, j in longest_common_subsequence(*forms))
        elif place[g] == their_place[s]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif is_gold[g + s]:
            g += 1
        else:
            s += 1
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def longest_common_subsequence(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    """Positions of a longest common subsequence, as pairs.

    >>> longest_common_subsequence(["a", "b", "c"], ["b", "x", "c", "a"])
    [(1, 0), (2, 2)]
    """
    longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            if one[i] == other[j]:
                longest[i][j] = 1 + longest[i + 1][j + 1]
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while longest[i][j]:
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] == longest[i][j]:
            i += 1
        else:
            j += 1
    return pairs


def _region(gold: Words, system: Words, is_gold: list[bool], g: int, s: int) -> tuple[int, int, int, int]:
    """Start and end of the region that a multiword token at `g` or `s` opens, on both sides.

    `is_gold[g + s]` gives the side of the next word after `g` gold and `s` system words.
    """
    sides = (gold, system)
    opener, at, other, other_at = (gold, g, system, s) if gold.multiword[g] else (system, s, gold, g)
    end = int(opener.end[at])
    taken = [g, s]
    # Of the words that begin before the multiword token only the next one is excluded, as in the task's scorer.
    if not other.multiword[other_at] and other.start[other_at] < opener.start[at]:
        taken[1 if other is system else 0] += 1
    first = tuple(taken)
    while _is_inside(gold, taken[0], end) or _is_inside(system, taken[1], end):
        side = 0 if is_gold[sum(taken)] else 1
        words, i = sides[side], taken[side]
        if words.multiword[i]:
            end = max(end, int(words.end[i]))
        taken[side] += 1
    return first[0], first[1], taken[0], taken[1]


def _is_inside(words: Words, i: int, end: int) -> bool:
    """Whether word `i` belongs to a region that ends at `end`; a multiword token need only begin there."""
    return i < len(words) and bool(words.start[i] < end if words.multiword[i] else words.end[i] <= end)
