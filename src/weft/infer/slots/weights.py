"""Weights of features that appear when they are first updated: a row of numbers per feature, found by its key.

    score[c] = sum over features f of W[f, c],      mean weights = W - U / clock

`Rows` is an open-addressing index from 32-bit keys to rows of a fixed width. U is the part of the averaged perceptron
beside every weight: a change at time t adds t times the change to it. Key 0 stands for no feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Halves
from weft.hashing import join
from weft.kernel import inlined, kernel

_HALF = np.uint64(32)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(34)
_ONE = np.uint32(1)


class Rows(NamedTuple):
    """Weights by feature; a slot holds a key and the number of its row plus one."""

    slots: Halves  # [slot, (key, row + 1)]
    values: NDArray[np.float32]  # [row, column]
    late: Floats  # the same, for averaging
    size: NDArray[np.int64]  # rows in use


def new_rows(width: int, room: int = 1024, learn: bool = True) -> Rows:
    """An empty table; without `learn` it has no room for averaging.

    >>> rows = new_rows(2)
    >>> change(rows, np.uint32(7), 1, 2.0, 1.0)
    >>> look_up(rows, np.array([7, 8], np.uint32)).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    slots = 1 << max(6, (2 * room - 1).bit_length())
    late = np.zeros((room if learn else 0, width))
    return Rows(np.zeros((slots, 2), np.uint32), np.zeros((room, width), np.float32), late, np.zeros(1, np.int64))


def grown(rows: Rows, more: int) -> Rows:
    """The table with room for that many more features."""
    needed = int(rows.size[0]) + more
    if needed <= len(rows.values):
        return rows
    larger = new_rows(rows.values.shape[1], max(needed, 2 * len(rows.values)))
    keys = keys_of(rows)
    _fill(keys, larger.slots)
    larger.values[: len(keys)] = rows.values[: len(keys)]
    larger.late[: len(keys)] = rows.late[: len(keys)]
    larger.size[0] = len(keys)
    return larger


def keys_of(rows: Rows) -> Halves:
    """The keys of all rows, in the order of the rows."""
    keys = np.zeros(int(rows.size[0]), np.uint32)
    used = rows.slots[rows.slots[:, 1] > 0]
    keys[used[:, 1] - 1] = used[:, 0]
    return keys


def averaged(rows: Rows, clock: float) -> tuple[Halves, NDArray[np.float32]]:
    """Keys in rising order and the means of their weights, without rows of zeros; the weights if there are no means."""
    keys, size = keys_of(rows), int(rows.size[0])
    means = rows.values[:size].copy()
    if len(rows.late):
        means = (means - rows.late[:size] / max(clock, 1.0)).astype(np.float32)
    kept = np.flatnonzero((means != 0).any(axis=1))
    kept = kept[np.argsort(keys[kept])]
    return keys[kept], means[kept]


def rows_of(keys: Halves, values: NDArray[np.float32]) -> Rows:
    """A table to score with.

    >>> look_up(rows_of(np.array([3], np.uint32), np.ones((1, 2), np.float32)), np.array([3], np.uint32)).tolist()
    [[1.0, 1.0]]
    """
    table = new_rows(values.shape[1], max(1, len(keys)), learn=False)
    _fill(np.ascontiguousarray(keys, np.uint32), table.slots)
    table.values[: len(keys)] = values
    table.size[0] = len(keys)
    return table


@inlined
def begin(key: np.uint32, mask: int) -> np.int64:
    """Where the search for a key begins."""
    return np.int64((np.uint64(key) * _SPREAD) >> _SHIFT) & mask


@kernel
def find(slots: Halves, key: np.uint32) -> np.int64:
    """The row of a key, -1 if it has none."""
    mask = len(slots) - 1
    at = begin(key, mask)
    while slots[at, 1] != 0:
        if slots[at, 0] == key:
            return np.int64(slots[at, 1]) - 1
        at = (at + 1) & mask
    return np.int64(-1)


@kernel
def _fill(keys: Halves, slots: Halves) -> None:
    mask = len(slots) - 1
    for row in range(len(keys)):
        at = begin(keys[row], mask)
        while slots[at, 1] != 0:
            at = (at + 1) & mask
        slots[at, 0] = keys[row]
        slots[at, 1] = np.uint32(row + 1)


@kernel
def change(rows: Rows, key: np.uint32, column: int, by: float, clock: float) -> None:
    """Change one weight; a key without a row gets one. There must be room."""
    mask = len(rows.slots) - 1
    at = begin(key, mask)
    while rows.slots[at, 1] != 0 and rows.slots[at, 0] != key:
        at = (at + 1) & mask
    if rows.slots[at, 1] == 0:
        rows.size[0] += 1
        rows.slots[at, 0] = key
        rows.slots[at, 1] = np.uint32(rows.size[0])
    row = np.int64(rows.slots[at, 1]) - 1
    rows.values[row, column] += np.float32(by)
    rows.late[row, column] += by * clock


@kernel
def add_rows(rows: Rows, keys: Halves, first: int, end: int, out: Floats) -> None:
    """Set `out` to the sums of the rows of some keys."""
    width = rows.values.shape[1]
    for c in range(width):
        out[c] = 0.0
    for at in range(first, end):
        if keys[at] != 0:
            row = find(rows.slots, keys[at])
            if row >= 0:
                for c in range(width):
                    out[c] += rows.values[row, c]


@kernel
def number_key(kind: int, a: int, b: int, c: int, d: int, context: np.uint32) -> np.uint32:
    """The key of a feature of up to four small numbers and a context."""
    h = join(np.uint64(kind + 1), np.uint64(a + (b << 16) + (c << 32) + (d << 48)))
    h = join(h, np.uint64(context))
    key = np.uint32(h >> _HALF)
    return key if key != 0 else _ONE


def look_up(rows: Rows, keys: Halves) -> NDArray[np.float32]:
    """The weights of features, rows of zeros for unknown ones."""
    out = np.zeros((len(keys), rows.values.shape[1]), np.float32)
    for at, key in enumerate(keys):
        row = find(rows.slots, key)
        if row >= 0:
            out[at] = rows.values[row]
    return out
