"""Translating and parsing at once: which actions of a shift-reduce parser may follow which (Liu 2013).

A hypothesis has a stack of pieces of a dependency tree over its translation. A piece is h, with one root, or floating:
l, whose roots depend on a word that follows, or r, whose roots depend on one before. With s the top of the stack and t
the piece below it,

    S     shift the piece of an option
    R_l   the roots of t become left dependents of the root of s
    R_r   the roots of s become right dependents of the root of t

Types decide what may follow, but for h on h, where all three are possible. K options take K shifts and K - 1
reductions, and what is left is one piece of type h. Words stay in the order of the shifts.

The feature `StackTypes` is what the first pass of a search needs to know of this: a hypothesis keeps the types on its
stack, and every action at h on h scores log 1/3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from weft.arrays import Floats, Ids
from weft.errors import InferenceError
from weft.infer.decoding.features import Batch, Control, no_end
from weft.infer.decoding.options import Options

H, L, R = 0, 1, 2
#: The moves of a search, in the order of their numbers.
REDUCE_LEFT, REDUCE_RIGHT = 0, 1
#: Actions as a classifier numbers them.
SHIFT, LEFT_ACTION, RIGHT_ACTION = 0, 1, 2
ACTIONS = ("shift", "reduce left", "reduce right")
#: How many pieces a stack can have: two bits each in a number of 32.
DEEPEST = 15
_EMPTY = -1
_UNIFORM = float(np.log(1 / 3))
_TABLE = {
    (_EMPTY, _EMPTY): (SHIFT,),
    (_EMPTY, H): (SHIFT,),
    (_EMPTY, L): (SHIFT,),
    (H, H): (SHIFT, LEFT_ACTION, RIGHT_ACTION),
    (H, L): (SHIFT,),
    (H, R): (RIGHT_ACTION,),
    (L, H): (LEFT_ACTION,),
    (L, L): (SHIFT,),
}


def actions(below: int, top: int, waits: bool = False) -> tuple[int, ...]:
    """The actions that the types of the upper two pieces allow; -1: no piece.

    With `waits`, h on l may also be shifted upon, so that a sibling can stand between a floating piece and its head.

    >>> [ACTIONS[each] for each in actions(H, H)], actions(L, H) == (LEFT_ACTION,), actions(R, H)
    (['shift', 'reduce left', 'reduce right'], True, ())
    >>> actions(L, H, waits=True) == (SHIFT, LEFT_ACTION)
    True
    """
    if waits and (below, top) == (L, H):
        return SHIFT, LEFT_ACTION
    return _TABLE.get((below, top), ())


def may_shift(below: int, top: int, kind: int, waits: bool = False) -> bool:
    """Whether a piece of a type may be shifted; one of type r only onto its head.

    >>> may_shift(-1, H, R), may_shift(-1, L, R), may_shift(-1, -1, R)
    (True, False, False)
    """
    return SHIFT in actions(below, top, waits) and (kind != R or top == H)


def control(kinds: Ids, waits: bool = False) -> Control:
    """The control of a search in which options have these types of pieces.

    The class of a hypothesis is 4 (t + 1) + (s + 1) for the types of the upper two pieces, -1 for none.
    """
    pairs = [(below, top) for below in range(-1, 3) for top in range(-1, 3)]
    return Control(
        class_of=_upper,
        option_class=np.asarray(kinds, np.int32),
        allowed=np.array([[may_shift(*pair, kind, waits) for kind in (H, L, R)] for pair in pairs]),
        final=np.array([pair == (_EMPTY, H) for pair in pairs]),
        moves=np.array([[a in actions(*pair, waits) for a in (LEFT_ACTION, RIGHT_ACTION)] for pair in pairs]),
    )


def _upper(states: Ids) -> Ids:
    found: Ids = states[:, 0] & 15
    return found


@dataclass(frozen=True, eq=False)
class StackTypes:
    """The types of pieces on the stack; labels of options number their pieces, whose types are `kinds`.

    >>> from weft.infer.decoding.decoder import Decoder, SearchSettings
    >>> options = Options.of(3, [(0, 1, [7]), (1, 2, [8]), (2, 3, [9])]).labelled([0, 1, 2])
    >>> decoder = Decoder([StackTypes(np.array([L, H, R], np.int32))], SearchSettings.exact(0))
    >>> graph = decoder.search(options, np.ones(2))
    >>> [(each.options, round(each.score, 2)) for each in graph.kbest(3)]
    [((0, 1, 3, 2, 4), 0.0)]
    """

    kinds: Ids
    waits: bool = False
    name: str = "actions"
    n_moves: int = 2  #: the two reductions

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def bind(self, options: Options) -> _Bound:
        """The scorer of one sentence."""
        return _Bound(self.kinds[labels_of(options, len(self.kinds))], self.waits)


def labels_of(options: Options, n: int) -> Ids:
    """The labels of options as numbers of n pieces; moves have none, which does not matter."""
    if options.label is None or (len(options) and int(options.label.max()) >= n):
        raise InferenceError(f"every option needs the number of one of {n:,} pieces as its label")
    return options.label


class _Bound:
    def __init__(self, kinds: Ids, waits: bool) -> None:
        self.control = control(kinds, waits)
        self._kinds = kinds
        self.start = np.zeros(1, np.int32)
        self.estimate = np.zeros((len(kinds), 1))
        self.finish = partial(no_end, self)

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        stack = states[:, 0]
        upper = stack & 15
        shifts = batch.option < batch.n_options
        kind = self._kinds[batch.option]
        shifted = (stack << 2) | (kind + 1)
        # A reduction leaves a piece of type h in place of two.
        after = np.where(shifts, shifted, ((stack >> 4) << 2) | (H + 1))
        scores = np.where(upper == 4 * (H + 1) + H + 1, _UNIFORM, 0.0)
        scores[shifts & (stack >= 1 << 2 * (DEEPEST - 1))] = -np.inf
        # What floats to the left needs a head, and there is none when nothing is left to translate.
        scores[shifts & (kind == L) & batch.complete] = -np.inf
        return scores[:, None], after.astype(np.int32)[:, None]
