"""Features of the parts of dependency trees: all parts of a batch scored, or moved, without Python in the loop.

    score(part) = sum over templates t of  W[slot(t)] + W[slot(t) xor shape(part)],
    slot(t)     = upper bits of  sum over the words of the part of  K[role, word, t]

K, what a word in a role adds to the key of a template, is computed once per word. The shape, a small number, is taken
into a slot by exclusive or, so that both weights of a template stand in one line of the processor's cache. A template
fires where all of its fields have values.

One kernel per kind of part walks over the parts and makes the slots of each; what is then done with them is its mode:
add up weights, add a number to weights, list the slots, or only count them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Keys
from weft.features.tree_templates import BINS, ROLES, A, B, Block, G, H, M, S, TreeProgram
from weft.hashing import hash_string
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States

SCORE, SCATTER, COLLECT, COUNT = range(4)
#: Most values between two words that are told apart in a sentence.
_VALUES = 64
_START, _END, _NONE = (np.uint64(hash_string(name)) for name in ("before ROOT", "after the end", "no word"))
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class TreeWords(NamedTuple):
    """Words of a batch: values of fields (row 0 is ROOT) and, ragged, the members of their sets (row 0 too)."""

    values: Keys
    set_offsets: Indices
    sets: Keys


class Given(NamedTuple):
    """What is given of features besides words: marks of arcs, 0 for none, and factors of features, none for all 1."""

    marks: Keys  # [arc, mark]
    factors: Floats


class Space(NamedTuple):
    """The arrays of an `ArcSpace`."""

    offsets: Indices
    head: States
    modifier: States
    first: Indices
    rank: States
    into: Indices
    into_first: Indices
    siblings: Indices
    grands: Indices


class Room(NamedTuple):
    """Scratch for the longest sentence."""

    keys: Keys  # [role, node, template] of the current block
    other: Keys  # the same for a second block
    third: Keys  # and for a third
    masks: Keys  # [node, node]: which values stand between
    holders: States  # a node for each of those values
    numbers: States  # [node]: number of the node's value
    slots: Indices


def arrays_of(space: ArcSpace) -> Space:
    """What kernels need of a space."""
    return Space(
        space.offsets, space.head, space.modifier, space.first, space.rank, space.into, space.into_first,
        space.siblings, space.grands,
    )  # fmt: skip


def new_room(program: TreeProgram, words: TreeWords, space: ArcSpace) -> Room:
    """Scratch for the sentences of a space."""
    longest = int(np.diff(space.offsets).max(initial=0))
    widest = max(block.seeds.shape[1] for block in program[:7])
    sizes = np.diff(words.set_offsets)
    most = int(sizes.max(initial=0))
    per_part = 2 * (4 * widest + _VALUES * program.between.seeds.shape[1] + most * (most + 2))
    keys = np.zeros((len(ROLES), longest + 2, widest), dtype=np.uint64)
    between = bool(program.between.seeds.shape[1])
    masks = np.zeros((longest + 1, longest + 1) if between else (1, 1), dtype=np.uint64)
    holders, numbers = np.zeros(_VALUES, dtype=np.int32), np.zeros(longest + 1, dtype=np.int32)
    return Room(keys, keys.copy(), keys.copy(), masks, holders, numbers, np.zeros(per_part, dtype=np.int64))


@inner_kernel
def _value(words: Keys, first: int, n: int, position: int, column: int) -> np.uint64:
    if position == 0:
        return words[0, column]
    if position < 0:
        return _START
    if position > n:
        return _END
    return words[first + position, column]


@inner_kernel
def _fill(block: Block, words: Keys, first: int, n: int, keys: Keys) -> None:
    """What every node of a sentence adds to every key in every role; 0 where a field has no value.

    Node n + 1 stands for no word: the sibling of a first child, the head of ROOT.
    """
    width = block.seeds.shape[1]
    for role in range(keys.shape[0]):
        for node in range(n + 2):
            for t in range(width):
                keys[role, node, t] = block.seeds[role, t]
    for a in range(block.atoms.shape[0]):
        t, role, offset, column = block.atoms[a, 0], block.atoms[a, 1], block.atoms[a, 2], block.atoms[a, 3]
        if role == A:
            continue
        for node in range(n + 2):
            value = _NONE if node == n + 1 else _value(words, first, n, node + offset, column)
            if value == _ZERO:
                keys[role, node, t] = _ZERO
            elif keys[role, node, t] != _ZERO:
                keys[role, node, t] += block.factors[a] * value


@inner_kernel
def _length(one: int, other: int, bins: int) -> int:
    """Distance of a pair of words, 1 .. bins."""
    distance = abs(one - other)
    if distance > 10:
        bin_ = 7
    elif distance > 5:
        bin_ = 6
    else:
        bin_ = distance
    return min(bin_, bins)


@inner_kernel
def _shape(one: int, other: int, bins: int) -> int:
    """Direction and distance of a pair of words, 1 .. 14."""
    return _length(one, other, bins) + (BINS if one < other else 0)


@inner_kernel
def _bend(g: int, h: int, m: int) -> int:
    """The two directions of a head's head, its child and the child's child, 1 .. 4."""
    return 1 + (2 if g < h or h == 0 else 0) + (1 if h < m else 0)


@inner_kernel
def _between(block: Block, words: Keys, first: int, n: int, room: Room) -> int:
    """Number the values that stand between words, and note which stand between which; gives how many there are."""
    column = 0
    for a in range(block.atoms.shape[0]):
        if block.atoms[a, 1] == B:
            column = block.atoms[a, 3]
    found = 0
    for node in range(n + 1):
        value = _value(words, first, n, node, column)
        number = 0
        while number < found and _value(words, first, n, room.holders[number], column) != value:
            number += 1
        if number == found and found < _VALUES:
            room.holders[found] = node
            found += 1
        room.numbers[node] = number
    for one in range(n + 1):
        room.masks[one, one] = _ZERO
        inside = _ZERO
        for other in range(one + 1, n + 1):
            room.masks[one, other] = inside
            room.masks[other, one] = inside
            if room.numbers[other] < _VALUES:
                inside |= _ONE << np.uint64(room.numbers[other])
    return found


@inner_kernel
def _put(key: np.uint64, shape: int, shift: np.uint64, slots: Indices, count: int) -> int:
    slot = np.int64(key >> shift)
    slots[count] = slot
    slots[count + 1] = slot ^ shape
    return count + 2


@inner_kernel
def _two(
    keys: Keys, ends: States, h: int, m: int, shape: int, length: int, shift: np.uint64, slots: Indices, count: int
) -> int:
    for t in range(ends[1]):
        one, other = keys[H, h, t], keys[M, m, t]
        if one != _ZERO and other != _ZERO:
            count = _put(one + other, shape if t < ends[0] else length, shift, slots, count)
    for t in range(ends[1], ends[2]):
        one, other = keys[H, h, t], keys[M, m, t]
        if one != _ZERO and other != _ZERO:
            slots[count] = np.int64(one + other >> shift) ^ (1 if h < m else 2)
            count += 1
    return count


@inner_kernel
def _three(
    keys: Keys, width: int, h: int, m: int, role: int, third: int, shape: int, shift: np.uint64, slots: Indices,
    count: int,
) -> int:  # fmt: skip
    for t in range(width):
        one, other, last = keys[H, h, t], keys[M, m, t], keys[role, third, t]
        if one != _ZERO and other != _ZERO and last != _ZERO:
            count = _put(one + other + last, shape, shift, slots, count)
    return count


@inner_kernel
def _four(
    keys: Keys, width: int, h: int, m: int, s: int, g: int, shape: int, shift: np.uint64, slots: Indices, count: int
) -> int:
    for t in range(width):
        one, other, third, last = keys[H, h, t], keys[M, m, t], keys[S, s, t], keys[G, g, t]
        if one != _ZERO and other != _ZERO and third != _ZERO and last != _ZERO:
            count = _put(one + other + third + last, shape, shift, slots, count)
    return count


@inner_kernel
def _marked(
    block: Block, keys: Keys, marks: Keys, arc: int, h: int, m: int, shape: int, shift: np.uint64, slots: Indices,
    count: int,
) -> int:  # fmt: skip
    for a in range(block.atoms.shape[0]):
        if block.atoms[a, 1] == A:
            t, mark = block.atoms[a, 0], marks[arc, block.atoms[a, 3]]
            one, other = keys[H, h, t], keys[M, m, t]
            if mark != _ZERO and one != _ZERO and other != _ZERO:
                count = _put(one + other + block.factors[a] * mark, shape, shift, slots, count)
    return count


@inner_kernel
def _use(
    mode: int, slots: Indices, first: int, end: int, number: float, factors: Floats, weights: Floats, listed: Indices,
    values: Floats, at: int,
) -> float:  # fmt: skip
    """The sum of weights; or the number added to them; or slots and number listed from `at` on."""
    total = 0.0
    if factors.shape[0]:
        for k in range(first, end):
            slot = slots[k]
            if mode == SCORE:
                total += factors[slot] * weights[slot]
            elif mode == SCATTER:
                weights[slot] += factors[slot] * number
            elif mode == COLLECT:
                listed[at + k - first] = slot
                values[at + k - first] = factors[slot] * number
    elif mode == SCORE:
        for k in range(first, end):
            total += weights[slots[k]]
    elif mode == SCATTER:
        for k in range(first, end):
            weights[slots[k]] += number
    elif mode == COLLECT:
        for k in range(first, end):
            listed[at + k - first] = slots[k]
            values[at + k - first] = number
    return total


@kernel
def visit_arcs(
    mode: int, program: TreeProgram, words: TreeWords, given: Given, space: Space, room: Room,
    shift: np.uint64, crossed: bool, numbers: Floats, weights: Floats, listed: Indices, values: Floats,
) -> int:  # fmt: skip
    """Arcs; with `crossed` the features of arcs that cross others, in their place. Gives how many slots were listed."""
    block = program.crossed if crossed else program.arc
    wide = program.between.seeds.shape[1]
    marked = program.marked.seeds.shape[1] > 0 and given.marks.shape[1] > 0 and not crossed
    of_head, of_modifier, of_pair = program.sets[0], program.sets[1], program.sets[2]
    at = 0
    for s in range(len(space.offsets) - 1):
        first, n = space.offsets[s], space.offsets[s + 1] - space.offsets[s]
        node = first + s
        begin, end = space.first[node], space.first[node + n + 1]
        _fill(block, words.values, first, n, room.keys)
        found = 0
        if wide and not crossed:
            found = _between(program.between, words.values, first, n, room)
            _fill(program.between, words.values, first, n, room.other)
        if marked:
            _fill(program.marked, words.values, first, n, room.third)
        for a in range(begin, end):
            if mode != SCORE and numbers[a] == 0.0:
                continue
            h, m = space.head[a], space.modifier[a]
            shape, length = _shape(h, m, program.bins), _length(h, m, program.bins)
            count = _two(room.keys, block.ends, h, m, shape, length, shift, room.slots, 0)
            if marked:
                count = _marked(program.marked, room.third, given.marks, a, h, m, shape, shift, room.slots, count)
            if not crossed:
                inside = room.masks[h, m] if wide else _ZERO
                number = 0
                while inside != _ZERO and number < found:
                    if inside & _ONE:
                        holder = room.holders[number]
                        count = _three(room.other, wide, h, m, B, holder, shape, shift, room.slots, count)
                    inside >>= _ONE
                    number += 1
                h_row, m_row = (first + h if h > 0 else 0), first + m
                h0, h1 = words.set_offsets[h_row], words.set_offsets[h_row + 1]
                m0, m1 = words.set_offsets[m_row], words.set_offsets[m_row + 1]
                if of_head:
                    for i in range(h0, h1):
                        count = _put(of_head * words.sets[i], shape, shift, room.slots, count)
                if of_modifier:
                    for j in range(m0, m1):
                        count = _put(of_modifier * words.sets[j], shape, shift, room.slots, count)
                if of_pair:
                    for i in range(h0, h1):
                        for j in range(m0, m1):
                            key = of_pair * words.sets[i] + of_head * (words.sets[j] ^ of_pair)
                            count = _put(key, shape, shift, room.slots, count)
            total = _use(mode, room.slots, 0, count, numbers[a], given.factors, weights, listed, values, at)
            if mode == SCORE:
                numbers[a] = total
            elif mode >= COLLECT:
                at += count
    return at


@kernel
def visit_siblings(
    mode: int, program: TreeProgram, words: TreeWords, given: Given, space: Space, room: Room,
    shift: np.uint64, numbers: Floats, weights: Floats, listed: Indices, values: Floats,
) -> int:  # fmt: skip
    """Sibling parts."""
    width = program.sibling.seeds.shape[1]
    at = 0
    for s in range(len(space.offsets) - 1):
        first, n = space.offsets[s], space.offsets[s + 1] - space.offsets[s]
        node = first + s
        _fill(program.sibling, words.values, first, n, room.keys)
        for a in range(space.first[node], space.first[node + n + 1]):
            h, m = space.head[a], space.modifier[a]
            for rank in range(-1, space.rank[a]):
                part = space.siblings[a] + rank + 1
                if mode != SCORE and numbers[part] == 0.0:
                    continue
                sibling = n + 1 if rank < 0 else space.modifier[a - space.rank[a] + rank]
                shape = _shape(h if rank < 0 else sibling, m, program.bins)
                count = _three(room.keys, width, h, m, S, sibling, shape, shift, room.slots, 0)
                total = _use(mode, room.slots, 0, count, numbers[part], given.factors, weights, listed, values, at)
                if mode == SCORE:
                    numbers[part] = total
                elif mode >= COLLECT:
                    at += count
    return at


@kernel
def visit_grand_arcs(
    mode: int, program: TreeProgram, words: TreeWords, given: Given, space: Space, room: Room, shift: np.uint64,
    numbers: Floats, weights: Floats, listed: Indices, values: Floats,
) -> int:  # fmt: skip
    """Arcs with the head's own head."""
    width = program.grand.seeds.shape[1]
    at, part = 0, 0
    for s in range(len(space.offsets) - 1):
        first, n = space.offsets[s], space.offsets[s + 1] - space.offsets[s]
        _fill(program.grand, words.values, first, n, room.keys)
        for h in range(n + 1):
            v = first + s + h
            above = 1 if h == 0 else space.into_first[v + 1] - space.into_first[v]
            for up in range(above):
                g = n + 1 if h == 0 else space.head[space.into[space.into_first[v] + up]]
                for a in range(space.first[v], space.first[v + 1]):
                    if mode == SCORE or numbers[part] != 0.0:
                        m = space.modifier[a]
                        shape = _bend(g, h, m)
                        count = _three(room.keys, width, h, m, G, g, shape, shift, room.slots, 0)
                        total = _use(
                            mode, room.slots, 0, count, numbers[part], given.factors, weights, listed, values, at
                        )
                        if mode == SCORE:
                            numbers[part] = total
                        elif mode >= COLLECT:
                            at += count
                    part += 1
    return at


@kernel
def visit_grands(
    mode: int, program: TreeProgram, words: TreeWords, given: Given, space: Space, room: Room, shift: np.uint64,
    numbers: Floats, weights: Floats, listed: Indices, values: Floats,
) -> int:  # fmt: skip
    """Grand-sibling parts."""
    width = program.grandsib.seeds.shape[1]
    at, part = 0, 0
    for s in range(len(space.offsets) - 1):
        first, n = space.offsets[s], space.offsets[s + 1] - space.offsets[s]
        _fill(program.grandsib, words.values, first, n, room.keys)
        for h in range(n + 1):
            v = first + s + h
            above = 1 if h == 0 else space.into_first[v + 1] - space.into_first[v]
            for up in range(above):
                g = n + 1 if h == 0 else space.head[space.into[space.into_first[v] + up]]
                for a in range(space.first[v], space.first[v + 1]):
                    m = space.modifier[a]
                    shape = _bend(g, h, m)
                    for rank in range(-1, space.rank[a]):
                        if mode == SCORE or numbers[part] != 0.0:
                            sibling = n + 1 if rank < 0 else space.modifier[a - space.rank[a] + rank]
                            count = _four(room.keys, width, h, m, sibling, g, shape, shift, room.slots, 0)
                            total = _use(
                                mode, room.slots, 0, count, numbers[part], given.factors, weights, listed, values, at
                            )
                            if mode == SCORE:
                                numbers[part] = total
                            elif mode >= COLLECT:
                                at += count
                        part += 1
    return at
