"""Which senses of nouns have the types of selectional restrictions: `+animate` is what stands below some synsets.

    types(s) = {t : a root of t is s or above s}

The table of roots (`semantic_types.tsv`) is data: give another one, or patch it at places such as `animate`. The types
of a sense are one number, a bit per type, found once per synset: a test of a restriction takes no walk through WordNet.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

from weft.errors import DataError
from weft.lexical.resources.source import MISSING, Patch, Patchable, Source, contents, known_version, mismatch
from weft.lexical.resources.synsets import Database, Synset
from weft.lexical.resources.verbnet import VerbNet
from weft.lexical.wordnet_lemmas import RULES

TABLE = Path(__file__).with_name("semantic_types.tsv")
FREE = "*"


class Sense(NamedTuple):
    """A sense of a noun: its key, the types that it has, and those of which it is known whether it has them."""

    key: str
    has: int
    known: int = -1


@dataclass(frozen=True)
class TypeTable(Patchable):
    """The roots of every type.

    >>> table = TypeTable.read()
    >>> table.roots["organization"]
    ('social_group%1:14:00::', 'district%1:15:00::')
    >>> table.roots["plural"]  # no sense of a word tells
    ('*',)
    >>> wider = table.patched([Patch("animal", "animal%1:03:00::", "animal%1:03:00:: person%1:03:00::", "a test")])
    >>> wider.roots["animal"], wider.reverted() == table
    (('animal%1:03:00::', 'person%1:03:00::'), True)
    """

    name: ClassVar[str] = "types"

    roots: dict[str, tuple[str, ...]]
    source: Source
    base: TypeTable | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str] | None = None) -> TypeTable:
        """Read a table, by default Weft's own."""
        place = Path(path) if path is not None else TABLE
        data = contents(place, "a table of types")
        roots: dict[str, tuple[str, ...]] = {}
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = line.split("\t")
            if len(cells) not in (2, 3) or not cells[0] or not cells[1].split() or cells[0] in roots:
                raise DataError(
                    f"{place}, line {number}: expected a type, once, and its synsets, separated by a tab, got {line!r}"
                )
            roots[cells[0]] = tuple(cells[1].split())
        table = cls(roots, Source("types", known_version(data, {})[1][:8], str(place)))
        table.check(str(place))
        return table

    def check(self, where: str) -> None:
        """Types that a row names must have a row, and rows must not name each other in a circle."""
        for name in self.roots:
            self._walk(name, (), where)

    def _walk(self, name: str, path: tuple[str, ...], where: str) -> None:
        if name not in self.roots or name in path:
            raise DataError(f"{where}: the row of {path[0] if path else name!r} names {name!r}, which leads nowhere")
        for root in self.roots[name]:
            if root[0] in "=!":
                self._walk(root[1:], (*path, name), where)

    @property
    def types(self) -> list[str]:
        """The types that restrict something, in order."""
        return [name for name, roots in self.roots.items() if FREE not in roots]

    @cached_property
    def bits(self) -> dict[str, int]:
        """The bit of every type that restricts something."""
        return {name: 1 << number for number, name in enumerate(self.types)}

    def patched(self, patches: Iterable[Patch]) -> TypeTable:
        """The table with patches: the place is a type, the cell its synsets."""
        roots, applied = dict(self.roots), list(patches)
        for patch in applied:
            found = " ".join(roots[patch.place]) if patch.place in roots else MISSING
            if found != patch.before:
                raise mismatch("the table of types", patch, found if found != MISSING else None)
            roots = {**roots, patch.place: tuple(patch.after.split())}
            if patch.after == MISSING:
                del roots[patch.place]
        new = TypeTable(roots, self.source.patched(applied), self.base or self)
        new.check(applied[-1].origin or applied[-1].place if applied else "")
        return new


class Nouns(Protocol):
    """Senses of nouns with their types; `bits` are those of the types."""

    bits: dict[str, int]

    def senses(self, *forms: str) -> tuple[Sense, ...]:
        """All senses of a noun, by its forms."""

    def sense(self, key: str) -> Sense:
        """A sense by its key."""


class NounSource(Protocol):
    """Where senses come from: gives them with the types of any table."""

    @property
    def source(self) -> Source:
        """The resource that they are from."""

    def nouns(self, table: TypeTable) -> Nouns:
        """The senses of nouns with the types of a table."""


@dataclass(frozen=True)
class WordNetNouns:
    """The nouns of a WordNet database."""

    net: Database

    @property
    def source(self) -> Source:
        """The database."""
        return self.net.source

    def nouns(self, table: TypeTable) -> NounTypes:
        """Its senses with the types of a table."""
        return NounTypes(self.net, table)


class NounTypes:
    """The senses of nouns and their types, from a WordNet database and a table of types."""

    def __init__(self, net: Database, table: TypeTable) -> None:
        self.net, self.table = net, table
        self.bits = table.bits
        self._roots: dict[int, int] = {}
        for name in table.types:
            for root in table.roots[name]:
                if root[0] not in "=!":
                    synset = net.sense(root)
                    if synset is None:
                        raise DataError(
                            f"{table.source.path}: {net.source} has no sense {root!r}, a synset of the type {name!r}"
                        )
                    self._roots[synset.offset] = self._roots.get(synset.offset, 0) | self.bits[name]
        self._above: dict[int, int] = {}
        self._closed: dict[int, int] = {}
        self._senses: dict[tuple[str, ...], tuple[Sense, ...]] = {}

    def has(self, synset: Synset) -> int:
        """The types of a synset of nouns, as bits."""
        direct = self._direct(synset)
        if direct not in self._closed:
            self._closed[direct] = self._close(direct)
        return self._closed[direct]

    def _close(self, direct: int) -> int:
        """Types with those whose rows name them, and those that are complements of others."""
        found, table = direct, self.table
        for _ in table.types:  # rows that name others: as often as a chain of names can be long
            before = found
            for name, bit in self.bits.items():
                for root in table.roots[name]:
                    if root[0] == "=" and found & self.bits.get(root[1:], 0):
                        found |= bit
            if found == before:
                break
        for name, bit in self.bits.items():
            if any(root[0] == "!" and not found & self.bits.get(root[1:], 0) for root in table.roots[name]):
                found |= bit
        return found

    def _direct(self, synset: Synset) -> int:
        """The types whose roots stand at or above a synset; walks up once per synset."""
        known = self._above
        waiting = [synset]
        while waiting:
            each = waiting[-1]
            if each.offset in known:
                waiting.pop()
                continue
            above = [other for other in self.net.related(each) if other.pos == "n"]
            open_ones = [other for other in above if other.offset not in known and other not in waiting]
            if open_ones:
                waiting += open_ones
                continue
            found = self._roots.get(each.offset, 0)
            for other in above:
                found |= known.get(other.offset, 0)
            known[each.offset] = found
            waiting.pop()
        return known[synset.offset]

    def sense(self, key: str) -> Sense:
        """A sense by its key."""
        synset = self.net.sense(key)
        if synset is None:
            raise DataError(f"{self.net.source} has no sense {key!r}")
        return Sense(key, self.has(synset))

    def senses(self, *forms: str) -> tuple[Sense, ...]:
        """All senses of a noun, each once: of the given forms, and of what they are plurals of."""
        if forms not in self._senses:
            entries = dict.fromkeys(entry for form in forms for entry in noun_entries(form, self.exceptions))
            self._senses[forms] = tuple(dict.fromkeys(sense for entry in entries for sense in self.of_entry(entry)))
        return self._senses[forms]

    def of_entry(self, noun: str) -> tuple[Sense, ...]:
        """The senses of one entry of WordNet, most frequent first."""
        return tuple(self._sense(noun.replace(" ", "_"), synset) for synset in self.net.synsets(noun, "n"))

    def _sense(self, noun: str, synset: Synset) -> Sense:
        number = next((i for i, (word, _) in enumerate(synset.words) if word.lower() == noun), 0)
        return Sense(self.net.key(synset, number), self.has(synset))

    def all_senses(self) -> Iterator[tuple[str, list[Sense]]]:
        """All entries of WordNet, with underscores for spaces, and their senses."""
        synsets: dict[int, Synset] = {}
        for noun, offsets in self.net.entries("n"):
            for offset in offsets:
                if offset not in synsets:
                    synsets[offset] = self.net.synset("n", offset)
            yield noun, [self._sense(noun, synsets[offset]) for offset in offsets]

    @cached_property
    def exceptions(self) -> dict[str, list[str]]:
        """Irregular plurals and their singulars."""
        path = self.net.folder / "noun.exc"
        found: dict[str, list[str]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                form, *lemmas = line.split()
                found.setdefault(form.replace("_", " "), []).extend(lemmas)
        return found

    def names(self, has: int) -> list[str]:
        """The names of types that are given as bits."""
        return [name for name, bit in self.bits.items() if has & bit]


def noun_entries(form: str, exceptions: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The entries that a form may be of: itself, and what it may be a plural of.

    >>> list(noun_entries("Boxes", {})), list(noun_entries("men", {"men": ["man"]}))
    (['boxes', 'boxe', 'box'], ['men', 'man'])
    """
    noun = form.lower()
    yield noun
    yield from exceptions.get(noun, ())
    for ending, instead in RULES["n"]:
        if noun.endswith(ending) and len(noun) > len(ending):
            yield noun[: len(noun) - len(ending)] + instead


class Coverage(NamedTuple):
    """How a type of VerbNet is covered: how often its classes ask for it, and its roots, empty if it has none."""

    type: str
    uses: int
    roots: tuple[str, ...]


def coverage(verbs: VerbNet, table: TypeTable) -> list[Coverage]:
    """The types that VerbNet's restrictions use, most frequent first, and what the table says of them."""
    counts = Counter(
        each[1:] for verb_class in verbs.all_classes for may in verb_class.roles.values() for each in may.types()
    )
    return [Coverage(name, count, table.roots.get(name, ())) for name, count in counts.most_common()]
