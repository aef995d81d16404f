"""Exact inference over trees: time per sentence by length, and its growth.

Scores are random for all arcs between the words of a sentence (for siblings also for all sibling parts), without
features. Each time is the best of a few rounds of CPU time on one core, over enough sentences for a round to take a
while. `growth` is the slope of log time over log length, from 50 words up: 2 for spanning trees, 3 for projective
ones. If networkx is installed, its maximum spanning arborescence of the same graph is included.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.infer.trees.arcs import ArcSpace, all_arcs
from weft.infer.trees.nonprojective import SpanningTrees
from weft.infer.trees.projective import ProjectiveTrees

LENGTHS = (10, 20, 50, 100, 200, 400)
#: Maximum sentence lengths, beyond which a run would take minutes or gigabytes.
LONGEST = {"projective, siblings: best": 100, "networkx: best spanning tree": 50}


def run() -> dict[str, Any]:
    """Measure every verb at every length."""
    rows = []
    for name, verb in VERBS.items():
        lengths = [n for n in LENGTHS if n <= LONGEST.get(name, max(LENGTHS))]
        times = [microseconds(verb, n) for n in lengths]
        long = [i for i, n in enumerate(lengths) if n >= 50]
        growth = None
        if len(long) > 1:
            growth = round(np.polyfit(np.log([lengths[i] for i in long]), np.log([times[i] for i in long]), 1)[0], 2)
        row: dict[str, Any] = {"measured, microseconds a sentence": name}
        row |= {f"{n} words": round(t, 1) for n, t in zip(lengths, times, strict=True)}
        row |= {f"{n} words": None for n in LENGTHS if n not in lengths}
        rows.append(row | {"growth": growth})
    return {"title": "Exact inference over trees, one core", "rows": rows}


def microseconds(verb: Callable[[ArcSpace, Any], Callable[[], object]], n: int) -> float:
    """The shortest time a sentence of n words takes."""
    copies = max(1, 20000 // n**2)
    space = all_arcs(n * np.arange(copies + 1))
    work = verb(space, np.random.default_rng(n))
    shortest = np.inf
    for _ in range(5):
        begin = time.process_time()
        work()
        shortest = min(shortest, time.process_time() - begin)
    return 1e6 * shortest / copies


def spanning(space: ArcSpace, rng: np.random.Generator, single_root: bool = False) -> SpanningTrees:
    return SpanningTrees(space, 2 * rng.normal(size=space.n_arcs), single_root)


def projective(space: ArcSpace, rng: np.random.Generator, siblings: bool = False) -> ProjectiveTrees:
    sibling = rng.normal(size=space.n_siblings) if siblings else None
    return ProjectiveTrees(space, 2 * rng.normal(size=space.n_arcs), sibling)


def with_networkx(space: ArcSpace, rng: np.random.Generator) -> Callable[[], object]:
    """Its spanning trees of all sentences."""
    import networkx

    graphs = []
    for s in range(len(space)):
        one, _ = space.cut(s, s + 1)
        graph = networkx.DiGraph()
        scores = 2 * rng.normal(size=one.n_arcs)
        graph.add_weighted_edges_from(zip(one.head.tolist(), one.modifier.tolist(), scores.tolist(), strict=True))
        graphs.append(graph)
    return lambda: [networkx.maximum_spanning_arborescence(graph) for graph in graphs]


VERBS: dict[str, Callable[[ArcSpace, Any], Callable[[], object]]] = {
    "spanning: best": lambda space, rng: spanning(space, rng).best,
    "spanning, single root: best": lambda space, rng: spanning(space, rng, single_root=True).best,
    "spanning: 5 best": lambda space, rng: lambda trees=spanning(space, rng): trees.kbest(5),
    "spanning: marginals": lambda space, rng: spanning(space, rng).marginals,
    "projective: best": lambda space, rng: projective(space, rng).best,
    "projective, siblings: best": lambda space, rng: projective(space, rng, siblings=True).best,
}
if importlib.util.find_spec("networkx"):
    VERBS["networkx: best spanning tree"] = with_networkx


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
