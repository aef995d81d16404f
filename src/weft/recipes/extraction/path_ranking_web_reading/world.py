"""A generated world: people, towns, countries and professions, an incomplete knowledge base, and parsed sentences.

    nationality(s) = in(born in(s)), for 9 in 10 people; the rest have another one
    people(s)      = people of in(born in(parent of s)) if s has a parent in the world, else people of in(born in(s))

30 % of the edges of *born in* and 40 % of *nationality* are missing. Every person has `sentences` sentences; 40 %
coordinate the person with a compatriot, or in a share `noise` of them with anybody; the others name anybody or a town.
A share `unplaced` of the towns is in no country that the knowledge base knows: only the other people of the town tell,
by their proportions. Sentences are trees as a parser would give them: words are nodes, and edges go from a dependent to
its head.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Ints
from weft.graph.store import Builder, TypedGraph
from weft.tasks.knowledge.text_graph import FORM, MENTION, TOKEN, WORD

NATIONALITY, PEOPLE, BORN, INSIDE, PARENT, PROFESSION = (
    "nationality", "people", "born in", "in", "parent", "profession"
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """The knowledge base with what is known, and the text."""

    kb: TypedGraph
    text: TypedGraph


def world(
    people: int = 5000, towns: int = 300, countries: int = 20, professions: int = 30, sentences: int = 3,
    noise: float = 0.2, unplaced: float = 0.0, seed: int = 1,
) -> World:  # fmt: skip
    """A world of so many people and places."""
    draw = np.random.default_rng(seed)
    zipf = 1.0 / np.arange(1, countries + 1)
    country_of = draw.choice(countries, towns, p=zipf / zipf.sum())
    town_of = draw.integers(towns, size=people)
    home = country_of[town_of]
    exception = draw.random(people) < 0.1
    nation = np.where(exception, draw.integers(countries, size=people), home)
    parent = np.where(draw.random(people) < 0.5, draw.integers(people, size=people), -1)
    folk = np.where(parent >= 0, home[parent], home)
    kb = Builder()
    for town in range(towns):
        if draw.random() < unplaced:
            continue
        kb.add(f"town {town}", INSIDE, f"country {country_of[town]}")
    for country in range(countries):
        kb.add(f"country {country}", "majority", f"people {country}")
    for person in range(people):
        name = f"person {person}"
        kb.node(name)
        if draw.random() > 0.3:
            kb.add(name, BORN, f"town {town_of[person]}")
        if draw.random() > 0.4:
            kb.add(name, NATIONALITY, f"country {nation[person]}")
        if parent[person] >= 0:
            kb.add(name, PARENT, f"person {parent[person]}")
        kb.add(name, PROFESSION, f"profession {draw.integers(professions)}")
        kb.add(name, PEOPLE, f"people {folk[person]}")
    text = _text(draw, nation, towns, sentences, noise)
    return World(kb.graph(), text)


def _text(
    draw: np.random.Generator, nation: Ints, towns: int, sentences: int, noise: float
) -> TypedGraph:  # fmt: skip
    text = Builder()
    people = len(nation)
    compatriots = [np.flatnonzero(nation == own) for own in range(int(nation.max()) + 1)]
    number = 0
    for person in range(people):
        for _ in range(sentences):
            first, verb, second = (f"{TOKEN}{number}.{place}" for place in range(3))
            number += 1
            text.add(f"person {person}", MENTION, first)
            if draw.random() < 0.4:  # "X and Y sang": Y is a conjunct of X
                own = compatriots[nation[person]]
                other = int(draw.choice(own)) if draw.random() > noise else int(draw.integers(people))
                text.add(f"person {other}", MENTION, second)
                text.add(second, "conj", first)
                text.add(first, "nsubj", verb)
                text.add(verb, WORD, FORM + "sang")
            elif draw.random() < 0.5:  # "X met Y"
                text.add(f"person {int(draw.integers(people))}", MENTION, second)
                text.add(first, "nsubj", verb)
                text.add(second, "obj", verb)
                text.add(verb, WORD, FORM + "met")
            else:  # "X visited T"
                text.add(f"town {int(draw.integers(towns))}", MENTION, second)
                text.add(first, "nsubj", verb)
                text.add(second, "obj", verb)
                text.add(verb, WORD, FORM + "visited")
    return text.graph()
