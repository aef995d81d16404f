"""Features of the arcs of finished trees, for finding their relations (McDonald, Lerman & Pereira 2006).

    f(i, j, y, x):  edge (i, j), siblings of j, words between i and j, children of j, place of j below i, grandparent

Templates (`weft.features.relation_templates`) join atoms of an arc into 64-bit keys. Atoms are values of words, as in
the table that a parser reads, and facts of the tree as small numbers; 0 stands for what is not there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints, Keys
from weft.features.morphology import Morphology
from weft.features.relation_templates import FLAGS, LETTERS, SETS, WORDS, RelationProgram
from weft.hashing import join
from weft.kernel import inner_kernel

Table = NDArray[np.int32]
#: Most members of a set that are looked at.
MANY = 24
T, A, Z = LETTERS.index("t"), LETTERS.index("a"), LETTERS.index("z")
_FLAGS, _FIELDS = len(FLAGS), len(LETTERS)
_ONE, _SIDE, _ARC, _AFFIXES, _BORDER, _ALIKE, _BETWEEN, _PLACE, _CHILDREN, _TURN = range(_FLAGS)
_HEAD, _DEPENDENT, _LEFT, _RIGHT, _FIRST, _LAST, _GRANDPARENT = range(len(WORDS))
_B, _C, _H, _D, _L, _R, _A, _G = range(len(SETS))
_NONE = np.uint64(0)


class TreeView(NamedTuple):
    """The children of every word of a sentence, left to right, and its descendants; one sentence at a time."""

    first: Table  # children of i: kids[first[i]:first[i + 1]]
    kids: Table
    enter: Table  # number of a word in depth-first order; -1 for what ROOT does not reach
    size: Table  # words of its subtree
    order: Table
    stack: Table


def new_view(longest: int) -> TreeView:
    """Room for sentences of up to so many words.

    >>> len(new_view(4).enter)
    5
    """
    return TreeView(*(np.zeros(longest + extra, np.int32) for extra in (3, 1, 1, 1, 1, 1)))


@inner_kernel
def look_at(heads: Table, offset: int, n: int, view: TreeView) -> None:
    """Fill the view with the tree of words `offset:offset + n`."""
    first, kids, enter, size, order, stack = view
    for i in range(n + 2):
        first[i] = 0
    for i in range(n):
        first[heads[offset + i] + 2] += 1
    for i in range(2, n + 2):
        first[i] += first[i - 1]
    for i in range(n):  # counting sort: first[h + 1] runs from the beginning of h's children to their end
        head = heads[offset + i]
        kids[first[head + 1]] = i + 1
        first[head + 1] += 1
    for i in range(n + 1):
        enter[i] = -1
        size[i] = 1
    stack[0] = 0
    depth, reached = 1, 0
    while depth > 0:
        depth -= 1
        word = stack[depth]
        enter[word] = reached
        order[reached] = word
        reached += 1
        for k in range(first[word + 1] - 1, first[word] - 1, -1):
            stack[depth] = kids[k]
            depth += 1
    for at in range(reached - 1, 0, -1):
        size[heads[offset + order[at] - 1]] += size[order[at]]


class Atoms(NamedTuple):
    """What the templates of one arc read."""

    values: Keys
    rows: Ints  # of head, dependent, siblings, children, grandparent in the table of words; -1: there is none
    members: Keys  # [set, member]
    counts: Ints


def new_atoms() -> Atoms:
    """Room for the atoms of an arc.

    >>> new_atoms().members.shape
    (8, 24)
    """
    values = np.zeros(_FLAGS + len(WORDS) * _FIELDS, np.uint64)
    rows = np.zeros(len(WORDS), np.int64)
    return Atoms(values, rows, np.zeros((len(SETS), MANY), np.uint64), np.zeros(len(SETS), np.int64))


def most_features(program: RelationProgram) -> int:
    """How many features the templates can have at an arc.

    >>> from weft.features.relation_templates import compile_relation_templates
    >>> most_features(compile_relation_templates("arc arc|B"))
    25
    """
    return int(np.where(program.sets >= 0, MANY, 1).sum())


@inner_kernel
def _add(atoms: Atoms, which: int, value: np.uint64) -> None:
    """Put a value into a set, once."""
    count = atoms.counts[which]
    for k in range(count):
        if atoms.members[which, k] == value:
            return
    if count < MANY and value != _NONE:
        atoms.members[which, count] = value
        atoms.counts[which] = count + 1


@inner_kernel
def _add_morphology(members: Morphology, row: int, atoms: Atoms, which: int) -> None:
    if row > 0:
        for p in range(members.offsets[row - 1], members.offsets[row]):
            _add(atoms, which, members.values[p])


@inner_kernel
def _add_agreement(members: Morphology, one: int, other: int, atoms: Atoms, which: int) -> None:
    """The attributes that two words share, each with whether the values are the same."""
    if one > 0:
        for p in range(members.offsets[one - 1], members.offsets[one]):
            for q in range(members.offsets[other - 1], members.offsets[other]):
                if members.names[p] == members.names[q]:
                    same = np.uint64(1 if members.values[p] == members.values[q] else 2)
                    _add(atoms, which, join(members.names[p], same))


@inner_kernel
def read_arc(
    words: Keys, columns: Ints, members: Morphology, morphology: bool,
    heads: Table, offset: int, n_words: int, tree: TreeView, head: int, k: int, atoms: Atoms,
) -> None:  # fmt: skip
    """The atoms of the arc from `head` to its dependent `tree.kids[k]`."""
    kids, values = tree.kids, atoms.values
    begin, end, word = tree.first[head], tree.first[head + 1], tree.kids[k]
    below, behind = tree.first[word], tree.first[word + 1]
    over = heads[offset + head - 1] if head > 0 else -1
    rows = atoms.rows
    rows[_HEAD] = offset + head if head > 0 else 0
    rows[_DEPENDENT] = offset + word
    rows[_LEFT] = offset + kids[k - 1] if k > begin else -1
    rows[_RIGHT] = offset + kids[k + 1] if k + 1 < end else -1
    rows[_FIRST] = offset + kids[below] if behind > below else -1
    rows[_LAST] = offset + kids[behind - 1] if behind > below else -1
    rows[_GRANDPARENT] = offset + over if over > 0 else over
    for which in range(len(rows)):
        for letter in range(_FIELDS):
            there = rows[which] >= 0 and columns[letter] >= 0
            value = words[rows[which], columns[letter]] if there else _NONE
            values[_FLAGS + which * _FIELDS + letter] = value
    for which in range(_LEFT, _RIGHT + 1):
        if rows[which] < 0:
            values[_FLAGS + which * _FIELDS + T] = np.uint64(1)
    at_head, at_word = _FLAGS + _HEAD * _FIELDS, _FLAGS + _DEPENDENT * _FIELDS
    side = np.uint64(1 if word < head else 2)
    tag = values[at_word + T]
    values[_ONE] = np.uint64(1)
    values[_SIDE] = side
    values[_ARC] = join(join(side, values[at_head + T]), tag)
    affixes = 1
    for letter in range(A, Z + 1):
        value = values[at_word + letter]
        if value != _NONE and value == values[at_head + letter]:
            affixes += 1 << (letter - A)
    values[_AFFIXES] = np.uint64(affixes)
    values[_BORDER] = np.uint64(1 + (1 if word == 1 else 0) + (2 if word == n_words else 0))
    alike = 0
    for other in range(begin, end):
        if columns[T] >= 0 and words[offset + kids[other], columns[T]] == tag and other != k:
            alike |= 1 if other < k else 2
    values[_ALIKE] = np.uint64(1 + alike)
    for which in range(len(atoms.counts)):
        atoms.counts[which] = 0
    strange, crossing = 0, 0
    first_below, last_below = tree.enter[head], tree.enter[head] + tree.size[head]
    for i in range(min(head, word) + 1, max(head, word)):
        strange |= 1 if heads[offset + i - 1] != head else 0
        crossing |= 2 if tree.enter[i] < first_below or tree.enter[i] >= last_below else 0
        if columns[T] >= 0:
            _add(atoms, _B, words[offset + i, columns[T]])
    values[_BETWEEN] = np.uint64(1 + strange + crossing)
    nearest = kids[k + 1] > head if word < head and k + 1 < end else True
    if word > head and k > begin:
        nearest = kids[k - 1] < head
    values[_PLACE] = np.uint64(1 + (1 if k == begin else 0) + (2 if k + 1 == end else 0) + (4 if nearest else 0))
    values[_CHILDREN] = np.uint64(1 + min(behind - below, 4))
    values[_TURN] = np.uint64(1 if word < head else (2 if nearest else 3))
    if columns[T] >= 0:
        for child in range(below, behind):
            _add(atoms, _C, words[offset + kids[child], columns[T]])
    if morphology:
        for which in range(4):  # head, dependent and siblings, in the order of their sets
            _add_morphology(members, rows[which], atoms, _H + which)
        for which in range(2):
            _add_agreement(members, rows[_GRANDPARENT if which else _HEAD], rows[_DEPENDENT], atoms, _A + which)


@inner_kernel
def run_templates(program: RelationProgram, atoms: Atoms, out: Keys) -> int:
    """The keys of the templates' features; how many there are."""
    n = 0
    values = atoms.values
    for t in range(len(program.seeds)):
        a, b, c = values[program.atoms[t, 0]], values[program.atoms[t, 1]], values[program.atoms[t, 2]]
        if a == _NONE or b == _NONE or c == _NONE:
            continue
        key = join(join(join(program.seeds[t], a), b), c)
        which = program.sets[t]
        if which < 0:
            out[n] = key
            n += 1
        else:
            for k in range(atoms.counts[which]):
                out[n] = join(key, atoms.members[which, k])
                n += 1
    return n
