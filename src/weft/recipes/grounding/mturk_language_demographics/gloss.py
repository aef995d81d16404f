"""Word-for-word translation, to see what a dictionary adds to a small bitext: no decoder, no reordering.

    score of e_1 .. e_n  =  sum_i log t(e_i | f_i) + weight * log p(e_i | e_{i-1})

t are the translation weights that the aligner learned, p a bigram model of the English side; a word without translation
stays as it is. A dictionary is appended to the bitext as sentence pairs of one word.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.learn.bitext.word_alignment import AlignmentSettings
from weft.packages import needed
from weft.tasks.bitext.align import Aligner

#: Words between spaces and punctuation; vowel signs of Indic scripts are no letters to Python.
_TOKEN = re.compile(r"[^\s!-/:-@\[-`{-~।॥“”‘’–—…]+|\S")
#: Translations of a word that are tried, and the weight of the bigram model.
CANDIDATES, WEIGHT = 5, 0.5


@dataclass(frozen=True)
class Line:
    """A source sentence with its references, without empty ones; `document` is the page it comes from."""

    document: str
    source: tuple[str, ...]
    references: tuple[str, ...]


def tokens(text: str) -> tuple[str, ...]:
    """Words and punctuation in small letters.

    >>> tokens("Delhi, the capital.")
    ('delhi', ',', 'the', 'capital', '.')
    """
    return tuple(_TOKEN.findall(text.lower()))


def read_lines(path: Path) -> list[Line]:
    """The lines of a test or development file: id, source, references."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [
        Line(row[0].partition("_")[0], tokens(row[1]), tuple(" ".join(tokens(ref)) for ref in row[2:] if ref.strip()))
        for row in rows
    ]


def read_dictionary(path: Path) -> list[tuple[str, str]]:
    """The raw pairs of a dictionary."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(row[0], row[1]) for row in rows if len(row) == 2 and row[0] and row[1]]


def agreed(pairs: Sequence[tuple[str, str]], least: int = 2) -> list[tuple[str, str]]:
    """The pairs that at least so many workers gave.

    >>> agreed([("pani", "water"), ("pani", "Water"), ("pani", "river")])
    [('pani', 'water'), ('pani', 'water')]
    """
    counts = Counter((word, english.lower()) for word, english in pairs)
    return [pair for pair, count in counts.items() for _ in range(count) if count >= least]


class Glosser:
    """Translates word for word."""

    def __init__(self, lines: Sequence[Line], dictionary: Sequence[tuple[str, str]] = ()) -> None:
        source = [line.source for line in lines for _ in line.references]
        target = [tuple(reference.split()) for line in lines for reference in line.references]
        pairs = [(tokens(word), tokens(english)) for word, english in dictionary]
        source += [word for word, english in pairs if word and english]
        target += [english for word, english in pairs if word and english]
        self.aligner = Aligner(AlignmentSettings(agreement=False))
        self.aligner.fit(source, target)
        self.unigrams: Counter[str] = Counter()
        self.bigrams: dict[str, Counter[str]] = defaultdict(Counter)
        for line in lines:
            for reference in line.references:
                words = reference.split()
                self.unigrams.update(words)
                for before, word in zip(["<s>", *words], words, strict=False):
                    self.bigrams[before][word] += 1
        self.total = sum(self.unigrams.values())
        self._sums = {before: sum(counts.values()) for before, counts in self.bigrams.items()}

    def log_bigram(self, before: str, word: str) -> float:
        """The log probability of a word after another: Witten-Bell, down to the uniform distribution."""
        unigram = (self.unigrams[word] + 1) / (self.total + len(self.unigrams) + 1)
        follow = self.bigrams.get(before)
        if not follow:
            return math.log(unigram)
        total, kinds = self._sums[before], len(follow)
        return math.log((follow[word] + kinds * unigram) / (total + kinds))

    def translate(self, source: Sequence[str]) -> str:
        """The best gloss of a sentence."""
        best: dict[str, tuple[float, tuple[str, ...]]] = {"<s>": (0.0, ())}
        for word in source:
            found = self.aligner.translations(word, CANDIDATES) or [(word, 1.0)]
            fresh: dict[str, tuple[float, tuple[str, ...]]] = {}
            for english, weight in found:
                fresh[english] = max(
                    (
                        score + math.log(max(weight, 1e-9)) + WEIGHT * self.log_bigram(before, english),
                        (*path, english),
                    )
                    for before, (score, path) in best.items()
                )
            best = fresh
        return " ".join(max(best.values())[1])

    def knows(self, word: str) -> bool:
        """Whether a word of the source was seen."""
        return word in self.aligner.source_words


def bleu_counts(hypotheses: Sequence[str], lines: Sequence[Line]) -> Any:
    """Per line the counts of BLEU: matches and candidates of four orders, lengths of the output and the reference."""
    metric = needed("sacrebleu.metrics", "BLEU").BLEU(
        tokenize="none", force=True, lowercase=True, effective_order=False
    )
    rows = []
    for hypothesis, line in zip(hypotheses, lines, strict=True):
        score = metric.corpus_score([hypothesis], [[reference] for reference in line.references])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows, dtype=np.float64)


def bleu(counts: Any) -> float:
    """BLEU of summed counts."""
    sums = counts.sum(axis=0).astype(int).tolist()
    metric = needed("sacrebleu.metrics", "BLEU").BLEU
    return float(metric.compute_bleu(sums[:4], sums[4:8], sums[8], sums[9], smooth_method="none").score)


def paired_gain(
    better: Any, worse: Any, documents: Sequence[str], samples: int = 500, seed: int = 0
) -> tuple[float, tuple[float, float]]:
    """The difference in BLEU with a paired bootstrap over documents."""
    names = sorted(set(documents))
    number = np.array([names.index(name) for name in documents])
    sums = [np.array([counts[number == k].sum(axis=0) for k in range(len(names))]) for counts in (better, worse)]
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, len(names), len(names)) for _ in range(samples)]
    differences = [bleu(sums[0][take]) - bleu(sums[1][take]) for take in drawn]
    low, high = np.quantile(differences, [0.025, 0.975])
    return bleu(better) - bleu(worse), (float(low), float(high))
