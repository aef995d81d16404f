"""Strings as integers: every string of a set of documents is stored once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sized

import numpy as np

from weft.arrays import Ids
from weft.errors import WeftError


class _Interner(dict[str, int]):
    """A dictionary that numbers what it does not know, so that `map(interner.__getitem__, ...)` runs in C."""

    __slots__ = ("lock", "strings")

    def __init__(self, strings: list[str]) -> None:
        super().__init__((string, i) for i, string in enumerate(strings))
        self.strings = strings
        self.lock = threading.Lock()  # threads that annotate documents of one table may meet the same new string

    def __missing__(self, string: str) -> int:
        with self.lock:
            number = self.get(string)
            if number is None:
                if not isinstance(string, str):  # no other value equals a string: checking new ones suffices
                    raise WeftError(f"expected a string, found {string!r}")
                number = len(self.strings)
                self.strings.append(string)
                self[string] = number
            return number

    def add_all(self, strings: Iterable[str]) -> None:
        """Number those that are new, in the order of their first appearance."""
        with self.lock:
            known = self.strings
            for string in dict.fromkeys(strings):
                if string not in self:
                    if not isinstance(string, str):
                        raise WeftError(f"expected a string, found {string!r}")
                    self[string] = len(known)
                    known.append(string)


class StringTable:
    """Numbers for strings; 0 is the empty string, which stands for "not set".

    >>> table = StringTable()
    >>> table["dog"], table["cat"], table["dog"], table[""]
    (1, 2, 1, 0)
    >>> table.string(2)
    'cat'
    """

    __slots__ = ("__weakref__", "_ids", "_strings")

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self._strings = [""]
        self._ids = _Interner(self._strings)
        for string in strings:
            self._ids[string]

    def __getitem__(self, string: str) -> int:
        """The number of a string, a new one if the string is new."""
        return self._ids[string]

    def find(self, string: str) -> int:
        """The number of a string, or -1 if the table does not hold it."""
        return self._ids.get(string, -1)

    def __contains__(self, string: object) -> bool:
        return string in self._ids

    def __len__(self) -> int:
        return len(self._strings)

    def string(self, number: int) -> str:
        return self._strings[number]

    def strings(self, numbers: Iterable[int]) -> list[str]:
        """The strings of many numbers."""
        if isinstance(numbers, np.ndarray):
            numbers = numbers.tolist()
        return list(map(self._strings.__getitem__, numbers))

    def ids(self, strings: Iterable[str]) -> Ids:
        """The numbers of many strings as one array, new ones added."""
        count = len(strings) if isinstance(strings, Sized) else -1
        if count > len(self._strings):  # a young table: most are new, and numbered faster together than one by one
            self._ids.add_all(strings)
        return np.fromiter(map(self._ids.__getitem__, strings), dtype=np.int32, count=count)

    def since(self, number: int) -> list[str]:
        """The strings added from `number` on."""
        return self._strings[number:]

    def __repr__(self) -> str:
        return f"StringTable({len(self)} strings)"
