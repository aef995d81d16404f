"""Weight tables: a sparse row of label columns a feature.

    score[i, c] = sum over features f of position i of  value(f) * W[row(f), c]

While training, a `Layout` says which columns each row has (all, or those seen with the feature) and the weights are one
flat array in the layout's order. After training, a `FrozenTable` keeps the weights that matter, quantised, behind a
compact index that can be memory-mapped: buckets by the top bits of the key, the bits below them as a fingerprint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError, ModelError
from weft.features.hashing import Keys
from weft.features.index import Index, Rows
from weft.kernel import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Types of frozen weights; integers are multiples of one scale.
PRECISIONS: dict[str, Any] = {"float32": np.float32, "int16": np.int16, "int8": np.int8}


@dataclass(frozen=True)
class Layout:
    """Which columns every row has: row `r` owns weights `starts[r]:starts[r + 1]`, of columns `columns[...]`."""

    starts: Ints
    columns: NDArray[np.int32]
    n_columns: int

    @classmethod
    def of_mask(cls, present: Bools) -> Layout:
        """The layout of a boolean table `[row, column]`.

        >>> layout = Layout.of_mask(np.array([[True, False], [True, True]]))
        >>> layout.starts.tolist(), layout.columns.tolist()
        ([0, 1, 3], [0, 0, 1])
        """
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
        columns = np.nonzero(present)[1].astype(np.int32)
        return cls(starts, columns, present.shape[1])

    @property
    def size(self) -> int:
        return len(self.columns)

    def score(self, rows: Rows, offsets: Ints, values: Floats, weights: Floats) -> Floats:
        """Scores `[position, column]` of features given as rows (-1: unknown, scores nothing)."""
        out = np.zeros((len(offsets) - 1, self.n_columns))
        _score(rows, offsets, values, self.starts, self.columns, weights, out)
        return out

    def scatter(self, rows: Rows, offsets: Ints, values: Floats, coefficients: Floats, into: Floats) -> None:
        """Add coefficient `[position, column]` times features to a flat array of weights."""
        _scatter(rows, offsets, values, self.starts, self.columns, coefficients, into)

    def sparse(self, rows: Rows, offsets: Ints, values: Floats, coefficients: Floats) -> tuple[Ints, Floats]:
        """The same sum as indices (with repetitions, in order of appearance) and values, zeros left out."""
        size = _count_sparse(rows, offsets, self.starts, coefficients)
        indices, numbers = np.empty(size, dtype=np.int64), np.empty(size)
        total = _sparse(rows, offsets, values, self.starts, self.columns, coefficients, indices, numbers)
        return indices[:total], numbers[:total]


class FrozenTable:
    """Weights for use: pruned, quantised, compact.

    >>> from weft.features.index import FeatureIndex
    >>> index = FeatureIndex()
    >>> rows = index.add(np.array([1 << 62, 3 << 62], dtype=np.uint64))
    >>> layout = Layout.of_mask(np.ones((2, 2), dtype=bool))
    >>> table = FrozenTable.freeze(index, layout, np.array([0.5, 0.0, -1.0, 2.0]))
    >>> len(table), table.n_weights
    (2, 3)
    >>> table.score(np.array([3 << 62], dtype=np.uint64), np.array([0, 1]), np.zeros(0)).tolist()
    [[-1.0, 2.0]]
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, bits: int = 64) -> None:
        self.arrays = arrays
        self.n_columns = n_columns
        self.bits = bits
        buckets, columns = arrays["buckets"], arrays["columns"]
        consistent = (
            (len(buckets) - 1).bit_count() == 1
            and len(arrays["fingerprints"]) == len(arrays["starts"]) - 1 == int(buckets[-1])
            and len(columns) == len(arrays["weights"]) == int(arrays["starts"][-1])
            and (len(columns) == 0 or int(columns.max()) < n_columns)
        )
        if not consistent:
            raise ModelError("the weight table does not fit together: the model file is damaged")
        self._shift = np.uint64(64 - ((len(buckets) - 1).bit_length() - 1))
        self._mask = np.uint64(((1 << bits) - 1) << (64 - bits))
        self._scale = float(arrays["scale"][0])

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

    def score(self, keys: Keys, offsets: Ints, values: Floats) -> Floats:
        """Scores `[position, column]` of features given as keys."""
        out = np.zeros((len(offsets) - 1, self.n_columns))
        arrays = self.arrays
        _score_frozen(
            keys, offsets, values, self._mask, self._shift, arrays["buckets"], arrays["fingerprints"],
            arrays["starts"], arrays["columns"], arrays["weights"], self._scale, out,
        )  # fmt: skip
        return out


@kernel
def _score(
    rows: Rows,
    offsets: Ints,
    values: Floats,
    starts: Ints,
    columns: NDArray[np.int32],
    weights: Floats,
    out: Floats,
) -> None:
    for i in range(len(offsets) - 1):
        for f in range(offsets[i], offsets[i + 1]):
            row = rows[f]
            if row < 0:
                continue
            if len(values):
                for k in range(starts[row], starts[row + 1]):
                    out[i, columns[k]] += values[f] * weights[k]
            else:
                for k in range(starts[row], starts[row + 1]):
                    out[i, columns[k]] += weights[k]


@kernel
def _scatter(
    rows: Rows,
    offsets: Ints,
    values: Floats,
    starts: Ints,
    columns: NDArray[np.int32],
    coefficients: Floats,
    into: Floats,
) -> None:
    for i in range(len(offsets) - 1):
        for f in range(offsets[i], offsets[i + 1]):
            row = rows[f]
            if row < 0:
                continue
            if len(values):
                for k in range(starts[row], starts[row + 1]):
                    into[k] += values[f] * coefficients[i, columns[k]]
            else:
                for k in range(starts[row], starts[row + 1]):
                    into[k] += coefficients[i, columns[k]]


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
def _score_frozen(
    keys: Keys,
    offsets: Ints,
    values: Floats,
    mask: np.uint64,
    shift: np.uint64,
    buckets: NDArray[np.uint32],
    fingerprints: NDArray[np.uint32],
    starts: NDArray[np.uint32],
    columns: NDArray[np.uint8],
    weights: NDArray[np.float32],
    scale: float,
    out: Floats,
) -> None:
    below = np.uint64(64) - shift
    for i in range(len(offsets) - 1):
        for f in range(offsets[i], offsets[i + 1]):
            key = keys[f] & mask
            bucket = np.int64(key >> shift)
            fingerprint = np.uint32((key << below) >> np.uint64(32))
            for row in range(buckets[bucket], buckets[bucket + 1]):
                if fingerprints[row] == fingerprint:
                    value = scale * values[f] if len(values) else scale
                    for k in range(starts[row], starts[row + 1]):
                        out[i, columns[k]] += value * weights[k]
                    break
