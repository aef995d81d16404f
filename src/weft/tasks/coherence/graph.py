"""The sentence graph of a document: how well it hangs together, where it does not, and in which order it would.

    score = 1/n  sum over linked sentences i < k of  w_ik / (k - i)              Guinaudeau and Strube 2013

The weights of links count 1 (unweighted), shared entities (weighted), or products of the weights of their roles
(roles). Without the distance, every order of the sentences has the same score.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.graph.sequences import (
    WEIGHTS,
    Links,
    best_order,
    best_places,
    insertion_scores,
    joint_strengths,
    score_orders,
)
from weft.tasks.coherence.grid import NOUNS, EntityGrid, entity_grid
from weft.text.doc import Doc

ROLES = "roles"
#: Columns of the table of links.
COLUMNS = ("document", "sentence", "other", "distance", *WEIGHTS, "entities")


class Link(NamedTuple):
    """Two linked sentences, counted from 0, the weight of their link, and what they share with its roles in both."""

    first: int
    second: int
    weight: float
    entities: dict[str, tuple[str, str]]


class Joint(NamedTuple):
    """The place between a sentence, counted from 0, and the next, and how strongly both sides are linked."""

    after: int
    strength: float
    across: list[Link]


class Insertion(NamedTuple):
    """Where a sentence scores best when it is taken out and put back: its place, and all places that score so."""

    place: int
    best: list[int]

    @property
    def right(self) -> bool:
        """Whether its own place is the only best one."""
        return self.best == [self.place]


class SentenceGraph:
    """The links between the sentences of a document.

    >>> graph = SentenceGraph(EntityGrid.of_rows([{"ash": "S"}, {"oak": "S"}, {"leader": "S", "virtue": "X"},
    ...                                           {"leader": "S", "virtue": "S"}]))
    >>> [graph.score(weight) for weight in ("unweighted", "weighted", "roles")]
    [0.25, 0.5, 3.0]
    >>> graph.between(2, 3).entities
    {'leader': ('S', 'S'), 'virtue': ('X', 'S')}
    """

    def __init__(self, grid: EntityGrid, name: str = "", texts: Sequence[str] = ()) -> None:
        self.grid, self.name, self.texts = grid, name, list(texts)
        self.links: Links = grid.links()

    @classmethod
    def of(cls, doc: Doc, entities: str = NOUNS) -> SentenceGraph:
        """The graph of a document with tags and trees; `entities` is nouns, heads or a layer (see `entity_grid`).

        >>> doc = Doc.from_words([["Cats", "sleep"], ["Cats", "purr"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]],
        ...                      deprel=[["nsubj", "root"], ["nsubj", "root"]])
        >>> SentenceGraph.of(doc).score()
        4.5
        """
        return cls(entity_grid(doc, entities), doc.id, [sentence.text for sentence in doc.sentences])

    @property
    def n(self) -> int:
        """The number of sentences."""
        return self.grid.n

    def score(self, weight: str = ROLES, distance: bool = True) -> float:
        """The coherence of the document, by the weights of links and with or without their distance."""
        return float(self.scores([np.arange(self.n)], distance)[0, _column(weight)]) if self.n else 0.0

    def scores(self, orders: ArrayLike, distance: bool = True) -> Floats:
        """The scores [order, weight] of orders of the sentences, by each of unweighted, weighted and roles."""
        return score_orders(self.links, orders, distance)

    def better_than(self, orders: ArrayLike, weight: str = ROLES) -> float:
        """The share of other orders that score lower than the document, a tie counting half.

        >>> graph = SentenceGraph(EntityGrid.of_rows([{"ash": "S"}, {"ash": "S"}, {"oak": "S"}]))
        >>> graph.better_than([[0, 2, 1], [1, 0, 2]])
        0.75
        """
        others = np.atleast_2d(np.asarray(orders))
        if not self.n or not others.size:
            return 0.5
        scores = self.scores(others)[:, _column(weight)]
        own, near = self.score(weight), 1e-9 * max(1.0, self.score(weight))
        return float(np.mean((scores < own - near) + 0.5 * (np.abs(scores - own) <= near)))

    def permutations(self, count: int = 20, seed: int = 0) -> Any:
        """Random orders, never the document's own; none if it has fewer than two sentences."""
        if count < 1:
            raise ConfigError(f"permutations must be at least 1, got {count}")
        rng, own = np.random.default_rng(seed), np.arange(self.n)
        found: list[Any] = []
        while self.n > 1 and len(found) < count:
            order = rng.permutation(self.n)
            if (order != own).any():
                found.append(order)
        return np.array(found, dtype=np.int64).reshape(-1, self.n)

    def insertions(self, weight: str = ROLES) -> list[Insertion]:
        """Where every sentence would be put back.

        >>> graph = SentenceGraph(EntityGrid.of_rows([{"ash": "S"}, {"ash": "S"}, {"oak": "S"}]))
        >>> [each.best for each in graph.insertions()]
        [[0, 1], [0, 1], [0, 2]]
        """
        column = _column(weight)
        return [
            Insertion(row, best_places(insertion_scores(self.links, row)[:, column]).tolist()) for row in range(self.n)
        ]

    def joints(self, weight: str = ROLES) -> list[Joint]:
        """The joints between neighbouring sentences, the weakest first, with the strongest links across them."""
        column = _column(weight)
        strengths = joint_strengths(self.links)[:, column]
        order = np.argsort(strengths, kind="stable").tolist()
        return [Joint(place, float(strengths[place]), self._across(place, weight)) for place in order]

    def _across(self, place: int, weight: str, most: int = 3) -> list[Link]:
        across = (self.links.first <= place) & (self.links.second > place)
        return self._strongest(np.flatnonzero(across), weight)[:most]

    def strongest(self, weight: str = ROLES) -> list[Link]:
        """All links, the strongest by distance first."""
        return self._strongest(np.arange(len(self.links)), weight)

    def _strongest(self, numbers: Any, weight: str) -> list[Link]:
        first, second, weights = self.links.first, self.links.second, self.links.weights[:, _column(weight)]
        strength = weights[numbers] / (second[numbers] - first[numbers])
        return [self._link(k, weight) for k in numbers[np.argsort(-strength, kind="stable")].tolist()]

    def _link(self, number: int, weight: str) -> Link:
        first, second = int(self.links.first[number]), int(self.links.second[number])
        return Link(first, second, float(self.links.weights[number, _column(weight)]), self._shared(first, second))

    def _shared(self, first: int, second: int) -> dict[str, tuple[str, str]]:
        one, other = self.grid.row(first), self.grid.row(second)
        return {name: (one[name], other[name]) for name in one if name in other}

    def between(self, first: int, second: int, weight: str = ROLES) -> Link:
        """The link of two sentences: its weight without distance, 0 if they share nothing, and what they share."""
        if not 0 <= first < second < self.n:
            raise ConfigError(f"sentences {first} and {second} are not two of {self.n} in order")
        found = np.flatnonzero((self.links.first == first) & (self.links.second == second)).tolist()
        return self._link(found[0], weight) if found else Link(first, second, 0.0, {})

    def best_order(self, weight: str = ROLES, start: ArrayLike | None = None, seed: int = 0) -> list[int]:
        """The sentences in an order that scores higher the nearer linked ones are; see `weft.graph.sequences`."""
        _column(weight)
        found: list[int] = best_order(self.links, weight, start, seed=seed).tolist()
        return found

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The links as rows of a table: sentences counted from 1, all three weights, and what is shared."""
        rows = []
        for link in range(len(self.links)):
            found = self._link(link, ROLES)
            weights = dict(zip(WEIGHTS, self.links.weights[link].tolist(), strict=True))
            rows.append({
                "document": self.name, "sentence": found.first + 1, "other": found.second + 1,
                "distance": found.second - found.first, **weights,
                "entities": [f"{name} {a}-{b}" for name, (a, b) in found.entities.items()],
            })  # fmt: skip
        return rows

    def table(self) -> Any:
        """The links as an Arrow table."""
        from weft.packages import needed

        arrow = needed("pyarrow", "Arrow tables")
        return arrow.table({name: [row[name] for row in self.rows] for name in COLUMNS})

    def __repr__(self) -> str:
        return f"SentenceGraph({self.name!r}, {self.n} sentences, {len(self.links)} links)"


def _column(weight: str) -> int:
    if weight not in WEIGHTS:
        raise ConfigError(f"links are weighted by {', '.join(WEIGHTS)}, not by {weight!r}")
    return WEIGHTS.index(weight)
