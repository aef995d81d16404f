"""Global features: what a slot adds to a structure in which earlier slots are filled.

| feature | of | fires when |
|---|---|---|
| pair | the labels of two positions with every context of the pair | the later label is filled |
| alike | whether two positions that are alike have the same label | the later label is filled |
| count | how many candidates have a role, up to 3 | the label (none), then a role: the old number goes |
| again | a shared role that occurs again | a role is filled |
| same role | two candidates with one role of a position, with every context of the pair | the second is filled |
| overlap | the roles of two candidates that overlap, and how | the second is filled |
| both | the labels and roles that one candidate has, with every context of the positions | the second is filled |

Each is a set function of the structure, so the sum does not depend on the order in which slots were filled.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Halves
from weft.infer.slots.problem import Batch, Labels, Roles, Sentence, Table, wide
from weft.infer.slots.weights import Rows, change, find, number_key
from weft.kernel import inlined, kernel

PAIR, ALIKE, COUNT, AGAIN, SAME_ROLE, OVERLAP, BOTH, BOTH_IN = range(1, 9)
KINDS = ("", "pair", "alike", "count", "again", "same role", "overlap", "both", "both")
MOST = 3
_NONE = np.uint32(0)


@kernel
def sentence_at(batch: Batch, number: int) -> Sentence:
    """Where a sentence stands in its batch."""
    first, size = batch.positions[number], batch.positions[number + 1] - batch.positions[number]
    candidate, many = batch.candidates[number], batch.candidates[number + 1] - batch.candidates[number]
    width = many + size if batch.nested else many
    return Sentence(
        first, size, candidate, many, batch.cells[number], width, batch.squares[number], batch.blocks[number]
    )


@inlined
def kind_of(batch: Batch, table: Table, at: Sentence, labels: Labels, slot: int) -> int:
    """The type of a candidate; of a position its label; -1 if the position has none."""
    if slot < at.candidates:
        return wide(batch.types[at.candidate + slot])
    label = wide(labels[slot - at.candidates])
    return table.types + label if label > 0 else wide(-1)


@inlined
def _put(keys: Halves, signs: Floats, count: int, key: np.uint32, sign: float) -> int:
    keys[count] = key
    signs[count] = sign
    return count + 1


@kernel
def of_label(
    batch: Batch, table: Table, at: Sentence, labels: Labels, position: int, label: int, keys: Halves, signs: Floats
) -> int:
    """The features that a label adds; how many there are."""
    count = 0
    for other in range(position):
        earlier = wide(labels[other])
        if earlier > 0:
            pair = at.square + position * at.size + other
            for c in range(batch.links.shape[1]):
                context = batch.links[pair, c]
                if context != 0:
                    count = _put(keys, signs, count, number_key(PAIR, earlier, label, c, 0, context), 1.0)
            if batch.alike[pair]:
                same = 1 if earlier == label else 0
                count = _put(keys, signs, count, number_key(ALIKE, same, 0, 0, 0, _NONE), 1.0)
    for role in range(1, table.columns.shape[2]):
        for kind in range(table.columns.shape[1]):
            if table.columns[label, kind, role] >= 0:
                count = _put(keys, signs, count, number_key(COUNT, label, role, 0, 0, _NONE), 1.0)
                break
    return count


@kernel
def of_role(
    batch: Batch, table: Table, at: Sentence, labels: Labels, roles: Roles, position: int, slot: int, role: int,
    keys: Halves, signs: Floats,
) -> int:  # fmt: skip
    """The features that a role other than none adds; how many there are."""
    count = 0
    label = wide(labels[position])
    before = 0
    for other in range(at.width):
        earlier = wide(roles[position, other])
        if earlier <= 0 or other == slot:
            continue
        if earlier == role:
            before += 1
        if other < at.candidates and slot < at.candidates:
            one, two = min(slot, other), max(slot, other)
            pair = at.block + one * at.candidates + two
            if earlier == role:
                for c in range(batch.joints.shape[1]):
                    context = batch.joints[pair, c]
                    if context != 0:
                        count = _put(keys, signs, count, number_key(SAME_ROLE, label, role, c, 0, context), 1.0)
            shape = wide(batch.overlaps[pair])
            if shape > 0:
                a, b = (role, earlier) if slot < other else (earlier, role)
                count = _put(keys, signs, count, number_key(OVERLAP, label, a, b, shape, _NONE), 1.0)
    if before < MOST:
        count = _put(keys, signs, count, number_key(COUNT, label, role, before, 0, _NONE), -1.0)
        count = _put(keys, signs, count, number_key(COUNT, label, role, before + 1, 0, _NONE), 1.0)
    if before > 0 and table.shared[role]:
        count = _put(keys, signs, count, number_key(AGAIN, label, role, 0, 0, _NONE), 1.0)
    # Slots of one candidate are filled in the order of the positions, so only earlier ones can have a role.
    for other in range(position):
        earlier = wide(roles[other, slot])
        if earlier <= 0:
            continue
        theirs = wide(labels[other])
        count = _put(keys, signs, count, number_key(BOTH, theirs, earlier, label, role, _NONE), 1.0)
        pair = at.square + position * at.size + other
        for c in range(batch.links.shape[1]):
            context = batch.links[pair, c]
            if context != 0:
                count = _put(keys, signs, count, number_key(BOTH_IN, theirs, earlier, label, role, context), 1.0)
    return count


@kernel
def total(whole: Rows, keys: Halves, signs: Floats, count: int) -> float:
    """The weight of global features."""
    found = 0.0
    for k in range(count):
        row = find(whole.slots, keys[k])
        if row >= 0:
            found += signs[k] * whole.values[row, 0]
    return found


@kernel
def change_all(whole: Rows, keys: Halves, signs: Floats, count: int, by: float, clock: float) -> None:
    """Change the weights of global features."""
    for k in range(count):
        change(whole, keys[k], 0, by * signs[k], clock)


@inlined
def room_for(positions: int, width: int, contexts: int, roles: int) -> int:
    """How many global features one slot has at most."""
    return positions * (contexts + 2) + width * (contexts + 2) + roles + 4


@kernel
def is_possible(table: Table, label: int, kind: int) -> bool:
    """Whether a candidate of a type has any role under a label."""
    return label > 0 and kind >= 0 and table.columns[label, kind, 0] >= 0


@kernel
def closes_cycle(at: Sentence, roles: Roles, source: int, target: int) -> bool:
    """Whether an edge from one position to another would close a cycle of positions."""
    if source == target:
        return True
    reached = np.zeros(at.size, np.uint8)
    waiting = np.zeros(at.size, np.int64)
    waiting[0], count = target, 1
    reached[target] = 1
    while count:
        count -= 1
        here = waiting[count]
        if here == source:
            return True
        for k in range(at.candidates, at.width):
            if roles[here, k] > 0 and not reached[k - at.candidates]:
                reached[k - at.candidates] = 1
                waiting[count] = k - at.candidates
                count += 1
    return False
