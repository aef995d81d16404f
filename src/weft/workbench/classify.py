"""A classifier of whole texts, for labels of texts and for yes or no: logistic regression over words and word pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weft import storage
from weft.errors import DataError, ModelError
from weft.features.document_terms import Terms
from weft.learn.linear.classifiers import LinearClassifier, logistic_regression
from weft.workbench.answers import Schema, Value

_TASK = "text-labels"


class TextClassifier:
    """Predicts one label per text, or with `several` each label by itself.

    >>> texts = ["a superb film", "a dull film", "superb acting", "dull acting"]
    >>> model = TextClassifier.train(texts, [["good"], ["bad"], ["good"], ["bad"]])
    >>> [label for label, _ in model.predict(["superb plot", "dull plot"])[0]]
    ['good']
    """

    def __init__(self, terms: Terms, labels: Sequence[str], models: Sequence[LinearClassifier], several: bool) -> None:
        self.terms, self.labels, self.models, self.several = terms, tuple(labels), tuple(models), several

    @classmethod
    def train(cls, texts: Sequence[str], labels: Sequence[Sequence[str]], several: bool = False) -> TextClassifier:
        """Learn from texts and their labels."""
        terms = Terms.of(texts, least=1 if len(texts) < 200 else 2)
        rows = terms.rows(texts)
        known = sorted({label for each in labels for label in each})
        if several:
            targets = [np.array([label in each for each in labels], dtype=np.int64) for label in known]
            learned = [(label, y) for label, y in zip(known, targets, strict=True) if 0 < y.sum() < len(y)]
            if not learned:
                raise DataError("there is nothing to learn yet: every text has the same labels")
            models = [logistic_regression(rows, y, c=10.0) for _, y in learned]
            return cls(terms, [label for label, _ in learned], models, True)
        if len(known) < 2:
            raise DataError("there is nothing to learn yet: every text has the same label")
        places = {label: place for place, label in enumerate(known)}
        return cls(terms, known, [logistic_regression(rows, [places[each[0]] for each in labels], c=10.0)], False)

    def predict(self, texts: Sequence[str]) -> list[list[tuple[str, float]]]:
        """The labels of texts, with their probabilities."""
        rows = self.terms.rows(texts)
        if self.several:
            yes = np.stack([model.probabilities(rows)[:, 1] for model in self.models], axis=1)
            return [[(self.labels[i], float(each[i])) for i in np.flatnonzero(each > 0.5)] for each in yes]
        best = self.models[0].probabilities(rows)
        return [[(self.labels[int(each.argmax())], float(each.max()))] for each in best]

    def save(self, path: Path) -> None:
        header = {"task": _TASK, "labels": list(self.labels), "terms": list(self.terms.names), "several": self.several}
        arrays: dict[str, Any] = {}
        for number, model in enumerate(self.models):
            arrays |= {f"weights{number}": np.asarray(model.weights), f"bias{number}": np.asarray(model.bias)}
        storage.save(path, header, arrays)

    @classmethod
    def load(cls, path: Path) -> TextClassifier:
        header, arrays = storage.load(path)
        if header.get("task") != _TASK:
            raise ModelError(f"{path} does not classify texts")
        models = [
            LinearClassifier(arrays[f"weights{n}"], arrays[f"bias{n}"], np.arange(arrays[f"bias{n}"].size))
            for n in range(len(arrays) // 2)
        ]
        return cls(Terms(header["terms"]), header["labels"], models, bool(header["several"]))


def text_of(schema: Schema, shown: dict[str, Any]) -> str:
    """What the classifier sees of an item: the text, or the suggested span between its neighbours."""
    words = [form for form, _ in shown["words"]]
    if schema.kind != "questions":
        return " ".join(words)
    span = shown["question"]
    ((start, end),) = span["pieces"]
    before, behind = words[max(0, start - 3) : start], words[end : end + 3]
    marked = [f"in{word}" for word in words[start:end]]
    return " ".join([f"is{span['label']}", *marked, *(f"before{w}" for w in before), *(f"after{w}" for w in behind)])


def labels_of(schema: Schema, value: Value) -> list[str]:
    """The labels that a value stands for."""
    return [str(value["accept"])] if schema.kind == "questions" else list(value["labels"])


def value_of(schema: Schema, labels: Sequence[tuple[str, float]]) -> tuple[Value, list[float | None]]:
    """The value that labels stand for, and the probabilities of its parts."""
    sure: list[float | None] = [round(probability, 3) for _, probability in labels]
    if schema.kind == "questions":
        return {"accept": labels[0][0] == "True"}, sure
    return {"labels": [label for label, _ in labels]}, sure
