"""Articles drawn so that each language knows something of its own: preferences are keyness with independent noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.tasks.keywords.article import Article


class Drawn(NamedTuple):
    """An article and its translation word by word, what either language prefers, links, and the keywords."""

    article: Article
    translation: Article
    preferences: Floats
    theirs: Floats
    links: list[tuple[int, int]]
    keywords: frozenset[str]


def simulated(seed: int, sentences: int = 20, length: int = 8, words: int = 40, keywords: int = 8) -> Drawn:
    """An article of random words; of keywords both languages have, on the mean, preferences e times as high.

    >>> drawn = simulated(0)
    >>> len(drawn.article.tokens) == len(drawn.translation.tokens) == len(drawn.links), len(drawn.keywords)
    (True, 8)
    """
    rng = np.random.default_rng(seed)
    names = ["".join("abcdefghij"[int(digit)] for digit in f"{word:03}") for word in range(words)]
    drawn = rng.integers(0, words, (sentences, length))
    article = Article.of([[f"word{names[k]}" for k in row] for row in drawn.tolist()])
    translation = Article.of([[f"palabra{names[k]}" for k in row] for row in drawn.tolist()])
    keyness = dict(zip(names, (np.arange(words) < keywords).astype(float).tolist(), strict=True))

    def preferences(own: Article, prefix: str) -> Floats:
        known = np.array([keyness[name.removeprefix(prefix)] for name in own.names])
        wanted: Floats = np.exp(known + rng.normal(0.0, 1.0, len(known)))
        return wanted

    chosen = frozenset(f"word{name}" for name, key in keyness.items() if key)
    places = [(k, k) for k in range(sentences * length)]
    present = chosen & set(article.names)
    return Drawn(
        article, translation, preferences(article, "word"), preferences(translation, "palabra"), places, present
    )
