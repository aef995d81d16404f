"""The model of pairs: how probable it is that two mentions fill two slots of one tuple.

    p(related) = 1 / (1 + exp(-sum of the weights of the pair's features))

One logistic regression per relation; all their weights are stored together under 32 bits of the keys of features, into
which the relation enters. Positive pairs are those that stand together in a gold tuple, whether or not it is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Halves, Ints, Keys
from weft.deadline import check
from weft.declared import Array, Stored
from weft.learn.linear.classifiers import logistic_regression
from weft.storage import Arrays
from weft.tasks.relations.features import keys_of, pair_features, type_name, with_value
from weft.tasks.relations.samples import Sample
from weft.tasks.relations.schema import Filler, Schema

_HALF = np.uint64(32)
_ARRAYS = (Array("keys", "uint32", ("rows",), rising=True), Array("weights", "float32", ("rows",), within=(-1e6, 1e6)))
PENALTIES = ("l2", "l1")


class Edge(NamedTuple):
    """A pair of fillers in a sentence, the first of which stands first."""

    sample: int
    one: Filler
    other: Filler
    row: int  # of the features of the two mentions


@dataclass
class PairTable:
    """The features of all pairs of mentions that a relation could join, for a batch of sentences."""

    samples: Sequence[Sample]
    keys: Keys
    offsets: Ints
    rows: list[dict[tuple[int, int], int]]  # by sentence and mentions

    @classmethod
    def of(cls, samples: Sequence[Sample], schemas: Sequence[Schema]) -> PairTable:
        """The features of the pairs that some schema allows."""
        names: list[list[str]] = []
        rows: list[dict[tuple[int, int], int]] = []
        allowed: dict[tuple[str, str], bool] = {}
        for sample in samples:
            check()
            own: dict[tuple[int, int], int] = {}
            for one, other in combinations(range(len(sample.mentions)), 2):
                kinds = sample.mentions[one].type, sample.mentions[other].type
                if kinds not in allowed:
                    allowed[kinds] = any(_possible(schema, *kinds) for schema in schemas)
                if allowed[kinds]:
                    own[one, other] = len(names)
                    names.append(pair_features(sample, one, other))
            rows.append(own)
        keys, offsets = keys_of(names)
        return cls(samples, keys, offsets, rows)

    def edges(self, schema: Schema) -> tuple[list[Edge], list[list[Filler]]]:
        """The pairs of fillers that a relation could join, and the fillers of every sentence."""
        edges: list[Edge] = []
        nodes: list[list[Filler]] = []
        for number, sample in enumerate(self.samples):
            fillers = schema.fillers(sample.types) if self.rows[number] else []
            nodes.append(fillers)
            for one, other in combinations(fillers, 2):
                if schema.joins(one, other):
                    edges.append(Edge(number, one, other, self.rows[number][one.mention, other.mention]))
        return edges, nodes

    def columns(self, schema: Schema, edges: Sequence[Edge]) -> tuple[Halves, Ints]:
        """The features of edges as halves of keys, with offsets: each one alone, and with types and slots of both."""
        values: dict[str, int] = {}
        kinds = np.array([values.setdefault(self.value(schema, edge), len(values)) for edge in edges], dtype=np.int64)
        rows = np.array([edge.row for edge in edges], dtype=np.int64)
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        offsets = np.concatenate([[0], np.cumsum(2 * lengths)])
        halves = np.zeros(int(offsets[-1]), dtype=np.uint32)
        taken, inside = _ragged(self.offsets[rows], lengths)
        base = self.keys[taken]
        places = np.repeat(offsets[:-1], lengths) + inside
        halves[places] = with_value(base, schema.label) >> _HALF
        owner = np.repeat(kinds, lengths)
        for value, number in values.items():
            chosen = owner == number
            shifted = places[chosen] + np.repeat(lengths, lengths)[chosen]
            halves[shifted] = with_value(base[chosen], value) >> _HALF
        return halves, offsets

    def value(self, schema: Schema, edge: Edge) -> str:
        """Relation, slots and types of both mentions: what features are joined to."""
        mentions = self.samples[edge.sample].mentions
        one, other = (type_name(schema.slots[each.slot].name, mentions[each.mention].type) for each in edge[1:3])
        return f"{schema.label}|{one}|{other}"

    def labels(self, schema: Schema, edges: Sequence[Edge]) -> NDArray[np.bool_]:
        """Which edges stand together in a gold tuple."""
        found = np.zeros(len(edges), dtype=np.bool_)
        for number, (sample, one, other, _) in enumerate(edges):
            ends = ((schema.slots[each.slot].name, each.mention) for each in (one, other))
            found[number] = self.samples[sample].is_together(schema.label, *ends)
        return found


@dataclass(frozen=True)
class PairModel:
    """Weights under rising halves of keys."""

    keys: Halves
    weights: NDArray[np.float32]

    @classmethod
    def fit(
        cls, table: PairTable, schemas: Sequence[Schema], c: float = 1.0, penalty: str = "l2", seed: int = 0,
        rare: int = 0,
    ) -> PairModel:  # fmt: skip
        """Learn every relation from the pairs that it could join; features of `rare` pairs or fewer have no weight."""
        keys: list[Halves] = []
        weights: list[Floats] = []
        for schema in schemas:
            check()
            edges, _ = table.edges(schema)
            if edges:
                halves, offsets = table.columns(schema, edges)
                own, found = fit_logistic(halves, offsets, table.labels(schema, edges), c, penalty, seed, rare)
                keys.append(own)
                weights.append(found)
        return cls.joined(keys, weights)

    @classmethod
    def joined(cls, keys: Sequence[Halves], weights: Sequence[Floats]) -> PairModel:
        """One model of the weights of several relations; weights of 0 are left out."""
        every = np.concatenate([np.zeros(0, np.uint32), *keys])
        values = np.concatenate([np.zeros(0), *weights]).astype(np.float32)
        names, places = np.unique(every, return_inverse=True)
        sums = np.bincount(places, values, len(names)).astype(np.float32)
        return cls(names[sums != 0], sums[sums != 0])

    def look_up(self, halves: Halves) -> Floats:
        """The weights of features, 0 for unknown ones."""
        if not len(self.keys):
            return np.zeros(len(halves))
        places = np.minimum(np.searchsorted(self.keys, halves), len(self.keys) - 1)
        return np.where(self.keys[places] == halves, self.weights[places], 0.0).astype(np.float64)

    def probabilities(self, table: PairTable, schema: Schema, edges: Sequence[Edge]) -> Floats:
        """How probable it is that each of these edges is part of a tuple."""
        if not edges:
            return np.zeros(0)
        halves, offsets = table.columns(schema, edges)
        return sigmoid(np.add.reduceat(self.look_up(halves), offsets[:-1]))

    def reasons(self, table: PairTable, schema: Schema, edge: Edge) -> list[tuple[str, str, float]]:
        """The features of an edge with their weights: the name, what it was joined to, and the weight."""
        sample = table.samples[edge.sample]
        names = pair_features(sample, edge.one.mention, edge.other.mention)
        halves, _ = table.columns(schema, [edge])
        weights = self.look_up(halves).tolist()
        values = [""] * len(names) + [table.value(schema, edge).partition("|")[2]] * len(names)
        return [(name, value, w) for name, value, w in zip(names * 2, values, weights, strict=True) if w]

    def arrays(self) -> Arrays:
        """The arrays of a model file."""
        return {"keys": self.keys, "weights": self.weights}

    @classmethod
    def from_arrays(cls, stored: Stored) -> PairModel:
        """Restore a model from checked arrays."""
        found = stored.take(*_ARRAYS)
        return cls(found["keys"], found["weights"])


def fit_logistic(
    halves: Halves,
    offsets: Ints,
    labels: NDArray[np.bool_],
    c: float,
    penalty: str = "l2",
    seed: int = 0,
    rare: int = 0,
) -> tuple[Halves, Floats]:
    """A logistic regression on hashed features: the features that occur, and their weights.

    If all items have one label there is nothing to learn but the odds, which go to the first feature of every item.
    """
    from scipy.sparse import csr_matrix

    names, columns = np.unique(halves, return_inverse=True)
    right = int(labels.sum())
    if right in (0, len(labels)):
        odds = float(np.log((right + 0.5) / (len(labels) - right + 0.5)))
        return halves[:1].copy(), np.array([odds])
    rows: Any = csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(labels), len(names)))
    rows.sum_duplicates()
    if rare:
        kept = np.flatnonzero(np.bincount(columns, minlength=len(names)) > rare)
        rows, names = rows[:, kept], names[kept]
    found = logistic_regression(rows, labels, c=c, penalty=penalty, intercept=False, tolerance=1e-4,
                                max_iterations=500, seed=seed)  # fmt: skip
    place = found.labels.tolist().index(True)
    return names, found.weights[:, place] - found.weights[:, 1 - place]


def sigmoid(scores: Floats) -> Floats:
    """Probabilities of scores.

    >>> sigmoid(np.array([0.0, -800.0])).tolist()
    [0.5, 0.0]
    """
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-scores)))


def _possible(schema: Schema, one: str, other: str) -> bool:
    """Whether mentions of two types could be in one tuple."""
    fillers = schema.fillers([one, other])
    return any(schema.joins(a, b) for a, b in combinations(fillers, 2))


def _ragged(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """The places of ragged rows in their array, and the place of each within its row."""
    inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + inside, inside
