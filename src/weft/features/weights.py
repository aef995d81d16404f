"""Weight tables: one sparse row of label columns per feature.

    score[i, c] = sum over features f of position i of  value(f) * W[row(f), c]

While training, a `Layout` says which columns each row has (all, or those seen with the feature) and the weights are one
flat array in the layout's order. After training, a `FrozenTable` keeps the weights that matter, quantized, behind a
compact read-only index: buckets by the top bits of the key, the bits below them as a fingerprint.

Most features are rare and have few columns; most of the work is done by frequent features that have many. Those rows
are unfolded into whole rows of all columns before a large batch is scored, so that adding them up runs on vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints, Keys, Rows
from weft.declared import ANY, Array, Stored
from weft.errors import ConfigError, ModelError
from weft.features.index import Index
from weft.kernel import kernel

#: Types of frozen weights; integers are multiples of one scale.
PRECISIONS: dict[str, Any] = {"float32": np.float32, "int16": np.int16, "int8": np.int8}
#: What a frozen table consists of; `labels` is the number of its columns.
TABLE = (
    Array("buckets", "uint32", ("buckets+1",), offsets_of="rows"),
    Array("fingerprints", "uint32", ("rows",)),
    Array("starts", "uint32", ("rows+1",), offsets_of="weights"),
    Array("columns", "uint8 uint16 uint32", ("weights",), below="labels"),
    Array("weights", " ".join(PRECISIONS), ("weights",), low=ANY),
    Array("scale", "float64", (1,)),
)
_NONE: Rows = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Layout:
    """Which columns every row has: row `r` owns weights `starts[r]:starts[r + 1]`, of columns `columns[...]`."""

    starts: Ints
    columns: NDArray[np.int32]
    n_columns: int

    @cached_property
    def _whole(self) -> tuple[Rows, NDArray[np.int32]]:
        """The rows worth unfolding, and for every row its number among them or -1."""
        return _whole_rows(self.starts, self.n_columns)

    @classmethod
    def from_mask(cls, present: Bools) -> Layout:
        """The layout of a boolean table `[row, column]`.

        >>> layout = Layout.from_mask(np.array([[True, False], [True, True]]))
        >>> layout.starts.tolist(), layout.columns.tolist()
        ([0, 1, 3], [0, 0, 1])
        """
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
        columns = (np.flatnonzero(present) % present.shape[1]).astype(np.int32)
        return cls(starts, columns, present.shape[1])

    @property
    def size(self) -> int:
        return len(self.columns)

    def score(self, rows: Rows, offsets: Ints, values: Floats, weights: Floats) -> Floats:
        """Scores `[position, column]` of features given as rows (-1: unknown, scores nothing)."""
        out = np.zeros((len(offsets) - 1, self.n_columns))
        whole, number = self._unfold_for(rows)
        unfolded = np.zeros((len(whole), self.n_columns))
        _unfold_rows(whole, self.starts, self.columns, weights, unfolded)
        _score(rows, offsets, values, self.starts, self.columns, weights, 1.0, number, unfolded, out)
        return out

    def _unfold_for(self, rows: Rows) -> tuple[Rows, Rows]:
        """Whole rows for a batch that is large enough to repay unfolding them; none for a smaller one."""
        whole, number = self._whole
        return (whole, number) if len(rows) > 4 * len(whole) else (_NONE, _NONE)

    def scatter(self, rows: Rows, offsets: Ints, values: Floats, coefficients: Floats, into: Floats) -> None:
        """Add coefficient `[position, column]` times features to a flat array of weights."""
        whole, number = self._unfold_for(rows)
        unfolded = np.zeros((len(whole), self.n_columns))
        _scatter(rows, offsets, values, self.starts, self.columns, coefficients, number, unfolded, into)
        _fold_rows(whole, self.starts, self.columns, unfolded, into)

    def sparse(self, rows: Rows, offsets: Ints, values: Floats, coefficients: Floats) -> tuple[Ints, Floats]:
        """The same sum as indices (with repetitions, in order of appearance) and values, zeros left out."""
        size = _count_sparse(rows, offsets, self.starts, coefficients)
        indices, numbers = np.empty(size, dtype=np.int64), np.empty(size)
        total = _sparse(rows, offsets, values, self.starts, self.columns, coefficients, indices, numbers)
        return indices[:total], numbers[:total]


class FrozenTable:
    """Weights for use: pruned, quantized, compact.

    >>> from weft.features.index import FeatureIndex
    >>> index = FeatureIndex()
    >>> rows = index.add(np.array([1 << 62, 3 << 62], dtype=np.uint64))
    >>> layout = Layout.from_mask(np.ones((2, 2), dtype=bool))
    >>> table = FrozenTable.freeze(index, layout, np.array([0.5, 0.0, -1.0, 2.0]))
    >>> len(table), table.n_weights
    (2, 3)
    >>> table.score(np.array([3 << 62], dtype=np.uint64), np.array([0, 1]), np.zeros(0)).tolist()
    [[-1.0, 2.0]]
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, bits: int = 64) -> None:
        self.arrays = arrays = Stored.of(arrays).take(*TABLE, labels=n_columns)
        self.n_columns = n_columns
        self.bits = bits
        buckets, weights = arrays["buckets"], arrays["weights"]
        if len(buckets) < 3 or (len(buckets) - 1).bit_count() != 1 or not 1 <= bits <= 64:
            raise ModelError("the index of the weight table does not fit together: the model file is damaged")
        self._shift = np.uint64(64 - ((len(buckets) - 1).bit_length() - 1))
        self._mask = np.uint64(((1 << bits) - 1) << (64 - bits))
        self._scale = float(arrays["scale"][0])
        # Kernels are compiled for every type of weights, and small tables are the ones with weights of 8 bits. An array
        # that cannot be written to has a type of its own.
        self._weights = weights.astype(np.int16) if weights.dtype == np.int8 else weights
        self._weights.flags.writeable = weights.flags.writeable

    @cached_property
    def _whole(self) -> tuple[Rows, Floats]:
        """For every row its number among the whole ones, or -1, and the whole rows."""
        starts, columns = self.arrays["starts"], self.arrays["columns"]
        whole, number = _whole_rows(starts, self.n_columns)
        unfolded = np.zeros((len(whole), self.n_columns))
        _unfold_rows(whole, starts, columns, self._weights, unfolded)
        unfolded *= self._scale
        return number, unfolded

    @classmethod
    def freeze(
        cls, index: Index, layout: Layout, weights: Floats, precision: str = "float32", prune: float = 0.0
    ) -> FrozenTable:
        """Keep the weights with absolute value above `prune` and the rows that still have some."""
        if precision not in PRECISIONS:
            raise ConfigError(f"unknown precision {precision!r}; choose one of {', '.join(PRECISIONS)}")
        scale = 1.0
        kept = np.abs(weights) > prune
        if precision != "float32":
            largest = float(np.abs(weights[kept]).max(initial=0.0)) or 1.0
            scale = largest / np.iinfo(PRECISIONS[precision]).max
            kept &= np.abs(weights) >= scale / 2
        row_of = np.repeat(np.arange(len(layout.starts) - 1), np.diff(layout.starts))[kept]
        sizes = np.bincount(row_of, minlength=len(layout.starts) - 1)
        used = np.flatnonzero(sizes)
        keys = index.keys()[used]
        order = np.argsort(keys, kind="stable")
        keys, sizes = keys[order], sizes[used][order]
        width = max(1, int(len(keys) - 1).bit_length())
        buckets = np.zeros((1 << width) + 1, dtype=np.uint32)
        which = (keys >> np.uint64(64 - width)).astype(np.int64)
        buckets[1:] = np.cumsum(np.bincount(which, minlength=1 << width))
        fingerprints = ((keys << np.uint64(width)) >> np.uint64(32)).astype(np.uint32)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        # Where each kept weight goes: rows in the order of their keys, columns in order inside a row.
        place = np.empty(len(layout.starts) - 1, dtype=np.int64)
        place[used[order]] = np.arange(len(order))
        moved = np.argsort(place[row_of], kind="stable")
        column_type = np.uint8 if layout.n_columns <= 256 else np.uint16 if layout.n_columns <= 65536 else np.uint32
        numbers = weights[kept][moved] / scale
        arrays = {
            "buckets": buckets,
            "fingerprints": fingerprints,
            "starts": starts.astype(np.uint32),
            "columns": layout.columns[kept][moved].astype(column_type),
            "weights": (numbers if precision == "float32" else np.rint(numbers)).astype(PRECISIONS[precision]),
            "scale": np.array([scale], dtype=np.float64),
        }
        return cls(arrays, layout.n_columns, index.bits)

    def __len__(self) -> int:
        """Number of features."""
        return len(self.arrays["fingerprints"])

    @property
    def n_weights(self) -> int:
        return len(self.arrays["weights"])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def rows(self, keys: Keys) -> Rows:
        """Rows of keys, -1 for unknown ones (a stranger is taken for a known key once in billions)."""
        out = np.empty(len(keys), dtype=np.int32)
        _find(keys, self._mask, self._shift, self.arrays["buckets"], self.arrays["fingerprints"], out)
        return out

    def score(self, keys: Keys, offsets: Ints, values: Floats) -> Floats:
        """Scores `[position, column]` of features given as keys."""
        out = np.zeros((len(offsets) - 1, self.n_columns))
        starts, columns = self.arrays["starts"], self.arrays["columns"]
        rows, (number, unfolded) = self.rows(keys), self._whole
        _score(rows, offsets, values, starts, columns, self._weights, self._scale, number, unfolded, out)
        return out


def _whole_rows(starts: NDArray[Any], n_columns: int) -> tuple[Rows, Rows]:
    """Rows with at least a quarter of all columns, and for every row its number among them or -1."""
    large = starts[1:] - starts[:-1] >= max(4, n_columns // 4)
    number = np.where(large, np.cumsum(large) - 1, -1).astype(np.int32)
    return np.flatnonzero(large).astype(np.int32), number


@kernel
def _unfold_rows(
    whole: Rows, starts: NDArray[Any], columns: NDArray[Any], weights: NDArray[Any], unfolded: Floats
) -> None:
    for d in range(len(whole)):
        for k in range(np.int64(starts[whole[d]]), np.int64(starts[whole[d] + 1])):
            unfolded[d, columns[k]] = weights[k]


@kernel
def _fold_rows(whole: Rows, starts: Ints, columns: NDArray[np.int32], unfolded: Floats, into: Floats) -> None:
    for d in range(len(whole)):
        for k in range(starts[whole[d]], starts[whole[d] + 1]):
            into[k] += unfolded[d, columns[k]]


@kernel
def _score(
    rows: Rows,
    offsets: Ints,
    values: Floats,
    starts: NDArray[Any],
    columns: NDArray[Any],
    weights: NDArray[Any],
    scale: float,
    number: Rows,
    unfolded: Floats,
    out: Floats,
) -> None:
    for i in range(len(offsets) - 1):
        scores = out[i]
        for f in range(offsets[i], offsets[i + 1]):
            row = rows[f]
            if row < 0:
                continue
            value = values[f] if len(values) else 1.0
            whole = number[row] if len(number) else -1
            if whole >= 0:
                line = unfolded[whole]
                for c in range(len(scores)):
                    scores[c] += value * line[c]
            else:
                for k in range(np.int64(starts[row]), np.int64(starts[row + 1])):
                    scores[columns[k]] += value * scale * weights[k]


@kernel
def _scatter(
    rows: Rows,
    offsets: Ints,
    values: Floats,
    starts: Ints,
    columns: NDArray[np.int32],
    coefficients: Floats,
    number: Rows,
    unfolded: Floats,
    into: Floats,
) -> None:
    for i in range(len(offsets) - 1):
        numbers = coefficients[i]
        for f in range(offsets[i], offsets[i + 1]):
            row = rows[f]
            if row < 0:
                continue
            value = values[f] if len(values) else 1.0
            whole = number[row] if len(number) else -1
            if whole >= 0:
                line = unfolded[whole]
                for c in range(len(numbers)):
                    line[c] += value * numbers[c]
            else:
                for k in range(starts[row], starts[row + 1]):
                    into[k] += value * numbers[columns[k]]


@kernel
def _count_sparse(rows: Rows, offsets: Ints, starts: Ints, coefficients: Floats) -> int:
    total = 0
    for i in range(len(offsets) - 1):
        if np.any(coefficients[i] != 0.0):
            for f in range(offsets[i], offsets[i + 1]):
                if rows[f] >= 0:
                    total += starts[rows[f] + 1] - starts[rows[f]]
    return total


@kernel
def _sparse(
    rows: Rows,
    offsets: Ints,
    values: Floats,
    starts: Ints,
    columns: NDArray[np.int32],
    coefficients: Floats,
    indices: Ints,
    numbers: Floats,
) -> int:
    total = 0
    for i in range(len(offsets) - 1):
        if not np.any(coefficients[i] != 0.0):
            continue
        for f in range(offsets[i], offsets[i + 1]):
            row = rows[f]
            if row < 0:
                continue
            for k in range(starts[row], starts[row + 1]):
                number = coefficients[i, columns[k]]
                if number != 0.0:
                    indices[total] = k
                    numbers[total] = number * values[f] if len(values) else number
                    total += 1
    return total


@kernel
def _find(
    keys: Keys,
    mask: np.uint64,
    shift: np.uint64,
    buckets: NDArray[np.uint32],
    fingerprints: NDArray[np.uint32],
    out: Rows,
) -> None:
    below = np.uint64(64) - shift
    for f in range(len(keys)):
        key = keys[f] & mask
        bucket = np.int64(key >> shift)
        fingerprint = np.uint32((key << below) >> np.uint64(32))
        out[f] = -1
        for row in range(np.int64(buckets[bucket]), np.int64(buckets[bucket + 1])):
            if fingerprints[row] == fingerprint:
                out[f] = row
                break
