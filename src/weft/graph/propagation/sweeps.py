"""Rounds of updates over rows: the kernels, and threads that share a round.

A state is one array of scores `[vertex, label]`, or three arrays of rows of the best labels (see `top`). A round reads
one state and writes another; groups of vertices that do not read each other follow one another in one state, in place.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Ints
from weft.graph.propagation.top import insert_label
from weft.kernel import kernel
from weft.progress import progress

Weights = NDArray[np.floating[Any]]
State = tuple[Any, ...]
Watch = Callable[[int, Any], None]


@dataclass(frozen=True)
class Rows:
    """Rows of a system, or some of them; neighbours are numbers of the rows of the state they read."""

    offsets: Ints
    neighbours: Ids
    coefficients: Weights
    seed_offsets: Ints
    seed_labels: Ids
    seed_weights: Weights
    rest: Weights
    first: int  # the label of the first column
    n_labels: int

    def update(self, order: Ids, state: State, into: State) -> float:
        """New rows of the vertices of `order`; the largest change of a score."""
        own = (
            self.offsets, self.neighbours, self.coefficients, self.seed_offsets, self.seed_labels, self.seed_weights,
            self.rest,
        )  # fmt: skip
        if len(state) == 1:
            return float(_update(*own, self.first, self.n_labels, order, *state, *into))
        return float(_update_top(*own, self.n_labels, order, *state, *into))

    def part(self, lo: int, hi: int) -> tuple[Rows, Ids]:
        """Rows `lo:hi` by themselves, and the others that they read: numbered after their own, in order."""
        begin, end = self.offsets[lo], self.offsets[hi]
        local, outside = renumbered(self.neighbours[begin:end], lo, hi)
        first, last = self.seed_offsets[lo], self.seed_offsets[hi]
        part = Rows(
            self.offsets[lo : hi + 1] - begin, local, self.coefficients[begin:end],
            self.seed_offsets[lo : hi + 1] - first, self.seed_labels[first:last], self.seed_weights[first:last],
            self.rest[lo:hi], self.first, self.n_labels,
        )  # fmt: skip
        return part, outside


def sweeps(
    rows: Rows, state: State, iterations: int, tolerance: float, groups: list[Ids], workers: int, watch: Watch | None
) -> State:
    """The state after so many rounds, or once a round changes nothing by more than the tolerance."""
    together = len(groups) == 1
    parts = [shares(rows.offsets, group, workers) for group in groups]
    spare = tuple(np.empty_like(array) for array in state) if together else state
    with ThreadPoolExecutor(workers) as pool, progress("propagating", iterations, "rounds") as bar:
        for done in range(iterations):
            change = 0.0
            for blocks in parts:
                into = spare if together else state
                if len(blocks) == 1:
                    changes = [rows.update(blocks[0], state, into)]
                else:
                    jobs = [pool.submit(rows.update, share, state, into) for share in blocks]
                    changes = [job.result() for job in jobs]
                change = max(change, *changes)
            if together:
                state, spare = spare, state
            bar.advance()
            if watch is not None:
                watch(done, state[0] if len(state) == 1 else state)
            if change <= tolerance and tolerance > 0:
                break
    return state


def renumbered(neighbours: Ids, lo: int, hi: int) -> tuple[Ids, Ids]:
    """The neighbours of vertices `lo:hi` as numbers of a block: its own vertices first, then others that it reads.

    >>> [part.tolist() for part in renumbered(np.array([3, 9, 2, 0], np.int32), 2, 4)]
    [[1, 3, 0, 2], [0, 9]]
    """
    inside = (neighbours >= lo) & (neighbours < hi)
    outside = np.unique(neighbours[~inside])
    local = np.where(inside, neighbours - lo, (hi - lo) + np.searchsorted(outside, neighbours)).astype(np.int32)
    return local, outside


def shares(offsets: Ints, order: Ids, workers: int) -> list[Ids]:
    """Vertices in blocks of about equally many edges, as vertices differ in how many they have."""
    edges = np.concatenate([[0], np.cumsum(offsets[order.astype(np.int64) + 1] - offsets[order])])
    cuts = np.searchsorted(edges, np.linspace(0, edges[-1], workers + 1)[1:-1])
    return [order[lo:hi] for lo, hi in pairwise([0, *sorted(cuts.tolist()), len(order)])]


@kernel
def _update(
    offsets: Ints,
    neighbours: Ids,
    coefficients: Weights,
    seed_offsets: Ints,
    seed_labels: Ids,
    seed_weights: Weights,
    rest: Weights,
    first: int,
    n_labels: int,
    order: Ids,
    q: Weights,
    into: Weights,
) -> float:
    width = q.shape[1]
    row = np.empty(width, dtype=q.dtype)
    change = 0.0
    for i in range(len(order)):
        v = order[i]
        row[:] = 0
        for e in range(offsets[v], offsets[v + 1]):
            u = neighbours[e]
            a = coefficients[e]
            for y in range(width):
                row[y] += a * q[u, y]
        for s in range(seed_offsets[v], seed_offsets[v + 1]):
            y = seed_labels[s] - first
            if 0 <= y < width:
                row[y] += seed_weights[s]
        if first + width > n_labels:
            row[n_labels - first] += rest[v]
        for y in range(width):
            change = max(change, abs(row[y] - q[v, y]))
            into[v, y] = row[y]
    return change


@kernel
def _update_top(
    offsets: Ints,
    neighbours: Ids,
    coefficients: Weights,
    seed_offsets: Ints,
    seed_labels: Ids,
    seed_weights: Weights,
    rest: Weights,
    n_labels: int,
    order: Ids,
    labels: Ids,
    scores: Weights,
    unknown: Weights,
    to_labels: Ids,
    to_scores: Weights,
    to_unknown: Weights,
) -> float:
    k = labels.shape[1]
    total = np.empty(n_labels, dtype=scores.dtype)
    total[:] = 0
    mark = np.empty(n_labels, dtype=np.int8)  # 1: in this row, 2: in that of the round before too
    mark[:] = 0
    seen = np.empty(n_labels, dtype=np.int32)
    change = 0.0
    for i in range(len(order)):
        v = order[i]
        size = 0
        none = rest[v] - rest[v]
        for e in range(offsets[v], offsets[v + 1]):
            u = neighbours[e]
            a = coefficients[e]
            none += a * unknown[u]
            for j in range(k):
                y = labels[u, j]
                if y < 0:
                    break
                if mark[y] == 0:
                    mark[y] = 1
                    seen[size] = y
                    size += 1
                total[y] += a * scores[u, j]
        for s in range(seed_offsets[v], seed_offsets[v + 1]):
            y = seed_labels[s]
            if mark[y] == 0:
                mark[y] = 1
                seen[size] = y
                size += 1
            total[y] += seed_weights[s]
        none += rest[v]
        change = max(change, abs(none - unknown[v]))
        for j in range(k):
            y = labels[v, j]
            if y >= 0:
                change = max(change, abs(total[y] - scores[v, j]))
                if mark[y] == 1:
                    mark[y] = 2
        for j in range(k):
            to_labels[v, j] = -1
            to_scores[v, j] = 0
        for j in range(size):
            insert_label(to_labels, to_scores, v, seen[j], total[seen[j]])
        for j in range(k):
            if to_labels[v, j] >= 0 and mark[to_labels[v, j]] == 1:
                change = max(change, to_scores[v, j])
        for j in range(size):
            total[seen[j]] = 0
            mark[seen[j]] = 0
        to_unknown[v] = none
    return change
