"""Smatch: how many triples two AMRs share under the best one-to-one mapping of their variables (Cai and Knight 2013).

    matched = max over mappings m of  sum over i of W[i, m(i)]  +  sum over gold relations (i, r, k) of [m(i) r m(k)]

W[i, j] counts the concept and the attributes (constants, and the top) that gold node i and system node j share.
Precision is matched / system triples, recall matched / gold triples. Letter case, quotation marks and the direction in
which a relation is written do not matter: `:ARG0-of` and `:domain` are turned around.

The maximum is found exactly. Hill climbing gives a mapping, an assignment problem an upper bound: each relation counts
half at both of its ends, and no node can use more relations of a role than it has. Where the two differ, an integer
program decides. So a graph scores 1.0 with itself, whatever its variables are called and however its triples are
ordered. `search="climb"` skips the proof; it is deterministic too, and `bound` says how far off it can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, WeftError
from weft.evaluate.counts import Counts
from weft.infer.relaxation.programs import Program
from weft.kernel import inner_kernel, kernel
from weft.text.conventions.amr import Amr, amrs_of
from weft.text.doc import Doc

Search = Literal["exact", "climb"]
#: Nodes of the search tree after which an integer program stops with what it has.
MOST_NODES = 2000


class Match(NamedTuple):
    """Matched triples, triples of both graphs, an upper bound on matched triples, and the mapping (-1: no partner)."""

    matched: int
    gold: int
    system: int
    bound: int
    mapping: tuple[int, ...]

    @property
    def proven(self) -> bool:
        """Whether no mapping matches more triples."""
        return self.matched == self.bound

    @property
    def precision(self) -> float:
        return self.matched / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.matched / (self.gold + self.system) if self.gold + self.system else 0.0


@dataclass(frozen=True)
class Triples:
    """The triples of a graph over its variables, which are numbered in order; all strings are normalized."""

    concepts: list[str]
    attributes: list[frozenset[tuple[str, str]]]
    relations: frozenset[tuple[int, str, int]]

    @classmethod
    def of(cls, amr: Amr) -> Triples:
        """The triples of a graph; constants are attributes, and so is being the top.

        >>> from weft.formats.penman import parse_amr
        >>> triples = Triples.of(parse_amr('(w / want-01 :ARG0 (b / boy) :polarity -)'))
        >>> triples.concepts, sorted(triples.attributes[0]), sorted(triples.relations)
        (['want-01', 'boy'], [('polarity', '-'), ('top', 'top')], [(0, 'arg0', 1)])
        """
        variables = [node for node in range(len(amr)) if not amr.is_constant(node)]
        number = {node: i for i, node in enumerate(variables)}
        attributes: list[set[tuple[str, str]]] = [set() for _ in variables]
        if 0 in number:
            attributes[0].add(("top", "top"))
        relations = set()
        for source, target, role in amr.relations():
            if source in number and target in number:
                relations.add((number[source], role.lower(), number[target]))
            elif source in number:
                attributes[number[source]].add((role.lower(), _plain(amr.labels[target])))
        concepts = [_plain(amr.labels[node]) for node in variables]
        return cls(concepts, [frozenset(row) for row in attributes], frozenset(relations))

    def __len__(self) -> int:
        return len(self.concepts) + sum(map(len, self.attributes)) + len(self.relations)


def smatch(gold: Amr, system: Amr, search: Search = "exact", starts: int = 4, seed: int = 0) -> Match:
    """The best mapping of the variables of two graphs; `starts` climbs begin at different mappings.

    >>> from weft.formats.penman import parse_amr
    >>> gold = parse_amr("(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b))")
    >>> match = smatch(gold, parse_amr("(x / want-01 :ARG0 (y / boy) :ARG1 (z / football))"))
    >>> match.matched, match.gold, match.system, match.proven, round(match.f1, 3)
    (5, 7, 6, True, 0.769)
    """
    if search not in ("exact", "climb") or starts < 1:
        raise ConfigError(f"search={search!r}, starts={starts}: expected 'exact' or 'climb', and at least one start")
    pair = _Pair(Triples.of(gold), Triples.of(system))
    matched, mapping = pair.climb(starts, seed)
    bound = max(pair.bound(), matched)
    if bound > matched and search == "exact":
        matched, bound, mapping = pair.solve(matched, bound, mapping)
    return Match(matched, len(pair.gold), len(pair.system), bound, tuple(mapping))


def evaluate_amrs(
    gold: Sequence[Amr | None], system: Sequence[Amr | None], search: Search = "exact", starts: int = 4, seed: int = 0
) -> Counts:
    """Matched triples of pairs of graphs; a missing graph has no triples.

    >>> from weft.formats.penman import parse_amr
    >>> evaluate_amrs([parse_amr("(b / boy)"), None], [parse_amr("(b / bee)"), None]).total()
    Score(gold=2, system=2, correct=1, aligned=None)
    """
    if len(gold) != len(system):
        raise WeftError(f"{len(gold)} gold sentences and {len(system)} system sentences cannot be compared")
    rows = [_counted(one, other, search, starts, seed) for one, other in zip(gold, system, strict=True)]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Counts.of(columns[:, 0].tolist(), columns[:, 1].tolist(), columns[:, 2].tolist())


def evaluate_amr_documents(gold: Sequence[Doc], system: Sequence[Doc]) -> Counts:
    """Exact Smatch of the layer `amr`, sentence by sentence."""
    golds, systems = ([amr for doc in docs for amr in amrs_of(doc)] for docs in (gold, system))
    return evaluate_amrs(golds, systems)


def _counted(gold: Amr | None, system: Amr | None, search: Search, starts: int, seed: int) -> tuple[int, int, int]:
    if gold is None or system is None:
        sizes = [0 if amr is None else len(Triples.of(amr)) for amr in (gold, system)]
        return sizes[0], sizes[1], 0
    match = smatch(gold, system, search, starts, seed)
    return match.gold, match.system, match.matched


def _plain(label: str) -> str:
    return label.strip('"').lower()


class _Pair:
    """Two sets of triples as arrays: shared concepts and attributes of all pairs of nodes, relations by role."""

    def __init__(self, gold: Triples, system: Triples) -> None:
        self.gold, self.system = gold, system
        n, m = len(gold.concepts), len(system.concepts)
        self.worth = np.zeros((n, m), dtype=np.int64)
        for i in range(n):
            for j in range(m):
                same = gold.concepts[i] == system.concepts[j]
                self.worth[i, j] = same + len(gold.attributes[i] & system.attributes[j])
        shared = sorted({r for _, r, _ in gold.relations} & {r for _, r, _ in system.relations})
        role = {name: number for number, name in enumerate(shared)}
        self.edges = _rows([(i, role[r], k) for i, r, k in gold.relations if r in role])
        self.others = _rows([(i, role[r], k) for i, r, k in system.relations if r in role])
        self.n_roles = len(shared)
        self.table = np.zeros((len(shared), m, m), dtype=np.bool_)
        self.table[self.others[:, 1], self.others[:, 0], self.others[:, 2]] = True

    def climb(self, starts: int, seed: int) -> tuple[int, list[int]]:
        """The best of several local maxima: one from equal concepts, the others from random mappings."""
        n, m = self.worth.shape
        random = np.random.default_rng(seed)
        best, mapping = -1, [-1] * n
        ends = np.concatenate([self.edges[:, 0], self.edges[:, 2]])
        order = np.argsort(ends, kind="stable") % max(len(self.edges), 1)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]).astype(np.int64)
        for start in range(starts):
            trial = np.full(n, -1, dtype=np.int64)
            if start == 0:
                self._by_worth(trial)
            else:
                trial[random.permutation(n)[: min(n, m)]] = random.permutation(m)[: min(n, m)]
            value = int(_climb(self.worth, self.edges, order, offsets, self.table, trial))
            if value > best:
                best, mapping = value, trial.tolist()
        return best, mapping

    def _by_worth(self, mapping: Ints) -> None:
        """Pair nodes by what they share, the others in order."""
        free = list(range(self.worth.shape[1]))
        for least in (1, 0):
            for i in np.flatnonzero(mapping < 0).tolist():
                j = max(free, key=lambda j: (self.worth[i, j], -j), default=-1)
                if j >= 0 and self.worth[i, j] >= least:
                    mapping[i] = j
                    free.remove(j)

    def bound(self) -> int:
        """No mapping matches more: every relation counts half at both ends, as often as both nodes can have it."""
        from scipy.optimize import linear_sum_assignment

        n, m = self.worth.shape
        if not n or not m:
            return 0
        value = self.worth.astype(np.float64)
        for end in (0, 2):
            mine, theirs = (
                _degrees(rows, end, size, self.n_roles) for rows, size in ((self.edges, n), (self.others, m))
            )
            value += 0.5 * np.minimum(mine[:, None, :], theirs[None, :, :]).sum(axis=2)
        rows, columns = linear_sum_assignment(-value)
        return int(np.floor(value[rows, columns].sum() + 1e-9))

    def solve(self, matched: int, bound: int, mapping: list[int]) -> tuple[int, int, list[int]]:
        """The exact maximum by an integer program, if it is found in time; else better bounds."""
        program = Program()
        uses: dict[tuple[str, int, int, int, int], list[tuple[str, int, int]]] = {}
        pairs: set[tuple[int, int]] = set(zip(*np.nonzero(self.worth), strict=True))
        links: list[tuple[int, int]] = []
        for e, (i, r, k) in enumerate(self.edges.tolist()):
            for f, (j, q, h) in enumerate(self.others.tolist()):
                if r == q and (i == k) == (j == h):
                    links.append((e, f))
                    pairs |= {(i, j), (k, h)}
                    for key in (
                        ("gold source", e, j, i, j), ("gold target", e, h, k, h),
                        ("system source", f, i, i, j), ("system target", f, k, k, h),
                    ):  # fmt: skip
                        uses.setdefault(key, []).append(("link", e, f))
        for i, j in sorted((int(i), int(j)) for i, j in pairs):
            program.variable((i, j), float(self.worth[i, j]))
        for e, f in links:
            program.variable(("link", e, f), 1.0)
        for side in (0, 1):
            rows: dict[int, list[tuple[int, int]]] = {}
            for pair in sorted((int(i), int(j)) for i, j in pairs):
                rows.setdefault(pair[side], []).append(pair)
            for node, own in rows.items():
                program.row(("one", side, node), own, high=1.0)
        for use, own_links in uses.items():
            program.row(use, {**dict.fromkeys(own_links, 1.0), use[3:]: -1.0}, high=0.0)
        program.row(
            "known", {name: worth for name, worth in program.worths().items() if worth}, low=matched, high=bound
        )
        solution = program.maximize(nodes=MOST_NODES)
        value = round(solution.value)
        if value >= matched:
            matched, mapping = value, [-1] * len(mapping)
            for name in solution.chosen():
                if isinstance(name, tuple) and len(name) == 2:
                    mapping[name[0]] = name[1]
        return matched, max(matched, min(bound, int(np.floor(solution.bound + 1e-6)))), mapping


def _rows(relations: list[tuple[int, int, int]]) -> Ints:
    return np.array(sorted(relations), dtype=np.int64).reshape(-1, 3)


def _degrees(edges: Ints, end: int, n: int, n_roles: int) -> Floats:
    """How many relations of each role begin (or end) at each node."""
    counts = np.zeros((n, n_roles))
    np.add.at(counts, (edges[:, end], edges[:, 1]), 1.0)
    return counts


@inner_kernel
def _at(worth: Ints, edges: Ints, order: Ints, offsets: Ints, table: np.ndarray, mapping: Ints, i: int, k: int) -> int:
    """What the nodes i and k (-1: none) contribute together; a relation between them counts once."""
    total = worth[i, mapping[i]] if mapping[i] >= 0 else 0
    if k >= 0 and mapping[k] >= 0:
        total += worth[k, mapping[k]]
    for node in (i, k):
        if node < 0:
            continue
        for at in range(offsets[node], offsets[node + 1]):
            e = order[at]
            source, target = edges[e, 0], edges[e, 2]
            if node == k and (source == i or target == i):
                continue
            if node == target and source == target and at > offsets[node] and order[at - 1] == e:
                continue
            if mapping[source] >= 0 and mapping[target] >= 0 and table[edges[e, 1], mapping[source], mapping[target]]:
                total += 1
    return total


@kernel
def _climb(worth: Ints, edges: Ints, order: Ints, offsets: Ints, table: np.ndarray, mapping: Ints) -> int:
    """Take the best change (a new partner, or an exchange of partners) until none helps; the triples matched."""
    n, m = worth.shape
    used = np.full(m, -1, dtype=np.int64)
    for i in range(n):
        if mapping[i] >= 0:
            used[mapping[i]] = i
    while True:
        gain, first, second = 0, -1, -1
        for i in range(n):
            for j in range(m):
                k, old = used[j], mapping[i]
                if k == i:
                    continue
                before = _at(worth, edges, order, offsets, table, mapping, i, k)
                mapping[i] = j
                if k >= 0:
                    mapping[k] = old
                after = _at(worth, edges, order, offsets, table, mapping, i, k)
                mapping[i] = old
                if k >= 0:
                    mapping[k] = j
                if after - before > gain:
                    gain, first, second = after - before, i, j
        if first < 0:
            break
        k, old = used[second], mapping[first]
        mapping[first] = second
        used[second] = first
        if k >= 0:
            mapping[k] = old
        if old >= 0:
            used[old] = k
    total = 0
    for i in range(n):
        if mapping[i] >= 0:
            total += worth[i, mapping[i]]
    for e in range(len(edges)):
        source, target = mapping[edges[e, 0]], mapping[edges[e, 2]]
        if source >= 0 and target >= 0 and table[edges[e, 1], source, target]:
            total += 1
    return total
