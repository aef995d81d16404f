"""Sentence polarity scores: accuracy and F1 per polarity, overall and by document polarity; and curves.

    accuracy = correct sentences / sentences,   F1 of a polarity = 2 correct / (gold + predicted)

A precision-recall curve covers all thresholds on the probability of a polarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.errors import WeftError
from weft.evaluate.counts import Score
from weft.text.conventions.polarity import POLARITIES


@dataclass(frozen=True)
class PolarityReport:
    """Sentence scores for all documents and for documents of each polarity."""

    sentences: int
    accuracy: float
    scores: dict[str, Score]  # of each polarity of sentences
    by_document: dict[str, dict[str, Score]]  # the same, for documents of each polarity

    @property
    def macro_f1(self) -> float:
        return sum(score.f1 for score in self.scores.values()) / len(self.scores)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, in percent.

        >>> report = evaluate_polarities([["pos", "neg"]], [["pos", "pos"]], ["pos"])
        >>> report.as_dict()["accuracy"], report.as_dict()["pos f1"]
        (50.0, 66.67)
        """
        figures = {
            "sentences": self.sentences,
            "accuracy": _percent(self.accuracy),
            "macro f1": _percent(self.macro_f1),
        }
        figures.update({f"{name} f1": _percent(score.f1) for name, score in self.scores.items()})
        for document, scores in self.by_document.items():
            figures.update({f"{name} f1 in {document} documents": _percent(s.f1) for name, s in scores.items()})
        return figures


def evaluate_polarities(
    gold: Sequence[Sequence[str]], system: Sequence[Sequence[str]], documents: Sequence[str] = ()
) -> PolarityReport:
    """Score the polarities of sentences, document by document; sentences without a gold polarity are skipped.

    >>> report = evaluate_polarities([["pos", "neg"], ["neu"]], [["pos", "pos"], ["neu"]], ["pos", "neu"])
    >>> round(report.accuracy, 2), round(report.by_document["pos"]["pos"].f1, 2)
    (0.67, 0.67)
    """
    if [len(each) for each in gold] != [len(each) for each in system]:
        raise WeftError("gold and system must have the same sentences; segment both texts the same way")
    if documents and len(documents) != len(gold):
        raise WeftError(f"got {len(documents)} document polarities for {len(gold)} documents")
    pairs = [
        (g, s, documents[i] if documents else "")
        for i, (golds, systems) in enumerate(zip(gold, system, strict=True))
        for g, s in zip(golds, systems, strict=True)
        if g
    ]
    if not pairs:
        raise WeftError("there is nothing to score: no sentence has a gold polarity")
    by_document = {
        name: _scores([pair for pair in pairs if pair[2] == name])
        for name in POLARITIES
        if any(pair[2] == name for pair in pairs)
    }
    right = sum(g == s for g, s, _ in pairs)
    return PolarityReport(len(pairs), right / len(pairs), _scores(pairs), by_document)


def precision_recall(probability: ArrayLike, gold: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Recall and precision when the k most probable items are selected, k = 1, 2, ...

    Items of equal probability are selected together.

    >>> recall, precision = precision_recall([0.9, 0.8, 0.3, 0.3], [True, False, True, False])
    >>> recall.tolist(), precision.round(2).tolist()
    ([0.5, 0.5, 1.0], [1.0, 0.5, 0.5])
    """
    values, truth = np.asarray(probability, dtype=np.float64), np.asarray(gold, dtype=np.bool_)
    if values.shape != truth.shape or values.ndim != 1 or not truth.any():
        raise WeftError("a curve needs one probability per item and at least one gold item")
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(truth[order])
    last = np.append(values[order][1:] != values[order][:-1], True)
    taken = np.arange(1, len(values) + 1)
    return hits[last] / truth.sum(), hits[last] / taken[last]


def precision_at(recall: ArrayLike, precision: ArrayLike, levels: Sequence[float]) -> list[float]:
    """The best precision at each level of recall or above: the curve as usually drawn.

    >>> precision_at([0.5, 0.5, 1.0], [1.0, 0.5, 0.5], [0.2, 0.6, 1.0])
    [1.0, 0.5, 0.5]
    """
    reached, values = np.asarray(recall), np.asarray(precision)
    return [float(values[reached >= level - 1e-12].max(initial=0.0)) for level in levels]


def _scores(pairs: Sequence[tuple[str, str, str]]) -> dict[str, Score]:
    return {
        name: Score(
            gold=sum(g == name for g, _, _ in pairs),
            system=sum(s == name for _, s, _ in pairs),
            correct=sum(g == s == name for g, s, _ in pairs),
        )
        for name in POLARITIES
    }


def _percent(value: float) -> float:
    return round(100 * value, 2)
