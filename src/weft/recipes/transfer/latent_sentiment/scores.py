"""Predictions of sentiment analysers for labelled reviews, with several seeds, and comparisons between systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.labels.sentiment import PolarityReport, evaluate_polarities
from weft.evaluate.runs import compare_over_runs, interval_over_runs
from weft.evaluate.significance import Comparison
from weft.tasks.sentiment.sentences import SentimentAnalyser
from weft.text.conventions.polarity import document_polarity, sentence_polarities
from weft.text.doc import Doc


@dataclass
class Found:
    """A system's predictions for the sentences of all test documents, in document order."""

    labels: dict[int, list[str]] = field(default_factory=dict)
    given: dict[int, list[str]] = field(default_factory=dict)
    documents: dict[int, str] = field(default_factory=dict)
    probabilities: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def add(self, analyser: SentimentAnalyser, docs: Sequence[Doc], numbers: Sequence[int]) -> None:
        """Record an analyser's predictions for the documents with these indices."""
        chosen = [docs[i] for i in numbers]
        labels, documents, posterior = analyser.predict(chosen)
        given = analyser.predict(chosen, given=True)[0]
        at = 0
        for k, i in enumerate(numbers):
            self.labels[i], self.given[i], self.documents[i] = labels[k], given[k], documents[k]
            self.probabilities[i] = posterior.sentence[at : at + docs[i].n_sentences]
            at += docs[i].n_sentences


#: The predictions of one system with every seed.
Runs = Sequence[Found]


class Scorer:
    """Gold labels of the test documents, and how systems compare with them, over all seeds."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self.gold = [sentence_polarities(doc) for doc in docs]
        self.documents = [document_polarity(doc) for doc in docs]
        self.group = np.repeat(np.arange(len(docs)), [doc.n_sentences for doc in docs])

    def right(self, runs: Runs, given: bool = False) -> NDArray[np.float64]:
        """Whether each sentence is correct, by seed."""
        gold = np.array([label for labels in self.gold for label in labels])
        return np.array([np.array(_flat(run, len(self.gold), given)) == gold for run in runs], dtype=np.float64)

    def report(self, runs: Runs) -> PolarityReport:
        """The report of the labels of all seeds together."""
        found = [run.labels[i] for run in runs for i in range(len(self.gold))]
        return evaluate_polarities(self.gold * len(runs), found, self.documents * len(runs))

    def accuracy(self, runs: Runs, given: bool = False) -> tuple[float, tuple[float, float]]:
        """Accuracy in percent with its interval: seeds, documents, and the sentences of documents are resampled."""
        interval = interval_over_runs(self.right(runs, given), [self.group])
        return 100 * interval.value, (100 * interval.low, 100 * interval.high)

    def spread(self, runs: Runs) -> float:
        """Standard deviation of the accuracy over seeds, in points."""
        return 100 * float(np.std(self.right(runs).mean(axis=1), ddof=1))

    def difference(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> Comparison:
        """Difference in accuracy, over the seeds both have."""
        both = min(len(a), len(b))
        return compare_over_runs(a[:both], b[:both], [self.group])


def _flat(run: Found, size: int, given: bool = False) -> list[str]:
    return [label for i in range(size) for label in (run.given if given else run.labels)[i]]
