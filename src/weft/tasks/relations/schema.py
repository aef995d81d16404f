"""Schemas of relations: which slots a relation has, and mentions of which types fill them.

    employment(person, job, company)        a tuple fills at least two of the slots, the rest is missing

A schema is learned from tuples. A slot may be filled by several mentions if a training tuple has several, at most as
many; with arities of *any* size every slot may be filled any number of times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weft.errors import ConfigError
from weft.headers import Many, Record, Text, Whole
from weft.text.conventions.tuples import PLAIN

ARITIES = ("schema", "any")
#: Types that fill a slot more rarely than this are taken for errors.
RARE = 0.01
SCHEMA = Record(
    label=Text(),
    slots=Many(Record(name=Text(), types=Many(Text(), least=1, distinct=True), limit=Whole(0, 1000)), least=1),
)


class Filler(NamedTuple):
    """A mention in a slot, both as numbers: a node of the graph."""

    mention: int
    slot: int


@dataclass(frozen=True)
class Slot:
    """A slot: its name, the types of mentions that fill it, and how many may do so in one tuple (0: any number)."""

    name: str
    types: tuple[str, ...]
    limit: int = 1


@dataclass(frozen=True)
class Schema:
    """The slots of a relation.

    >>> schema = Schema("employment", (Slot("person", ("PER",)), Slot("company", ("ORG", "LOC"))))
    >>> schema.fillers(["ORG", "PER", "DATE"])
    [Filler(mention=0, slot=1), Filler(mention=1, slot=0)]
    """

    label: str
    slots: tuple[Slot, ...]

    def fillers(self, types: Sequence[str]) -> list[Filler]:
        """The slots that mentions of these types can fill."""
        return [
            Filler(mention, number)
            for mention, kind in enumerate(types)
            for number, slot in enumerate(self.slots)
            if kind in slot.types
        ]

    def joins(self, one: Filler, other: Filler) -> bool:
        """Whether two fillers can be in one tuple."""
        if one.mention == other.mention:
            return False
        return one.slot != other.slot or self.slots[one.slot].limit != 1

    @property
    def limits(self) -> list[int]:
        return [slot.limit for slot in self.slots]

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain values."""
        slots = [{"name": slot.name, "types": list(slot.types), "limit": slot.limit} for slot in self.slots]
        return {"label": self.label, "slots": slots}

    @classmethod
    def from_dict(cls, values: Any) -> Schema:
        """Restore a schema from the header of a model."""
        SCHEMA.check(values)
        names = [slot["name"] for slot in values["slots"]]
        if len(set(names)) < len(names):
            raise ConfigError(f"the schema of {values['label']!r} names a slot twice; train the model again")
        slots = [Slot(slot["name"], tuple(slot["types"]), slot["limit"]) for slot in values["slots"]]
        return cls(values["label"], tuple(slots))

    def __str__(self) -> str:
        """The schema as it is written.

        >>> str(Schema("mix", (Slot("drug", ("DRUG",), 0), Slot("dose", ("DOSE",)))))
        'mix(drug*, dose)'
        """
        marks = {0: "*", 1: ""}
        slots = (f"{slot.name}{marks.get(slot.limit, f'{{{slot.limit}}}')}" for slot in self.slots)
        return f"{self.label}({', '.join(slots)})"


def learn_schemas(
    tuples: Iterable[tuple[str, Sequence[tuple[str, str]]]], arity: str = "schema", least: int = 1
) -> list[Schema]:
    """The schemas of relations, from tuples given by the relation and the slots with the types of their mentions.

    Relations with fewer than `least` tuples are left out.

    >>> tuples = [("work", [("who", "PER"), ("where", "ORG")]), ("work", [("who", "PER"), ("does", "JOB")])]
    >>> print(*learn_schemas(tuples))
    work(who, where, does)
    """
    counts: Counter[str] = Counter()
    types: dict[str, dict[str, Counter[str]]] = {}
    limits: dict[str, Counter[str]] = {}
    for label, members in tuples:
        counts[label] += 1
        for slot, kind in members:
            types.setdefault(label, {}).setdefault(slot, Counter())[kind] += 1
        for slot, number in Counter(slot for slot, _ in members).items():
            own = limits.setdefault(label, Counter())
            own[slot] = max(number, own[slot])
    return [
        Schema(label, tuple(Slot(slot, _frequent(own), 0 if arity == "any" else limits[label][slot]) for slot, own in
                            sorted(slots.items(), key=_plain_first)))
        for label, slots in types.items()
        if counts[label] >= least
    ]  # fmt: skip


def _plain_first(item: tuple[str, Counter[str]]) -> int:
    """Arg1 and Arg2 in this order; all other slots as they were met."""
    return PLAIN.index(item[0]) if item[0] in PLAIN else len(PLAIN)


def _frequent(types: Counter[str]) -> tuple[str, ...]:
    floor = RARE * types.total()
    return tuple(sorted(kind for kind, count in types.items() if count >= floor))
