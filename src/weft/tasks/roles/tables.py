"""Linear models over hashed features: training data that grows batch by batch, and the table that a model keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys
from weft.features.index import FeatureIndex
from weft.features.weights import FrozenTable, Layout
from weft.learn.linear.dual import BinaryRows, Singles

_NO_VALUES: Floats = np.zeros(0)
#: The values of C that a search tries: powers of 2.
GRID = tuple(2.0**power for power in range(-9, 2, 2))


class Instances:
    """Rows of features, numbered as they appear, with a gold number each and the fold they belong to."""

    def __init__(self) -> None:
        self.index = FeatureIndex()
        self._columns: list[NDArray[np.int32]] = []
        self._sizes: list[Ints] = []
        self._gold: list[Ints] = []
        self._groups: list[Ints] = []
        self._folds: list[Ints] = []

    def add(self, offsets: Ints, keys: Keys, gold: Ints, groups: Ints, folds: Ints) -> None:
        self._columns.append(self.index.add(keys))
        self._sizes.append(np.diff(offsets))
        self._gold.append(gold)
        self._groups.append(groups)
        self._folds.append(folds)

    @property
    def gold(self) -> Ints:
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._gold])

    @property
    def groups(self) -> Ints:
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._groups])

    @property
    def folds(self) -> Ints:
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._folds])

    def rows(self, min_count: int) -> BinaryRows:
        """All rows, without features that occur less often; the index keeps the others only."""
        kept = self.index.counts >= min_count
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        columns = number[np.concatenate([np.zeros(0, dtype=np.int32), *self._columns])]
        sizes = np.concatenate([np.zeros(0, dtype=np.int64), *self._sizes])
        stays = columns >= 0
        before = np.concatenate([[0], np.cumsum(stays)])
        offsets = before[np.concatenate([[0], np.cumsum(sizes)])].astype(np.int64)
        self._columns = []
        self.index = self.index.select(kept)
        return BinaryRows(offsets, columns[stays], len(self.index))


def frozen(index: FeatureIndex, weights: Singles, precision: str, prune: float) -> FrozenTable:
    """Weights `[feature, label]` as a compact table.

    >>> index = FeatureIndex()
    >>> _ = index.add(np.array([1 << 62, 3 << 62], dtype=np.uint64))
    >>> table = frozen(index, np.array([[0.5, 0.0], [0.0, 0.0]], np.float32), "float32", 0.0)
    >>> len(table), table.n_weights
    (1, 1)
    """
    flat = weights.ravel()
    kept = np.flatnonzero(np.abs(flat) > prune)
    rows = kept // weights.shape[1]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(weights)))]).astype(np.int64)
    layout = Layout(starts, (kept % weights.shape[1]).astype(np.int32), weights.shape[1])
    return FrozenTable.freeze(index, layout, flat[kept].astype(np.float64), precision, prune)


def scored(table: FrozenTable, offsets: Ints, keys: Keys) -> Floats:
    """Scores `[row, label]` of rows of keys."""
    return table.score(keys, offsets, _NO_VALUES)


def best_c(
    evaluate: Callable[[NDArray[np.bool_], float], float], folds: Ints, grid: Sequence[float] = GRID
) -> tuple[float, dict[float, float]]:
    """The C with the best mean over folds of `evaluate(test rows, C)`, the smaller one of equals; and all means.

    >>> best_c(lambda test, c: -abs(c - 2.0), np.array([0, 1, 2]), (1.0, 2.0, 4.0))[0]
    2.0
    """
    means: dict[float, float] = {}
    numbers = [number for number in np.unique(folds) if 0 < int((folds == number).sum()) < len(folds)]
    for c in grid:
        means[c] = float(np.mean([evaluate(folds == number, c) for number in numbers])) if numbers else 0.0
    return max(grid, key=lambda c: (round(means[c], 6), -c)), means
