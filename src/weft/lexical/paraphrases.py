"""Pairs of words that may replace each other, as a hash set of 64-bit keys.

    key(a, b) = avalanche(hash(a) + hash(b))         the same for (b, a)

A file has a pair per line, separated by a tab or, as in PPDB, by `|||`; phrases are left out.
The set is one open-addressed array, which kernels read as it is; `save` writes it for `read` to map into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from weft import storage
from weft.arrays import Bools, Keys
from weft.declared import Array, Stored
from weft.errors import DataError, FormatError, ModelError
from weft.formats.streams import numbered_lines
from weft.hashing import avalanche, hash_strings
from weft.headers import Record, Whole
from weft.kernel import inner_kernel, kernel

HEADER = Record(pairs=Whole())
PAIRS, WORDS = Array("pairs", "uint64", ("*",)), Array("words", "uint64", ("*",))
_PPDB = "|||"
_ONE = np.uint64(1)
_EXPECTED = "two words separated by a tab, or a line of PPDB: [X] ||| word ||| word ||| ..."


class Paraphrases:
    """A set of unordered pairs of words.

    >>> pairs = Paraphrases.of([("car", "auto"), ("contract", "deal"), ("same", "same")])
    >>> len(pairs), ("auto", "car") in pairs, ("car", "deal") in pairs, ("same", "same") in pairs
    (2, True, False, False)
    """

    def __init__(self, pairs: Keys, words: Keys, count: int) -> None:
        self.pairs, self.words, self.count = pairs, words, count

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Paraphrases:
        """The set of pairs; case is ignored, and pairs of equal words are left out."""
        one, other = [], []
        for a, b in pairs:
            a, b = a.lower(), b.lower()
            if a != b:
                one.append(a)
                other.append(b)
        left, right = hash_strings(one), hash_strings(other)
        keys = np.empty(len(left), dtype=np.uint64)
        _keys(left, right, keys)
        keys, words = np.unique(keys), np.unique(np.concatenate([left, right]))
        return cls(_table(keys), _table(words), len(keys))

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Paraphrases:
        """The pairs of a text file, gzipped or not, or of a file that `save` wrote."""
        name = os.fspath(path)
        if name.endswith(".weft"):
            return cls._load(name)
        found = cls.of(_pairs(name, encoding))
        if not found.count:
            raise DataError(f"{name} has no pairs of different words; expected {_EXPECTED}")
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file that ends in .weft."""
        if not os.fspath(path).endswith(".weft"):
            raise DataError(f"{os.fspath(path)}: the name of a compiled set of paraphrases ends in .weft")
        storage.save(path, {"task": "paraphrases", "pairs": self.count}, {"pairs": self.pairs, "words": self.words})

    @classmethod
    def _load(cls, name: str) -> Paraphrases:
        header, arrays = storage.load(name)
        if header.pop("task", None) != "paraphrases":
            raise ModelError(f"{name} is not a set of paraphrases; make one with weft lexicon paraphrases")
        HEADER.check(header)
        stored = Stored.of(arrays)
        pairs, words = stored.take(PAIRS)["pairs"], stored.take(WORDS)["words"]
        stored.refuse_rest()
        for table in (pairs, words):
            if len(table) & (len(table) - 1) or not len(table) or (table == 0).sum() * 4 < len(table):
                raise ModelError(f"{name}: a table of hashes has no room: the file is damaged")
        return cls(pairs, words, int(header["pairs"]))

    def __len__(self) -> int:
        return self.count

    def __contains__(self, pair: tuple[str, str]) -> bool:
        a, b = hash_strings([pair[0].lower(), pair[1].lower()])
        return bool(a != b and has_pair(self.pairs, a, b))

    def known(self, words: Keys) -> Bools:
        """Which hashes are those of words in some pair."""
        found = np.zeros(len(words), dtype=np.bool_)
        _known(self.words, words, found)
        return found


def _pairs(name: str, encoding: str) -> Iterable[tuple[str, str]]:
    for number, line in numbered_lines(name, encoding):
        line = line.rstrip("\r\n")
        if not line.strip():
            continue
        cells = line.split(_PPDB)[1:3] if _PPDB in line else line.split("\t")
        words = [cell.strip(" ") for cell in cells]  # PPDB also has control characters as words
        if len(words) != 2 or not all(words):
            raise FormatError(name, number, _EXPECTED, repr(line[:60]))
        one, other = words
        if " " not in one and " " not in other:
            yield one, other


def _table(keys: Keys) -> Keys:
    """An open-addressed table at most half full; 0 is an empty slot."""
    size = 4
    while size < 2 * len(keys):
        size *= 2
    table = np.zeros(size, dtype=np.uint64)
    _fill(table, keys)
    return table


@kernel
def _keys(left: Keys, right: Keys, out: Keys) -> None:
    for i in range(len(left)):
        out[i] = avalanche(left[i] + right[i])


@kernel
def _fill(table: Keys, keys: Keys) -> None:
    mask = np.uint64(len(table) - 1)
    for key in keys:
        at = key & mask
        while table[at] != 0 and table[at] != key:
            at = (at + _ONE) & mask
        table[at] = key


@inner_kernel
def _has(table: Keys, key: np.uint64) -> bool:
    mask = np.uint64(len(table) - 1)
    at = key & mask
    while table[at] != 0:
        if table[at] == key:
            return True
        at = (at + _ONE) & mask
    return False


@kernel
def has_pair(table: Keys, one: np.uint64, other: np.uint64) -> bool:
    """Whether the words with these hashes are a pair."""
    return _has(table, avalanche(one + other))


@kernel
def _known(table: Keys, words: Keys, out: Bools) -> None:
    for i in range(len(words)):
        out[i] = _has(table, words[i])
