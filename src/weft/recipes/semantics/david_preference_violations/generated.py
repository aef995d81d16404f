"""A world in which everything is known: verbs with preferences, nouns with types, and sentences with their roles.

Resources and tools are then spoiled independently, as real ones are: a share of the restrictions is lost, loosened or
replaced, a share of the links of SemLink lacks a role, and a share of the sentences gets a wrong head, loses an
argument or gains one. Each spoiling can be taken back alone; a flag needs both to be right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semantic_types import Sense, TypeTable
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import Patch, Source
from weft.lexical.resources.verbnet import Member, VerbClass, VerbNet
from weft.tasks.preferences.fillers import NOUN, Filler
from weft.tasks.preferences.judge import judge
from weft.tasks.preferences.resources import Resources
from weft.text.conventions.preferences import VIOLATION

TYPES = ("animate", "concrete", "organization", "communication", "location", "eventive", "comestible", "machine")
#: Types that come along with others.
IMPLIED = {"animate": "concrete", "comestible": "concrete", "machine": "concrete", "location": "concrete"}


class GeneratedNouns:
    """Nouns whose senses are sets of types."""

    def __init__(self, senses: dict[str, tuple[Sense, ...]], bits: dict[str, int]) -> None:
        self._senses, self.bits = senses, bits
        self.source = Source("generated nouns", "1", "")

    def nouns(self, table: TypeTable) -> GeneratedNouns:
        """Themselves, whatever the table."""
        return self

    def senses(self, *forms: str) -> tuple[Sense, ...]:
        """The senses of the first form."""
        return self._senses.get(forms[0], ())

    def sense(self, key: str) -> Sense:
        """A sense of which nothing is known."""
        return Sense(key, 0, 0)


class Sentence(NamedTuple):
    """A verb with its true arguments and those that a tool found, and whether it is a violation."""

    verb: str
    true: dict[str, Filler]
    found: dict[str, Filler]
    violation: bool


@dataclass(frozen=True)
class World:
    """Spoiled resources, the patches that mend them, and sentences."""

    resources: Resources
    patches: tuple[Patch, ...]
    sentences: tuple[Sentence, ...]

    @property
    def mended(self) -> Resources:
        """The resources with all patches: the true ones."""
        return self.resources.patched(self.patches)


def world(seed: int, sentences: int = 1000, verbs: int = 60, spoiled: float = 0.35) -> World:
    """A world of a seed; a share of resources and of sentences is `spoiled`."""
    random = np.random.default_rng(seed)
    bits = {name: 1 << number for number, name in enumerate(TYPES)}
    nouns = {f"n{i}": _noun(random, f"n{i}", bits) for i in range(200)}
    classes, links, patches = [], {}, []
    for number in range(verbs):
        id, verb = f"c{number}-{number + 1}", f"v{number}"
        true = {"Agent": _restriction(random), "Patient": _restriction(random)}
        written = dict(true)
        if random.random() < spoiled:
            role = "Patient" if random.random() < 0.6 else "Agent"
            written[role] = _spoiled(random, true[role])
            if str(written[role]) != str(true[role]):
                patches.append(Patch(f"verbnet:{id}/{role}", str(written[role]), str(true[role]), "as it is"))
        roles: dict[str, str | None] = {"A0": "agent", "A1": "patient"}
        if random.random() < spoiled / 2:
            lost = "A0" if random.random() < 0.5 else "A1"
            patches.append(Patch(f"semlink:{verb}.01/{number + 1}/{lost}", "missing", str(roles.pop(lost)), "as it is"))
        links[f"{verb}.01"] = {str(number + 1): roles}
        classes.append(VerbClass(id, "", (Member(verb, (), ()),), written))
    resources = Resources(
        VerbNet(classes, Source("generated classes", "1", "")), SemLink(links, Source("generated links", "1", "")),
        GeneratedNouns(nouns, bits), TypeTable(dict.fromkeys(TYPES, ("x%1:03:00::",)), Source("types", "1", "")), {},
    )  # fmt: skip
    mended = resources.patched(patches)
    found = tuple(_sentence(random, verbs, list(nouns), mended, spoiled) for _ in range(sentences))
    return World(resources, tuple(patches), found)


def _noun(random: np.random.Generator, name: str, bits: dict[str, int]) -> tuple[Sense, ...]:
    found = []
    for number in range(1 + int(random.random() < 0.35)):
        type = TYPES[int(random.integers(len(TYPES)))]
        found.append(Sense(f"{name}%1:03:0{number}::", bits[type] | bits.get(IMPLIED.get(type, ""), 0)))
    return tuple(found)


def _restriction(random: np.random.Generator) -> Restriction:
    drawn = random.permutation(len(TYPES))[: 1 + int(random.random() < 0.5)]
    return Restriction(tuple(f"+{TYPES[i]}" for i in drawn.tolist()), len(drawn) > 1)


def _spoiled(random: np.random.Generator, true: Restriction) -> Restriction:
    """A restriction that is lost, joined by `and` instead of `or`, or replaced."""
    kind = random.random()
    if kind < 0.4:
        return Restriction()
    return Restriction(true.parts) if kind < 0.6 and len(true.parts) > 1 else _restriction(random)


def _sentence(
    random: np.random.Generator, verbs: int, nouns: list[str], true: Resources, spoiled: float
) -> Sentence:  # fmt: skip
    verb = f"v{int(random.integers(verbs))}"
    heads = {label: _drawn(random, nouns) for label in ("A0", "A1")}
    for _ in range(20):  # two sentences in three are literal
        if judge(verb, heads, true).outcome != VIOLATION or random.random() < 0.06:
            break
        heads = {label: _drawn(random, nouns) for label in ("A0", "A1")}
    found = dict(heads)
    if random.random() < spoiled:
        kind, label = random.random(), ("A0", "A1")[int(random.random() < 0.5)]
        if kind < 0.5:
            found[label] = _drawn(random, nouns)
        elif kind < 0.75:
            del found[label]
        else:
            found["A2"] = _drawn(random, nouns)
    return Sentence(verb, heads, found, judge(verb, heads, true).outcome == VIOLATION)


def _drawn(random: np.random.Generator, nouns: list[str]) -> Filler:
    noun = nouns[int(random.integers(len(nouns)))]
    return Filler(noun, NOUN, ((noun,),))
