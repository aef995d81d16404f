"""The linear model over chains: features of positions and of transitions.

    score(y, x) = sum_i  sum_f  W[f, y_i]  +  V[y_i] . d_i  +  sum_{i>1} ( T[y_{i-1}, y_i] + sum_g U[g, y_{i-1}, y_i] )

with f the features of position i, d_i its dense real-valued ones (a projection, say) and g the features of templates
that name the label before. The weights are one flat array: first W (only the columns its layout has), then T, then U,
then V.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints, Rows
from weft.features.weights import Layout
from weft.infer.chains.chain import Chain, ChainParts
from weft.kernel import kernel
from weft.learn.chains.label_targets import LabelTargets
from weft.learn.chains.labels import LabelSpace

Dense = NDArray[np.float32]


@dataclass(frozen=True)
class FeatureRows:
    """Features as rows of a layout, ragged over positions; `values` is empty where all are 1."""

    rows: Rows
    offsets: Ints
    values: Floats

    def cut(self, first: int, end: int) -> FeatureRows:
        """The features of positions `first:end`."""
        lo, hi = int(self.offsets[first]), int(self.offsets[end])
        values = self.values[lo:hi] if len(self.values) else self.values
        return FeatureRows(self.rows[lo:hi], self.offsets[first : end + 1] - lo, values)

    def select(self, chosen: Bools) -> FeatureRows:
        """The features of the chosen positions."""
        sizes = np.diff(self.offsets)
        kept = np.repeat(chosen, sizes)
        values = self.values[kept] if len(self.values) else self.values
        return FeatureRows(self.rows[kept], np.concatenate([[0], np.cumsum(sizes[chosen])]), values)

    def squared(self) -> FeatureRows:
        return self if not len(self.values) else replace(self, values=self.values**2)


class DenseTable(Protocol):
    """Dense features as sums: every row of features adds numbers."""

    def sums(self, rows: Rows, offsets: Ints) -> Dense:
        """The dense features of positions whose rows are given, -1 for a row that adds nothing."""
        ...


@dataclass(frozen=True)
class DenseRows:
    """Dense features by what they are sums of; the sums, many times as large, are made when they are asked for."""

    features: FeatureRows
    table: DenseTable

    def numbers(self) -> Dense:
        """One row a position."""
        return self.table.sums(self.features.rows, self.features.offsets)


@dataclass(frozen=True)
class ChainBatch:
    """Sentences ready for a `ChainModel`.

    `gold` holds states, `weight` one number a sentence; `allowed` is the mask of partial supervision, `space` the mask
    of the sequences that exist at all (first and last positions of a scheme), `constraints` what expectations
    are pulled to. `dense` gives one row of real numbers a position.
    """

    sentences: Ints
    node: FeatureRows
    edge: FeatureRows | None
    gold: Rows | None
    weight: Floats
    space: Bools | None = None
    allowed: Bools | None = None
    constraints: LabelTargets | None = None
    dense: DenseRows | None = None

    def __len__(self) -> int:
        return len(self.sentences) - 1

    @property
    def n_words(self) -> int:
        return int(self.sentences[-1])

    def cut(self, first: int, end: int) -> ChainBatch:
        """Sentences `first:end`."""
        lo, hi = int(self.sentences[first]), int(self.sentences[end])
        return ChainBatch(
            self.sentences[first : end + 1] - lo,
            self.node.cut(lo, hi),
            None if self.edge is None else self.edge.cut(lo, hi),
            None if self.gold is None else self.gold[lo:hi],
            self.weight[first:end],
            None if self.space is None else self.space[lo:hi],
            None if self.allowed is None else self.allowed[lo:hi],
            None if self.constraints is None else self.constraints.cut(first, end),
            None if self.dense is None else replace(self.dense, features=self.dense.features.cut(lo, hi)),
        )

    def select(self, sentences: Sequence[int]) -> ChainBatch:
        """The named sentences, in the order of the batch and without constraints.

        >>> rows = FeatureRows(np.arange(4, dtype=np.int32), np.arange(5), np.zeros(0))
        >>> batch = ChainBatch(np.array([0, 2, 3, 4]), rows, None, None, np.ones(3)).select([2, 0])
        >>> batch.sentences.tolist(), batch.node.rows.tolist()
        ([0, 2, 3], [0, 1, 3])
        """
        used = np.zeros(len(self), dtype=np.bool_)
        used[np.asarray(sentences, dtype=np.int64)] = True
        sizes = np.diff(self.sentences)
        words = np.repeat(used, sizes)
        return ChainBatch(
            np.concatenate([[0], np.cumsum(sizes[used])]),
            self.node.select(words),
            None if self.edge is None else self.edge.select(words),
            None if self.gold is None else self.gold[words],
            self.weight[used],
            None if self.space is None else self.space[words],
            None if self.allowed is None else self.allowed[words],
            dense=None if self.dense is None else replace(self.dense, features=self.dense.features.select(words)),
        )

    def batches(self, sentences: int = 256) -> Iterator[ChainBatch]:
        """The same sentences in batches of at most so many."""
        for first in range(0, len(self), sentences):
            yield self.cut(first, min(first + sentences, len(self)))


class ChainModel:
    """Weights to chains and back; satisfies `weft.learn.protocol.Model`.

    `transitions[y', y]` is the number of the weight T[y', y], -1 for a transition without one. `dense` is the number
    of dense features; each has a weight for every label.
    """

    def __init__(
        self,
        space: LabelSpace,
        node: Layout,
        transitions: NDArray[np.int32],
        edge: Layout | None = None,
        dense: int = 0,
    ) -> None:
        self.space = space
        self.node = node
        self.transitions = transitions
        self.edge = edge
        self._weighted = transitions >= 0
        self._t = node.size
        self._u = node.size + int(self._weighted.sum())
        self._v = self._u + (0 if edge is None else edge.size)
        self.dense = dense

    @property
    def size(self) -> int:
        return self._v + self.dense * len(self.space.labels)

    def dense_weights(self, weights: Floats) -> Floats:
        """V, `[label, dense feature]`: a view of the weights."""
        return weights[self._v :].reshape(len(self.space.labels), self.dense)

    def score(self, batch: ChainBatch, weights: Floats) -> Chain:
        features = batch.node
        columns = self.node.score(features.rows, features.offsets, features.values, weights[: self._t])
        if batch.dense is not None:
            columns[:, : len(self.space.labels)] += batch.dense.numbers() @ self.dense_weights(weights).T
        node = fold_columns(columns, self.space)
        edge = np.zeros(self.transitions.shape)
        edge[self._weighted] = weights[self._t + self.transitions[self._weighted]]
        if self.edge is not None and batch.edge is not None:
            features = batch.edge
            columns = self.edge.score(features.rows, features.offsets, features.values, weights[self._u : self._v])
            edge = edge + columns.reshape(-1, *self.transitions.shape)
        return Chain(node, edge, batch.sentences, batch.space, self.space.legal)

    def scatter(self, batch: ChainBatch, parts: ChainParts, into: Floats) -> None:
        features = batch.node
        columns = unfold_columns(parts.node, self.space)
        self.node.scatter(features.rows, features.offsets, features.values, columns, into[: self._t])
        shared = parts.edge if parts.edge.ndim == 2 else parts.edge.sum(axis=0)
        into[self._t + self.transitions[self._weighted]] += shared[self._weighted]
        if self.edge is not None and batch.edge is not None:
            features = batch.edge
            pairs = parts.edge.reshape(len(parts.edge), -1)
            self.edge.scatter(features.rows, features.offsets, features.values, pairs, into[self._u : self._v])
        if batch.dense is not None:
            self.dense_weights(into)[:] += columns[:, : len(self.space.labels)].T @ batch.dense.numbers()

    def sparse(self, batch: ChainBatch, parts: ChainParts) -> tuple[Ints, Floats]:
        return self._sparse(batch, parts, None if batch.dense is None else batch.dense.numbers())

    def sparse_each(self, batch: ChainBatch, parts: Sequence[ChainParts]) -> list[tuple[Ints, Floats]]:
        """The features of several parts, dense ones summed up once."""
        dense = None if batch.dense is None else batch.dense.numbers()
        return [self._sparse(batch, each, dense) for each in parts]

    def _sparse(self, batch: ChainBatch, parts: ChainParts, dense: Dense | None) -> tuple[Ints, Floats]:
        features = batch.node
        columns = unfold_columns(parts.node, self.space)
        found = [self.node.sparse(features.rows, features.offsets, features.values, columns)]
        shared = parts.edge if parts.edge.ndim == 2 else parts.edge.sum(axis=0)
        used = self._weighted & (shared != 0.0)
        found.append(((self._t + self.transitions[used]).astype(np.int64), shared[used]))
        if self.edge is not None and batch.edge is not None:
            features = batch.edge
            pairs = parts.edge.reshape(len(parts.edge), -1)
            indices, numbers = self.edge.sparse(features.rows, features.offsets, features.values, pairs)
            found.append((indices + self._u, numbers))
        distinct, inverse = np.unique(np.concatenate([part[0] for part in found]), return_inverse=True)
        sums: Floats = np.bincount(inverse, np.concatenate([part[1] for part in found]), len(distinct)).astype(float)
        if dense is not None:
            used = np.flatnonzero(columns[:, : len(self.space.labels)].any(axis=0))
            sums = np.concatenate([sums, (columns[:, used].T @ dense).ravel()])
            distinct = np.concatenate([distinct, self._dense_indices(used)])
        kept = sums != 0.0
        return distinct[kept], sums[kept]

    def _dense_indices(self, labels: Ints) -> Ints:
        """Indices of the dense weights of labels."""
        return (self._v + labels[:, None] * self.dense + np.arange(self.dense)).ravel()

    def active(self, batch: ChainBatch) -> Ints:
        found = [weights_of(batch.node.rows, self.node), self._t + np.arange(self._u - self._t)]
        if self.edge is not None and batch.edge is not None:
            found.append(self._u + weights_of(batch.edge.rows, self.edge))
        found.append(np.arange(self._v, self.size))
        return np.concatenate(found)

    def curvature(self, batch: ChainBatch, structure: Chain, into: Floats) -> None:
        marginals = structure.marginals(per_position=True)
        weight = np.repeat(batch.weight, np.diff(batch.sentences))
        columns = unfold_columns(marginals.node, self.space)
        columns *= (1.0 - columns) * weight[:, None]
        features = batch.node.squared()
        self.node.scatter(features.rows, features.offsets, features.values, columns, into[: self._t])
        pairs = marginals.edge * (1.0 - marginals.edge) * weight[:, None, None]
        into[self._t + self.transitions[self._weighted]] += pairs.sum(axis=0)[self._weighted]
        if self.edge is not None and batch.edge is not None:
            features = batch.edge.squared()
            flat = pairs.reshape(len(pairs), -1)
            self.edge.scatter(features.rows, features.offsets, features.values, flat, into[self._u : self._v])
        if batch.dense is not None:
            self.dense_weights(into)[:] += columns[:, : len(self.space.labels)].T @ batch.dense.numbers() ** 2

    def most_active(self, batch: ChainBatch) -> float:
        chain = self.score(batch, np.ones(self.size))
        return float(chain.score(chain.best()).max(initial=0.0))


def fold_columns(columns: Floats, space: LabelSpace) -> Floats:
    """Scores of states from scores of columns."""
    if space.columns.shape[1] == 1:
        return columns
    out = np.empty((len(columns), space.n_states))
    _fold(columns, space.columns, out)
    return out


def unfold_columns(states: Floats, space: LabelSpace) -> Floats:
    """Numbers of states added up into their columns."""
    if space.columns.shape[1] == 1:
        return states
    out = np.zeros((len(states), space.n_columns))
    _unfold(states, space.columns, out)
    return out


def weights_of(rows: Rows, layout: Layout) -> Ints:
    """The numbers of the weights that rows own, of every row once; -1 is no row.

    >>> weights_of(np.array([1, -1, 0, 1], dtype=np.int32), Layout.from_mask(np.ones((3, 2), dtype=bool))).tolist()
    [2, 3, 0, 1]
    """
    found: Ints = _weights_of(rows, layout.starts)
    return found


@kernel
def _weights_of(rows: Rows, starts: Ints) -> Ints:
    seen = np.zeros(len(starts) - 1, dtype=np.bool_)
    total = 0
    for row in rows:
        if row >= 0 and not seen[row]:
            seen[row] = True
            total += starts[row + 1] - starts[row]
    found = np.empty(total, dtype=np.int64)
    at = 0
    for row in rows:
        if row >= 0 and seen[row]:
            seen[row] = False
            for weight in range(starts[row], starts[row + 1]):
                found[at] = weight
                at += 1
    return found


@kernel
def _fold(columns: Floats, from_state: NDArray[np.int32], out: Floats) -> None:
    for i in range(out.shape[0]):
        for y in range(out.shape[1]):
            total = columns[i, from_state[y, 0]]
            for k in range(1, from_state.shape[1]):
                total += columns[i, from_state[y, k]]
            out[i, y] = total


@kernel
def _unfold(states: Floats, from_state: NDArray[np.int32], out: Floats) -> None:
    for i in range(out.shape[0]):
        for y in range(states.shape[1]):
            for k in range(from_state.shape[1]):
                out[i, from_state[y, k]] += states[i, y]
