"""A linear classifier over features given by name: one support vector machine per label against the rest.

    score(item, label) = bias[label] + sum over features f of the item of  weights[hash(f), label]

Features are hashed, so that a model holds no words of its training text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Halves, Ints, Singles
from weft.declared import Array, Stored
from weft.errors import ModelError
from weft.hashing import hash_strings
from weft.headers import Many, Record, Text
from weft.learn.linear.classifiers import linear_svm
from weft.storage import Arrays

_HEADER = Record(labels=Many(Text()))
_KEYS = Array("keys", "uint32", ("rows",), rising=True)
_WEIGHTS = Array("weights", "float32", ("rows", "labels"))
_BIAS = Array("bias", "float32", ("labels",))


@dataclass
class FeatureClassifier:
    """Labels, the hashes of known features in their order, and the weights of each.

    >>> rows = [["w=bled"], ["w=will", "w=go"], ["w=fell"], ["w=will", "w=come"]]
    >>> model = FeatureClassifier.fit(rows, ["BEFORE", "AFTER", "BEFORE", "AFTER"], c=1.0)
    >>> model.predict([["w=will", "w=leave"]])
    ['AFTER']
    """

    labels: tuple[str, ...]
    keys: Halves
    weights: Singles
    bias: Singles

    @classmethod
    def fit(cls, rows: Sequence[Sequence[str]], labels: Sequence[str], c: float, seed: int = 0) -> FeatureClassifier:
        """Learn from items; a single label is always chosen."""
        kinds = tuple(sorted(set(labels)))
        found, offsets = hashed(rows)
        keys, columns = np.unique(found, return_inverse=True)
        if len(kinds) < 2 or not len(keys):
            return cls(kinds, keys[:0], np.zeros((0, len(kinds)), np.float32), np.zeros(len(kinds), np.float32))
        machine = linear_svm(_matrix(columns.reshape(-1), offsets, len(keys)), np.asarray(labels), c=c, seed=seed)
        weights, bias = machine.weights.astype(np.float32), machine.bias.astype(np.float32)
        used = np.abs(weights).max(axis=1) > 1e-6
        return cls(kinds, keys[used], weights[used], bias)

    def scores(self, rows: Sequence[Sequence[str]]) -> Floats:
        """The score of every label for every item; unknown features count nothing."""
        keys, offsets = hashed(rows)
        found = np.tile(self.bias.astype(np.float64), (len(rows), 1))
        if not len(self.keys) or not len(keys):
            return found
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        values = np.where((self.keys[places] == keys)[:, None], self.weights[places], 0.0)
        filled = np.diff(offsets) > 0
        found[filled] += np.add.reduceat(values, offsets[:-1][filled], axis=0)
        return found

    def predict(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The best label of every item."""
        if not rows:
            return []
        return [self.labels[k] for k in self.scores(rows).argmax(axis=1).tolist()]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Labels, hashes and weights."""
        return {"labels": list(self.labels)}, {"keys": self.keys, "weights": self.weights, "bias": self.bias}

    @classmethod
    def from_state(cls, header: dict[str, Any], stored: Stored) -> FeatureClassifier:
        """Restore a model from its header and checked arrays."""
        _HEADER.check(header)
        labels = tuple(header["labels"])
        if not labels or len(set(labels)) != len(labels):
            raise ModelError("a classifier needs labels, all of them different: the model file is damaged")
        arrays = stored.take(_KEYS, _WEIGHTS, _BIAS, labels=len(labels))
        return cls(labels, arrays["keys"], arrays["weights"], arrays["bias"])


def hashed(rows: Sequence[Sequence[str]]) -> tuple[Halves, Ints]:
    """The hashes of all features, and where each item's begin."""
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    keys = hash_strings([name for row in rows for name in row])
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32), offsets


def _matrix(columns: Ints, offsets: Ints, width: int) -> Any:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(offsets) - 1, width))
    matrix.sum_duplicates()
    return matrix
