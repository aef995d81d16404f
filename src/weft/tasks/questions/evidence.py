"""Why a node is in an answer: the edges that the question follows from it, for a small picture of the answer.

    sources(r, S): x -r-> s for s in S, and why s is in S        targets(r, S): s -r-> x likewise
    and: the edges of all parts      or: those of the first part that holds      not, attributes: none

Edges are those of a view, so that a picture shows nobody more than the answer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ids
from weft.tasks.questions.execute import nodes_of
from weft.tasks.questions.terms import VALUES, Term
from weft.tasks.questions.view import Edge, View

#: Edges of one relation that are followed from one node, and edges of a picture.
FOLLOWED, MOST = 3, 40


@dataclass
class Evidence:
    """The edges of an answer, each once, and in how many steps every node is reached from the answer."""

    edges: list[Edge] = field(default_factory=list)
    depth: dict[int, int] = field(default_factory=dict)


def evidence(term: Term, nodes: Sequence[int], view: View, most: int = MOST) -> Evidence:
    """The edges that put each of some nodes into the answer to a question, at most `most` of them.

    >>> from weft.graph.store import Builder
    >>> from weft.tasks.questions.schema import inferred
    >>> from weft.tasks.questions.view import Store
    >>> builder = Builder()
    >>> builder.add_all([("Ada", "likes", "Bo"), ("Cy", "likes", "Bo"), ("Ada", "knows", "Cy")])
    >>> graph = builder.graph()
    >>> ada, bo = graph.names.find("Ada"), graph.names.find("Bo")
    >>> found = evidence(("sources", "likes", ("entity", bo)), [ada], View(Store(graph, inferred(graph))))
    >>> [(relation, graph.names[source], graph.names[target]) for relation, source, target in found.edges]
    [('likes', 'Ada', 'Bo')]
    """
    found = Evidence(depth=dict.fromkeys(nodes, 0))
    explorer = _Explorer(view, found, most)
    inner = term[-1] if term[0] in VALUES else term
    for node in nodes:
        explorer.explain(inner, node, 0)
    return found


class _Explorer:
    def __init__(self, view: View, found: Evidence, most: int) -> None:
        self.view, self.found, self.most = view, found, most
        self._seen: set[Edge] = set()
        self._sets: dict[Term, Ids] = {}

    def explain(self, term: Term, node: int, depth: int) -> None:
        """Add the edges that make a node a member of a set."""
        op = term[0]
        if op in ("sources", "targets"):
            self._along(term, node, depth)
        elif op == "and":
            for part in term[1:]:
                self.explain(part, node, depth)
        elif op == "or":
            for part in term[1:]:
                if node in self._members(part):
                    self.explain(part, node, depth)
                    return
        elif op == "count":
            self._follow(term[1], term[2], node, self.view.neighbours(term[1], term[2], node), depth)
        elif op == "most":
            self.explain(term[1], node, depth)
            if term[2][0] == "count":
                self.explain((*term[2], ">", ("number", 0.0)), node, depth)

    def _along(self, term: Term, node: int, depth: int) -> None:
        relation, side = term[1], "out" if term[0] == "sources" else "in"
        reached = self.view.neighbours(relation, side, node)
        kept = np.intersect1d(reached, self._members(term[2]))
        for other in self._follow(relation, side, node, kept, depth):
            self.explain(term[2], other, depth + 1)

    def _follow(self, relation: str, side: str, node: int, others: Ids, depth: int) -> list[int]:
        followed = []
        for other in others[:FOLLOWED].tolist():
            edge = (relation, node, other) if side == "out" else (relation, other, node)
            if edge not in self._seen:
                if len(self._seen) >= self.most:
                    break
                self._seen.add(edge)
                self.found.edges.append(edge)
                self.found.depth.setdefault(other, depth + 1)
            followed.append(other)
        return followed

    def _members(self, term: Term) -> Ids:
        if term not in self._sets:
            self._sets[term] = nodes_of(term, self.view)
        return self._sets[term]
