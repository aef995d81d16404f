"""Beam search: the best few configurations of every step go on.

    B_0 = {start},   B_{i+1} = best `width` of { t(c) : c in B_i, t in LEGAL(c) }  by  score(c) + score(t; c)

Final configurations stay as they are until all are final, so that computations of different lengths compete; where
lengths differ much, rank by the mean score of an action (`by_mean`). In training the same search also runs over correct
actions only, and notes which configurations are still without a mistake.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.infer.transitions.constraints import Constraints, allowed_moves
from weft.infer.transitions.scoring import Model, Scratch, candidate_keys, score_actions
from weft.infer.transitions.state import G_HEAD, G_LABEL, HEAD, LABEL, NONDET, ROWS, STATIC, WIDTH, Table
from weft.infer.transitions.systems import System, apply, arc, canonical, cost, finished, following, price, start
from weft.infer.transitions.weights import NARROW
from weft.kernel import inner_kernel

#: Numbers of a beam: configurations, which half of the tables holds them, steps made.
_SIZE, _HALF, _STEP = range(3)


class Beam(NamedTuple):
    """Configurations of two steps (halves), what they score, and how all came about."""

    states: NDArray[np.int32]  # half, place, rows and columns of a state
    totals: NDArray[np.float64]  # half, place
    lengths: NDArray[np.int32]  # half, place: actions made
    wrong: NDArray[np.int32]  # half, place: whether there was a mistake
    parents: NDArray[np.int32]  # step, place
    candidates: NDArray[np.int32]
    actions: NDArray[np.int32]  # -1: was final already
    numbers: NDArray[np.int64]
    ranks: NDArray[np.float64]  # of the best actions found so far in a step
    chosen: NDArray[np.int32]  # of those: place, candidate, action, wrong
    scores: NDArray[np.float64]


#: The widest beam: a bound on the memory that a model can ask for.
WIDEST_BEAM = 1000


def new_beam(width: int, longest: int, steps: int) -> Beam:
    """Room for a beam over sentences of at most that many words, and computations of that many steps."""
    rows = max(longest + 2, ROWS)
    return Beam(
        np.zeros((2, width, rows, WIDTH), dtype=np.int32),
        np.zeros((2, width)),
        np.zeros((2, width), dtype=np.int32),
        np.zeros((2, width), dtype=np.int32),
        np.zeros((steps, width), dtype=np.int32),
        np.zeros((steps, width), dtype=np.int32),
        np.zeros((steps, width), dtype=np.int32),
        np.zeros(3, dtype=np.int64),
        np.zeros(width),
        np.zeros((width, 4), dtype=np.int32),
        np.zeros(width),
    )


@inner_kernel
def start_beam(system: System, beam: Beam, n: int) -> None:
    """One configuration, that of the start."""
    start(system, beam.states[0, 0], n)
    beam.totals[0, 0] = 0.0
    beam.lengths[0, 0] = beam.wrong[0, 0] = 0
    beam.numbers[_SIZE], beam.numbers[_HALF], beam.numbers[_STEP] = 1, 0, 0


@inner_kernel
def beam_finished(system: System, beam: Beam) -> bool:
    """Whether all configurations are final, or there is no room for more steps."""
    if beam.numbers[_STEP] >= len(beam.parents):
        return True
    half = beam.numbers[_HALF]
    for b in range(beam.numbers[_SIZE]):  # noqa: SIM110
        if not finished(system, beam.states[half, b]):
            return False
    return True


@inner_kernel
def rank_of(beam: Beam, place: int, by_mean: bool) -> float:
    """What a configuration is ranked by."""
    half = beam.numbers[_HALF]
    total = beam.totals[half, place]
    return total / max(1, beam.lengths[half, place]) if by_mean else total


@inner_kernel
def total_of(beam: Beam, place: int) -> float:
    """The sum of the scores of the actions that led to a configuration."""
    return beam.totals[beam.numbers[_HALF], place]


@inner_kernel
def has_mistake(beam: Beam, place: int) -> bool:
    """Whether a configuration came about by a mistake."""
    return beam.wrong[beam.numbers[_HALF], place] != 0


@inner_kernel
def steps_of(beam: Beam) -> int:
    """How many steps were made."""
    return beam.numbers[_STEP]


@inner_kernel
def best_place(beam: Beam, by_mean: bool, without_mistakes: bool) -> int:
    """The place of the best configuration, of those without a mistake if so asked; -1 if there is none."""
    half = beam.numbers[_HALF]
    top, found = -np.inf, -1
    for b in range(beam.numbers[_SIZE]):
        if without_mistakes and beam.wrong[half, b] != 0:
            continue
        rank = rank_of(beam, b, by_mean)
        if rank > top:
            top, found = rank, b
    return found


@inner_kernel
def _lowest(beam: Beam) -> int:
    """The place of the lowest rank among the actions to be kept."""
    at = 0
    for k in range(1, len(beam.ranks)):
        if beam.ranks[k] < beam.ranks[at]:
            at = k
    return at


@inner_kernel
def _propose(beam: Beam, found: int, rank: float, score: float, b: int, candidate: int, action: int, wrong: int) -> int:
    """Enter an action among the best ones; returns how many there are."""
    at = found if found < len(beam.ranks) else _lowest(beam)
    if at < found and rank <= beam.ranks[at]:
        return found
    beam.ranks[at], beam.scores[at] = rank, score
    beam.chosen[at, 0], beam.chosen[at, 1], beam.chosen[at, 2], beam.chosen[at, 3] = b, candidate, action, wrong
    return max(found, at + 1)


@inner_kernel
def beam_step(
    system: System,
    model: Model,
    beam: Beam,
    words: Keys,
    offset: int,
    n: int,
    single_root: bool,
    by_mean: bool,
    constraints: Constraints | None,
    correct: bool,
    static: bool,
    gold: Table | None,
    room: Scratch,
) -> None:
    """Go one step on, with a gold tree noting mistakes, or with `correct` actions only.

    With None for the gold tree, what prices moves is not even compiled.
    """
    half, size, scores = beam.numbers[_HALF], beam.numbers[_SIZE], room.scores
    found, width = 0, len(beam.ranks)
    least = -np.inf  # what an action has to surpass
    for b in range(size):
        state = beam.states[half, b]
        total, length = beam.totals[half, b], beam.lengths[half, b]
        wrong_before = beam.wrong[half, b]
        if finished(system, state):
            rank = total / max(1, length) if by_mean else total
            found = _propose(beam, found, rank, total, b, -1, -1, wrong_before)
            least = beam.ranks[_lowest(beam)] if found == width else least
            continue
        only = -1
        if gold is not None and wrong_before == 0:
            price(system, state, gold, STATIC if static else NONDET)
            if static:
                only = canonical(system, state, gold)
        candidate = 0
        while candidate >= 0:
            legal = allowed_moves(system, state, candidate, single_root, constraints, offset)
            if legal != 0:
                candidate_keys(system, model, state, candidate, words, offset, room)
                score_actions(model, room, scores)
            for move in range(NARROW):
                if not (legal >> move) & 1:
                    continue
                wrong, wanted = wrong_before, -1
                if gold is not None and wrong_before == 0:
                    if only >= 0:
                        wrong = 1 if move != only else 0
                    else:
                        wrong = 1 if cost(system, state, gold, candidate, move) > 0 else 0
                    head, dependent = arc(system, state, candidate, move)
                    if dependent > 0 and gold[dependent, G_HEAD] == head:
                        wanted = gold[dependent, G_LABEL]
                if correct and wrong != 0:
                    continue
                for action in range(model.move_first[move], model.move_first[move + 1]):
                    mistaken = wrong
                    if wanted >= 0 and model.action_label[action] != wanted:
                        mistaken = 1
                    if correct and mistaken != 0:
                        continue
                    score = total + scores[action]
                    rank = score / (length + 1) if by_mean else score
                    if rank <= least:
                        continue
                    found = _propose(beam, found, rank, score, b, candidate, action, mistaken)
                    least = beam.ranks[_lowest(beam)] if found == width else least
            candidate = following(system, state, candidate)
    step = beam.numbers[_STEP]
    other = 1 - half
    for k in range(found):
        b, candidate, action = beam.chosen[k, 0], beam.chosen[k, 1], beam.chosen[k, 2]
        state = beam.states[other, k]
        before = beam.states[half, b]
        for row in range(max(n + 2, ROWS)):
            for column in range(WIDTH):
                state[row, column] = before[row, column]
        beam.totals[other, k] = beam.scores[k]
        beam.lengths[other, k] = beam.lengths[half, b]
        beam.wrong[other, k] = beam.chosen[k, 3]
        beam.parents[step, k], beam.candidates[step, k], beam.actions[step, k] = b, candidate, action
        if action >= 0:
            beam.lengths[other, k] += 1
            apply(system, state, candidate, model.action_move[action], model.action_label[action])
    beam.numbers[_SIZE], beam.numbers[_HALF], beam.numbers[_STEP] = found, other, step + 1


@inner_kernel
def trace(beam: Beam, place: int, steps: int, candidates: Table, actions: Table) -> None:
    """The actions that led to a place after that many steps."""
    for step in range(steps - 1, -1, -1):
        candidates[step] = beam.candidates[step, place]
        actions[step] = beam.actions[step, place]
        place = beam.parents[step, place]


@inner_kernel
def parse_with_beam(
    system: System,
    model: Model,
    words: Keys,
    sentences: NDArray[np.int64],
    single_root: bool,
    by_mean: bool,
    constraints: Constraints | None,
    room: Scratch,
    beam: Beam,
    heads: Table,
    labels: Table,
) -> None:
    """Heads and labels of all words of a batch."""
    for s in range(len(sentences) - 1):
        offset = sentences[s]
        n = sentences[s + 1] - offset
        if n == 0:
            continue
        start_beam(system, beam, n)
        while not beam_finished(system, beam):
            beam_step(
                system, model, beam, words, offset, n, single_root, by_mean, constraints, False, False, None, room,
            )  # fmt: skip
        state = beam.states[beam.numbers[_HALF], best_place(beam, by_mean, False)]
        for i in range(n):
            heads[offset + i] = state[i + 1, HEAD]
            labels[offset + i] = state[i + 1, LABEL]
