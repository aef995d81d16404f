"""What of a translation and its source tells how good it is, without a reference: 17 features of texts and corpora.

They are the baseline features of the WMT shared tasks on quality estimation (2012 to 2019): lengths, probabilities
under language models of both sides, repetition, how ambiguous and how rare the words of the source are, punctuation.
What needs corpora is learned from a bitext: two trigram models, a lexicon of IBM model 1, and counts of n-grams by
quartile. Without a bitext, ten features of the surface remain.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.errors import DataError
from weft.learn.bitext.word_alignment import AlignmentSettings
from weft.learn.ngrams.model import NgramModel
from weft.tasks.bitext.align import Aligner
from weft.tasks.language_models import lm

Words = Sequence[str]
FEATURES = (
    "source words", "target words", "mean length of source words", "source log-probability", "target log-probability",
    "occurrences per target word", "translations above .2 per source word", "translations above .01, rare words first",
    "source unigrams in the lowest quartile", "source unigrams in the highest quartile",
    "source bigrams in the lowest quartile", "source bigrams in the highest quartile",
    "source trigrams in the lowest quartile", "source trigrams in the highest quartile", "source words seen",
    "source punctuation", "target punctuation",
)  # fmt: skip
SURFACE = (
    "source words", "target words", "target words per source word", "mean length of source words",
    "mean length of target words", "occurrences per target word", "source punctuation", "target punctuation",
    "difference of punctuation", "source digits",
)  # fmt: skip
_TOKEN = re.compile(r"\w+|[^\w\s]")


def words_of(text: str) -> list[str]:
    """Words and marks of a text in lower case.

    >>> words_of("Tea, please.")
    ['tea', ',', 'please', '.']
    """
    return _TOKEN.findall(text.lower())


def surface(source: str, target: str) -> list[float]:
    """Features that need no corpus, in the order of `SURFACE`.

    >>> dict(zip(SURFACE, surface("The tea, hot.", "El te")))["target words per source word"]
    0.4
    """
    s, t = words_of(source), words_of(target)
    marks = [sum(map(_is_mark, words)) for words in (s, t)]
    return [
        len(s), len(t), len(t) / max(len(s), 1), _length(s), _length(t), len(t) / max(len(set(t)), 1), *marks,
        abs(marks[0] - marks[1]), sum(word.isdigit() for word in s),
    ]  # fmt: skip


@dataclass(frozen=True)
class TextFeatures:
    """What was learned from a bitext, to describe translations of other texts.

    >>> source = ["the tea is hot", "the tea", "hot tea please", "the tea is cold"]
    >>> target = ["el te es caliente", "el te", "te caliente por favor", "el te es frio"]
    >>> features = TextFeatures.learn(source, target)
    >>> dict(zip(FEATURES, features(["the cold soup"], ["el frio"])[0].round(2).tolist()))["source words seen"]
    0.67
    """

    source_model: NgramModel
    target_model: NgramModel
    ambiguity: dict[str, tuple[int, int]]  #: translations above .2 and above .01
    counts: tuple[dict[tuple[str, ...], int], ...]
    quartiles: tuple[tuple[float, float], ...]  #: the lowest and the highest, by order

    @classmethod
    def learn(cls, source: Iterable[str], target: Iterable[str], longest: int = 60) -> TextFeatures:
        """Learn from a bitext, sentence by sentence; pairs with empty or long sides are left out."""
        pairs = [(words_of(s), words_of(t)) for s, t in zip(source, target, strict=True)]
        pairs = [(s, t) for s, t in pairs if 0 < len(s) <= longest and 0 < len(t) <= longest]
        if not pairs:
            raise DataError(f"the bitext has no pair of sentences of 1 to {longest} words")
        left, right = [s for s, _ in pairs], [t for _, t in pairs]
        aligner = Aligner(AlignmentSettings(hmm_iterations=0, agreement=False))
        aligner.fit(left, right)
        ambiguity = {}
        for word in sorted({word for words in left for word in words}):
            shares = [share for _, share in aligner.translations(word, 100)]
            ambiguity[word] = sum(share > 0.2 for share in shares), sum(share > 0.01 for share in shares)
        counts = tuple(dict(Counter(gram for words in left for gram in _grams(words, n))) for n in (1, 2, 3))
        quartiles = []
        for own in counts:
            values = np.array([*own.values()] or [0])
            quartiles.append((float(np.quantile(values, 0.25)), float(np.quantile(values, 0.75))))
        return cls(lm.train(left), lm.train(right), ambiguity, counts, tuple(quartiles))

    def __call__(self, source: Sequence[str], target: Sequence[str]) -> Floats:
        """A row of `FEATURES` per pair of texts."""
        rows = [self._row(words_of(s), words_of(t)) for s, t in zip(source, target, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))

    def _row(self, s: Words, t: Words) -> list[float]:
        size = max(len(s), 1)
        ambiguous = [self.ambiguity.get(word, (0, 0)) for word in s]
        rare = [1 / self.counts[0].get((word,), 1) for word in s]
        weighed = sum(many * weight for (_, many), weight in zip(ambiguous, rare, strict=True)) / max(sum(rare), 1e-9)
        shares: list[float] = []
        for n, (low, high) in enumerate(self.quartiles, start=1):
            grams = [self.counts[n - 1].get(gram, 0) for gram in _grams(s, n)]
            seen = max(len(grams), 1)
            shares += [sum(0 < c <= low for c in grams) / seen, sum(c > high for c in grams) / seen]
        known = sum((word,) in self.counts[0] for word in s) / size
        return [
            len(s), len(t), _length(s), self.source_model.score(list(s)), self.target_model.score(list(t)),
            len(t) / max(len(set(t)), 1), sum(few for few, _ in ambiguous) / size, weighed, *shares, known,
            sum(map(_is_mark, s)), sum(map(_is_mark, t)),
        ]  # fmt: skip


def _grams(words: Words, n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[k:] for k in range(n)), strict=False))


def _length(words: Words) -> float:
    return sum(map(len, words)) / max(len(words), 1)


def _is_mark(word: str) -> bool:
    return unicodedata.category(word[0]).startswith("P")
