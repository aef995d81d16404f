"""Does an argument break the preferences of a verb? (Dunietz, Levin and Carbonell 2013.)

A reading of a verb is a PropBank roleset with a VerbNet class, as SemLink links them. It is ruled out if an observed
core argument has no role in it. An argument violates a reading if no sense of its head satisfies the restriction of
its role. The verb is

    unknown      if it is excluded, has no core arguments, or no reading is left
    violation    if every reading that is left has a violated argument
    ok           otherwise
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from weft.lexical.resources.audit import role_name
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semantic_types import Sense
from weft.lexical.resources.source import Patch
from weft.tasks.preferences.fillers import Filler
from weft.tasks.preferences.resources import Resources
from weft.text.conventions.preferences import OK, UNKNOWN, VIOLATION

_CORE = re.compile(r"A(?:RG)?([0-5])$")


class Check(NamedTuple):
    """One argument in one reading: its role, the class that states the role, the restriction, and whether it holds."""

    argument: str
    role: str
    stated_by: str
    restriction: Restriction
    filler: Filler
    senses: tuple[Sense, ...]
    holds: bool

    @property
    def keys(self) -> list[str]:
        """The keys of the senses that were tried; empty if nothing is known of the head."""
        return [sense.key for sense in self.senses if sense.key]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for layers and JSON."""
        return {
            "argument": self.argument, "role": self.role, "class": self.stated_by,
            "restriction": str(self.restriction), "head": self.filler.text, "kind": self.filler.kind,
            "senses": self.keys, "holds": self.holds,
        }  # fmt: skip


class Reading(NamedTuple):
    """A roleset in a class: what was checked, or why it is ruled out."""

    roleset: str
    verb_class: str
    checks: tuple[Check, ...] = ()
    ruled_out: str = ""

    @property
    def violated(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for layers and JSON."""
        found: dict[str, Any] = {"roleset": self.roleset, "class": self.verb_class}
        if self.ruled_out:
            return {**found, "ruled_out": self.ruled_out}
        return {**found, "checks": [check.as_dict() for check in self.checks]}


class Change(NamedTuple):
    """A patch that changed a judgement, and the outcomes before and after it."""

    patch: Patch
    before: str
    after: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for layers and JSON."""
        return {"patch": str(self.patch), "before": self.before, "after": self.after}


class Judgement(NamedTuple):
    """The outcome for a verb with its readings; `why` says why it is unknown; `changes` names patches."""

    verb: str
    outcome: str
    readings: tuple[Reading, ...] = ()
    why: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def violated(self) -> list[tuple[Reading, Check]]:
        """The arguments that violate a reading, if the verb is flagged."""
        if self.outcome != VIOLATION:
            return []
        return [(reading, check) for reading in self.readings for check in reading.violated]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for layers and JSON."""
        found: dict[str, Any] = {"verb": self.verb, "outcome": self.outcome}
        found |= {"why": self.why} if self.why else {}
        found |= {"readings": [reading.as_dict() for reading in self.readings]} if self.readings else {}
        return found | ({"patches": [change.as_dict() for change in self.changes]} if self.changes else {})


def core(label: str) -> str:
    """The core argument that a label stands for, "" for modifiers, references and continuations.

    >>> core("A0"), core("ARG1"), core("AM-TMP"), core("R-A0"), core("C-A1")
    ('A0', 'A1', '', '', '')
    """
    found = _CORE.match(label)
    return f"A{found[1]}" if found else ""


def satisfies(restriction: Restriction, senses: tuple[Sense, ...], bits: Mapping[str, int]) -> bool:
    """Whether some sense satisfies a restriction; without senses there is nothing to break it.

    >>> may = Restriction.parse("+animate")
    >>> satisfies(may, (Sense("rock", 0), Sense("musician", 1)), {"animate": 1}), satisfies(may, (), {"animate": 1})
    (True, True)
    """
    return not senses or any(restriction.holds(bits, sense.has, sense.known) for sense in senses)


def judge(verb: str, arguments: Mapping[str, Filler], resources: Resources, sense: str = "") -> Judgement:
    """Judge a verb by its core arguments (`A0`); with a `sense`, by the readings of that roleset alone."""
    if verb in resources.excluded:
        return Judgement(verb, UNKNOWN, why=f"excluded: {resources.excluded[verb]} verb")
    if not arguments:
        return Judgement(verb, UNKNOWN, why="no core arguments")
    readings: list[Reading] = []
    for roleset in resources.links.rolesets(verb):
        if sense and roleset != sense:
            continue
        for verb_class in resources.links.classes(roleset):
            readings += _read(roleset, verb_class, arguments, resources)
    return concluded(verb, readings)


def concluded(verb: str, readings: list[Reading]) -> Judgement:
    """The outcome that follows from readings."""
    left = [reading for reading in readings if not reading.ruled_out]
    if not left:
        why = "every reading is ruled out" if readings else "no reading: SemLink has no class for it"
        return Judgement(verb, UNKNOWN, tuple(readings), why)
    outcome = VIOLATION if all(reading.violated for reading in left) else OK
    return Judgement(verb, outcome, tuple(readings))


def explained(verb: str, arguments: Mapping[str, Filler], resources: Resources, sense: str = "") -> Judgement:
    """A judgement that names the patches which changed it.

    If it differs from the judgement without patches, these are replayed in order, and each one is named at which the
    outcome or a reading becomes another.
    """
    found = judge(verb, arguments, resources, sense)
    earlier = judge(verb, arguments, resources.reverted(), sense)
    if earlier.as_dict() == found.as_dict():
        return found
    changes: list[Change] = []
    steps = resources.steps()
    for number, (_, patch) in enumerate(steps):
        if not _concerns(patch, verb):
            continue
        state = steps[number + 1][0] if number + 1 < len(steps) else resources
        later = judge(verb, arguments, state, sense)
        if later.as_dict() != earlier.as_dict():
            changes.append(Change(patch, earlier.outcome, later.outcome))
        earlier = later
    return found._replace(changes=tuple(changes))


def _concerns(patch: Patch, verb: str) -> bool:
    """Whether a patch can change the judgement of a verb: those of other verbs cannot."""
    name, _, place = patch.place.partition(":")
    if name == "semlink":
        return place.partition("/")[0].rpartition(".")[0] == verb.replace(" ", "_")
    return name != "excluded" or place == verb


def _read(roleset: str, number: str, arguments: Mapping[str, Filler], resources: Resources) -> list[Reading]:
    """The readings of a roleset in a class: one, or more if restrictions do not hold for inherited frames."""
    if number not in resources.verbs:
        return [Reading(roleset, number, ruled_out=f"VerbNet has no class {number}")]
    verb_class = resources.verbs[number].id
    mapping = resources.links.classes(roleset)[number]
    found = []
    for roles in resources.verbs.role_sets(verb_class):
        names = {role_name(role): role for role in roles}
        checks, why = [], ""
        for argument, filler in sorted(arguments.items()):
            role = mapping.get(argument)
            if argument not in mapping:
                why = f"{argument} is not mapped"
            elif role is None:
                why = f"{argument} has no role in the class"
            elif role_name(role) not in names:
                why = f"{argument} is mapped to {role}, which is no role of the class"
            if why:
                break
            name = names[role_name(role or "")]
            may = roles[name]
            senses = filler.senses(resources.nouns)
            holds = satisfies(may, senses, resources.nouns.bits)
            checks.append(
                Check(argument, name, resources.verbs.stated_by(verb_class, name), may, filler, senses, holds)
            )
        found.append(Reading(roleset, verb_class, () if why else tuple(checks), why))
    return found
