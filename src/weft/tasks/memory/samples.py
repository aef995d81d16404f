"""Samples for the tables: what matches say of the phrases of sentences whose translation is known.

The phrases come from forced decoding with a model that has not seen the sentence. The candidate of a sample is the one
with the highest fuzzy match score to the target phrase, of equal ones the shortest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.infer.fuzzy.distance import fuzzy_score
from weft.tasks.memory.counterparts import Candidate, MatchedSentence
from weft.tasks.memory.status import NONE, content_status, order_status

#: A phrase pair: start and end on the source side, and its target words.
Phrase = tuple[int, int, Sequence[int]]


def samples_of(phrases: Sequence[Phrase], match: MatchedSentence) -> list[list[int]]:
    """A row of `weft.tasks.memory.tables.COLUMNS` for every phrase, in the order of the translation.

    >>> match = MatchedSentence([1, 2], [1, 2], [11, 12], [(0, 0), (1, 1)], score=0.9)
    >>> samples_of([(0, 1, [11]), (1, 2, [13])], match)
    [[0, 3, 0, 0, 0, 9, 0, 0, 0], [0, 3, 0, 0, 0, 9, 2, 0, 1]]
    """
    rows = []
    before, follows, last_equal = (0, 0), True, True
    for start, end, words in phrases:
        part = match.counterpart(start, end)
        candidate, score = _nearest(words, part.candidates, match)
        span = candidate.span
        content = NONE if span is None else content_status(score)
        first = span is not None and len(words) > 0 and words[0] == match.target[span[0]]
        order = order_status(before, span, follows, last_equal, first)
        rows.append(
            [part.content, part.neighbours, part.set, part.length, part.ends, match.interval, content,
             candidate.extension, order]
        )  # fmt: skip
        follows = span is not None
        last_equal = span is not None and len(words) > 0 and words[-1] == match.target[span[1] - 1]
        before = span or before
    return rows


def _nearest(
    words: Sequence[int], candidates: Sequence[Candidate], match: MatchedSentence
) -> tuple[Candidate, float]:  # fmt: skip
    said, target = np.asarray(words, np.int32), np.asarray(match.target, np.int32)
    best, best_key = candidates[0], (-1.0, 0)
    for candidate in candidates:
        if candidate.span is None:
            continue
        score = fuzzy_score(said, target[candidate.span[0] : candidate.span[1]])
        key = (round(score, 9), candidate.span[0] - candidate.span[1])
        if key > best_key:
            best, best_key = candidate, key
    return best, best_key[0]
