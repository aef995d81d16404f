"""Naive enumeration, the baseline: every possible tuple of a sentence is classified as a whole (McDonald et al. 2005).

    candidates = all sets of two or more fillers that the schema allows        2^mentions of them at worst

A candidate is positive in training if it is a gold tuple or a part of one: of the ways to label correct but incomplete
tuples the paper found this one the best. Features are those of all its pairs, and the types of all members together, in
text order. Of the candidates that come out positive those stay that no other one contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from weft.arrays import Floats, Halves, Ints
from weft.deadline import check
from weft.hashing import hash_strings
from weft.tasks.relations.pairs import Edge, PairModel, PairTable, fit_logistic, sigmoid
from weft.tasks.relations.samples import Sample
from weft.tasks.relations.schema import Filler, Schema
from weft.text.conventions.tuples import TupleRow

_HALF = np.uint64(32)
#: Larger candidates are not enumerated: their number grows exponentially.
MOST_SLOTS = 4


def candidates_of(schema: Schema, fillers: Sequence[Filler], most: int = MOST_SLOTS) -> list[tuple[Filler, ...]]:
    """All sets of two to `most` fillers that the schema allows in one tuple.

    >>> from weft.tasks.relations.schema import Slot
    >>> schema = Schema("work", (Slot("who", ("PER",)), Slot("does", ("JOB",)), Slot("where", ("ORG",))))
    >>> len(candidates_of(schema, schema.fillers(["PER", "PER", "JOB", "ORG", "ORG"])))
    12
    """
    found: list[tuple[Filler, ...]] = []

    def extend(chosen: tuple[Filler, ...], first: int) -> None:
        for place in range(first, len(fillers)):
            new = fillers[place]
            used = sum(each.slot == new.slot for each in chosen)
            limit = schema.slots[new.slot].limit
            if (limit and used >= limit) or any(not schema.joins(each, new) for each in chosen):
                continue
            grown = (*chosen, new)
            if len(grown) > 1:
                found.append(grown)
            if len(grown) < most:
                extend(grown, place + 1)

    extend((), 0)
    return found


@dataclass(frozen=True)
class EnumerationModel:
    """A classifier of whole tuples of one relation."""

    schema: Schema
    model: PairModel
    most: int = MOST_SLOTS

    @classmethod
    def fit(cls, samples: Sequence[Sample], schema: Schema, c: float = 1.0, most: int = MOST_SLOTS) -> EnumerationModel:
        """Learn from all candidates of all sentences."""
        table = PairTable.of(samples, [schema])
        candidates = _all_candidates(table, schema, most)
        halves, offsets = _features(table, schema, candidates)
        labels = np.array([_is_part(schema, samples[number], members) for number, members in candidates])
        keys, weights = fit_logistic(halves, offsets, labels, c)
        return cls(schema, PairModel.joined([keys], [weights]), most)

    def predict(self, samples: Sequence[Sample], threshold: float = 0.5) -> list[list[TupleRow]]:
        """The candidates that come out positive and that no other one contains, for every sentence."""
        table = PairTable.of(samples, [self.schema])
        candidates = _all_candidates(table, self.schema, self.most)
        halves, offsets = _features(table, self.schema, candidates)
        p = self._probabilities(halves, offsets)
        positive: list[list[frozenset[Filler]]] = [[] for _ in samples]
        for (number, members), probability in zip(candidates, p.tolist(), strict=True):
            if probability >= threshold:
                positive[number].append(frozenset(members))
        names = [slot.name for slot in self.schema.slots]
        return [
            [
                TupleRow(self.schema.label, tuple((names[each.slot], each.mention) for each in sorted(members)))
                for members in own
                if not any(members < other for other in own)
            ]
            for own in positive
        ]

    def _probabilities(self, halves: Halves, offsets: Ints) -> Floats:
        return sigmoid(np.add.reduceat(self.model.look_up(halves), offsets[:-1])) if len(offsets) > 1 else np.zeros(0)


def _all_candidates(table: PairTable, schema: Schema, most: int) -> list[tuple[int, tuple[Filler, ...]]]:
    found = []
    for number, sample in enumerate(table.samples):
        check()
        found += [(number, members) for members in candidates_of(schema, schema.fillers(sample.types), most)]
    return found


def _is_part(schema: Schema, sample: Sample, members: Sequence[Filler]) -> bool:
    named = {(schema.slots[each.slot].name, each.mention) for each in members}
    return any(label == schema.label and named <= gold for label, gold in sample.tuples)


def _features(
    table: PairTable, schema: Schema, candidates: Sequence[tuple[int, tuple[Filler, ...]]]
) -> tuple[Halves, Ints]:
    """The features of the pairs of every candidate, and one of all its types."""
    edges: dict[tuple[int, Filler, Filler], int] = {}
    ordered: list[Edge] = []
    pairs: list[list[int]] = []
    wholes: list[str] = []
    for number, members in candidates:
        own = []
        for one, other in combinations(members, 2):
            place = edges.setdefault((number, one, other), len(ordered))
            if place == len(ordered):
                ordered.append(Edge(number, one, other, table.rows[number][one.mention, other.mention]))
            own.append(place)
        pairs.append(own)
        wholes.append(" ".join([f"{len(members)}", *(schema.slots[each.slot].name for each in members)]))
    halves, starts = table.columns(schema, ordered)
    types = hash_strings(wholes) >> _HALF
    rows = [
        np.unique(
            np.concatenate([*(halves[starts[edge] : starts[edge + 1]] for edge in own), types[place : place + 1]])
        )
        for place, own in enumerate(pairs)
    ]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.concatenate([np.zeros(0, np.uint32), *rows]).astype(np.uint32), offsets
