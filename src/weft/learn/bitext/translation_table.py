"""A table of translation weights that can be kept: rows of given words, in each the words it explains, by number.

Pairs of words that were never seen together, or weighed next to nothing, have the weight `unseen` of their row. A given
word that is not known (-1) explains all words alike; a word that is not known is nobody's translation in particular, so
that two unknown words find each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Singles
from weft.declared import Array, Stored
from weft.kernel import kernel
from weft.learn.bitext.word_alignment import DirectedModel, Side
from weft.learn.generative.cooccurrence import Types
from weft.ragged import Indices

#: What a file holds of a table.
ARRAYS = (
    Array("offsets", "int64", ("given+1",), offsets_of="entries"),
    Array("word", "int32", ("entries",), below="words"),
    Array("weight", "float32", ("entries",), within=(0.0, 1e12)),
    Array("unseen", "float32", ("given",), within=(0.0, 1e12)),
    Array("null", "float32", ("words",), within=(0.0, 1e12)),
    Array("unseen_null", "float64", (1,), within=(0.0, 1e12)),
)
_LEAST = 1e-20  # of weights that are looked up: nothing is impossible, and 32 bits hold it


@dataclass(frozen=True, slots=True)
class TranslationTable:
    """Weights of one direction; row g is entries `offsets[g]:offsets[g + 1]`."""

    offsets: Indices
    word: Types
    weight: Singles
    unseen: Singles
    null: Singles
    unseen_null: float

    @classmethod
    def of(cls, side: Side, model: DirectedModel, prune: float = 1e-6) -> TranslationTable:
        """The table of a learned direction, without entries below `prune`."""
        explained = side.pairs.entry_source if side.turned else side.pairs.entry_target
        kept = np.flatnonzero(model.entry >= prune)
        kept = kept[np.lexsort((explained[kept], side.given[kept]))]
        sizes = np.bincount(side.given[kept], minlength=side.n_given)
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]),
            explained[kept],
            model.entry[kept].astype(np.float32),
            np.maximum(model.unseen, _LEAST).astype(np.float32),
            np.maximum(model.null, _LEAST).astype(np.float32),
            max(model.unseen_null, _LEAST),
        )

    def look_up(self, given: Types, given_offsets: Indices, words: Types, offsets: Indices) -> tuple[Floats, Floats]:
        """The weights of all cells of some sentence pairs, explained word by explained word, and of words from nowhere.

        >>> side = np.array
        >>> table = TranslationTable(side([0, 1, 2]), side([0, 1], np.int32), side([0.9, 0.8], np.float32),
        ...                          side([0.1, 0.1], np.float32), side([0.5, 0.5], np.float32), 0.01)
        >>> cells, null = table.look_up(side([0, 1, -1], np.int32), side([0, 3]), side([1, -1], np.int32), side([0, 2]))
        >>> cells.round(2).tolist(), null.round(2).tolist()
        ([0.1, 0.8, 0.5, 0.1, 0.1, 0.5], [0.5, 0.01])
        """
        cells = np.empty(int((np.diff(given_offsets) * np.diff(offsets)).sum()))
        _look_up(
            self.offsets, self.word, self.weight, self.unseen, 1 / max(len(self.null), 1),
            given, given_offsets, words, offsets, cells,
        )  # fmt: skip
        null = np.where(words >= 0, self.null[words] if len(self.null) else 0.0, self.unseen_null)
        return cells, null.astype(np.float64)

    def best(self, row: int, n: int = 10) -> list[tuple[int, float]]:
        """The words of a row with the highest weights."""
        entries = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        order = np.argsort(-self.weight[entries], kind="stable")[:n]
        return list(zip(self.word[entries][order].tolist(), self.weight[entries][order].tolist(), strict=True))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps."""
        names = ("offsets", "word", "weight", "unseen", "null")
        return {name: getattr(self, name) for name in names} | {"unseen_null": np.array([self.unseen_null])}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], given: int, words: int) -> TranslationTable:
        """The table that `arrays` described, for these numbers of given and of explained words."""
        arrays = Stored.of(arrays).take(*ARRAYS, given=given, words=words)
        # Kernels are compiled for writable arrays; those of model files are not.
        held = {name: np.require(array, None, ["C", "W"]) for name, array in arrays.items()}
        return cls(**{**held, "unseen_null": float(held["unseen_null"][0])})  # type: ignore[arg-type]


@kernel
def _look_up(
    table_offsets: Indices, table_word: Types, table_weight: Singles, unseen: Singles, unknown: float,
    given: Types, given_offsets: Indices, words: Types, offsets: Indices, cells: Floats,
) -> None:  # fmt: skip
    at = 0
    for s in range(len(offsets) - 1):
        for j in range(offsets[s], offsets[s + 1]):
            word = words[j]
            for i in range(given_offsets[s], given_offsets[s + 1]):
                row = given[i]
                if row < 0:
                    cells[at] = unknown
                else:
                    cells[at] = unseen[row]
                    low, high = table_offsets[row], table_offsets[row + 1]
                    while low < high:
                        middle = (low + high) // 2
                        if table_word[middle] < word:
                            low = middle + 1
                        else:
                            high = middle
                    if low < table_offsets[row + 1] and table_word[low] == word:
                        cells[at] = table_weight[low]
                at += 1
