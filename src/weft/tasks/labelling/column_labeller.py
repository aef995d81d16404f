"""Labellers of a single column: the shared base of taggers with special training methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.pipeline.settings import option
from weft.tasks.labelling.labeller import LabellerSettings, SequenceLabeller
from weft.text.doc import Doc


@dataclass
class ColumnSettings(LabellerSettings):
    """Options of a labeller of one column."""

    column: str = option("upos", "Column to learn and to write.")


class ColumnLabeller(SequenceLabeller):
    """Writes labels into a column; its score is accuracy."""

    settings: ColumnSettings

    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        doc.set_column(self.settings.column, labels)
        if confidence is not None:
            doc.confidence[self.settings.column] = confidence

    def score(self, gold: list[list[str]], system: list[list[str]]) -> dict[str, float]:
        pairs = [(a, b) for one, other in zip(gold, system, strict=True) for a, b in zip(one, other, strict=True)]
        return {"accuracy": sum(a == b for a, b in pairs) / max(1, len(pairs))}
