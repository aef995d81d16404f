"""The parts of a fuzzy match that correspond to the phrases of a sentence.

A phrase's words are linked to words of the match's source side by the cheapest edits; its counterpart there is the span
of these. The candidates on the match's target side are the span that is linked to the counterpart, if no word in it is
linked elsewhere, and this span with unaligned words beside it, to the left and to the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weft.infer.fuzzy.distance import edit_links, fuzzy_score
from weft.tasks.memory.status import (
    NO_CANDIDATE,
    NO_EXTENSION,
    NONE,
    content_status,
    extension_status,
    interval,
    length_status,
    neighbour_status,
    set_status,
)

Span = tuple[int, int]


@dataclass(frozen=True)
class Candidate:
    """A part of the match's target side that may translate a phrase."""

    span: Span | None
    extension: int  #: LTC


@dataclass(frozen=True)
class Counterpart:
    """What a match has for a source phrase."""

    source: Span | None  #: on the match's source side
    candidates: tuple[Candidate, ...]  #: the first one is not extended
    content: int  #: SCM
    neighbours: int  #: NLN
    length: int  #: SPL
    ends: int  #: SEP
    set: int  #: CSS

    @property
    def core(self) -> Span | None:
        """The candidate that is not extended."""
        return self.candidates[0].span


_NOTHING = (Candidate(None, NO_EXTENSION),)


@dataclass(eq=False)
class MatchedSentence:
    """A sentence and its match: word numbers of both, links of the match, and the score.

    Source words are numbered alike in sentence and match; target words as those of the phrases that are compared.

    >>> match = MatchedSentence([1, 2, 9], [1, 2, 3], [11, 50, 12, 13], [(0, 0), (1, 2), (2, 3)], score=2 / 3)
    >>> found = match.counterpart(0, 1)
    >>> found.source, [candidate.span for candidate in found.candidates]
    ((0, 1), [(0, 1), (0, 2)])
    """

    words: Sequence[int]
    source: Sequence[int]
    target: Sequence[int]
    links: Iterable[tuple[int, int]]
    score: float
    final_mark: bool = False  #: whether the last word of the sentence is a punctuation mark
    _known: dict[Span, Counterpart] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._of_source: list[list[int]] = [[] for _ in self.source]
        self._of_target: list[list[int]] = [[] for _ in self.target]
        for i, j in self.links:
            self._of_source[i].append(j)
            self._of_target[j].append(i)
        self._words, self._source = np.asarray(self.words, np.int32), np.asarray(self.source, np.int32)

    @cached_property
    def edits(self) -> list[int]:
        """The place in the match of every word, -1 for inserted words."""
        found: list[int] = edit_links(self._words, self._source).tolist()
        return found

    @property
    def interval(self) -> int:
        """The interval of the score."""
        return interval(self.score)

    def counterpart(self, start: int, end: int) -> Counterpart:
        """What the match has for the phrase of words start ... end - 1."""
        if (start, end) not in self._known:
            self._known[start, end] = self._counterpart(start, end)
        return self._known[start, end]

    def _counterpart(self, start: int, end: int) -> Counterpart:
        length = length_status(end - start)
        ends = int(self.final_mark and end - start == 1 and end == len(self.words))
        linked = [place for place in self.edits[start:end] if place >= 0]
        if not linked:
            return Counterpart(None, _NOTHING, NONE, neighbour_status(0, 0), length, ends, NO_CANDIDATE)
        a, b = min(linked), max(linked) + 1
        content = content_status(fuzzy_score(self._words[start:end], self._source[a:b]))
        neighbours = self._neighbours(start, end, a, b)
        core = self.target_span(a, b)
        if core is None:
            return Counterpart((a, b), _NOTHING, content, neighbours, length, ends, NO_CANDIDATE)
        left, right = self._unaligned(core[0], -1), self._unaligned(core[1] - 1, 1)
        candidates = tuple(
            Candidate((core[0] - x, core[1] + y), extension_status(x, y, left, right))
            for x in range(left + 1)
            for y in range(right + 1)
        )
        return Counterpart((a, b), candidates, content, neighbours, length, ends, set_status(left, right))

    def target_span(self, a: int, b: int) -> Span | None:
        """The span linked to words a ... b - 1 of the match; None if there is none or it is linked to others, too."""
        places = [j for i in range(a, b) for j in self._of_source[i]]
        if not places:
            return None
        low, high = min(places), max(places) + 1
        if any(not a <= i < b for j in range(low, high) for i in self._of_target[j]):
            return None
        return low, high

    def _unaligned(self, place: int, step: int) -> int:
        """How many words beside a place have no link."""
        count = 0
        place += step
        while 0 <= place < len(self.target) and not self._of_target[place]:
            count, place = count + 1, place + step
        return count

    def _neighbours(self, start: int, end: int, a: int, b: int) -> int:
        matched = linked = 0
        for own, other in ((start - 1, a - 1), (end, b)):
            if not (0 <= own < len(self.words) and 0 <= other < len(self.source)):
                continue
            if self.words[own] == self.source[other]:
                matched += 1
                linked += bool(self._of_source[other])
        return neighbour_status(matched, linked)
