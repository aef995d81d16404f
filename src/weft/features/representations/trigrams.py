"""Word trigrams as vectors of pointwise mutual information with their contexts.

The type of a word at place 3 of the window  x1 x2 x3 x4 x5  is the trigram  x2 x3 x4;  its features are

    x1 x2 x3 x4 x5   x2 x3 x4   x1 x2   x4 x5   x3   x2 x4   x2 x4 x5   x1 x2 x4   suffixes of x3 of 1 to 4 letters

with marks outside the sentence (Subramanya, Petrov and Pereira 2010). Over all text that was counted

    PMI(u, f) = log( c(u, f) N / (c(u) c(f)) ),     c(u) = sum_f c(u, f),  c(f) = sum_u c(u, f),  N = sum_u,f c(u, f)

Types are numbered by the text whose words are to become vertices; other text adds to the counts only, so that these may
come from far more text than a graph has vertices for. Labels are never read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import DataError
from weft.features.extract import Extractor
from weft.features.index import FeatureIndex
from weft.features.templates import Templates
from weft.text.doc import Doc

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TYPE = "w[-1]|w[0]|w[1]"
TEMPLATES = (
    f"{TYPE} w[-2]|w[-1]|w[0]|w[1]|w[2] w[-2]|w[-1] w[1]|w[2] w[0] w[-1]|w[1] w[-1]|w[1]|w[2] w[-2]|w[-1]|w[1] "
    "w[0].suffix1..4"
)
_DOCS = 64  # documents that are read at a time


class TrigramContexts:
    """Counts of trigram types with the features of their contexts, growing with every text.

    >>> contexts = TrigramContexts()
    >>> contexts.add([Doc.from_words([["to", "run", "a"], ["to", "run", "a"], ["you", "rent", "a"]])]).tolist()
    [0, 1, 2, 0, 1, 2, 3, 4, 5]
    >>> contexts.add([Doc.from_words([["to", "run", "home"]])], grow=False).tolist()
    [0, -1, -1]
    >>> contexts.pmi().shape[0]
    6
    """

    def __init__(self) -> None:
        self._extractor = Extractor(list(Templates(TEMPLATES)), {"w": "form"})
        self._types, self._features = FeatureIndex(), FeatureIndex()
        self._pairs: list[tuple[Ints, Ints]] = []  # type << 32 | feature, and how often
        self._outside = 0  # count mass of types that are no vertices

    def __len__(self) -> int:
        """The number of types."""
        return len(self._types)

    def add(self, docs: Iterable[Doc], grow: bool = True) -> Ids:
        """Count the words of documents; the type of each, -1 for a type that has no number.

        With `grow`, types that are met first get a number; without, they only add to the counts of features.
        """
        found = [np.zeros(0, dtype=np.int32)]
        rest = iter(docs)
        while batch := list(islice(rest, _DOCS)):
            found.append(self._add([doc for doc in batch if doc.n_words], grow))
        return np.concatenate(found)

    def _add(self, docs: Sequence[Doc], grow: bool) -> Ids:
        if not docs:
            return np.zeros(0, dtype=np.int32)
        features, _ = self._extractor.features(docs)
        keys = features.keys[features.template == 0]  # every word has one
        types = self._types.add(keys) if grow else self._types.rows(keys)
        rows = self._features.add(features.keys)
        of = np.repeat(types, np.diff(features.offsets)).astype(np.int64)
        known = of >= 0
        self._outside += int(len(of) - known.sum())
        self._pairs.append(np.unique(of[known] << 32 | rows[known], return_counts=True))
        return types

    def pmi(self) -> csr_matrix:
        """The matrix of mutual information `[type, feature]`; a pair that never occurred has none."""
        from scipy.sparse import coo_matrix

        if not len(self._types):
            raise DataError("there are no trigrams: no words were counted")
        codes, counts = (np.concatenate(parts) for parts in zip(*self._pairs, strict=True))
        shape = (len(self._types), len(self._features))
        matrix = coo_matrix((counts.astype(np.float64), (codes >> 32, codes & 0xFFFFFFFF)), shape=shape).tocsr()
        of_type = np.asarray(matrix.sum(axis=1)).ravel()
        of_feature = self._features.counts.astype(np.float64)
        total = of_type.sum() + self._outside
        own = np.repeat(of_type, np.diff(matrix.indptr))
        matrix.data = np.log(matrix.data * total / (own * of_feature[matrix.indices]))
        return matrix
