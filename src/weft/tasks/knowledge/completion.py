"""New facts of a relation, ranked, each with the weighted paths that speak for it.

    weight of a reason = theta_path P(s -> t; path)        score = sum of reasons + bias        p = 1 / (1 + e^-score)

A reason names the path and shows the likeliest walk along it, edge by edge, with sentences where documents say so.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any, NamedTuple

import numpy as np

from weft.errors import DataError
from weft.graph.paths.steps import Path, StepGraph
from weft.graph.paths.walk import Flags
from weft.graph.store import TypedGraph
from weft.progress import progress
from weft.tasks.knowledge.documents import Evidence
from weft.tasks.knowledge.ranker import PathRanker, targets_of
from weft.tasks.knowledge.text_graph import MENTION, is_text, token_place

#: Sources that are walked together.
BLOCK = 512
#: Nodes of one depth of a walk that is shown, at most.
WIDEST = 10_000


class Edge(NamedTuple):
    """An edge of a walk, in the direction of its relation."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class Reason:
    """A path, what it adds to the score, its probability, and the likeliest walk along it."""

    weight: float
    path: str
    probability: float
    walk: tuple[Edge, ...]
    sentences: tuple[tuple[str, str], ...] = ()

    @property
    def told(self) -> str:
        """The walk in words: its edges, and words of text where it goes through sentences.

        >>> edges = (Edge("Mara", "born in", "Bergen"), Edge("Bergen", "in", "Norway"))
        >>> Reason(1.5, "⟨born in, in⟩", 1.0, edges).told
        'Mara — born in — Bergen; Bergen — in — Norway'
        """
        parts = [" — ".join(edge) for edge in self.walk if not (is_text(edge.source) or is_text(edge.target))]
        said = [f"“{text}” ({name})" for name, text in self.sentences]
        return "; ".join([*parts, *said]) or self.path


@dataclass(frozen=True)
class NewFact:
    """A fact that the graph does not hold."""

    source: str
    relation: str
    target: str
    score: float
    reasons: tuple[Reason, ...] = field(default_factory=tuple)

    @property
    def probability(self) -> float:
        """What the logistic model makes of the score."""
        return 1 / (1 + exp(-max(-700.0, min(700.0, self.score))))

    def to_dict(self) -> dict[str, Any]:
        """The fact as plain values."""
        return {
            "source": self.source, "relation": self.relation, "target": self.target, "score": self.score,
            "probability": self.probability,
            "reasons": [
                {"weight": each.weight, "path": each.path, "probability": each.probability,
                 "walk": [list(edge) for edge in each.walk], "sentences": [list(pair) for pair in each.sentences],
                 "told": each.told}
                for each in self.reasons
            ],
        }  # fmt: skip


def complete(
    graph: StepGraph, ranker: PathRanker, *, sources: Sequence[int] | None = None, top: int = 20, reasons: int = 3,
    candidates: Flags | None = None, evidence: Evidence | None = None, typed: TypedGraph | None = None,
    workers: int = 1,
) -> list[NewFact]:  # fmt: skip
    """The best new facts for sources that have none yet, the best first.

    Without `sources`, all nodes of the types that known sources have (`typed` knows types) and that lack the relation.
    """
    known = graph.answers(ranker.relation) if ranker.relation in graph.relations else {}
    if candidates is None:
        candidates = targets_of(graph, known)
    if sources is None:
        sources = _sources(graph, known, typed)
    if not ranker.paths:
        raise DataError(f"no path for {ranker.relation!r} has a weight: the known facts follow no pattern in the graph")
    best: list[tuple[float, int, int]] = []
    with progress("completing", total=len(sources), unit="nodes") as bar:
        for low in range(0, len(sources), BLOCK):
            block = list(sources[low : low + BLOCK])
            table = ranker.table(graph, block, candidates, workers)
            scores, queries = ranker.scores(table), table.queries
            for row in np.lexsort((table.nodes, queries, -scores)):
                source, target, score = block[queries[row]], int(table.nodes[row]), float(scores[row])
                if len(best) >= top and (score, -source, -target) <= best[0]:
                    break
                if source != target and target not in known.get(source, ()):
                    (heapq.heappushpop if len(best) >= top else heapq.heappush)(best, (score, -source, -target))
            bar.advance(len(block))
    found = sorted(best, reverse=True)
    return [
        NewFact(graph.names[-s], ranker.relation, graph.names[-t], score,
                tuple(explain(graph, ranker, -s, -t, reasons, evidence)))
        for score, s, t in found
    ]  # fmt: skip


def explain(
    graph: StepGraph, ranker: PathRanker, source: int, target: int, most: int = 3, evidence: Evidence | None = None
) -> list[Reason]:
    """The paths that add most to the score of a fact, with the likeliest walk along each.

    If none adds anything, those that speak against it least.
    """
    only = np.zeros(graph.n_nodes, dtype=np.bool_)
    only[target] = True
    table = ranker.table(graph, [source], only)
    values = np.zeros(len(ranker.paths))
    values[table.values.indices] = table.values.data
    weights = values * ranker.theta[:-1]
    ranked = [k for k in np.lexsort((np.arange(len(weights)), -weights)) if weights[k] != 0]
    order = ([k for k in ranked if weights[k] > 0] or ranked)[:most]
    found = []
    for k in order:
        walk = likeliest(graph, ranker.paths[k], source, target, ranker.relation)
        edges = tuple(_edge(graph, step, *ends) for step, *ends in walk)
        found.append(Reason(
            float(weights[k]), graph.told(ranker.paths[k]), float(values[k]), edges,
            tuple(_sentences(edges, evidence)) if evidence is not None else (),
        ))  # fmt: skip
    return found


def likeliest(graph: StepGraph, path: Path, source: int, target: int, relation: str = "") -> list[tuple[int, int, int]]:
    """The walk of highest probability along a path: steps with the nodes they join; empty if there is none.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("a", "r", "b"), ("b", "s", "c")])
    >>> graph = StepGraph.of([builder.graph()])
    >>> likeliest(graph, graph.path(["r", "s"]), graph.node("a"), graph.node("c"))
    [(0, 0, 1), (2, 1, 2)]
    """
    own = graph.step(relation) if relation in graph.relations else -2
    reached: list[dict[int, tuple[float, int]]] = [{source: (1.0, -1)}]
    for step in path:
        layer: dict[int, tuple[float, int]] = {}
        for node, (p, _) in _likely(reached[-1]):
            if step == own and node == source:
                continue
            ends = [end for end in graph.ends(node, step) if not (step == own ^ 1 and end == source)]
            for end in ends:
                if p / len(ends) > layer.get(end, (0.0, -1))[0]:
                    layer[end] = (p / len(ends), node)
        reached.append(layer)
    if target not in reached[-1]:
        return []
    found, node = [], target
    for depth in range(len(path), 0, -1):
        before = reached[depth][node][1]
        found.append((path[depth - 1], before, node))
        node = before
    return found[::-1]


def _likely(layer: Mapping[int, tuple[float, int]]) -> list[tuple[int, tuple[float, int]]]:
    """The nodes of a layer that are looked beyond: all, or of very many the likeliest."""
    if len(layer) <= WIDEST:
        return list(layer.items())
    return heapq.nlargest(WIDEST, layer.items(), key=lambda item: (item[1][0], -item[0]))


def _sources(graph: StepGraph, known: Mapping[int, Iterable[int]], typed: TypedGraph | None) -> list[int]:
    """Nodes that lack the relation, of the types that have it."""
    found = [node for node in range(graph.n_nodes) if node not in known]
    if typed is None:
        return [node for node in found if not is_text(graph.names[node])]
    number = {name: k for k, name in enumerate(typed.names)}
    wanted = {typed.type_of(number[graph.names[node]]) for node in known if graph.names[node] in number}
    own = {name for name, k in number.items() if not wanted or typed.type_of(k) in wanted}
    return [node for node in found if graph.names[node] in own]


def _edge(graph: StepGraph, step: int, source: int, target: int) -> Edge:
    first, second = (target, source) if step % 2 else (source, target)
    return Edge(graph.names[first], graph.relations[step // 2], graph.names[second])


def _sentences(edges: Sequence[Edge], evidence: Evidence) -> list[tuple[str, str]]:
    """The sentences that a walk goes through, each once."""
    found: list[tuple[str, str]] = []
    for edge in edges:
        if is_text(edge.source) or is_text(edge.target):
            place = token_place(edge.target if edge.relation == MENTION else edge.source)
            said = evidence.of_word(*place) if place is not None else None
            own = [said] if said is not None else []
        else:
            own = evidence.of(*edge, most=1)
        found += [each for each in own if each not in found]
    return found
