"""Part B: authors who are given one name, told apart again, in the heterogeneous network and in that of co-authors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.evaluate.clusters import normalized_information, pairwise, purity, rand_index
from weft.graph.clusters.gap import gaps, null_of
from weft.graph.clusters.ghost import ghost
from weft.graph.clusters.instances import instance_distances
from weft.graph.clusters.medoids import medoids
from weft.graph.network import Network, network, network_of
from weft.progress import track
from weft.recipes.framework import RecipeOptions
from weft.tasks.bibliographies.papers import Paper
from weft.tasks.bibliographies.schema import Bibliography, bibliography

SCORES = ("P", "R", "F", "Rand", "purity", "NMI")
NUMBERS = (2, 3, 4)
#: The steps of walks in the two networks, and of walks that may come back.
LENGTHS = {"het": 10, "coauth": 3, "visits": 4}
LEAST = 8


@dataclass
class Names:
    """Networks in which authors are merged, and the authors with enough papers."""

    papers: list[Paper]
    whole: dict[str, tuple[Bibliography, Network]]
    coauthors: Network
    numbers: dict[str, int]
    wrote: dict[str, list[int]]
    eligible: list[str]

    @classmethod
    def of(cls, papers: list[Paper], terms: dict[str, Sequence[Sequence[str]] | None], least: int = LEAST) -> Names:
        wrote: defaultdict[str, list[int]] = defaultdict(list)
        for place, paper in enumerate(papers):
            for author in dict.fromkeys(paper.authors):
                wrote[author].append(place)
        numbers = {author: number for number, author in enumerate(wrote)}
        whole = {}
        for name, own in terms.items():
            found = bibliography(papers, own)
            whole[name] = found, network(found.graph)
        rows, columns = _joint([[numbers[author] for author in dict.fromkeys(paper.authors)] for paper in papers])
        eligible = sorted(author for author, own in wrote.items() if len(own) >= least)
        return cls(papers, whole, network_of(len(numbers), rows, columns), numbers, dict(wrote), eligible)

    def drawn(self, people: int, sets: int, seed: int) -> list[list[str]]:
        """Sets of random authors without a common paper."""
        rng = np.random.default_rng([seed, people])
        found: list[list[str]] = []
        while len(found) < sets:
            own = [self.eligible[i] for i in rng.choice(len(self.eligible), people, replace=False)]
            papers = [paper for author in own for paper in self.wrote[author]]
            if len(set(papers)) == len(papers):
                found.append(own)
        return found

    def gold(self, people: Sequence[str]) -> Ints:
        """The author of every instance."""
        return np.repeat(np.arange(len(people)), [len(self.wrote[author]) for author in people])

    def heterogeneous(self, people: Sequence[str], terms: str) -> tuple[Network, Ids]:
        """The network of all types with one instance per paper of the merged authors."""
        found, whole = self.whole[terms]
        papers = [paper for author in people for paper in self.wrote[author]]
        return whole.split([found.graph.names.find(author) for author in people], found.nodes[papers])

    def coauthorship(self, people: Sequence[str]) -> tuple[Network, Ids]:
        """The network of authors; the weight of an edge is the number of joint papers."""
        gone = [self.numbers[author] for author in people]
        sources, n = self.coauthors.sources(), len(self.numbers)
        kept = (sources < self.coauthors.targets) & ~np.isin(sources, gone) & ~np.isin(self.coauthors.targets, gone)
        rows, columns = [], []
        papers = [(author, paper) for author in people for paper in self.wrote[author]]
        for instance, (author, paper) in enumerate(papers):
            others = [self.numbers[other] for other in dict.fromkeys(self.papers[paper].authors) if other != author]
            rows += [n + instance] * len(others)
            columns += others
        joined = network_of(
            n + len(papers), np.concatenate([sources[kept], np.array(rows, dtype=np.int32)]),
            np.concatenate([self.coauthors.targets[kept], np.array(columns, dtype=np.int32)]),
            np.concatenate([self.coauthors.weights[kept], np.ones(len(rows))]),
        )  # fmt: skip
        return joined, np.arange(n, n + len(papers), dtype=np.int32)


def _joint(groups: list[list[int]]) -> tuple[list[int], list[int]]:
    rows, columns = [], []
    for group in groups:
        for place, author in enumerate(group):
            rows += [author] * (len(group) - place - 1)
            columns += group[place + 1 :]
    return rows, columns


#: The rows of the paper's table: network, terms and measure.
ROWS: dict[str, tuple[str, str, str]] = {
    "heterogeneous, commute time": ("het", "phrases", "commute"),
    "heterogeneous, shortest path": ("het", "phrases", "shortest"),
    "heterogeneous, PropFlow": ("het", "phrases", "propflow"),
    "co-authorship, commute time": ("coauth", "", "commute"),
    "co-authorship, shortest path": ("coauth", "", "shortest"),
    "co-authorship, PropFlow": ("coauth", "", "propflow"),
    "GHOST": ("coauth", "", "ghost"),
    "heterogeneous, PropFlow, words as terms": ("het", "words", "propflow"),
    "heterogeneous, shortest path, words as terms": ("het", "words", "shortest"),
    "heterogeneous, PropFlow, no terms": ("het", "none", "propflow"),
    "heterogeneous, shortest path, no terms": ("het", "none", "shortest"),
    "heterogeneous, walks with revisits": ("het", "phrases", "visits"),
}
POOLED = "heterogeneous, PropFlow, gap from distances of the whole graph"


@dataclass
class Outcomes:
    """For every row, the scores of all sets (by k of the gap statistic, and by the true k), and true and chosen k."""

    chosen: dict[str, list[tuple[float, ...]]]
    given: dict[str, list[tuple[float, ...]]]
    numbers: dict[str, list[tuple[int, int]]]

    def mean(self, row: str, column: str, given: bool = False) -> float:
        return float(np.mean([scores[SCORES.index(column)] for scores in (self.given if given else self.chosen)[row]]))

    def values(self, row: str, column: str, given: bool = False) -> Floats:
        return np.array([scores[SCORES.index(column)] for scores in (self.given if given else self.chosen)[row]])

    def right(self, row: str) -> Floats:
        """For every set, whether the gap statistic chose the true number."""
        return np.array([true == chosen for true, chosen in self.numbers[row]], dtype=np.float64)


def told_apart(names: Names, rows: Sequence[str], sets: int, draws: int, seed: int, options: RecipeOptions) -> Outcomes:
    """All rows on the same sets of 2, 3 and 4 authors."""
    found = Outcomes({row: [] for row in rows}, {row: [] for row in rows}, {row: [] for row in rows})
    drawn = [(people, own) for people in NUMBERS for own in names.drawn(people, sets, seed)]
    pool = _pool(names, seed) if POOLED in rows else np.zeros(0)
    for number, (people, own) in enumerate(track(drawn, "telling authors apart", unit="sets")):
        gold = names.gold(own)
        networks: dict[str, tuple[Network, Ids]] = {}
        for row in rows:
            kind, terms, measure = ROWS[row] if row != POOLED else ROWS["heterogeneous, PropFlow"]
            if kind + terms not in networks:
                networks[kind + terms] = names.heterogeneous(own, terms) if kind == "het" else names.coauthorship(own)
            whole, instances = networks[kind + terms]
            if measure == "ghost":
                found.chosen[row].append(scores_of(gold, ghost(whole, instances)))
                continue
            length = LENGTHS.get(measure, LENGTHS[kind])
            distances = instance_distances(whole, instances, measure, length, options.workers)
            by_number = {k: medoids(distances, k).labels for k in NUMBERS}
            upper = distances[np.triu_indices(len(gold), 1)]
            null = null_of(len(gold), pool if row == POOLED else upper, NUMBERS, draws, seed + number)
            chosen = gaps(distances, null, draws).chosen
            found.chosen[row].append(scores_of(gold, by_number[chosen]))
            found.given[row].append(scores_of(gold, by_number[people]))
            found.numbers[row].append((people, chosen))
    return found


def scores_of(gold: Ints, labels: Ints) -> tuple[float, ...]:
    """The six scores of the paper, for one set."""
    pairs = pairwise(gold, labels)
    return (
        pairs.precision, pairs.recall, pairs.f1, rand_index(gold, labels), purity(gold, labels),
        normalized_information(gold, labels),
    )  # fmt: skip


def _pool(names: Names, seed: int, nodes: int = 60) -> Floats:
    """Distances between random nodes of the heterogeneous network."""
    whole = names.whole["phrases"][1]
    chosen = np.random.default_rng(seed).choice(whole.n_nodes, nodes, replace=False)
    found = instance_distances(whole, chosen, "propflow", LENGTHS["het"])
    return found[np.triu_indices(nodes, 1)]
