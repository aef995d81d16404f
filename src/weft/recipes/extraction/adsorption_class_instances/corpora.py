"""Two extractors and gold classes: Hearst pairs, columns of Wikipedia tables, and leaves of WordNet.

The paper's extractions from the web are not available. Hearst pairs with counts stand in for its first source, columns
of Wikipedia tables for its second, with the title of a page in place of an Internet domain.
"""

from __future__ import annotations

import gzip
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import FormatError
from weft.graph.csr import Graph
from weft.lexical.instances.columns import Column, ColumnScorer, known_instances
from weft.lexical.resources.synsets import HYPONYM, Database, Synset

HEARST, TABLES = "class-instances/hearst/pairs.tsv.gz", "class-instances/wikitables/columns.tsv.gz"
#: The gold classes: concrete nouns of which WordNet lists many kinds or instances.
CLASSES = (
    "city", "mammal", "drug", "language", "country", "composer", "bird", "painter", "state", "tree", "disease", "herb",
    "actor", "politician", "poet", "fish", "fruit", "island", "philosopher", "singer", "river", "game", "vegetable",
    "weapon", "physicist", "sport", "garment", "insect", "explorer",
)  # fmt: skip
INSTANCE_BELOW = "~i"
Pair = tuple[str, str, float]


def read_hearst(path: Path) -> list[tuple[str, str, int]]:
    """Pairs of instance and class with their counts; `_` stands for a blank in the file."""
    pairs = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 3 or not cells[2].isdigit():
                raise FormatError(str(path), number, "instance, class and count", line[:80])
            pairs.append((cells[0].replace("_", " "), cells[1].replace("_", " "), int(cells[2])))
    return pairs


def read_tables(path: Path) -> list[Column]:
    """Columns of Wikipedia tables, in lower case; their source is the page."""
    columns = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 4:
                raise FormatError(str(path), number, "table, page, heading and cells", line[:80])
            values = (cell.lower() for cell in cells[3].split("|"))
            columns.append(Column.of(f"{cells[0]} {cells[2]}", cells[1], values))
    return columns


def weighted(pairs: Iterable[tuple[str, str, int]]) -> list[Pair]:
    """Counts as weights: log(1 + n) / log 100."""
    return [(instance, name, math.log1p(count) / math.log(100)) for instance, name, count in pairs]


def from_tables(
    pairs: Sequence[tuple[str, str, int]], columns: Sequence[Column], sources: int, together: bool = False
) -> list[Pair]:
    """The second extractor: cells of columns that hold known instances of a class."""
    known = known_instances(((i, c, float(n)) for i, c, n in pairs), 5, 10)
    return [pair for pair in ColumnScorer(known).pairs(columns, sources, together) if pair[0] != pair[1]]


def gold_classes(database: Database, instances: set[str], least: int = 30) -> dict[str, str]:
    """The gold class of strings: leaves below the class in WordNet that are in the graph, without those of two classes.

    Of the synsets of a noun, the smallest with so many leaves in the graph is taken.
    """
    found: dict[str, set[str]] = {}
    for name in CLASSES:
        sizes = []
        for synset in database.synsets(name, "n"):
            if synset.lemmas[0].lower() == name:
                leaves = _leaves(database, synset) & instances
                if len(leaves) >= least:
                    sizes.append((len(leaves), synset.offset, leaves))
        if sizes:
            found[name] = min(sizes)[2]
    times: dict[str, list[str]] = defaultdict(list)
    for name, leaves in found.items():
        for leaf in leaves - {name}:
            times[leaf].append(name)
    return {leaf: names[0] for leaf, names in sorted(times.items()) if len(names) == 1}


def _leaves(database: Database, synset: Synset) -> set[str]:
    leaves: set[str] = set()
    stack, seen = [synset], {synset.offset}
    while stack:
        for below in database.related(stack.pop(), HYPONYM, INSTANCE_BELOW):
            if below.offset in seen:
                continue
            seen.add(below.offset)
            stack.append(below)
            if not database.related(below, HYPONYM, INSTANCE_BELOW):
                leaves.update(lemma.lower() for lemma in below.lemmas)
    return leaves


@dataclass(frozen=True)
class Pairs:
    """The graph of scored pairs over one numbering of strings, and the pairs of every extractor by themselves."""

    names: dict[str, int]
    sources: dict[str, list[Pair]]

    @classmethod
    def of(cls, **sources: list[Pair]) -> Pairs:
        """Number the strings of all sources."""
        names: dict[str, int] = {}
        for pairs in sources.values():
            for instance, label, _ in pairs:
                names.setdefault(instance, len(names))
                names.setdefault(label, len(names))
        return cls(names, sources)

    def graph(self, *which: str) -> Graph:
        """The graph of some extractors, whose scores are added."""
        pairs = [pair for name in which for pair in self.sources[name] if pair[0] != pair[1]]
        u = np.array([self.names[instance] for instance, _, _ in pairs], dtype=np.int32)
        v = np.array([self.names[label] for _, label, _ in pairs], dtype=np.int32)
        return Graph.from_edges(len(self.names), u, v, np.array([weight for _, _, weight in pairs], np.float32))

    def own_labels(self, which: str) -> dict[str, list[str]]:
        """The labels that an extractor gives every instance, best first."""
        found: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for instance, label, weight in self.sources[which]:
            found[instance].append((-weight, label))
        return {instance: [label for _, label in sorted(own)] for instance, own in found.items()}


@dataclass(frozen=True)
class Gold:
    """Gold classes of nodes, and draws of seeds."""

    classes: list[str]
    nodes: Ints
    labels: Ids

    @classmethod
    def of(cls, pairs: Pairs, gold: dict[str, str]) -> Gold:
        """The strings that the graph has."""
        kept = [(pairs.names[name], label) for name, label in gold.items() if name in pairs.names]
        classes = sorted({label for _, label in kept})
        number = {label: at for at, label in enumerate(classes)}
        nodes = np.array([node for node, _ in kept], dtype=np.int64)
        return cls(classes, nodes, np.array([number[label] for _, label in kept], dtype=np.int32))

    def draw(self, most: int, seed: int) -> list[Ints]:
        """Positions of so many seeds of every class, at most half of it; fewer seeds are the first of them."""
        rng = np.random.default_rng(seed)
        drawn = []
        for label in range(len(self.classes)):
            own = rng.permutation(np.flatnonzero(self.labels == label))
            drawn.append(own[: min(most, len(own) // 2)])
        return drawn
