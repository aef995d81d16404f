"""A back-off n-gram model: P(w|h) = prob(hw) if hw is in the trie, else alpha(h) P(w|h').

h' is h without its oldest word.

Probabilities and weights are kept as logarithms to base 10 in single precision, as ARPA files have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from weft.arrays import Floats, Ids, Ints, Singles
from weft.errors import DataError
from weft.learn.ngrams.query import score_sentences, step_all
from weft.learn.ngrams.smoothing import NOTHING, Estimates
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import BEGIN_ID, UNKNOWN_ID, Vocabulary

#: The logarithm of a probability of 0, as ARPA files have it.
NEVER = -99.0
_BATCH = 5000
#: Sentences that are scored side by side.
_LANES = 8
#: Mass below this may be what is left of rounding.
_ROUNDING = 2e-7


@dataclass(frozen=True)
class Perplexity:
    """How well a model predicts a text; `</s>` counts as a word, `<s>` does not."""

    words: int
    unknown: int
    logp: float  #: of all words, to base 10
    logp_known: float  #: of all but the unknown ones

    @property
    def all(self) -> float:
        """The perplexity, unknown words predicted as `<unk>`."""
        return float(10 ** (-self.logp / max(1, self.words)))

    @property
    def known(self) -> float:
        """The perplexity of the words that are not unknown."""
        return float(10 ** (-self.logp_known / max(1, self.words - self.unknown)))

    @property
    def bits(self) -> float:
        """Cross entropy per word, in bits."""
        return float(np.log2(self.all))


@dataclass(frozen=True)
class NgramModel:
    """A language model.

    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["dogs", "bark"], ["cats", "sleep"], ["dogs", "sleep"]], order=2)
    >>> model = NgramModel.of(vocabulary, estimate(counts, "witten-bell"))
    >>> model.order, model.counts(), round(model.score(["dogs", "bark"]), 3)
    (2, [7, 7], -1.015)
    >>> states = np.array([model.start, model.empty], dtype=np.int32)
    >>> scores, after = model.step(states, model.vocabulary.encode(["dogs", "dogs"]))
    >>> scores.round(3).tolist(), after.tolist()
    ([-0.318, -0.694], [4, 4])
    """

    vocabulary: Vocabulary
    trie: Trie
    logp: Singles  #: of every node
    backoff: Singles  #: of every node that can be a history
    method: str = ""  #: of smoothing, if it is known

    @classmethod
    def of(cls, vocabulary: Vocabulary, estimates: Estimates, method: str = "") -> NgramModel:
        """The model of estimated probabilities."""
        trie, prob, alpha = estimates
        logp = logarithms(prob)
        logp[0] = 0.0
        return cls(vocabulary, trie, logp, _fitted(trie, logp, alpha), method)

    def estimates(self) -> Estimates:
        """Probabilities and weights, in double precision."""
        prob = np.where(self.logp <= NEVER, 0.0, 10 ** self.logp.astype(np.float64))
        alpha = np.where(self.backoff <= NEVER, 0.0, 10 ** self.backoff.astype(np.float64))
        prob[0] = 0.0
        return Estimates(self.trie, prob, alpha)

    @property
    def order(self) -> int:
        return self.trie.order

    @property
    def start(self) -> int:
        """The state at the beginning of a sentence."""
        return 1 + BEGIN_ID if self.order > 1 else 0

    @property
    def empty(self) -> int:
        """The state that knows nothing of what came before."""
        return 0

    def counts(self) -> list[int]:
        """How many n-grams of every length the model has."""
        return self.trie.counts()

    @property
    def tables(self) -> tuple[Ids, Ids, Ids, Singles, Singles]:
        """The arrays that `advance` of `weft.learn.ngrams.query` takes, in its order."""
        return self.trie.first, self.trie.words, self.trie.suffix, self.logp, self.backoff

    def step(self, states: Ids, words: Ids) -> tuple[Floats, Ids]:
        """The scores of words after states, one of each per place, and the states after them."""
        states, words = np.asarray(states, dtype=np.int32), np.asarray(words, dtype=np.int32)
        if states.shape != words.shape or states.ndim != 1:
            raise DataError(f"one word per state is expected, found {words.shape} words for {states.shape} states")
        if len(states) and not (states.min() >= 0 and states.max() < len(self.backoff)):
            raise DataError(f"a state must be a number from 0 to {len(self.backoff) - 1}")
        if len(words) and not (words.min() >= 0 and words.max() < self.trie.n_words):
            raise DataError(f"a word must be a number from 0 to {self.trie.n_words - 1}")
        scores, after = np.empty(len(states)), np.empty(len(states), dtype=np.int32)
        step_all(*self.tables, states, words, scores, after)
        return scores, after

    def score(self, words: Sequence[str], begin: bool = True, end: bool = True) -> float:
        """The logarithm of a sentence's probability, without its beginning or end if so wanted."""
        text, offsets = self.vocabulary.encode_sentences([words])
        if not end:
            text, offsets = text[:-1], np.array([0, len(text) - 1])
        return float(self.scores(text, offsets, self.start if begin else self.empty).sum())

    def scores(self, text: Ids, offsets: Ints, start: int | None = None) -> Floats:
        """The score of every word of numbered sentences; those of s are offsets[s] ... offsets[s + 1] - 1."""
        found = np.empty(len(text))
        first = self.start if start is None else start
        lanes = np.empty((_LANES, 5), dtype=np.int64)
        score_sentences(*self.tables, text, np.asarray(offsets, dtype=np.int64), first, lanes, found)
        return found

    def score_each(self, sentences: Iterable[Sequence[str]]) -> Iterator[float]:
        """The logarithms of the probabilities of sentences, for a stream of any length.

        >>> from weft.learn.ngrams.counting import count
        >>> from weft.learn.ngrams.smoothing import estimate
        >>> vocabulary, counts = count([["dogs", "bark"], ["cats", "sleep"], ["dogs", "sleep"]], order=2)
        >>> model = NgramModel.of(vocabulary, estimate(counts, "witten-bell"))
        >>> [round(score, 3) for score in model.score_each([["dogs", "bark"], ["dogs"]])]
        [-1.015, -1.181]
        """
        rest = iter(sentences)
        while batch := list(islice(rest, _BATCH)):
            text, offsets = self.vocabulary.encode_sentences(batch)
            yield from np.add.reduceat(self.scores(text, offsets), offsets[:-1]).tolist()

    def score_all(self, sentences: Iterable[Sequence[str]]) -> Iterator[tuple[Ids, Floats]]:
        """The numbers and scores of the words of every sentence, `</s>` included, for a stream of any length."""
        rest = iter(sentences)
        while batch := list(islice(rest, _BATCH)):
            text, offsets = self.vocabulary.encode_sentences(batch)
            scores = self.scores(text, offsets)
            cuts = offsets[1:-1]
            yield from zip(np.split(text, cuts), np.split(scores, cuts), strict=True)

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> Perplexity:
        """The perplexity of sentences."""
        words, unknown, logp, known = 0, 0, 0.0, 0.0
        rest = iter(sentences)
        while batch := list(islice(rest, _BATCH)):
            text, offsets = self.vocabulary.encode_sentences(batch)
            scores = self.scores(text, offsets)
            is_unknown = text == UNKNOWN_ID
            words += len(text)
            unknown += int(is_unknown.sum())
            logp += float(scores.sum())
            known += float(scores[~is_unknown].sum())
        return Perplexity(words, unknown, logp, known)

    def sums(self) -> Floats:
        """The sum of P(w|h) over all words, for every history of the trie; 1 if the model is right."""
        trie, prob, alpha = self.estimates()
        lower = prob[trie.suffix]
        lower[trie.level(1)] = 0.0
        own, below = trie.per_history(prob), trie.per_history(lower)
        found: Floats = own.copy()
        for length in range(1, trie.order):
            here = trie.level(length)
            # Words after h' add up to found[h'], those that also follow h among them to below[h].
            found[here] += alpha[here] * (found[trie.suffix[here]] - below[here])
        return found


def _fitted(trie: Trie, logp: Singles, alpha: Floats) -> Singles:
    """Weights of backing off for probabilities in single precision, so that every history sums up to 1 again.

    A weight is large where little is left for the words that it is for; it would magnify what rounding has changed.
    """
    prob = np.where(logp <= NEVER, 0.0, 10 ** logp.astype(np.float64))
    prob[0] = 0.0
    lower = prob[trie.suffix]
    lower[trie.level(1)] = 0.0
    own, below = trie.per_history(prob), trie.per_history(lower)
    found = logarithms(alpha)
    total = own.copy()
    for length in range(1, trie.order):
        here = trie.level(length)
        rest, unseen = 1 - own[here], total[trie.suffix[here]] - below[here]
        fits = (alpha[here] > 0) & (rest > _ROUNDING) & (unseen > NOTHING) & (below[here] > 0)
        found[here] = np.where(fits, logarithms(rest / np.where(fits, unseen, 1.0)), found[here])
        weights = np.where(found[here] <= NEVER, 0.0, 10 ** found[here].astype(np.float64))
        total[here] = own[here] + weights * unseen
    return found


def logarithms(values: Floats) -> Singles:
    """Logarithms to base 10 in single precision; that of 0 is -99.

    >>> logarithms(np.array([0.01, 0.0])).tolist()
    [-2.0, -99.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log10(values)
    return np.where(values > 0, found, NEVER).astype(np.float32)
