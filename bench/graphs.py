"""A typed graph of a hundred million edges: build it, write it, map it, and read its rows; seconds and memory.

Edges are random, over 5 million nodes and 20 relations. What is counted does not depend on the machine: every edge is
found again from both ends, and a mapped graph takes no memory of its own until its rows are read.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from weft.graph.store import TypedGraph
from weft.graph.strings import Strings

NODES, EDGES, RELATIONS = 5_000_000, 100_000_000, 20


def run(nodes: int = NODES, edges: int = EDGES) -> dict[str, Any]:
    """Sizes, seconds and the highest memory of the process after each step."""
    draw = np.random.default_rng(0)
    names = Strings.of([f"node {number}" for number in range(nodes)])
    relation = draw.integers(RELATIONS, size=edges, dtype=np.int32)
    sources, targets = (draw.integers(nodes, size=edges, dtype=np.int32) for _ in range(2))
    weights = np.ones(edges, dtype=np.float32)
    rows: list[dict[str, Any]] = []

    def note(what: str, start: float) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append({"what": what, "seconds": round(time.perf_counter() - start, 1), "peak MB": round(peak)})

    note("edges as arrays, before anything", time.perf_counter())
    start = time.perf_counter()
    graph = TypedGraph.of_arrays(names, [f"r{k:02}" for k in range(RELATIONS)], relation, sources, targets, weights)
    note("sorted by relation, source and target", start)
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        start = time.perf_counter()
        graph.save(Path(folder, "g.weft"))
        size = Path(folder, "g.weft").stat().st_size
        note("written", start)
        del graph
        start = time.perf_counter()
        mapped = TypedGraph.load(Path(folder, "g.weft"), mapped=True)
        note("mapped and checked", start)
        start = time.perf_counter()
        forward = mapped.rows("r07")
        note("rows of one relation", start)
        start = time.perf_counter()
        backward = mapped.rows("r07", inverse=True)
        note("rows of its inverse", start)
        found = int(mapped.slices[8] - mapped.slices[7])
    own = relation == 7
    assert found == int(own.sum())
    assert float(forward.weights.sum()) == float(backward.weights.sum()) == found
    some = int(sources[np.flatnonzero(own)[0]])
    assert forward.of(some) == sorted(set(targets[own & (sources == some)].tolist()))
    return {
        "title": f"A typed graph of {edges:,} edges over {nodes:,} nodes", "rows": rows, "bytes of the file": size,
        "bytes per edge": round(size / edges, 2),
    }  # fmt: skip
