"""A linear classifier over features given by name: one support vector machine per label against the rest.

    score(item, label) = bias[label] + sum over features f of the item of  weights[hash(f), label]

Features are hashed, so that a model holds no words of its training text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints
from weft.declared import Array, Stored
from weft.hashing import hash_strings
from weft.headers import Many, Record, Text
from weft.learn.linear.classifiers import linear_svm
from weft.storage import Arrays

BITS = 18
_HEADER = Record(labels=Many(Text()))


@dataclass
class FeatureClassifier:
    """Labels, and the weights of hashed features: rows `at` of a table, the others are zero.

    >>> rows = [["w=bled"], ["w=will", "w=go"], ["w=fell"], ["w=will", "w=come"]]
    >>> model = FeatureClassifier.fit(rows, ["BEFORE", "AFTER", "BEFORE", "AFTER"], c=1.0)
    >>> model.predict([["w=will", "w=leave"]])
    ['AFTER']
    """

    labels: tuple[str, ...]
    table: Floats
    bias: Floats

    @classmethod
    def fit(cls, rows: Sequence[Sequence[str]], labels: Sequence[str], c: float, seed: int = 0) -> FeatureClassifier:
        """Learn from items; a single label is always chosen."""
        kinds = tuple(sorted(set(labels)))
        table, bias = np.zeros((1 << BITS, len(kinds))), np.zeros(len(kinds))
        if len(kinds) > 1:
            columns, offsets = hashed(rows)
            used, compact = np.unique(columns, return_inverse=True)
            machine = linear_svm(_matrix(compact.reshape(-1), offsets, len(used)), np.asarray(labels), c=c, seed=seed)
            table[used], bias = machine.weights, machine.bias
        return cls(kinds, table, bias)

    def scores(self, rows: Sequence[Sequence[str]]) -> Floats:
        """The score of every label for every item."""
        columns, offsets = hashed(rows)
        found = np.tile(self.bias, (len(rows), 1))
        lengths = np.diff(offsets)
        filled = lengths > 0
        if filled.any():
            found[filled] += np.add.reduceat(self.table[columns], offsets[:-1][filled], axis=0)
        return found

    def predict(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The best label of every item."""
        if not rows:
            return []
        return [self.labels[k] for k in self.scores(rows).argmax(axis=1).tolist()]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Labels, and the rows that are not zero."""
        at = np.flatnonzero(np.abs(self.table).max(axis=1, initial=0.0) > 1e-6)
        arrays: Arrays = {
            "at": at.astype(np.uint32),
            "weights": self.table[at].astype(np.float32),
            "bias": self.bias.astype(np.float32),
        }
        return {"labels": list(self.labels)}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], stored: Stored) -> FeatureClassifier:
        """Restore a model from its header and checked arrays."""
        _HEADER.check(header)
        labels = tuple(header["labels"])
        arrays = stored.take(
            Array("at", "uint32", ("rows",), below=1 << BITS),
            Array("weights", "float32", ("rows", len(labels))),
            Array("bias", "float32", (len(labels),)),
        )
        table = np.zeros((1 << BITS, len(labels)))
        table[arrays["at"]] = arrays["weights"]
        return cls(labels, table, arrays["bias"].astype(np.float64))


def hashed(rows: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """The columns of all features, and where each item's begin."""
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    keys = hash_strings([name for row in rows for name in row])
    return (keys & np.uint64((1 << BITS) - 1)).astype(np.int64), offsets


def _matrix(columns: Ints, offsets: Ints, width: int) -> Any:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(offsets) - 1, width))
    matrix.sum_duplicates()
    return matrix
