"""The linear model over typed segments with gaps: features of words in their roles, of pairs and of what is skipped.

An edge from a selected word j to the next selected word i is in one of four states: *start* (no j), *end* (no i),
*next* (i = j + 1) or *skip* (i > j + 1). With V the features of words, U those of pairs, B those of skipped words,

    start[i, t]   = V[to, start, t] . v(i)                  end[j, t] = V[from, end, t] . v(j)
    link[j, i, t] = V[to, s, t] . v(i) + V[from, s, t] . v(j) + U[t] . u(j, i) + 1[s = skip] sum_{j<p<i} B[t] . b(p)

where u(j, i) knows the state and the distance. Scores of words are computed once, skipped words by running sums. The
weights are one flat array: V (6 columns per type), U and B (one column per type), each with all features, because what
never stands in a segment also tells it apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints, Rows
from weft.infer.chains.multilabel import MultilabelSegments, Restrictions, SegmentParts, SegmentScores, SegmentSets
from weft.kernel import kernel
from weft.learn.chains.blocks import FeatureRows

#: Columns of a word's features for one type: to/start, from/end, to/next, from/next, to/skip, from/skip.
ROLES = 6


@dataclass(frozen=True)
class SegmentBatch:
    """One sentence ready for a `SegmentModel`: features of words, of pairs of words (see `pair_offsets`), of words
    when they are skipped; `gold` is a solution."""

    node: FeatureRows
    pair: FeatureRows
    between: FeatureRows
    gold: SegmentSets | None
    weight: Floats

    def __len__(self) -> int:
        return 1

    @property
    def n_words(self) -> int:
        return len(self.node.offsets) - 1


class SegmentModel:
    """Weights to segment scores and back; satisfies `weft.learn.protocol.Model` as far as margin learners need it."""

    def __init__(
        self,
        types: int,
        rows: tuple[int, int, int],
        restrictions: Restrictions,
        threshold: float = 0.0,
        k: int = 0,
    ) -> None:
        self.types, self.restrictions, self.threshold, self.k = types, restrictions, threshold, k
        self.rows = rows  # numbers of node, pair and between features
        self._pair = rows[0] * ROLES * types
        self._between = self._pair + rows[1] * types

    @property
    def size(self) -> int:
        return self._between + self.rows[2] * self.types

    def blocks(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """The weights of node, pair and between features, a row per feature."""
        return (
            weights[: self._pair].reshape(-1, ROLES * self.types),
            weights[self._pair : self._between].reshape(-1, self.types),
            weights[self._between :].reshape(-1, self.types),
        )

    def score(self, batch: SegmentBatch, weights: Floats) -> MultilabelSegments:
        columns = [
            _sum_rows(features.rows, features.offsets, features.values, table)
            for features, table in zip((batch.node, batch.pair, batch.between), self.blocks(weights), strict=True)
        ]
        scores = assemble(columns[0], columns[1], columns[2], self.restrictions.gap)
        return MultilabelSegments([scores], self.restrictions, self.threshold, self.k)

    def sparse(self, batch: SegmentBatch, parts: SegmentParts) -> tuple[Ints, Floats]:
        node, pair, between = batch.node, batch.pair, batch.between
        return _gather(
            parts.edges, parts.values, self.types, self.restrictions.gap or batch.n_words,
            node.rows, node.offsets, node.values, pair.rows, pair.offsets,
            between.rows, between.offsets, between.values, self._pair, self._between,
        )  # fmt: skip

    def scatter(self, batch: SegmentBatch, parts: SegmentParts, into: Floats) -> None:
        indices, values = self.sparse(batch, parts)
        into[indices] += values

    def active(self, batch: SegmentBatch) -> Ints:
        blocks = ((batch.node, 0, ROLES * self.types), (batch.pair, self._pair, self.types),
                  (batch.between, self._between, self.types))  # fmt: skip
        found = []
        for features, first, width in blocks:
            used = np.unique(features.rows[features.rows >= 0]).astype(np.int64)
            found.append((first + used[:, None] * width + np.arange(width)).ravel())
        return np.concatenate(found)


def assemble(node: Floats, pair: Floats, between: Floats, gap: int) -> SegmentScores:
    """Scores of edges from scores of columns; pairs beyond the gap bound (0: none) are left at minus infinity."""
    n, types = between.shape
    link = np.full((n, n, types), -np.inf)
    skipped = np.concatenate([np.zeros((1, types)), np.cumsum(between, axis=0)])
    _link(node, pair, skipped, gap or n, link)
    return SegmentScores(node[:, :types].copy(), node[:, types : 2 * types].copy(), link)


def pair_offsets(n: int, gap: int) -> Ints:
    """Where the pairs (j, i) of every word i begin: i has min(i, gap) of them, j rising.

    >>> pair_offsets(4, 2).tolist()
    [0, 0, 1, 3, 5]
    """
    return np.concatenate([[0], np.cumsum(np.minimum(np.arange(n), gap or n))]).astype(np.int64)


@kernel
def _pair_number(j: int, i: int, gap: int) -> int:
    """The number of a pair in the order of `pair_offsets`."""
    before = i * (i - 1) // 2 if i <= gap else gap * (gap - 1) // 2 + (i - gap) * gap
    return before + j - max(0, i - gap)


@kernel
def _sum_rows(rows: Rows, offsets: Ints, values: Floats, table: Floats) -> Floats:
    out = np.zeros((len(offsets) - 1, table.shape[1]))
    for i in range(out.shape[0]):
        scores = out[i]
        for f in range(offsets[i], offsets[i + 1]):
            if rows[f] >= 0:
                line = table[rows[f]]
                value = values[f] if len(values) else 1.0
                for c in range(len(scores)):
                    scores[c] += value * line[c]
    return out


@kernel
def _link(node: Floats, pair: Floats, skipped: Floats, gap: int, link: Floats) -> None:
    n, types = link.shape[0], link.shape[2]
    p = 0
    for i in range(n):
        for j in range(max(0, i - gap), i):
            to = 2 * types if j == i - 1 else 4 * types
            for t in range(types):
                total = node[i, to + t] + node[j, to + types + t] + pair[p, t]
                link[j, i, t] = total + skipped[i, t] - skipped[j + 1, t]
            p += 1


@kernel
def _gather(
    edges: Ints, numbers: Floats, types: int, gap: int, node: Rows, node_offsets: Ints, node_values: Floats,
    pair: Rows, pair_starts: Ints, between: Rows, between_offsets: Ints, between_values: Floats,
    first_pair: int, first_between: int,
) -> tuple[Ints, Floats]:  # fmt: skip
    n = len(node_offsets) - 1
    width = ROLES * types
    size = 0
    for e in range(len(edges)):
        j, i = edges[e, 2], edges[e, 3]
        if j >= 0:
            size += node_offsets[j + 1] - node_offsets[j]
        if i < n:
            size += node_offsets[i + 1] - node_offsets[i]
        if j >= 0 and i < n:
            p = _pair_number(j, i, gap)
            size += pair_starts[p + 1] - pair_starts[p] + between_offsets[i] - between_offsets[j + 1]
    indices = np.empty(size, dtype=np.int64)
    values = np.empty(size)
    at = 0
    for e in range(len(edges)):
        t, j, i = edges[e, 1], edges[e, 2], edges[e, 3]
        inner = j >= 0 and i < n
        to = 0 if j < 0 else 2 * types if j == i - 1 else 4 * types
        if i < n:
            for f in range(node_offsets[i], node_offsets[i + 1]):
                if node[f] >= 0:
                    indices[at] = node[f] * width + to + t
                    values[at] = numbers[e] * (node_values[f] if len(node_values) else 1.0)
                    at += 1
        if j >= 0:
            away = types if i == n else to + types
            for f in range(node_offsets[j], node_offsets[j + 1]):
                if node[f] >= 0:
                    indices[at] = node[f] * width + away + t
                    values[at] = numbers[e] * (node_values[f] if len(node_values) else 1.0)
                    at += 1
        if inner:
            p = _pair_number(j, i, gap)
            for f in range(pair_starts[p], pair_starts[p + 1]):
                if pair[f] >= 0:
                    indices[at] = first_pair + pair[f] * types + t
                    values[at] = numbers[e]
                    at += 1
            for f in range(between_offsets[j + 1], between_offsets[i]):
                if between[f] >= 0:
                    indices[at] = first_between + between[f] * types + t
                    values[at] = numbers[e] * (between_values[f] if len(between_values) else 1.0)
                    at += 1
    order = np.argsort(indices[:at])
    distinct = np.empty(at, dtype=np.int64)
    sums = np.empty(at)
    found = 0
    for place in order:
        if found and distinct[found - 1] == indices[place]:
            sums[found - 1] += values[place]
        else:
            distinct[found], sums[found] = indices[place], values[place]
            found += 1
    kept = np.flatnonzero(sums[:found] != 0.0)
    return distinct[kept], sums[kept]
