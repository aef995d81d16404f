"""Participants that pick one detection per frame, and hidden Markov models of words that watch their picks.

    score(j, q) = sum over frames t and participants p of F_t(j_p^t) + G_t(j_p^{t-1}, j_p^t)
                + sum over words l of log a_l(q_l^{t-1}, q_l^t) + log b_l(q_l^t, j_args(l)^t)

A state of frame t is the pick of every participant and the state of every word, J^P * prod I_l in all. Transitions are
a product of small matrices, one per participant and word, and are applied one after the other: a frame costs
S (P J + sum I_l) instead of S^2. With `exclusive`, two participants never pick the same detection of a frame; else
words that compare two participants are explained best if all participants are one.

`log_partition` sums over picks and states, `log_normalizer` over picks alone, so their difference is the logarithm of
sum over j of P(j) P(words | j), with P(j) proportional to exp of the scores of detections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import InferenceError
from weft.infer.product_hmm import best as best_paths
from weft.infer.product_hmm import sums

#: Numbers that the left sums of all frames may take; above, only those of some frames are kept, the others recomputed.
KEPT = 8_000_000


@dataclass(frozen=True)
class WordChain:
    """A word: the participants it watches, and its hidden Markov model with outputs already looked up.

    `outputs[t, a, q]` is the probability of what state q sees in frame t when its participants pick the detections
    j_1, j_2 ...; a counts them as digits: a = j_1 for one participant, j_1 * J + j_2 for two.
    """

    participants: tuple[int, ...]
    initial: Floats
    transition: Floats
    outputs: Floats

    @property
    def states(self) -> int:
        """The number of its states."""
        return len(self.initial)


@dataclass(frozen=True)
class Marginals:
    """Expected counts: of picks, and of states and transitions of every word.

    `picks[t, p, j]` is the probability that participant p picks detection j; `outputs[l][t, a, q]` that word l is in
    state q while its participants pick a; `transitions[l][i, k]` how often l goes from i to k.
    """

    log_partition: float
    picks: Floats
    outputs: list[Floats]
    transitions: list[Floats]

    def states(self, word: int) -> Floats:
        """The probabilities [t, q] of the states of a word."""
        found: Floats = self.outputs[word].sum(axis=1)
        return found


@dataclass(frozen=True)
class Best:
    """The best picks [t, p] and states of words [t, l], and their score."""

    score: float
    picks: Ints
    states: Ints


@dataclass
class ProductHMM:
    """A clip with the words of a sentence.

    `unary[t, j]` scores detection j in frame t (-inf where there is none) and `pair[t, i, j]` the step from detection
    i of frame t to j of the next one; both are logarithms.

    >>> still = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    >>> left = WordChain((0,), np.ones(1), np.ones((1, 1)), np.array([[[0.9], [0.1]], [[0.9], [0.1]]]))
    >>> lattice = ProductHMM(np.zeros((2, 2)), still, 2, [left])
    >>> round(lattice.log_likelihood(), 4), round(float(np.log((0.9**2 + 0.1**2) / 2)), 4)
    (-0.8916, -0.8916)
    >>> lattice.best().picks.tolist(), lattice.marginals().picks[0, 0].round(4).tolist()
    ([[0, 1], [0, 1]], [0.9878, 0.0122])
    """

    unary: Floats
    pair: Floats
    participants: int
    words: Sequence[WordChain] = ()
    exclusive: bool = True
    kept: int = KEPT
    _packed: sums.Packed = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.unary = np.ascontiguousarray(self.unary, dtype=np.float64)
        self.pair = np.ascontiguousarray(self.pair, dtype=np.float64)
        self._check()
        self._packed = sums.pack(
            self.unary, self.pair, self.participants, [word.participants for word in self.words],
            [(word.initial, word.transition, word.outputs) for word in self.words], self.exclusive,
        )  # fmt: skip

    @property
    def frames(self) -> int:
        """The number of frames."""
        return len(self.unary)

    @property
    def detections(self) -> int:
        """The number of detections per frame."""
        return self.unary.shape[1]

    @property
    def size(self) -> int:
        """The number of states of a frame."""
        return self._packed.size

    def _check(self) -> None:
        frames, width = self.unary.shape
        if frames == 0 or self.pair.shape != (frames - 1, width, width):
            raise InferenceError(f"{frames} frames of {width} detections do not fit steps {self.pair.shape}")
        if self.participants < 1 or (self.exclusive and self.participants > width):
            raise InferenceError(f"{self.participants} participants cannot pick from {width} detections per frame")
        for number, word in enumerate(self.words):
            shape = (frames, width ** len(word.participants), word.states)
            if word.outputs.shape != shape or word.transition.shape != (word.states, word.states):
                raise InferenceError(f"outputs of word {number} are {word.outputs.shape}, expected {shape}")
            if not word.participants or not all(0 <= p < self.participants for p in word.participants):
                raise InferenceError(f"word {number} watches {word.participants} of {self.participants} participants")

    def log_partition(self) -> float:
        """log sum over picks and states of exp score; -inf if nothing is possible."""
        return sums.log_partition(self._packed)

    def log_normalizer(self) -> float:
        """The same without words: log sum over picks of exp of the scores of detections."""
        return ProductHMM(self.unary, self.pair, self.participants, (), self.exclusive).log_partition()

    def log_likelihood(self, normalizer: float | None = None) -> float:
        """The logarithm of the probability of the words: `log_partition` minus `log_normalizer`."""
        return self.log_partition() - (self.log_normalizer() if normalizer is None else normalizer)

    def marginals(self) -> Marginals:
        """Expected counts under the distribution proportional to exp score."""
        every = max(1, math.ceil(math.sqrt(self.frames))) if self.frames * self.size > self.kept else self.frames
        value, picks, outputs, transitions = sums.expected(self._packed, every)
        if not np.isfinite(value):
            raise InferenceError("no picks are possible: a frame has fewer detections than there are participants")
        return Marginals(value, picks, outputs, transitions)

    def best(self) -> Best:
        """The best picks and states together; of equal ones, the first."""
        score, picks, states = best_paths.best(self._packed)
        if not np.isfinite(score):
            raise InferenceError("no picks are possible: a frame has fewer detections than there are participants")
        return Best(score, picks, states)

    def score(self, picks: Ids | Ints, states: Ids | Ints) -> float:
        """The score of picks [t, p] and states [t, l].

        >>> ProductHMM(np.ones((1, 2)), np.zeros((0, 2, 2)), 2).score(np.array([[0, 1]]), np.zeros((1, 0), int))
        2.0
        """
        frames = np.arange(self.frames)
        total = 0.0
        for p in range(self.participants):
            own = picks[:, p]
            total += float(self.unary[frames, own].sum() + self.pair[frames[:-1], own[:-1], own[1:]].sum())
        with np.errstate(divide="ignore"):
            for number, word in enumerate(self.words):
                q, code = states[:, number], np.zeros(self.frames, dtype=np.int64)
                for p in word.participants:
                    code = code * self.detections + picks[:, p]
                total += float(np.log(word.outputs[frames, code, q]).sum() + np.log(word.initial[q[0]]))
                total += float(np.log(word.transition[q[:-1], q[1:]]).sum())
        return total
