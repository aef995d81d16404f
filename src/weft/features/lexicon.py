"""The lexicon: one row of 64-bit attribute values per word type, computed once, not once per token."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Keys
from weft.features.attributes import attribute
from weft.hashing import hash_strings
from weft.text.strings import StringTable

if TYPE_CHECKING:
    from weft.text.doc import Doc

#: Value of an attribute that a word does not have (a suffix longer than the word): no feature fires.
ABSENT = np.uint64(0)
#: How many strings seen at run time are kept: the frequent words of any text, in a few megabytes per component.
LIMIT = 16_000


class Lexicon:
    """Attribute values of word types.

    Rows below `frozen` are permanent; rows of words seen later are kept up to `limit` of them and then dropped
    together, so that a stream of any length needs bounded memory. `lookup` hands out rows together with the table they
    point into; growing makes a new table or appends behind all rows handed out, so that threads never see a row change.

    >>> lexicon = Lexicon(["form", "suffix2"])
    >>> table = StringTable()
    >>> rows, values = lexicon.lookup(table, table.ids(["walked", "talked", "walked"]))
    >>> rows.tolist(), values.shape[1]
    ([0, 1, 0], 2)
    >>> bool(values[0, 1] == values[1, 1])  # both end in -ed
    True
    """

    def __init__(
        self,
        attributes: Sequence[str],
        clusters: Mapping[str, str] | None = None,
        limit: int | None = None,
        classes: WordClasses | None = None,
        native: Mapping[str, str] | None = None,
    ) -> None:
        self.attributes = tuple(attributes)
        self.limit = LIMIT if limit is None else limit
        self.frozen = 0
        self._classes = classes
        self._functions = [attribute(name, clusters, native) for name in self.attributes]
        self._rows: dict[str, int] = {}
        self._values = np.zeros((1024, len(self.attributes)), dtype=np.uint64)
        self._maps: weakref.WeakKeyDictionary[StringTable, Ids] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def lookup(self, table: StringTable, ids: Ids) -> tuple[Ids, Keys]:
        """Rows of strings given as ids of a table, and the value table `[row, attribute]` they point into."""
        with self._lock:
            known = self._maps.get(table)
            if known is None or len(known) < len(table):
                grown = np.full(len(table), -1, dtype=np.int32)
                if known is not None:
                    grown[: len(known)] = known
                self._maps[table] = known = grown
            rows = known[ids]
            if len(rows) and rows.min() < 0:
                missing = np.unique(ids[rows < 0])
                if len(self._rows) - self.frozen > self.limit:
                    self._forget()
                    self._maps[table] = known = np.full(len(table), -1, dtype=np.int32)
                    missing = np.unique(ids)
                known[missing] = self._add(table.strings(missing))
                rows = known[ids]
            return rows, self._values

    def text(self, word: str, attribute: int) -> str:
        """The value of an attribute, given by its number, as text; "" if the word does not have it.

        >>> Lexicon(["form", "suffix2"]).text("walked", 1)
        'ed'
        """
        return self._functions[attribute](word if self._classes is None else self._classes.of(word))

    def add(self, words: Iterable[str]) -> None:
        """Make rows for words ahead of time."""
        with self._lock:
            self._add(list(dict.fromkeys(words)))

    def freeze(self) -> None:
        """Make all present rows permanent."""
        self.frozen = len(self._rows)

    def _add(self, words: Sequence[str]) -> Ids:
        rows = self._rows
        new = [word for word in words if word not in rows]
        if new:
            start, end = len(rows), len(rows) + len(new)
            if end > len(self._values):
                grown = np.zeros((max(end, 2 * len(self._values)), len(self.attributes)), dtype=np.uint64)
                grown[:start] = self._values[:start]
                self._values = grown
            seen = new if self._classes is None else list(map(self._classes.of, new))
            for k, function in enumerate(self._functions):
                strings = list(map(function, seen))
                keys = hash_strings(strings)
                if not all(strings):
                    keys[[not string for string in strings]] = ABSENT
                self._values[start:end, k] = keys
            rows.update(zip(new, range(start, end), strict=True))
        return np.fromiter(map(rows.__getitem__, words), dtype=np.int32, count=len(words))

    def _forget(self) -> None:
        """Drop the rows added at run time; tables handed out before do not change."""
        self._rows = {word: row for word, row in self._rows.items() if row < self.frozen}
        fresh = np.zeros((max(1024, 2 * self.frozen), len(self.attributes)), dtype=np.uint64)
        fresh[: self.frozen] = self._values[: self.frozen]
        self._values = fresh
        self._maps = weakref.WeakKeyDictionary()


class WordClasses:
    """One class per word: its cluster path, or its tags in a dictionary. A field bound to it sees classes, not words.

    Words that are not listed are looked up in lower case; those without a class have no features.

    >>> classes = WordClasses({"dog": "0110", "bank": "NOUN+VERB"})
    >>> [classes.of(word) for word in ("Dog", "bank", "cat")]
    ['0110', 'NOUN+VERB', '']
    """

    def __init__(self, classes: Mapping[str, str]) -> None:
        self.classes = classes

    def of(self, word: str) -> str:
        """The class of a word, empty if it has none."""
        found = self.classes.get(word)
        return found if found is not None else self.classes.get(word.lower(), "")


class LowerCase(WordClasses):
    """Every word in lower case instead of a class: a field bound to it sees no capitals.

    >>> LowerCase().of("Ada")
    'ada'
    """

    def __init__(self) -> None:
        super().__init__({})

    def of(self, word: str) -> str:
        return word.lower()


class MemberLexicon:
    """Sets and numbers a string stands for: `Case=Nom|Number=Sing` as two members, `0.25` as a real number.

    >>> table = StringTable()
    >>> offsets, members = MemberLexicon().lookup(table, table.ids(["Case=Nom|Number=Sing", "", "Case=Nom"]))
    >>> offsets.tolist(), bool(members[0] == members[2])
    ([0, 2, 2, 3], True)
    """

    def __init__(self, separator: str = "|", limit: int | None = None) -> None:
        self.separator = separator
        self.limit = LIMIT if limit is None else limit
        self._members: dict[str, Keys] = {}

    def lookup(self, table: StringTable, ids: Ids) -> tuple[NDArray[np.int64], Keys]:
        """Members of every string as a ragged array: offsets and keys."""
        types, inverse = np.unique(ids, return_inverse=True)
        strings = table.strings(types)
        known = self._add(strings)
        found = [known[string] for string in strings]
        sizes = np.array([len(keys) for keys in found], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes[inverse])]).astype(np.int64)
        members = [found[i] for i in inverse.tolist()]
        return offsets, np.concatenate(members) if members else np.zeros(0, dtype=np.uint64)

    def _add(self, strings: Sequence[str]) -> dict[str, Keys]:
        """The members of all strings seen so far; new strings are hashed together."""
        known = self._members
        new = [string for string in strings if string not in known]
        if new:
            if len(known) + len(new) > self.limit:
                known = {string: known[string] for string in strings if string in known}
            members = [[member for member in string.split(self.separator) if member] for string in new]
            keys = hash_strings([member for own in members for member in own])
            ends = np.cumsum([len(own) for own in members]).tolist()
            known.update(zip(new, (keys[a:b] for a, b in pairwise([0, *ends])), strict=True))
            self._members = known
        return known

    def names(self, doc: Doc, column: str) -> dict[int, str]:
        """The members that occur in a column of a document, by their keys."""
        members = sorted({member for string in doc.column(column) for member in string.split(self.separator)})
        return dict(zip(hash_strings(members).tolist(), members, strict=True))
