"""Word clusters that any number of languages share through one of them, the pivot.

    C_P    = exchange(pivot text)
    C_T(t) = argmax_k  sum over links of t to pivot words w, of  score [C_P(w) = k],     where t has a link
    C_T(t) = exchange(text of T), linked words fixed,                                      for the other words of T

The pivot's clusters never change, so the clusters of all languages mean the same: `weft.lexical.clusters.cross_lingual`
moves the words of both of two languages; this module handles many. Links come from a bitext with the pivot; words
without a link are linked to the pivot word with the same spelling, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Ints
from weft.errors import ConfigError, DataError
from weft.lexical.clusters.cross_lingual import Bitext, identical_words, project_classes, type_links
from weft.lexical.clusters.exchange import PredictiveModel
from weft.lexical.clusters.monolingual import count_bigrams
from weft.text.bitext import Links

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class SharedClusters:
    """The cluster of every word by language, and how many words of each got theirs from links and from spelling."""

    paths: dict[str, dict[str, str]]
    linked: dict[str, int]
    alike: dict[str, int]


def pivot_clusters(
    pivot: str,
    texts: Mapping[str, Sentences],
    bitexts: Mapping[str, Bitext] | None = None,
    n_classes: int = 256,
    min_count: int = 3,
    threshold: float = 0.5,
    sweeps: int = 15,
    whole: bool = True,
    shortest: int = 4,
) -> SharedClusters:
    """Cluster the words of several texts, in lower case; `bitexts` have the pivot on their source side.

    Links below `threshold` do not vote. Without `whole`, words without a link have no cluster.

    >>> texts = {"en": [["the", noun, verb] for noun in ("cat", "dog") for verb in ("runs", "sits")],
    ...          "de": [["die", noun, verb] for noun in ("Katze", "Kuh") for verb in ("rennt", "sitzt")]}
    >>> bitext = Bitext([["the", "cat", "runs"]], [["die", "Katze", "rennt"]], Links.of([[(0, 0), (1, 1), (2, 2)]]))
    >>> found = pivot_clusters("en", texts, {"de": bitext}, n_classes=3, min_count=1)
    >>> found.paths["de"]["kuh"] == found.paths["en"]["dog"] != found.paths["en"]["the"], found.linked
    (True, {'de': 3})
    """
    if pivot not in texts:
        raise ConfigError(f"there is no text in the pivot {pivot!r}; there are texts in {', '.join(texts)}")
    words, _, bigrams = count_bigrams(texts[pivot], min_count, lower=True)
    if not words:
        raise DataError(f"no word in {pivot} occurs {min_count} times; provide more text or lower min_count")
    n_classes = min(n_classes, len(words))
    classes = PredictiveModel(bigrams, len(words)).exchange(n_classes, sweeps=sweeps).classes
    paths = {pivot: {word: str(c) for word, c in zip(words, classes.tolist(), strict=True)}}
    linked, alike = {}, {}
    for code, text in texts.items():
        if code != pivot:
            bitext = (bitexts or {}).get(code)
            paths[code], linked[code], alike[code] = _shared(
                words, classes, text, bitext, n_classes, min_count, threshold, sweeps, whole, shortest
            )
    return SharedClusters(paths, linked, alike)


def _shared(
    words: list[str],
    classes: Ints,
    text: Sentences,
    bitext: Bitext | None,
    n_classes: int,
    min_count: int,
    threshold: float,
    sweeps: int,
    whole: bool,
    shortest: int,
) -> tuple[dict[str, str], int, int]:
    """Paths of one language's words, and how many of them come from links and from spelling."""
    vocabulary, _, bigrams = count_bigrams(text, min_count, lower=True)
    frequent = len(vocabulary)
    number = {word: k for k, word in enumerate(vocabulary)}
    if bitext is not None:
        for sentence in bitext.target:
            for word in sentence:
                number.setdefault(word.lower(), len(number))
    assigned = np.full(len(number), -1, dtype=np.int64)
    if bitext is not None:
        assigned = project_classes(_links(bitext, words, number, threshold), np.append(classes, -1), len(number))
    linked = int((assigned >= 0).sum())
    by_spelling = project_classes(identical_words(words, list(number), shortest), classes, len(number))
    assigned = np.where(assigned >= 0, assigned, by_spelling)
    alike = int((assigned >= 0).sum()) - linked
    if whole and frequent:
        known = assigned[:frequent] >= 0
        start = np.where(known, assigned[:frequent], np.arange(frequent) % n_classes)
        assigned[:frequent] = PredictiveModel(bigrams, frequent).exchange(n_classes, start, known, sweeps).classes
    return {word: str(assigned[k]) for word, k in number.items() if assigned[k] >= 0}, linked, alike


def _links(bitext: Bitext, words: list[str], number: Mapping[str, int], threshold: float) -> Links:
    """Links between word types; pivot words without a cluster share one number after all others."""
    of_pivot = {word: k for k, word in enumerate(words)}
    source = np.array([of_pivot.get(w.lower(), len(words)) for s in bitext.source for w in s], dtype=np.int64)
    target = np.array([number[w.lower()] for s in bitext.target for w in s], dtype=np.int64)
    source_at, target_at = (np.cumsum([0, *map(len, side)]) for side in (bitext.source, bitext.target))
    links = bitext.links.above(threshold)
    return type_links(links, source, target, source_at, target_at, len(number))
