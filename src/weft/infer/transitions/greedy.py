"""Greedy decoding: the best legal action, again and again.

while c is not final:  c <- t(c),   t = argmax over LEGAL(c) of score(t; c)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.infer.transitions.constraints import Constraints, allowed_moves
from weft.infer.transitions.scoring import Model, Scratch, candidate_keys, forced_action, score_actions
from weft.infer.transitions.state import HEAD, LABEL, STALE, Table
from weft.infer.transitions.systems import System, apply, finished, following, start
from weft.infer.transitions.weights import NARROW, Scores
from weft.kernel import inlined, inner_kernel

_LEAST = -(1 << 30)


@inner_kernel
def parse_greedily(
    system: System,
    model: Model,
    words: Keys,
    sentences: NDArray[np.int64],
    single_root: bool,
    constraints: Constraints | None,
    room: Scratch,
    state: Table,
    cache: Scores,
    best: NDArray[np.int32],
    heads: Table,
    labels: Table,
) -> None:
    """Heads and labels of all words of a batch.

    `state` has rows for the longest sentence. `cache[candidate]` keeps scores and `best[candidate]` the best choice
    while its features do not change.
    """
    for s in range(len(sentences) - 1):
        offset = sentences[s]
        n = sentences[s + 1] - offset
        start(system, state, n)
        while not finished(system, state):
            candidate, action = choose_action(
                system, model, state, words, offset, single_root, constraints, room, cache, best
            )
            apply(system, state, candidate, model.action_move[action], model.action_label[action])
        for i in range(n):
            heads[offset + i] = state[i + 1, HEAD]
            labels[offset + i] = state[i + 1, LABEL]


@inlined
def choose_action(
    system: System,
    model: Model,
    state: Table,
    words: Keys,
    offset: int,
    single_root: bool,
    constraints: Constraints | None,
    room: Scratch,
    cache: Scores,
    best: NDArray[np.int32],
) -> tuple[int, int]:
    """The best candidate and its best legal action."""
    scores = room.scores
    top, chosen, choice = _LEAST, -1, -1
    changing = constraints is not None
    candidate = 0
    while candidate >= 0:
        legal = allowed_moves(system, state, candidate, single_root, constraints, offset)
        forced = forced_action(system, model, legal)
        if forced >= 0:
            return candidate, forced
        if state[candidate, STALE] != 0:
            state[candidate, STALE] = 0
            candidate_keys(system, model, state, candidate, words, offset, room)
            score_actions(model, room, scores)
            own = _best_action(model, scores, legal)
            value = scores[own] if own >= 0 else _LEAST
            if len(cache) > 1:
                for a in range(len(scores)):
                    cache[candidate, a] = scores[a]
                best[candidate] = own
        else:
            if candidate == 0 or changing:
                best[candidate] = _best_action(model, cache[candidate], legal)
            own = best[candidate]
            value = cache[candidate, own] if own >= 0 else _LEAST
        if own >= 0 and value > top:
            top, chosen, choice = value, candidate, own
        candidate = following(system, state, candidate)
    return chosen, choice


@inner_kernel
def _best_action(model: Model, scores: Scores, legal: int) -> int:
    """The best action whose move is legal, -1 if there is none."""
    top, found = _LEAST, -1
    for move in range(NARROW):
        if (legal >> move) & 1:
            for a in range(model.move_first[move], model.move_first[move + 1]):
                if scores[a] > top:
                    top, found = scores[a], a
    return found
