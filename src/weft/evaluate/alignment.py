"""Which words of two tokenisations of one text are the same words, as the CoNLL 2018 shared task defines it.

Words are aligned by equal offsets. Where either side has a multiword token, whose words have no offsets of their own,
the words of the smallest region around it are aligned by the longest common subsequence of their lower-cased forms:

    L(i, j) = 1 + L(i+1, j+1) if form i = form j, else max(L(i+1, j), L(i, j+1))
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.evaluate.counts import Integers


@dataclass
class Words:
    """Words in the order of the text: offsets without blanks, whether they are part of a multiword token, forms."""

    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    multiword: list[bool] = field(default_factory=list)
    form: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.start)


def align_words(gold: Words, system: Words) -> tuple[Integers, Integers]:
    """The aligned pairs, as numbers of gold words and of system words.

    >>> gold = Words([0, 3, 3], [3, 5, 5], [False, True, True], ["vis", "de", "le"])
    >>> system = Words([0, 3], [3, 5], [False, False], ["vis", "le"])
    >>> [pair.tolist() for pair in align_words(gold, system)]
    [[0, 2], [0, 1]]
    """
    pairs: list[tuple[int, int]] = []
    g, s, n_gold, n_system = 0, 0, len(gold), len(system)
    while g < n_gold and s < n_system:
        if gold.multiword[g] or system.multiword[s]:
            first_g, first_s, g, s = _multiword_region(gold, system, g, s)
            pairs.extend(_common_words(gold.form, system.form, first_g, g, first_s, s))
        elif gold.start[g] == system.start[s] and gold.end[g] == system.end[s]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif gold.start[g] <= system.start[s]:
            g += 1
        else:
            s += 1
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def _multiword_region(gold: Words, system: Words, g: int, s: int) -> tuple[int, int, int, int]:
    """First and end word of the smallest region around a multiword token at `g` or `s`, on both sides."""
    if gold.multiword[g]:
        end = gold.end[g]
        # The definition passes over one plain word that began earlier; a second one, however odd, joins the region.
        s += not system.multiword[s] and system.start[s] < gold.start[g]
    else:
        end = system.end[s]
        g += not gold.multiword[g] and gold.start[g] < system.start[s]
    first_g, first_s = g, s

    def inside(words: Words, i: int) -> bool:
        if i >= len(words):
            return False
        return words.start[i] < end if words.multiword[i] else words.end[i] <= end

    while inside(gold, g) or inside(system, s):
        if g < len(gold) and (s >= len(system) or gold.start[g] <= system.start[s]):
            end = max(end, gold.end[g]) if gold.multiword[g] else end
            g += 1
        else:
            end = max(end, system.end[s]) if system.multiword[s] else end
            s += 1
    return first_g, first_s, g, s


def _common_words(
    gold: list[str], system: list[str], first_g: int, end_g: int, first_s: int, end_s: int
) -> list[tuple[int, int]]:
    """Pairs of a longest common subsequence of lower-cased forms, earliest gold words first."""
    ours = [form.lower() for form in gold[first_g:end_g]]
    theirs = [form.lower() for form in system[first_s:end_s]]
    longest = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in range(len(ours) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            if ours[i] == theirs[j]:
                longest[i][j] = 1 + longest[i + 1][j + 1]
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            pairs.append((first_g + i, first_s + j))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
