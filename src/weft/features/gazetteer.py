"""Gazetteers: lists of phrases, matched against words as set-valued features.

Every occurrence of a listed phrase, overlapping or not, gives each of its words a member `LIST:place`, the place being
that of a BIOES label (S alone, B first, I inside, E last).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Ids, Ints, Keys, Rows
from weft.features.index import FeatureIndex
from weft.features.lexicon import Lexicon
from weft.hashing import hash_strings, join
from weft.kernel import kernel
from weft.text.strings import StringTable

if TYPE_CHECKING:
    from weft.text.doc import Doc

_PHRASE = np.uint64(0x5851F42D4C957F2D)


class Gazetteer:
    """Named lists of phrases (words separated by blanks).

    >>> gazetteer = Gazetteer({"city": ["New York", "York"], "state": ["new york"]}, lower=True)
    >>> table = StringTable()
    >>> ids = table.ids(["In", "New", "York"])
    >>> offsets, members = gazetteer.match(table, ids, np.array([0, 3]))
    >>> np.diff(offsets).tolist()  # city and state begin at New; both end at York, which is a city by itself
    [0, 2, 3]
    """

    def __init__(self, lists: Mapping[str, Iterable[str]], lower: bool = False) -> None:
        self.lists = {name: sorted({" ".join(phrase.split()) for phrase in found}) for name, found in lists.items()}
        self.lower = lower
        self._lexicon = Lexicon(["lower" if lower else "form"])
        self._index = FeatureIndex()
        self._longest = 0
        self._mark_names = [f"{name}:{place}" for name in self.lists for place in "SBIE"]
        self._marks = hash_strings(self._mark_names).reshape(-1, 4)
        rows, owners = [], []
        for owner, phrases in enumerate(self.lists.values()):
            keys = self._phrase_keys(phrases)
            rows.append(self._index.add(keys))
            owners.append(np.full(len(keys), owner, dtype=np.int64))
        row = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32)
        order = np.argsort(row, kind="stable")
        self._owners = np.concatenate(owners)[order] if owners else np.zeros(0, dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(self._index)))]).astype(np.int64)

    def _phrase_keys(self, phrases: list[str]) -> Keys:
        words = [(phrase.lower() if self.lower else phrase).split() for phrase in phrases]
        sizes = np.array([len(phrase) for phrase in words], dtype=np.int64)
        self._longest = max(self._longest, int(sizes.max(initial=0)))
        out = np.empty(len(words), dtype=np.uint64)
        flat = hash_strings([word for phrase in words for word in phrase])
        _join_phrases(flat, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), out)
        return out

    def match(self, table: StringTable, ids: Ids, sentences: Ints) -> tuple[Ints, Keys]:
        """Members of every position as a ragged array: offsets and keys. Phrases do not cross sentences."""
        rows, values = self._lexicon.lookup(table, ids)
        return self.match_keys(np.ascontiguousarray(values[rows, 0]), sentences)

    def match_keys(self, words: Keys, sentences: Ints) -> tuple[Ints, Keys]:
        """The same for words given as their keys."""
        found = self._found(words, sentences)
        counts = np.zeros(len(words) + 1, dtype=np.int64)
        _count_matches(found, self._starts, counts)
        offsets = np.cumsum(counts)
        members = np.empty(int(offsets[-1]), dtype=np.uint64)
        _fill_matches(found, self._starts, self._owners, self._marks, offsets[:-1].copy(), members)
        return offsets, members

    def names(self, doc: Doc, column: str) -> dict[int, str]:
        """The members that may occur, by their keys."""
        return dict(zip(self._marks.ravel().tolist(), self._mark_names, strict=True))

    def occurrences(self, words: Keys, sentences: Ints) -> Ints:
        """Where phrases of every list stand in words given as keys, the longest that do not overlap within a list.

        One row an occurrence, in the order of the text: first word, one past the last, number of the list.

        >>> gazetteer = Gazetteer({"city": ["New York", "York"], "name": ["York"]})
        >>> gazetteer.occurrences(hash_strings(["In", "New", "York"]), np.array([0, 3])).tolist()
        [[1, 3, 0], [2, 3, 1]]
        """
        found = self._found(words, sentences)
        free = np.zeros((2, len(self.lists)), dtype=np.int64)
        places = np.empty(
            (_occurrences(found, self._starts, self._owners, free[0], np.empty((0, 3), np.int64)), 3), np.int64
        )
        _occurrences(found, self._starts, self._owners, free[1], places)
        return places

    def _found(self, words: Keys, sentences: Ints) -> Rows:
        """The number of the phrase of every length at every position, -1 where there is none."""
        return self._index.rows(_windows(words, sentences, self._longest)).reshape(len(words), self._longest)


@kernel
def _join_phrases(words: Keys, offsets: Ints, out: Keys) -> None:
    for i in range(len(offsets) - 1):
        key = _PHRASE
        for k in range(offsets[i], offsets[i + 1]):
            key = join(key, words[k])
        out[i] = key


@kernel
def _windows(words: Keys, sentences: Ints, longest: int) -> Keys:
    """The key of the phrase of every length at every position; 0 where it would leave the sentence."""
    out = np.zeros(len(words) * longest, dtype=np.uint64)
    for s in range(len(sentences) - 1):
        for i in range(sentences[s], sentences[s + 1]):
            key = _PHRASE
            for d in range(min(longest, sentences[s + 1] - i)):
                key = join(key, words[i + d])
                out[i * longest + d] = key
    return out


@kernel
def _count_matches(found: Rows, starts: Ints, counts: Ints) -> None:
    for i in range(found.shape[0]):
        for d in range(found.shape[1]):
            if found[i, d] >= 0:
                lists = starts[found[i, d] + 1] - starts[found[i, d]]
                for j in range(i, i + d + 1):
                    counts[j + 1] += lists


@kernel
def _fill_matches(found: Rows, starts: Ints, owners: Ints, marks: Keys, cursor: Ints, members: Keys) -> None:
    for i in range(found.shape[0]):
        for d in range(found.shape[1]):
            if found[i, d] >= 0:
                for k in range(starts[found[i, d]], starts[found[i, d] + 1]):
                    for j in range(i, i + d + 1):
                        place = 0 if d == 0 else (1 if j == i else (3 if j == i + d else 2))
                        members[cursor[j]] = marks[owners[k], place]
                        cursor[j] += 1


@kernel
def _occurrences(found: Rows, starts: Ints, owners: Ints, free: Ints, places: Ints) -> int:
    """Fill the places there is room for and count all; `free` is the first word a list has not used yet."""
    count = 0
    for i in range(found.shape[0]):
        for d in range(found.shape[1] - 1, -1, -1):
            if found[i, d] >= 0:
                for k in range(starts[found[i, d]], starts[found[i, d] + 1]):
                    if i >= free[owners[k]]:
                        if count < len(places):
                            places[count, 0], places[count, 1], places[count, 2] = i, i + d + 1, owners[k]
                        count += 1
                        free[owners[k]] = i + d + 1
    return count
