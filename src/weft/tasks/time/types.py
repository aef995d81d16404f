"""The TIMEX3 type of a value: what the training data calls values of this shape, with these words.

    type = argmax_t  log p(t | shape) + sum over words w of  log p(w | t) / p(w)

A shape is a value without its numbers: 9999-99-99, P9M. Corpora differ in what they call a quarter or a daily rate, so
nothing but the shape's name is built in: a shape that was never seen has the type that TIMEX3 gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from weft.arrays import Ints
from weft.tasks.time.timex import TYPES, type_of

_DIGITS = re.compile(r"\d+")


def shape_of(value: str) -> str:
    """A value without its numbers.

    >>> shape_of("1998-03-01"), shape_of("P12M"), shape_of("198")
    ('9999-99-99', 'P9M', '999')
    """
    if value.startswith("P"):
        return _DIGITS.sub("9", value)
    return re.sub(r"\d", "9", value)


class TypeModel:
    """Counts of types per shape and per word.

    >>> model = TypeModel.fit([("SET", "P1Y", [1]), ("DURATION", "P2Y", [2]), ("DURATION", "P3Y", [2])], 3)
    >>> model.type("P1Y", [1]), model.type("P9Y", [2]), model.type("1998-05", [2])
    ('SET', 'DURATION', 'DATE')
    """

    def __init__(self, shapes: Sequence[str], by_shape: Ints, by_word: Ints) -> None:
        self.shapes = {shape: place for place, shape in enumerate(shapes)}
        self.by_shape, self.by_word = by_shape, by_word
        totals = by_word.sum(axis=0) + 1.0
        share = (by_word.sum(axis=1, keepdims=True) + 1.0) / (totals.sum() + 1.0)
        self._lift = np.log((by_word + 2.0 * share) / ((totals + 2.0) * share))

    @classmethod
    def fit(cls, rows: Iterable[tuple[str, str, Sequence[int]]], grams: int) -> TypeModel:
        """Count types, values and the numbers of words of phrases."""
        shapes: dict[str, int] = {}
        table: list[list[int]] = []
        by_word = np.zeros((grams, len(TYPES)), dtype=np.int64)
        for kind, value, words in rows:
            place = TYPES.index(kind)
            row = shapes.setdefault(shape_of(value), len(shapes))
            if row == len(table):
                table.append([0] * len(TYPES))
            table[row][place] += 1
            for word in set(words):
                by_word[word, place] += 1
        return cls(list(shapes), np.array(table, dtype=np.int64).reshape(-1, len(TYPES)), by_word)

    def type(self, value: str, words: Sequence[int]) -> str:
        """The most probable type of a value."""
        row = self.shapes.get(shape_of(value))
        if row is None:
            return type_of(value)
        counts = self.by_shape[row]
        if np.count_nonzero(counts) == 1:
            return TYPES[int(np.argmax(counts))]
        scores = np.where(counts > 0, np.log(np.maximum(counts, 1) / counts.sum()), -np.inf)
        for word in set(words):
            scores = scores + self._lift[word]
        return TYPES[int(np.argmax(scores))]
