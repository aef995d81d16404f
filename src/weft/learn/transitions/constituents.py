"""Training of the constituent parser: averaged perceptron with early update (Collins & Roark 2004).

    decode with the beam; as soon as the gold beginning has fallen out of it, or else at the end, if z is not gold:
        w <- w + F(gold beginning) - F(best beginning z)

Both sums run over the same number of steps; what the two have in common cancels and is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.infer.constituents.beam import ConstituentModel, Room, change, new_room, search
from weft.infer.constituents.system import ACTION, PREV, Units, new_pool, path
from weft.infer.transitions.state import Table
from weft.infer.transitions.weights import grow_wide, wide_has_room
from weft.kernel import kernel


@kernel
def _differences(pool: Table, best: int, golden: int, guess: Table, gold: Table) -> tuple[int, int, int]:
    """Both ways as rows; gives where they part, and their lengths."""
    n_guess, n_gold = path(pool, best, guess), path(pool, golden, gold)
    at = 0
    while at < n_guess and at < n_gold and guess[at] == gold[at]:
        at += 1
    return at, n_guess, n_gold


@kernel
def _update(
    model: ConstituentModel, units: Units, first: int, sentence: int, n: int, pool: Table, rows: Table, begin: int,
    end: int, by: int, clock: float, room: Room,
) -> int:  # fmt: skip
    """Change the weights of the actions that led to `rows[begin:end]`; gives where the table was full."""
    for k in range(begin, end):
        if not wide_has_room(model.weights, len(room.keys)):
            return k
        change(model, units, first, sentence, n, pool, pool[rows[k], PREV], pool[rows[k], ACTION], by, clock, room)
    return end


@dataclass
class Epoch:
    """Statistics of an epoch."""

    sentences: int = 0
    wrong: int = 0
    early: int = 0


class ConstituentTrainer:
    """Goes through sentences and changes the weights of a model; `model.weights` is replaced when it grows.

    `gold[s]` are the numbers of the actions of sentence s, whose units are `sentences[s]` to `sentences[s + 1]`.
    """

    def __init__(
        self, model: ConstituentModel, units: Units, sentences: NDArray[np.int64], gold: Sequence[Table], width: int
    ) -> None:
        self.model, self.units, self.sentences, self.gold, self.width = model, units, sentences, gold, width
        longest = int(np.diff(sentences).max(initial=1))
        self.pool = new_pool(longest, width)
        self.room = new_room(model, width, len(self.pool))
        self.guess = np.zeros(len(self.pool), dtype=np.int32)
        self.right = np.zeros(len(self.pool), dtype=np.int32)
        self.clock = 0.0

    def epoch(self, order: Sequence[int]) -> Epoch:
        """Train on the sentences in that order."""
        told = Epoch()
        for s in order:
            first, n = int(self.sentences[s]), int(self.sentences[s + 1] - self.sentences[s])
            if n == 0:
                continue
            told.sentences += 1
            self.clock += 1.0
            best, golden, wanted = search(
                self.model, self.units, first, s, n, self.width, self.gold[s], self.pool, self.room
            )
            if wanted < 0 and best == golden:
                continue
            told.wrong += 1
            told.early += wanted >= 0
            at, n_guess, n_gold = _differences(self.pool, best, golden, self.guess, self.right)
            self._change(first, s, n, self.right, at, n_gold, 1)
            if wanted >= 0:
                # The row that the last gold action would have made is not there: a place to keep the action serves.
                spare = len(self.pool) - 1
                self.pool[spare, PREV], self.pool[spare, ACTION] = golden, wanted
                self.right[0] = spare
                self._change(first, s, n, self.right, 0, 1, 1)
            self._change(first, s, n, self.guess, at, n_guess, -1)
        return told

    def _change(self, first: int, s: int, n: int, rows: Table, begin: int, end: int, by: int) -> None:
        while begin < end:
            begin = _update(self.model, self.units, first, s, n, self.pool, rows, begin, end, by, self.clock, self.room)
            if begin < end:
                room = len(self.room.keys)
                grown = grow_wide(self.model.weights, 64 * room, 64 * room * 9, 8 * room)
                self.model = self.model._replace(weights=grown)
