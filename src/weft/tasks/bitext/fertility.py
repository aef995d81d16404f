"""What an aligner keeps of a model with fertilities, one direction, and the word classes it is trained with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Singles
from weft.declared import PROBABILITIES, Array, Stored
from weft.errors import DataError, ModelError
from weft.infer.alignment.fertility import FertilityAlignments
from weft.infer.alignment.links import Alignments
from weft.infer.alignment.placement import IBM5, KINDS, ND3, Placing
from weft.learn.bitext.fertility import FertilityModel
from weft.learn.generative.cooccurrence import Types
from weft.lexical.clusters.exchange import predictive_clusters

#: What a file holds of a direction; words that are not known have the last row and the last class.
ARRAYS = (
    Array("fertility", "float32", ("given+1", "*"), within=PROBABILITIES),
    Array("placement", "float32", ("*", "*"), within=PROBABILITIES),
    Array("alpha", "int32", ("words",), below="alphas"),
    Array("beta", "int32", ("given",), below="betas"),
    Array("sizes", "int64", (2,), low=1),
    Array("p_null", "float64", (1,), within=(1e-12, 1 - 1e-12)),
)


@dataclass(frozen=True)
class FertilityTables:
    """One direction of a trained model: `kind` is one of `weft.infer.alignment.placement.KINDS`."""

    kind: str
    fertility: Singles
    placement: Singles
    alpha: Types
    beta: Types
    n_alpha: int
    n_beta: int
    p_null: float

    @classmethod
    def of(cls, model: FertilityModel, alpha: Types, beta: Types) -> FertilityTables:
        """The tables of a learned direction, with the classes of explained and given types."""
        placing = model.placing
        if placing.kind <= ND3:
            alpha = np.zeros_like(alpha)
        if placing.kind <= ND3 or placing.kind == IBM5:
            beta = np.zeros_like(beta)
        return cls(
            KINDS[placing.kind], model.fertility.astype(np.float32), placing.table.astype(np.float32),
            alpha, beta, placing.n_alpha, placing.n_beta, model.p_null,
        )  # fmt: skip

    def alignments(self, pairs: Alignments, given: Types, words: Types) -> FertilityAlignments:
        """Sentence pairs under this model; types that are not known are -1."""
        kind = KINDS.index(self.kind)
        reach = 0 if kind <= ND3 else self.placement.shape[1] // 2
        placing = Placing(kind, self.placement.astype(np.float64), reach, self.n_alpha, self.n_beta)
        return FertilityAlignments(
            pairs, placing, self.fertility.astype(np.float64), np.where(given < 0, len(self.fertility) - 1, given),
            _classes_of(words, self.alpha), _classes_of(given, self.beta), p_null=self.p_null,
        )  # fmt: skip

    def fertilities(self, row: int) -> list[float]:
        """The probabilities that a given type has 0, 1, 2, ... words."""
        return [float(p) for p in self.fertility[row]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps."""
        named = {name: getattr(self, name) for name in ("fertility", "placement", "alpha", "beta")}
        sizes = np.array([self.n_alpha, self.n_beta], np.int64)
        return named | {"sizes": sizes, "p_null": np.array([self.p_null])}

    @classmethod
    def from_arrays(cls, kind: str, arrays: Stored, given: int, words: int) -> FertilityTables:
        """The tables that `arrays` described."""
        sizes = np.asarray(arrays.get("sizes", np.ones(2, np.int64))).reshape(-1)
        alphas, betas = (max(int(n), 1) for n in (*sizes, 1, 1)[:2])
        held = arrays.take(*ARRAYS, given=given, words=words, alphas=alphas, betas=betas)
        number = KINDS.index(kind)
        rows, columns = held["placement"].shape
        wanted = rows if number <= ND3 else alphas * betas + alphas + 1
        if rows != wanted or rows < 1 or columns < 1 or (number > ND3 and columns % 2 == 0):
            raise ModelError("a table of placement does not fit its word classes: the file is damaged")
        if held["fertility"].shape[1] < 1 or not float(held["placement"].min()) > 0:
            raise ModelError("a table of fertilities or placement is empty: the file is damaged")
        return cls(
            kind, np.array(held["fertility"]), np.array(held["placement"]), np.array(held["alpha"]),
            np.array(held["beta"]), alphas, betas, float(held["p_null"][0]),
        )  # fmt: skip


def _classes_of(types: Types, classes: Types) -> Types:
    last = int(classes.max(initial=0))
    return np.where(types < 0, last, classes[types] if len(classes) else last).astype(np.int32)


def word_classes(sentences: Sequence[Sequence[str]], known: dict[str, int], n_classes: int) -> Types:
    """The class of every type by the exchange algorithm; words that occur once share one more class.

    >>> words = {"the": 0, "cat": 1, "dog": 2, "runs": 3}
    >>> text = [["the", "cat", "runs"], ["the", "dog", "runs"]] * 3
    >>> found = word_classes(text, words, 3).tolist()
    >>> found[1] == found[2], found[0] == found[1]
    (True, False)
    """
    found = np.zeros(len(known), np.int32)
    if n_classes == 1:
        return found
    try:
        clusters = predictive_clusters(sentences, n_classes, min_count=2)
    except DataError:  # no word occurs twice
        return found
    found[:] = len(clusters.path_of)
    for word, number in zip(clusters.words, clusters.classes.tolist(), strict=True):
        found[known[word]] = number
    return found
