"""The linear model of actions: what a candidate's features say of every move and label.

    score(action) = sum over features f of  M[f, move] + A[f, action],      action = (move, label)

Features of templates that score moves only have a row of M in a table with a few columns. Those of the others have one
row with the columns of M first and then those of A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.features.hashing import Keys
from weft.infer.transitions.state import Table
from weft.infer.transitions.systems import bases
from weft.infer.transitions.templates import StateProgram, feature_keys
from weft.infer.transitions.weights import (
    NARROW,
    NarrowTable,
    Scores,
    WideTable,
    add_narrow,
    add_wide,
    change_narrow,
    change_wide,
)
from weft.kernel import kernel


class Model(NamedTuple):
    """A transition system with templates, weights and actions."""

    system: int
    program: StateProgram
    moves: NarrowTable
    labels: WideTable
    action_move: Table
    action_label: Table
    move_first: Table  # actions are sorted by move: those of move m are move_first[m] to move_first[m + 1]


class Scratch(NamedTuple):
    """Room to work in, one a thread."""

    bases: Table
    nodes: Table
    atoms: Keys
    keys: Keys
    places: NDArray[np.int64]
    moves: Scores
    sums: Scores


def columns_of(actions: int) -> int:
    """Columns of the rows that score moves and actions; a multiple of what processors add up at a time."""
    return -(-(NARROW + actions) // 32) * 32


def new_scratch(program: StateProgram, actions: int) -> Scratch:
    """Room for a program and so many actions."""
    templates = len(program.seeds)
    return Scratch(
        np.zeros(16, dtype=np.int32),
        np.zeros(len(program.places), dtype=np.int32),
        np.zeros(len(program.atoms), dtype=np.uint64),
        np.zeros(templates, dtype=np.uint64),
        np.zeros(templates, dtype=np.int64),
        np.zeros(NARROW, dtype=np.int32),
        np.zeros(columns_of(actions), dtype=np.int32),
    )


@kernel
def candidate_keys(model: Model, state: Table, candidate: int, words: Keys, first: int, room: Scratch) -> None:
    """The features of a candidate, into `room.keys`."""
    bases(model.system, state, candidate, room.bases)
    feature_keys(model.program, state, room.bases, words, first, room.nodes, room.atoms, room.keys)


@kernel
def score_actions(model: Model, room: Scratch, out: Scores) -> None:
    """Scores of actions from the features in `room.keys`."""
    moves, sums = room.moves, room.sums
    end = model.program.moves_end
    add_narrow(model.moves, room.keys, 0, end, moves)
    sums[:] = 0
    add_wide(model.labels, room.keys, end, len(room.keys), room.places, sums)
    for move in range(NARROW):
        own = moves[move] + sums[move]
        for a in range(model.move_first[move], model.move_first[move + 1]):
            out[a] = own + sums[NARROW + a]


@kernel
def change_action(model: Model, room: Scratch, action: int, by: int, clock: float) -> None:
    """Change the weights of an action and of its move for the features in `room.keys`."""
    move, end = model.action_move[action], model.program.moves_end
    change_narrow(model.moves, room.keys, 0, end, move, by, clock)
    change_wide(model.labels, room.keys, end, len(room.keys), move, by, clock)
    change_wide(model.labels, room.keys, end, len(room.keys), NARROW + action, by, clock)
