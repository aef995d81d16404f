"""Word alignments scored against gold links, some of them sure (S), others possible (P, which contains S).

For the links A of a system, over all sentence pairs (Och and Ney 2003):

    precision = |A & P| / |A|      recall = |A & S| / |S|      AER = 1 - (|A & S| + |A & P|) / (|A| + |S|)
    F_alpha = 1 / (alpha / precision + (1 - alpha) / recall),   alpha = 0.1 where links serve translation
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.evaluate.counts import Measure
from weft.text.bitext import Links

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class AlignmentScore:
    """Link counts per sentence pair: system links, sure links, and how many of both the system predicted."""

    system: Counts
    sure: Counts
    found_sure: Counts
    found_possible: Counts

    @property
    def precision(self) -> float:
        return _ratio(self.found_possible.sum(), self.system.sum())

    @property
    def recall(self) -> float:
        return _ratio(self.found_sure.sum(), self.sure.sum())

    @property
    def f1(self) -> float:
        precision, recall = self.precision, self.recall
        return _ratio(2 * precision * recall, precision + recall)

    @property
    def aer(self) -> float:
        """Alignment error rate."""
        correct = self.found_sure.sum() + self.found_possible.sum()
        return 1 - _ratio(correct, self.system.sum() + self.sure.sum())

    def f_alpha(self, alpha: float = 0.1) -> float:
        """The weighted harmonic mean of precision and recall (Fraser and Marcu 2007).

        >>> score = score_alignment(Links.of([[(0, 0), (1, 0)]]), Links.of([[(0, 0)]]))
        >>> round(score.f_alpha(), 3), score.f_alpha(0.5) == score.f1
        (0.909, True)
        """
        return float(f_alpha_of(alpha)(self.rows().sum(axis=0)))

    def rows(self) -> NDArray[np.float64]:
        """Sure, system, right sure and right possible links per pair, for `weft.evaluate.significance`."""
        columns = (self.sure, self.system, self.found_sure, self.found_possible)
        return np.stack(columns, axis=1).astype(np.float64)

    def figures(self) -> dict[str, Any]:
        """The scores by name."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "aer": self.aer,
            "f0.1": self.f_alpha(),
            "links": int(self.system.sum()),
        }

    def by_pair(self) -> NDArray[np.float64]:
        """Precision, recall and whether all is right, per pair; where there is nothing, finding nothing is right.

        >>> score = score_alignment(Links.of([[(0, 0)], []]), Links.of([[(0, 0), (1, 1)], []]))
        >>> score.by_pair().tolist()
        [[1.0, 0.5, 0.0], [1.0, 1.0, 1.0]]
        """
        nothing = (self.system == 0) & (self.sure == 0)
        precision = np.where(nothing, 1.0, self.found_possible / np.maximum(self.system, 1))
        recall = np.where(nothing, 1.0, self.found_sure / np.maximum(self.sure, 1))
        exact = (self.found_sure == self.sure) & (self.found_possible == self.system)
        return np.stack([precision, recall, exact.astype(np.float64)], axis=1)

    def macro(self) -> dict[str, float]:
        """Means over sentence pairs, as published for texts of one language; F1 is that of the two means."""
        precision, recall, exact = (float(x) for x in self.by_pair().mean(axis=0))
        return {"precision": precision, "recall": recall, "f1": macro_f1(precision, recall), "exact": exact}

    def interval(self, share: float = 0.95, samples: int = 1000, seed: int = 0) -> tuple[float, float]:
        """Bounds of the error rate over resampled sentence pairs."""
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, len(self.system), (samples, len(self.system)))
        correct = (self.found_sure + self.found_possible)[drawn].sum(axis=1)
        rates = 1 - correct / np.maximum((self.system + self.sure)[drawn].sum(axis=1), 1)
        low, high = np.quantile(rates, [(1 - share) / 2, (1 + share) / 2])
        return float(low), float(high)


def f_alpha_of(alpha: float) -> Measure:
    """F_alpha as a measure of sums of `AlignmentScore.rows`."""

    def measure(sums: NDArray[Any]) -> NDArray[np.float64]:
        sure, system, right, possible = (sums[..., k] for k in range(4))
        precision, recall = possible / np.maximum(system, 1), right / np.maximum(sure, 1)
        both = (precision > 0) & (recall > 0)
        found = alpha / np.where(both, precision, 1.0) + (1 - alpha) / np.where(both, recall, 1.0)
        return np.asarray(np.where(both, 1 / found, 0.0))

    return measure


def macro_f1(precision: float, recall: float) -> float:
    """The harmonic mean of two means.

    >>> macro_f1(0.5, 1.0) == 2 / 3
    True
    """
    return _ratio(2 * precision * recall, precision + recall)


def score_alignment(links: Links, sure: Links, possible: Links | None = None) -> AlignmentScore:
    """Score links against sure and possible ones (by default, all possible links are sure).

    >>> sure, possible = Links.of([[(0, 0), (1, 1)]]), Links.of([[(0, 0), (1, 1), (2, 1)]])
    >>> score = score_alignment(Links.of([[(0, 0), (2, 1), (3, 3)]]), sure, possible)
    >>> round(score.precision, 3), score.recall, round(score.aer, 3)
    (0.667, 0.5, 0.4)
    """
    allowed = sure if possible is None else possible
    for given in (sure, allowed):
        if given.n_pairs != links.n_pairs:
            raise WeftError(
                f"cannot score links of {links.n_pairs} sentence pairs against gold links of {given.n_pairs}"
            )
    mine, right, maybe = (_keys(given) for given in (links, sure, allowed))
    maybe = np.union1d(maybe, right)

    def counts(keys: Counts) -> Counts:
        return np.bincount(keys >> _BITS, minlength=links.n_pairs).astype(np.int64)

    return AlignmentScore(
        counts(mine), counts(right), counts(np.intersect1d(mine, right)), counts(np.intersect1d(mine, maybe))
    )


_BITS = 40


def _keys(links: Links) -> Counts:
    """Every link once, as a number that increases with its sentence pair."""
    if len(links) and max(links.source.max(), links.target.max()) >= 1 << (_BITS // 2):
        raise WeftError("a link refers to a word after the millionth of its sentence")
    source, target = links.source.astype(np.int64), links.target.astype(np.int64)
    keys: Counts = np.unique((links.sentence() << _BITS) | (source << (_BITS // 2)) | target)
    return keys


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
