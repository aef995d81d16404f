"""Training of parsers with a transition system in plain Python: the steps of `weft.learn.transitions.training`.

The oracle comes from search. Static: the first move of cost 0, in the order in which the system names its moves;
non-deterministic and dynamic: all moves of cost 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.draws import uniform
from weft.infer.transitions.plain import PlainSystem
from weft.infer.transitions.scoring import Model, Scratch, change_action
from weft.infer.transitions.search import SearchOracle
from weft.infer.transitions.state import DYNAMIC, STATIC, Table
from weft.infer.transitions.walk import Walk
from weft.infer.transitions.weights import narrow_has_room, wide_has_room
from weft.learn.transitions.training import STEPS, WRONG


def train_plainly(
    model: Model,
    system: PlainSystem,
    words: Keys,
    sentences: NDArray[np.int64],
    heads: Table,
    labels: Table,
    order: NDArray[np.int64],
    begin: int,
    oracle: int,
    explore: float,
    single_root: bool,
    random: Keys,
    room: Scratch,
    counts: NDArray[np.int64],
    clock: NDArray[np.float64],
) -> int:
    """Go through sentences in an order from `begin` on; returns where it stopped because a table was full."""
    templates = len(model.program.seeds)
    for at in range(begin, len(order)):
        offset, end = int(sentences[order[at]]), int(sentences[order[at] + 1])
        gold, wanted = heads[offset:end].tolist(), labels[offset:end].tolist()
        search = SearchOracle(system, gold, single_root)
        walk = Walk(model, system, words, offset, end - offset, room)
        while not walk.finished:
            if not (narrow_has_room(model.moves, 4 * templates) and wide_has_room(model.labels, 4 * templates)):
                return at
            clock[0] += 1.0
            counts[STEPS] += 1
            actions = walk.legal(single_root)
            if len(actions) == 1:
                walk.take(actions[0])
                continue
            scores = walk.scores()
            guess = actions[int(np.argmax(scores[actions]))]
            right = _right_actions(walk, search, actions, oracle == STATIC, gold, wanted)
            if guess in right:
                walk.take(guess)
                continue
            counts[WRONG] += 1
            target = right[int(np.argmax(scores[right]))]
            change_action(model, room, target, 1, clock[0])
            change_action(model, room, guess, -1, clock[0])
            walk.take(guess if oracle == DYNAMIC and uniform(random) < explore else target)
    return len(order)


def _right_actions(
    walk: Walk, search: SearchOracle, actions: list[int], static: bool, gold: list[int], wanted: list[int]
) -> list[int]:
    """The actions that cost nothing, with the gold label if they add a gold arc; all of them if none has it."""
    costs = search.costs(walk.configuration)
    moves = [move for move in walk.system.moves if costs.get(move) == 0]
    moves = moves[:1] if static else moves
    right = []
    for action in actions:
        if (move := walk.move(action)) in moves:
            head, dependent = walk.arc(move)
            label = wanted[dependent - 1] if dependent > 0 and gold[dependent - 1] == head else -1
            if label < 0 or label == walk.model.action_label[action]:
                right.append(action)
    return right or actions
