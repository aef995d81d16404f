"""What the labeller of relations looks at: fields of words, and their morphological features one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.features.morphology import Morphology, MorphologyReader
from weft.tasks.parsing.transitions.features import WordReader
from weft.text.doc import Doc

#: Fields of affixes, for parsers to add to their own.
AFFIX_FIELDS = {"a": "form.prefix2", "b": "form.prefix3", "y": "form.suffix2", "z": "form.suffix3"}
#: All fields that the labeller reads where they are there.
RELATION_FIELDS = {"w": "form.lower", "m": "lemma", "t": "upos", "x": "xpos", **AFFIX_FIELDS}


class RelationReader:
    """Turns documents into what the labeller reads: rows of values, morphological features, offsets of sentences.

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
