"""Labelled hyperedges that each rest on one piece of evidence, and what a solution must satisfy.

    maximize  sum over edges e with label l and evidence c of  score(e, l, c)
              + sum over pairs of labelled edges of  pair score(l, l')  -  reuse * sum over used c of (uses of c - 1)

An edge has no label and no evidence, or one of each. A piece of evidence tells of at most one label, however many edges
rest on it. An *alternative* is two sets of edges, exactly one of which has labelled edges. Besides, so many edges must
be labelled (`least`), so many of them with certain labels (`least_marked`), and with `once` no evidence is used twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ints
from weft.errors import InferenceError

#: Edges are bits of a mask.
MOST_EDGES = 62
_Masks = NDArray[np.int64]


@dataclass(frozen=True)
class SupportGraph:
    """The edges of a problem: a row for every edge and evidence that it may rest on, in the order of the edges.

    >>> graph = SupportGraph.of([(0, 0), (0, 1), (1, 1)], allowed=[[0, 1], [0, 1]], n_labels=2)
    >>> graph.n_edges, graph.n_evidence, graph.first.tolist()
    (2, 2, [0, 2, 3])
    """

    evidence: Ints  # [rows]
    first: Ints  # [edges + 1], the rows of every edge
    allowed: _Masks  # [edges], bits of labels
    alternatives: _Masks  # [alternatives, 2], bits of edges
    pairs: Ints  # [pairs, 2], edges whose labels interact; the lower one stands first
    n_labels: int
    n_evidence: int

    @classmethod
    def of(
        cls, rows: Sequence[tuple[int, int]], allowed: Sequence[Sequence[int]], n_labels: int,
        alternatives: Sequence[tuple[Sequence[int], Sequence[int]]] = (), pairs: Sequence[tuple[int, int]] = (),
    ) -> SupportGraph:  # fmt: skip
        """A graph of rows `(edge, evidence)`, with the labels that every edge may have."""
        n_edges = len(allowed)
        edges = np.array([edge for edge, _ in rows], dtype=np.int64)
        if n_edges > MOST_EDGES:
            raise InferenceError(f"a graph may have at most {MOST_EDGES} edges, got {n_edges}")
        if (np.diff(edges) < 0).any() or any(not 0 <= edge < n_edges for edge in edges.tolist()):
            raise InferenceError("rows of edges and evidence must be in the order of the edges")
        if any(not 0 <= one < other < n_edges for one, other in pairs):
            raise InferenceError("a pair of edges names the lower one first")
        return cls(
            np.array([evidence for _, evidence in rows], dtype=np.int64),
            np.searchsorted(edges, np.arange(n_edges + 1)).astype(np.int64),
            np.array([_bits(own) for own in allowed], dtype=np.int64),
            np.array([[_bits(one), _bits(other)] for one, other in alternatives], dtype=np.int64).reshape(-1, 2),
            np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2),
            n_labels,
            1 + max((evidence for _, evidence in rows), default=-1),
        )

    @property
    def n_edges(self) -> int:
        return len(self.allowed)

    @property
    def edges(self) -> Ints:
        """The edge of every row."""
        return np.repeat(np.arange(self.n_edges), np.diff(self.first))

    def matching(self, edges: int | None = None) -> int:
        """How many edges, of those of a mask, can be labelled with evidence of their own (Hopcroft and Karp 1973).

        >>> SupportGraph.of([(0, 0), (1, 0), (2, 1)], allowed=[[0]] * 3, n_labels=1).matching()
        2
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        if not len(self.evidence):
            return 0
        own = self.edges
        kept = np.ones(len(own), dtype=np.bool_) if edges is None else (edges >> own) & 1 > 0
        kept &= self.allowed[own] > 0
        cells = (np.ones(int(kept.sum()), dtype=np.int8), (own[kept], self.evidence[kept]))
        table = csr_array(cells, shape=(self.n_edges, self.n_evidence))
        return int((maximum_bipartite_matching(table, perm_type="column") >= 0).sum())

    def attainable(self) -> int:
        """The number of edges that can be labelled whatever sides of the alternatives are chosen.

        The largest matching over *all* edges may count edges of both sides, and so rule out one of them, or both.

        >>> rows = [(0, 0), (1, 1), (2, 0)]
        >>> SupportGraph.of(rows, [[0]] * 3, 1, alternatives=[([0, 1], [2])]).attainable()
        1
        """
        if not len(self.alternatives):
            return self.matching()
        if len(self.alternatives) > _MOST_SIDES:
            return 0
        every = (1 << self.n_edges) - 1
        found = []
        for sides in product((0, 1), repeat=len(self.alternatives)):
            closed = 0
            for alternative, side in zip(self.alternatives.tolist(), sides, strict=True):
                closed |= alternative[1 - side]
            open_edges = every & ~closed
            if all(self.matching(open_edges & own[side]) for own, side in zip(self.alternatives.tolist(), sides)):  # noqa: B905
                found.append(self.matching(open_edges))
        return min(found, default=0)


#: With more alternatives not all of their sides are enumerated.
_MOST_SIDES = 6


@dataclass(frozen=True)
class Demands:
    """What a solution must satisfy besides, and what it costs to use evidence again."""

    reuse: float = 0.0
    least: int = 0
    marked: int = 0  # bits of labels
    least_marked: int = 0
    once: bool = False


class Supported(NamedTuple):
    """A solution: the row that every edge rests on and its label, -1 where it has none; and the value of all."""

    rows: Ints
    labels: Ints
    value: float


@dataclass(frozen=True)
class Scores:
    """Scores of rows by label, and of pairs of edges by both labels."""

    rows: Floats  # [rows, labels]
    pairs: Floats = field(default_factory=lambda: np.zeros((0, 1, 1)))

    @classmethod
    def of(cls, graph: SupportGraph, rows: ArrayLike, pairs: ArrayLike | None = None) -> Scores:
        """Scores that fit a graph; those of pairs are 0 by default."""
        n = graph.n_labels
        own = np.ascontiguousarray(rows, dtype=np.float64).reshape(-1, n)
        both = np.zeros((len(graph.pairs), n, n)) if pairs is None else np.asarray(pairs, dtype=np.float64)
        if own.shape != (len(graph.evidence), n) or both.shape != (len(graph.pairs), n, n):
            raise InferenceError(
                f"scores of {len(graph.evidence)} rows and {len(graph.pairs)} pairs by {n} labels are expected, got "
                f"the shapes {own.shape} and {both.shape}"
            )
        return cls(own, np.ascontiguousarray(both))


def value_of(graph: SupportGraph, scores: Scores, rows: ArrayLike, labels: ArrayLike, demands: Demands) -> float:
    """What a solution is worth."""
    own, named = np.asarray(rows, dtype=np.int64), np.asarray(labels, dtype=np.int64)
    used = np.flatnonzero(own >= 0)
    total = float(scores.rows[own[used], named[used]].sum())
    for number, (one, other) in enumerate(graph.pairs.tolist()):
        if named[one] >= 0 and named[other] >= 0:
            total += float(scores.pairs[number, named[one], named[other]])
    evidence = graph.evidence[own[used]]
    return total - demands.reuse * (len(evidence) - len(np.unique(evidence)))


def violations(graph: SupportGraph, rows: ArrayLike, labels: ArrayLike, demands: Demands) -> list[str]:
    """The constraints that a solution violates, in words; this knows nothing of how solutions are found.

    >>> graph = SupportGraph.of([(0, 0), (1, 0)], [[0, 1], [0, 1]], 2)
    >>> violations(graph, [0, 1], [0, 1], Demands())
    ['evidence 0 tells of 2 labels']
    """
    own, named = np.asarray(rows).tolist(), np.asarray(labels).tolist()
    found: list[str] = []
    told: dict[int, list[int]] = {}
    for edge, (row, label) in enumerate(zip(own, named, strict=True)):
        if (row < 0) != (label < 0):
            found.append(f"edge {edge} has a label without evidence, or evidence without a label")
        elif row >= 0:
            if not graph.first[edge] <= row < graph.first[edge + 1]:
                found.append(f"edge {edge} rests on evidence of another edge")
            if not int(graph.allowed[edge]) >> label & 1:
                found.append(f"edge {edge} may not have label {label}")
            told.setdefault(int(graph.evidence[row]), []).append(label)
    for evidence, given in sorted(told.items()):
        if len(set(given)) > 1:
            found.append(f"evidence {evidence} tells of {len(set(given))} labels")
        if demands.once and len(given) > 1:
            found.append(f"evidence {evidence} is used {len(given)} times")
    labelled = sum(1 << edge for edge, label in enumerate(named) if label >= 0)
    for number, (one, other) in enumerate(graph.alternatives.tolist()):
        active = bool(labelled & one) + bool(labelled & other)
        if active != 1:
            found.append(f"alternative {number} has {active} active sides")
    count = sum(label >= 0 for label in named)
    marked = sum(label >= 0 and bool(demands.marked >> label & 1) for label in named)
    if count < demands.least:
        found.append(f"{count} edges are labelled, at least {demands.least} must be")
    if marked < demands.least_marked:
        found.append(f"{marked} edges have marked labels, at least {demands.least_marked} must have")
    return found


def _bits(numbers: Sequence[int]) -> int:
    return sum(1 << number for number in set(numbers))
