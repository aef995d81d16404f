"""Semantic signatures: what a random walk with restart from a vertex keeps meeting (Moro, Raganato and Navigli 2014).

A walk of n steps from v goes back to v with probability a in every step, else on to a neighbour, which it counts:

    signature(v) = {x : count(x) >= eta}                                       as printed, by drawing
    pi = a e_v + (1 - a) pi P      E[count(x)] = n (pi_x - a [x = v])          the same by personalized PageRank
    signature(v) = {x : pi_x - a [x = v] >= eta / n}

pi is found by local push: what is left at u, r_u, is settled (pi_u += a r_u) and the rest sent to the neighbours of u,
until no neighbour of u would get `tolerance` or more. That costs at most 1 / tolerance edges per vertex, whatever the
size of the graph, and what is never sent bounds the error. A walk that has nowhere to go restarts; like every restart,
that is no visit: E[count(v)] is less by n (1 - a) times the sum of pi over vertices without neighbours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints, Keys
from weft.draws import uniform
from weft.errors import ConfigError, DataError
from weft.graph.store import Rows
from weft.graph.triangles import in_blocks
from weft.hashing import avalanche
from weft.kernel import kernel
from weft.ragged import one_block

#: The paper's restart probability, steps and least count.
RESTART, STEPS, LEAST = 0.85, 1_000_000, 100
TOLERANCE = 1e-6


class Signatures(NamedTuple):
    """For vertex v, the vertices `members[offsets[v]:offsets[v + 1]]`, rising."""

    offsets: Ints
    members: Ids

    def of(self, vertex: int) -> list[int]:
        """The signature of a vertex."""
        found: list[int] = self.members[self.offsets[vertex] : self.offsets[vertex + 1]].tolist()
        return found


def signatures(
    rows: Rows, shares: Floats, *, method: str = "push", restart: float = RESTART, steps: int = STEPS,
    least: int = LEAST, tolerance: float = TOLERANCE, seed: int = 0, workers: int = 1, client: Any = None,
) -> Signatures:  # fmt: skip
    """The signatures of all vertices, for the probabilities of edges that `transitions` gives.

    `method` is push (exact up to the tolerance) or walks (the printed algorithm, which draws). Both give the same with
    any number of threads, and on the workers of a Dask `client`.

    >>> from weft.graph.store import rows_of
    >>> from weft.graph.triangles import transitions
    >>> path = rows_of(4, np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3, np.float32))
    >>> signatures(path, transitions(path)).of(0)
    [1, 2, 3]
    """
    if method not in ("push", "walks"):
        raise ConfigError(f"signatures are found by push or walks, not by {method!r}")
    if not 0 < restart < 1 or steps < 1 or least < 1 or tolerance <= 0:
        raise ConfigError("restart must lie between 0 and 1; steps, least and tolerance must be above 0")
    if len(shares) != len(rows.targets):
        raise DataError(f"there are {len(shares)} probabilities for {len(rows.targets)} edges")
    options = (method, restart, steps, least, tolerance, seed)
    if client is not None:
        names = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        bounds = np.linspace(0, rows.n_nodes, 4 * names + 1).astype(int).tolist()
        graph = client.scatter((rows, shares), broadcast=True, hash=False)
        spans = pairwise(bounds)
        parts = client.gather([client.submit(_remote, graph, span, options, pure=False) for span in spans])
    else:
        parts = _local(rows, shares, options, workers)
    sizes = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    members = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0, dtype=np.int32)
    return Signatures(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), members)


def pagerank(rows: Rows, shares: Floats, vertex: int, restart: float = RESTART, tolerance: float = 1e-12) -> Floats:
    """Personalized PageRank of all vertices from one, by local push.

    >>> from weft.graph.store import rows_of
    >>> path = rows_of(2, np.array([0]), np.array([1]), np.ones(1, np.float32))
    >>> pagerank(path, np.ones(1), 0, restart=0.5).round(6).tolist()
    [0.666667, 0.333333]
    """
    settled, left = np.zeros(rows.n_nodes), np.zeros(rows.n_nodes)
    queue, inside = np.empty(rows.n_nodes + 1, dtype=np.int32), np.zeros(rows.n_nodes, dtype=np.bool_)
    touched, sent_back = np.empty(rows.n_nodes + 1, dtype=np.int32), np.zeros(1)
    offsets, targets = one_block(rows.offsets, np.int64), one_block(rows.targets, np.int32)
    _push(offsets, targets, one_block(shares, np.float64), vertex, restart, tolerance, settled, left, queue, inside,
          touched, sent_back)  # fmt: skip
    return settled


Part = tuple[Ints, Ids]


def _remote(graph: tuple[Rows, Floats], span: tuple[int, int], options: tuple[Any, ...]) -> Part:
    return _of_span(*graph, *span, options)


def _local(rows: Rows, shares: Floats, options: tuple[Any, ...], workers: int) -> list[Part]:
    parts: dict[int, Part] = {}

    def work(low: int, high: int) -> None:
        parts[low] = _of_span(rows, shares, low, high, options)

    in_blocks(work, rows.offsets, workers)
    return [parts[low] for low in sorted(parts)]


def _of_span(rows: Rows, shares: Floats, low: int, high: int, options: tuple[Any, ...]) -> Part:
    """The sizes of the signatures of some vertices, and their members."""
    method, restart, steps, least, tolerance, seed = options
    n = rows.n_nodes
    offsets, targets = one_block(rows.offsets, np.int64), one_block(rows.targets, np.int32)
    shares = one_block(shares, np.float64)
    sizes, members = np.zeros(high - low, dtype=np.int64), []
    settled, left, inside = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_)
    queue, touched = np.empty(n + 1, dtype=np.int32), np.empty(n + 1, dtype=np.int32)
    sent_back = np.zeros(1)
    sums = np.cumsum(shares) if method == "walks" else shares
    for v in range(low, high):
        if method == "push":
            count = _push(
                offsets, targets, shares, v, restart, tolerance, settled, left, queue, inside, touched, sent_back
            )
            kept = _keep(settled, left, touched, count, v, restart * (1.0 + sent_back[0]), restart, least / steps)
        else:
            random = np.array([avalanche(np.uint64(seed) ^ avalanche(np.uint64(v)))], dtype=np.uint64)
            count = _walk(offsets, targets, sums, v, restart, steps, random, settled, touched)
            kept = _keep(settled, left, touched, count, -1, 0.0, restart, float(least))
        own = np.sort(touched[:kept])
        sizes[v - low] = kept
        members.append(own)
    return sizes, np.concatenate(members) if members else np.zeros(0, dtype=np.int32)


@kernel
def _push(
    offsets: Ints, targets: Ids, shares: Floats, start: int, restart: float, tolerance: float, settled: Floats,
    left: Floats, queue: Ids, inside: Any, touched: Ids, sent_back: Floats,
) -> int:  # fmt: skip
    """Settle the walk from `start`; returns how many vertices were touched. The queue is a ring."""
    size = len(queue)
    first, end, count = 0, 1, 1
    queue[0] = start
    touched[0] = start
    inside[start] = True
    left[start] = 1.0
    sent_back[0] = 0.0
    while first != end:
        u = queue[first]
        first = (first + 1) % size
        inside[u] = False
        mass = left[u]
        left[u] = 0.0
        settled[u] += restart * mass
        onward = (1.0 - restart) * mass
        begin, stop = offsets[u], offsets[u + 1]
        # A vertex without neighbours sends all back to the start.
        if stop == begin:
            sent_back[0] += onward
        for e in range(begin, max(stop, begin + 1)):
            v = targets[e] if stop > begin else start
            if settled[v] == 0.0 and left[v] == 0.0 and not inside[v] and v != start:
                touched[count] = v
                count += 1
            left[v] += onward * shares[e] if stop > begin else onward
            if not inside[v]:
                degree = max(1, offsets[v + 1] - offsets[v])
                if (1.0 - restart) * left[v] >= tolerance * degree:
                    inside[v] = True
                    queue[end] = v
                    end = (end + 1) % size
    return count


@kernel
def _keep(
    settled: Floats, left: Floats, touched: Ids, count: int, start: int, restarts: float, restart: float, least: float
) -> int:
    """Move the touched vertices that reach the threshold to the front, and clear the tables."""
    kept = 0
    for k in range(count):
        v = touched[k]
        value = settled[v] + restart * left[v]  # what is left here would at least be settled here
        if v == start:
            value -= restarts
        settled[v] = 0.0
        left[v] = 0.0
        if value >= least:
            touched[kept] = v
            kept += 1
    return kept


@kernel
def _walk(
    offsets: Ints, targets: Ids, sums: Floats, start: int, restart: float, steps: int, random: Keys, counts: Floats,
    touched: Ids,
) -> int:  # fmt: skip
    """The printed algorithm; `sums` are cumulative probabilities over all edges, and rows are searched by halves."""
    count = 0
    u = start
    for _ in range(steps):
        if uniform(random) <= restart or offsets[u] == offsets[u + 1]:
            u = start
            continue
        low, high = offsets[u], offsets[u + 1] - 1
        before = sums[low - 1] if low > 0 else 0.0
        drawn = before + uniform(random) * (sums[high] - before)
        while low < high:
            middle = (low + high) // 2
            if sums[middle] > drawn:
                high = middle
            else:
                low = middle + 1
        u = targets[low]
        if counts[u] == 0.0:
            touched[count] = u
            count += 1
        counts[u] += 1.0
    return count
