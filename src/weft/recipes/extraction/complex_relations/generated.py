"""Generated data: graphs with known probabilities for cliques alone, and sentences about people and their jobs.

Graphs: every mention is part of a tuple; 60, 25 and 15 % of the tuples have 2, 3 and 4 of four slots, and three in ten
share a mention with another tuple. Probabilities are Beta(6, 2) for related and Beta(2, 6) for unrelated pairs.

Sentences: clauses with a person, a job, a company and a town, some of them missing, with *respectively*, negation, and
clauses that relate nothing; no two persons share a job and a company crosswise.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from weft.arrays import Floats
from weft.tasks.relations.pairs import Edge
from weft.tasks.relations.samples import Mention, Sample
from weft.tasks.relations.schema import Filler, Schema, Slot

SLOTS = ("person", "job", "company", "town")
LABEL = "employment"
SCHEMA = Schema(LABEL, tuple(Slot(name, (name,)) for name in SLOTS))
_FILLERS = {
    slot: tuple(names.split())
    for slot, names in (
        ("person", "ada bo cy dora eve finn gus hana ivo jo kai lena mia nils ola pia"),
        ("job", "editor printer binder clerk typist porter setter buyer"),
        ("company", "quill inkwell blot margin folio vellum octavo rubric"),
        ("town", "alder birch cedar elm hazel linden maple rowan"),
    )
}
#: Clauses: words, and numbered mentions of slots in braces; after them the tuples as lists of mentions.
_CLAUSES: tuple[tuple[str, list[list[int]]], ...] = (
    ("{0:person} joined {1:company}", [[0, 1]]),
    ("{0:person} is the {1:job}", [[0, 1]]),
    ("{0:person} moved to {1:town}", [[0, 1]]),
    ("the {0:job} of {1:company} resigned", [[0, 1]]),
    ("{0:person} and {1:person} work for {2:company} and {3:company} respectively", [[0, 2], [1, 3]]),
    ("{0:person} is a {1:job} at {2:company}", [[0, 1, 2]]),
    ("in {0:town} {1:person} runs {2:company}", [[0, 1, 2]]),
    ("{0:person} and {1:person} are {2:job} and {3:job} at {4:company} respectively", [[0, 2, 4], [1, 3, 4]]),
    ("{0:person} works as a {1:job} for {2:company} in {3:town}", [[0, 1, 2, 3]]),
    ("as a {0:job} in {1:town} {2:company} hired {3:person}", [[0, 1, 2, 3]]),
    ("{0:person} never worked for {1:company}", []),
    ("{0:company} is not a {1:job} agency", []),
    ("{0:person} has not been to {1:town}", []),
)  # fmt: skip
_CHANCES = np.array([4, 4, 4, 3, 2, 3, 3, 2, 3, 3, 2, 1, 2], dtype=float)
_JOINS = (", while", ", and", ", but", ";")


@dataclass(frozen=True)
class Graphs:
    """Sentences without words, and the probabilities of their edges."""

    samples: list[Sample]
    nodes: list[list[Filler]]
    edges: list[Edge]
    related: Floats
    probabilities: Floats


def generated_graphs(
    count: int, seed: int, low: int = 3, high: int = 12, shares: tuple[float, float, float] = (0.6, 0.25, 0.15)
) -> Graphs:
    """Sentences of `low` to `high` mentions; `shares` of the tuples have 2, 3 and 4 slots."""
    draw = np.random.default_rng(seed)
    samples, nodes, edges = [], [], []
    for number in range(count):
        sample = _drawn_tuples(draw, int(draw.integers(low, high + 1)), shares)
        fillers = SCHEMA.fillers(sample.types)
        samples.append(sample)
        nodes.append(fillers)
        edges += [Edge(number, a, b, 0) for a, b in combinations(fillers, 2) if SCHEMA.joins(a, b)]
    related = np.array([
        samples[edge.sample].is_together(LABEL, *((SLOTS[each.slot], each.mention) for each in edge[1:3]))
        for edge in edges
    ])  # fmt: skip
    p = np.where(related, draw.beta(6, 2, len(edges)), draw.beta(2, 6, len(edges)))
    return Graphs(samples, nodes, edges, related.astype(np.float64), p)


def _drawn_tuples(draw: np.random.Generator, size: int, shares: tuple[float, float, float]) -> Sample:
    """A sentence whose mentions are all part of tuples; it may get a mention or two more than asked for."""
    types: list[str] = []
    tuples: list[dict[str, int]] = []
    while len(types) < size:
        arity = int(draw.choice([2, 3, 4], p=shares))
        slots = [SLOTS[k] for k in sorted(draw.choice(4, arity, replace=False))]
        members: dict[str, int] = {}
        if tuples and draw.random() < 0.3:  # share a mention, but never two
            other = tuples[int(draw.integers(len(tuples)))]
            common = [slot for slot in slots if slot in other]
            if common:
                members[common[0]] = other[common[0]]
        for slot in slots:
            if slot not in members:
                members[slot] = len(types)
                types.append(slot)
        tuples.append(members)
    order = draw.permutation(len(types)).tolist()
    place = {old: new for new, old in enumerate(order)}
    mentions = [Mention(new, new + 1, types[old]) for new, old in enumerate(order)]
    gold = [(LABEL, frozenset((slot, place[old]) for slot, old in members.items())) for members in tuples]
    return Sample([""] * len(mentions), mentions, tuples=gold)


def generated_sentences(
    count: int, seed: int, clauses: tuple[int, int] = (1, 3), context: bool = False
) -> list[Sample]:
    """Sentences of some clauses with mentions and tuples."""
    draw = np.random.default_rng(seed)
    return [_sentence(draw, int(draw.integers(clauses[0], clauses[1] + 1)), context) for _ in range(count)]


def _sentence(draw: np.random.Generator, clauses: int, context: bool) -> Sample:
    words: list[str] = []
    mentions: list[Mention] = []
    tuples = []
    for number in range(clauses):
        text, related = _CLAUSES[int(draw.choice(len(_CLAUSES), p=_CHANCES / _CHANCES.sum()))]
        if number:
            words += str(draw.choice(_JOINS)).split()
        own: list[int] = []
        for word in text.split():
            if word.startswith("{"):
                slot = word[1:-1].partition(":")[2]
                own.append(len(mentions))
                mentions.append(Mention(len(words), len(words) + 1, slot))
                word = str(draw.choice(_FILLERS[slot]))
            words.append(word)
        for members in related:
            tuples.append((LABEL, frozenset((mentions[own[k]].type, own[k]) for k in members)))
    return Sample(words, mentions, tuples=tuples, context=context)
