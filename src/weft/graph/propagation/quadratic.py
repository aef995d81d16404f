"""Quadratic label propagation: distributions q_u that agree with labelled vertices and with their neighbours.

    C(q) = sum_{u in V_l} ||r_u - q_u||^2 + mu sum_{edges uv} w_uv ||q_u - q_v||^2 + nu sum_u ||q_u - U||^2

with r_u the known distribution of a labelled vertex and U the uniform one. The minimum solves

    (I_l + nu I + mu (D - W)) Q = R_l + nu U

and is approached by sweeps over the vertices,

    q_u <- [ r_u 1(u in V_l) + mu sum_v w_uv q_v + nu U ] / [ 1(u in V_l) + nu + mu sum_v w_uv ]

from the values of the sweep before (Jacobi), or from the newest (Gauss-Seidel), where C never rises. Rows that begin on
the simplex stay there. Vertices without a path to a labelled one tend to U.

Gauss-Seidel goes through the vertices colour by colour, no two neighbours sharing one, so that the vertices of a colour
can be updated side by side. Every row is summed in the order of its edges: threads and the workers of a Dask cluster
find the same bits as one thread alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from weft.arrays import Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.csr import Graph
from weft.graph.propagation.sweeps import renumbered, shares
from weft.kernel import kernel

Floats = NDArray[np.floating[Any]]
METHODS = ("jacobi", "gauss-seidel")


@dataclass(frozen=True)
class Propagation:
    """A problem of label propagation: the graph, the labelled vertices and their distributions, mu and nu.

    >>> line = Graph.from_edges(3, [0, 1], [1, 2])
    >>> problem = Propagation(line, [0], [[1.0, 0.0]], mu=0.5, nu=0.01)
    >>> problem.run(sweeps=200).round(3).tolist()
    [[0.986, 0.014], [0.967, 0.033], [0.958, 0.042]]
    >>> problem.solve().round(3).tolist()
    [[0.986, 0.014], [0.967, 0.033], [0.958, 0.042]]
    """

    graph: Graph
    labelled: Any  # numbers of vertices, each once
    targets: Any  # their distributions, [labelled, label]
    mu: float = 0.5
    nu: float = 0.01

    def __post_init__(self) -> None:
        labelled = np.asarray(self.labelled, dtype=np.int64)
        targets = np.asarray(self.targets)
        if targets.dtype != np.float32:
            targets = targets.astype(np.float64, copy=False)
        n = self.graph.n_vertices
        if targets.ndim != 2 or len(targets) != len(labelled) or targets.shape[1] < 1:
            raise DataError(
                f"labelled vertices need one row of label probabilities each: {len(labelled)} vertices, targets of "
                f"shape {targets.shape}"
            )
        if len(labelled) and (labelled.min() < 0 or labelled.max() >= n):
            raise DataError(f"labelled vertices must be numbers 0 to {n - 1}; check how vertices were numbered")
        if len(np.unique(labelled)) != len(labelled):
            raise DataError("a labelled vertex is named twice; give the mean of its distributions once")
        if not np.isfinite(targets).all() or (targets < 0).any():
            raise DataError("targets must be probabilities: finite numbers of at least 0")
        if self.mu < 0 or self.nu < 0:
            raise ConfigError(f"mu and nu must be at least 0, got mu={self.mu}, nu={self.nu}")
        if len(self.graph.weights) and not self.graph.weights.min() >= 0:
            raise DataError("propagation needs edge weights of at least 0; leave out edges with negative similarity")
        object.__setattr__(self, "labelled", labelled)
        object.__setattr__(self, "targets", targets)

    @property
    def n_labels(self) -> int:
        return int(self.targets.shape[1])

    def run(
        self,
        start: ArrayLike | None = None,
        sweeps: int = 10,
        method: str = "jacobi",
        workers: int = 1,
        cluster: Any = None,
        dtype: DTypeLike | None = None,
        watch: Callable[[int, Floats], None] | None = None,
    ) -> Floats:
        """Distributions `[vertex, label]` after so many sweeps from `start` (uniform by default).

        `workers` are threads; `cluster` is a `distributed.Client` whose workers hold the parts of the graph (Jacobi
        only). Numbers are of the type `dtype`, float32 or float64; by default of the type of the targets.
        `watch(sweep, q)` sees every sweep's outcome.
        """
        if method not in METHODS:
            raise ConfigError(f"propagation goes by one of {', '.join(METHODS)}, not by {method!r}")
        if sweeps < 0 or workers < 1:
            raise ConfigError(f"propagation needs sweeps >= 0 and workers >= 1, got {sweeps} and {workers}")
        kind = np.dtype(self.targets.dtype if dtype is None else dtype)
        if kind not in (np.float32, np.float64):
            raise ConfigError(f"propagation works in float32 or float64, not in {kind}")
        shape = (self.graph.n_vertices, self.n_labels)
        q: Floats = np.full(shape, 1.0 / shape[1], dtype=kind) if start is None else np.array(start, dtype=kind)
        if q.shape != shape:
            raise DataError(f"propagation starts from one row a vertex, {shape}; got {q.shape}")
        rows = _Rows.of(self, kind)
        if cluster is not None:
            if method != "jacobi":
                raise ConfigError("on a cluster propagation goes by method='jacobi': sweeps read the one before only")
            return _on_cluster(rows, q, sweeps, cluster, watch)
        if method == "jacobi":
            return _jacobi(rows, q, sweeps, workers, watch)
        return _gauss_seidel(rows, q, sweeps, workers, watch)

    def cost(self, q: ArrayLike) -> float:
        """C(q).

        >>> pair = Graph.from_edges(2, [0], [1])
        >>> Propagation(pair, [0], [[1.0, 0.0]], mu=0.5, nu=0.0).cost([[1.0, 0.0], [0.0, 1.0]])
        1.0
        """
        own = np.asarray(q, dtype=np.float64)
        u, v, w = self.graph.edges()
        pulled = ((self.targets - own[self.labelled]) ** 2).sum()
        smooth = float(w.astype(np.float64) @ ((own[u] - own[v]) ** 2).sum(axis=1))
        uniform = ((own - 1.0 / self.n_labels) ** 2).sum()
        return float(pulled + self.mu * smooth + self.nu * uniform)

    def solve(self) -> NDArray[np.float64]:
        """The minimum of C by a direct solution of the linear system: for graphs of some thousand vertices."""
        from scipy.sparse import diags
        from scipy.sparse.linalg import splu

        if self.nu <= 0:
            raise ConfigError("without nu the system need not have one solution; use run(), or set nu above 0")
        n = self.graph.n_vertices
        diagonal = self.nu + self.mu * self.graph.strengths()
        diagonal[self.labelled] += 1.0
        right = np.full((n, self.n_labels), self.nu / self.n_labels)
        right[self.labelled] += self.targets
        system = (diags(diagonal) - self.mu * self.graph.matrix().astype(np.float64)).tocsc()
        return np.asarray(splu(system).solve(right))


def propagate(
    graph: Graph, labelled: ArrayLike, targets: ArrayLike, mu: float = 0.5, nu: float = 0.01, **options: Any
) -> Floats:
    """Spread the distributions of labelled vertices over a graph; see `Propagation.run` for the options.

    >>> graph = Graph.from_edges(4, [0, 1], [1, 2])
    >>> propagate(graph, [0, 2], [[1.0, 0.0], [1.0, 0.0]], sweeps=50).round(2).tolist()
    [[0.99, 0.01], [0.99, 0.01], [0.99, 0.01], [0.5, 0.5]]
    """
    return Propagation(graph, labelled, targets, mu, nu).run(**options)


@dataclass(frozen=True)
class _Rows:
    """Rows of a problem, their neighbours numbered as the rows of the q they read."""

    offsets: Ints
    neighbours: Ids
    weights: Floats
    target: Ids  # the row of targets of every vertex, -1: none
    targets: Floats
    mu: float
    nu: float

    @classmethod
    def of(cls, problem: Propagation, kind: np.dtype[Any]) -> _Rows:
        graph = problem.graph
        target = np.full(graph.n_vertices, -1, dtype=np.int32)
        target[problem.labelled] = np.arange(len(problem.labelled), dtype=np.int32)
        weights, targets = graph.weights.astype(kind, copy=False), np.ascontiguousarray(problem.targets, dtype=kind)
        mu, nu = kind.type(problem.mu), kind.type(problem.nu)
        return cls(graph.offsets, graph.neighbours, weights, target, targets, mu, nu)

    def sweep(self, order: Ids, q: Floats, into: Floats) -> None:
        _sweep(
            self.offsets, self.neighbours, self.weights, self.target, self.targets, self.mu, self.nu,
            order, q, into,
        )  # fmt: skip


def _jacobi(rows: _Rows, q: Floats, sweeps: int, workers: int, watch: Callable[[int, Floats], None] | None) -> Floats:
    n = len(q)
    order = np.arange(n, dtype=np.int32)
    parts = shares(rows.offsets, order, workers)
    spare = np.empty_like(q)
    with ThreadPoolExecutor(workers) as pool:
        for sweep in range(sweeps):
            _side_by_side(pool, parts, partial(rows.sweep, q=q, into=spare))
            q, spare = spare, q
            if watch is not None:
                watch(sweep, q)
    return q


def _gauss_seidel(
    rows: _Rows, q: Floats, sweeps: int, workers: int, watch: Callable[[int, Floats], None] | None
) -> Floats:
    colour = np.full(len(q), -1, dtype=np.int32)
    n_colours = _paint(rows.offsets, rows.neighbours, colour)
    order = np.argsort(colour, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(colour, minlength=n_colours)).tolist()
    parts = [np.array_split(order[lo:hi], workers) for lo, hi in pairwise([0, *ends])]
    with ThreadPoolExecutor(workers) as pool:
        for sweep in range(sweeps):
            for of_colour in parts:
                _side_by_side(pool, of_colour, partial(rows.sweep, q=q, into=q))
            if watch is not None:
                watch(sweep, q)
    return q


def _side_by_side(pool: ThreadPoolExecutor, parts: list[Ids], work: Callable[[Ids], None]) -> None:
    if len(parts) == 1:
        work(parts[0])
        return
    for done in [pool.submit(work, part) for part in parts]:
        done.result()


def _on_cluster(
    rows: _Rows, q: Floats, sweeps: int, client: Any, watch: Callable[[int, Floats], None] | None
) -> Floats:
    """Jacobi sweeps where each worker holds a block of rows; a sweep moves only the rows that other blocks read."""
    names = sorted(client.scheduler_info(n_workers=-1)["workers"])
    bounds = np.linspace(0, len(q), min(len(names), max(1, len(q))) + 1).astype(np.int64)
    spans = list(pairwise(bounds.tolist()))
    blocks, pieces, wanted = [], [], []
    for (lo, hi), name in zip(spans, names, strict=False):
        block, outside = _block(rows, lo, hi)
        blocks.append(client.scatter(block, workers=[name], hash=False))
        pieces.append(client.scatter(q[lo:hi], workers=[name], hash=False))
        wanted.append([outside[(outside >= a) & (outside < b)] - a for a, b in spans])
    for sweep in range(sweeps):
        pieces = [
            client.submit(
                _sweep_block, block, pieces[i],
                *[client.submit(_read_rows, pieces[j], read, pure=False) for j, read in enumerate(wanted[i])],
                workers=[names[i]], pure=False,
            )
            for i, block in enumerate(blocks)
        ]  # fmt: skip
        if watch is not None:
            watch(sweep, np.concatenate(client.gather(pieces)))
    return np.concatenate(client.gather(pieces)) if pieces else q


def _block(rows: _Rows, lo: int, hi: int) -> tuple[_Rows, Ids]:
    """Rows `lo:hi` by themselves, and the vertices outside that they read: numbered after their own, in order."""
    first, end = rows.offsets[lo], rows.offsets[hi]
    local, outside = renumbered(rows.neighbours[first:end], lo, hi)
    target = rows.target[lo:hi]
    own = np.where(target >= 0, np.cumsum(target >= 0) - 1, -1).astype(np.int32)
    targets = rows.targets[target[target >= 0]]
    offsets = rows.offsets[lo : hi + 1] - first
    return _Rows(offsets, local, rows.weights[first:end], own, targets, rows.mu, rows.nu), outside


def _read_rows(piece: Floats, rows: Ints) -> Floats:
    return piece[rows]


def _sweep_block(block: _Rows, piece: Floats, *outside: Floats) -> Floats:
    # What comes over the wire may be read-only, for which the kernel would be compiled anew.
    arrays = {name: part for name, part in vars(block).items() if isinstance(part, np.ndarray)}
    own: dict[str, Any] = {name: np.require(part, requirements=["C", "W"]) for name, part in arrays.items()}
    block = replace(block, **own)
    into = np.empty_like(piece)
    block.sweep(np.arange(len(piece), dtype=np.int32), np.concatenate([piece, *outside]), into)
    return into


@kernel
def _sweep(
    offsets: Ints,
    neighbours: Ids,
    weights: Floats,
    target: Ids,
    targets: Floats,
    mu: float,
    nu: float,
    order: Ids,
    q: Floats,
    into: Floats,
) -> None:
    """New rows of the vertices of `order`, read from `q`, written to `into` (the same array in Gauss-Seidel)."""
    n_labels = q.shape[1]
    row = np.empty(n_labels, dtype=q.dtype)
    for i in range(len(order)):
        u = order[i]
        row[:] = nu / q.dtype.type(n_labels)
        total: Any = nu
        for e in range(offsets[u], offsets[u + 1]):
            w = mu * weights[e]
            total += w
            v = neighbours[e]
            for y in range(n_labels):
                row[y] += w * q[v, y]
        r = target[u]
        if r >= 0:
            total += q.dtype.type(1.0)
            for y in range(n_labels):
                row[y] += targets[r, y]
        if total > 0:
            for y in range(n_labels):
                into[u, y] = row[y] / total
        else:  # neither label, neighbour nor prior: nothing is known of the vertex but where it began
            for y in range(n_labels):
                into[u, y] = q[u, y]


@kernel
def _paint(offsets: Ints, neighbours: Ids, colour: Ids) -> int:
    """Colours of vertices in turn, each the smallest that no neighbour has; how many there are."""
    used = np.full(len(colour) + 1, -1, dtype=np.int32)  # the last vertex that a colour was refused to
    n_colours = 0
    for u in range(len(colour)):
        for e in range(offsets[u], offsets[u + 1]):
            c = colour[neighbours[e]]
            if c >= 0:
                used[c] = u
        own = 0
        while used[own] == u:
            own += 1
        colour[u] = own
        n_colours = max(n_colours, own + 1)
    return n_colours
