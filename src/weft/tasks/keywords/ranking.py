"""Words ranked by a walk over the graph of an article, joined with that of its translation (Huang et al. 2014).

    KN = d KN EW + (1 - d) KP        EW: shares of edges and links;  KP: preferences;  words without edges restart

The translation gives mass back to words that vary in the article: where one language repeats a word and the other has
synonyms, links return its rank to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.graph.network import Network
from weft.graph.rankings.cooccurrence import Edges, cooccurrences, joined
from weft.graph.rankings.pagerank import pagerank
from weft.tasks.keywords.article import Article

#: Pairs of tokens that translate each other: of the translation, then of the article.
Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Walk:
    """Settings of the walk: window and weight of content words, share of the article, damping, weights of links."""

    window: int = 5
    boost: float = 2.0
    alpha: float = 0.6
    damping: float = 0.85
    link: float = 2.0  #: between content words
    other: float = 0.5  #: between words of which one is none
    both: bool = False  #: links lead back, too

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1 or not 0 <= self.damping < 1:
            raise ConfigError(f"alpha is from 0 to 1 and damping from 0 to below 1, got {self.alpha}, {self.damping}")
        if self.link < 0 or self.other < 0:
            raise ConfigError(f"links weigh 0 or more, got {self.link} and {self.other}")


def rank(
    article: Article, preferences: Floats, walk: Walk = Walk(), translation: Article | None = None,
    their_preferences: Floats | None = None, links: Pairs = (),
) -> Floats:  # fmt: skip
    """The score of every type of an article; those of the article sum to 1.

    >>> article = Article.of([["hot", "tea", "and", "tea"], ["cold", "tea"]], {"and"})
    >>> scores = rank(article, np.ones(len(article.names)))
    >>> article.names[int(scores.argmax())]
    'tea'
    """
    network = word_network(article, walk, translation, links)
    own = _shares(preferences)
    if translation is not None:
        theirs = np.ones(len(translation.names)) if their_preferences is None else their_preferences
        # Both languages restart as their graphs count, so that a translation adds nothing by being there alone.
        own = np.concatenate([walk.alpha * own, (1 - walk.alpha) * _shares(theirs)])
    scores = pagerank(network, walk.damping, own)[: len(article.names)]
    total = scores.sum()
    return scores / total if total > 0 else scores


def word_network(article: Article, walk: Walk, translation: Article | None = None, links: Pairs = ()) -> Network:
    """EW before its rows are shares: nodes are the types of the article, then those of its translation."""
    own = cooccurrences(article.tokens, article.offsets, article.content, walk.window, walk.boost)
    n = len(article.names)
    if translation is None:
        return joined(n, [(own, 1.0)])
    theirs = cooccurrences(translation.tokens, translation.offsets, translation.content, walk.window, walk.boost)
    moved = Edges(theirs.sources + np.int32(n), theirs.targets + np.int32(n), theirs.weights)
    pairs = np.array(links, dtype=np.int64).reshape(-1, 2)
    content = translation.content[pairs[:, 0]] & article.content[pairs[:, 1]]
    bridge = Edges(
        (translation.tokens[pairs[:, 0]] + n).astype(np.int32), article.tokens[pairs[:, 1]].astype(np.int32),
        np.where(content, walk.link, walk.other),
    )  # fmt: skip
    if walk.both:
        bridge = Edges(
            np.concatenate([bridge.sources, bridge.targets]), np.concatenate([bridge.targets, bridge.sources]),
            np.concatenate([bridge.weights, bridge.weights]),
        )  # fmt: skip
    return joined(n + len(translation.names), [(own, walk.alpha), (moved, 1 - walk.alpha)], bridge)


def alone(walk: Walk) -> Walk:
    """The same walk over the article alone."""
    return replace(walk, alpha=1.0)


def _shares(preferences: Floats) -> Floats:
    total = preferences.sum()
    return preferences / total if total > 0 else np.full(len(preferences), 1.0 / max(len(preferences), 1))
