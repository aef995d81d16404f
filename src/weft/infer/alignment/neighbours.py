"""Alignments with fertilities near a given one, and the search that climbs from one to the next.

A neighbour of alignment a is a *move*, one target word given to another source word or to none, or a *swap* of the
source words of two target words. Of its probability, what a change of words and fertilities does is a matter of a few
numbers. Its placement factors are those of a for all cepts before the first that changes, and for all cepts after the
last once the open positions and the cept before are the same again. Between the two, one position is open that was
closed, one is closed that was open, or both, which adds two numbers to the sum of a cept of one word. A neighbour is
given up as soon as it cannot get above the bound `least` even if all factors that change were 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.infer.alignment.placement import (
    Events,
    Placing,
    Types,
    Walk,
    cept_centre,
    cept_factor,
    changed_mass,
    note_cept,
    other_openings,
    survey,
    uses_admissible,
)
from weft.kernel import inlined, inner_kernel

#: A climb ends when no neighbour is better by more than this.
BETTER = 1e-9
#: Where less than this share of a cept's admissible positions remains, their sum is computed anew.
LEAST_FACTOR = 1e-3


class Pair(NamedTuple):
    """Logarithms for one sentence pair: `word[j, i]` (i = 0: none), `fertility[i, f]`, `null[n]` for n words of none,
    and steps of the HMM; at most `most_null` words may come from none."""

    word: Floats
    fertility: Floats
    null: Floats
    step: Floats
    alpha: Types
    beta: Types
    most_null: int


@inner_kernel
def path_score(pair: Pair, owner: Types, length: int) -> float:
    """The logarithm of the jumps of an alignment under the HMM; a word without a link is in `null[1]`."""
    total, place = 0.0, 0
    for j in range(length):
        if owner[j] == 0:
            total += pair.null[1]
        else:
            total += pair.step[place, owner[j] - 1]
            place = owner[j]
    return total


@inner_kernel
def alignment_score(model: Placing, pair: Pair, walk: Walk, size: int, length: int) -> float:
    """The logarithm of the joint probability of words and alignment, after `survey`."""
    total = 0.0
    for j in range(length):
        total += pair.word[j, walk.owner[j]]
    if model.kind == 6:
        return total + path_score(pair, walk.owner, length)
    for i in range(1, size + 1):
        total += pair.fertility[i, walk.fertility[i]]
    return total + pair.null[walk.fertility[0]] + walk.through[size + 1]


@inner_kernel
def _fertility_gain(pair: Pair, walk: Walk, old: int, new: int) -> float:
    """What it changes in fertilities to give a word of `old` to `new`."""
    gain = 0.0
    none = walk.fertility[0]
    if old > 0:
        gain += pair.fertility[old, walk.fertility[old] - 1] - pair.fertility[old, walk.fertility[old]]
    else:
        gain += pair.null[none - 1] - pair.null[none]
    if new > 0:
        gain += pair.fertility[new, walk.fertility[new] + 1] - pair.fertility[new, walk.fertility[new]]
    else:
        gain += pair.null[none + 1] - pair.null[none]
    return gain


@inner_kernel
def _last_changed(model: Placing, walk: Walk, size: int, low: int, high: int, low_owner: int) -> int:
    """One past the last cept whose factors may change."""
    if low_owner == 0 and uses_admissible(model.kind):
        return size + 1
    end = high + 1
    if model.kind > 1 and end <= size:
        end = walk.onward[end] + 1
    return min(end, size + 1)


@inner_kernel
def replaced(
    model: Placing, pair: Pair, walk: Walk, size: int, length: int, one: int, other: int, j: int, k: int,
    given: float, least: float, noted: bool, weight: float, counts: Floats, kept: Floats, events: Events,
) -> float:  # fmt: skip
    """The gain of a neighbour: `given`, plus that of its placement; minus infinity if it is not above `least`.

    `walk` holds the neighbour's owners and fertilities, and what `survey` found about the alignment itself; word j went
    from cept `one` to `other`, and word k, unless it is -1, from `other` to `one`; cept 0 is none. With `noted`,
    choices of the cepts on the way are noted instead, and their weight is taken from `kept`.
    """
    low_owner, high = min(one, other), max(one, other)
    low = low_owner if low_owner > 0 else high
    admissible = uses_admissible(model.kind)
    end = _last_changed(model, walk, size, low, high, low_owner)
    if given - (walk.through[end] - walk.through[low]) < least and not noted:
        return -np.inf
    # Open after the first changed cept, but for the alignment itself closed, and the other way round.
    gained, lost = (j, k) if one == low else (k, j)
    centre, before = walk.centre[low], walk.before[low]
    change, ratio, i = 0.0, 1.0, low
    while i <= size:
        if i > high and low_owner > 0:
            gained, lost = -1, -1
        same_before = model.kind <= 1 or (centre == walk.centre[i] and before == walk.before[i])
        same_open = not admissible or i == low or (gained < 0 and lost < 0)
        if same_before and same_open and i > high:
            break
        fertility = walk.fertility[i]
        is_changed = one == i or i == other
        if fertility == 0 and not is_changed:
            i += 1
            continue
        if same_before and same_open and not is_changed:
            centre, before = _after(model, walk, i, centre, before)
            i += 1
            continue
        if noted:
            kept[i] -= weight
        elif same_before and not is_changed and fertility == 1 and model.kind != 5:
            factor = changed_mass(model, walk, i, gained, lost)
            if factor > LEAST_FACTOR:
                ratio *= factor
                if ratio > 1e100 or ratio < 1e-100:
                    change -= np.log(ratio)
                    ratio = 1.0
                centre, before = _after(model, walk, i, centre, before)
                i += 1
                continue
        if fertility > 0:
            n_open = walk.n_open[i]
            for x in range(n_open):
                walk.moving[x] = walk.opened[i, x]
            if not same_open:
                n_open = other_openings(walk, i, gained, lost)
            if noted:
                note_cept(
                    model, i, fertility, walk.owner, walk.moving, n_open, centre, before, pair.alpha, pair.beta,
                    weight, counts, events,
                )  # fmt: skip
            else:
                change += cept_factor(
                    model, i, fertility, walk.owner, walk.moving, n_open, centre, before, pair.alpha, pair.beta
                )
            if model.kind > 1:
                centre, before = cept_centre(i, fertility, walk.owner, length), i
        change -= walk.factor[i]
        i += 1
        if not noted and i < end and given + change - (walk.through[end] - walk.through[i]) < least and ratio > 1.0:
            return -np.inf
    return given + change - np.log(ratio)


@inlined
def _after(model: Placing, walk: Walk, i: int, centre: int, before: int) -> tuple[int, int]:
    """Centre and cept before the next one, after cept i as it was."""
    return (walk.centre[i + 1], walk.before[i + 1]) if model.kind > 1 else (centre, before)


@inner_kernel
def move(walk: Walk, j: int, new: int) -> None:
    """Give target word j to another source word."""
    walk.fertility[walk.owner[j]] -= 1
    walk.fertility[new] += 1
    walk.owner[j] = new


@inner_kernel
def _swap(walk: Walk, j: int, k: int) -> None:
    walk.owner[j], walk.owner[k] = walk.owner[k], walk.owner[j]


@inner_kernel
def move_gain(
    model: Placing, pair: Pair, walk: Walk, size: int, length: int, j: int, new: int, least: float,
    nothing: Floats, events: Events,
) -> float:  # fmt: skip
    """By how much the logarithm changes if target word j is given to `new`; minus infinity below `least`."""
    old = walk.owner[j]
    if new == 0 and walk.fertility[0] >= pair.most_null:
        return -np.inf
    gain = pair.word[j, new] - pair.word[j, old]
    if model.kind == 6:
        before = path_score(pair, walk.owner, length)
        walk.owner[j] = new
        gain += path_score(pair, walk.owner, length) - before
        walk.owner[j] = old
        return gain if gain >= least else -np.inf
    gain += _fertility_gain(pair, walk, old, new)
    if gain - walk.through[size + 1] < least:
        return -np.inf
    move(walk, j, new)
    gain = replaced(
        model, pair, walk, size, length, old, new, j, -1, gain, least, False, 0.0, nothing, nothing[0], events
    )
    move(walk, j, old)
    return gain if gain >= least else -np.inf


@inner_kernel
def swap_gain(
    model: Placing, pair: Pair, walk: Walk, size: int, length: int, j: int, k: int, least: float,
    nothing: Floats, events: Events,
) -> float:  # fmt: skip
    """By how much the logarithm changes if target words j and k swap source words; minus infinity below `least`."""
    one, other = walk.owner[j], walk.owner[k]
    gain = pair.word[j, other] + pair.word[k, one] - pair.word[j, one] - pair.word[k, other]
    if model.kind == 6:
        before = path_score(pair, walk.owner, length)
        _swap(walk, j, k)
        gain += path_score(pair, walk.owner, length) - before
        _swap(walk, j, k)
        return gain if gain >= least else -np.inf
    if gain - walk.through[size + 1] < least:
        return -np.inf
    _swap(walk, j, k)
    gain = replaced(
        model, pair, walk, size, length, one, other, j, k, gain, least, False, 0.0, nothing, nothing[0], events
    )
    _swap(walk, j, k)
    return gain if gain >= least else -np.inf


@inner_kernel
def climb(
    model: Placing, pair: Pair, walk: Walk, size: int, length: int, nothing: Floats, events: Events, most: int
) -> int:
    """Go to the best neighbour of each target word in turn, until no word has a better one, at most `most` times; how
    many steps it took. It ends where taking the best neighbour of all ends, without better ones."""
    steps, quiet, j = 0, 0, 0
    survey(model, walk, size, length, pair.alpha, pair.beta, True)
    while quiet < length and steps < most:
        best, kind, new = BETTER, 0, 0
        for i in range(size + 1):
            if i != walk.owner[j]:
                gain = move_gain(model, pair, walk, size, length, j, i, best, nothing, events)
                if gain > best:
                    best, kind, new = gain, 1, i
        for k in range(length):
            if walk.owner[j] != walk.owner[k]:
                gain = swap_gain(model, pair, walk, size, length, k, j, best, nothing, events)
                if gain > best:
                    best, kind, new = gain, 2, k
        if kind == 0:
            quiet += 1
        else:
            if kind == 1:
                move(walk, j, new)
            else:
                _swap(walk, j, new)
            survey(model, walk, size, length, pair.alpha, pair.beta, True)
            steps, quiet = steps + 1, 0
        j = (j + 1) % length
    return steps


@inner_kernel
def score_neighbours(
    model: Placing, pair: Pair, walk: Walk, size: int, length: int, least: float, moves: Floats, swaps: Floats,
    nothing: Floats, events: Events,
) -> float:  # fmt: skip
    """Probabilities of all neighbours relative to the alignment, and the sum of them and of 1; 0 below exp(least)."""
    total = 1.0
    for j in range(length):
        for i in range(size + 1):
            moves[j, i] = 0.0
            if i != walk.owner[j]:
                moves[j, i] = np.exp(move_gain(model, pair, walk, size, length, j, i, least, nothing, events))
                total += moves[j, i]
        for k in range(j):
            swaps[k, j] = 0.0
            if walk.owner[j] != walk.owner[k]:
                swaps[k, j] = np.exp(swap_gain(model, pair, walk, size, length, k, j, least, nothing, events))
                total += swaps[k, j]
    return total


@inner_kernel
def note_neighbours(
    model: Placing, pair: Pair, walk: Walk, size: int, length: int, rare: float, moves: Floats, swaps: Floats,
    counts: Floats, kept: Floats, events: Events,
) -> None:  # fmt: skip
    """Note the choices of all neighbours with a posterior above `rare`, and those of the alignment with what remains;
    `moves` and `swaps` hold posteriors, `survey` was made with the model that is noted for."""
    for i in range(size + 2):
        kept[i] = 1.0
    for j in range(length):
        for i in range(size + 1):
            if moves[j, i] > rare:
                old = walk.owner[j]
                move(walk, j, i)
                replaced(
                    model,
                    pair,
                    walk,
                    size,
                    length,
                    old,
                    i,
                    j,
                    -1,
                    0.0,
                    -np.inf,
                    True,
                    moves[j, i],
                    counts,
                    kept,
                    events,
                )
                move(walk, j, old)
        for k in range(j):
            if swaps[k, j] > rare:
                one, other = walk.owner[k], walk.owner[j]
                _swap(walk, k, j)
                replaced(
                    model,
                    pair,
                    walk,
                    size,
                    length,
                    one,
                    other,
                    k,
                    j,
                    0.0,
                    -np.inf,
                    True,
                    swaps[k, j],
                    counts,
                    kept,
                    events,
                )
                _swap(walk, k, j)
    for i in range(1, size + 1):
        if walk.fertility[i] > 0 and kept[i] > 0.0:
            note_cept(
                model, i, walk.fertility[i], walk.owner, walk.opened[i], walk.n_open[i], walk.centre[i],
                walk.before[i], pair.alpha, pair.beta, kept[i], counts, events,
            )  # fmt: skip
