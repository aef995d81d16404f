"""The linear model of actions: what a candidate's features say of every move and label.

    score(action) = sum over features f of  M[f, move] + A[f, action],      action = (move, label)

Features of templates that score moves only have a row of M in a table with a few columns. Those of the others have one
row with the columns of M first and then those of A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Keys
from weft.infer.transitions.state import Table
from weft.infer.transitions.systems import System, bases, is_alone
from weft.infer.transitions.templates import StateProgram, feature_keys
from weft.infer.transitions.weights import (
    NARROW,
    LookUps,
    NarrowTable,
    Scores,
    WideTable,
    add_narrow,
    add_wide,
    change_narrow,
    change_wide,
    new_look_ups,
)
from weft.kernel import inner_kernel


class Model(NamedTuple):
    """Templates, weights and actions."""

    program: StateProgram
    moves: NarrowTable
    labels: WideTable
    action_move: Table
    action_label: Table
    move_first: Table  # actions are sorted by move: those of move m are move_first[m] to move_first[m + 1]


class Scratch(NamedTuple):
    """Scratch space, one per thread."""

    bases: Table
    nodes: Table
    atoms: Keys
    keys: Keys
    look_ups: LookUps
    moves: Scores
    sums: Scores
    scores: Scores  # of the actions


def columns_of(actions: int) -> int:
    """Columns of the rows that score moves and actions; a multiple of what processors add up at a time."""
    return -(-(NARROW + actions) // 32) * 32


def new_scratch(program: StateProgram, actions: int) -> Scratch:
    """Room for a program and that many actions."""
    templates = len(program.seeds)
    return Scratch(
        np.zeros(16, dtype=np.int32),
        np.zeros(len(program.places), dtype=np.int32),
        np.zeros(len(program.atoms), dtype=np.uint64),
        np.zeros(templates, dtype=np.uint64),
        new_look_ups(templates),
        np.zeros(NARROW, dtype=np.int32),
        np.zeros(columns_of(actions), dtype=np.int32),
        np.zeros(actions, dtype=np.int32),
    )


@inner_kernel
def candidate_keys(
    system: System, model: Model, state: Table, candidate: int, words: Keys, first: int, room: Scratch
) -> None:
    """The features of a candidate, into `room.keys`."""
    bases(system, state, candidate, room.bases)
    program = model.program
    feature_keys(program, program.compares, state, room.bases, words, first, room.nodes, room.atoms, room.keys)


@inner_kernel
def forced_action(system: System, model: Model, legal: int) -> int:
    """The action to take where there is no choice, -1 where there is one."""
    if not is_alone(system):
        return -1
    found, first = 0, 0
    for move in range(NARROW):
        if (legal >> move) & 1:
            found += model.move_first[move + 1] - model.move_first[move]
            first = model.move_first[move]
    return first if found == 1 else -1


@inner_kernel
def score_actions(model: Model, room: Scratch, out: Scores) -> None:
    """Scores of actions from the features in `room.keys`."""
    moves, sums = room.moves, room.sums
    end = model.program.moves_end
    add_narrow(model.moves, room.keys, 0, end, room.look_ups, moves)
    sums[:] = 0
    add_wide(model.labels, room.keys, end, len(room.keys), room.look_ups, sums)
    for move in range(NARROW):
        own = moves[move] + sums[move]
        for a in range(model.move_first[move], model.move_first[move + 1]):
            out[a] = own + sums[NARROW + a]


@inner_kernel
def change_action(model: Model, room: Scratch, action: int, by: int, clock: float) -> None:
    """Change the weights of an action and of its move for the features in `room.keys`."""
    move, end = model.action_move[action], model.program.moves_end
    change_narrow(model.moves, room.keys, 0, end, move, by, clock)
    change_wide(model.labels, room.keys, end, len(room.keys), move, by, clock)
    change_wide(model.labels, room.keys, end, len(room.keys), NARROW + action, by, clock)
