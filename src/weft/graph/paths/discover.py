"""Which paths are worth walking: those that are active for many queries and often end at an answer.

Paths grow by one step at a time from the sources of training queries, up to a length that does not count free steps. A
path stays if

    (1)  it reaches anything from more than K queries        (no extension of a path is active for more than the path)
    (2)  the mean over queries of P(s -> answers of s; path) exceeds alpha

(1) also prunes what is extended. The last step is never walked: of the edges at the end of a path only those to answers
are looked up. Of many paths, the `width` most active are extended and the `most` with the best mean are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids, Ints, Keys
from weft.errors import ConfigError
from weft.graph.paths.steps import Path, StepGraph, is_among
from weft.graph.paths.trie import Trie
from weft.graph.paths.walk import EXACT, Walking, _expand, usable
from weft.kernel import kernel
from weft.progress import progress

#: Free steps of a path, at most: into a sentence and back, twice.
MOST_FREE = 4


@dataclass(frozen=True)
class Found:
    """A path with its figures over the queries it was found with."""

    path: Path
    active: int
    hits: float


@dataclass(frozen=True)
class Search:
    """How paths are found: their length, K, alpha, and how many are extended and kept."""

    length: int = 3
    active: int = 2
    hits: float = 1e-4
    width: int = 2000
    most: int = 1000

    def __post_init__(self) -> None:
        if self.length < 1 or self.active < 0 or self.hits < 0 or self.width < 1 or self.most < 1:
            raise ConfigError("length, width and number of paths must be at least 1; K and alpha at least 0")


def discover(
    graph: StepGraph, relation: str, queries: Mapping[int, Sequence[int]], search: Search = Search(),
    walking: Walking = EXACT,
) -> list[Found]:  # fmt: skip
    """Paths from the sources of queries to their answers, the best first; `queries` maps sources to answers.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> for who, town in (("Ada", "Ulm"), ("Bo", "Ulm"), ("Cy", "Bonn")):
    ...     builder.add_all([(who, "born in", town), (who, "of", "Germany"), (town, "in", "Germany")])
    >>> graph = StepGraph.of([builder.graph()])
    >>> found = discover(graph, "of", graph.answers("of"), Search(length=2, active=1, hits=0.5))
    >>> [(graph.told(each.path), each.active, each.hits) for each in found]
    [('⟨born in, in⟩', 3, 1.0)]
    """
    own = graph.step(relation)
    sources = np.array(sorted(queries), dtype=np.int64)
    answers = [np.array(sorted(set(queries[int(s)])), dtype=np.int32) for s in sources]
    frontier: list[Path] = [()]
    found: list[Found] = []
    with progress("finding paths", total=search.length + MOST_FREE, unit="steps") as bar:
        while frontier:
            active, hits = _measured(graph, frontier, sources, answers, own, walking)
            grown: list[tuple[int, Path]] = []
            for f, k in zip(*np.nonzero(active > search.active), strict=True):
                path = (*frontier[f], int(k))
                if not _is_allowed(graph, path, search.length):
                    continue
                mean = float(hits[f, k]) / len(sources)
                if mean > search.hits and path != (own,):
                    found.append(Found(path, int(active[f, k]), mean))
                grown.append((int(active[f, k]), path))
            grown.sort(key=lambda pair: (-pair[0], pair[1]))
            frontier = sorted(path for _, path in grown[: search.width] if _may_grow(graph, path, search.length))
            bar.advance()
    found.sort(key=lambda each: (-each.hits, each.path))
    return found[: search.most]


def _is_allowed(graph: StepGraph, path: Path, length: int) -> bool:
    """Whether a path is short enough; a free step and straight back again leads nowhere."""
    free = int(graph.free[list(path)].sum())
    if len(path) - free > length or free > MOST_FREE:
        return False
    return not (len(path) > 1 and graph.free[path[-1]] and path[-1] ^ 1 == path[-2] and path[-1] % 2 == 1)


def _may_grow(graph: StepGraph, path: Path, length: int) -> bool:
    free = int(graph.free[list(path)].sum())
    return len(path) - free < length or (free < MOST_FREE and bool(graph.free.any()))


def _measured(
    graph: StepGraph, frontier: list[Path], sources: Ints, answers: list[Ids], own: int, walking: Walking
) -> tuple[Ints, Floats]:
    """For every path of the frontier and every further step: how many queries reach anything, and the sum of hits."""
    active = np.zeros((len(frontier), graph.n_steps), dtype=np.int64)
    last = np.full((len(frontier), graph.n_steps), -1, dtype=np.int64)
    hits = np.zeros((len(frontier), graph.n_steps))
    n = graph.n_nodes
    trie = Trie.of([path for path in frontier if path])
    mass, touched = np.zeros(n), np.empty(n, dtype=np.int32)
    support, share = np.empty((trie.height + 1, n), dtype=np.int32), np.empty((trie.height + 1, n))
    counts = np.zeros(trie.height + 1, dtype=np.int64)
    places = {path: number for number, path in enumerate(frontier)}
    rows = np.array([places[path] for path in trie.paths], dtype=np.int32)
    leaf = np.where(trie.leaf >= 0, rows[trie.leaf] if len(rows) else 0, -1).astype(np.int32)
    root = places.get((), -1)
    edges = np.zeros(1, dtype=np.int64)
    for number, (source, right) in enumerate(zip(sources.tolist(), answers, strict=True)):
        _measure(
            graph.node_groups, graph.group_step, graph.group_begin, graph.targets, trie.step, trie.depth, leaf,
            trie.end, trie.key, number, source, own, right, root, walking.cap, walking.least, np.uint64(walking.seed),
            mass, touched, support, share, counts, active, last, hits, edges,
        )  # fmt: skip
    return active, hits


@kernel
def _look_ahead(
    node_groups: Ints, group_step: Ids, group_begin: Ints, targets: Ids, number: int, source: int, hidden: int,
    answers: Ids, support: Ids, share: Floats, size: int, active: Ints, last: Ints, hits: Floats,
) -> None:  # fmt: skip
    """Count what one further step, of any kind, would find."""
    for i in range(size):
        u = support[i]
        for g in range(node_groups[u], node_groups[u + 1]):
            step = group_step[g]
            begin, end = group_begin[g], group_begin[g + 1]
            degree = usable(targets, begin, end, u, step, source, hidden)
            if degree == 0:
                continue
            if last[step] != number:
                last[step] = number
                active[step] += 1
            right = 0
            for answer in answers:
                if is_among(targets, begin, end, answer) and not (answer == source and step == hidden ^ 1):
                    right += 1
            hits[step] += share[i] * right / degree


@kernel
def _measure(
    node_groups: Ints, group_step: Ids, group_begin: Ints, targets: Ids, trie_step: Ids, trie_depth: Ids,
    trie_row: Ids, trie_end: Ids, trie_key: Keys, number: int, source: int, hidden: int, answers: Ids, root: int,
    cap: int, least: float, seed: np.uint64, mass: Floats, touched: Ids, support: Ids, share: Floats, counts: Ints,
    active: Ints, last: Ints, hits: Floats, edges: Ints,
) -> None:  # fmt: skip
    random = np.zeros(1, dtype=np.uint64)
    support[0, 0] = source
    share[0, 0] = 1.0
    counts[0] = 1
    if root >= 0:
        _look_ahead(
            node_groups, group_step, group_begin, targets, number, source, hidden, answers, support[0], share[0], 1,
            active[root], last[root], hits[root],
        )  # fmt: skip
    i = 0
    while i < len(trie_step):
        depth = trie_depth[i]
        count = _expand(
            node_groups, group_step, group_begin, targets, trie_step[i], trie_key[i], source, hidden, cap, seed,
            support[depth], share[depth], counts[depth], mass, touched, random, edges,
        )  # fmt: skip
        kept = 0
        for k in range(count):
            v = touched[k]
            if mass[v] >= least:
                support[depth + 1, kept] = v
                share[depth + 1, kept] = mass[v]
                kept += 1
            mass[v] = 0.0
        counts[depth + 1] = kept
        row = trie_row[i]
        if row >= 0:
            _look_ahead(
                node_groups, group_step, group_begin, targets, number, source, hidden, answers, support[depth + 1],
                share[depth + 1], kept, active[row], last[row], hits[row],
            )  # fmt: skip
        i = i + 1 if kept > 0 else trie_end[i]
