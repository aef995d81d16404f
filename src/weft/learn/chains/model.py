"""The linear model over chains: features of positions and of transitions.

    score(y, x) = sum_i  sum_f  W[f, y_i]  +  V[y_i] . d_i  +  sum_{i>1} ( T[y_{i-1}, y_i] + sum_g U[g, y_{i-1}, y_i] )

with f the features of position i, d_i its dense real-valued ones (a projection, say) and g the features of templates
that name the label before. The weights are one flat array: first W (only the columns its layout has), then T, then U,
then V.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints, Rows
from weft.features.weights import Layout
from weft.infer.chains.chain import Chain, ChainParts
from weft.kernel import kernel
from weft.learn.batches import cut_evenly
from weft.learn.chains.blocks import Block, Dense, DenseBlock, FeatureRows, PairBlock, RowBlock
from weft.learn.chains.label_targets import LabelTargets
from weft.learn.chains.labels import LabelSpace

__all__ = [
    "ChainBatch",
    "ChainModel",
    "Dense",
    "DenseRows",
    "DenseTable",
    "FeatureRows",
    "Layout",
    "fold_columns",
    "unfold_columns",
]


class DenseTable(Protocol):
    """Dense features as sums: every row of features adds numbers."""

    def sums(self, rows: Rows, offsets: Ints) -> Dense:
        """The dense features of positions whose rows are given, -1 for a row that adds nothing."""
        ...


@dataclass(frozen=True)
class DenseRows:
    """Dense features, stored as what they are sums of; the sums, many times as large, are computed on demand."""

    features: FeatureRows
    table: DenseTable

    def numbers(self) -> Dense:
        """One row per position."""
        return self.table.sums(self.features.rows, self.features.offsets)


@dataclass(frozen=True)
class ChainBatch:
    """Sentences ready for a `ChainModel`.

    `gold` holds states, `weight` one number per sentence; `allowed` is the mask of partial supervision, `space` that
    of the sequences that exist at all (first and last positions of a scheme), `constraints` what expectations
    are pulled to. `dense` gives one row of real numbers per position.
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
        """The same sentences in batches of at most `sentences`."""
        return cut_evenly(self, sentences)


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
        self.space, self.node, self.transitions, self.edge, self.dense = space, node, transitions, edge, dense
        self._node = RowBlock(0, node)
        self._transitions = PairBlock(self._node.end, transitions)
        self._edge = None if edge is None else RowBlock(self._transitions.end, edge)
        self._dense = DenseBlock((self._edge or self._transitions).end, len(space.labels), dense)

    @property
    def size(self) -> int:
        return self._dense.end

    def dense_weights(self, weights: Floats) -> Floats:
        """V, `[label, dense feature]`: a view of the weights."""
        return self._dense.table(weights)

    def score(self, batch: ChainBatch, weights: Floats) -> Chain:
        columns = self._node.score(batch.node, weights)
        if batch.dense is not None:
            columns[:, : len(self.space.labels)] += self._dense.score(batch.dense.numbers(), weights)
        edge = self._transitions.score(None, weights)
        if self._edge is not None and batch.edge is not None:
            edge = edge + self._edge.score(batch.edge, weights).reshape(-1, *edge.shape)
        return Chain(fold_columns(columns, self.space), edge, batch.sentences, batch.space, self.space.legal)

    def scatter(self, batch: ChainBatch, parts: ChainParts, into: Floats) -> None:
        columns = unfold_columns(parts.node, self.space)
        for block, features, numbers in self._used(batch, columns, parts.edge):
            block.scatter(features, numbers, into)

    def sparse(self, batch: ChainBatch, parts: ChainParts) -> tuple[Ints, Floats]:
        return self._sparse(batch, parts, None if batch.dense is None else batch.dense.numbers())

    def sparse_each(self, batch: ChainBatch, parts: Sequence[ChainParts]) -> list[tuple[Ints, Floats]]:
        """The features of several parts, dense ones summed up once."""
        dense = None if batch.dense is None else batch.dense.numbers()
        return [self._sparse(batch, each, dense) for each in parts]

    def _sparse(self, batch: ChainBatch, parts: ChainParts, dense: Dense | None) -> tuple[Ints, Floats]:
        columns = unfold_columns(parts.node, self.space)
        used = self._used(batch if dense is None else replace(batch, dense=None), columns, parts.edge)
        indices, values = zip(*(block.sparse(features, numbers) for block, features, numbers in used), strict=True)
        distinct, inverse = np.unique(np.concatenate(indices), return_inverse=True)
        sums: Floats = np.bincount(inverse, np.concatenate(values), len(distinct)).astype(float)
        if dense is not None:  # these weights come last, each once
            last, more = self._dense.sparse(dense, columns[:, : len(self.space.labels)])
            distinct, sums = np.concatenate([distinct, last]), np.concatenate([sums, more])
        kept = sums != 0.0
        return distinct[kept], sums[kept]

    def active(self, batch: ChainBatch) -> Ints:
        blocks: list[tuple[Block, Any]] = [(self._node, batch.node), (self._transitions, None), (self._dense, None)]
        if self._edge is not None and batch.edge is not None:
            blocks.insert(2, (self._edge, batch.edge))
        return np.concatenate([block.active(features) for block, features in blocks])

    def curvature(self, batch: ChainBatch, structure: Chain, into: Floats) -> None:
        marginals = structure.marginals(per_position=True)
        weight = np.repeat(batch.weight, np.diff(batch.sentences))
        columns = unfold_columns(marginals.node, self.space)
        columns *= (1.0 - columns) * weight[:, None]
        pairs = marginals.edge * (1.0 - marginals.edge) * weight[:, None, None]
        for block, features, numbers in self._used(batch, columns, pairs):
            block.scatter(features if features is None else features**2, numbers, into)

    def _used(self, batch: ChainBatch, columns: Floats, edge: Floats) -> Iterator[tuple[Block, Any, Floats]]:
        """The blocks that a batch has features for, with these and what is scattered to them: numbers of columns
        `[position, column]` or of transitions."""
        yield self._node, batch.node, columns
        yield self._transitions, None, edge
        if self._edge is not None and batch.edge is not None:
            yield self._edge, batch.edge, edge.reshape(len(edge), -1)
        if batch.dense is not None:
            yield self._dense, batch.dense.numbers(), columns[:, : len(self.space.labels)]

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
