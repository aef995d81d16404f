"""BLEU, chrF and TER of translations by sacrebleu, with significance tests over sentences.

All three are computed from counts per sentence, so intervals and paired tests resample sentences and score their sums:

    BLEU   matches and totals of n-grams of 1 to 4 words, lengths          higher is better
    chrF   matches and totals of n-grams of 1 to 6 characters              higher is better
    TER    edits, shifts of phrases among them, and words of references    lower is better

Words are those of the text, separated by spaces, unless `tokenize` names a tokenizer of sacrebleu, such as 13a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.evaluate.significance import Comparison, Interval, approximate_randomization, confidence_interval
from weft.evaluate.significance import paired_bootstrap as bootstrap
from weft.packages import needed

METRICS = ("BLEU", "chrF", "TER")


@dataclass(frozen=True)
class Counts:
    """What a metric counts, one row per sentence."""

    metric: str
    rows: Floats

    def score(self) -> float:
        """The score of all sentences together, 0 to 100."""
        return 100 * float(_measure(self.metric)(self.rows.sum(axis=0)))


def count(
    translations: Sequence[str], references: Sequence[Sequence[str]], metric: str = "BLEU", tokenize: str = "none"
) -> Counts:
    """What a metric counts in translations; each has one or several references.

    >>> counts = count(["a b c d", "x"], [["a b c d"], ["y"]])
    >>> counts.rows[0].astype(int).tolist(), round(counts.score(), 2)
    ([4, 3, 2, 1, 4, 3, 2, 1, 4, 4], 94.57)
    """
    if len(translations) != len(references):
        raise DataError(
            f"{len(translations):,} translations and {len(references):,} lines of references; numbers must be equal"
        )
    if not len(translations):
        raise DataError("there is no translation to score")
    scorer = _scorer(metric, tokenize)
    rows = []
    for translation, own in zip(translations, references, strict=True):
        rows.append(scorer._extract_corpus_statistics([translation], [[each] for each in own])[0])
    if metric == "BLEU":  # lengths come first there
        rows = [[*row[2:], row[0], row[1]] for row in rows]
    return Counts(metric, np.array(rows, np.float64))


def interval(counts: Counts, samples: int = 1000, seed: int = 0, confidence: float = 0.95) -> Interval:
    """A score with its bootstrap interval over sentences."""
    found = confidence_interval(counts.rows, _measure(counts.metric), samples, seed, confidence)
    return Interval(100 * found.value, 100 * found.low, 100 * found.high)


def compare(a: Counts, b: Counts, samples: int = 1000, seed: int = 0, test: str = "randomization") -> Comparison:
    """Two systems on the same sentences, by approximate randomization or the paired bootstrap.

    >>> good = count(["a b c d e"] * 8, [["a b c d e"]] * 8)
    >>> bad = count(["a b c x e"] * 8, [["a b c d e"]] * 8)
    >>> found = compare(good, bad)
    >>> round(found.difference, 1), found.p < 0.05
    (100.0, True)
    """
    if a.metric != b.metric:
        raise ConfigError(f"{a.metric} cannot be compared with {b.metric}")
    if test not in ("randomization", "bootstrap"):
        raise ConfigError(f"the test must be randomization or bootstrap, got {test!r}")
    chosen = approximate_randomization if test == "randomization" else bootstrap
    found = chosen(a.rows, b.rows, _measure(a.metric), samples, seed)
    return Comparison(
        100 * found.a, 100 * found.b, 100 * found.low, 100 * found.high, found.p, found.samples, found.exact
    )


def _scorer(metric: str, tokenize: str) -> Any:
    metrics = needed("sacrebleu.metrics", f"{metric} of translations")
    if metric == "BLEU":
        return metrics.BLEU(tokenize=tokenize, smooth_method="none", force=True)
    if metric == "chrF":
        return metrics.CHRF()
    if metric == "TER":
        return metrics.TER()
    raise ConfigError(f"the metric must be one of {', '.join(METRICS)}, got {metric!r}")


def _measure(metric: str) -> Any:
    return {"BLEU": _bleu, "chrF": _chrf, "TER": _ter}[metric]


def _bleu(sums: Floats) -> Floats:
    matches, totals = sums[..., :4], sums[..., 4:8]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(matches / totals).mean(axis=-1)
        short = np.minimum(0.0, 1.0 - sums[..., 9] / sums[..., 8])
        found: Floats = np.where((matches > 0).all(axis=-1), np.exp(precision + short), 0.0)
    return found


def _chrf(sums: Floats) -> Floats:
    """F2 of mean precision and recall; each order counts n-grams of the translation, the reference, and both."""
    hypothesis, reference, matches = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hypothesis > 0, matches / hypothesis, 0.0)
        recall = np.where(reference > 0, matches / reference, 0.0)
    there = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(1, there.sum(axis=-1))
    p, r = (precision * there).sum(axis=-1) / orders, (recall * there).sum(axis=-1) / orders
    found: Floats = np.where(p + r > 0, 5 * p * r / np.maximum(1e-12, 4 * p + r), 0.0)
    return found


def _ter(sums: Floats) -> Floats:
    found: Floats = sums[..., 0] / np.maximum(1e-9, sums[..., 1])
    return found
