"""What was found for rows of numbers once, kept in bounded memory: no Python object is made for a row asked before."""

from __future__ import annotations

import threading

import numpy as np

from weft.arrays import Ids
from weft.hashing import join
from weft.kernel import kernel

#: Rows that are kept: the common words of any text, with their tags.
LIMIT = 1 << 15
_UNKNOWN = -1


class RowMemory:
    """Numbers found for rows; threads may share it.

    >>> memory = RowMemory(2)
    >>> memory.add(np.array([[1, 2], [3, 4]], np.int32), np.array([7, 8], np.int32))
    >>> memory.find(np.array([[3, 4], [1, 1], [1, 2]], np.int32)).tolist()  # -1: not known
    [8, -1, 7]
    """

    def __init__(self, width: int) -> None:
        self._rows = np.zeros((LIMIT, width), dtype=np.int32)
        self._found = np.zeros(LIMIT, dtype=np.int32)
        self._slots = np.full(2 * LIMIT, _UNKNOWN, dtype=np.int32)
        self._size = 0
        self._lock = threading.Lock()

    def find(self, rows: Ids) -> Ids:
        """What was found for rows, -1 where nothing is known."""
        out = np.empty(len(rows), dtype=np.int32)
        with self._lock:
            _find(rows, self._rows, self._found, self._slots, out)
        return out

    def add(self, rows: Ids, found: Ids) -> None:
        """Remember what was found for rows; where there is no room, all earlier ones are forgotten."""
        rows, found = rows[:LIMIT], found[:LIMIT]
        with self._lock:
            if self._size + len(rows) > LIMIT:
                self._size = 0
                self._slots[:] = _UNKNOWN
            self._size = _add(rows, found, self._rows, self._found, self._slots, self._size)


def distinct_rows(rows: Ids) -> tuple[Ids, Ids]:
    """Distinct rows in the order of their first appearance, and the number of every row among them.

    >>> kinds, numbers = distinct_rows(np.array([[5, 6], [1, 2], [5, 6]], np.int32))
    >>> kinds.tolist(), numbers.tolist()
    ([[5, 6], [1, 2]], [0, 1, 0])
    """
    kinds, numbers = np.empty_like(rows), np.empty(len(rows), dtype=np.int32)
    slots = np.full(1 << max(1, (2 * len(rows)).bit_length()), _UNKNOWN, dtype=np.int32)
    count = _number(rows, kinds, slots, numbers)
    return kinds[:count], numbers


@kernel
def _slot(row: Ids, known: Ids, slots: Ids) -> np.int64:
    """The slot of a row: its own or the free one where it belongs."""
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
def _find(rows: Ids, known: Ids, found: Ids, slots: Ids, out: Ids) -> None:
    for i in range(len(rows)):
        number = slots[_slot(rows[i], known, slots)]
        out[i] = found[number] if number != _UNKNOWN else _UNKNOWN


@kernel
def _add(rows: Ids, new: Ids, known: Ids, found: Ids, slots: Ids, size: int) -> int:
    for i in range(len(rows)):
        slot = _slot(rows[i], known, slots)
        if slots[slot] == _UNKNOWN:
            slots[slot] = size
            known[size] = rows[i]
            size += 1
        found[slots[slot]] = new[i]
    return size


@kernel
def _number(rows: Ids, kinds: Ids, slots: Ids, numbers: Ids) -> int:
    count = 0
    for i in range(len(rows)):
        slot = _slot(rows[i], kinds, slots)
        if slots[slot] == _UNKNOWN:
            slots[slot] = count
            kinds[count] = rows[i]
            count += 1
        numbers[i] = slots[slot]
    return count
