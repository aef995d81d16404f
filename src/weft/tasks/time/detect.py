"""Time expressions in running text, found by the words that time phrases are made of.

A word is a *trigger* if right derivations of training phrases take it for a time or a unit of time twice as often as
for anything else (a function such as *ago*, or nothing) and it has ended a phrase or is always written with a capital,
which it then must have; a year in digits is one too. Spans are runs of known words around a trigger whose neighbours
fit: phrases have had the two words in this order, or have had the first before a trigger, or the second after one. Runs
are cut at both ends to words that have begun and ended phrases. No annotated text is needed, and words that phrases
never had are never found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.arrays import Ints
from weft.tasks.time.tokens import Piece, pieces

#: Spans have at most this many words.
LONGEST = 9
_NUMBER = re.compile(r"#\d+")


def _is_year(piece: Piece) -> bool:
    return piece.number is not None and piece.number.digits == 4 and 1500 <= piece.number.value < 2100


def _class(name: str) -> str:
    """A piece without the size of its number."""
    return _NUMBER.sub("#", name)


class TimeFinder:
    """Finds spans that look like time expressions.

    >>> import numpy as np
    >>> vocabulary = {"last": 1, "week": 2, "the": 3, "last week": 4, "month": 5}
    >>> uses = np.array([[0] * 5, [0, 5, 5, 0, 5], [9, 0, 0, 9, 9], [0, 4, 4, 0, 4], [0] * 5, [2, 0, 0, 2, 2]])
    >>> TimeFinder("en", vocabulary, uses).find("They met last month and left the house".split())
    [(2, 4)]
    """

    def __init__(self, language: str, vocabulary: dict[str, int], uses: Ints) -> None:
        self.language, self.vocabulary, self.uses = language, vocabulary, uses
        self.words = {_class(gram) for gram in vocabulary if " " not in gram}
        self.pairs = {_class(gram) for gram in vocabulary if gram.count(" ") == 1}
        triggers = {gram for gram, place in vocabulary.items() if " " not in gram and self._means_time(gram, place)}
        self.triggers = triggers
        split = [pair.split(" ") for pair in self.pairs]
        self.before = {a for a, b in split if b in triggers and a[-1].isalnum()}
        self.after = {b for a, b in split if a in triggers and b[-1].isalnum()}
        self.first = {_class(gram) for gram, place in vocabulary.items() if uses[place, 2] > 0}
        self.last = {_class(gram) for gram, place in vocabulary.items() if uses[place, 3] > 0}
        self.capital = {gram for gram in triggers if uses[vocabulary[gram], 4] == 0}

    def _means_time(self, gram: str, place: int) -> bool:
        meant, other, _, ended, small = self.uses[place].tolist()
        return meant > 0 and meant >= 2 * other and gram[0].isalpha() and (ended > 0 or small == 0)

    def find(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Spans [start, end) of words."""
        cut = [pieces(word, self.language) for word in words]
        names = [[_class(piece.name) for piece in own] for own in cut]
        known = [all(name in self.words for name in own) for own in names]
        trigger = [self._triggers(word, own) for word, own in zip(words, cut, strict=True)]
        found: list[tuple[int, int]] = []
        place = 0
        while place < len(words):
            if not known[place]:
                place += 1
                continue
            end = place + 1
            while end < len(words) and known[end] and self._fit(names[end - 1], names[end], trigger[end - 1 : end + 1]):
                end += 1
            found += self._spans(place, end, names, trigger)
            place = end
        return found

    def classes(self, words: Sequence[str]) -> list[str]:
        """What the phrases know of each word: that it means a time, that it is a number, that they have it, or nothing.

        >>> import numpy as np
        >>> finder = TimeFinder("en", {"last": 1, "week": 2}, np.array([[0] * 5, [0, 5, 5, 0, 5], [9, 0, 0, 9, 9]]))
        >>> finder.classes("last week 12 1998 dogs".split())
        ['known', 'time', 'number', 'time', 'O']
        """
        found = []
        for word in words:
            own = pieces(word, self.language)
            if self._triggers(word, own):
                found.append("time")
            elif any(piece.number is not None for piece in own):
                found.append("number")
            else:
                found.append("known" if own and all(_class(piece.name) in self.words for piece in own) else "O")
        return found

    def _triggers(self, word: str, own: list[Piece]) -> bool:
        if any(_is_year(piece) for piece in own):
            return True
        hits = [piece.name for piece in own if piece.name in self.triggers]
        return any(name not in self.capital or word[0].isupper() for name in hits)

    def _fit(self, left: list[str], right: list[str], trigger: Sequence[bool]) -> bool:
        a, b = left[-1], right[0]
        if f"{a} {b}" in self.pairs or (trigger[1] and a in self.before):
            return True
        return trigger[0] and (b in self.after or trigger[1])

    def _spans(
        self, start: int, end: int, names: Sequence[list[str]], trigger: Sequence[bool]
    ) -> list[tuple[int, int]]:
        """The longest spans around each trigger of a run that begin and end as phrases do."""
        found: list[tuple[int, int]] = []
        low = start
        for place in range(start, end):
            if not trigger[place] or (found and place < found[-1][1]):
                continue
            begin = place
            for i in range(max(low, place - LONGEST + 1), place):
                if names[i][0] in self.first:
                    begin = i
                    break
            last = place
            for i in range(min(end, begin + LONGEST) - 1, place, -1):
                if names[i][-1] in self.last and (len(names[i]) > 1 or names[i][0][-1].isalnum() or names[i][0] == "#"):
                    last = i
                    break
            found.append((begin, last + 1))
            low = last + 1
        return found
