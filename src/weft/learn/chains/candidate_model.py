"""The linear model over chains of candidates, whose labels are made of parts.

    score(y, x) = sum_i sum_f sum_c W[f, c]  +  sum_{i>1} sum_k T_k[view_k(y_{i-1}), view_k(y_i)]

with f the features of position i, c the columns of label y_i (its parts: the tag, each feature=value, the label as a
whole), and view_k(y) the k-th coarser view of a label. Labels never seen together or after a feature share the weights
of their parts. The weights are one flat array: first W (only the columns its layout has), then T_1, T_2, ...
A position with one candidate decides nothing: its features are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Rows
from weft.errors import ConfigError
from weft.features.weights import Layout
from weft.infer.chains.candidates import CandidateChain, CandidateParts, pair_offsets
from weft.kernel import inner_kernel, kernel
from weft.learn.batches import cut_evenly
from weft.learn.chains.blocks import FeatureRows, weights_of


@dataclass(frozen=True)
class LabelParts:
    """What labels are made of: label `y` has columns `columns[starts[y]:starts[y + 1]]` and the views `views[:, y]`.

    `sizes[k]` is the number of values of view k.
    """

    starts: Ints
    columns: Rows
    n_columns: int
    views: Rows
    sizes: Ints

    @classmethod
    def from_names(
        cls, parts: Sequence[Sequence[str]], views: Sequence[Sequence[Any]] = ()
    ) -> tuple[LabelParts, NDArray[np.int8]]:
        """Labels from the names of their parts and their views, and the order of every column.

        Every label has a column of its own beside those of its parts; columns of parts have the order 0, those of
        whole labels the order 1.

        >>> parts, orders = LabelParts.from_names([["a", "x"], ["b", "x"]], [["left", "left"]])
        >>> parts.columns.tolist(), orders.tolist(), parts.sizes.tolist()
        ([0, 1, 3, 2, 1, 4], [0, 0, 0, 1, 1], [1])
        """
        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(name, len(numbers)) for name in dict.fromkeys(names)] for names in parts]
        starts = np.concatenate([[0], np.cumsum([len(row) + 1 for row in rows])]).astype(np.int64)
        columns = np.array([c for i, row in enumerate(rows) for c in (*row, len(numbers) + i)], dtype=np.int32)
        orders = np.repeat(np.array([0, 1], dtype=np.int8), [len(numbers), len(rows)])
        table = np.zeros((len(views), len(rows)), dtype=np.int32)
        sizes = np.zeros(len(views), dtype=np.int64)
        for k, view in enumerate(views):
            values = {value: i for i, value in enumerate(sorted(set(view)))}
            table[k], sizes[k] = [values[value] for value in view], len(values)
        return cls(starts, columns, len(orders), table, sizes), orders

    @property
    def view_starts(self) -> Ints:
        """Where the table of every view begins among the weights of transitions."""
        return np.concatenate([[0], np.cumsum(self.sizes**2)]).astype(np.int64)


@dataclass(frozen=True)
class CandidateBatch:
    """Sentences with the candidates of every position: slot `s` stands for label `labels[s]`.

    `gold` holds the number of the right candidate at every position.
    """

    sentences: Ints
    features: FeatureRows
    slots: Ints
    labels: Rows
    gold: Rows | None
    weight: Floats

    def __len__(self) -> int:
        return len(self.sentences) - 1

    def cut(self, first: int, end: int) -> CandidateBatch:
        """Sentences `first:end`."""
        lo, hi = int(self.sentences[first]), int(self.sentences[end])
        a, b = int(self.slots[lo]), int(self.slots[hi])
        return CandidateBatch(
            self.sentences[first : end + 1] - lo,
            self.features.cut(lo, hi),
            self.slots[lo : hi + 1] - a,
            self.labels[a:b],
            None if self.gold is None else self.gold[lo:hi],
            self.weight[first:end],
        )

    def batches(self, sentences: int = 256) -> Iterator[CandidateBatch]:
        """The same sentences in batches of at most `sentences`."""
        return cut_evenly(self, sentences)


class CandidateModel:
    """Weights to chains of candidates and back; offers what online learners, L-BFGS and CG ask of a model."""

    def __init__(self, parts: LabelParts, layout: Layout) -> None:
        if layout.n_columns != parts.n_columns:
            raise ConfigError(f"the labels have {parts.n_columns} columns, the features {layout.n_columns}")
        self.parts, self.layout = parts, layout

    @property
    def size(self) -> int:
        return self.layout.size + int(self.parts.view_starts[-1])

    def score(self, batch: CandidateBatch, weights: Floats) -> CandidateChain:
        layout = self.layout
        node = score_slots(
            batch, self.parts, layout.starts, layout.columns, weights[: layout.size], 1.0, batch.features.rows
        )
        return chain_of(batch, self.parts, node, weights[layout.size :])

    def scatter(self, batch: CandidateBatch, parts: CandidateParts, into: Floats) -> None:
        features, layout, own = batch.features, self.layout, self.parts
        _scatter_slots(
            features.rows, features.offsets, features.values, layout.starts, layout.columns, batch.slots, batch.labels,
            own.starts, own.columns, own.n_columns, parts.node, into[: layout.size],
        )  # fmt: skip
        pairs = pair_offsets(batch.slots, batch.sentences)
        _scatter_pairs(
            batch.slots, batch.labels, pairs, own.views, own.sizes, own.view_starts, parts.edge, into[layout.size :]
        )

    def sparse(self, batch: CandidateBatch, parts: CandidateParts) -> tuple[Ints, Floats]:
        features, layout, own = batch.features, self.layout, self.parts
        pairs = pair_offsets(batch.slots, batch.sentences)
        bound = int((layout.starts[features.rows + 1] - layout.starts[features.rows])[features.rows >= 0].sum())
        room = bound + len(own.sizes) * int(np.count_nonzero(parts.edge))
        indices, numbers = np.empty(room, dtype=np.int64), np.empty(room)
        total = _sparse(
            features.rows, features.offsets, features.values, layout.starts, layout.columns, batch.slots, batch.labels,
            own.starts, own.columns, own.n_columns, parts.node,
            pairs, own.views, own.sizes, own.view_starts, parts.edge, layout.size, indices, numbers,
        )  # fmt: skip
        distinct, inverse = np.unique(indices[:total], return_inverse=True)
        sums: Floats = np.bincount(inverse, numbers[:total], len(distinct)).astype(np.float64)
        kept = sums != 0.0
        return distinct[kept], sums[kept]

    def active(self, batch: CandidateBatch) -> Ints:
        transitions = self.layout.size + np.arange(int(self.parts.view_starts[-1]))
        return np.concatenate([weights_of(batch.features.rows, self.layout), transitions])


def score_slots(
    batch: CandidateBatch,
    parts: LabelParts,
    starts: NDArray[Any],
    columns: NDArray[Any],
    weights: NDArray[Any],
    scale: float,
    rows: Rows,
) -> Floats:
    """Scores of all candidates, their features given as rows of a table (`starts`, `columns`, `weights` * `scale`)."""
    out = np.zeros(len(batch.labels))
    _score_slots(
        rows, batch.features.offsets, batch.features.values, starts, columns, weights, scale,
        batch.slots, batch.labels, parts.starts, parts.columns, np.zeros(parts.n_columns), out,
    )  # fmt: skip
    return out


def chain_of(batch: CandidateBatch, parts: LabelParts, node: Floats, transitions: Floats) -> CandidateChain:
    """The chain of a batch from the scores of its candidates and the weights of transitions."""
    pairs = pair_offsets(batch.slots, batch.sentences)
    edge = np.zeros(int(pairs[-1]))
    _score_pairs(batch.slots, batch.labels, pairs, parts.views, parts.sizes, parts.view_starts, transitions, edge)
    return CandidateChain(node, edge, batch.slots, batch.sentences, pairs)


@inner_kernel
def _score_slots(
    rows: Rows, offsets: Ints, values: Floats, starts: NDArray[Any], columns: NDArray[Any], weights: NDArray[Any],
    scale: float, slots: Ints, labels: Rows, part_starts: Ints, part_columns: Rows, sums: Floats, out: Floats,
) -> None:  # fmt: skip
    for i in range(len(slots) - 1):
        if slots[i + 1] - slots[i] < 2:
            continue
        for f in range(offsets[i], offsets[i + 1]):
            if rows[f] >= 0:
                value = values[f] if len(values) else 1.0
                for k in range(np.int64(starts[rows[f]]), np.int64(starts[rows[f] + 1])):
                    sums[columns[k]] += value * weights[k]
        for s in range(slots[i], slots[i + 1]):
            total = 0.0
            for c in range(part_starts[labels[s]], part_starts[labels[s] + 1]):
                total += sums[part_columns[c]]
            out[s] = total * scale
        sums[:] = 0.0


@kernel
def _scatter_slots(
    rows: Rows, offsets: Ints, values: Floats, starts: Ints, columns: Rows, slots: Ints, labels: Rows,
    part_starts: Ints, part_columns: Rows, n_columns: int, node: Floats, into: Floats,
) -> None:  # fmt: skip
    sums = np.zeros(n_columns)
    for i in range(len(slots) - 1):
        if not _column_sums(i, slots, labels, part_starts, part_columns, node, sums):
            continue
        for f in range(offsets[i], offsets[i + 1]):
            if rows[f] >= 0:
                value = values[f] if len(values) else 1.0
                for k in range(starts[rows[f]], starts[rows[f] + 1]):
                    into[k] += value * sums[columns[k]]


@kernel
def _column_sums(
    i: int, slots: Ints, labels: Rows, part_starts: Ints, part_columns: Rows, node: Floats, sums: Floats
) -> bool:
    """Add up the numbers of a position's candidates by column; False where there is nothing to add."""
    if slots[i + 1] - slots[i] < 2:
        return False
    some = False
    for s in range(slots[i], slots[i + 1]):
        if node[s] != 0.0:
            some = True
    if some:
        sums[:] = 0.0
        for s in range(slots[i], slots[i + 1]):
            if node[s] != 0.0:
                for c in range(part_starts[labels[s]], part_starts[labels[s] + 1]):
                    sums[part_columns[c]] += node[s]
    return some


@kernel
def _score_pairs(
    slots: Ints, labels: Rows, pairs: Ints, views: Rows, sizes: Ints, view_starts: Ints, weights: Floats, edge: Floats
) -> None:
    for i in range(len(slots) - 1):
        if pairs[i + 1] == pairs[i]:
            continue
        p = pairs[i]
        for a in range(slots[i - 1], slots[i]):
            for b in range(slots[i], slots[i + 1]):
                total = 0.0
                for k in range(len(sizes)):
                    total += weights[view_starts[k] + views[k, labels[a]] * sizes[k] + views[k, labels[b]]]
                edge[p] = total
                p += 1


@kernel
def _scatter_pairs(
    slots: Ints, labels: Rows, pairs: Ints, views: Rows, sizes: Ints, view_starts: Ints, edge: Floats, into: Floats
) -> None:
    for i in range(len(slots) - 1):
        if pairs[i + 1] == pairs[i]:
            continue
        p = pairs[i]
        for a in range(slots[i - 1], slots[i]):
            for b in range(slots[i], slots[i + 1]):
                if edge[p] != 0.0:
                    for k in range(len(sizes)):
                        into[view_starts[k] + views[k, labels[a]] * sizes[k] + views[k, labels[b]]] += edge[p]
                p += 1


@kernel
def _sparse(
    rows: Rows, offsets: Ints, values: Floats, starts: Ints, columns: Rows, slots: Ints, labels: Rows,
    part_starts: Ints, part_columns: Rows, n_columns: int, node: Floats,
    pairs: Ints, views: Rows, sizes: Ints, view_starts: Ints, edge: Floats,
    first_transition: int, indices: Ints, numbers: Floats,
) -> int:  # fmt: skip
    sums = np.zeros(n_columns)
    total = 0
    for i in range(len(slots) - 1):
        if _column_sums(i, slots, labels, part_starts, part_columns, node, sums):
            for f in range(offsets[i], offsets[i + 1]):
                if rows[f] >= 0:
                    value = values[f] if len(values) else 1.0
                    for k in range(starts[rows[f]], starts[rows[f] + 1]):
                        if sums[columns[k]] != 0.0:
                            indices[total] = k
                            numbers[total] = value * sums[columns[k]]
                            total += 1
        if pairs[i + 1] == pairs[i]:
            continue
        p = pairs[i]
        for a in range(slots[i - 1], slots[i]):
            for b in range(slots[i], slots[i + 1]):
                if edge[p] != 0.0:
                    for k in range(len(sizes)):
                        place = view_starts[k] + views[k, labels[a]] * sizes[k] + views[k, labels[b]]
                        indices[total] = first_transition + place
                        numbers[total] = edge[p]
                        total += 1
                p += 1
    return total
