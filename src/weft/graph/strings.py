"""Many strings as two arrays, found by their number or by their text, without a Python object per string.

    string i = data[offsets[i] : offsets[i + 1]]          keys[order] rises:  a text is found by its hash

A million names take their own bytes and 20 more each, and a file of them can be mapped into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints, Keys
from weft.declared import Array, Arrays, Stored
from weft.errors import ModelError
from weft.hashing import _hash_bytes, hash_string

ARRAYS = (
    Array("offsets", "int64", ("strings+1",), offsets_of="bytes"),
    Array("data", "uint8", ("bytes",)),
)


class Strings:
    """A list of strings.

    >>> names = Strings.of(["Munich", "FC Bayern Munich"])
    >>> len(names), names[1], names.find("Munich"), names.find("Mun")
    (2, 'FC Bayern Munich', 0, -1)
    """

    __slots__ = ("__dict__", "data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: Ints) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """The strings of a list."""
        encoded = [string.encode("utf-8", "replace") for string in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise IndexError(f"string {number} of {len(self)}")
        return self.data[self.offsets[number] : self.offsets[number + 1]].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[number] for number in range(len(self)))

    @cached_property
    def _index(self) -> tuple[Keys, Ints]:
        keys = np.empty(len(self), dtype=np.uint64)
        data = self.data if len(self.data) else np.zeros(1, dtype=np.uint8)
        _hash_bytes(np.array(data), np.array(self.offsets), keys)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def find(self, string: str) -> int:
        """The number of a string, the first one if it is there more than once; -1 if it is not."""
        keys, order = self._index
        key = np.uint64(hash_string(string))
        at = int(np.searchsorted(keys, key))
        while at < len(keys) and keys[at] == key:
            if self[int(order[at])] == string:
                return int(order[at])
            at += 1
        return -1

    def state(self) -> Arrays:
        """The arrays of a file."""
        return {"offsets": self.offsets, "data": self.data}

    @classmethod
    def from_state(cls, arrays: Arrays, size: int | None = None) -> Strings:
        """Restore strings; with `size`, there must be so many."""
        sizes = {} if size is None else {"strings": size}
        taken = Stored.of(arrays).take(*ARRAYS, **sizes)
        if not len(taken["offsets"]):
            raise ModelError("the array 'offsets' is empty: the file is damaged")
        return cls(taken["data"], taken["offsets"])
