"""A lexicon of word translations, learned from segments side by side, and the links that it draws (IBM model 1).

    a_j = argmax_i t(e_j | c_i)       each word of the article links to the word of the translation that explains it

A word that nothing explains well enough stays without a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.learn.bitext.word_alignment import AlignmentSettings
from weft.tasks.bitext.align import Aligner

#: Translations that are kept of a word, and the least probability of one.
_KEPT, _LEAST = 20, 0.01


@dataclass
class Lexicon:
    """Probabilities t(e | c) of words of the article's language given words of the translation's."""

    table: dict[str, dict[str, float]]
    threshold: float = 0.05  #: least probability of a link

    @classmethod
    def learn(cls, pairs: Iterable[tuple[Sequence[str], Sequence[str]]], rounds: int = 5) -> Lexicon:
        """Learn from segments of the translation and of the article.

        >>> lexicon = Lexicon.learn([(["das", "haus"], ["the", "house"]), (["das", "buch"], ["the", "book"]),
        ...                          (["ein", "buch"], ["a", "book"])] * 3)
        >>> list(lexicon.links(["das", "buch"], ["the", "book"]))
        [(0, 0), (1, 1)]
        """
        kept = [(c, e) for c, e in pairs if c and e]
        if not kept:
            return cls({})
        aligner = Aligner(AlignmentSettings(rounds, hmm_iterations=0, agreement=False), lower=False)
        aligner.fit([c for c, _ in kept], [e for _, e in kept])
        table = {}
        for word in sorted({word for c, _ in kept for word in c}):
            found = {other: share for other, share in aligner.translations(word, _KEPT) if share >= _LEAST}
            if found:
                table[word] = found
        return cls(table)

    def links(self, theirs: Sequence[str], own: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Places of words that translate each other, one at most per word of the article."""
        tables = [(i, self.table[word]) for i, word in enumerate(theirs) if word in self.table]
        for j, word in enumerate(own):
            best, at = self.threshold, -1
            for i, table in tables:
                share = table.get(word, 0.0)
                if share > best:
                    best, at = share, i
            if at >= 0:
                yield at, j
