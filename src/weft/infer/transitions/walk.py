"""Computations of transition systems in plain Python: configurations, with the table that compiled features read.

while c is not final:  c <- t(c),   t = argmax over LEGAL(c) of score(t; c)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.deadline import check
from weft.errors import ConfigError
from weft.infer.transitions.plain import PlainSystem
from weft.infer.transitions.scoring import Model, Scratch, score_actions
from weft.infer.transitions.state import HEAD, LABEL, Table, attach, clear, new_state
from weft.infer.transitions.templates import feature_keys


class Walk:
    """One computation over the n words after row `offset` of a table of words."""

    def __init__(self, model: Model, system: PlainSystem, words: Keys, offset: int, n: int, room: Scratch) -> None:
        self.model, self.system, self.room = model, system, room
        self.words, self.offset = words, offset
        self.configuration = system.start(n)
        self.state = new_state(n)
        clear(self.state, n)
        self._scores = np.zeros(len(model.action_move), dtype=np.int32)
        self._names = {number: name for name, number in system.numbers().items()}
        self._left = 10 * n * len(self._names) + 10  # moves, before the system must have gone astray

    @property
    def finished(self) -> bool:
        return self.system.finished(self.configuration)

    def legal(self, single_root: bool) -> list[int]:
        """The actions whose moves are legal, in the order of their numbers."""
        moves = set(self.system.legal(self.configuration, single_root))
        if not moves:
            raise ConfigError(f"{self.system.name} allows no move in {self.configuration}, which is not final")
        return [action for action, move in enumerate(self.model.action_move.tolist()) if self._names[move] in moves]

    def move(self, action: int) -> str:
        """The move of an action."""
        return self._names[int(self.model.action_move[action])]

    def keys(self) -> None:
        """Put the features of the configuration into the scratch space."""
        self.room.bases[:8] = self.system.nodes(self.configuration)
        program, room = self.model.program, self.room
        feature_keys(
            program,
            program.compares,
            self.state,
            room.bases,
            self.words,
            self.offset,
            room.nodes,
            room.atoms,
            room.keys,
        )

    def scores(self) -> NDArray[np.int32]:
        """The scores of all actions."""
        self.keys()
        score_actions(self.model, self.room, self._scores)
        return self._scores

    def arc(self, move: str) -> tuple[int, int]:
        """Head and dependent of the arc that a move would add, -1 and -1 for none."""
        return self.system.arc(self.configuration, self.system.apply(self.configuration, move))

    def take(self, action: int) -> None:
        """Carry out an action."""
        after = self.system.apply(self.configuration, self.move(action))
        head, dependent = self.system.arc(self.configuration, after)
        if dependent > 0:
            attach(self.state, head, dependent, int(self.model.action_label[action]))
        self.configuration = after
        self._left -= 1
        if self._left < 0:
            raise ConfigError(f"{self.system.name} does not come to an end: it is in {after}")


def parse_plainly(
    model: Model,
    system: PlainSystem,
    words: Keys,
    sentences: NDArray[np.int64],
    single_root: bool,
    room: Scratch,
    heads: Table,
    labels: Table,
) -> None:
    """Heads and labels of all words of a batch."""
    for offset, end in zip(sentences[:-1].tolist(), sentences[1:].tolist(), strict=True):
        check()
        walk = Walk(model, system, words, offset, end - offset, room)
        while end > offset and not walk.finished:
            actions = walk.legal(single_root)
            walk.take(actions[0] if len(actions) == 1 else actions[int(np.argmax(walk.scores()[actions]))])
        heads[offset:end] = walk.state[1 : end - offset + 1, HEAD]
        labels[offset:end] = walk.state[1 : end - offset + 1, LABEL]
