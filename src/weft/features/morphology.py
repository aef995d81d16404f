"""Morphological features of words, one by one: `Case=Nom|Number=Sing` as the keys of two features.

agree(i, j) = { name : (name, value) in M_i and in M_j },     M_i the features of word i
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.features.lexicon import LIMIT
from weft.hashing import hash_strings
from weft.text.doc import Doc


class Morphology(NamedTuple):
    """Features of the words of a batch: word `i` has those from `offsets[i]` up to `offsets[i + 1]`.

    `values` are keys of whole features (`Case=Nom`), `names` those of their attributes (`Case`). ROOT has none.
    """

    offsets: NDArray[np.int64]
    values: Keys
    names: Keys

    @classmethod
    def none(cls, words: int) -> Morphology:
        """No features of so many words.

        >>> Morphology.none(2).offsets.tolist()
        [0, 0, 0]
        """
        return cls(np.zeros(words + 1, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.uint64))


class MorphologyReader:
    """Finds the morphological features of documents in one of their columns.

    >>> reader = MorphologyReader()
    >>> doc = Doc.from_words([["sie", "schläft"]], feats=[["Case=Nom|Number=Sing", "Number=Sing"]])
    >>> found = reader.read([doc])
    >>> found.offsets.tolist(), bool(found.values[1] == found.values[2]), bool(found.names[0] == found.names[1])
    ([0, 2, 3], True, False)
    """

    def __init__(self, column: str = "feats", limit: int = LIMIT) -> None:
        self.column = column
        self.limit = limit
        self._known: dict[str, tuple[Keys, Keys]] = {}

    def read(self, docs: Sequence[Doc]) -> Morphology:
        """The features of all words, document after document."""
        sizes, values, names = [np.zeros(1, np.int64)], [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        for table, group in groupby(docs, key=lambda doc: doc.strings):
            ids = np.concatenate([doc.columns.get(self.column, np.zeros(doc.n_words, np.int32)) for doc in group])
            types, which = np.unique(ids, return_inverse=True)
            found = self._lookup(table.strings(types))
            counts = np.array([len(own) for own, _ in found], dtype=np.int64)
            starts = np.cumsum(counts) - counts
            mine = counts[which]
            first = np.cumsum(mine) - mine
            at = np.repeat(starts[which] - first, mine) + np.arange(int(mine.sum()))
            sizes.append(mine)
            values.append(np.concatenate([own for own, _ in found])[at] if found else values[0])
            names.append(np.concatenate([own for _, own in found])[at] if found else names[0])
        return Morphology(np.cumsum(np.concatenate(sizes)), np.concatenate(values), np.concatenate(names))

    def _lookup(self, strings: Sequence[str]) -> list[tuple[Keys, Keys]]:
        known = self._known
        new = [string for string in strings if string not in known]
        if new:
            if len(known) + len(new) > self.limit:
                known = {string: known[string] for string in strings if string in known}
            for string in new:
                members = list(dict.fromkeys(member for member in string.split("|") if member))
                known[string] = hash_strings(members), hash_strings([member.split("=", 1)[0] for member in members])
            self._known = known
        return [known[string] for string in strings]
