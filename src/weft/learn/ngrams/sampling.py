"""Sentences drawn from a model, exactly.

A word after h is drawn among those that follow h in the trie, or else from the shorter history h', again and again
until it is none of those that follow h.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids, Ints, Keys, Singles
from weft.draws import uniform
from weft.errors import ConfigError
from weft.infer.decoding.backoff import child, shortened
from weft.kernel import kernel
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.vocabulary import END_ID

#: After so many words that a longer history has n-grams for, all others are looked at one by one.
_PATIENCE = 64


@kernel
def _sample(
    first: Ids, words: Ids, suffix: Ids, logp: Singles, backoff: Singles, upto: Floats,
    random: Keys, start: int, end: int, longest: int, text: Ids, ends: Ints,
) -> None:  # fmt: skip
    """Fill `text` with sentences one after the other, and `ends` with their lengths; what has no room is left out."""
    at = 0
    for s in range(len(ends)):
        state = start
        for _ in range(longest):
            node = _drawn(first, words, suffix, logp, backoff, upto, random, state)
            if at == len(text):
                return
            text[at] = words[node]
            at += 1
            if words[node] == end:
                break
            state = shortened(first, suffix, backoff, node)
        ends[s] = at


@kernel
def _drawn(
    first: Ids, words: Ids, suffix: Ids, logp: Singles, backoff: Singles, upto: Floats, random: Keys, state: int
) -> int:
    """The node of the next word. What a longer history has an n-gram for is drawn anew: all its suffixes have it too,
    so it is enough to look at the history that the search has just left."""
    left, refused = -1, 0
    while True:
        low, high = int(first[state]), int(first[state + 1])
        share = uniform(random)
        total = 0.0 if high == low else upto[high - 1]
        if high > low and (state == 0 or backoff[state] <= -99.0):
            share *= total  # all there is
        if share < total:
            while low < high:
                middle = (low + high) >> 1
                if upto[middle] <= share:
                    low = middle + 1
                else:
                    high = middle
            if left < 0 or child(first, words, left, int(words[low])) < 0:
                return low
            refused += 1
            if refused == _PATIENCE:
                other = _scanned(first, words, suffix, logp, backoff, random, left, state)
                return low if other < 0 else other
        elif state > 0:
            left, state = int(state), int(suffix[state])


@kernel
def _scanned(
    first: Ids, words: Ids, suffix: Ids, logp: Singles, backoff: Singles, random: Keys, left: int, state: int
) -> int:
    """The same among all words that do not follow `left`, one by one; -1 if none of them is possible."""
    goal, total = np.inf, 0.0
    for _ in range(2):
        total = 0.0
        for word in range(first[1] - 1):
            if child(first, words, left, word) >= 0:
                continue
            score, at = 0.0, state
            node = child(first, words, at, word)
            while node < 0:
                score += backoff[at]
                at = int(suffix[at])
                node = child(first, words, at, word)
            score += logp[node]
            if score > -99.0:
                total += 10.0**score
                if total > goal:
                    return node
        goal = uniform(random) * total
    return -1


@dataclass(frozen=True)
class Samples:
    """Sentences as numbers of words, one after the other, without `</s>` where a sentence was cut off."""

    text: Ids
    offsets: Ints


def sample_ids(model: NgramModel, n: int, seed: int = 0, longest: int = 1000) -> Samples:
    """Draw sentences of at most `longest` words."""
    if n < 0 or longest < 1:
        raise ConfigError(f"a number of sentences and words that can be drawn is expected, got {n} and {longest}")
    trie, prob, _ = model.estimates()
    upto = _running_sums(trie.first, prob)
    random = np.array([seed], dtype=np.uint64)
    text, ends = np.empty(n * longest, dtype=np.int32), np.zeros(n, dtype=np.int64)
    _sample(*model.tables, upto, random, model.start, END_ID, longest, text, ends)
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    return Samples(text[: offsets[-1]].copy(), offsets)


def sample(model: NgramModel, n: int, seed: int = 0, longest: int = 1000) -> Iterator[list[str]]:
    """Draw sentences as words.

    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["a", "b"], ["a", "c"]] * 50, order=3)
    >>> model = NgramModel.of(vocabulary, estimate(counts, "absolute"))
    >>> [" ".join(words) for words in sample(model, 4, seed=1)]
    ['a c', 'a b', 'a b', 'a c']
    """
    batch = max(1, min(1000, 10_000_000 // longest))
    for begin in range(0, n, batch):
        # Batches differ in their seeds, so that a stream of any length runs in constant memory.
        own = sample_ids(model, min(batch, n - begin), (seed << 20) + begin, longest)
        for start, stop in zip(own.offsets[:-1].tolist(), own.offsets[1:].tolist(), strict=True):
            words = [model.vocabulary.words[word] for word in own.text[start:stop].tolist()]
            yield words[:-1] if words and words[-1] == model.vocabulary.words[END_ID] else words


def _running_sums(first: Ids, prob: Floats) -> Floats:
    """Sums of the probabilities of n-grams up to each, within those of one history."""
    sums = np.cumsum(prob)
    before = np.concatenate([[0.0], sums])[first[:-1]]
    found: Floats = sums.copy()
    found[1:] -= np.repeat(before, np.diff(first))
    return found
