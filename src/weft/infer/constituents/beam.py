"""Beam search over states of the constituent parser.

    score(state) = sum over its actions a in states s of  w . f(s, a)

The `width` best states live on after every step. States that have terminated wait without further score while others
go on, so that trees of different numbers of steps compete. The search ends when all have terminated.

With a gold sequence of actions the search ends as soon as its beginning falls out of the beam (early update, Collins &
Roark 2004).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.infer.constituents.system import (
    ACTION,
    APPEND,
    DEPTH,
    DONE,
    NODE,
    PREV,
    SEPARATE,
    SUBWORD,
    WORD,
    Actions,
    Subwords,
    Units,
    apply,
    legal_actions,
    start,
)
from weft.infer.constituents.templates import ATOMS, MOST_EACH, ConstituentProgram, block_keys, fill_atoms
from weft.infer.transitions.state import Table
from weft.infer.transitions.weights import LookUps, Scores, WideTable, add_wide, change_wide, new_look_ups
from weft.kernel import kernel

#: The block of templates of a kind of actions; 0 for kinds that have none of their own.
_BLOCK = np.array([1, 2, 3, 4, 0, 0, 0], dtype=np.int64)
assert (SEPARATE, APPEND, SUBWORD, WORD) == (0, 1, 2, 3)


class ConstituentModel(NamedTuple):
    """Actions, templates and weights."""

    actions: Actions
    program: ConstituentProgram
    weights: WideTable
    subwords: Subwords
    flat: bool  # subwords are joined at once, from the left


class Room(NamedTuple):
    """Scratch space, one per thread."""

    atoms: Keys
    keys: Keys
    look_ups: LookUps
    legal: Table
    scores: Scores
    beam: Table
    best_score: NDArray[np.int64]
    best_row: Table
    best_action: Table
    totals: NDArray[np.int64]  # score of every state


def new_room(model: ConstituentModel, width: int, states: int) -> Room:
    """Room for a search of that width over that many states."""
    templates = len(model.program.seeds) + 4 * MOST_EACH
    actions = len(model.actions.kind)
    return Room(
        np.zeros(len(ATOMS), dtype=np.uint64),
        np.zeros(templates, dtype=np.uint64),
        new_look_ups(templates),
        np.zeros(actions, dtype=np.int32),
        np.zeros(actions, dtype=np.int32),
        np.zeros(width, dtype=np.int32),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int32),
        np.zeros(width, dtype=np.int32),
        np.zeros(states, dtype=np.int64),
    )


@kernel
def _score(
    model: ConstituentModel, units: Units, first: int, sentence: int, n: int, pool: Table, row: int, count: int,
    room: Room,
) -> None:  # fmt: skip
    """Scores of the `count` legal actions of a state, into `room.scores` at their numbers."""
    fill_atoms(units, model.subwords, first, sentence, n, pool, row, room.atoms)
    room.scores[:] = 0
    end = block_keys(model.program, 0, units, first, pool, row, room.atoms, room.keys)
    add_wide(model.weights, room.keys, 0, end, room.look_ups, room.scores)
    done = 0
    for k in range(count):
        block = _BLOCK[model.actions.kind[room.legal[k]]]
        if block > 0 and not (done >> block) & 1:
            done |= 1 << block
            end = block_keys(model.program, block, units, first, pool, row, room.atoms, room.keys)
            add_wide(model.weights, room.keys, model.program.blocks[block], end, room.look_ups, room.scores)


@kernel
def _insert(room: Room, kept: int, width: int, score: int, row: int, action: int) -> int:
    """Put a candidate into the sorted list of the best; gives how many there are."""
    if kept == width and score <= room.best_score[kept - 1]:
        return kept
    at = kept if kept < width else kept - 1
    while at > 0 and room.best_score[at - 1] < score:
        room.best_score[at] = room.best_score[at - 1]
        room.best_row[at], room.best_action[at] = room.best_row[at - 1], room.best_action[at - 1]
        at -= 1
    room.best_score[at], room.best_row[at], room.best_action[at] = score, row, action
    return min(kept + 1, width)


@kernel
def search(
    model: ConstituentModel, units: Units, first: int, sentence: int, n: int, width: int, gold: Table, pool: Table,
    room: Room,
) -> tuple[int, int, int]:  # fmt: skip
    """The best state, the gold state and the gold action that it lacks (-1: it terminated within the beam).

    `gold` may be empty: then the gold state is -1.
    """
    start(pool)
    used, alive = 1, 1
    room.beam[0] = 0
    room.totals[0] = 0
    golden = 0 if len(gold) else -1
    step = 0
    while True:
        kept = 0
        open_states = 0
        for k in range(alive):
            row = room.beam[k]
            if pool[row, NODE] == DONE:
                kept = _insert(room, kept, width, room.totals[row], row, -1)
                continue
            open_states += 1
            count = legal_actions(
                model.actions, units, model.subwords, model.flat, first, sentence, n, pool, row, room.legal
            )
            _score(model, units, first, sentence, n, pool, row, count, room)
            for j in range(count):
                action = room.legal[j]
                kept = _insert(room, kept, width, room.totals[row] + room.scores[action], row, action)
        if open_states == 0:
            return room.beam[0], golden, -1
        wanted = gold[step] if golden >= 0 and step < len(gold) else -1
        found = -1
        for k in range(kept):
            row, action = room.best_row[k], room.best_action[k]
            if action < 0:
                room.beam[k] = row
                if row == golden:
                    found = row
                continue
            apply(model.actions, action, pool, row, used)
            room.totals[used] = room.best_score[k]
            room.beam[k] = used
            if row == golden and action == wanted:
                found = used
            used += 1
        alive = kept
        step += 1
        if golden >= 0:
            if found < 0:
                return room.beam[0], golden, wanted
            golden = found


@kernel
def change(
    model: ConstituentModel, units: Units, first: int, sentence: int, n: int, pool: Table, row: int, action: int,
    by: int, clock: float, room: Room,
) -> None:  # fmt: skip
    """Change the weights of an action in a state."""
    fill_atoms(units, model.subwords, first, sentence, n, pool, row, room.atoms)
    end = block_keys(model.program, 0, units, first, pool, row, room.atoms, room.keys)
    change_wide(model.weights, room.keys, 0, end, action, by, clock)
    block = _BLOCK[model.actions.kind[action]]
    if block > 0:
        end = block_keys(model.program, block, units, first, pool, row, room.atoms, room.keys)
        change_wide(model.weights, room.keys, model.program.blocks[block], end, action, by, clock)


@kernel
def random_walk(
    model: ConstituentModel, units: Units, first: int, sentence: int, n: int, draws: Keys, pool: Table, legal: Table
) -> int:
    """Take actions at random until a state terminates; gives it, or -1 - the state that allows nothing more."""
    start(pool)
    row = 0
    while pool[row, NODE] != DONE:
        count = legal_actions(model.actions, units, model.subwords, model.flat, first, sentence, n, pool, row, legal)
        if count == 0:
            return -1 - row
        action = legal[np.int64(draws[row % len(draws)] % np.uint64(count))]
        apply(model.actions, action, pool, row, row + 1)
        row += 1
    return row


@kernel
def follow(
    model: ConstituentModel, units: Units, first: int, sentence: int, n: int, gold: Table, pool: Table, legal: Table
) -> int:
    """Take given actions from the start; gives how many of them were legal, one after the other."""
    start(pool)
    for step in range(len(gold)):
        count = legal_actions(model.actions, units, model.subwords, model.flat, first, sentence, n, pool, step, legal)
        found = False
        for k in range(count):
            if legal[k] == gold[step]:
                found = True
        if not found:
            return step
        apply(model.actions, gold[step], pool, step, step + 1)
    return len(gold)


@kernel
def action_sequence(pool: Table, row: int, out: Table) -> int:
    """The actions on the way to a state; gives how many."""
    count = pool[row, DEPTH]
    for k in range(count - 1, -1, -1):
        out[k] = pool[row, ACTION]
        row = pool[row, PREV]
    return count
