"""What a collection of articles says of words: in how many articles they occur, and in which topics.

tfidf    freq(article, w) / articles with w                 the paper's, without a logarithm
log      freq(article, w) log((articles + 1) / (with w + 1)) + .., the usual one
entropy  1 - H(topic | w) / log(number of topics)           words of few topics
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weft.arrays import Floats, Ids, Singles
from weft.errors import ConfigError
from weft.tasks.keywords.article import Article

PREFERENCES = ("log", "tfidf", "entropy", "none")


@dataclass
class Collection:
    """Counts of words over articles of one language.

    >>> tea = Article.of([["hot", "tea"]])
    >>> collection = Collection().add(tea, "drinks").add(Article.of([["hot", "iron"]]), "tools")
    >>> dict(zip(tea.names, collection.preferences(tea, "entropy").round(2).tolist()))
    {'hot': 0.0, 'tea': 1.0}
    """

    articles: int = 0
    documents: Counter[str] = field(default_factory=Counter)  #: articles with a word
    topics: dict[str, Counter[str]] = field(default_factory=dict)  #: occurrences of a word by topic
    focused: dict[str, float] = field(default_factory=dict)  #: instead of topics, in a restored collection

    def add(self, article: Article, topic: str = "") -> Collection:
        """Count an article."""
        self.articles += 1
        for name, count in zip(article.names, article.counts.tolist(), strict=True):
            self.documents[name] += 1
            if topic:
                self.topics.setdefault(name, Counter())[topic] += count
        return self

    @classmethod
    def of(cls, articles: Iterable[tuple[Article, str]]) -> Collection:
        """The counts of articles with their topics."""
        collection = cls()
        for article, topic in articles:
            collection.add(article, topic)
        return collection

    def preferences(self, article: Article, kind: str) -> Floats:
        """The preference for every type of an article, 0 for types that are never content words."""
        if kind not in PREFERENCES:
            raise ConfigError(f"unknown preference {kind!r}; it is one of {', '.join(PREFERENCES)}")
        content = np.zeros(len(article.names), dtype=np.bool_)
        content[article.tokens[article.content]] = True
        if kind == "none":
            return content.astype(np.float64)
        counts = article.counts.astype(np.float64)
        if kind == "entropy":
            found = np.array([self.focus(name) for name in article.names])
        else:
            seen = np.array([self.documents.get(name, 0) for name in article.names], dtype=np.float64)
            found = (
                counts / np.maximum(seen, 1.0)
                if kind == "tfidf"
                else counts * np.log((self.articles + 1) / (np.minimum(seen, self.articles) + 0.5))
            )
        return np.where(content, np.maximum(found, 0.0), 0.0)

    def focus(self, name: str) -> float:
        """How few topics a word has: 1 for a single one, 0 for all alike, and for words of no topic."""
        if self.focused:
            return self.focused.get(name, 0.0)
        counts = self.topics.get(name)
        return 0.0 if not counts else 1 - entropy(counts) / float(np.log(max(self.n_topics, 2)))

    @cached_property
    def n_topics(self) -> int:
        """How many topics there are, once all articles are counted."""
        return len({topic for counts in self.topics.values() for topic in counts})

    @classmethod
    def known(cls, articles: int, names: Sequence[str], documents: Ids, focus: Singles) -> Collection:
        """A collection of which only the counts of articles and the focus of words are known."""
        counts = Counter(dict(zip(names, documents.tolist(), strict=True)))
        return cls(articles, counts, {}, dict(zip(names, focus.tolist(), strict=True)))


def entropy(counts: Mapping[str, int]) -> float:
    """The entropy of counts.

    >>> round(entropy({"a": 2, "b": 2}), 3)
    0.693
    """
    values = np.array([*counts.values()], dtype=np.float64)
    shares = values / values.sum() if len(values) else values
    return float(-(shares * np.log(shares)).sum()) if len(values) else 0.0
