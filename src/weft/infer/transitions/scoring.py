"""The linear model of actions: what a candidate's features say of every move and label.

    score(action) = sum over features f of  M[f, move] + A[f, action],      action = (move, label)

M is a table with a few columns that all templates of `moves` and `both` share; A has a column an action and those of
`labels` and `both`. With `two_steps` the move is chosen by M alone and then its label by A, which is asked once a word.
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
    two_steps: bool


class Scratch(NamedTuple):
    """Room to work in, one a thread."""

    bases: Table
    nodes: Table
    atoms: Keys
    keys: Keys
    places: NDArray[np.int64]


def new_scratch(program: StateProgram) -> Scratch:
    """Room for a program."""
    templates = len(program.seeds)
    return Scratch(
        np.zeros(16, dtype=np.int32),
        np.zeros(len(program.places), dtype=np.int32),
        np.zeros(len(program.atoms), dtype=np.uint64),
        np.zeros(templates, dtype=np.uint64),
        np.zeros(templates, dtype=np.int64),
    )


@kernel
def candidate_keys(model: Model, state: Table, candidate: int, words: Keys, first: int, room: Scratch) -> None:
    """The features of a candidate, into `room.keys`."""
    bases(model.system, state, candidate, room.bases)
    feature_keys(model.program, state, room.bases, words, first, room.nodes, room.atoms, room.keys)


@kernel
def score_moves(model: Model, room: Scratch, out: Scores) -> None:
    """Scores of moves from the features in `room.keys`."""
    add_narrow(model.moves, room.keys, 0, model.program.moves_end, out)


@kernel
def score_labels(model: Model, room: Scratch, out: Scores) -> None:
    """Scores of actions, apart from those of their moves, from the features in `room.keys`."""
    out[:] = 0
    add_wide(model.labels, room.keys, model.program.labels_begin, len(room.keys), room.places, out)


@kernel
def score_actions(model: Model, room: Scratch, moves: Scores, out: Scores) -> None:
    """Scores of actions with those of their moves."""
    score_moves(model, room, moves)
    score_labels(model, room, out)
    for a in range(len(out)):
        out[a] += moves[model.action_move[a]]


@kernel
def change_move(model: Model, room: Scratch, move: int, by: int, clock: float) -> None:
    """Change the weights of a move."""
    change_narrow(model.moves, room.keys, 0, model.program.moves_end, move, by, clock)


@kernel
def change_label(model: Model, room: Scratch, action: int, by: int, clock: float) -> None:
    """Change the weights of an action apart from those of its move."""
    change_wide(model.labels, room.keys, model.program.labels_begin, len(room.keys), action, by, clock)
