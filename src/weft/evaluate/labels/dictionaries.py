"""The quality of a tag dictionary on a text.

    coverage          = known words / words
    ambiguity         = mean number of tags of known words
    pruning accuracy  = words whose gold tag the dictionary allows / words

A tagger that decodes within a dictionary cannot be more accurate than the pruning accuracy. The correction curve shows
the value of correcting the k most frequent words by hand: their gold tags are added to their entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.errors import DataError
from weft.lexical.dictionary import TagDictionary


@dataclass(frozen=True)
class DictionaryReport:
    """Statistics of a dictionary on a text; the last three need gold tags."""

    words: int
    types: int
    coverage: float
    type_coverage: float
    ambiguity: float
    pruning_accuracy: float | None = None
    pruned_words: tuple[tuple[str, str, int], ...] = ()  # word, gold tag and how often it was pruned
    pruned_tags: tuple[tuple[str, int], ...] = ()  # gold tags by how often they were pruned

    def as_dict(self) -> dict[str, Any]:
        """The statistics as plain values."""
        values = {name: value for name, value in vars(self).items() if value is not None}
        return {name: list(map(list, value)) if isinstance(value, tuple) else value for name, value in values.items()}

    def __str__(self) -> str:
        lines = [
            f"words {self.words:,}, types {self.types:,}",
            f"coverage {100 * self.coverage:.2f} % of words, {100 * self.type_coverage:.2f} % of types",
            f"ambiguity {self.ambiguity:.2f} tags per covered word",
        ]
        if self.pruning_accuracy is not None:
            lines.append(f"pruning accuracy {100 * self.pruning_accuracy:.2f} %")
            worst = ", ".join(f"{word} {tag} {count}" for word, tag, count in self.pruned_words[:8])
            lines += [f"most often pruned: {worst}"] if worst else []
        return "\n".join(lines)


def dictionary_report(
    dictionary: TagDictionary, words: Sequence[str], gold: Sequence[str] | None = None
) -> DictionaryReport:
    """Measure a dictionary on the words of a text, with or without their gold tags.

    >>> found = dictionary_report(TagDictionary({"the": ["DET"], "run": ["VERB"]}), ["the", "run"], ["DET", "NOUN"])
    >>> found.coverage, found.ambiguity, found.pruning_accuracy, found.pruned_words
    (1.0, 1.0, 0.5, (('run', 'NOUN', 1),))
    """
    _check(words, gold)
    covered = dictionary.covers(words)
    mask = dictionary.mask(words)
    types = sorted(set(words))
    report = DictionaryReport(
        len(words),
        len(types),
        float(covered.mean()),
        float(dictionary.covers(types).mean()),
        float(mask[covered].sum(axis=1).mean()) if covered.any() else 0.0,
    )
    if gold is None:
        return report
    kept = _kept(dictionary, words, gold)
    lost = Counter((word, tag) for word, tag, keep in zip(words, gold, kept.tolist(), strict=True) if not keep)
    by_tag: Counter[str] = Counter()
    for (_, tag), count in lost.items():
        by_tag[tag] += count
    return DictionaryReport(
        report.words,
        report.types,
        report.coverage,
        report.type_coverage,
        report.ambiguity,
        float(kept.mean()),
        tuple((word, tag, n) for (word, tag), n in sorted(lost.items(), key=lambda item: (-item[1], item[0]))[:20]),
        tuple(sorted(by_tag.items(), key=lambda item: (-item[1], item[0]))),
    )


def correction_curve(
    dictionary: TagDictionary,
    words: Sequence[str],
    gold: Sequence[str],
    most_frequent: Sequence[int] = (0, 10, 25, 50, 100, 250, 500, 1000),
) -> list[tuple[int, float]]:
    """Pruning accuracy after correcting the entries of the k most frequent words, for every k.

    >>> wrong = TagDictionary({"the": ["PRON"], "run": ["VERB"]})
    >>> correction_curve(wrong, ["the", "the", "run"], ["DET", "DET", "NOUN"], [0, 1, 2])
    [(0, 0.0), (1, 0.6666666666666666), (2, 1.0)]
    """
    _check(words, gold)
    order = [word for word, _ in sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))]
    kept = _kept(dictionary, words, gold)
    # A corrected word keeps all of its gold tags; correcting one word does not affect the others.
    rank = {word: place for place, word in enumerate(order)}
    place = np.fromiter(map(rank.__getitem__, words), dtype=np.int64, count=len(words))
    return [(k, float((kept | (place < k)).mean())) for k in most_frequent]


def _kept(dictionary: TagDictionary, words: Sequence[str], gold: Sequence[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    number = {tag: k for k, tag in enumerate(dictionary.tags)}
    unknown = sorted(set(gold) - number.keys())
    if unknown:
        raise DataError(
            f"some gold tags are not in the dictionary's tag set: {', '.join(unknown[:8])}; it has "
            f"{' '.join(dictionary.tags)}. Map them first, for instance with weft.lexical.universal_tags.universal_tags"
        )
    right = np.fromiter(map(number.__getitem__, gold), dtype=np.int64, count=len(gold))
    allowed: np.ndarray[Any, np.dtype[np.bool_]] = dictionary.mask(words)[np.arange(len(gold)), right]
    return allowed


def _check(words: Sequence[str], gold: Sequence[str] | None) -> None:
    if not words:
        raise DataError("there are no words to measure the dictionary on")
    if gold is not None and len(gold) != len(words):
        raise DataError(f"expected one gold tag per word, but got {len(gold)} tags for {len(words)} words")
