"""Input of the relation labeller: word fields and individual morphological features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.features.morphology import Morphology, MorphologyReader
from weft.tasks.parsing.transitions.features import WordReader
from weft.text.doc import Doc

#: Affix fields, which parsers add to their own fields.
AFFIX_FIELDS = {"a": "form.prefix2", "b": "form.prefix3", "y": "form.suffix2", "z": "form.suffix3"}
#: All fields that the labeller reads if present.
RELATION_FIELDS = {"w": "form.lower", "m": "lemma", "t": "upos", "x": "xpos", **AFFIX_FIELDS}


class RelationReader:
    """Converts documents to the labeller's input: rows of values, morphological features, sentence offsets.

    >>> doc = Doc.from_words([["sie", "schläft"]], upos=[["PRON", "VERB"]], feats=[["Case=Nom", ""]])
    >>> words, feats, sentences = RelationReader().read([doc])
    >>> words.shape, feats.offsets.tolist(), sentences.tolist()
    ((3, 8), [0, 1, 1], [0, 2])
    """

    def __init__(self, fields: dict[str, str] | None = None, column: str = "feats") -> None:
        self.fields = dict(RELATION_FIELDS if fields is None else fields)
        self._words = WordReader(self.fields)
        self._feats = MorphologyReader(column)

    def read(self, docs: Sequence[Doc]) -> tuple[Keys, Morphology, NDArray[np.int64]]:
        words, sentences = self._words.read(docs)
        return words, self._feats.read(docs), sentences
