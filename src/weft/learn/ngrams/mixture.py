"""Models made of others: linear mixtures, and the closure of a set of n-grams.

    P(w|h) = sum over models m of lambda_m P_m(w|h)      if hw is in one of them

Words that follow h in none of the models get what the shorter history gives them, as in every back-off model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats, Ids
from weft.errors import ConfigError
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import Estimates, backing_off
from weft.learn.ngrams.trie import Trie


def mix(models: Sequence[NgramModel], weights: Sequence[float] | None = None) -> NgramModel:
    """The linear mixture of models over one vocabulary, with equal weights unless others are given.

    >>> from weft.learn.ngrams.counting import count
    >>> from weft.learn.ngrams.smoothing import estimate
    >>> vocabulary, counts = count([["a", "b"], ["a", "c"], ["b", "a"]], order=2)
    >>> a, b = (NgramModel.of(vocabulary, estimate(counts, method)) for method in ("absolute", "witten-bell"))
    >>> node = int(mix([a, b]).trie.find(vocabulary.encode(["a", "b"])[None])[0])
    >>> bool(np.isclose(mix([a, b]).estimates().prob[node], (a.estimates().prob[node] + b.estimates().prob[node]) / 2))
    True
    """
    if not models:
        raise ConfigError("a mixture needs at least one model")
    shares = np.full(len(models), 1 / len(models)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(shares) != len(models) or (shares < 0).any() or not np.isclose(shares.sum(), 1):
        raise ConfigError("a mixture needs one weight per model, of 0 or more, which add up to 1")
    if any(model.vocabulary.words != models[0].vocabulary.words for model in models):
        raise ConfigError("the models of a mixture must have the same vocabulary, in the same order")
    order = max(model.order for model in models)
    rows = []
    for length in range(2, order + 1):
        every = [model.trie.rows(length) for model in models if model.order >= length]
        rows.append(distinct(np.concatenate(every)))
    trie = Trie.of_rows(len(models[0].vocabulary), rows)
    prob = sum((share * probabilities(model, trie) for share, model in zip(shares, models, strict=True)), np.zeros(1))
    return NgramModel.of(models[0].vocabulary, Estimates(trie, prob, backing_off(trie, prob)))


def probabilities(model: NgramModel, trie: Trie) -> Floats:
    """P(w|h) of a model for the n-grams of any trie over its vocabulary."""
    found, states = np.zeros(len(trie)), np.zeros(len(trie), dtype=np.int32)
    parents = trie.parents()
    for length in range(1, trie.order + 1):
        here = trie.level(length)
        scores, states[here] = model.step(states[parents[here]], trie.words[here])
        found[here] = np.where(scores <= -99, 0.0, 10**scores)
    return found


def distinct(rows: Ids) -> Ids:
    """Distinct rows in order.

    >>> distinct(np.array([[1, 2], [0, 5], [1, 2]])).tolist()
    [[0, 5], [1, 2]]
    """
    if not len(rows):
        return rows
    ordered = rows[np.lexsort(rows.T[::-1])]
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    found: Ids = ordered[new]
    return found
