"""Which of several people with one name wrote what.

    network       the papers, authors, venues, institutions and terms of a bibliography, or any typed graph
    instances     the node of the name becomes one instance per paper, which keeps that edge alone
    people        clusters of instances by their distances; their number by the gap statistic

Every person comes with what their papers share: co-authors, venues, terms that several of them have, and that papers of
the others have less often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Ints
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.clusters.ghost import ghost
from weft.graph.clusters.instances import LENGTH, MEASURES, instance_distances, part_instances
from weft.graph.network import Network, network, network_of
from weft.graph.store import TypedGraph

METHODS = (*MEASURES[:3], "ghost")
#: Numbers of people that the gap statistic chooses from; that there is only one, it hardly ever says.
NUMBERS = (2, 3, 4)


@dataclass(frozen=True)
class Person:
    """One of the people with a name: the names of their papers, and of what these share, most telling first."""

    papers: tuple[str, ...]
    shared: tuple[str, ...]


def people_of_name(
    graph: TypedGraph, name: str, method: str = "propflow", numbers: Sequence[int] = NUMBERS, length: int = LENGTH,
    relation: str | None = None, seed: int = 0, workers: int = 1,
) -> list[Person]:  # fmt: skip
    """The people behind a name, those with most papers first; papers are its neighbours, by a relation or by all.

    >>> from weft.tasks.bibliographies.papers import Paper
    >>> from weft.tasks.bibliographies.schema import bibliography
    >>> papers = [Paper(f"tide{i}", authors=("Lin", "Ole Berg"), venues=("Sea",)) for i in range(3)]
    >>> papers += [Paper(f"moss{i}", authors=("Lin", "Ina Dahl"), venues=("Wood",)) for i in range(2)]
    >>> [person.papers for person in people_of_name(bibliography(papers).graph, "Lin", numbers=[2])]
    [('tide0', 'tide1', 'tide2'), ('moss0', 'moss1')]
    """
    if method not in METHODS:
        raise ConfigError(f"people are told apart by {', '.join(METHODS)}, not by {method!r}")
    if not numbers or min(numbers) < 1:
        raise ConfigError("the number of people is 1 or above")
    node = node_of(graph, name)
    whole = network(graph)
    near = network(graph, relations=[relation]) if relation is not None else whole
    papers = [other for other in near.of(node) if other != node]
    if not papers:
        by = f" by the relation {relation!r}" if relation is not None else ""
        raise DataError(f"{name!r} has no neighbours{by}: there is nothing to tell apart")
    if len(papers) == 1 and min(numbers) > 1:
        raise DataError(f"{name!r} stands with {graph.names[papers[0]]!r} alone: there is nothing to tell apart")
    if method == "ghost":
        labels = _by_coauthors(graph, whole, node, papers)
    else:
        split, instances = whole.split([node], papers)
        distances = instance_distances(split, instances, method, length, workers)
        labels = part_instances(distances, numbers, seed=seed).labels
    groups = [[papers[i] for i in np.flatnonzero(labels == label).tolist()] for label in np.unique(labels)]
    shared = _shared(graph, whole, node, groups)
    found = [
        Person(tuple(graph.names[paper] for paper in group), tuple(graph.names[other] for other in own))
        for group, own in zip(groups, shared, strict=True)
    ]
    return sorted(found, key=lambda person: -len(person.papers))


def node_of(graph: TypedGraph, name: str) -> int:
    """The number of a node, by its name.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add("Mara Lind", "writes", "p1")
    >>> node_of(builder.graph(), "Mara Lnd")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: the graph has no node 'Mara Lnd'; did you mean Mara Lind?
    """
    node = graph.names.find(name)
    if node < 0:
        # Comparing with a million names would take minutes.
        near = list(graph.names) if graph.n_nodes <= 100_000 else []
        raise DataError(f"the graph has no node {name!r}; {did_you_mean(name, near, 'names must match exactly')}")
    return node


def _by_coauthors(graph: TypedGraph, whole: Network, node: int, papers: Sequence[int]) -> Ints:
    """GHOST on the network in which nodes of the name's type, such as authors, are joined by what they share."""
    n, rows, columns = whole.n_nodes, [], []
    ours = set(papers)
    coauthors = {paper: [other for other in whole.of(paper) if _alike(graph, other, node)] for paper in papers}
    near = {other for own in coauthors.values() for other in own}
    for paper in sorted({paper for other in near for paper in whole.of(other)} - ours - {node}):
        own = [other for other in whole.of(paper) if _alike(graph, other, node)]
        rows += [a for i, a in enumerate(own) for _ in own[i + 1 :]]
        columns += [b for i in range(len(own)) for b in own[i + 1 :]]
    for place, paper in enumerate(papers):
        own = coauthors[paper]
        rows += [n + place] * len(own) + [a for i, a in enumerate(own) for _ in own[i + 1 :]]
        columns += own + [b for i in range(len(own)) for b in own[i + 1 :]]
    return ghost(network_of(n + len(papers), rows, columns), np.arange(n, n + len(papers), dtype=np.int32))


def _alike(graph: TypedGraph, other: int, node: int) -> bool:
    return other != node and bool(graph.type[other] == graph.type[node])


def _shared(
    graph: TypedGraph, whole: Network, node: int, groups: Sequence[Sequence[int]], most: int = 5
) -> list[list[int]]:
    """For every group, the neighbours that its papers have in common more than those of the others, but no papers."""
    kind = graph.type[groups[0][0]]
    papers = {paper for group in groups for paper in group}

    def counts_as_shared(other: int) -> bool:
        return other != node and other not in papers and (not graph.types[kind] or graph.type[other] != kind)

    counts = [
        Counter(other for paper in group for other in whole.of(paper) if counts_as_shared(other)) for group in groups
    ]
    found = []
    for number, own in enumerate(counts):

        def worth(item: tuple[int, int], number: int = number) -> float:
            other = max((counts[k][item[0]] / len(groups[k]) for k in range(len(groups)) if k != number), default=0.0)
            return item[1] / len(groups[number]) - other

        ranked = sorted((pair for pair in own.items() if pair[1] > 1), key=lambda pair: (-worth(pair), pair[0]))
        found.append([other for other, count in ranked[:most] if worth((other, count)) > 0])
    return found
