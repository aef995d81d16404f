"""Beam search from slot to slot: label of a position, roles of its candidates, label of the next position.

    B = [empty];  for every position i:  B = K-best(z + l for z in B, labels l)
                                         for every candidate k:  B = K-best(z + r for z in B, roles r allowed)

All beginnings in the beam have the same slots filled, so their scores compare. The score of a beginning grows by what
the new slot adds; nothing is scored twice. If a gold structure is given, it is scored beside the beam, and the search
tells where gold fell off (*early*), and where the best beginning was farthest above it (*violation*).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.infer.slots.features import (
    change_all,
    closes_cycle,
    is_possible,
    kind_of,
    of_label,
    of_role,
    room_for,
    sentence_at,
    total,
)
from weft.infer.slots.problem import Batch, Labels, Roles, Sentence, Table, Weights, sizes_of, wide
from weft.infer.slots.weights import add_rows, change
from weft.kernel import inlined, kernel

#: When a training search ends or what it compares: at the first error, at the largest one, at the end.
EARLY, VIOLATION, STANDARD = range(3)
_LOWEST = -1e300


@kernel
def _label_scores(
    batch: Batch, table: Table, weights: Weights, at: Sentence, position: int, row: Floats, out: Floats
) -> None:
    """The local scores of all labels of a position."""
    place = at.first + position
    add_rows(weights.labels, batch.label_keys, batch.label_offsets[place], batch.label_offsets[place + 1], row)
    for label in range(table.columns.shape[0]):
        out[label] = row[label]
        if table.coarse[label] >= 0:
            out[label] += row[table.coarse[label]]
        if label > 0:
            out[label] += weights.bonus[0]


@inlined
def _role_score(table: Table, weights: Weights, row: Floats, label: int, kind: int, role: int) -> float:
    """The local score of a role, from the sums of a slot's rows."""
    if role == 0:
        return row[0]
    return row[table.columns[label, kind, role]] + row[1] + weights.bonus[1]


@kernel
def _slot_row(batch: Batch, weights: Weights, at: Sentence, position: int, slot: int, row: Floats) -> None:
    """The sums of the rows of a slot's features."""
    place = at.cell + position * at.width + slot
    add_rows(weights.roles, batch.cell_keys, batch.cell_offsets[place], batch.cell_offsets[place + 1], row)


@kernel
def _copy(at: Sentence, labels: Labels, roles: Roles, to_labels: Labels, to_roles: Roles) -> None:
    for i in range(at.size):
        to_labels[i] = labels[i]
        for k in range(at.width):
            to_roles[i, k] = roles[i, k]


@kernel
def _clear(at: Sentence, labels: Labels, roles: Roles) -> None:
    for i in range(at.size):
        labels[i] = -1
        for k in range(at.width):
            roles[i, k] = -1


@kernel
def slot_of(at: Sentence, position: int, step: int) -> tuple[int, int]:
    """The slot that is filled at a step after the label of a position: its position and its number.

    First the candidates; then, for every earlier position, its role here and the role of this position there.
    """
    if step < at.candidates:
        return position, step
    other, back = (step - at.candidates) // 2, (step - at.candidates) % 2
    if back:
        return other, at.candidates + position
    return position, at.candidates + other


@kernel
def steps_at(at: Sentence, position: int) -> int:
    """How many role slots are filled after the label of a position."""
    return at.candidates + (2 * position if at.width > at.candidates else 0)


@inlined
def _is_open(batch: Batch, table: Table, at: Sentence, labels: Labels, position: int, slot: int) -> bool:
    """Whether a slot has a choice: the position has a label, and the candidate may have a role under it."""
    return is_possible(table, wide(labels[position]), kind_of(batch, table, at, labels, slot))


@inlined
def _is_barred(at: Sentence, roles: Roles, position: int, slot: int) -> bool:
    """Whether any role would close a cycle of positions."""
    return slot >= at.candidates and closes_cycle(at, roles, position, slot - at.candidates)


@kernel
def _search(
    batch: Batch, number: int, table: Table, weights: Weights, width: int, gold_labels: Labels, gold_roles: Roles,
    mode: int, labels: NDArray[np.int16], roles: NDArray[np.int16], scores: Floats, out_labels: Labels,
    out_roles: Roles, gold_part_labels: Labels, gold_part_roles: Roles, told: Floats,
) -> None:  # fmt: skip
    """Search one sentence; `mode` -1: without gold.

    `labels` is [2, width + 1, position], `roles` [2, width + 1, position, slot]: two beams, the last row of the first
    is gold as far as it is filled. `told`: the score of the structure returned, that of gold up to there, 1 if gold
    fell off the beam on the way, 1 if the structure returned is gold.
    """
    at = sentence_at(batch, number)
    told[:] = 0.0
    n_labels, n_roles = table.columns.shape[0], table.columns.shape[2]
    most = max(n_labels, n_roles)
    size = room_for(at.size, at.width, batch.links.shape[1] + batch.joints.shape[1], n_roles)
    keys, signs = np.zeros(size, np.uint32), np.zeros(size)
    label_row, label_scores = np.zeros(weights.labels.values.shape[1]), np.zeros(n_labels)
    role_row = np.zeros(weights.roles.values.shape[1])
    moves = np.zeros((width, most))
    golden = np.zeros((2, width), np.uint8)
    training = mode >= 0
    now, alive = 0, 1
    gold_score, worst, fell = 0.0, 0.0, False
    _clear(at, labels[0, 0], roles[0, 0])
    scores[0, 0] = 0.0
    golden[0, 0] = 1
    if training:
        _clear(at, labels[0, width], roles[0, width])
    for i in range(at.size):
        _label_scores(batch, table, weights, at, i, label_row, label_scores)
        steps = steps_at(at, i)
        for step in range(-1, steps):
            pos, slot = (i, -1) if step < 0 else slot_of(at, i, step)
            choice = False
            ready = False
            for h in range(alive):
                for a in range(most):
                    moves[h, a] = _LOWEST
                if step < 0:
                    choice = True
                    for a in range(n_labels):
                        if a == batch.barred[at.first + i]:
                            continue
                        score = scores[now, h] + label_scores[a]
                        if a > 0 and weights.use_global:
                            count = of_label(batch, table, at, labels[now, h], i, a, keys, signs)
                            score += total(weights.whole, keys, signs, count)
                        moves[h, a] = score
                elif labels[now, h, pos] > 0 and _is_open(batch, table, at, labels[now, h], pos, slot):
                    choice = True
                    if not ready:
                        _slot_row(batch, weights, at, pos, slot, role_row)
                        ready = True
                    label = wide(labels[now, h, pos])
                    kind = kind_of(batch, table, at, labels[now, h], slot)
                    barred = _is_barred(at, roles[now, h], pos, slot)
                    for a in range(n_roles):
                        if table.columns[label, kind, a] < 0 or (a > 0 and barred):
                            continue
                        score = scores[now, h] + _role_score(table, weights, role_row, label, kind, a)
                        if a > 0 and weights.use_global:
                            count = of_role(batch, table, at, labels[now, h], roles[now, h], pos, slot, a, keys, signs)
                            score += total(weights.whole, keys, signs, count)
                        moves[h, a] = score
                else:
                    moves[h, 0] = scores[now, h]  # no choice: the slot stays empty
            gold_open = False
            gold_move = 0
            if training:
                mine, theirs = labels[0, width], roles[0, width]
                if step < 0:
                    gold_move = wide(gold_labels[i])
                    gold_score += label_scores[gold_move]
                    if gold_move > 0 and weights.use_global:
                        count = of_label(batch, table, at, mine, i, gold_move, keys, signs)
                        gold_score += total(weights.whole, keys, signs, count)
                    mine[i] = gold_move
                elif mine[pos] > 0 and _is_open(batch, table, at, mine, pos, slot):
                    gold_open = True
                    gold_move = wide(gold_roles[pos, slot])
                    if not ready:
                        _slot_row(batch, weights, at, pos, slot, role_row)
                    kind = kind_of(batch, table, at, mine, slot)
                    gold_score += _role_score(table, weights, role_row, wide(mine[pos]), kind, gold_move)
                    if gold_move > 0 and weights.use_global:
                        count = of_role(batch, table, at, mine, theirs, pos, slot, gold_move, keys, signs)
                        gold_score += total(weights.whole, keys, signs, count)
                    theirs[pos, slot] = gold_move
            if not choice and not gold_open:
                continue
            then, kept = 1 - now, 0
            while kept < width:
                best, best_h, best_a = _LOWEST, -1, -1
                for h in range(alive):
                    for a in range(most):
                        if moves[h, a] > best:
                            best, best_h, best_a = moves[h, a], h, a
                if best_h < 0:
                    break
                moves[best_h, best_a] = _LOWEST
                _copy(at, labels[now, best_h], roles[now, best_h], labels[then, kept], roles[then, kept])
                if step < 0:
                    labels[then, kept, i] = best_a
                elif labels[then, kept, pos] > 0 and _is_open(batch, table, at, labels[then, kept], pos, slot):
                    roles[then, kept, pos, slot] = best_a
                scores[then, kept] = best
                golden[then, kept] = 1 if golden[now, best_h] and best_a == gold_move else 0
                kept += 1
            now, alive = then, kept
            if training:
                lost = True
                for h in range(alive):
                    if golden[now, h]:
                        lost = False
                if lost:
                    fell = True
                if mode == EARLY and lost:
                    _tell(at, labels, roles, now, width, out_labels, out_roles, gold_part_labels, gold_part_roles)
                    told[0], told[1], told[2], told[3] = scores[now, 0], gold_score, 1.0, 0.0
                    return
                if mode == VIOLATION and not golden[now, 0] and scores[now, 0] - gold_score >= worst:
                    worst = scores[now, 0] - gold_score
                    told[0], told[1] = scores[now, 0], gold_score
                    _tell(at, labels, roles, now, width, out_labels, out_roles, gold_part_labels, gold_part_roles)
                    told[3] = -1.0
    told[2] = 1.0 if fell else 0.0
    if mode == VIOLATION and told[3] < 0:
        told[3] = 0.0
        return
    told[0], told[1] = scores[now, 0], gold_score
    told[3] = 1.0 if golden[now, 0] or not training else 0.0
    _copy(at, labels[now, 0], roles[now, 0], out_labels, out_roles)
    if training:
        _copy(at, labels[0, width], roles[0, width], gold_part_labels, gold_part_roles)


@kernel
def _tell(
    at: Sentence, labels: NDArray[np.int16], roles: NDArray[np.int16], now: int, width: int, out_labels: Labels,
    out_roles: Roles, gold_labels: Labels, gold_roles: Roles,
) -> None:  # fmt: skip
    _copy(at, labels[now, 0], roles[now, 0], out_labels, out_roles)
    _copy(at, labels[0, width], roles[0, width], gold_labels, gold_roles)


@kernel
def structure_score(
    batch: Batch, number: int, table: Table, weights: Weights, labels: Labels, roles: Roles, by: float, clock: float
) -> float:
    """The score of a structure from scratch, filled slot by slot; with `by` the weights of its features change."""
    at = sentence_at(batch, number)
    size = room_for(at.size, at.width, batch.links.shape[1] + batch.joints.shape[1], table.columns.shape[2])
    keys, signs = np.zeros(size, np.uint32), np.zeros(size)
    label_row, label_scores = np.zeros(weights.labels.values.shape[1]), np.zeros(table.columns.shape[0])
    role_row = np.zeros(weights.roles.values.shape[1])
    mine, theirs = np.full(at.size, -1, np.int16), np.full((at.size, max(1, at.width)), -1, np.int16)
    score = 0.0
    for i in range(at.size):
        label = wide(labels[i])
        if label < 0:
            break
        if by == 0.0:
            _label_scores(batch, table, weights, at, i, label_row, label_scores)
            score += label_scores[label]
        else:
            place = at.first + i
            for t in range(batch.label_offsets[place], batch.label_offsets[place + 1]):
                if batch.label_keys[t] != 0:
                    change(weights.labels, batch.label_keys[t], label, by, clock)
                    if table.coarse[label] >= 0:
                        change(weights.labels, batch.label_keys[t], table.coarse[label], by, clock)
        if label > 0 and weights.use_global:
            count = of_label(batch, table, at, mine, i, label, keys, signs)
            if by == 0.0:
                score += total(weights.whole, keys, signs, count)
            else:
                change_all(weights.whole, keys, signs, count, by, clock)
        mine[i] = label
        for step in range(steps_at(at, i)):
            pos, slot = slot_of(at, i, step)
            role = wide(roles[pos, slot])
            if role < 0 or mine[pos] <= 0:
                continue
            kind = kind_of(batch, table, at, mine, slot)
            if not is_possible(table, wide(mine[pos]), kind):
                continue
            if by == 0.0:
                _slot_row(batch, weights, at, pos, slot, role_row)
                score += _role_score(table, weights, role_row, wide(mine[pos]), kind, role)
            else:
                place = at.cell + pos * at.width + slot
                column = wide(table.columns[wide(mine[pos]), kind, role])
                for t in range(batch.cell_offsets[place], batch.cell_offsets[place + 1]):
                    if batch.cell_keys[t] != 0:
                        change(weights.roles, batch.cell_keys[t], column, by, clock)
                        if role > 0:
                            change(weights.roles, batch.cell_keys[t], 1, by, clock)
            if role > 0 and weights.use_global:
                count = of_role(batch, table, at, mine, theirs, pos, slot, role, keys, signs)
                if by == 0.0:
                    score += total(weights.whole, keys, signs, count)
                else:
                    change_all(weights.whole, keys, signs, count, by, clock)
            theirs[pos, slot] = role
    return score


@kernel
def _best_of(
    batch: Batch, first: int, end: int, table: Table, weights: Weights, width: int, positions: int, slots: int,
    out_labels: NDArray[np.int16], out_roles: NDArray[np.int16], out_scores: Floats,
) -> None:  # fmt: skip
    labels = np.zeros((2, width + 1, positions), np.int16)
    roles = np.zeros((2, width + 1, positions, slots), np.int16)
    scores = np.zeros((2, width + 1))
    mine, theirs = np.zeros(positions, np.int16), np.zeros((positions, slots), np.int16)
    told = np.zeros(4)
    for number in range(first, end):
        _search(
            batch, number, table, weights, width, mine, theirs, -1, labels, roles, scores, mine, theirs, mine,
            theirs, told,
        )  # fmt: skip
        at = sentence_at(batch, number)
        out_scores[number] = told[0]
        for i in range(at.size):
            out_labels[at.first + i] = mine[i]
            for k in range(at.width):
                role = theirs[i, k]
                out_roles[at.cell + i * at.width + k] = role


def best(
    batch: Batch, table: Table, weights: Weights, width: int = 4
) -> tuple[NDArray[np.int16], NDArray[np.int16], Floats]:
    """The best structures that the beam finds: labels by position, roles by slot, and the score of every sentence."""
    count = len(batch.positions) - 1
    labels = np.zeros(int(batch.positions[-1]), np.int16)
    roles = np.full(int(batch.cells[-1]), -1, np.int16)
    scores = np.zeros(count)
    _best_of(batch, 0, count, table, weights, width, *sizes_of(batch), labels, roles, scores)
    return labels, roles, scores


def scores_of(
    batch: Batch, table: Table, weights: Weights, labels: NDArray[np.int16], roles: NDArray[np.int16]
) -> Floats:
    """The scores of given structures, from scratch."""
    found = np.zeros(len(batch.positions) - 1)
    for number in range(len(found)):
        own = slice(int(batch.positions[number]), int(batch.positions[number + 1]))
        cells = roles[int(batch.cells[number]) : int(batch.cells[number + 1])]
        size = own.stop - own.start
        matrix = np.ascontiguousarray(cells.reshape(size, -1)) if size else np.zeros((0, 1), np.int16)
        found[number] = structure_score(batch, number, table, weights, labels[own], matrix, 0.0, 0.0)
    return found
