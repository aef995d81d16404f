"""Making models smaller: n-grams that the shorter history predicts nearly as well are left out.

What a model loses by leaving out hw, after which backing off gets the weight alpha'(h) (Stolcke 1998):

    dH = -P(h) { P(w|h) [log P(w|h') + log alpha'(h) - log P(w|h)] + (log alpha'(h) - log alpha(h)) rest(h) }

with rest(h) the mass of words that do not follow h in the model; hw goes if exp(dH) - 1 is below a threshold. The
weighted difference (Seymore and Rosenfeld 1996) is P(h) P(w|h) [log P(w|h) - log alpha(h) P(w|h')]. What remains is
closed: an n-gram stays if a longer one that stays begins or ends with it. Words are never pruned.

P(h) follows from the model itself, or from another one: that of Kneser-Ney is no estimate of how often h occurs.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats, Ids
from weft.errors import ConfigError
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import Estimates, backing_off, masses
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID

CRITERIA = ("entropy", "weighted-difference")


def prune(
    model: NgramModel,
    threshold: float | None = None,
    size: int | None = None,
    criterion: str = "entropy",
    histories: NgramModel | None = None,
) -> NgramModel:
    """A smaller model: without n-grams whose loss is below a threshold, or with about `size` n-grams.

    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["a", "b"], ["a", "c"], ["b", "a"]], order=3)
    >>> model = NgramModel.of(vocabulary, estimate(counts, "absolute"))
    >>> model.counts(), prune(model, size=10).counts()
    ([6, 8, 6], [6, 2, 1])
    """
    if (threshold is None) == (size is None):
        raise ConfigError("pruning takes either a threshold or a number of n-grams")
    if criterion not in CRITERIA:
        raise ConfigError(f"the criterion of pruning must be {' or '.join(CRITERIA)}, got {criterion!r}")
    if histories is not None and histories.vocabulary.words != model.vocabulary.words:
        raise ConfigError("the model of histories must have the vocabulary of the model that is pruned")
    estimates = model.estimates()
    parents = estimates.trie.parents()
    losses = _losses(estimates, criterion, history_probabilities(model if histories is None else histories, model))
    least = threshold or 0.0 if size is None else _threshold(model, losses, parents, size)
    kept = _closed(model, losses >= least, parents)
    trie = estimates.trie.subset(kept, parents)
    prob = estimates.prob[kept]
    return NgramModel.of(model.vocabulary, Estimates(trie, prob, backing_off(trie, prob)), model.method)


def history_probabilities(of: NgramModel, nodes: NgramModel) -> Floats:
    """How probable one model finds the n-grams of another, as words that follow each other anywhere in a text.

    Every sentence begins once for each that ends, so `<s>` is as probable as `</s>`.
    """
    trie = nodes.trie
    scores, states = np.zeros(len(trie)), np.zeros(len(trie), dtype=np.int32)
    parents = trie.parents()
    for length in range(1, trie.order + 1):
        here = trie.level(length)
        scores[here], states[here] = of.step(states[parents[here]], trie.words[here])
        if length == 1:
            scores[1 + BEGIN_ID] = scores[1 + END_ID]
        scores[here] += scores[parents[here]]
    found: Floats = 10**scores
    return found


def _losses(estimates: Estimates, criterion: str, joint: Floats) -> Floats:
    trie, prob, alpha = estimates
    parents = trie.parents()
    here = slice(int(trie.levels[2]), len(trie))
    above = parents[here]
    own, lower = prob[here], prob[trie.suffix[here]]
    rest, unseen = masses(trie, prob)
    found = np.zeros(len(trie))
    with np.errstate(divide="ignore", invalid="ignore"):
        if criterion == "entropy":
            left = np.maximum(rest[above], 0.0)
            now = np.log(alpha[above])
            then = np.log((left + own) / (unseen[above] + lower))
            moved = np.where(left > 0, (then - now) * left, 0.0)
            change = own * (np.log(lower) + then - np.log(own)) + moved
            loss = np.expm1(-joint[above] * change)
        else:
            loss = joint[above] * own * (np.log(own) - np.log(alpha[above]) - np.log(lower))
    # What cannot be predicted at all without the n-gram is kept.
    found[here] = np.where(np.isnan(loss), np.where(own > 0, np.inf, 0.0), loss)
    return found


def _closed(model: NgramModel, wanted: Bools, parents: Ids) -> Bools:
    """What is wanted with all prefixes and suffixes, and all words."""
    trie = model.trie
    kept = wanted.copy()
    kept[: trie.level(1).stop] = True
    for length in range(trie.order, 1, -1):
        nodes = trie.level(length).start + np.flatnonzero(kept[trie.level(length)])
        kept[parents[nodes]] = True
        kept[trie.suffix[nodes]] = True
    return kept


def _threshold(model: NgramModel, losses: Floats, parents: Ids, size: int) -> float:
    """The lowest threshold that leaves at most so many n-grams."""
    above = np.sort(losses[int(model.trie.levels[2]) :])
    low, high = 0, len(above)  # cutting off the `high` smallest leaves few enough
    if len(model.trie) - 1 <= size:
        return -np.inf
    while low < high:
        middle = (low + high) // 2
        if int(_closed(model, losses >= above[middle], parents).sum()) - 1 <= size:
            high = middle
        else:
            low = middle + 1
    return float(above[low]) if low < len(above) else np.inf
