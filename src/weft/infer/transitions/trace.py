"""The derivation of one sentence, step by step: what greedy decoding saw and chose in every configuration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.infer.transitions.constraints import Constraints
from weft.infer.transitions.greedy import choose_action
from weft.infer.transitions.model import TransitionParser
from weft.infer.transitions.plain import PlainSystem
from weft.infer.transitions.scoring import Model, Scratch, candidate_keys, score_actions
from weft.infer.transitions.state import Table, new_state
from weft.infer.transitions.systems import System, apply, arc, finished, legal, start
from weft.infer.transitions.walk import Walk
from weft.infer.transitions.weights import Scores
from weft.kernel import kernel


class Trace(NamedTuple):
    """The steps of a derivation, one row each."""

    steps: Table  # action, legal moves as bits, head and dependent of the arc that the action adds (-1 for none)
    scores: Scores  # of all actions
    keys: Keys  # of all templates, 0 where a template did not fire
    nodes: Table  # the nodes that templates read, by their places in the program

    def attaching(self, dependent: int) -> int:
        """The step that attached a word (counted from 1), -1 if none did."""
        found = np.flatnonzero(self.steps[:, 3] == dependent)
        return int(found[-1]) if len(found) else -1


def trace(
    parser: TransitionParser, words: Keys, single_root: bool = True, constraints: Constraints | None = None
) -> Trace:
    """The derivation of one sentence, whose words are given with a row of ROOT in front.

    >>> parser = TransitionParser("arc-hybrid", "S0.t|N0.t", ["t"], [(0, -1), (1, 0), (2, 0)])
    >>> found = trace(parser, np.ones((4, 1), dtype=np.uint64))
    >>> found.steps[:, 0].tolist(), found.attaching(2)
    ([0, 0, 0, 2, 2, 2], 4)
    """
    n, model = len(words) - 1, parser.model
    if parser.system.plain is not None:
        return _trace_plainly(parser, parser.system.plain, words, single_root)
    most = parser.system.most_steps(n)
    found = Trace(
        np.full((most, 4), -1, dtype=np.int32),
        np.zeros((most, len(parser.actions)), dtype=np.int32),
        np.zeros((most, len(model.program.seeds)), dtype=np.uint64),
        np.full((most, len(model.program.places)), -1, dtype=np.int32),
    )
    made = 0 if not n else _trace(
        parser.system.number, model, words, n, single_root, constraints, parser.new_scratch(), new_state(n),
        parser.new_cache(n), np.zeros(n + 2, dtype=np.int32), *found,
    )  # fmt: skip
    return Trace(found.steps[:made], found.scores[:made], found.keys[:made], found.nodes[:made])


def _trace_plainly(parser: TransitionParser, system: PlainSystem, words: Keys, single_root: bool) -> Trace:
    """The derivation by a system in plain Python."""
    room = parser.new_scratch()
    walk = Walk(parser.model, system, words, 0, len(words) - 1, room)
    steps: list[tuple[int, int, int, int]] = []
    scores, keys, nodes = [], [], []
    while len(words) > 1 and not walk.finished:
        actions = walk.legal(single_root)
        scores.append(walk.scores().copy())
        keys.append(room.keys.copy())
        nodes.append(room.nodes.copy())
        action = actions[int(np.argmax(scores[-1][actions]))]
        moves = {1 << int(parser.model.action_move[each]) for each in actions}
        steps.append((action, sum(moves), *walk.arc(walk.move(action))))
        walk.take(action)
    count = len(steps)
    return Trace(
        np.array(steps, dtype=np.int32).reshape(count, 4),
        np.array(scores, dtype=np.int32).reshape(count, -1),
        np.array(keys, dtype=np.uint64).reshape(count, -1),
        np.array(nodes, dtype=np.int32).reshape(count, -1),
    )


@kernel
def _trace(
    system: System,
    model: Model,
    words: Keys,
    n: int,
    single_root: bool,
    constraints: Constraints | None,
    room: Scratch,
    state: Table,
    cache: Scores,
    best: NDArray[np.int32],
    steps: Table,
    scores: Scores,
    keys: Keys,
    nodes: Table,
) -> int:
    """Parse a sentence and note every step; gives their number."""
    start(system, state, n)
    count = 0
    while not finished(system, state):
        candidate, action = choose_action(system, model, state, words, 0, single_root, constraints, room, cache, best)
        move = model.action_move[action]
        candidate_keys(system, model, state, candidate, words, 0, room)
        score_actions(model, room, scores[count])
        keys[count] = room.keys
        nodes[count] = room.nodes
        steps[count, 0] = action
        steps[count, 1] = legal(system, state, candidate, single_root)
        steps[count, 2], steps[count, 3] = arc(system, state, candidate, move)
        apply(system, state, candidate, move, model.action_label[action])
        count += 1
    return count
