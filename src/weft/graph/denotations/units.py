"""Units: sequences of symbols that appear or not, and rules that let more of them appear.

A unit has up to 63 atoms. A state is the set of atoms that are on, as the bits of an integer, and its string are the
symbols whose atoms are on, in the unit's order:

    slots    (symbol, atom)                        boy:0  child:1  on:2  bench:3
    roots    states to start from                  {child}, {bench}
    rules    need, forbid, off, on, kind           need {child}, off {child}, on {boy}
    children of s:  (s - off) | on   for every rule with  need <= s  and  forbid & s = {}

Every rule makes a string more specific. Which source (a caption) a unit belongs to is a number; a source may have
several units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from weft.arrays import Ids, Ints, Keys
from weft.errors import ConfigError

#: Atoms of a unit.
ATOMS = 63


class Rule(NamedTuple):
    """An expansion; `need`, `forbid`, `off` and `on` are sets of atoms as bits, `kind` is the number of a label."""

    need: int
    forbid: int
    off: int
    on: int
    kind: int = 0

    def applied(self, state: int) -> int:
        """The expanded state, or -1 where the rule does not apply.

        >>> Rule(0b01, 0b10, 0b01, 0b10).applied(0b101), Rule(0b01, 0b10, 0b01, 0b10).applied(0b11)
        (6, -1)
        """
        if state & self.need != self.need or state & self.forbid:
            return -1
        return (state & ~self.off) | self.on


@dataclass
class Unit:
    """Slots, roots and rules of one unit, before they become arrays."""

    slots: list[tuple[int, int]] = field(default_factory=list)  # (symbol, atom)
    roots: list[int] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    def string(self, state: int) -> tuple[int, ...]:
        """The symbols of a state.

        >>> Unit([(7, 0), (8, 1), (9, 0)]).string(0b01)
        (7, 9)
        """
        return tuple(symbol for symbol, atom in self.slots if state >> atom & 1)

    def key(self) -> tuple[object, ...]:
        """Equal for units that derive the same strings by the same rules."""
        return (tuple(self.slots), tuple(self.roots), tuple(self.rules))


@dataclass(frozen=True)
class Units:
    """Units as ragged arrays."""

    source: Ids
    slot_offsets: Ints
    symbols: Ids
    atoms: Ids
    root_offsets: Ints
    roots: Keys
    rule_offsets: Ints
    need: Keys
    forbid: Keys
    off: Keys
    on: Keys
    kinds: Ids

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(cls, units: Sequence[Unit], sources: Sequence[int]) -> Units:
        """The arrays of units and the numbers of their sources.

        >>> units = Units.of([Unit([(4, 0), (5, 1)], [1], [Rule(1, 2, 0, 2)])], [0])
        >>> len(units), units.symbols.tolist(), units.on.tolist()
        (1, [4, 5], [2])
        """
        if len(units) != len(sources):
            raise ConfigError(f"every unit has a source; got {len(units)} units and {len(sources)} sources")
        slots = [slot for unit in units for slot in unit.slots]
        if slots and max(atom for _, atom in slots) >= ATOMS:
            raise ConfigError(f"a unit has at most {ATOMS} atoms")
        rules = [rule for unit in units for rule in unit.rules]
        table = np.array([rule[:4] for rule in rules], dtype=np.uint64).reshape(len(rules), 4)
        return cls(
            np.asarray(sources, dtype=np.int32),
            _offsets([len(unit.slots) for unit in units]),
            np.array([symbol for symbol, _ in slots], dtype=np.int32),
            np.array([atom for _, atom in slots], dtype=np.int32),
            _offsets([len(unit.roots) for unit in units]),
            np.array([root for unit in units for root in unit.roots], dtype=np.uint64),
            _offsets([len(unit.rules) for unit in units]),
            np.ascontiguousarray(table[:, 0]),
            np.ascontiguousarray(table[:, 1]),
            np.ascontiguousarray(table[:, 2]),
            np.ascontiguousarray(table[:, 3]),
            np.array([rule.kind for rule in rules], dtype=np.int32),
        )

    @classmethod
    def all(cls, parts: Sequence[Units]) -> Units:
        """The units of all parts, one after the other."""
        if not parts:
            return cls.of([], [])
        found = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _FLAT}
        for name in _OFFSETS:
            lengths = np.concatenate([np.diff(getattr(part, name)) for part in parts])
            found[name] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(**found)


_FLAT = ("source", "symbols", "atoms", "roots", "need", "forbid", "off", "on", "kinds")
_OFFSETS = ("slot_offsets", "root_offsets", "rule_offsets")


def _offsets(lengths: Sequence[int]) -> Ints:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.asarray(lengths, dtype=np.int64), out=offsets[1:])
    return offsets
