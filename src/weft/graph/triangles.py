"""Weights of edges by the triangles that they close (Moro, Raganato and Navigli 2014).

weight(v, v') = |{v'' : (v, v'), (v', v''), (v'', v) in E}| + 1        directed cycles of length three, plus one
P(v' | v)     = weight(v, v') / sum over v'' of weight(v, v'')
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.graph.store import Rows
from weft.kernel import kernel
from weft.ragged import one_block


def triangle_weights(rows: Rows, workers: int = 1) -> Floats:
    """The weight of every edge of a directed graph.

    >>> from weft.graph.store import rows_of
    >>> ring = rows_of(4, np.array([0, 1, 2, 0]), np.array([1, 2, 0, 3]), np.ones(4, np.float32))
    >>> triangle_weights(ring).tolist()
    [2.0, 1.0, 2.0, 2.0]
    """
    into = rows.reversed()
    offsets, targets = one_block(rows.offsets, np.int64), one_block(rows.targets, np.int32)
    weights = np.ones(len(targets))

    def work(low: int, high: int) -> None:
        seen = np.full(rows.n_nodes, -1, dtype=np.int32)
        _count_triangles(offsets, targets, into.offsets, into.targets, low, high, seen, weights)

    in_blocks(work, offsets, workers)
    return weights


def transitions(rows: Rows, weights: Floats | None = None) -> Floats:
    """The probability of every edge of a walk: its weight over the sum of its row; uniform without weights.

    >>> from weft.graph.store import rows_of
    >>> transitions(rows_of(3, np.array([0, 0]), np.array([1, 2]), np.ones(2, np.float32)), np.array([3.0, 1.0]))
    array([0.75, 0.25])
    """
    values = np.ones(len(rows.targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    sources = np.repeat(np.arange(rows.n_nodes), np.diff(rows.offsets))
    sums = np.bincount(sources, values, rows.n_nodes)
    shares: Floats = values / sums[sources]
    return shares


def in_blocks(work: Callable[[int, int], None], offsets: Ints, workers: int) -> None:
    """Have threads work on blocks of rows of about equally many edges, several per thread."""
    n = len(offsets) - 1
    blocks = max(1, min(n, 8 * workers if workers > 1 else 1))
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], blocks + 1)[1:-1]).tolist()
    spans = [span for span in pairwise([0, *sorted(cuts), n]) if span[0] < span[1]]
    if workers == 1:
        for span in spans:
            work(*span)
        return
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, *span) for span in spans]:
            done.result()


@kernel
def _count_triangles(
    offsets: Ints, targets: Ids, in_offsets: Ints, in_sources: Ids, low: int, high: int, seen: Ids, weights: Floats
) -> None:
    """For each v, mark who points to it; a triangle over v -> v' is a marked target of v'."""
    for v in range(low, high):
        for e in range(in_offsets[v], in_offsets[v + 1]):
            seen[in_sources[e]] = v
        for e in range(offsets[v], offsets[v + 1]):
            u = targets[e]
            count = 0
            for k in range(offsets[u], offsets[u + 1]):
                if seen[targets[k]] == v:
                    count += 1
            weights[e] += count
