"""Prepositional attachment as a graph: quadruples joined to their words; those of the training file are seeds.

    40000 set stage for increase N      id, verb, noun, preposition, object; attached to the noun (N) or verb (V)

Every quadruple is a vertex with edges of weight 1 to `v:set`, `n:stage`, `p:for` and `o:increase`. The public toolkit
merges quadruples of one sentence id; a seed whose quadruples disagree then has both labels with weight 1, and "lenient"
counts an answer as right if it is any of the gold labels. "Strict" scores against the majority, of ties the label that
the file has first. The quadruples of the test file are vertices too, without labels.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Ints
from weft.errors import FormatError
from weft.graph.csr import Graph
from weft.graph.propagation.seeds import Seeds

FOLDER = "pp-attachment/ratnaparkhi"
#: Training, development (which is scored) and test, in this order.
FILES = ("training.gz", "devset", "test")
LABELS = "NV"
ROLES = "vnpo"


class Quadruple(NamedTuple):
    """A sentence id, four words, and the label."""

    id: str
    words: tuple[str, str, str, str]
    label: int


def read_quadruples(path: Path) -> list[Quadruple]:
    """The quadruples of a file, gzipped or not."""
    found = []
    with gzip.open(path, "rt", encoding="latin-1") if path.suffix == ".gz" else path.open(encoding="latin-1") as lines:
        for number, line in enumerate(lines, 1):
            cells = line.split()
            if len(cells) != 6 or cells[5] not in LABELS:
                raise FormatError(str(path), number, "an id, four words, and N or V", line[:80].strip())
            id, v, n, p, o, label = cells
            found.append(Quadruple(id, (v, n, p, o), LABELS.index(label)))
    return found


def majority_of(quadruples: Sequence[Quadruple]) -> list[Quadruple]:
    """The quadruples with the majority label of their sentence id, of ties the first.

    >>> words = ("set", "stage", "for", "rise")
    >>> [each.label for each in majority_of([Quadruple("7", words, 0), Quadruple("7", words, 1)])]
    [0, 0]
    """
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for each in quadruples:
        counts[each.id][each.label] += 1
    best = {id: own.most_common(1)[0][0] for id, own in counts.items()}
    return [each._replace(label=best[each.id]) for each in quadruples]


@dataclass(frozen=True)
class Attachment:
    """The graph, its seeds, and the gold labels of the vertices to score, as counts `[vertex, label]`."""

    graph: Graph
    seeds: Seeds
    test: Ints
    gold: NDArray[np.int64]
    majority: Ints

    @classmethod
    def of(cls, parts: Sequence[Sequence[Quadruple]], merged: bool) -> Attachment:
        """The graph of the three files, with a vertex per sentence id or per quadruple."""
        numbers: dict[Any, int] = {}
        edges: set[tuple[int, int]] = set()
        seeds: set[tuple[int, int]] = set()
        gold: dict[int, Counter[int]] = defaultdict(Counter)  # labels in the order of the file
        for part, quadruples in enumerate(parts):
            for place, each in enumerate(quadruples):
                key = ("id", each.id) if merged else ("quadruple", part, place)
                vertex = numbers.setdefault(key, len(numbers))
                for role, word in zip(ROLES, each.words, strict=True):
                    edges.add((vertex, numbers.setdefault((role, word), len(numbers))))
                if part == 0:
                    seeds.add((vertex, each.label))
                elif part == 1:
                    gold[vertex][each.label] += 1
        ends = np.array(sorted(edges), dtype=np.int32)
        known = np.array(sorted(seeds), dtype=np.int64)
        n = len(numbers)
        test = np.array(sorted(gold), dtype=np.int64)
        counts = np.array([[gold[int(vertex)][label] for label in range(len(LABELS))] for vertex in test])
        graph = Graph.from_edges(n, ends[:, 0], ends[:, 1])
        majority = np.array([gold[int(vertex)].most_common(1)[0][0] for vertex in test], dtype=np.int64)
        return cls(graph, Seeds.of(n, known[:, 0], known[:, 1], n_labels=len(LABELS)), test, counts, majority)

    @property
    def mixed(self) -> int:
        """Seeds with both labels."""
        return int((np.diff(self.seeds.offsets) > 1).sum())

    def right(self, scores: Any, strict: bool = False) -> Bools:
        """Which vertices are answered rightly by scores whose last column is "unknown"."""
        answers = np.asarray(scores)[self.test, : len(LABELS)].argmax(axis=1)
        if strict:
            return answers == self.majority
        lenient: Bools = self.gold[np.arange(len(self.test)), answers] > 0
        return lenient

    def reciprocal_ranks(self, scores: Any) -> NDArray[np.float64]:
        """1 where the answer is right, 1/2 where the other label is, as there are two."""
        return np.where(self.right(scores), 1.0, 0.5)
