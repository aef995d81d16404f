"""Probabilities from counts: what is taken from the n-grams that were seen, and how it is given to the others.

Every method says which share b(w|h) of a history's mass a seen word keeps; the rest goes to the shorter history h':

    rest(h) = 1 - sum over seen w of b(w|h)
    interpolated      P(w|h) = b(w|h) + rest(h) P(w|h')        alpha(h) = rest(h)
    backing off       P(w|h) = b(w|h) if hw was seen           alpha(h) = rest(h) / (1 - sum over seen w of P(w|h'))

    witten-bell       c / (C + T)                 C, T: tokens and types after h
    absolute          (c - D) / C                 D = n1 / (n1 + 2 n2), n_r: n-grams that occur r times
    katz              d_c c / C                   d_r by Good-Turing for r <= 5
    ristad            (c + 1)(C + 1 - T) / (C^2 + C + 2T)
    kneser-ney        absolute, where shorter n-grams count the words that they are seen after
    modified-kneser-ney      the same with a discount each for counts 1, 2 and from 3 on

Words themselves are always interpolated with the uniform distribution, so that none is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids
from weft.errors import ConfigError, did_you_mean
from weft.learn.ngrams.counting import Counts
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import BEGIN_ID

METHODS = ("witten-bell", "absolute", "katz", "ristad", "kneser-ney", "modified-kneser-ney")
#: Good-Turing discounts are for counts up to this one.
_KATZ = 5
#: Less than this is no mass: it is what rounding leaves over.
NOTHING = 1e-12


class Estimates(NamedTuple):
    """Probabilities of the n-grams of a trie, and weights of backing off of its histories."""

    trie: Trie
    prob: Floats  #: P(w|h) of every node; 0 for the empty n-gram
    alpha: Floats  #: of every node that can be a history


def estimate(
    counts: Counts, method: str = "modified-kneser-ney", interpolate: bool = True, cutoffs: Sequence[int] = ()
) -> Estimates:
    """Estimate a model from counts.

    `cutoffs` are per length, from the shortest on, the last one for all that are longer: n-grams of two words and more
    that occur no more often are left out, but discounts and histories are those of all counts.

    >>> from weft.learn.ngrams.counting import count
    >>> vocabulary, counted = count([["a", "b"], ["a"]], order=2)
    >>> found = estimate(counted, "witten-bell")
    >>> bigram = int(found.trie.find(np.array([[vocabulary.ids["a"], vocabulary.ids["b"]]]))[0])
    >>> found.trie.ngram(bigram), round(float(found.prob[bigram]), 4)
    ((3, 4), 0.3594)
    """
    if method not in METHODS:
        raise ConfigError(f"no method of smoothing is called {method!r}; {did_you_mean(method, METHODS, str(METHODS))}")
    trie = counts.trie
    parents = trie.parents()
    kept = _kept(counts, cutoffs)
    prob, alpha = np.zeros(len(trie)), np.ones(trie.n_histories)
    for length in range(1, trie.order + 1):
        here = trie.level(length)
        above = trie.level(length - 1)
        local = parents[here] - above.start
        numbers = _counts_of(counts, length, method, parents)
        share = _shares(numbers, local, above.stop - above.start, method, trie.n_words - 1)
        share[~kept[here]] = 0.0
        lower = _uniform(trie.n_words) if length == 1 else prob[trie.suffix[here]]
        own, weights = _completed(share, lower, kept[here], local, len(alpha[above]), interpolate or length == 1)
        prob[here] = own
        alpha[above] = weights
    alpha[0] = 1.0
    return Estimates(trie.subset(kept, parents), prob[kept], alpha[kept[: trie.n_histories]])


def _kept(counts: Counts, cutoffs: Sequence[int]) -> Bools:
    kept = np.ones(len(counts.trie), dtype=np.bool_)
    for length in range(2, counts.order + 1):
        if cutoffs:
            here = counts.trie.level(length)
            kept[here] = counts.counts[here] > cutoffs[min(length, len(cutoffs)) - 1]
    return kept


def _uniform(n_words: int) -> Floats:
    lower = np.full(n_words, 1.0 / (n_words - 1))
    lower[BEGIN_ID] = 0.0
    return lower


def _counts_of(counts: Counts, length: int, method: str, parents: Ids) -> Floats:
    """The counts that a method uses for n-grams of a length; `<s>` is never predicted."""
    trie = counts.trie
    here = trie.level(length)
    numbers = counts.counts[here].copy()
    if "kneser" in method and length < trie.order:
        longer = trie.level(length + 1)
        before = np.bincount(trie.suffix[longer] - here.start, minlength=len(numbers)).astype(np.float64)
        # Nothing stands before the beginning of a sentence, so n-grams with it keep their counts.
        at_start = trie.starting_with(BEGIN_ID, parents)[here]
        numbers = np.where(at_start, numbers, before)
    if length == 1:
        numbers[BEGIN_ID] = 0.0
    return numbers


def _shares(c: Floats, local: Ids, n_histories: int, method: str, n_words: int) -> Floats:
    """b(w|h) of n-grams of one length with counts `c`; `local` is the number of each one's history."""
    seen = c > 0
    total = np.bincount(local, weights=c, minlength=n_histories)[local]
    types = np.bincount(local, weights=seen, minlength=n_histories)[local]
    with np.errstate(divide="ignore", invalid="ignore"):
        if method == "witten-bell":
            share = c / (total + types)
        elif method == "ristad":
            all_seen = types >= n_words
            few = (c + 1) * (total + 1 - types) / (total * total + total + 2 * types)
            share = np.where(all_seen, (c + 1) / (total + n_words), few)
        elif method == "katz":
            share = _katz(c, total.astype(np.float64))
        else:
            discounts = _discounts(c, modified=method == "modified-kneser-ney")
            share = (c - discounts[np.minimum(c, 3).astype(np.int64)]) / total
    return np.where(seen, share, 0.0)


def _katz(c: Floats, total: Floats) -> Floats:
    """Good-Turing discounts for small counts, absolute ones if the counts of counts allow none."""
    n = np.bincount(np.minimum(c, _KATZ + 2).astype(np.int64), minlength=_KATZ + 3).astype(np.float64)
    ratios = np.ones(_KATZ + 2)
    if n[1 : _KATZ + 2].all():
        r = np.arange(1, _KATZ + 1)
        common = (_KATZ + 1) * n[_KATZ + 1] / n[1]
        ratios[1 : _KATZ + 1] = ((r + 1) * n[r + 1] / (n[r] * r) - common) / (1 - common)
    valid = ((ratios[1 : _KATZ + 1] > 0) & (ratios[1 : _KATZ + 1] < 1)).all()
    if not valid:
        return np.asarray((c - _discounts(c, modified=False)[1]) / total)
    found: Floats = ratios[np.minimum(c, _KATZ + 1).astype(np.int64)] * c / total
    return found


def _discounts(c: Floats, modified: bool) -> Floats:
    """What is subtracted from counts of 0, 1, 2, and of 3 and more."""
    n = np.bincount(np.minimum(c, 5).astype(np.int64), minlength=6).astype(np.float64)
    one = n[1] / (n[1] + 2 * n[2]) if n[1] and n[2] else 0.5
    if not modified or not n[1:5].all():
        return np.array([0.0, one, one, one])
    several = [r - (r + 1) * one * n[r + 1] / n[r] for r in (1, 2, 3)]
    if not all(0 < value < r for r, value in enumerate(several, start=1)):
        return np.array([0.0, one, one, one])
    return np.array([0.0, *several])


def _completed(
    share: Floats, lower: Floats, kept: Bools, local: Ids, n_histories: int, interpolate: bool
) -> tuple[Floats, Floats]:
    """Probabilities of n-grams and weights of their histories from shares and the probabilities after h'."""
    given = np.bincount(local, weights=share, minlength=n_histories)
    unseen = 1 - np.bincount(local, weights=np.where(kept, lower, 0.0), minlength=n_histories)
    rest = 1 - given
    has = np.bincount(local, weights=kept, minlength=n_histories) > 0
    # Katz leaves nothing where all counts are large: one more count is then for what was not seen.
    none = has & (rest < NOTHING) & ((unseen > NOTHING) | interpolate)
    scale = np.where(none, 1 - 1e-3, 1.0)
    share = share * scale[local]
    rest = np.where(none, 1 - given * scale, rest)
    if interpolate:
        prob = np.where(kept, share + rest[local] * lower, 0.0)
        return prob, np.where(has, rest, 1.0)
    # Where every word was seen, nothing is left for others, and the seen ones share the rest.
    full = has & (unseen <= NOTHING)
    share = np.where(full[local], share / np.where(given > 0, given, 1.0)[local], share)
    alpha = np.where(full, 0.0, rest / np.where(unseen > NOTHING, unseen, 1.0))
    return share, np.where(has, alpha, 1.0)


def backing_off(trie: Trie, prob: Floats) -> Floats:
    """alpha(h) = (1 - sum of P(w|h)) / (1 - sum of P(w|h')) over the words that follow h in a trie; 1 for the empty h.

    >>> from weft.learn.ngrams.counting import count
    >>> found = estimate(count([["a", "b"], ["a"]], order=2)[1], "absolute", interpolate=False)
    >>> bool(np.allclose(backing_off(found.trie, found.prob), found.alpha))
    True
    """
    rest, unseen = masses(trie, prob)
    empty = np.diff(trie.first) == 0
    alpha = np.where(rest > NOTHING, rest / np.where(unseen > NOTHING, unseen, 1.0), 0.0)
    alpha[empty] = 1.0
    alpha[0] = 1.0
    return alpha


def masses(trie: Trie, prob: Floats) -> tuple[Floats, Floats]:
    """What every history leaves for words that do not follow it: by its own and by the shorter history."""
    lower = prob[trie.suffix]
    lower[trie.level(1)] = 0.0
    return 1 - trie.per_history(prob), 1 - trie.per_history(lower)
