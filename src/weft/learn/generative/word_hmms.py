"""Words as hidden Markov models over what participants of a scene do, learned from scenes with whole sentences.

    L(D, S) = sum over picks j of P(j | D) * product over words l of P(x_l(j) | model of l)
    a_ik = expected moves from i to k / expected visits of i      b_in(h) = expected outputs h of feature n in state i

Picks give every participant one detection per frame (`weft.infer.product_hmm`). Which picks are meant is not known;
since words share participants and occur in many sentences, each helps to tell what the others mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids
from weft.errors import ConfigError
from weft.infer.product_hmm import Best, Marginals, ProductHMM, WordChain


@dataclass(frozen=True)
class WordClass:
    """A part of speech: how many participants its words have, states of their models, and bins of every feature.

    >>> WordClass("verb", 2, 3, (5, 4)).codes
    20
    """

    name: str
    arity: int
    states: int
    bins: tuple[int, ...]

    @property
    def codes(self) -> int:
        """The number of combinations of features."""
        return math.prod(self.bins)

    def features(self, codes: Ids) -> list[Ids]:
        """The features of combinations."""
        return [np.asarray(each, dtype=np.int32) for each in np.unravel_index(codes, self.bins)]


class Occurrence(NamedTuple):
    """A word of a sentence: its number in the lexicon, and its participants."""

    entry: int
    participants: tuple[int, ...]


@dataclass(frozen=True)
class WordModel:
    """The model of a word: `outputs[n][q, h]` is the probability that feature n is h in state q."""

    initial: Floats
    transition: Floats
    outputs: tuple[Floats, ...]

    @cached_property
    def table(self) -> Floats:
        """The probabilities [code, q] of combinations of features."""
        table = np.ones((1, len(self.initial)))
        for each in self.outputs:
            table = (table[:, None, :] * each.T[None, :, :]).reshape(-1, len(self.initial))
        return table

    @classmethod
    def uniform(cls, kind: WordClass) -> WordModel:
        """A model that knows nothing."""
        i = kind.states
        return cls(np.full(i, 1 / i), np.full((i, i), 1 / i), tuple(np.full((i, z), 1 / z) for z in kind.bins))


@dataclass(frozen=True)
class Scene:
    """A clip: log scores of detections [t, j] and of steps [t, i, j], and the code of every part of speech [t, a].

    `log_normalizers` holds what was computed of the clip without words: by participants and exclusion.
    """

    unary: Floats
    pair: Floats
    codes: Mapping[str, Ids]
    log_normalizers: dict[tuple[int, bool], float] = field(default_factory=dict, compare=False, repr=False)

    def lattice(
        self, words: Sequence[Occurrence], participants: int, models: Sequence[WordModel],
        classes: Sequence[WordClass], exclusive: bool = True,
    ) -> ProductHMM:  # fmt: skip
        """The product of the words' models over this clip; `classes` has the class of every entry."""
        chains = []
        for entry, own in words:
            model = models[entry]
            seen = model.table[self.codes[classes[entry].name]]
            chains.append(WordChain(own, model.initial, model.transition, seen))
        return ProductHMM(self.unary, self.pair, participants, chains, exclusive)

    def log_normalizer(self, participants: int, exclusive: bool = True) -> float:
        """The logarithm of the sum over picks, computed once."""
        key = participants, exclusive
        if key not in self.log_normalizers:
            self.log_normalizers[key] = ProductHMM(self.unary, self.pair, participants, (), exclusive).log_partition()
        return self.log_normalizers[key]


@dataclass(frozen=True)
class Sample:
    """A scene with a sentence about it."""

    scene: Scene
    words: tuple[Occurrence, ...]
    participants: int


@dataclass
class WordLexicon:
    """The models of all words, and how sentences are scored with them."""

    classes: list[WordClass]
    models: list[WordModel]
    exclusive: bool = True

    def lattice(self, sample: Sample) -> ProductHMM:
        """The product of the words' models over a clip."""
        return sample.scene.lattice(sample.words, sample.participants, self.models, self.classes, self.exclusive)

    def log_likelihood(self, sample: Sample) -> float:
        """log L(D, S)."""
        normalizer = sample.scene.log_normalizer(sample.participants, self.exclusive)
        return self.lattice(sample).log_likelihood(normalizer)

    def score(self, sample: Sample) -> float:
        """log L(D, S) per frame, plus what words explained no better than chance would have cost.

        The second part makes sentences of different lengths comparable: a word gains if it explains its features
        better than uniform distributions do.
        """
        chance = sum(
            math.log(self.classes[word.entry].states * self.classes[word.entry].codes) for word in sample.words
        )
        return self.log_likelihood(sample) / len(sample.scene.unary) + chance

    def marginals(self, sample: Sample) -> Marginals:
        """Expected picks, states and moves."""
        return self.lattice(sample).marginals()

    def best(self, sample: Sample) -> Best:
        """The best tracks of the participants together with the states of the words."""
        return self.lattice(sample).best()


@dataclass
class Expected:
    """Expected counts of all words over some samples, and the log-likelihood of each."""

    initial: dict[int, Floats]
    moves: dict[int, Floats]
    codes: dict[int, Floats]  #: [code, q]
    log_likelihoods: list[float]

    @classmethod
    def none(cls) -> Expected:
        """No counts."""
        return cls({}, {}, {}, [])

    def add(self, other: Expected) -> None:
        """Add the counts of other samples."""
        for mine, theirs in ((self.initial, other.initial), (self.moves, other.moves), (self.codes, other.codes)):
            for entry, counts in theirs.items():
                mine[entry] = mine[entry] + counts if entry in mine else counts
        self.log_likelihoods += other.log_likelihoods


def expect(samples: Sequence[Sample], lexicon: WordLexicon) -> Expected:
    """The expected counts of samples under a lexicon."""
    found = Expected.none()
    for sample in samples:
        marginals = lexicon.marginals(sample)
        normalizer = sample.scene.log_normalizer(sample.participants, lexicon.exclusive)
        own = Expected({}, {}, {}, [marginals.log_partition - normalizer])
        for number, word in enumerate(sample.words):
            kind, weights = lexicon.classes[word.entry], marginals.outputs[number]
            codes = sample.scene.codes[kind.name].ravel()
            counts: Floats = np.zeros((kind.codes, kind.states))
            for q in range(kind.states):
                counts[:, q] = np.bincount(codes, weights[:, :, q].ravel(), kind.codes)
            once = Expected(
                {word.entry: marginals.states(number)[0]}, {word.entry: marginals.transitions[number]},
                {word.entry: counts}, [],
            )  # fmt: skip
            own.add(once)
        found.add(own)
    return found


def maximize(expected: Expected, lexicon: WordLexicon, floor: float = 1e-3) -> WordLexicon:
    """The lexicon that fits expected counts best, with no probability below `floor`; unseen words stay as they are."""
    models = list(lexicon.models)
    for entry, counts in expected.codes.items():
        kind = lexicon.classes[entry]
        cube = counts.reshape(*kind.bins, kind.states)
        outputs = []
        for n in range(len(kind.bins)):
            others = tuple(m for m in range(len(kind.bins)) if m != n)
            own = cube.sum(axis=others).T
            outputs.append(np.array([floored(row, floor) for row in own]))
        moves = np.array([floored(row, floor) for row in expected.moves[entry]])
        models[entry] = WordModel(floored(expected.initial[entry], floor), moves, tuple(outputs))
    return WordLexicon(lexicon.classes, models, lexicon.exclusive)


def floored(counts: Floats, floor: float) -> Floats:
    """The distribution p >= floor with the largest sum of counts * log p.

    >>> floored(np.array([3.0, 1.0, 0.0]), 0.1).tolist()
    [0.675, 0.225, 0.1]
    """
    n = len(counts)
    if n == 1:
        return np.ones(1)
    if floor * n >= 1:
        raise ConfigError(f"{n} probabilities cannot all be at least {floor}")
    low = np.zeros(n, dtype=np.bool_)
    while True:
        free, left = float(counts[~low].sum()), 1 - floor * int(low.sum())
        if free <= 0:
            return np.full(n, 1 / n) if not low.any() else np.where(low, floor, left / max(n - int(low.sum()), 1))
        share = np.where(low, floor, counts / free * left)
        below = (share < floor) & ~low
        if not below.any():
            return share
        low |= below
