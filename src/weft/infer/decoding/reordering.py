"""Lexicalised reordering: how likely phrase pairs are to follow their predecessor in order, swapped with it, or apart.

Of two options that are neighbours in the translation, the later one's source span stands to the earlier one's as

    monotone        it begins where the other ends
    swap            it ends where the other begins
    discontinuous   anything else

An option's first three scores are its log probabilities of the three towards the option before it, the other three
those towards the option after it. The beginning is an option that ends at 0, and the end one that begins at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids, Singles
from weft.errors import InferenceError
from weft.infer.decoding.features import Batch, Control
from weft.infer.decoding.options import Options

MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2
_NAMES = tuple(f"{kind} {side}" for side in ("before", "after") for kind in ("monotone", "swap", "discontinuous"))


@dataclass(frozen=True, eq=False)
class Reordering:
    """Lexicalised reordering with one row of six log probabilities per phrase pair (`Options.pair`).

    Options without a pair get the row `default`.
    """

    table: Floats | Singles
    default: tuple[float, ...] = (0.0,) * 6

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != 6 or len(self.default) != 6:
            raise InferenceError("a table of reordering has six numbers per phrase pair")

    @property
    def names(self) -> tuple[str, ...]:
        return _NAMES

    def bind(self, options: Options) -> _Bound:
        """The scorer of one sentence."""
        if len(options) and options.pair.max() >= len(self.table):
            raise InferenceError(f"an option's phrase pair must be one of the {len(self.table)} rows of the table")
        rows = np.tile(np.asarray(self.default, np.float64), (len(options), 1))
        known = options.pair >= 0
        rows[known] = self.table[options.pair[known]]
        # Hypotheses recombine if their last options are as likely to be followed in every order.
        distinct, kind = np.unique(rows[:, 3:], axis=0, return_inverse=True)
        return _Bound(options, rows[:, :3], distinct, kind.reshape(-1).astype(np.int32))


class _Bound:
    control: Control | None = None

    def __init__(self, options: Options, before: Floats, after: Floats, kind: Ids) -> None:
        self._start, self._end, self._length = options.start, options.end, options.length
        self._before, self._after, self._kind = before, after, kind
        self.start = np.array([0, 0, -1], np.int32)  # the span of the option before, and its kind
        self.estimate = np.zeros((len(options), 6))

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        scores, after = np.zeros((len(batch), 6)), states.copy()
        real = np.flatnonzero(batch.option < batch.n_options)
        option, before = batch.option[real], states[real]
        kind = orientations(before[:, 0], before[:, 1], self._start[option], self._end[option])
        scores[real, kind] = self._before[option, kind]
        earlier = before[:, 2]
        scores[real, 3 + kind] = np.where(earlier >= 0, self._after[earlier, kind], 0.0)
        after[real, 0], after[real, 1], after[real, 2] = self._start[option], self._end[option], self._kind[option]
        return scores, after

    def finish(self, states: Ids) -> Floats:
        scores = np.zeros((len(states), 6))
        end = np.full(len(states), self._length)
        kind = orientations(states[:, 0], states[:, 1], end, end + 1)
        earlier = states[:, 2]
        scores[np.arange(len(states)), 3 + kind] = np.where(earlier >= 0, self._after[earlier, kind], 0.0)
        return scores


def orientations(start: Ids, end: Ids, next_start: Ids, next_end: Ids) -> Ids:
    """The orientations of source spans towards those before them.

    >>> spans = np.array
    >>> orientations(spans([2, 2, 2]), spans([4, 4, 4]), spans([4, 0, 5]), spans([5, 2, 6])).tolist()
    [0, 1, 2]
    """
    return np.where(next_start == end, MONOTONE, np.where(next_end == start, SWAP, DISCONTINUOUS))
