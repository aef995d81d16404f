"""The worth of a recognizer trained with little or no labelled data, in labelled sentences of plain training.

F(n) = score of a recognizer trained on n labelled sentences, with the settings of the model compared
worth = the n at which F(n) reaches the score of the model           (`weft.evaluate.size_to_reach`)
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.errors import ConfigError, DataError
from weft.evaluate.curves import CurveRow, draw_curve, learning_curve, size_to_reach
from weft.evaluate.labels.spans import evaluate_spans
from weft.pipeline.pipeline import Pipeline
from weft.tasks.entities.recognizer import EntityRecognizer
from weft.text.doc import Doc


@dataclass(frozen=True)
class ModelWorth:
    """The score of a model, the learning curve of plain training, and the size at which the curve reaches it (or
    None)."""

    score: float
    rows: list[CurveRow]
    sentences: float | None

    def as_dict(self) -> dict[str, object]:
        """The results as plain values, for JSON."""
        return {"score": self.score, "sentences": self.sentences, "curve": [vars(row) for row in self.rows]}

    def __str__(self) -> str:
        largest = max(row.size for row in self.rows)
        worth = f"more than {largest:,}" if self.sentences is None else f"{self.sentences:,.0f}"
        return f"{draw_curve(self.rows)}\nThe model has {100 * self.score:.2f}: worth {worth} labelled sentences."


def model_worth(
    model: Pipeline, labelled: Sequence[Doc], test: Sequence[Doc], sizes: Sequence[int], seeds: Sequence[int] = (0,)
) -> ModelWorth:
    """Train plain recognizers on growing samples of labelled sentences and measure when they reach a model's score.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "left", "Rome"], ["Rome", "fell"], ["Ada", "saw", "Rome"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 3, "LOC"), (3, 4, "LOC"), (5, 6, "PER"),
    ...                                                    (7, 8, "LOC")])
    >>> recognizer = EntityRecognizer()
    >>> report = recognizer.fit([doc])
    >>> model_worth(Pipeline([recognizer]), [doc], [doc], [1, 3]).score
    1.0
    """
    entity_recognizer = next((each for each in model.components if isinstance(each, EntityRecognizer)), None)
    if entity_recognizer is None:
        raise ConfigError("the model does not recognize entities; expected one trained with `weft train ner`")
    sentences = [doc.subset([i]) for doc in labelled for i in range(doc.n_sentences)]
    usable = [size for size in sizes if 0 < size <= len(sentences)]
    if not usable:
        raise DataError(f"there are only {len(sentences)} labelled sentences; all sizes asked for are larger")
    layer = entity_recognizer.settings.layer

    def score(pipeline: Pipeline) -> float:
        answers = [_bare(doc, layer) for doc in test]
        pipeline.annotate(answers)
        return evaluate_spans(list(test), answers, layer).score.f1

    def train(part: list[Doc], seed: int) -> Pipeline:
        settings = replace(
            entity_recognizer.settings, seed=seed, templates="", fields={}, gazetteers={}, clusters="", checkpoint=""
        )
        recognizer = EntityRecognizer(settings)
        recognizer.fit(part)
        return Pipeline([recognizer])

    rows = learning_curve(train, score, sentences, usable, seeds)
    score_of_model = score(model)
    return ModelWorth(score_of_model, rows, size_to_reach(rows, score_of_model))


def _bare(doc: Doc, layer: str) -> Doc:
    """A copy of the document without the layer."""
    bare = copy.copy(doc)
    bare.columns = dict(doc.columns)
    bare.spans = {name: spans for name, spans in doc.spans.items() if name != layer}
    return bare
