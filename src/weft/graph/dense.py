"""A dense subgraph that keeps some vertices of every part (Moro, Raganato and Navigli 2014, after Charikar 2000).

The vertices of a k-partite graph are candidates v of parts f. With the degree (edges in and out) and the parts that a
candidate is joined to,

    w(v)     = parts with an edge to or from v / (parts - 1)
    score(v) = w(v) deg(v) / sum of w(v') deg(v') over the candidates v' of the same part      (0 if the sum is 0)

the part with most candidates loses the one with the lowest score, again and again, until no part has more than `limit`.
Of all graphs on the way, the one with the largest average degree 2 |E| / |V| is the result. Ties: the first of the
parts, the last of the candidates. Degrees and joined parts are integers and updated only where an edge goes away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import DataError
from weft.kernel import kernel


class Peeled(NamedTuple):
    """The result of peeling: which vertices are left, and all that were removed, in order."""

    kept: Bools
    removed: Ids
    best: int  #: after how many removals the graph was densest
    densities: Floats  #: average degree before the first removal, and after each


class PartGraph:
    """Candidates of parts and directed edges between candidates of different parts.

    >>> graph = PartGraph([0, 0, 1], [0], [2])
    >>> graph.scores().tolist()
    [1.0, 0.0, 1.0]
    >>> graph.peel(1).kept.tolist()
    [True, False, True]
    """

    def __init__(self, part: ArrayLike, sources: ArrayLike, targets: ArrayLike, n_parts: int | None = None) -> None:
        self.part = np.ascontiguousarray(part, dtype=np.int32)
        self.sources = np.ascontiguousarray(sources, dtype=np.int32)
        self.targets = np.ascontiguousarray(targets, dtype=np.int32)
        n = len(self.part)
        if (np.diff(self.part) < 0).any() or (n and self.part[0] < 0):
            raise DataError("candidates must be sorted by their parts, which count from 0")
        self.n_parts = max(n_parts or 0, int(self.part[-1]) + 1 if n else 0)
        for ends in (self.sources, self.targets):
            if len(ends) and (ends.min() < 0 or ends.max() >= n):
                raise DataError(f"edges join candidates 0 to {n - 1}, got {ends.min()} to {ends.max()}")
        if len(self.sources) != len(self.targets) or (self.part[self.sources] == self.part[self.targets]).any():
            raise DataError("every edge joins candidates of two different parts")
        self.bounds = np.searchsorted(self.part, np.arange(self.n_parts + 1)).astype(np.int64)
        self._rows()

    def _rows(self) -> None:
        """Neighbours of every candidate, sorted by part, and the cells in which edges of a candidate to a part count.

        Entry e of candidate u leads to v = other[e] and stands for times[e] edges (two if both directions are there);
        cell[e] counts the edges of u with the part of v, and back[e] is the cell of v that counts those with u's part.
        """
        n = len(self.part)
        u = np.concatenate([self.sources, self.targets]).astype(np.int64)
        v = np.concatenate([self.targets, self.sources]).astype(np.int64)
        keys, times = np.unique(u * max(n, 1) + v, return_counts=True)
        u, v = keys // max(n, 1), keys % max(n, 1)
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=n))]).astype(np.int64)
        self.other, self.times = v.astype(np.int32), times.astype(np.int64)
        # Candidates are sorted by part, so the neighbours of a candidate are too: cells are runs of equal parts.
        pair = u * (self.n_parts + 1) + self.part[v]
        self.cell = (np.cumsum(np.diff(pair, prepend=-1) != 0) - 1).astype(np.int64)
        self.n_cells = int(self.cell[-1]) + 1 if len(self.cell) else 0
        self.back = self.cell[np.searchsorted(keys, v * max(n, 1) + u)] if len(keys) else self.cell

    def products(self, kept: Bools | None = None) -> Ints:
        """Joined parts times degree of every candidate that is kept, 0 for others."""
        alive = np.ones(len(self.part), dtype=np.bool_) if kept is None else np.ascontiguousarray(kept)
        degree, joined, _ = self._counts(alive)
        return np.where(alive, joined * degree, 0)

    def scores(self, kept: Bools | None = None) -> Floats:
        """The score of every candidate among those of its part; parts of one graph share the factor of w."""
        products = self.products(kept)
        sums = np.bincount(self.part, products, self.n_parts)[self.part]
        return np.divide(products, sums, out=np.zeros(len(products)), where=sums > 0)

    def density(self, kept: Bools | None = None) -> float:
        """The average degree."""
        alive = np.ones(len(self.part), dtype=np.bool_) if kept is None else kept
        edges = int((alive[self.sources] & alive[self.targets]).sum())
        return 2 * edges / max(1, int(alive.sum()))

    def peel(self, limit: int) -> Peeled:
        """Remove candidates until no part has more than `limit`, and return to the densest graph on the way."""
        if limit < 1:
            raise DataError(f"a part keeps at least one candidate, got {limit}")
        n = len(self.part)
        alive = np.ones(n, dtype=np.bool_)
        degree, joined, cells = self._counts(alive)
        removed, edges = np.empty(n, dtype=np.int32), np.empty(n + 1, dtype=np.int64)
        edges[0] = len(self.sources)
        count = _peel(
            self.part, self.bounds, self.offsets, self.other, self.times, self.back, limit, alive, degree, joined,
            cells, removed, edges,
        )  # fmt: skip
        densities = 2 * edges[: count + 1] / np.maximum(1, n - np.arange(count + 1))
        best = _first_best(edges[: count + 1], n)
        kept = np.ones(n, dtype=np.bool_)
        kept[removed[:best]] = False
        return Peeled(kept, removed[:count], best, densities)

    def _counts(self, alive: Bools) -> tuple[Ints, Ints, Ints]:
        n = len(self.part)
        degree, joined = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        cells = np.zeros(self.n_cells, dtype=np.int64)
        _count(self.offsets, self.other, self.times, self.cell, alive, degree, joined, cells)
        return degree, joined, cells


def _first_best(edges: Ints, n: int) -> int:
    """The first step at which edges / vertices is largest; compared as whole numbers."""
    best = 0
    for t in range(1, len(edges)):
        if n - t > 0 and int(edges[t]) * (n - best) > int(edges[best]) * (n - t):
            best = t
    return best


@kernel
def _count(
    offsets: Ints, other: Ids, times: Ints, cell: Ints, alive: Bools, degree: Ints, joined: Ints, cells: Ints
) -> None:
    for u in range(len(alive)):
        if not alive[u]:
            continue
        for e in range(offsets[u], offsets[u + 1]):
            if alive[other[e]]:
                degree[u] += times[e]
                if cells[cell[e]] == 0:
                    joined[u] += 1
                cells[cell[e]] += times[e]


@kernel
def _peel(
    part: Ids, bounds: Ints, offsets: Ints, other: Ids, times: Ints, back: Ints, limit: int, alive: Bools,
    degree: Ints, joined: Ints, cells: Ints, removed: Ids, edges: Ints,
) -> int:  # fmt: skip
    """Parts of the same size lose a candidate each, in order, before any loses a second one."""
    n_parts = len(bounds) - 1
    size = np.empty(n_parts, dtype=np.int64)
    level = 0
    for f in range(n_parts):
        size[f] = bounds[f + 1] - bounds[f]
        level = max(level, size[f])
    count = 0
    while level > limit:
        for f in range(n_parts):
            if size[f] != level:
                continue
            worst, lowest = -1, 0
            for u in range(bounds[f], bounds[f + 1]):
                if alive[u] and (worst < 0 or joined[u] * degree[u] <= lowest):
                    worst, lowest = u, joined[u] * degree[u]
            alive[worst] = False
            lost = 0
            for e in range(offsets[worst], offsets[worst + 1]):
                v = other[e]
                if alive[v]:
                    lost += times[e]
                    degree[v] -= times[e]
                    cells[back[e]] -= times[e]
                    if cells[back[e]] == 0:
                        joined[v] -= 1
            size[f] -= 1
            removed[count] = worst
            edges[count + 1] = edges[count] - lost
            count += 1
        level -= 1
    return count
