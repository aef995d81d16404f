"""Where the words of a source word go: the placement factors of the IBM models 3, 4 and 5.

Source word i (from 1) has f(i) target words, its fertility; together they are its *cept*. Cepts are placed from the
first source word to the last. With d(k) the position of word k of a cept, c the rounded mean position of the last
cept before it that is not empty (-1: there is none), and table p, the factor of word k is

    IBM-3           p(d(k) | i)                  over its sum for the positions of the sentence
    IBM-3, nd       p(d(k) | i)                  over its sum for the admissible positions
    IBM-4           p(d(k) - c | A, B) for k = 1, p(d(k) - d(k-1) | A) for k > 1
    IBM-4, reduced  the same                     over its sum for the positions of the sentence
    IBM-4, nd       the same                     over its sum for the admissible positions
    IBM-5           the same with open positions counted in place of all, over its sum for the admissible positions

where A is the class of the target word and B that of the source word of the cept before. Admissible are the open
positions, those without a word yet, after d(k-1), but for the last f(i) - k: these must remain for the words to come.
Over all placements the product of factors of the three models that use admissible positions sums to 1. The others lose
part of it to placements of two words at one position: they are deficient (Schoenemann 2013).

A table has a row per source position (IBM-3), or rows for the pairs (A, B), for A, and for the first cept of all; its
columns are positions, or displacements from `-reach` to `reach`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.kernel import inlined, inner_kernel
from weft.ragged import Indices

Types = NDArray[np.int32]

#: The models of placement; HMM scores alignments by jumps, without fertilities.
KINDS = ("ibm3", "ibm3-nd", "ibm4", "ibm4-reduced", "ibm4-nd", "ibm5", "hmm")
IBM3, ND3, IBM4, REDUCED, ND4, IBM5, HMM = range(7)


class Placing(NamedTuple):
    """A model of placement: its kind, the table, and what its rows and columns are."""

    kind: int
    table: Floats
    reach: int
    n_alpha: int
    n_beta: int


class Walk(NamedTuple):
    """Room for one sentence pair: its alignment, and what is known before each cept is placed."""

    owner: Types  #: the source word of each target word, from 1; 0 for none
    fertility: Types
    opened: NDArray[np.int32]  #: open positions, [cept, n]
    n_open: Types
    centre: Types
    before: Types  #: the last cept that is not empty
    factor: Floats  #: logarithm of the cept's factors
    through: Floats  #: the sum of those before
    onward: Types  #: the first cept from here on that is not empty
    moving: Types  #: open positions of a cept in another alignment
    row: Types  #: of a cept of one word: the row of the table
    anchor: Types  #: what its position is counted from
    mass: Floats  #: the sum of the admissible positions

    @classmethod
    def of(cls, longest: int, longest_target: int) -> Walk:
        """Room for source and target sentences up to these lengths."""
        i, j = longest + 3, longest_target + 2
        whole = [np.zeros(i, np.int32) for _ in range(5)]
        return cls(
            np.zeros(j, np.int32), whole[0], np.zeros((i, j), np.int32), whole[1], whole[2], whole[3],
            np.zeros(i), np.zeros(i), whole[4], np.zeros(j, np.int32),
            np.zeros(i, np.int32), np.zeros(i, np.int32), np.zeros(i),
        )  # fmt: skip


class Events(NamedTuple):
    """Choices of a position among admissible ones: columns `start[e]:start[e + 1]` of a row, how often, and a key that
    is the same for the same row and columns. `used` holds the numbers of events and of columns."""

    row: Types
    start: Indices
    weight: Floats
    key: Indices
    column: NDArray[np.int16]
    used: Indices

    @classmethod
    def room(cls, n_columns: int) -> Events:
        """Room for so many columns in all."""
        n = n_columns // 4 + 2
        return cls(
            np.zeros(n, np.int32), np.zeros(n + 1, np.int64), np.zeros(n), np.zeros(n, np.int64),
            np.zeros(n_columns, np.int16), np.zeros(2, np.int64),
        )  # fmt: skip


def new_placing(kind: str, longest: int, longest_target: int, n_alpha: int = 1, n_beta: int = 1) -> Placing:
    """A model of placement that prefers no position.

    >>> new_placing("ibm3", 2, 4).table.tolist()
    [[0.25, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25]]
    >>> new_placing("ibm4-nd", 2, 3, n_alpha=2, n_beta=2).table.shape  # pairs of classes, classes, the first cept
    (7, 7)
    """
    if kind not in KINDS[:-1]:
        raise InferenceError(f"there is no model of placement {kind!r}; there are {', '.join(KINDS[:-1])}")
    number = KINDS.index(kind)
    if number <= ND3:
        shape, reach = (max(longest, 1), max(longest_target, 1)), 0
    else:
        n_beta = 1 if number == IBM5 else n_beta
        reach = max(longest_target, 1)
        shape = n_alpha * n_beta + n_alpha + 1, 2 * reach + 1
    return Placing(number, np.full(shape, 1 / shape[1]), reach, n_alpha, n_beta)


@inlined
def _row(model: Placing, i: int, k: int, before: int, alpha: int, beta: int) -> int:
    """The row of word k of cept i, whose word has class `alpha`."""
    if model.kind <= 1:
        row = min(i - 1, model.table.shape[0] - 1)
    elif k > 1:
        row = model.n_alpha * model.n_beta + alpha
    elif before == 0:
        row = model.n_alpha * model.n_beta + model.n_alpha
    else:
        row = alpha * model.n_beta + beta
    return row


@inlined
def _column(model: Placing, position: int, place: int, anchor: int) -> int:
    """The column of an open position, the `place`-th; `anchor` is the position or place it is counted from."""
    if model.kind <= 1:
        column = min(position, model.table.shape[1] - 1)
    elif model.kind == 5:
        column = min(max(place - anchor + model.reach, 0), 2 * model.reach)
    else:
        column = min(max(position - anchor + model.reach, 0), 2 * model.reach)
    return column


@inlined
def uses_admissible(kind: int) -> bool:
    """Whether a model normalizes over admissible positions only."""
    return kind == 1 or kind == 4 or kind == 5


@inner_kernel
def _anchor(model: Placing, opened: Types, n_open: int, centre: int) -> int:
    """What the position of a cept's first word is counted from."""
    if model.kind != 5:
        return centre
    place = -1  # of the last open position up to the centre
    for y in range(n_open):
        if opened[y] > centre:
            break
        place = y
    return place


@inner_kernel
def cept_factor(
    model: Placing, i: int, fertility: int, owner: Types, opened: Types, n_open: int, centre: int, before: int,
    alpha: Types, beta: Types,
) -> float:  # fmt: skip
    """The logarithm of the factors of cept i."""
    total, k, last = 0.0, 0, -1
    class_before = beta[before - 1] if before > 0 and model.kind != 5 else 0
    anchor = _anchor(model, opened, n_open, centre)
    admissible = uses_admissible(model.kind)
    for x in range(n_open):
        position = opened[x]
        if owner[position] != i:
            continue
        k += 1
        row = _row(model, i, k, before, alpha[position], class_before)
        weight = model.table[row, _column(model, position, x, anchor)]
        if model.kind != 2:
            first = last + 1 if admissible else 0
            end = n_open - (fertility - k) if admissible else n_open
            z = 0.0
            for y in range(first, end):
                z += model.table[row, _column(model, opened[y], y, anchor)]
            weight /= z
        total += np.log(weight)
        last = x
        anchor = x if model.kind == 5 else position
        if k == fertility:
            break
    return total


@inner_kernel
def note_cept(
    model: Placing, i: int, fertility: int, owner: Types, opened: Types, n_open: int, centre: int, before: int,
    alpha: Types, beta: Types, weight: float, counts: Floats, events: Events,
) -> None:  # fmt: skip
    """Note the choices of cept i with a weight: the positions chosen in `counts`, all of the choice in `events`."""
    k, last = 0, -1
    class_before = beta[before - 1] if before > 0 and model.kind != 5 else 0
    anchor = _anchor(model, opened, n_open, centre)
    admissible = uses_admissible(model.kind)
    for x in range(n_open):
        position = opened[x]
        if owner[position] != i:
            continue
        k += 1
        row = _row(model, i, k, before, alpha[position], class_before)
        counts[row, _column(model, position, x, anchor)] += weight
        if model.kind != 2:
            first = last + 1 if admissible else 0
            end = n_open - (fertility - k) if admissible else n_open
            if end - first > 1:  # a single position is no choice: its factor is 1
                e, at = events.used[0], events.used[1]
                key = np.int64(row) * np.int64(1000003) + np.int64(7)
                for y in range(first, end):
                    column = _column(model, opened[y], y, anchor)
                    events.column[at] = column
                    key = (key ^ np.int64(column + 1)) * np.int64(1099511628211)
                    key ^= key >> np.int64(29)
                    at += 1
                events.row[e] = row
                events.weight[e] = weight
                events.key[e] = key
                events.start[e + 1] = at
                events.used[0], events.used[1] = e + 1, at
            else:
                counts[row, _column(model, position, x, anchor)] -= weight
        last = x
        anchor = x if model.kind == 5 else position
        if k == fertility:
            break


@inner_kernel
def close_positions(i: int, owner: Types, opened: Types, n_open: int) -> int:
    """Take the positions of cept i out of the open ones; how many remain."""
    n = 0
    for x in range(n_open):
        if owner[opened[x]] != i:
            opened[n] = opened[x]
            n += 1
    return n


@inner_kernel
def cept_centre(i: int, fertility: int, owner: Types, length: int) -> int:
    """The rounded mean position of cept i."""
    total = 0
    for j in range(length):
        if owner[j] == i:
            total += j
    return (2 * total + fertility) // (2 * fertility)


@inner_kernel
def _keep_mass(
    model: Placing, walk: Walk, i: int, n_open: int, centre: int, before: int, alpha: Types, beta: Types
) -> None:  # fmt: skip
    """Write down row, anchor and the sum of admissible positions of a cept of one word."""
    for x in range(n_open):
        position = walk.opened[i, x]
        if walk.owner[position] == i:
            class_before = beta[before - 1] if before > 0 else 0
            row = _row(model, i, 1, before, alpha[position], class_before)
            walk.row[i], walk.anchor[i] = row, centre
            walk.mass[i] = model.table[row, _column(model, position, x, centre)] / np.exp(walk.factor[i])
            break


@inner_kernel
def changed_mass(model: Placing, walk: Walk, i: int, gained: int, lost: int) -> float:
    """By what factor the sum of a cept of one word changes if one position opens and another closes (-1: none)."""
    mass = walk.mass[i]
    if gained >= 0:
        mass += model.table[walk.row[i], _column(model, gained, 0, walk.anchor[i])]
    if lost >= 0:
        mass -= model.table[walk.row[i], _column(model, lost, 0, walk.anchor[i])]
    return mass / walk.mass[i]


@inner_kernel
def other_openings(walk: Walk, i: int, gained: int, lost: int) -> int:
    """Write the open positions before cept i, with one more and one less, to `walk.moving`; their number."""
    n, waiting = 0, gained >= 0
    for x in range(walk.n_open[i]):
        position = walk.opened[i, x]
        if waiting and gained < position:
            walk.moving[n] = gained
            waiting = False
            n += 1
        if position != lost:
            walk.moving[n] = position
            n += 1
    if waiting:
        walk.moving[n] = gained
        n += 1
    return n


@inner_kernel
def survey(
    model: Placing, walk: Walk, size: int, length: int, alpha: Types, beta: Types, scored: bool
) -> None:  # fmt: skip
    """Write down what is known before every cept of an alignment and, if `scored`, the cepts' factors."""
    centre, before, n_open = -1, 0, length
    for j in range(length):
        walk.opened[1, j] = j
    walk.through[1] = 0.0
    closes = uses_admissible(model.kind)
    for i in range(1, size + 2):
        walk.centre[i], walk.before[i], walk.n_open[i] = centre, before, n_open
        if i > size:
            break
        opened = walk.opened[i]
        fertility = walk.fertility[i]
        following = walk.opened[i + 1]
        for x in range(n_open):
            following[x] = opened[x]
        walk.factor[i] = 0.0
        if fertility > 0:
            if scored:
                walk.factor[i] = cept_factor(
                    model, i, fertility, walk.owner, opened, n_open, centre, before, alpha, beta
                )
                if fertility == 1 and (model.kind == 1 or model.kind == 4):
                    _keep_mass(model, walk, i, n_open, centre, before, alpha, beta)
            if closes:
                n_open = close_positions(i, walk.owner, following, n_open)
            if model.kind > 1:
                centre, before = cept_centre(i, fertility, walk.owner, length), i
        walk.through[i + 1] = walk.through[i] + walk.factor[i]
    walk.onward[size + 1] = size + 1
    for i in range(size, 0, -1):
        walk.onward[i] = i if walk.fertility[i] > 0 else walk.onward[i + 1]
