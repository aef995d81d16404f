"""Training of greedy parsers by the averaged perceptron, with static, non-deterministic and dynamic oracles.

    for every configuration c on the way:
        CORRECT = the actions the oracle allows;  tp = argmax over LEGAL;  to = argmax over CORRECT
        if tp is not in CORRECT:  w <- w + f(c, to) - f(c, tp);  go on with EXPLORE(tp, to)
        else go on with tp

With a margin, w also changes where tp is in CORRECT but some wrong action comes nearer to it than the margin.

static: CORRECT is one canonical action; non-deterministic and dynamic: all actions of cost 0. Only the dynamic oracle
explores (Goldberg & Nivre 2013): in epoch i > k, with probability p, it goes on with the wrong tp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.draws import uniform
from weft.infer.transitions.scoring import Model, Scratch, candidate_keys, change_action, forced_action, score_actions
from weft.infer.transitions.state import DYNAMIC, G_HEAD, G_LABEL, NONDET, STALE, STATIC, Table, fill_gold
from weft.infer.transitions.systems import System, apply, arc, canonical, cost, finished, following, legal, price, start
from weft.infer.transitions.weights import NARROW, Scores, narrow_has_room, wide_has_room
from weft.kernel import inner_kernel, kernel

#: Oracles by name.
ORACLES = {"static": STATIC, "nondet": NONDET, "dynamic": DYNAMIC}
#: A configuration is repeated at most so often before training goes on from it.
_TRIES = 50
_LEAST = -(1 << 30)
#: What an epoch counts: configurations and wrong actions.
STEPS, WRONG = range(2)


@kernel
def train_greedily(
    system: System,
    model: Model,
    words: Keys,
    sentences: NDArray[np.int64],
    heads: Table,
    labels: Table,
    order: NDArray[np.int64],
    begin: int,
    oracle: int,
    stays: bool,
    explore: float,
    margin: int,
    single_root: bool,
    random: Keys,
    room: Scratch,
    state: Table,
    gold: Table,
    cache: Scores,
    counts: NDArray[np.int64],
    clock: NDArray[np.float64],
) -> int:
    """Go through sentences in an order from `begin` on; returns where it stopped because a table was full."""
    templates = len(model.program.seeds)
    for at in range(begin, len(order)):
        offset = sentences[order[at]]
        n = sentences[order[at] + 1] - offset
        fill_gold(heads, labels, offset, n, gold)
        start(system, state, n)
        tries = 0
        while not finished(system, state):
            if not (narrow_has_room(model.moves, 4 * templates) and wide_has_room(model.labels, 4 * templates)):
                return at
            clock[0] += 1.0
            counts[STEPS] += 1
            forced = forced_action(system, model, legal(system, state, 0, single_root))
            if forced >= 0:
                apply(system, state, 0, model.action_move[forced], model.action_label[forced])
                continue
            price(system, state, gold, oracle)
            only = canonical(system, state, gold) if oracle == STATIC else -1
            best, guess, best_score = -1, -1, _LEAST
            right, target, right_score = -1, -1, _LEAST
            rival, rival_action, rival_score = -1, -1, _LEAST  # the best of the wrong actions
            held = -1  # the candidate whose features are in `room`
            candidate = 0
            while candidate >= 0:
                line = cache[candidate if len(cache) > 1 else 0]
                if state[candidate, STALE] != 0:
                    state[candidate, STALE] = 0
                    candidate_keys(system, model, state, candidate, words, offset, room)
                    score_actions(model, room, line)
                    held = candidate
                allowed = legal(system, state, candidate, single_root)
                for move in range(NARROW):
                    if not (allowed >> move) & 1:
                        continue
                    zero = move == only if only >= 0 else cost(system, state, gold, candidate, move) == 0
                    for a in range(model.move_first[move], model.move_first[move + 1]):
                        if line[a] > best_score:
                            best, guess, best_score = candidate, a, line[a]
                    wanted = -2
                    if zero:
                        head, dependent = arc(system, state, candidate, move)
                        wanted = -1
                        if dependent > 0 and gold[dependent, G_HEAD] == head:
                            wanted = gold[dependent, G_LABEL]
                    for a in range(model.move_first[move], model.move_first[move + 1]):
                        if wanted == -1 or model.action_label[a] == wanted:
                            if line[a] > right_score:
                                right, target, right_score = candidate, a, line[a]
                        elif line[a] > rival_score:
                            rival, rival_action, rival_score = candidate, a, line[a]
                candidate = following(system, state, candidate)
            if right < 0:  # a label the actions do not know: any move that is legal will do
                right, target = best, guess
            wrong = _is_wrong(system, model, state, gold, only, best, guess)
            close = not wrong and rival >= 0 and right_score - rival_score < margin
            if wrong:
                counts[WRONG] += 1
                rival, rival_action = best, guess
            if wrong or close:
                if held != right:
                    candidate_keys(system, model, state, right, words, offset, room)
                change_action(model, room, target, 1, clock[0])
                if rival != right:
                    candidate_keys(system, model, state, rival, words, offset, room)
                change_action(model, room, rival_action, -1, clock[0])
                _forget_scores(system, state)
            chosen, choice = best, guess
            if wrong and not (oracle == DYNAMIC and uniform(random) < explore):
                chosen, choice = right, target
                tries += 1
                if stays and tries < _TRIES:
                    continue
            tries = 0
            apply(system, state, chosen, model.action_move[choice], model.action_label[choice])
    return len(order)


@inner_kernel
def _is_wrong(system: System, model: Model, state: Table, gold: Table, only: int, candidate: int, action: int) -> bool:
    move = model.action_move[action]
    if only >= 0:
        if move != only:
            return True
    elif cost(system, state, gold, candidate, move) > 0:
        return True
    head, dependent = arc(system, state, candidate, move)
    if dependent > 0 and gold[dependent, G_HEAD] == head and gold[dependent, G_LABEL] >= 0:
        return model.action_label[action] != gold[dependent, G_LABEL]
    return False


@inner_kernel
def _forget_scores(system: System, state: Table) -> None:
    """After a change of weights, all candidates have to be scored anew."""
    candidate = 0
    while candidate >= 0:
        state[candidate, STALE] = 1
        candidate = following(system, state, candidate)
