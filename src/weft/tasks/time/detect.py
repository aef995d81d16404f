"""Time expressions in running text, found by the words that time phrases are made of.

A word is a *trigger* if right derivations of training phrases gave it a meaning at least as often as none; a year in
digits is one too. A span is a run of words known from phrases with a trigger in it, cut at both ends to words that have
begun and ended phrases. No annotated text is needed; words that the phrases never had are never found.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.arrays import Ints
from weft.tasks.time.tokens import Piece, pieces

#: Spans have at most this many words.
LONGEST = 9


def _is_year(piece: Piece) -> bool:
    return piece.number is not None and piece.number.digits == 4 and 1500 <= piece.number.value < 2100


def find_times(
    words: Sequence[str], language: str, vocabulary: dict[str, int], uses: Ints
) -> list[tuple[int, int]]:
    """Spans [start, end) of words that look like time expressions.

    >>> import numpy as np
    >>> vocabulary = {"last": 1, "week": 2, "the": 3}
    >>> uses = np.array([[0, 0, 0, 0], [5, 0, 5, 0], [9, 0, 0, 9], [0, 4, 4, 0]])
    >>> find_times("They met last week and left the house".split(), "en", vocabulary, uses)
    [(2, 4)]
    """
    cut = [pieces(word, language) for word in words]
    known: list[bool] = []
    trigger: list[bool] = []
    for own in cut:
        ids = [vocabulary.get(piece.name, 0) for piece in own]
        known.append(all(ids) and bool(own[0].name))
        meant = [uses[i, 0] > 0 and uses[i, 0] >= uses[i, 1] and not piece.name.startswith("#")
                 for i, piece in zip(ids, own, strict=True)]  # fmt: skip
        trigger.append(any(meant) or any(_is_year(piece) for piece in own))
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        if not known[place]:
            place += 1
            continue
        end = place
        while end < len(words) and known[end]:
            end += 1
        found += _spans(place, end, cut, trigger, vocabulary, uses)
        place = end
    return found


def _spans(
    start: int, end: int, cut: Sequence[list[Piece]], trigger: Sequence[bool], vocabulary: dict[str, int], uses: Ints
) -> list[tuple[int, int]]:
    """The spans of a run of known words: the longest around each trigger that begin and end as phrases do."""
    found: list[tuple[int, int]] = []
    low = start
    for place in range(start, end):
        if not trigger[place] or (found and place < found[-1][1]):
            continue
        begin = next(
            (i for i in range(max(low, place - LONGEST + 1), place + 1)
             if i == place or uses[vocabulary.get(cut[i][0].name, 0), 2] > 0), place
        )  # fmt: skip
        last = next(
            (i for i in range(min(end, begin + LONGEST) - 1, place - 1, -1)
             if i == place or uses[vocabulary.get(cut[i][-1].name, 0), 3] > 0), place
        )  # fmt: skip
        found.append((begin, last + 1))
        low = last + 1
    return found
