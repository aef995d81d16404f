"""Forced decoding: only derivations of one given translation.

The state of a hypothesis is how much of the translation it has said. As a `Control`, this decides before anything is
scored which options may follow, so no expansion is wasted on another translation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.infer.decoding.features import Batch, Control
from weft.infer.decoding.options import Options


class ForcedTarget:
    """Allows only derivations whose words are those given.

    >>> from weft.infer.decoding.decoder import Decoder
    >>> rows = [(0, 1, [7]), (1, 2, [8]), (1, 2, [9]), (0, 2, [9, 7])]
    >>> options = Options.of(2, rows, [[-1.0], [-1.0], [-2.0], [-9.0]])
    >>> forced = ForcedTarget([9, 7])
    >>> graph = Decoder([forced]).search(forced.usable(options), np.array([1.0, 1.0]))
    >>> [(graph.words(each), each.score) for each in graph.kbest(5)]
    [([9, 7], -6.0), ([9, 7], -9.0)]
    >>> Decoder([ForcedTarget([7, 7])]).search(options, np.array([1.0, 1.0])).is_empty
    True
    """

    def __init__(self, words: Sequence[int]) -> None:
        self.words = np.asarray(words, np.int32)

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def usable(self, options: Options) -> Options:
        """The options whose words occur in the translation; without the others the search has less to look at."""
        return options.take(self._matches(options)[0].any(axis=0))

    def bind(self, options: Options) -> _Bound:
        """The scorer of one sentence."""
        matches, kinds = self._matches(options)
        distinct, first = np.unique(kinds, return_index=True)
        final = np.zeros(len(self.words) + 1, np.bool_)
        final[-1] = True
        control = Control(_position, kinds, matches[:, first[: len(distinct)]], final)
        return _Bound(control, options.sizes(), len(options))

    def _matches(self, options: Options) -> tuple[Bools, Ids]:
        """Whether every option could be said at every place, and a number for each distinct sequence of words."""
        kinds: dict[tuple[int, ...], int] = {}
        number = np.array([kinds.setdefault(tuple(options.target(o)), len(kinds)) for o in range(len(options))])
        table = np.zeros((len(self.words) + 1, len(kinds)), np.bool_)
        words = self.words.tolist()
        for said, kind in kinds.items():
            for at in range(len(words) - len(said) + 1):
                table[at, kind] = tuple(words[at : at + len(said)]) == said
        return table[:, number.astype(np.int64)], number.astype(np.int32)


def _position(states: Ids) -> Ids:
    found: Ids = states[:, 0]
    return found


class _Bound:
    def __init__(self, control: Control, sizes: Ints, n: int) -> None:
        self.control, self._sizes = control, sizes.astype(np.int32)
        self.start = np.zeros(1, np.int32)
        self.estimate = np.zeros((n, 0))

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        return np.zeros((len(batch), 0)), states + self._sizes[batch.option][:, None]

    def finish(self, states: Ids) -> Floats:
        return np.zeros((len(states), 0))
