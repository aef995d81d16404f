"""People of FB15k-237, their professions as classes, and attributes of three kinds.

    values       person - (relation, value)     relation and the other end of the triple, so that people share values
    relations    person - relation              that the person has any such relation: dense, and says little alone
    shuffled     the same as `relations` with the persons of each edge drawn anew: as dense, and says nothing

The relation that holds the classes is left out of all of them, in both directions.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Bools, Ints
from weft.errors import FormatError
from weft.graph.csr import Graph

FILE = "knowledge-graphs/fb15k-237/train.txt.gz"
PROFESSION = "/people/person/profession"
Triple = tuple[str, str, str]


def read_triples(path: Path) -> list[Triple]:
    """The triples of a file."""
    triples = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 3:
                raise FormatError(str(path), number, "head, relation and tail", line[:80])
            triples.append((cells[0], cells[1], cells[2]))
    return triples


@dataclass(frozen=True)
class People:
    """People with their professions as a mask `[person, class]`, and the edges of their attributes."""

    names: list[str]
    classes: list[str]
    gold: Bools
    values: Ints  # [edge, 2]: person and number of the attribute, counted from 0
    relations: Ints

    @classmethod
    def of(cls, triples: Iterable[Triple], relation: str = PROFESSION, classes: int = 20, least: int = 2) -> People:
        """The people who have one of the most frequent professions; attributes that so many of them share are kept."""
        kept = list(triples)
        frequent = Counter(tail for _, r, tail in kept if r == relation)
        chosen = sorted(sorted(frequent), key=lambda name: -frequent[name])[:classes]
        number = {name: at for at, name in enumerate(chosen)}
        has: dict[str, set[int]] = defaultdict(set)
        for head, r, tail in kept:
            if r == relation and tail in number:
                has[head].add(number[tail])
        names = sorted(has)
        place = {name: at for at, name in enumerate(names)}
        gold = np.zeros((len(names), len(chosen)), dtype=np.bool_)
        for name, own in has.items():
            gold[place[name], sorted(own)] = True
        values: set[tuple[int, str]] = set()
        relations: set[tuple[int, str]] = set()
        for head, r, tail in kept:
            if r != relation:
                for person, way, other in ((head, r, tail), (tail, f"{r} of", head)):
                    if person in place:
                        values.add((place[person], f"{way}\t{other}"))
                        relations.add((place[person], way))
        return cls(names, chosen, gold, _shared(values, least), _shared(relations, least))

    def shuffled(self, edges: Ints, seed: int) -> Ints:
        """As many edges of every attribute, to people drawn at random."""
        rng = np.random.default_rng(seed)
        drawn = edges.copy()
        for attribute, count in zip(*np.unique(edges[:, 1], return_counts=True), strict=True):
            drawn[edges[:, 1] == attribute, 0] = rng.choice(len(self.names), count, replace=False)
        return drawn

    def graph(self, *parts: Ints) -> Graph:
        """The graph of people and the attributes of some sets of edges, each with nodes of its own."""
        n = len(self.names)
        ends = []
        for edges in parts:
            ends.append(np.stack([edges[:, 0], edges[:, 1] + n], axis=1))
            n += int(edges[:, 1].max(initial=-1)) + 1
        joined = np.concatenate(ends)
        return Graph.from_edges(n, joined[:, 0], joined[:, 1])

    def draw(self, count: int, seed: int) -> tuple[Ints, Ints]:
        """So many people per class as seeds, each for one class: persons and classes."""
        rng = np.random.default_rng(seed)
        taken: dict[int, int] = {}
        for label in rng.permutation(len(self.classes)).tolist():
            free = [person for person in np.flatnonzero(self.gold[:, label]).tolist() if person not in taken]
            for person in rng.permutation(free)[:count].tolist():
                taken[person] = label
        return np.array(list(taken), dtype=np.int64), np.array(list(taken.values()), dtype=np.int64)


def _shared(edges: set[tuple[int, str]], least: int) -> Ints:
    times = Counter(attribute for _, attribute in edges)
    kept = sorted((person, attribute) for person, attribute in edges if times[attribute] >= least)
    number = {attribute: at for at, attribute in enumerate(sorted({attribute for _, attribute in kept}))}
    pairs = [(person, number[attribute]) for person, attribute in kept]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
