"""Training for beam search: the structured perceptron on beginnings of computations.

    P = beam search over all actions, G = beam search over correct actions, both with the weights of now
    early:          at the first step i where P holds no configuration without a mistake
    max-violation:  at the step i where score(best of P_i) - score(best of G_i) is largest, if it is not negative
    update:         w <- w + F(best of G_i) - F(best of P_i)

(Collins & Roark 2004; Huang, Fayong & Guo 2012; with several correct computations, Sun et al. 2009.) A sentence whose
best computation is correct in the end changes nothing. Scores are sums; where beams rank by means, i times the mean, as
if a computation that is final before step i went on the same way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.infer.transitions.beam import (
    Beam,
    beam_finished,
    beam_step,
    best_place,
    has_mistake,
    rank_of,
    start_beam,
    steps_of,
    total_of,
    trace,
)
from weft.infer.transitions.scoring import Model, Scratch, candidate_keys, change_action
from weft.infer.transitions.state import Table, fill_gold
from weft.infer.transitions.systems import System, apply, start
from weft.infer.transitions.weights import narrow_has_room, wide_has_room
from weft.kernel import kernel
from weft.learn.transitions.training import STEPS, WRONG

#: What an epoch counts beside what greedy training does: the changes that the tables had no room for.
NEEDED = WRONG + 1
#: When to update.
EARLY, MAX_VIOLATION = range(2)
UPDATES = {"early": EARLY, "max-violation": MAX_VIOLATION}


@kernel
def train_with_beam(
    system: System,
    model: Model,
    words: Keys,
    sentences: NDArray[np.int64],
    heads: Table,
    labels: Table,
    order: NDArray[np.int64],
    begin: int,
    static: bool,
    update: int,
    single_root: bool,
    by_mean: bool,
    room: Scratch,
    free: Beam,
    correct: Beam,
    state: Table,
    gold: Table,
    counts: NDArray[np.int64],
    clock: NDArray[np.float64],
) -> int:
    """Go through sentences in an order from `begin` on; returns where it stopped because a table was full."""
    most = len(free.parents)
    paths = np.zeros((2, 2, most), dtype=np.int32)  # wrong and correct: candidates and actions
    for at in range(begin, len(order)):
        offset = sentences[order[at]]
        n = sentences[order[at] + 1] - offset
        fill_gold(heads, labels, offset, n, gold)
        start_beam(system, free, n)
        start_beam(system, correct, n)
        violation, steps, mistaken = -np.inf, 0, False
        while not (beam_finished(system, free) and beam_finished(system, correct)):
            beam_step(
                system, model, free, words, offset, n, single_root, by_mean, None, False, static, gold, room,
            )  # fmt: skip
            beam_step(
                system, model, correct, words, offset, n, single_root, by_mean, None, True, static, gold, room,
            )  # fmt: skip
            counts[STEPS] += 1
            guess, right = best_place(free, by_mean, False), best_place(correct, by_mean, False)
            if right < 0:  # no correct action: a label that the actions do not know
                mistaken = False
                break
            mistaken = has_mistake(free, guess)
            lost = best_place(free, by_mean, True) < 0
            if by_mean:  # computations that are final already go on at their mean score
                gap = (rank_of(free, guess, True) - rank_of(correct, right, True)) * steps_of(free)
            else:
                gap = total_of(free, guess) - total_of(correct, right)
            if mistaken and (
                gap >= 0 and gap > violation if update == MAX_VIOLATION else lost or beam_finished(system, free)
            ):
                violation, steps = gap, steps_of(free)
                trace(free, guess, steps, paths[0, 0], paths[0, 1])
                trace(correct, right, steps, paths[1, 0], paths[1, 1])
            if update == EARLY and lost:
                break
        if mistaken and steps > 0:
            same = 0
            while (
                same < steps
                and paths[0, 0, same] == paths[1, 0, same]
                and paths[0, 1, same] == paths[1, 1, same]
            ):  # fmt: skip
                same += 1
            changes = 0
            for side in range(2):
                changes += 2 * _replay(system, model, words, offset, n, state, room, paths[side], same, steps, 0, 0.0)
            if not (narrow_has_room(model.moves, changes) and wide_has_room(model.labels, changes)):
                counts[NEEDED] = changes
                return at
            counts[WRONG] += 1
            for side in range(2):
                _replay(
                    system, model, words, offset, n, state, room, paths[side], same, steps, 2 * side - 1, clock[0] + 1.0
                )
        clock[0] += 1.0
    return len(order)


@kernel
def _replay(
    system: System,
    model: Model,
    words: Keys,
    offset: int,
    n: int,
    state: Table,
    room: Scratch,
    path: Table,
    same: int,
    steps: int,
    by: int,
    clock: float,
) -> int:
    """Change the weights along a computation, from where it differs on (by 0: not at all); how many features it met."""
    met = 0
    start(system, state, n)
    for step in range(steps):
        candidate, action = path[0, step], path[1, step]
        if action < 0:
            continue
        if step >= same:
            candidate_keys(system, model, state, candidate, words, offset, room)
            met += int(np.count_nonzero(room.keys))
            if by != 0:
                change_action(model, room, action, by, clock)
        apply(system, state, candidate, model.action_move[action], model.action_label[action])
    return met
