"""Tags of words: parts of speech, or any other column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.errors import DataError
from weft.tasks.labelling import LabellerSettings, SequenceLabeller
from weft.text.doc import Doc

TEMPLATES = (
    "true y[-1] w[-2..2] w[-1]|w[0] w[0]|w[1] w[-1..1].lower w[-1..1].shape w[0].brief w[0].kind "
    "w[0].prefix1..4 w[0].suffix1..5 w[-1].suffix2..3 w[1].suffix2..3"
)


@dataclass
class TaggerSettings(LabellerSettings):
    """Options of a tagger."""

    column: str = "upos"  # the column to learn and to write
    learner: str = "perceptron"


class Tagger(SequenceLabeller):
    """Tags words.

    >>> doc = Doc.of_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]])
    >>> tagger = Tagger()
    >>> report = tagger.fit([doc])
    >>> new = Doc.of_words([["cats", "bark"]])
    >>> tagger([new])
    >>> new.column("upos")
    ['NOUN', 'VERB']
    """

    task = "tagger"
    settings_class = TaggerSettings
    settings: TaggerSettings

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (self.settings.column,)

    def gold(self, doc: Doc) -> list[str]:
        tags = doc.column(self.settings.column)
        if not any(tags):
            known = ", ".join(column for column in doc.columns if doc.has(column))
            raise DataError(f"the training data has no {self.settings.column} (it has: {known}); set column=NAME")
        return [tag or "_" for tag in tags]

    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        doc.set_column(self.settings.column, ["" if label == "_" else label for label in labels])
        if confidence is not None:
            doc.confidence[self.settings.column] = confidence

    def score(self, gold: list[list[str]], system: list[list[str]]) -> dict[str, float]:
        pairs = [(a, b) for one, other in zip(gold, system, strict=True) for a, b in zip(one, other, strict=True)]
        return {"accuracy": sum(a == b for a, b in pairs) / max(1, len(pairs))}

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        return TEMPLATES, {"w": "form"}
