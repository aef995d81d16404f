"""Word clusters that two languages share (Täckström, McDonald and Uszkoreit 2012).

*Projected* clusters: the source text is clustered, and every target word t takes the cluster that its links vote for,

    C_T(t) = argmax_k  sum over links (i, j) with w_j = t, score s >= threshold, of  s [C_S(w_i) = k].

Words without a link get no cluster. *X-lingual* clusters approximately maximize the joint likelihood of both texts and
the links by alternating exchange (`weft.lexical.clusters.exchange`) and projection:

    random C_S, C_T
    repeat:  C_S <- exchange(source text), words of the last projection fixed
             C_T <- project(C_S) on linked target words, others keep their cluster
             C_T <- exchange(target text), linked words fixed
             C_S <- project(C_T) on linked source words, others keep their cluster

In the end, every word in the target text has a cluster. Words set by a projection must be fixed: otherwise they drift
away from the links, and the languages from each other.

Without a bitext, words that both languages spell alike (names, numbers, punctuation) serve as links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.errors import ConfigError, DataError
from weft.learn.bitext.projection import project_labels
from weft.lexical.clusters.exchange import PredictiveModel, class_paths
from weft.lexical.clusters.monolingual import WordClusters, count_bigrams
from weft.text.bitext import Links, check_links

METHODS = ("projected", "xlingual")


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs and the links between their words."""

    source: Sequence[Sequence[str]]
    target: Sequence[Sequence[str]]
    links: Links


@dataclass(frozen=True)
class CrossClusters:
    """Clusters of two languages with common names; `linked` counts the target words clustered through links."""

    source: WordClusters
    target: WordClusters
    linked: int


class _Text:
    """A text as the exchange sees it: its vocabulary, followed by the words that only the bitext contains."""

    def __init__(
        self, sentences: Iterable[Sequence[str]], min_count: int, lower: bool, also: Iterable[Sequence[str]] = ()
    ) -> None:
        words, counts, self.bigrams = count_bigrams(sentences, min_count, lower)
        self.n_words = len(words)
        self.number = {word: k for k, word in enumerate(words)}
        self.lower = lower
        self.counts = counts.tolist()
        for sentence in also:
            for word in self._spelt(sentence):
                k = self.number.setdefault(word, len(self.counts))
                if k == len(self.counts):
                    self.counts.append(0)
                if k >= self.n_words:
                    self.counts[k] += 1
        self.words = list(self.number)
        self.within = np.arange(len(self.words)) < self.n_words  # words in the text, not only in the bitext

    def _spelt(self, sentence: Sequence[str]) -> Iterable[str]:
        return map(str.lower, sentence) if self.lower else sentence

    def ids(self, sentences: Iterable[Sequence[str]]) -> Ints:
        """The numbers of all tokens, sentence after sentence."""
        return np.array([self.number[word] for sentence in sentences for word in self._spelt(sentence)], dtype=np.int64)

    def exchange(self, classes: Ints, n_classes: int, fixed: NDArray[np.bool_], sweeps: int, shards: int) -> Ints:
        """Move the words in the text that are not fixed."""
        n = self.n_words
        model = PredictiveModel(self.bigrams, n)
        moved = model.exchange(n_classes, classes[:n], fixed[:n], sweeps, shards, shards).classes
        return np.concatenate([moved, classes[n:]])


def cross_clusters(
    source: Iterable[Sequence[str]],
    target: Iterable[Sequence[str]],
    bitext: Bitext | None = None,
    method: str = "xlingual",
    n_classes: int = 256,
    min_count: int = 3,
    threshold: float = 0.95,
    sweeps: int = 15,
    rounds: int = 1,
    lower: bool = False,
    shards: int = 1,
    shortest: int = 4,
    seed: int = 0,
) -> CrossClusters:
    """Cluster the words of two texts; without a bitext, words spelled alike are linked (`identical_words`).

    Texts are sentences of words and may include the sides of the bitext. Words below `min_count` have a cluster if
    they have a link of at least `threshold`. `projected` uses the target text only to name the clusters.

    >>> english = [["the", noun, verb] for noun in ("cat", "dog") for verb in ("runs", "sits")]
    >>> german = [["die", noun, verb] for noun in ("katze", "kuh") for verb in ("rennt", "sitzt")]
    >>> links = Links.of([[(0, 0), (1, 1), (2, 2)]])
    >>> bitext = Bitext([["the", "cat", "runs"]], [["die", "katze", "rennt"]], links)
    >>> found = cross_clusters(english, german, bitext, n_classes=3, min_count=1)
    >>> names, target = found.source.paths(), found.target.paths()
    >>> names["dog"] == target["kuh"], names["sits"] == target["sitzt"], target["kuh"] == target["sitzt"]
    (True, True, False)
    >>> sorted(cross_clusters(english, german, bitext, "projected", n_classes=3, min_count=1).target.paths())
    ['die', 'katze', 'rennt']
    """
    if method not in METHODS:
        raise ConfigError(f"the method must be {' or '.join(METHODS)}, not {method!r}")
    if n_classes < 1 or min_count < 1 or rounds < 1:
        raise ConfigError(
            f"need n_classes, min_count and rounds of at least 1, but got {n_classes}, {min_count} and {rounds}"
        )
    both = (
        _Text(source, min_count, lower, bitext.source if bitext else ()),
        _Text(target, min_count, lower, bitext.target if bitext else ()),
    )
    for text, name in zip(both, ("source", "target"), strict=True):
        if not text.n_words and (method == "xlingual" or name == "source"):
            raise DataError(
                f"no word in the {name} text occurs {min_count} times; provide more text or lower min_count"
            )
    if bitext is None:
        links = identical_words(both[0].words, both[1].words, shortest)
    else:
        ids, other_ids = both[0].ids(bitext.source), both[1].ids(bitext.target)
        offsets, other_offsets = _offsets(bitext.source), _offsets(bitext.target)
        links = type_links(bitext.links.above(threshold), ids, other_ids, offsets, other_offsets, len(both[1].words))
    if not len(links):
        raise DataError(
            "no word has a link; provide links with a score of at least the threshold "
            f"({threshold}), or a bitext in these languages"
        )
    random = np.random.default_rng(seed)
    start = random.integers(0, n_classes, len(both[0].words)), random.integers(0, n_classes, len(both[1].words))

    def exchange(text: _Text, classes: Ints, fixed: NDArray[np.bool_]) -> Ints:
        return text.exchange(classes, n_classes, fixed, sweeps, shards)

    if method == "projected":
        one = exchange(both[0], start[0], np.zeros(len(start[0]), dtype=bool))
        one = np.where(both[0].within, one, -1)
        two = project_classes(links, one, len(start[1]))
        return _named(both, (one, two), int((two >= 0).sum()))
    return _xlingual(both, links, start, rounds, exchange)


def _xlingual(
    both: tuple[_Text, _Text],
    links: Links,
    start: tuple[Ints, Ints],
    rounds: int,
    exchange: Callable[[_Text, Ints, NDArray[np.bool_]], Ints],
) -> CrossClusters:
    """Alternate exchange and projection; words that only the bitext contains get a cluster by projection, or none."""
    one, two = start
    set_one = np.zeros(len(one), dtype=bool)
    for _ in range(rounds):
        one = exchange(both[0], one, set_one)
        projected = project_classes(links, np.where(set_one | both[0].within, one, -1), len(two))
        set_two = projected >= 0
        two = exchange(both[1], np.where(set_two, projected, two), set_two)
        projected = project_classes(links.flipped(), np.where(set_two | both[1].within, two, -1), len(one))
        set_one = projected >= 0
        one = np.where(set_one, projected, one)
    final = np.where(set_one | both[0].within, one, -1), np.where(set_two | both[1].within, two, -1)
    return _named(both, final, int(set_two.sum()))


def type_links(
    links: Links,
    source_types: Ints,
    target_types: Ints,
    source_offsets: Ints,
    target_offsets: Ints,
    n_target: int,
) -> Links:
    """Links between tokens summed to links between word types, as one pair of "sentences"; the largest sum is 1.

    >>> links = Links.of([[(0, 0, 0.5)], [(0, 1), (1, 0)]])
    >>> found = type_links(links, np.array([3, 3, 1]), np.array([0, 2, 0]), [0, 1, 3], [0, 1, 3], 3)
    >>> found.pairs(), found.score.tolist()
    ([[(1, 2), (3, 0)]], [0.6666666666666666, 1.0])
    """
    source_at, target_at = check_links(links, source_offsets, target_offsets)
    pair = links.sentence()
    source = source_types[source_at[pair] + links.source]
    target = target_types[target_at[pair] + links.target]
    cells, place = np.unique(source * n_target + target, return_inverse=True)
    score = np.bincount(place, weights=links.score, minlength=len(cells))
    of_source, of_target = np.divmod(cells, n_target)
    return Links(np.array([0, len(cells)]), of_source, of_target, score / score.max(initial=1e-300))


def identical_words(source: Sequence[str], target: Sequence[str], shortest: int = 4) -> Links:
    """Links between the words that two vocabularies spell alike, as one pair of "sentences".

    Words with letters must be at least `shortest` characters long, since short words are often spelled alike by
    accident; numbers and punctuation may have any length.

    >>> identical_words(["die", "Berlin", ",", "2020"], [",", "die", "2020", "Berlin"]).pairs()
    [[(1, 3), (2, 0), (3, 2)]]
    """
    number = {word: k for k, word in enumerate(target)}
    pairs = [
        (k, number[word])
        for k, word in enumerate(source)
        if word in number and (len(word) >= shortest or not any(map(str.isalpha, word)))
    ]
    return Links.of([pairs])


def project_classes(links: Links, classes: Ints, n_target: int) -> Ints:
    """The cluster of every target word by the vote of its `type_links`, -1 without a vote; cluster -1 does not vote.

    >>> project_classes(Links.of([[(0, 0, 0.5), (1, 0, 0.3), (2, 0, 0.3), (3, 1)]]), np.array([4, 7, 7, -1]), 2)
    array([ 7, -1])
    """
    return project_labels(links, classes, [0, len(classes)], [0, n_target])


def _offsets(sentences: Sequence[Sequence[str]]) -> Ints:
    return np.array(list(accumulate(map(len, sentences), initial=0)), dtype=np.int64)


def _named(texts: tuple[_Text, _Text], classes: tuple[Ints, Ints], linked: int) -> CrossClusters:
    """Both languages' clusters, named by paths in one merge tree over the counts of both texts."""
    used = np.unique(np.concatenate(classes))
    used = used[used >= 0]
    counted, named = [], []
    for text, assigned in zip(texts, classes, strict=True):
        numbers = np.where(assigned >= 0, np.searchsorted(used, assigned), -1)
        of_text = numbers[: text.n_words]
        # Words in the target text that no link reaches count as rare words.
        counted.append((text.bigrams, np.where(of_text >= 0, of_text, len(used))))
        named.append((np.flatnonzero(numbers >= 0), numbers))
    paths = class_paths(counted, len(used))
    source, target = (
        WordClusters([text.words[k] for k in kept], numbers[kept], paths, np.array(text.counts, dtype=np.int64)[kept])
        for text, (kept, numbers) in zip(texts, named, strict=True)
    )
    return CrossClusters(source, target, linked)
