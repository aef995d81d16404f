"""The n-gram score of a translation, as a feature:  sum of log P(w | words before it), with the sentence's end.

The state of a hypothesis is a state of the n-gram automaton, so hypotheses recombine as soon as no future word can tell
them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints, Singles
from weft.errors import InferenceError
from weft.infer.decoding.backoff import advance
from weft.infer.decoding.features import Batch, Control
from weft.infer.decoding.options import Options
from weft.kernel import kernel

_LN10 = float(np.log(10.0))


class Automaton(NamedTuple):
    """The arrays of an n-gram automaton (`weft.infer.decoding.backoff`)."""

    first: Ids
    words: Ids
    suffix: Ids
    logp: Singles
    backoff: Singles


@dataclass(frozen=True, eq=False)
class NgramFeature:
    """An n-gram model over the words of options.

    `numbers[w]` is the model's number of the target word w; words beyond it are `unknown`. The automaton's scores are
    logarithms to base 10, those of the feature natural ones.
    """

    automaton: Automaton
    start: int  #: the state at the beginning of a sentence
    end: int  #: the number of the sentence's end, -1 for none
    numbers: Ids
    unknown: int = 0
    name: str = "language model"

    def __post_init__(self) -> None:
        vocabulary = int(self.automaton.first[0]) and int(self.automaton.first[1]) - 1
        words = (*((self.numbers.min(), self.numbers.max()) if len(self.numbers) else ()), self.end, self.unknown)
        if not 0 <= self.start < len(self.automaton.backoff) or min(words) < -1 or max(words) >= vocabulary:
            raise InferenceError("the state and words of an n-gram feature must be numbers of its automaton")

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def bind(self, options: Options) -> _Bound:
        """The scorer of one sentence."""
        words = options.words
        known = words < len(self.numbers)
        ids = np.full(len(words), self.unknown, np.int32)
        ids[known] = self.numbers[words[known]]
        if len(ids) and ids.min() < 0:
            raise InferenceError("a word of an option has no number in the language model")
        n = len(options)
        estimate, after = np.empty((n, 1)), np.empty((n, 1), np.int32)
        _advance_all(
            self.automaton, options.offsets, ids, np.arange(n, dtype=np.int32), np.zeros((n, 1), np.int32),
            estimate, after,
        )  # fmt: skip
        return _Bound(self, ids, options.offsets, np.array([self.start], np.int32), estimate * _LN10)


@dataclass(frozen=True, eq=False)
class _Bound:
    feature: NgramFeature
    ids: Ids
    offsets: Ints
    start: Ids
    estimate: Floats
    control: Control | None = None

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        scores, after = np.empty((len(batch), 1)), np.empty((len(batch), 1), np.int32)
        _advance_all(self.feature.automaton, self.offsets, self.ids, batch.option, states, scores, after)
        return scores * _LN10, after

    def finish(self, states: Ids) -> Floats:
        n = len(states)
        if self.feature.end < 0:
            return np.zeros((n, 1))
        scores, after = np.empty((n, 1)), np.empty((n, 1), np.int32)
        last = np.array([self.feature.end], np.int32)
        _advance_all(
            self.feature.automaton, np.array([0, 1]), last, np.zeros(n, np.int32), states, scores, after
        )  # fmt: skip
        return scores * _LN10


@kernel
def _advance_all(
    automaton: Automaton, offsets: Ints, words: Ids, option: Ids, states: Ids, scores: Floats, after: Ids
) -> None:
    for i in range(len(option)):
        state, total = int(states[i, 0]), 0.0
        for at in range(offsets[option[i]], offsets[option[i] + 1]):
            score, state = advance(
                automaton.first, automaton.words, automaton.suffix, automaton.logp, automaton.backoff,
                state, int(words[at]),
            )  # fmt: skip
            total += score
        scores[i, 0] = total
        after[i, 0] = state
