"""Sentences with mentions of entities and aspects, and the relations among these, as the models of opinions see them.

A relation is a labelled edge: (entity, aspect) or (entity, whole) is positive, negative or other; (entity, entity) and
(entity, entity, aspect) compare, the first one in the text being better or worse. A sentence that names no entity is
about one from its context.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

ENTITY, ASPECT = "entity", "aspect"
#: The labels of edges. Comparisons come last; `other` is what is no opinion.
LABELS = ("positive", "negative", "other", "better", "worse")
POSITIVE, NEGATIVE, OTHER, BETTER, WORSE = range(5)
#: Labels that are opinions, as bits.
OPINIONS = 0b11011
#: Edges of a sentence: the last mentions of a sentence with more are left out.
MOST_EDGES = 40


class Mention(NamedTuple):
    """The words of a mention, counted in its sentence (-1: it is in the context), and its kind."""

    start: int
    end: int
    kind: str

    @property
    def in_context(self) -> bool:
        return self.start < 0


class Edge(NamedTuple):
    """Mentions by number: an entity, another one that it is compared with, an aspect; -1 for none."""

    entity: int
    other: int = -1
    aspect: int = -1

    @property
    def compares(self) -> bool:
        return self.other >= 0

    @property
    def is_ternary(self) -> bool:
        return self.other >= 0 and self.aspect >= 0

    @property
    def mentions(self) -> list[int]:
        return [number for number in self if number >= 0]

    @property
    def allowed(self) -> tuple[int, ...]:
        """The labels that the edge may have."""
        if self.is_ternary:
            return (BETTER, WORSE)
        return (OTHER, BETTER, WORSE) if self.compares else (POSITIVE, NEGATIVE, OTHER)


class Relation(NamedTuple):
    """A relation of entities and aspects by name, whatever mention it comes from: a tuple of the paper's sSoR.

    `preferred` names the preferred entity first.
    """

    label: str
    entity: str
    other: str
    aspect: str


@dataclass
class OpinionSentence:
    """A sentence: words, lemmas and tags, heads (-1 for a root), constituents, mentions, and gold labels of edges."""

    words: list[str]
    mentions: list[Mention]
    gold: dict[Edge, int] = field(default_factory=dict)
    lemmas: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    brackets: list[tuple[int, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the entity or aspect that every mention is of
    previous: dict[int, int] = field(default_factory=dict)  # labels in the sentence before, by mention
    spans: list[int] = field(default_factory=list)  # numbers of the mentions in their layer, -1 for those in context

    def __post_init__(self) -> None:
        if not self.lemmas:
            self.lemmas = [word.lower() for word in self.words]
        if not any(mention.kind == ENTITY for mention in self.mentions):
            self.mentions = [*self.mentions, Mention(-1, -1, ENTITY)]
            self.spans = [*self.spans, -1]
            self.names = [*self.names, ""] if self.names else []
        if not self.names:
            self.names = [" ".join(self.words[m.start : m.end]).lower() if m.start >= 0 else "" for m in self.mentions]

    @property
    def entities(self) -> list[int]:
        """Entity mentions in text order; that of the context comes last."""
        own = [number for number, mention in enumerate(self.mentions) if mention.kind == ENTITY]
        return sorted(own, key=lambda number: (self.mentions[number].in_context, self.mentions[number]))

    @property
    def aspects(self) -> list[int]:
        own = [number for number, mention in enumerate(self.mentions) if mention.kind == ASPECT]
        return sorted(own, key=lambda number: self.mentions[number])

    def edges(self) -> list[Edge]:
        """All relation candidates: those of the kinds above that have an entity mention.

        >>> sentence = OpinionSentence("it has a lens".split(), [Mention(0, 1, ENTITY), Mention(3, 4, ASPECT)])
        >>> [sentence.told(edge) for edge in sentence.edges()]
        ['it', 'it, lens']
        """
        entities, aspects = self.entities, self.aspects
        while _count(len(entities), len(aspects)) > MOST_EDGES:
            if len(aspects) > 2 or len(entities) < 3:
                aspects = aspects[:-1]
            else:
                entities = entities[:-1]
        found = [Edge(entity) for entity in entities if not self.mentions[entity].in_context]
        found += [Edge(entity, aspect=aspect) for entity in entities for aspect in aspects]
        found += [Edge(one, other) for one, other in self._compared(entities)]
        found += [Edge(one, other, aspect) for one, other in self._compared(entities) for aspect in aspects]
        return found

    def _compared(self, entities: list[int]) -> list[tuple[int, int]]:
        return [(one, other) for one, other in combinations(entities, 2) if self.names[one] != self.names[other]]

    def alternatives(self, edges: list[Edge]) -> list[tuple[list[int], list[int]]]:
        """For every aspect mention: the edges that judge by it or compare entities as a whole, and those that compare.

        There are none unless two different entities are mentioned.
        """
        if not any(edge.is_ternary for edge in edges):
            return []
        whole = [n for n, edge in enumerate(edges) if edge.compares and edge.aspect < 0]
        return [
            (
                [n for n, edge in enumerate(edges) if edge.aspect == aspect and not edge.compares] + whole,
                [n for n, edge in enumerate(edges) if edge.is_ternary and edge.aspect == aspect],
            )
            for aspect in sorted({edge.aspect for edge in edges if edge.aspect >= 0})
        ]  # fmt: skip

    def gold_labels(self, edges: list[Edge]) -> list[int]:
        """The gold label of every candidate, -1 where the right answer leaves it unlabelled.

        An aspect by which entities are compared is in no other relation; all other edges that compare nothing are
        `other` unless they are opinions. Entities are compared as a whole only if no aspect is compared.
        """
        compared = {edge.aspect for edge in self.gold if edge.is_ternary}
        found = []
        for edge in edges:
            label = self.gold.get(edge, -1)
            if not edge.is_ternary:
                if compared and (edge.aspect in compared or edge.compares):
                    label = -1
                elif label < 0:
                    label = OTHER
            found.append(label)
        return found

    def relations_of(self, labels: dict[Edge, int]) -> set[Relation]:
        """The relations that labelled edges say, without `other`."""
        found = set()
        for edge, label in labels.items():
            if label in (OTHER, -1):
                continue
            one, other, aspect = (self.names[n] if n >= 0 else "" for n in edge)
            if not edge.compares:
                found.add(Relation(LABELS[label], one, "", aspect))
            else:
                first, second = (one, other) if label == BETTER else (other, one)
                found.add(Relation("preferred", first, second, aspect))
        return found

    def told(self, edge: Edge) -> str:
        """The mentions of an edge as text."""
        return ", ".join(self.names[number] or "it" for number in edge.mentions)


def _count(entities: int, aspects: int) -> int:
    pairs = entities * (entities - 1) // 2
    return entities + entities * aspects + pairs + pairs * aspects
