"""A system of rows: every rule of propagation is an update of this form, and its fixed point the solution of

    x_v = sum_u A[v, u] x_u + injected_v + rest_v T          (I - A) X = injected + rest T

with x_v the scores of the labels at vertex v, and T the label "unknown", the last column. Updates read the round before
(`order="together"`) or, on bipartite graphs, go from one side to the other and back (`order="sides"`), which needs half
the rounds. All labels are updated at once, or, to bound memory, in blocks: columns do not depend on each other.

With `top`, every row keeps its K best labels after every update, and memory is that of K labels per vertex, however
many there are. Of equal scores the label with the lower number is kept. "Unknown" is kept apart from the K.

Rows are summed in the order of their edges: threads and the workers of a Dask cluster find the same bits as one thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError
from weft.graph.propagation.cluster import sweeps_on_cluster
from weft.graph.propagation.seeds import Seeds
from weft.graph.propagation.sweeps import Rows, Watch, sweeps
from weft.graph.propagation.top import TopRows
from weft.kernel import kernel

Weights = NDArray[np.floating[Any]]
ORDERS = ("together", "sides")


@dataclass(frozen=True)
class System:
    """The rows of an update; see `rules` for where they come from.

    >>> from weft.graph.csr import Graph
    >>> from weft.graph.propagation.rules import adsorption
    >>> system = adsorption(Graph.from_edges(3, [0], [1]), Seeds.of(3, [0], [0]))
    >>> system.run(50).round(2).tolist()
    [[1.0, 0.0], [0.63, 0.37], [0.0, 1.0]]
    >>> system.run_top(50, top=1).labels.tolist()
    [[0], [0], [-1]]
    """

    offsets: Ints
    neighbours: Ids
    coefficients: Weights  # A
    injected: Seeds
    rest: Floats
    unknown_at_start: float  # of vertices that are no seeds
    shown: int | None = None  # how many vertices are the graph's; all, if None
    given: Seeds | None = None  # the seeds as they were given, with which the first round starts

    @property
    def n_vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_labels(self) -> int:
        return self.injected.n_labels

    def run(
        self, iterations: int = 10, tolerance: float = 0.0, workers: int = 1, cluster: Any = None,
        dtype: DTypeLike | None = None, order: str = "together", block: int | None = None, watch: Watch | None = None,
    ) -> Weights:  # fmt: skip
        """Scores `[vertex, label]` after so many rounds, or as soon as no score changes by more than `tolerance`.

        The last column is "unknown". `workers` are threads, `cluster` is a `distributed.Client`; `block` labels are
        updated at a time. `watch(round, scores)` sees every round, with all labels at once only.
        """
        kind = self._kind(iterations, tolerance, workers, dtype)
        groups = self._groups(order)
        width = self.n_labels + 1 if block is None else block
        if width < 1:
            raise ConfigError(f"a block holds at least one label, got {block}")
        if watch is not None and width <= self.n_labels:
            raise ConfigError("rounds can be watched with all labels at once, not in blocks")
        parts = []
        for first in range(0, self.n_labels + 1, width):
            q = self._start(first, min(width, self.n_labels + 1 - first), kind)
            rows = self._rows(kind, first)
            parts.append(self._swept(rows, (q,), iterations, tolerance, groups, workers, cluster, watch)[0])
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def run_top(
        self, iterations: int = 10, top: int = 15, tolerance: float = 0.0, workers: int = 1, cluster: Any = None,
        dtype: DTypeLike | None = None, order: str = "together", watch: Watch | None = None,
    ) -> TopRows:  # fmt: skip
        """The same with the `top` best labels of every vertex kept after every update."""
        kind = self._kind(iterations, tolerance, workers, dtype)
        if top < 1:
            raise ConfigError(f"a row keeps at least one label, got top={top}")
        groups = self._groups(order)
        rows = self._rows(kind, 0)
        start = self.given or self.injected
        began = TopRows.of_seeds(start, min(top, self.n_labels), kind)
        began.unknown[:] = np.where(start.seeded, 0.0, self.unknown_at_start)
        state = (began.labels, began.scores, began.unknown)
        state = self._swept(rows, state, iterations, tolerance, groups, workers, cluster, watch)
        return TopRows(*state, self.n_labels).first(self.shown)

    def best(
        self, iterations: int = 10, keep: int = 15, block: int = 64, tolerance: float = 0.0, workers: int = 1,
        cluster: Any = None, dtype: DTypeLike | None = None, order: str = "together",
    ) -> TopRows:  # fmt: skip
        """The `keep` best labels of every vertex after a run that truncates nothing: memory is that of one block."""
        kind = self._kind(iterations, tolerance, workers, dtype)
        if keep < 1 or block < 1:
            raise ConfigError(f"rows keep, and blocks hold, at least one label; got keep={keep} and block={block}")
        groups = self._groups(order)
        found = TopRows.empty(self.n_vertices, min(keep, self.n_labels), self.n_labels, kind)
        for first in range(0, self.n_labels + 1, block):
            q = self._start(first, min(block, self.n_labels + 1 - first), kind)
            rows = self._rows(kind, first)
            found.add(self._swept(rows, (q,), iterations, tolerance, groups, workers, cluster, None)[0], first)
        return found.first(self.shown)

    def solve(self) -> Floats:
        """The fixed point, by a direct solution of the sparse system: for graphs of some ten thousand vertices.

        Where neither seeds nor abandonment reach, the system says nothing: vertices stay as they started.
        """
        from scipy.sparse import csr_matrix, eye
        from scipy.sparse.linalg import splu

        n, m = self.n_vertices, self.n_labels
        a = csr_matrix((self.coefficients.astype(np.float64), self.neighbours, self.offsets), shape=(n, n))
        right = np.zeros((n, m + 1))
        right[:, :m], right[:, m] = self.injected.dense(), self.rest
        x = self._start(0, m + 1, np.dtype(np.float64))
        at = np.flatnonzero(self._settled)
        if len(at):
            away = np.flatnonzero(~self._settled)
            known = right[at] + a[at][:, away] @ x[away]
            x[at] = splu((eye(len(at), format="csc") - a[at][:, at].tocsc()).tocsc()).solve(known)
        return x.astype(np.float64, copy=False)

    @cached_property
    def _settled(self) -> Bools:
        """The vertices from which something outside the system is reached: they have one fixed point."""
        n = self.n_vertices
        sums = np.bincount(np.repeat(np.arange(n), np.diff(self.offsets)), self.coefficients, n)
        reached = self.injected.seeded | (self.rest > 0) | (sums < 1 - 1e-6)
        _reach(self.offsets, self.neighbours, reached)
        return reached

    def _kind(self, iterations: int, tolerance: float, workers: int, dtype: DTypeLike | None) -> np.dtype[Any]:
        if iterations < 0 or workers < 1 or not tolerance >= 0:
            raise ConfigError(
                "propagation needs iterations >= 0, tolerance >= 0 and workers >= 1, "
                f"got {iterations}, {tolerance} and {workers}"
            )
        kind = np.dtype(self.coefficients.dtype if dtype is None else dtype)
        if kind not in (np.float32, np.float64):
            raise ConfigError(f"propagation works in float32 or float64, not in {kind}")
        return kind

    def _rows(self, kind: np.dtype[Any], first: int) -> Rows:
        return Rows(
            self.offsets, self.neighbours, self.coefficients.astype(kind, copy=False), self.injected.offsets,
            self.injected.labels, self.injected.weights.astype(kind), self.rest.astype(kind), first, self.n_labels,
        )  # fmt: skip

    def _start(self, first: int, width: int, kind: np.dtype[Any]) -> Weights:
        """The labels `first` to `first + width` of the start."""
        start = self.given or self.injected
        q = np.zeros((self.n_vertices, width), dtype=kind)
        inside = (start.labels >= first) & (start.labels < first + width)
        q[start.vertices[inside], start.labels[inside] - first] = start.weights[inside]
        if first + width > self.n_labels:
            q[:, self.n_labels - first] = np.where(start.seeded, 0.0, self.unknown_at_start)
        return q

    def _swept(
        self, rows: Rows, state: tuple[Any, ...], iterations: int, tolerance: float, groups: list[Ids], workers: int,
        cluster: Any, watch: Watch | None,
    ) -> tuple[Any, ...]:  # fmt: skip
        if cluster is None:
            return sweeps(rows, state, iterations, tolerance, groups, workers, watch)
        if len(groups) > 1:
            raise ConfigError("on a cluster all vertices are updated together: order='together'")
        return sweeps_on_cluster(rows, state, iterations, tolerance, cluster, watch)

    def _groups(self, order: str) -> list[Ids]:
        if order not in ORDERS:
            raise ConfigError(f"vertices are updated by one of the orders {', '.join(ORDERS)}, not {order!r}")
        if order == "together":
            return [np.arange(self.n_vertices, dtype=np.int32)]
        side = np.full(self.n_vertices, -1, dtype=np.int32)
        at = _two_sides(*self._links(), side)
        if at >= 0:
            raise ConfigError(
                f"the graph has no two sides: vertex {at} is on a cycle of odd length; update all together"
            )
        return [np.flatnonzero(side == which).astype(np.int32) for which in (1, 0)]

    def _links(self) -> tuple[Ints, Ids]:
        """Who reads whom, in both directions."""
        from scipy.sparse import csr_matrix

        shape = (self.n_vertices, self.n_vertices)
        reads = csr_matrix((np.ones(len(self.neighbours), dtype=np.int8), self.neighbours, self.offsets), shape=shape)
        both = (reads + reads.T).tocsr()
        return both.indptr.astype(np.int64), both.indices.astype(np.int32)


@kernel
def _reach(offsets: Ints, neighbours: Ids, reached: Bools) -> None:
    """Extend a set of vertices by those whose rows lead into it."""
    changed = True
    while changed:
        changed = False
        for v in range(len(reached)):
            if not reached[v]:
                for e in range(offsets[v], offsets[v + 1]):
                    if reached[neighbours[e]]:
                        reached[v] = True
                        changed = True
                        break


@kernel
def _two_sides(offsets: Ints, neighbours: Ids, side: Ids) -> int:
    """Put the ends of every edge on two sides; the first vertex for which that fails, or -1."""
    n = len(side)
    stack = np.empty(n, dtype=np.int32)
    for root in range(n):
        if side[root] >= 0:
            continue
        side[root] = 0
        stack[0] = root
        size = 1
        while size:
            size -= 1
            v = stack[size]
            for e in range(offsets[v], offsets[v + 1]):
                u = neighbours[e]
                if side[u] < 0:
                    side[u] = 1 - side[v]
                    stack[size] = u
                    size += 1
                elif side[u] == side[v]:
                    return v
    return -1
