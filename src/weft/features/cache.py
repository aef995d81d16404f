"""Caches of computed values with bounded memory.

A cache keeps the values of the keys that it was asked for, and when it is full it drops many of them at once: the
frequent words of any text are back soon, and no bookkeeping slows down the keys that it knows. The memory of a service
rises and falls with its caches, each at a rate of its own, so they are kept small: full at the same time, all caches of
a model take little beside its weights.

`Cache`      keys are Python objects; a dict, so that `map(cache.__getitem__, keys)` runs in C for known keys; has two
             generations, and drops the older one
`RowCache`   keys are rows of integers, values integers; no Python object is created for a row
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np

from weft.arrays import Ids
from weft.hashing import join
from weft.kernel import kernel

#: How many values a `Cache` keeps.
LIMIT = 1 << 14
#: How many values a `RowCache` keeps; a power of two.
ROW_LIMIT = 1 << 15
_UNKNOWN = -1
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(dict[Key, Value]):
    """The values of a function, computed on first use.

    The dict is the younger generation, of up to half the limit; then it takes the place of the older one. A key of the
    older generation that is asked for again moves into the younger one.

    >>> sizes = Cache(len)
    >>> list(map(sizes.__getitem__, ["to", "be", "to"])), len(sizes)
    ([2, 2, 2], 2)
    """

    def __init__(self, compute: Callable[[Key], Value], limit: int = LIMIT) -> None:
        super().__init__()
        self.compute, self.limit = compute, limit
        self.older: dict[Key, Value] = {}

    def __missing__(self, key: Key) -> Value:
        older = self.older
        value = older[key] if key in older else self.compute(key)
        if 2 * len(self) >= self.limit:
            self.older = dict(self)
            self.clear()
        self[key] = value
        return value


class RowCache:
    """Integers, at least 0, for rows of `width` integers; threads may share it.

    >>> sums = RowCache(2)
    >>> sums.lookup(np.array([[3, 4], [1, 1], [3, 4]], np.int32), lambda rows: rows.sum(axis=1)).tolist()
    [7, 2, 7]
    >>> sums.lookup(np.array([[1, 1], [5, 0]], np.int32), lambda rows: 10 * rows.sum(axis=1)).tolist()  # 1, 1 is known
    [2, 50]
    """

    def __init__(self, width: int, limit: int = ROW_LIMIT) -> None:
        self.limit = limit
        self._rows = np.zeros((limit, width), dtype=np.int32)
        self._values = np.zeros(limit, dtype=np.int32)
        self._slots = np.full(2 * limit, _UNKNOWN, dtype=np.int32)
        self._size = 0
        self._lock = threading.Lock()

    def lookup(self, rows: Ids, compute: Callable[[Ids], Ids]) -> Ids:
        """The values of rows; `compute` is called once, with the distinct rows that are not known."""
        values = np.empty(len(rows), dtype=np.int32)
        with self._lock:
            _find(rows, self._rows, self._values, self._slots, values)
        missing = np.flatnonzero(values == _UNKNOWN)
        if len(missing):
            distinct, numbers = distinct_rows(rows[missing])
            computed = np.asarray(compute(distinct), dtype=np.int32)
            self._keep(distinct[: self.limit], computed[: self.limit])
            values[missing] = computed[numbers]
        return values

    def _keep(self, rows: Ids, values: Ids) -> None:
        with self._lock:
            if self._size + len(rows) > self.limit:
                self._size = 0
                self._slots[:] = _UNKNOWN
            self._size = _add(rows, values, self._rows, self._values, self._slots, self._size)


def distinct_rows(rows: Ids) -> tuple[Ids, Ids]:
    """Distinct rows in the order of their first occurrence, and for every row its number among them.

    >>> distinct, numbers = distinct_rows(np.array([[5, 6], [1, 2], [5, 6]], np.int32))
    >>> distinct.tolist(), numbers.tolist()
    ([[5, 6], [1, 2]], [0, 1, 0])
    """
    distinct, numbers = np.empty_like(rows), np.empty(len(rows), dtype=np.int32)
    slots = np.full(1 << max(1, (2 * len(rows)).bit_length()), _UNKNOWN, dtype=np.int32)
    count = _number(rows, distinct, slots, numbers)
    return distinct[:count], numbers


@kernel
def _slot(row: Ids, known: Ids, slots: Ids) -> np.int64:
    """The slot that holds a row, or the free slot where it belongs."""
    h = np.uint64(0)
    for k in range(len(row)):
        h = join(h, np.uint64(row[k]))
    mask = len(slots) - 1
    slot = np.int64(h >> np.uint64(1)) & mask
    while slots[slot] != _UNKNOWN:
        same = True
        for k in range(len(row)):
            same &= known[slots[slot], k] == row[k]
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def _find(rows: Ids, known: Ids, values: Ids, slots: Ids, out: Ids) -> None:
    for i in range(len(rows)):
        number = slots[_slot(rows[i], known, slots)]
        out[i] = values[number] if number != _UNKNOWN else _UNKNOWN


@kernel
def _add(rows: Ids, new: Ids, known: Ids, values: Ids, slots: Ids, size: int) -> int:
    for i in range(len(rows)):
        slot = _slot(rows[i], known, slots)
        if slots[slot] == _UNKNOWN:
            slots[slot] = size
            for k in range(rows.shape[1]):  # assigning the row would compile Numba's code for messages about shapes
                known[size, k] = rows[i, k]
            size += 1
        values[slots[slot]] = new[i]
    return size


@kernel
def _number(rows: Ids, distinct: Ids, slots: Ids, numbers: Ids) -> int:
    count = 0
    for i in range(len(rows)):
        slot = _slot(rows[i], distinct, slots)
        if slots[slot] == _UNKNOWN:
            slots[slot] = count
            for k in range(rows.shape[1]):
                distinct[count, k] = rows[i, k]
            count += 1
        numbers[i] = slots[slot]
    return count
