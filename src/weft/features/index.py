"""From 64-bit feature keys to rows of weights: exactly, by an index that grows, or by hashing."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys, Rows
from weft.errors import ConfigError
from weft.kernel import kernel


class Index(Protocol):
    """Numbers rows for keys; `bits` of a key are significant."""

    bits: int

    def rows(self, keys: Keys) -> Rows:
        """Rows of keys, -1 for unknown ones."""
        ...

    def __len__(self) -> int: ...

    def keys(self) -> Keys:
        """The key of every row."""
        ...


class FeatureIndex:
    """Rows in order of first appearance: open addressing, at most half full; a slot holds a row, the row its key.

    >>> index = FeatureIndex()
    >>> index.add(np.array([7, 9, 7], dtype=np.uint64)).tolist()
    [0, 1, 0]
    >>> index.rows(np.array([9, 8], dtype=np.uint64)).tolist(), index.counts.tolist()
    ([1, -1], [2, 1])
    """

    bits = 64

    def __init__(self) -> None:
        self._slot_rows = np.full(1024, -1, dtype=np.int32)
        self._keys = np.zeros(512, dtype=np.uint64)
        self._counts = np.zeros(512, dtype=np.int32)
        self._size = 0

    def settle(self) -> None:
        """Give back all memory but that of the keys; the slots are made anew when they are next asked for."""
        self._keys = self._keys[: self._size].copy()
        self._counts = self._counts[: self._size].copy()
        self._slot_rows = np.full(0, -1, dtype=np.int32)

    def _unsettle(self) -> None:
        if not len(self._slot_rows):
            slots = 1024
            while slots < 2 * max(self._size, 1):
                slots *= 2
            self._make_room(slots)

    def add(self, keys: Keys) -> Rows:
        """Rows of keys, new ones for keys not met before; counts how often each was met."""
        self._unsettle()
        out = np.empty(len(keys), dtype=np.int32)
        done = 0
        while done < len(keys):
            done, self._size = _insert(keys, done, out, self._slot_rows, self._keys, self._counts, self._size)
            if done < len(keys):
                self._make_room(2 * len(self._slot_rows))
        return out

    def _make_room(self, slots: int) -> None:
        self._slot_rows = np.full(slots, -1, dtype=np.int32)
        self._keys = np.concatenate([self._keys, np.zeros(slots // 2 - len(self._keys), dtype=np.uint64)])
        self._counts = np.concatenate([self._counts, np.zeros(slots // 2 - len(self._counts), dtype=np.int32)])
        _place(self._keys, self._size, self._slot_rows)

    def rows(self, keys: Keys) -> Rows:
        self._unsettle()
        out = np.empty(len(keys), dtype=np.int32)
        _find(keys, self._slot_rows, self._keys, out)
        return out

    def __len__(self) -> int:
        return self._size

    def keys(self) -> Keys:
        return self._keys[: self._size]

    @property
    def counts(self) -> NDArray[np.int32]:
        """How often each row's key was added."""
        return self._counts[: self._size]

    def select(self, keep: NDArray[np.bool_]) -> FeatureIndex:
        """An index of the chosen rows, renumbered in order."""
        chosen = FeatureIndex()
        chosen.add(self.keys()[keep])
        chosen._counts[: len(chosen)] = self.counts[keep]
        return chosen


class HashedIndex:
    """Rows are the top bits of keys: no index to build or keep, at the price of collisions.

    >>> HashedIndex(bits=4).rows(np.array([1 << 60, 3 << 60], dtype=np.uint64)).tolist()
    [1, 3]
    """

    def __init__(self, bits: int = 20) -> None:
        if not 4 <= bits <= 30:
            raise ConfigError(f"hashing needs 4 to 30 bits, got {bits}")
        self.bits = bits

    def rows(self, keys: Keys) -> Rows:
        return (keys >> np.uint64(64 - self.bits)).astype(np.int32)

    def __len__(self) -> int:
        return 1 << self.bits

    def keys(self) -> Keys:
        return np.arange(len(self), dtype=np.uint64) << np.uint64(64 - self.bits)


@kernel
def _insert(
    keys: Keys,
    done: int,
    out: Rows,
    slot_rows: Rows,
    row_keys: Keys,
    counts: NDArray[np.int32],
    size: int,
) -> tuple[int, int]:
    mask = len(slot_rows) - 1
    for i in range(done, len(keys)):
        slot = np.int64(keys[i] & np.uint64(mask))
        while slot_rows[slot] >= 0 and row_keys[slot_rows[slot]] != keys[i]:
            slot = (slot + 1) & mask
        row = slot_rows[slot]
        if row < 0:
            if size == len(row_keys):
                return i, size
            row = size
            slot_rows[slot] = row
            row_keys[row] = keys[i]
            size += 1
        counts[row] += 1
        out[i] = row
    return len(keys), size


@kernel
def _place(row_keys: Keys, size: int, slot_rows: Rows) -> None:
    mask = len(slot_rows) - 1
    for row in range(size):
        slot = np.int64(row_keys[row] & np.uint64(mask))
        while slot_rows[slot] >= 0:
            slot = (slot + 1) & mask
        slot_rows[slot] = row


@kernel
def _find(keys: Keys, slot_rows: Rows, row_keys: Keys, out: Rows) -> None:
    mask = len(slot_rows) - 1
    for i in range(len(keys)):
        slot = np.int64(keys[i] & np.uint64(mask))
        while slot_rows[slot] >= 0 and row_keys[slot_rows[slot]] != keys[i]:
            slot = (slot + 1) & mask
        out[i] = slot_rows[slot]
