"""Weights of features met while searching: sparse rows that appear when a feature is first updated.

    score[c] = sum over features f of W[f, c],      mean weights = W - U / clock

A table is an open-addressing index from the upper half of a feature's 64-bit key to its weights, and U, the part of the
averaged perceptron beside every weight: a change at time t adds t times the change to it. Features that never took part
in an error have no place in it.

Two kinds of tables exist, for few columns (moves) and for many (moves with labels). A `NarrowTable` keeps the weights
beside the key. A `WideTable` keeps the few columns that took part in errors as a block of cells (column, weight);
blocks grow by moving to the end, and become whole lines of all columns when there are many, as adding up whole lines
is what processors do best.

Weights are whole numbers of 16 bits, in training by nature, afterwards as multiples of a fraction: little memory to go
through, and the same scores on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Halves, Keys
from weft.declared import ANY, Array, Stored
from weft.errors import ModelError
from weft.kernel import inlined, inner_kernel, kernel
from weft.storage import Arrays

Integers = NDArray[np.int16]
Scores = NDArray[np.int32]
Floats = NDArray[np.float32]
#: Weights stay within these bounds; the perceptron hardly ever gets near them.
LARGEST = 32000
#: Most columns of a narrow table.
NARROW = 5
#: What model files hold of a narrow and of a wide table.
NARROW_ARRAYS = (
    Array("features", "uint32", ("features",)),
    Array("weights", "int16", ("features", NARROW), low=ANY),
)
WIDE_ARRAYS = (
    Array("features", "uint32", ("features",)),
    Array("counts", "uint16", ("features",)),
    Array("columns", "uint8 uint16", ("weights",), below="columns"),
    Array("weights", "int16", ("weights",), low=ANY),
)
#: Most columns of a wide table: cells keep them in 16 bits with a sign.
WIDEST = 2**15 - 32
_HALF = np.uint64(32)
_ZERO = np.uint64(0)
_FEATURES, _CELLS, _LINES = range(3)
_LOW, _HIGH, _USED, _WEIGHTS = range(4)
#: Room of a new block; a block that would need more than `_MANY` cells becomes a line.
_FEW, _MANY = 2, 12
#: Cells that a change of a weight takes at most.
CELLS_A_CHANGE = _MANY + 1
#: Added to the number of a line, to tell it from a block.
_LINE = 1 << 31


class NarrowTable(NamedTuple):
    """Weights of a few columns; a slot holds the halves of the half key, a mark, and the weights."""

    slots: Integers
    late: Floats
    size: NDArray[np.int64]  # features


class WideTable(NamedTuple):
    """Weights of many columns.

    A block is a cell (cells in use, room for cells) and the cells themselves; block 0 is that of no feature.
    """

    slots: Halves  # rows: upper half of the key; block, or `_LINE` + line (0: free)
    cells: Integers  # rows: column, weight
    cells_late: Floats
    lines: Integers
    lines_late: Floats
    size: NDArray[np.int64]  # features, cells, lines


def _slots_for(features: int) -> int:
    return 1 << max(6, (2 * features - 1).bit_length())


def new_narrow(features: int = 1024, learn: bool = True) -> NarrowTable:
    """An empty table for moves; without `learn` it has no room for averaging."""
    slots = _slots_for(features)
    late = np.zeros((slots if learn else 1, NARROW), dtype=np.float32)
    return NarrowTable(np.zeros((slots, _WEIGHTS + NARROW), np.int16), late, np.zeros(1, np.int64))


def new_wide(columns: int, features: int = 1024, cells: int = 8192, lines: int = 64, learn: bool = True) -> WideTable:
    """An empty table for moves with labels; without `learn` it has no room for averaging."""
    return WideTable(
        np.zeros((_slots_for(features), 2), np.uint32),
        np.zeros((cells, 2), np.int16),
        np.zeros(cells if learn else 1, np.float32),
        np.zeros((lines, columns), np.int16),
        np.zeros((lines if learn else 1, columns), np.float32),
        np.array([0, 1, 0], dtype=np.int64),
    )


def grow_narrow(table: NarrowTable, features: int) -> NarrowTable:
    """The table with room for that many more features."""
    needed = int(table.size[_FEATURES]) + features
    if needed <= len(table.slots) // 2:
        return table
    larger = new_narrow(needed)
    _move_narrow(table, larger)
    return larger


def grow_wide(table: WideTable, features: int, cells: int, lines: int) -> WideTable:
    """The table with room for that many more features, cells and lines."""
    have = table.size.tolist()
    if have[_FEATURES] + features > len(table.slots) // 2:
        slots = np.zeros((_slots_for(have[_FEATURES] + features), 2), np.uint32)
        _move_wide(table.slots, slots)
        table = table._replace(slots=slots)
    if have[_CELLS] + cells > len(table.cells):
        more = max(cells, len(table.cells))
        table = table._replace(cells=_longer(table.cells, more), cells_late=_longer(table.cells_late, more))
    if have[_LINES] + lines > len(table.lines):
        more = max(lines, len(table.lines))
        table = table._replace(lines=_longer(table.lines, more), lines_late=_longer(table.lines_late, more))
    return table


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def pack_narrow(table: NarrowTable, clock: float, scale: float) -> Arrays:
    """The mean weights as multiples of 1 / scale, without zeros, in the form of a model file.

    >>> table = new_narrow()
    >>> change_narrow(table, np.array([7 << 32], dtype=np.uint64), 0, 1, 3, 2, 0.0)
    >>> {name: array.tolist() for name, array in pack_narrow(table, 1.0, 10.0).items()}
    {'features': [7], 'weights': [[0, 0, 0, 20, 0]]}
    """
    used = table.slots[:, _USED] != 0
    halves = np.ascontiguousarray(table.slots[used, :_USED]).view(np.uint32).ravel()
    means = table.slots[used, _WEIGHTS:] - table.late[used].astype(np.float64) / max(clock, 1.0)
    weights = _rounded(means, scale)
    order = np.argsort(halves)
    order = order[np.any(weights[order], axis=1)]
    return {"features": halves[order], "weights": weights[order]}


def unpack_narrow(arrays: Arrays) -> NarrowTable:
    """A table to score with, from what `pack_narrow` made."""
    features, weights = Stored.of(arrays).take(*NARROW_ARRAYS).values()
    table = new_narrow(len(features), learn=False)
    _fill_narrow(np.array(features, np.uint32), np.array(weights, np.int16), table)
    return table


def pack_wide(table: WideTable, clock: float, scale: float) -> Arrays:
    """The same for a table of many columns, where single weights are left out."""
    used = table.slots[:, 1] > 0
    order = np.argsort(table.slots[used, 0])
    features, places = table.slots[used][order].astype(np.int64).T
    is_line = places >= _LINE
    blocks = np.where(is_line, 0, places)
    counts = np.where(is_line, table.lines.shape[1], table.cells[blocks, 0])
    which = np.repeat(np.arange(len(places)), counts)
    inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    line = is_line[which]
    at = np.where(line, 0, blocks[which] + 1 + inside)
    row, column = np.where(line, places[which] - _LINE, 0), np.where(line, inside, 0)
    now = np.where(line, table.lines[row, column], table.cells[at, 1])
    late = np.where(line, table.lines_late[row, column], table.cells_late[at]).astype(np.float64)
    means = now - late / max(clock, 1.0)
    weights = _rounded(means, scale)
    columns = np.where(line, inside, table.cells[at, 0])
    kept = weights != 0
    counts = np.bincount(which[kept], minlength=len(places))
    return {
        "features": features[counts > 0].astype(np.uint32),
        "counts": counts[counts > 0].astype(np.uint16),
        "columns": columns[kept].astype(np.uint8 if table.lines.shape[1] <= 256 else np.uint16),
        "weights": weights[kept],
    }


def mix_narrow(tables: Sequence[Arrays], least: int) -> Arrays:
    """The mean of packed tables of moves; features none of whose means is `least` or more in size are left out.

    >>> table = {"features": np.array([7], np.uint32), "weights": np.array([[0, 0, 0, 20, 0]], np.int16)}
    >>> mix_narrow([table, {**table, "features": np.array([9], np.uint32)}], 0)["weights"].tolist()
    [[0, 0, 0, 10, 0], [0, 0, 0, 10, 0]]
    """
    features, which = np.unique(np.concatenate([table["features"] for table in tables]), return_inverse=True)
    means = np.zeros((len(features), NARROW))
    np.add.at(means, which, np.concatenate([table["weights"] for table in tables]) / len(tables))
    weights = _rounded(means, 1.0)
    kept = np.abs(weights).max(axis=1, initial=0) >= max(1, least)
    return {"features": features[kept], "weights": weights[kept]}


def mix_wide(tables: Sequence[Arrays], least: int) -> Arrays:
    """The same for tables of many columns, where single weights are left out."""
    wide = np.uint64(16)
    keys = np.concatenate([
        (np.repeat(table["features"], table["counts"]).astype(np.uint64) << wide) | table["columns"].astype(np.uint64)
        for table in tables
    ])  # fmt: skip
    keys, which = np.unique(keys, return_inverse=True)
    means = np.bincount(which, np.concatenate([table["weights"] for table in tables]) / len(tables), len(keys))
    weights = _rounded(means, 1.0)
    kept = np.abs(weights) >= max(1, least)
    features, counts = np.unique(keys[kept] >> wide, return_counts=True)
    return {
        "features": features.astype(np.uint32),
        "counts": counts.astype(np.uint16),
        "columns": (keys[kept] & np.uint64(0xFFFF)).astype(np.result_type(*(table["columns"] for table in tables))),
        "weights": weights[kept],
    }


def unpack_wide(arrays: Arrays, columns: int) -> WideTable:
    """A table to score with, from what `pack_wide` made; `columns` is how many there are."""
    arrays = Stored.of(arrays).take(*WIDE_ARRAYS, columns=columns)
    features, counts = arrays["features"], arrays["counts"].astype(np.int64)
    if int(counts.sum()) != len(arrays["columns"]):
        raise ModelError("the counts and weights of actions do not fit together: the model file is damaged")
    is_line = counts > _MANY
    n_cells, n_lines = int((counts[~is_line] + 1).sum()) + 1, int(is_line.sum())
    table = new_wide(columns, len(features), n_cells, max(1, n_lines), learn=False)
    actions, weights = arrays["columns"].astype(np.uint16, copy=False), arrays["weights"].astype(np.int16, copy=False)
    _fill_wide(np.array(features, np.uint32), counts, actions, weights, table)
    table.size[:] = len(features), n_cells, n_lines
    return table


def largest_mean(moves: NarrowTable, labels: WideTable, clock: float) -> float:
    """The largest size of a mean weight of two tables."""
    clock = max(clock, 1.0)
    means = (
        moves.slots[:, _WEIGHTS:] - moves.late / clock,
        np.where(labels.cells_late == 0.0, 0.0, labels.cells[:, 1] - labels.cells_late / clock),
        labels.lines - labels.lines_late / clock,
    )
    return max(float(np.abs(each).max(initial=0.0)) for each in means)


def _rounded(means: NDArray[Any], scale: float) -> Integers:
    return np.clip(np.rint(means * scale), -LARGEST, LARGEST).astype(np.int16)


@inlined
def _begin(half: np.uint32, mask: int) -> np.int64:
    """Where the search for a key begins: Fibonacci hashing spreads it."""
    return np.int64((np.uint64(half) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(34)) & mask


@inner_kernel
def _narrow_slot(half: np.uint32, slots: Integers) -> np.int64:
    """The slot of a key: its own or the free one where it belongs."""
    mask = len(slots) - 1
    slot = _begin(half, mask)
    low, high = np.int16(np.uint16(half & np.uint32(0xFFFF))), np.int16(np.uint16(half >> np.uint32(16)))
    while slots[slot, _USED] != 0 and (slots[slot, _LOW] != low or slots[slot, _HIGH] != high):
        slot = (slot + 1) & mask
    return slot


@inner_kernel
def _take_narrow(half: np.uint32, slots: Integers, slot: np.int64) -> None:
    slots[slot, _LOW] = np.int16(np.uint16(half & np.uint32(0xFFFF)))
    slots[slot, _HIGH] = np.int16(np.uint16(half >> np.uint32(16)))
    slots[slot, _USED] = 1


@kernel
def _move_narrow(old: NarrowTable, new: NarrowTable) -> None:
    for k in range(len(old.slots)):
        if old.slots[k, _USED] != 0:
            low, high = np.uint32(np.uint16(old.slots[k, _LOW])), np.uint32(np.uint16(old.slots[k, _HIGH]))
            slot = _narrow_slot(np.uint32(low | (high << np.uint32(16))), new.slots)
            new.slots[slot] = old.slots[k]
            new.late[slot] = old.late[k]
    new.size[0] = old.size[0]


@kernel
def _fill_narrow(keys: Halves, weights: Integers, table: NarrowTable) -> None:
    for k in range(len(keys)):
        slot = _narrow_slot(keys[k], table.slots)
        _take_narrow(keys[k], table.slots, slot)
        for c in range(NARROW):
            table.slots[slot, _WEIGHTS + c] = weights[k, c]
    table.size[0] = len(keys)


class LookUps(NamedTuple):
    """Scratch space for look-ups, one per thread."""

    halves: Halves  # rows: halves of keys; halves and places found where the search for them begins
    places: NDArray[np.int64]


def new_look_ups(features: int) -> LookUps:
    """Room for that many features at a time."""
    return LookUps(np.zeros((3, features), np.uint32), np.zeros(2 * features, np.int64))


@inlined
def _fired(keys: Keys, first: int, end: int, halves: Halves) -> int:
    """The halves of the keys that are not 0 go into the first row; how many there are."""
    count = 0
    for t in range(first, end):
        halves[0, count] = np.uint32(keys[t] >> _HALF)
        count += 1 if keys[t] != _ZERO else 0
    return count


@inner_kernel
def add_narrow(table: NarrowTable, keys: Keys, first: int, end: int, room: LookUps, out: Scores) -> None:
    """Add up the weights of features."""
    slots, halves, places = table.slots, room.halves, room.places
    mask = len(slots) - 1
    count = _fired(keys, first, end, halves)
    # All look-ups before all sums, without branches: the processor waits for many places in memory at a time.
    for k in range(count):
        half = halves[0, k]
        slot = _begin(half, mask)
        low, high = np.int16(np.uint16(half & np.uint32(0xFFFF))), np.int16(np.uint16(half >> np.uint32(16)))
        own = (slots[slot, _LOW] == low) & (slots[slot, _HIGH] == high) | (slots[slot, _USED] == 0)
        places[k] = slot if own else np.int64(-1)
    a = b = c = d = e = np.int32(0)
    for k in range(count):
        slot = places[k]
        if slot < 0:
            slot = _narrow_slot(halves[0, k], slots)
        a += slots[slot, _WEIGHTS]  # a free slot holds zeros
        b += slots[slot, _WEIGHTS + 1]
        c += slots[slot, _WEIGHTS + 2]
        d += slots[slot, _WEIGHTS + 3]
        e += slots[slot, _WEIGHTS + 4]
    out[0], out[1], out[2], out[3], out[4] = a, b, c, d, e


@inner_kernel
def change_narrow(table: NarrowTable, keys: Keys, first: int, end: int, column: int, by: int, clock: float) -> None:
    """Change the weights of features in a column; features without a slot get one."""
    for t in range(first, end):
        if keys[t] != _ZERO:
            half = np.uint32(keys[t] >> _HALF)
            slot = _narrow_slot(half, table.slots)
            if table.slots[slot, _USED] == 0:
                _take_narrow(half, table.slots, slot)
                table.size[0] += 1
            if abs(table.slots[slot, _WEIGHTS + column] + by) <= LARGEST:
                table.slots[slot, _WEIGHTS + column] += by
                table.late[slot, column] += np.float32(by * clock)


@inner_kernel
def _wide_slot(half: np.uint32, slots: Halves) -> np.int64:
    mask = len(slots) - 1
    slot = _begin(half, mask)
    while slots[slot, 1] != 0 and slots[slot, 0] != half:
        slot = (slot + 1) & mask
    return slot


@kernel
def _move_wide(old: Halves, new: Halves) -> None:
    for k in range(len(old)):
        if old[k, 1] != 0:
            slot = _wide_slot(old[k, 0], new)
            new[slot, 0] = old[k, 0]
            new[slot, 1] = old[k, 1]


@kernel
def _fill_wide(
    keys: Halves, counts: NDArray[np.int64], actions: NDArray[np.uint16], weights: Integers, table: WideTable
) -> None:
    """Enter features one after the other, the `counts[k]` weights of each as a line or as a block."""
    cell, line, entry = 1, 0, 0
    for k in range(len(keys)):
        slot = _wide_slot(keys[k], table.slots)
        table.slots[slot, 0] = keys[k]
        if counts[k] > _MANY:
            table.slots[slot, 1] = _LINE + line
            for m in range(entry, entry + counts[k]):
                table.lines[line, actions[m]] = weights[m]
            line += 1
        else:
            table.slots[slot, 1] = cell
            table.cells[cell, 0] = table.cells[cell, 1] = counts[k]
            for m in range(entry, entry + counts[k]):
                cell += 1
                table.cells[cell, 0], table.cells[cell, 1] = actions[m], weights[m]
            cell += 1
        entry += counts[k]


@inner_kernel
def add_wide(table: WideTable, keys: Keys, first: int, end: int, room: LookUps, out: Scores) -> None:
    """Add up the weights of features."""
    slots, halves, places = table.slots, room.halves, room.places
    mask = len(slots) - 1
    count = _fired(keys, first, end, halves)
    for k in range(count):  # as above
        slot = _begin(halves[0, k], mask)
        halves[1, k], halves[2, k] = slots[slot, 0], slots[slot, 1]
    found, lines = 0, len(places)  # blocks gather at the beginning, lines at the end
    for k in range(count):
        place = np.int64(halves[2, k])
        if place != 0 and halves[1, k] != halves[0, k]:
            place = np.int64(slots[_wide_slot(halves[0, k], slots), 1])
        is_line = 1 if place >= _LINE else 0
        places[lines - 1] = place - _LINE
        lines -= is_line
        places[found] = place
        found += 1 - is_line if place > 0 else 0
    for k in range(found):
        halves[1, k] = np.uint32(table.cells[places[k], 0])
    width = len(out)
    while lines + 4 <= len(places):  # four at a time: sums are fetched and put back less often
        one, two = table.lines[places[lines]], table.lines[places[lines + 1]]
        three, four = table.lines[places[lines + 2]], table.lines[places[lines + 3]]
        for c in range(width):
            out[c] += (np.int32(one[c]) + np.int32(two[c])) + (np.int32(three[c]) + np.int32(four[c]))
        lines += 4
    for k in range(lines, len(places)):
        line = table.lines[places[k]]
        for c in range(width):
            out[c] += line[c]
    for k in range(found):
        block = places[k]
        for cell in range(block + 1, block + 1 + np.int64(halves[1, k])):
            out[table.cells[cell, 0]] += table.cells[cell, 1]


@inner_kernel
def wide_has_room(table: WideTable, changes: int) -> bool:
    """Whether there is certainly room for that many changes of single features."""
    return (
        table.size[_FEATURES] + changes <= len(table.slots) // 2
        and table.size[_CELLS] + changes * CELLS_A_CHANGE <= len(table.cells)
        and table.size[_LINES] + changes <= len(table.lines)
    )


@inner_kernel
def narrow_has_room(table: NarrowTable, changes: int) -> bool:
    """Whether there is certainly room for that many changes of single features."""
    return table.size[_FEATURES] + changes <= len(table.slots) // 2


@inner_kernel
def change_wide(table: WideTable, keys: Keys, first: int, end: int, column: int, by: int, clock: float) -> None:
    """Change the weights of features in a column; where there is none yet, one is made."""
    for t in range(first, end):
        if keys[t] != _ZERO:
            _change_one(table, np.uint32(keys[t] >> _HALF), column, by, np.float32(by * clock))


@inner_kernel
def _change_one(table: WideTable, half: np.uint32, column: int, by: int, late: np.float32) -> None:
    slot = _wide_slot(half, table.slots)
    place = np.int64(table.slots[slot, 1])
    if place == 0:
        place = _new_block(table, _FEW)
        table.size[_FEATURES] += 1
        table.slots[slot, 0] = half
        table.slots[slot, 1] = place
    if place < _LINE:
        cell = _cell_of(table, slot, column)
        if cell > 0:
            if abs(table.cells[cell, 1] + by) <= LARGEST:
                table.cells[cell, 1] += by
                table.cells_late[cell] += late
            return
        place = np.int64(table.slots[slot, 1])
    line = place - _LINE
    if abs(table.lines[line, column] + by) <= LARGEST:
        table.lines[line, column] += by
        table.lines_late[line, column] += late


@inner_kernel
def _cell_of(table: WideTable, slot: np.int64, column: int) -> np.int64:
    """The cell of a column, made where there is none; 0 if the block had to become a line."""
    block = np.int64(table.slots[slot, 1])
    count, room = np.int64(table.cells[block, 0]), np.int64(table.cells[block, 1])
    for k in range(1, count + 1):
        if table.cells[block + k, 0] == column:
            return block + k
    if count == _MANY:
        line = table.size[_LINES]
        table.size[_LINES] = line + 1
        for k in range(1, count + 1):
            table.lines[line, table.cells[block + k, 0]] = table.cells[block + k, 1]
            table.lines_late[line, table.cells[block + k, 0]] = table.cells_late[block + k]
        table.slots[slot, 1] = _LINE + line
        return np.int64(0)
    if count == room:
        larger = _new_block(table, 2 * int(room))
        for k in range(1, count + 1):
            table.cells[larger + k, 0] = table.cells[block + k, 0]
            table.cells[larger + k, 1] = table.cells[block + k, 1]
            table.cells_late[larger + k] = table.cells_late[block + k]
        block = larger
        table.slots[slot, 1] = block
    table.cells[block, 0] = count + 1
    cell = block + 1 + count
    table.cells[cell, 0] = column
    return cell


@inner_kernel
def _new_block(table: WideTable, room: int) -> np.int64:
    block: np.int64 = table.size[_CELLS]
    table.size[_CELLS] = block + 1 + room
    table.cells[block, 0] = 0
    table.cells[block, 1] = room
    return block
