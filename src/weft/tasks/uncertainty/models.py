"""The two models of the hedge detector: one classifies sentences, one labels words.

Sentences: a linear support vector machine (liblinear) with an L1 or L2 penalty, or the max-margin sequence learner with
one position per sentence. Items are weighted by the inverse frequency of their class, which favours F1.
Words: labels B, I, O by max margin with beam search.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.features.templates import Templates
from weft.headers import Record, Text, Whole, check_same
from weft.learn.linear.classifiers import linear_svm
from weft.learn.online.history_margin import HistoryMargin
from weft.ragged import States
from weft.storage import Arrays
from weft.tasks.uncertainty.data import Observed, Space, class_weights, look, patterns_of
from weft.text.doc import Doc

#: O comes first: the first label wins ties, for example at unseen words.
LABELS = ("O", "B", "I")
#: Sentence classifiers: l1 and l2 are support vector machines with that penalty.
SENTENCE_LEARNERS = ("l1", "l2", "margin")


@dataclass(frozen=True)
class Margin:
    """Options of the max-margin learner."""

    l2: float = 1.0
    rate: float = 0.1
    epochs: int = 10
    width: int = 8
    seed: int = 0


@dataclass
class SentenceModel:
    """Classifies sentences: those that score above 0 are uncertain."""

    templates: Templates
    space: Space
    weights: Floats
    learner: str = "l1"

    @classmethod
    def fit(
        cls,
        templates: Templates,
        observed: Observed,
        uncertain: NDArray[Any],
        learner: str = "l1",
        c: float = 1.0,
        balanced: bool = True,
        margin: Margin | None = None,
        bits: int = 18,
    ) -> SentenceModel:
        """Train on the features of sentences."""
        if learner not in SENTENCE_LEARNERS:
            raise ConfigError(f"the sentence learner must be one of {', '.join(SENTENCE_LEARNERS)}, got {learner!r}")
        gold = np.asarray(uncertain, dtype=np.int32)
        if len(np.unique(gold)) < 2:
            raise DataError(
                "the training data needs both sentences with cues and sentences without, but has only one kind"
            )
        weight = class_weights(gold) if balanced else np.ones(len(gold))
        space = Space.of(observed, 2, bits)
        if learner == "margin":
            weights = fit_margin(space.sentences(observed, gold, weight), margin or Margin())
        else:
            # The biases are features (SENLEN), so an intercept would be redundant.
            machine = linear_svm(space.rows(observed), gold, weight, penalty=learner, c=c, intercept=False)
            weights = machine.weights[:, 1] - machine.weights[:, 0]
        return cls(templates, space, weights, learner)

    def scores(self, observed: Observed) -> Floats:
        """The score of each sentence, positive if it is uncertain."""
        if self.learner == "margin":
            node = self.space.sentences(observed).chain(self.weights).node
            return np.asarray(node[:, 1] - node[:, 0])
        return np.asarray(self.space.rows(observed) @ self.weights)

    def judge(self, seen: Doc) -> list[bool]:
        """Whether each sentence of an observed document is uncertain."""
        return [bool(score > 0) for score in self.scores(look(seen, self.templates))]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        header, arrays = self.space.state()
        return {**header, "learner": self.learner}, {**arrays, **_packed(self.weights)}

    @classmethod
    def from_state(cls, templates: Templates, header: dict[str, Any], arrays: Arrays) -> SentenceModel:
        Record(learner=Text(SENTENCE_LEARNERS)).check(header)
        space = Space.from_state(header, arrays)
        check_same("labels", space.n_labels, 2)
        width = (1 << space.bits) if space.bits else max(len(space.keys), 1)
        size = space.size if header["learner"] == "margin" else width
        return cls(templates, space, _unpacked(arrays, size), header["learner"])


@dataclass
class LabelModel:
    """Labels words B, I, O."""

    templates: Templates
    space: Space
    weights: Floats
    width: int = 8

    @classmethod
    def fit(
        cls, templates: Templates, observed: Observed, labels: States, margin: Margin | None = None, bits: int = 18
    ) -> LabelModel:
        """Train on the features and labels of words."""
        options = margin or Margin()
        space = Space.of(observed, len(LABELS), bits)
        weights = fit_margin(space.sequences(observed, labels), options)
        return cls(templates, space, weights, options.width)

    def best(self, observed: Observed) -> States:
        """The best labels of all words, as numbers."""
        return self.space.sequences(observed).chain(self.weights, self.width).best()

    def label(self, seen: Doc) -> list[list[str]]:
        """The predicted labels of an observed document, per sentence."""
        observed = look(seen, self.templates)
        labels = [LABELS[number] for number in self.best(observed)]
        bounds = observed.sentences.tolist()
        return [labels[first:end] for first, end in pairwise(bounds)]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        header, arrays = self.space.state()
        return {**header, "width": self.width}, {**arrays, **_packed(self.weights)}

    @classmethod
    def from_state(cls, templates: Templates, header: dict[str, Any], arrays: Arrays) -> LabelModel:
        Record(width=Whole(1, 1000)).check(header)
        space = Space.from_state(header, arrays)
        check_same("labels", space.n_labels, len(LABELS))
        if space.patterns != patterns_of(templates):
            raise ModelError("the patterns of labels are not those of the templates: the model file is damaged")
        return cls(templates, space, _unpacked(arrays, space.size), header["width"])


def fit_margin(data: Any, options: Margin) -> Floats:
    """Train with the sub-gradient learner; return the averaged weights."""
    learner = HistoryMargin(
        epochs=options.epochs, l2=options.l2, rate=options.rate, width=options.width, seed=options.seed
    )
    weights: Floats = learner.train(data).weights
    return weights


def label_numbers(labels: list[str]) -> States:
    """Convert labels O, B, I to numbers.

    >>> label_numbers(["O", "B", "I"]).tolist()
    [0, 1, 2]
    """
    return np.array([LABELS.index(label) for label in labels], dtype=np.int32)


def _packed(weights: Floats) -> Arrays:
    """The nonzero weights."""
    used = np.flatnonzero(np.abs(weights) > 1e-9)
    return {"at": used.astype(np.uint32), "weights": weights[used].astype(np.float32),
            "size": np.array([len(weights)], dtype=np.int64)}  # fmt: skip


def _unpacked(arrays: Arrays, size: int) -> Floats:
    at, values, _ = (
        Stored.of(arrays)
        .take(
            Array("at", "uint32", ("weights",), below=size),
            Array("weights", "float32", ("weights",)),
            Array("size", "int64", (1,), low=size, below=size + 1),
        )
        .values()
    )
    weights = np.zeros(size)
    weights[at] = values
    return weights
