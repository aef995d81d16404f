"""The typed graph of a bibliography (King, Jha and Radev 2014).

    author -[writes]-> paper -[cites]-> paper -[published in]-> venue
    author -[affiliated with]-> institution        the weight is the number of papers written there
    paper -[contains]-> term

A name that nodes of two types share keeps the first node plain; the others say their type, as in "Bergen (venue)".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Ids
from weft.errors import DataError
from weft.graph.store import Builder, TypedGraph
from weft.tasks.bibliographies.papers import Paper

PAPER, AUTHOR, VENUE, INSTITUTION, TERM = "paper", "author", "venue", "institution", "term"
WRITES, CITES, PUBLISHED, AFFILIATED, CONTAINS = "writes", "cites", "published in", "affiliated with", "contains"


@dataclass
class Bibliography:
    """A typed graph of papers, and the node of every paper in their order."""

    papers: list[Paper]
    graph: TypedGraph
    nodes: Ids

    def years(self) -> dict[int, int]:
        """The year of every paper's node that has one."""
        pairs = zip(self.nodes.tolist(), self.papers, strict=True)
        return {node: paper.year for node, paper in pairs if paper.year is not None}

    def of_type(self, type: str) -> Ids:
        """The nodes of a type, rising."""
        if type not in self.graph.types:
            return np.zeros(0, dtype=np.int32)
        return np.flatnonzero(self.graph.type == self.graph.types.index(type)).astype(np.int32)


class _Names:
    """Names of nodes, one per type and name."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.known: dict[tuple[str, str], str] = {}
        self.taken: set[str] = set()

    def of(self, type: str, name: str) -> str:
        key = type, name
        if key not in self.known:
            own, shown = name, name
            number = 1
            while shown in self.taken:
                shown = f"{own} ({type})" if number == 1 else f"{own} ({type} {number})"
                number += 1
            self.known[key] = shown
            self.taken.add(shown)
            self.builder.type(shown, type)
        return self.known[key]


def bibliography(papers: Sequence[Paper], terms: Sequence[Sequence[str]] | None = None) -> Bibliography:
    """The graph of papers; `terms` has a list per paper. Citations of papers that are not there are left out.

    >>> found = bibliography([Paper("p1", authors=("Mara",)), Paper("p2", authors=("Mara",), cites=("p1", "p9"))])
    >>> [(source, relation, target) for source, relation, target, _ in found.graph.edges()]
    [('p2', 'cites', 'p1'), ('Mara', 'writes', 'p1'), ('Mara', 'writes', 'p2')]
    """
    if terms is not None and len(terms) != len(papers):
        raise DataError(f"there are {len(papers)} papers, but terms of {len(terms)}")
    builder = Builder()
    names = _Names(builder)
    ids = {paper.id for paper in papers}
    own = [names.of(PAPER, paper.id) for paper in papers]
    places: Counter[tuple[str, str]] = Counter()
    for number, (paper, name) in enumerate(zip(papers, own, strict=True)):
        authors = [names.of(AUTHOR, author) for author in paper.authors]
        for author in dict.fromkeys(authors):
            builder.add(author, WRITES, name)
        for cited in paper.cites:
            if cited in ids and cited != paper.id:
                builder.add(name, CITES, names.of(PAPER, cited))
        for venue in paper.venues:
            builder.add(name, PUBLISHED, names.of(VENUE, venue))
        pairs = zip(authors, paper.institutions, strict=False)
        places.update({(author, names.of(INSTITUTION, place)) for author, place in pairs if place})
        for term in terms[number] if terms is not None else ():
            builder.add(name, CONTAINS, names.of(TERM, term))
    for (author, place), count in places.items():
        builder.add(author, AFFILIATED, place, float(count))
    graph = builder.graph()
    return Bibliography(list(papers), graph, np.array([graph.names.find(name) for name in own], dtype=np.int32))
