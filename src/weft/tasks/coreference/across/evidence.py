"""Why mentions are in one entity: the merges that make it, and what each rests on.

The parts of an entity are its different names, or at a lower threshold the entities of the threshold before. They join
one by one, from the part with most mentions on, always the one with the highest mean similarity to those that have
joined. A merge reports that mean, its kinds, and the words of both contexts that add most to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints
from weft.infer.sampling.items import canonical, refined
from weft.tasks.coreference.across.entities import Entities

#: An entity of more parts takes them in the order of their similarity to the first one, which needs no table of pairs.
MOST_PARTS = 64
#: The words that a merge names, and the names.
WORDS, NAMES = 5, 3


@dataclass(frozen=True)
class Merge:
    """A part that joins an entity: ids of their first mentions, numbers of mentions, mean similarities, words."""

    threshold: float
    entity: str
    part: str
    names: list[str]
    into_names: list[str]
    mentions: int
    into_mentions: int
    similarity: float
    name: float
    equal: float
    context: float
    words: list[str]


def merges(entities: Entities) -> Iterator[Merge]:
    """The merges of all entities, threshold by threshold.

    >>> from weft.tasks.coreference.across.entities import EntityClusterer, EntitySettings
    >>> from weft.tasks.coreference.across.mentions import Mentions
    >>> mentions = Mentions.of([("1", "Ann Lee", "oil painter"), ("2", "Anna Lee", "painter oil"), ("3", "Bo", "rain")])
    >>> [merge] = merges(EntityClusterer(EntitySettings((0.5,))).cluster(mentions))
    >>> merge.entity, merge.names, merge.into_names, round(merge.context, 2), merge.words
    ('1', ['Anna Lee'], ['Ann Lee'], 1.0, ['oil', 'painter'])
    """
    parts = canonical(entities.vectors.types)
    for threshold, labels in zip(entities.settings.falling, entities.labels, strict=True):
        parts = refined(parts, labels)
        yield from _Level(entities, parts, labels, threshold).merges()
        parts = labels


class _Level:
    """The parts and entities of one threshold."""

    def __init__(self, entities: Entities, parts: Ints, labels: Ints, threshold: float) -> None:
        self.entities, self.threshold = entities, threshold
        united, self.number = entities.vectors.items.united(parts)
        self.matrix, self.mass = united.matrix(), united.mass
        self.first = np.unique(parts)  # the first mention of every part
        self.entity = labels[self.first]

    def merges(self) -> Iterator[Merge]:
        order = np.argsort(self.entity, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], self.entity[order][1:] != self.entity[order][:-1]]))
        for several in np.split(order, starts[1:]):
            if len(several) > 1:
                yield from self._joined(several)

    def _joined(self, parts: Ints) -> Iterator[Merge]:
        """The merges of one entity."""
        parts = parts[np.argsort(-self.mass[parts], kind="stable")]
        order = self._order(parts)
        joined, count, names = self.matrix[order[0]], self.mass[order[0]], [self._name(order[0])]
        for part in order[1:]:
            row = self.matrix[part]
            shared = joined.multiply(row).tocsr()
            columns, products = shared.indices, shared.data / (count * self.mass[part])
            kinds = self.entities.vectors.kinds(columns, products)
            yield Merge(
                self.threshold, self._id(self.entity[part]), self._id(self.first[part]), [self._name(part)], names,
                int(self.mass[part]), int(count), **kinds,
                words=self.entities.vectors.best_words(columns, products, WORDS),
            )  # fmt: skip
            joined, count = joined + row, count + self.mass[part]
            names = list(dict.fromkeys([*names, self._name(part)]))[:NAMES]

    def _order(self, parts: Ints) -> list[int]:
        """The parts in the order in which they join."""
        sizes = self.mass[parts]
        rows = self.matrix[parts]
        if len(parts) > MOST_PARTS:
            near: Floats = np.asarray((rows @ rows[0].T).todense()).ravel() / sizes
            near[0] = np.inf
            return [int(part) for part in parts[np.argsort(-near, kind="stable")]]
        pairs = (rows @ rows.T).toarray()
        near, left, order = pairs[0].astype(np.float64), np.ones(len(parts), dtype=bool), [0]
        left[0] = False
        while left.any():
            best = int(np.argmax(np.where(left, near / sizes, -np.inf)))
            order.append(best)
            left[best] = False
            near += pairs[best]
        return [int(parts[k]) for k in order]

    def _id(self, mention: int) -> str:
        return self.entities.mentions.ids[int(mention)]

    def _name(self, part: int) -> str:
        return self.entities.mentions.names[int(self.first[part])]


def as_row(merge: Merge) -> dict[str, Any]:
    """A merge as a row of a table, similarities rounded."""
    row = dict(vars(merge))
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}
