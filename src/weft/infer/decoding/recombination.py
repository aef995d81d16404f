"""Equal hypotheses are merged: same coverage, same end, same state of every feature."""

from __future__ import annotations

import numpy as np

from weft.arrays import Ids, Ints
from weft.infer.decoding.cubes import BITS
from weft.kernel import inner_kernel, kernel


@kernel
def keys_of(cover: Ints, end: Ids, previous: Ids, option: Ids, option_start: Ids, option_end: Ids, keys: Ints) -> None:
    """What tells hypotheses apart, one row per expansion: new coverage and new end; the states are for the caller."""
    columns = cover.shape[1]
    for i in range(len(previous)):
        p, o = previous[i], option[i]
        for k in range(columns):
            keys[i, k] = cover[p, k]
        for position in range(option_start[o], option_end[o]):
            keys[i, position // BITS] |= np.int64(1) << (position % BITS)
        keys[i, columns] = option_end[o] if option_end[o] > option_start[o] else end[p]


@kernel
def number_rows(keys: Ints, slots: Ids, number: Ids) -> int:
    """Number the distinct rows in the order in which they first occur; returns how many there are.

    `slots` is a hash table, a power of two of places for rows, all -1.
    """
    mask, found = len(slots) - 1, 0
    for i in range(len(keys)):
        at = _hash(keys, i) & mask
        while slots[at] >= 0 and not _equal(keys, int(slots[at]), i):
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = i
            number[i] = found
            found += 1
        else:
            number[i] = number[slots[at]]
    return found


@inner_kernel
def _hash(keys: Ints, i: int) -> int:
    value = np.uint64(14695981039346656037)
    for k in range(keys.shape[1]):
        value = (value ^ np.uint64(keys[i, k])) * np.uint64(1099511628211)
        value ^= value >> np.uint64(29)
    return int(value >> np.uint64(8))


@inner_kernel
def _equal(keys: Ints, one: int, other: int) -> bool:
    for k in range(keys.shape[1]):  # noqa: SIM110
        if keys[one, k] != keys[other, k]:
            return False
    return True


def table_size(rows: int) -> int:
    """Places of a hash table for so many rows.

    >>> table_size(5)
    16
    """
    return 1 << max(4, int(2 * rows - 1).bit_length())
