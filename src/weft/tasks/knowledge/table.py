"""The features of path ranking: one row per query and candidate, one column per path.

x(s, t, path) = P(s -> t; path)        or, binarized,  [P > 0]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from weft.arrays import Floats, Ids, Ints
from weft.graph.paths.sampling import negatives
from weft.graph.paths.steps import Path, StepGraph
from weft.graph.paths.trie import Trie
from weft.graph.paths.walk import Flags, Reached, Walker, Walking, walk_all

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class PathTable:
    """The rows of query q are `offsets[q]:offsets[q + 1]`; `nodes` are their candidates, rising within a query."""

    sources: Ints
    offsets: Ints
    nodes: Ids
    values: csr_array
    active: Bools  #: [queries, paths]: whether the path reaches anything from the query
    edges: int = 0  #: how many edges the walks used

    @classmethod
    def of(
        cls, graph: StepGraph, paths: Sequence[Path], sources: Sequence[int], *, relation: str = "",
        candidates: Flags | None = None, walking: Walking = Walking(), workers: int = 1,
    ) -> PathTable:  # fmt: skip
        """Walk along all paths from all sources; edges that would answer a query are not used for it."""
        walker = Walker(graph, Trie.of(paths), relation, candidates, walking)
        parts = walk_all(walker, sources, lambda _, found: _rows(found), workers)
        sizes = [len(part[0]) for part in parts]
        places = np.concatenate([[0], np.cumsum([len(part[1]) for part in parts])]).astype(np.int64)
        entries = [np.diff(part[3]) for part in parts]
        starts = np.concatenate([[0], *entries]).cumsum().astype(np.int64)
        values = csr_array(
            (_joined([part[2] for part in parts], np.float64), _joined([part[1] for part in parts], np.int32), starts),
            shape=(sum(sizes), len(paths)),
        )
        assert starts[-1] == places[-1]
        active = np.array([part[4] for part in parts]).reshape(len(parts), len(paths))
        return cls(
            np.array(sources, np.int64), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            _joined([part[0] for part in parts], np.int32), values, active, sum(part[5] for part in parts),
        )  # fmt: skip

    @property
    def queries(self) -> Ints:
        """The query of every row."""
        return np.repeat(np.arange(len(self.sources)), np.diff(self.offsets))

    def right(self, answers: Mapping[int, Collection[int]]) -> Bools:
        """Whether the candidate of each row is an answer to its query."""
        found = [
            np.isin(self.nodes[low:high], np.fromiter(answers.get(source, ()), np.int64))
            for source, low, high in zip(self.sources.tolist(), self.offsets[:-1], self.offsets[1:], strict=True)
        ]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.bool_)

    def binary(self) -> PathTable:
        """The same with 1 for every probability above 0."""
        ones = csr_array((np.ones(self.values.nnz), self.values.indices, self.values.indptr), self.values.shape)
        return PathTable(self.sources, self.offsets, self.nodes, ones, self.active, self.edges)

    def examples(
        self, positive: Mapping[int, Collection[int]], known: Mapping[int, Collection[int]]
    ) -> tuple[Ints, Bools]:
        """The rows to learn from, and whether they are positive: facts that were sampled, and biased negatives."""
        sums = np.asarray(self.values.sum(axis=1)).ravel()
        rows, labels = [], []
        for source, low, high in zip(self.sources.tolist(), self.offsets[:-1], self.offsets[1:], strict=True):
            if source not in positive:
                continue
            nodes = self.nodes[low:high]
            good = np.flatnonzero(np.isin(nodes, np.fromiter(positive[source], np.int64)))
            bad = negatives(nodes, sums[low:high], set(known.get(source, ())))
            rows += [low + good, low + bad]
            labels += [np.ones(len(good), np.bool_), np.zeros(len(bad), np.bool_)]
        if not rows:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
        return np.concatenate(rows), np.concatenate(labels)


def reciprocal_ranks(table: PathTable, scores: Floats, right: Bools) -> Floats:
    """1 / rank of the first right answer, per query; 0 if no path reaches one. Ties count half."""
    queries, size = table.queries, len(table.sources)
    best = np.full(size, -np.inf)
    np.maximum.at(best, queries[right], scores[right])
    above = np.bincount(queries[scores > best[queries]], minlength=size)
    tied = np.bincount(queries[(scores == best[queries]) & ~right], minlength=size)
    return np.where(np.isfinite(best), 1.0 / (1.0 + above + tied / 2.0), 0.0)


def _rows(found: Reached) -> tuple[Ids, Ids, Floats, Ints, Bools, int]:
    """The candidates of a query, and their paths, values and offsets."""
    order = np.lexsort((found.paths, found.nodes))
    nodes = found.nodes[order]
    first = np.flatnonzero(np.diff(nodes, prepend=-1))
    return (
        nodes[first], found.paths[order], found.values[order], np.append(first, len(nodes)).astype(np.int64),
        found.active, found.edges,
    )  # fmt: skip


def _joined(parts: Sequence[NDArray[np.generic]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
