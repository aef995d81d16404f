"""Label propagation: time and memory for 10 million edges, and a comparison with scikit-learn's LabelSpreading.

The large graph is random: 2 million vertices with edges to five others each, 12 labels, a tenth of the vertices
labelled, 10 sweeps in float32; building it from its edges is included. Peak memory is that of the whole process.

The comparison with LabelSpreading measures the whole way from vectors to labels, with 5 nearest neighbours and 10
sweeps on both sides and a tenth of the vertices labelled: on sparse vectors of trigrams (generated text), as in
tagging; with LabelSpreading's default, the rbf kernel over all pairs; on dense vectors with its neighbour kernel,
where both find neighbours with scikit-learn; and propagation alone, over the same graph. Times are CPU seconds, the
best of two; kernels are compiled before the clock starts.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.features.representations.trigrams import TrigramContexts
from weft.graph.csr import Graph
from weft.graph.neighbours import nearest_neighbours
from weft.graph.propagation.quadratic import propagate
from weft.text.doc import Doc

VERTICES, LISTED, LABELS, SWEEPS = 2_000_000, 5, 12, 10
SPARSE, DENSE, PAIRS, ALONE = 16_000, 8_000, 6_000, 200_000
GOAL_SECONDS, GOAL_GB, GOAL_TIMES = 120, 2.0, 10


def run(vertices: int = VERTICES, part: float = 1.0) -> dict[str, Any]:
    """Measure both; `part` scales the input sizes of LabelSpreading."""
    propagate(_graph(50), [0], np.eye(LABELS, dtype=np.float32)[:1], sweeps=1)  # compiles
    propagate(_graph(50), [0], np.eye(LABELS)[:1], sweeps=1)
    rows: list[dict[str, Any]] = [_large(vertices, workers) for workers in (1, 2)]
    rng = np.random.default_rng(0)
    sparse = _trigrams(int(SPARSE * part))
    dense = rng.normal(size=(40, 20))[rng.integers(0, 40, int(DENSE * part))] + rng.normal(size=(int(DENSE * part), 20))
    nearest_neighbours(sparse[:50], 2), nearest_neighbours(dense[:50], 2)  # compiles
    few = dense[: int(PAIRS * part)]
    graph = _graph(int(ALONE * part))
    for name, vectors, given, kernel in (
        (f"{sparse.shape[0]:,} sparse vectors to labels", sparse, None, "knn"),
        (f"{len(few):,} dense vectors, all pairs there", few, None, "rbf"),
        (f"{len(dense):,} dense vectors to labels", dense, None, "knn"),
        (f"propagation alone, {graph.n_vertices:,} vertices", np.zeros((graph.n_vertices, 1)), graph, "given"),
    ):
        known = np.where(rng.random(vectors.shape[0]) < 0.1, rng.integers(0, LABELS, vectors.shape[0]), -1)
        known[:LABELS] = np.arange(LABELS)
        ours = _best_of(lambda v=vectors, g=given, y=known: _ours(v, g, y))
        theirs = _best_of(lambda v=vectors, g=given, y=known, k=kernel: _theirs(v, g, y, k))
        rows.append({"measured": f"{name}, CPU s", "weft": round(ours, 2), "LabelSpreading": round(theirs, 2),
                     "times as fast": round(theirs / ours, 1), "GB": None, "goal": f"{GOAL_TIMES} times"})  # fmt: skip
    rows[-1]["goal"] = rows[-2]["goal"] = ""
    return {
        "title": f"Label propagation over {vertices * LISTED / 1e6:.0f} million edges, and beside scikit-learn",
        "rows": rows,
    }


def _large(vertices: int, workers: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    u, v, w = _edges(vertices)
    labelled = rng.choice(vertices, vertices // 10, replace=False)
    targets = np.eye(LABELS, dtype=np.float32)[rng.integers(0, LABELS, len(labelled))]
    clock = time.process_time if workers == 1 else time.perf_counter
    started = clock()
    graph = Graph.from_edges(vertices, u, v, w)
    del u, v, w
    propagate(graph, labelled, targets, sweeps=SWEEPS, workers=workers)
    seconds = clock() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    kind = "CPU s" if workers == 1 else f"s on {workers} threads"
    return {
        "measured": f"{graph.n_edges:,} edges, {LABELS} labels, {SWEEPS} sweeps, {kind}", "weft": round(seconds, 2),
        "LabelSpreading": None, "times as fast": None, "GB": round(peak, 2),
        "goal": f"{GOAL_SECONDS} s, {GOAL_GB:.0f} GB",
    }  # fmt: skip


def _ours(vectors: Any, graph: Graph | None, known: Any) -> None:
    if graph is None:
        graph = Graph.from_lists(*nearest_neighbours(vectors, LISTED)).symmetric()
    labelled = np.flatnonzero(known >= 0)
    propagate(graph, labelled, np.eye(LABELS)[known[labelled]], sweeps=SWEEPS).argmax(axis=1)


def _theirs(vectors: Any, graph: Graph | None, known: Any, kernel: str) -> None:
    from sklearn.semi_supervised import LabelSpreading

    given = (lambda one, other=None: graph.matrix()) if graph is not None else kernel
    peer = LabelSpreading(kernel=given, n_neighbors=LISTED, max_iter=SWEEPS, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(vectors, known)


def _best_of(work: Callable[[], None], rounds: int = 2) -> float:
    found = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def _edges(n: int) -> tuple[Any, Any, Any]:
    """Every vertex has edges to five random others; duplicate edges are rare."""
    rng = np.random.default_rng(0)
    u = np.repeat(np.arange(n, dtype=np.int32), LISTED)
    v = ((u + rng.integers(1, n, len(u), dtype=np.int32).astype(np.int64)) % n).astype(np.int32)
    return u, v, rng.random(len(u), dtype=np.float32)


def _graph(n: int) -> Graph:
    return Graph.from_edges(n, *_edges(n))


def _trigrams(n: int) -> Any:
    """Vectors of the trigrams of sentences made of words of a Zipf distribution."""
    rng = np.random.default_rng(0)
    contexts = TrigramContexts()
    while len(contexts) < n:
        words = rng.zipf(1.3, size=(200, 8)) % 2000
        contexts.add([Doc.from_words([[f"w{word}" for word in row] for row in words.tolist()])])
    return contexts.pmi()[:n]
