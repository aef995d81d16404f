"""Greedy decoding: the best legal action, again and again.

while c is not final:  c <- t(c),   t = argmax over LEGAL(c) of score(t; c)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.features.hashing import Keys
from weft.infer.transitions.constraints import Constraints, allowed_moves
from weft.infer.transitions.scoring import Model, Scratch, candidate_keys, score_actions, score_labels, score_moves
from weft.infer.transitions.state import HEAD, LABEL, STALE, Table
from weft.infer.transitions.systems import apply, finished, first, following, start
from weft.infer.transitions.weights import NARROW, Scores
from weft.kernel import kernel

_LEAST = -(1 << 30)


@kernel
def parse_greedily(
    model: Model,
    words: Keys,
    sentences: NDArray[np.int64],
    single_root: bool,
    constraints: Constraints,
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
    actions = len(model.action_move)
    moves = np.zeros(NARROW, dtype=np.int32)
    scores = np.zeros(actions, dtype=np.int32)
    for s in range(len(sentences) - 1):
        offset = sentences[s]
        n = sentences[s + 1] - offset
        start(model.system, state, n)
        while not finished(model.system, state):
            candidate, choice = _choose(
                model, state, words, offset, single_root, constraints, room, moves, scores, cache, best
            )
            if model.two_steps:
                move, label = choice, -1
                if model.move_first[move + 1] > model.move_first[move] + 1:
                    candidate_keys(model, state, candidate, words, offset, room)
                    score_labels(model, room, scores)
                    top = model.move_first[move]
                    for a in range(top + 1, model.move_first[move + 1]):
                        if scores[a] > scores[top]:
                            top = a
                    label = model.action_label[top]
                elif model.move_first[move + 1] > model.move_first[move]:
                    label = model.action_label[model.move_first[move]]
            else:
                move, label = model.action_move[choice], model.action_label[choice]
            apply(model.system, state, candidate, move, label)
        for i in range(n):
            heads[offset + i] = state[i + 1, HEAD]
            labels[offset + i] = state[i + 1, LABEL]


@kernel
def _choose(
    model: Model,
    state: Table,
    words: Keys,
    offset: int,
    single_root: bool,
    constraints: Constraints,
    room: Scratch,
    moves: Scores,
    scores: Scores,
    cache: Scores,
    best: NDArray[np.int32],
) -> tuple[int, int]:
    """The best candidate and its best legal action (its move, with two steps)."""
    top, chosen, choice = _LEAST, -1, -1
    candidate = first(model.system)
    while candidate >= 0:
        stale = state[candidate, STALE] != 0
        legal = allowed_moves(model.system, state, candidate, single_root, constraints, offset)
        if stale:
            candidate_keys(model, state, candidate, words, offset, room)
            if model.two_steps:
                score_moves(model, room, moves)
            else:
                score_actions(model, room, moves, scores)
            state[candidate, STALE] = 0
        own, own_choice = _LEAST, -1
        if stale or candidate == 0 or constraints.active:
            line = moves if model.two_steps else scores
            width = len(line)
            if not stale:
                line = cache[candidate]
            for k in range(width):
                move = k if model.two_steps else model.action_move[k]
                if (legal >> move) & 1 and line[k] > own:
                    own, own_choice = line[k], k
            best[candidate] = own_choice
            if stale and len(cache) > 1:
                cache[candidate, :width] = line
        else:
            own_choice = best[candidate]
            own = cache[candidate, own_choice]
        if own > top:
            top, chosen, choice = own, candidate, own_choice
        candidate = following(model.system, state, candidate)
    return chosen, choice
