"""Methods to adapt a parser to a domain without trees (after Dredze et al. 2007).

| | features |
|---|---|
| F1 | arcs between nouns keep only the pair of coarse tags, the tags in between and the distance |
| F2 | positions of nouns in their run, chunks, whether an arc stays in its chunk, word frequencies |
| F3 | word clusters from the contexts of words in source and target text |
| | **diversity** |
| D1 | stacking: a parser of another kind predicts this arc, or an arc that crosses it |
| D2 | bagging: train on the trees that parsers trained on samples predict for the other sentences |
| D3 | the same with less trust in each predicted tree: a low cap on MIRA's steps |
| | **learning for the target** |
| T1 | weight sentences by the target-to-source ratio of their length and number of verbs |
| T2 | weight sentences by the odds, given their tags, that they come from the target |
| T3 | weight the cost of words by their target-to-source frequency ratio |
| T4 | keep only features that occur in the target |
| T5 | scale features by their target-to-source frequency ratio |
| | **not for use** |
| oracle | mark the gold arcs between nouns, to measure how much of the loss is due to them |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.learn.trees.target_weights import mean_one, ratios, target_odds
from weft.tasks.parsing_transfer.noun_phrases import count_words
from weft.text.doc import Doc

METHODS = ("F1", "F2", "F3", "D1", "D2", "D3", "T1", "T2", "T3", "T4", "T5", "oracle")
#: Templates that the methods add; the marks they name get their numbers from `marked`.
NOUN_PHRASES = "h.n|m.n h.nt|m.nt h.k|m.k h.kt|m.kt h.q|m.q h.qt|m.qt h.nq|m.nq same|h.t|m.t same|h.n|m.n "
CLUSTERS = (
    "h.c,d,e m.c,d,e h.c|m.c h.d|m.d h.e|m.e h.c|m.t h.t|m.c h.d|m.t h.t|m.d h.ct|m.ct h.dt|m.dt "
    "h.t|h+1.d|m-1.d|m.t h.d|b.t|m.d "
)
STACKED = "guide guide|h.t guide|m.t guide|h.t|m.t crosses crosses|h.t|m.t "
ORACLE = "right "
#: Longest kind: sentences with at least 5 times this many words, or this many verbs, share a kind with longer ones.
_LONGEST, _MOST_VERBS = 8, 5


def marked(templates: str, marks: Sequence[str]) -> str:
    """Replace the names of marks in templates by `a.1`, `a.2`, in the order of `marks`.

    >>> marked("guide|h.t h.t|m.t", ["same", "guide"])
    'a.2|h.t h.t|m.t'
    """
    numbers = {name: f"a.{number}" for number, name in enumerate(marks, 1)}
    tokens = [[numbers.get(part, part) for part in token.split("|")] for token in templates.split()]
    return " ".join("|".join(parts) for parts in tokens)


def without_nouns(templates: str, mark: str) -> str:
    """Make arc templates require a mark, except the pair of coarse tags, the tags in between, and sets.

    >>> without_nouns("arc: h.w h.t|m.t h.t|b.t|m.t h.F sibling: s.t|m.t", "other")
    'arc: other|h.w h.t|m.t h.t|b.t|m.t h.F sibling: s.t|m.t'
    """
    tokens, block = [], "arc:"
    for token in templates.split():
        block = token if token.endswith(":") else block
        kept = block != "arc:" or token == block or token == "h.t|m.t" or "b." in token or ".F" in token
        tokens.append(token if kept else f"{mark}|{token}")
    return " ".join(tokens)


def sentence_weights(method: str, source: Sequence[Doc], target: Sequence[Doc], column: str) -> Floats:
    """Weights of the source sentences by `T1` or `T2`, with a mean of 1."""
    source_tags, target_tags = list(_tags(source, column)), list(_tags(target, column))
    if method == "T1":
        kinds = [_kind(tags) for tags in source_tags]
        ratio = ratios(Counter(kinds), Counter(_kind(tags) for tags in target_tags))
        return mean_one(np.array([ratio[kind] for kind in kinds]))
    return mean_one(target_odds([_ngrams(tags) for tags in source_tags], [_ngrams(tags) for tags in target_tags]))


def word_costs(source: Sequence[Doc], target: Sequence[Doc]) -> Floats:
    """Costs of the source words (`T3`), with a mean of 1: their target-to-source frequency ratio.

    >>> source, target = Doc.from_words([["a", "b", "b"]]), Doc.from_words([["a", "a", "b"]])
    >>> word_costs([source], [target]).round(2).tolist()
    [1.59, 0.71, 0.71]
    """
    ratio = ratios(count_words(source), count_words(target))
    return mean_one(np.array([ratio[form.lower()] for doc in source for form in doc.column("form")]))


def draw_bags(sentences: int, bags: int, size: int, seed: int) -> list[NDArray[np.int64]]:
    """Indices of sentences sampled with replacement, `size` per bag but at most half of all sentences.

    >>> [bag.tolist() for bag in draw_bags(6, bags=2, size=100, seed=0)]
    [[5, 3, 3], [1, 1, 0]]
    """
    if sentences < 2:
        raise ConfigError(f"bagging needs at least 2 sentences, got {sentences}")
    generator = np.random.default_rng(seed)
    return [generator.integers(0, sentences, min(size, sentences // 2)) for _ in range(bags)]


def bagged(
    train: Sequence[Doc], bags: Sequence[NDArray[np.int64]], fit: Callable[[list[Doc], int], Any], seed: int
) -> tuple[list[Doc], dict[str, float]]:
    """The shuffled predictions of parsers trained on samples for unseen sentences, and their disagreement.

    `fit` trains a parser, given documents and the index of the bag. *Disagreement* is the share of words for which two
    parsers predict different heads, *error* the share of wrong heads, both in sentences that are in no bag.
    """
    sentences = [doc.subset([i]) for doc in train for i in range(doc.n_sentences)]
    seen = [set(bag.tolist()) for bag in bags]
    fresh = [i for i in range(len(sentences)) if not any(i in bag for bag in seen)]
    pooled: list[Doc] = []
    heads = []
    for number, bag in enumerate(bags):
        parser = fit([sentences[i] for i in bag.tolist()], number)
        predicted = {i: sentences[i].subset([0]) for i in range(len(sentences)) if i not in seen[number]}
        parser(list(predicted.values()))
        pooled += predicted.values()
        heads.append(_heads([predicted[i] for i in fresh]))
    order = np.random.default_rng(seed).permutation(len(pooled))
    gold = _heads([sentences[i] for i in fresh])
    pairs = [float((a != b).mean()) for i, a in enumerate(heads) for b in heads[:i]] if len(gold) else []
    report = {
        "disagreement": float(np.mean(pairs)) if pairs else float("nan"),
        "error": float(np.mean([(own != gold).mean() for own in heads])) if len(gold) else float("nan"),
    }
    return [pooled[i] for i in order.tolist()], report


def _heads(docs: Sequence[Doc]) -> NDArray[np.int64]:
    heads = [np.asarray(doc.head, dtype=np.int64) for doc in docs if doc.head is not None]
    return np.concatenate(heads) if heads else np.zeros(0, np.int64)


def _tags(docs: Sequence[Doc], column: str) -> Iterator[list[str]]:
    for doc in docs:
        tags = doc.column(column)
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            yield tags[first:end]


def _kind(tags: Sequence[str]) -> tuple[int, int]:
    """Sentences of about the same length with the same number of verbs share a kind."""
    verbs = sum(tag.startswith(("VB", "VERB")) for tag in tags)
    return min(len(tags) // 5, _LONGEST), min(verbs, _MOST_VERBS)


def _ngrams(tags: Sequence[str]) -> list[str]:
    around = ["<", *tags, ">"]
    return [" ".join(around[i : i + n]) for n in (1, 2, 3) for i in range(len(around) - n + 1)]
