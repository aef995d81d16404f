"""Probabilities of walks along typed paths, exact or from samples.

    h_0 = 1 at s,      h_i(v) = sum over u of  h_{i-1}(u) [v in r_i(u)] / |r_i(u)|,      P(s -> t; r_1 ... r_l) = h_l(t)

What stands at a node without the next step is lost, so the sum over t is at most 1. A walk for a query (s, r) never
uses an edge (s, r, t) or its inverse: without that, the edge in question would answer the query. With a fan-out cap c,
a node with more than c edges passes its probability to c of them, one drawn from each of c equal parts of the list; in
expectation every edge gets the same as without a cap. Draws depend on seed, query, path and node alone: not on the
order of queries, on threads, or on other paths of the trie.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ids, Ints, Keys
from weft.draws import uniform
from weft.errors import ConfigError
from weft.graph.paths.steps import Path, StepGraph, group_of, is_among
from weft.graph.paths.trie import Trie
from weft.hashing import avalanche
from weft.kernel import kernel
from weft.progress import progress

Flags = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True)
class Walking:
    """How to walk: the fan-out cap (0: none), the probability below which a node is dropped, the random seed."""

    cap: int = 100
    least: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.cap < 0 or not 0 <= self.least < 1:
            raise ConfigError("the fan-out cap must be 0 (none) or more, and the least probability from 0 to below 1")


EXACT = Walking(cap=0)


class Reached(NamedTuple):
    """What the walks of one query reach: path `paths[i]` ends at `nodes[i]` with probability `values[i]`.

    `active[p]` says whether path p reaches anything, candidate or not; `edges` counts the edges that were used.
    """

    paths: Ids
    nodes: Ids
    values: Floats
    active: Flags
    edges: int


class Walker:
    """Walks from one query after another; every thread has memory of its own.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("Mara", "born in", "Bergen"), ("Bergen", "in", "Norway"), ("Mara", "of", "Norway")])
    >>> graph = StepGraph.of([builder.graph()])
    >>> walker = Walker(graph, Trie.of([graph.path(["born in", "in"])]), relation="of")
    >>> found = walker.reached(graph.node("Mara"))
    >>> graph.names[found.nodes[0]], float(found.values[0])
    ('Norway', 1.0)
    """

    def __init__(
        self, graph: StepGraph, trie: Trie, relation: str = "", candidates: Flags | None = None,
        walking: Walking = EXACT,
    ) -> None:  # fmt: skip
        self.graph, self.trie, self.walking = graph, trie, walking
        self.hidden = graph.step(relation) if relation else -2
        self.candidates = np.ones(graph.n_nodes, dtype=np.bool_) if candidates is None else candidates
        self._own = threading.local()

    def reached(self, source: int) -> Reached:
        """The candidates that each path of the trie reaches from a node."""
        graph, trie, size = self.graph, self.trie, self.graph.n_nodes
        room: dict[str, Any] = self._own.__dict__
        if not room:
            room.update(
                mass=np.zeros(size), touched=np.empty(size, np.int32),
                support=np.empty((trie.height + 1, size), np.int32),
                share=np.empty((trie.height + 1, size)), count=np.zeros(trie.height + 1, np.int64),
                out=(np.empty(4096, np.int32), np.empty(4096, np.int32), np.empty(4096)),
            )  # fmt: skip
        while True:
            active = np.zeros(len(trie.paths), dtype=np.bool_)
            edges = np.zeros(1, dtype=np.int64)
            wanted = _walk(
                graph.node_groups, graph.group_step, graph.group_begin, graph.targets, trie.step, trie.depth, trie.leaf,
                trie.end, trie.key, source, self.hidden, self.candidates, self.walking.cap, self.walking.least,
                np.uint64(self.walking.seed), room["mass"], room["touched"], room["support"], room["share"],
                room["count"], room["out"][0], room["out"][1], room["out"][2], active, edges,
            )  # fmt: skip
            if wanted <= len(room["out"][0]):
                paths, nodes, values = (part[:wanted].copy() for part in room["out"])
                return Reached(paths, nodes, values, active, int(edges[0]))
            room["out"] = (np.empty(2 * wanted, np.int32), np.empty(2 * wanted, np.int32), np.empty(2 * wanted))


def walk_all(walker: Walker, sources: Sequence[int], then: Callable[[int, Reached], T], workers: int = 1) -> list[T]:
    """What `then` makes of the walks of every source, in their order; the same with any number of threads."""
    with progress("walking", total=len(sources), unit="queries") as bar:

        def one(source: int) -> T:
            made = then(source, walker.reached(source))
            bar.advance()
            return made

        if workers <= 1:
            return [one(source) for source in sources]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, sources))


def probabilities(
    graph: StepGraph, path: Path, source: int, relation: str = "", walking: Walking = EXACT
) -> dict[int, float]:
    """P(source -> t; path) for all t that the path reaches."""
    found = Walker(graph, Trie.of([path]), relation, walking=walking).reached(source)
    return dict(zip(found.nodes.tolist(), found.values.tolist(), strict=True))


def simulated(
    graph: StepGraph, path: Path, source: int, walks: int, relation: str = "", seed: int = 0
) -> dict[int, float]:
    """The same by Monte Carlo: the share of walkers, each taking one edge at a time, that end at t."""
    counts = np.zeros(graph.n_nodes, dtype=np.int64)
    hidden = graph.step(relation) if relation else -2
    random = np.array([avalanche(np.uint64(seed) + np.uint64(1))], dtype=np.uint64)
    _simulate(
        graph.node_groups, graph.group_step, graph.group_begin, graph.targets, np.array(path, np.int32), source, hidden,
        walks, random, counts,
    )  # fmt: skip
    return {int(node): float(counts[node]) / walks for node in np.flatnonzero(counts)}


@kernel
def usable(targets: Ids, begin: int, end: int, node: int, step: int, source: int, hidden: int) -> int:
    """How many edges of a group a walk may use; the edge in question and its inverse are not there."""
    if step == hidden and node == source:
        return 0
    if step == hidden ^ 1 and is_among(targets, begin, end, source):
        return end - begin - 1
    return end - begin


@kernel
def _expand(
    node_groups: Ints, group_step: Ids, group_begin: Ints, targets: Ids, step: int, key: np.uint64, source: int,
    hidden: int, cap: int, seed: np.uint64, support: Ids, share: Floats, size: int, mass: Floats, touched: Ids,
    random: Keys, edges: Ints,
) -> int:  # fmt: skip
    """One step of a distribution; `mass` receives it, and the number of `touched` nodes is returned."""
    count = 0
    for i in range(size):
        u = support[i]
        g = group_of(node_groups, group_step, u, step)
        if g < 0:
            continue
        begin, end = group_begin[g], group_begin[g + 1]
        degree = usable(targets, begin, end, u, step, source, hidden)
        if degree == 0:
            continue
        # Among the ends of an inverse edge in question, the source stands at one place, which draws skip.
        skipped = end
        if degree < end - begin:
            low, high = begin, end
            while low < high:
                middle = (low + high) // 2
                if targets[middle] < source:
                    low = middle + 1
                else:
                    high = middle
            skipped = low
        draws = degree if cap == 0 else min(degree, cap)
        part = share[i] / draws
        if draws < degree:
            random[0] = avalanche(avalanche(seed ^ key) ^ (np.uint64(u) << np.uint64(32)) ^ np.uint64(source))
        edges[0] += draws
        for k in range(draws):
            at = k
            if draws < degree:
                at = min(int((k + uniform(random)) * degree / draws), degree - 1)
            place = begin + at
            if place >= skipped:
                place += 1
            v = targets[place]
            if mass[v] == 0.0:
                touched[count] = v
                count += 1
            mass[v] += part
    return count


@kernel
def _walk(
    node_groups: Ints, group_step: Ids, group_begin: Ints, targets: Ids, trie_step: Ids, trie_depth: Ids,
    trie_leaf: Ids, trie_end: Ids, trie_key: Keys, source: int, hidden: int, candidates: Flags, cap: int,
    least: float, seed: np.uint64, mass: Floats, touched: Ids, support: Ids, share: Floats, counts: Ints,
    out_path: Ids, out_node: Ids, out_value: Floats, active: Flags, edges: Ints,
) -> int:  # fmt: skip
    """Go through the trie once; returns the number of results, of which only those that have room are written."""
    random = np.zeros(1, dtype=np.uint64)
    support[0, 0] = source
    share[0, 0] = 1.0
    counts[0] = 1
    written = 0
    i = 0
    while i < len(trie_step):
        depth = trie_depth[i]
        count = _expand(
            node_groups, group_step, group_begin, targets, trie_step[i], trie_key[i], source, hidden, cap, seed,
            support[depth], share[depth], counts[depth], mass, touched, random, edges,
        )  # fmt: skip
        kept = 0
        leaf = trie_leaf[i]
        if leaf >= 0 and count > 0:
            active[leaf] = True
        inner = trie_end[i] > i + 1
        for k in range(count):
            v = touched[k]
            value = mass[v]
            mass[v] = 0.0
            if value < least:
                continue
            if inner:
                support[depth + 1, kept] = v
                share[depth + 1, kept] = value
                kept += 1
            if leaf >= 0 and candidates[v]:
                if written < len(out_path):
                    out_path[written] = leaf
                    out_node[written] = v
                    out_value[written] = value
                written += 1
        counts[depth + 1] = kept
        i = i + 1 if kept > 0 or not inner else trie_end[i]
    return written


@kernel
def _simulate(
    node_groups: Ints, group_step: Ids, group_begin: Ints, targets: Ids, path: Ids, source: int, hidden: int,
    walks: int, random: Keys, counts: Ints,
) -> None:  # fmt: skip
    for _ in range(walks):
        u = source
        for step in path:
            g = group_of(node_groups, group_step, u, step)
            degree = 0
            if g >= 0:
                degree = usable(targets, group_begin[g], group_begin[g + 1], u, step, source, hidden)
            if degree == 0:
                u = -1
                break
            size = group_begin[g + 1] - group_begin[g]
            v = targets[group_begin[g] + min(int(uniform(random) * size), size - 1)]
            while degree < size and v == source:
                v = targets[group_begin[g] + min(int(uniform(random) * size), size - 1)]
            u = v
        if u >= 0:
            counts[u] += 1
