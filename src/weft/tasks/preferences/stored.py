"""Resources as the contents of a model file: classes, links, types, patches, and the senses of all nouns.

    nouns/text, nouns/starts    the entries of WordNet in byte order, one after the other
    nouns/senses                where the senses of an entry begin
    nouns/file, nouns/number    the two numbers of a sense key: law%1:10:00:: is file 10, number 0
    nouns/has                   the types of every sense, as bits; one row per table of types

Patches are stored as such and applied when the model is read, so that a judgement can still name them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.declared import ANY, Array, Stored
from weft.errors import DataError, ModelError
from weft.headers import DAMAGED, Flag, Many, Maybe, Named, Record, Row, Text
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semantic_types import NounTypes, Sense, TypeTable, noun_entries
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import Patch, Source
from weft.lexical.resources.verbnet import Member, VerbClass, VerbNet
from weft.storage import Arrays
from weft.tasks.preferences.resources import Resources

#: Types that restrict something: their bits fit into one number.
MOST_TYPES = 62
#: Classes above each other.
DEEPEST = 20
HEADER = Record(
    classes=Many(Row((Text(), Text(), Many(Row((Text(), Text()))), Named(Text()), Flag()))),
    links=Named(Named(Named(Maybe(Text())))),
    types=Named(Many(Text())),
    excluded=Named(Text()),
    exceptions=Named(Many(Text())),
    patches=Many(Row((Text(), Text(), Text(), Text(), Text()))),
    sources=Many(Row((Text(), Text(), Text())), least=4),
)
ARRAYS = (
    Array("text", "uint8", ("letters",)),
    Array("starts", "int64", ("entries+1",), offsets_of="letters"),
    Array("senses", "int64", ("entries+1",), offsets_of="count"),
    Array("file", "uint8", ("count",)),
    Array("number", "uint8", ("count",)),
    Array("has", "int64", ("tables", "count"), low=ANY),
)


class StoredNouns:
    """The senses of nouns from arrays; `nouns` gives those with the types of a table of the same model."""

    def __init__(self, arrays: Arrays, exceptions: dict[str, list[str]], source: Source) -> None:
        self.arrays, self.exceptions, self.source = arrays, exceptions, source
        self._text = arrays["text"].tobytes()

    def nouns(self, table: TypeTable) -> StoredSenses:
        """The senses with the types of a table, which is known by the number of its patches."""
        return StoredSenses(self, table, min(len(table.applied), len(self.arrays["has"]) - 1))

    def entry(self, word: str) -> int:
        """The number of an entry, -1 if there is none."""
        wanted = word.replace(" ", "_").encode("utf-8", "replace")
        starts = self.arrays["starts"]
        low, high = 0, len(starts) - 1
        while low < high:
            middle = (low + high) // 2
            found = self._text[int(starts[middle]) : int(starts[middle + 1])]
            if found == wanted:
                return middle
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return -1


class StoredSenses:
    """The senses of nouns with their types; see `weft.lexical.resources.semantic_types`."""

    def __init__(self, stored: StoredNouns, table: TypeTable, row: int) -> None:
        self._stored, self._row, self.bits = stored, row, table.bits
        self._senses: dict[tuple[str, ...], tuple[Sense, ...]] = {}

    def senses(self, *forms: str) -> tuple[Sense, ...]:
        """All senses of a noun, each once: of the given forms, and of what they are plurals of."""
        if forms not in self._senses:
            if len(self._senses) >= 100_000:
                self._senses.clear()
            entries = dict.fromkeys(entry for form in forms for entry in noun_entries(form, self._stored.exceptions))
            self._senses[forms] = tuple(dict.fromkeys(sense for entry in entries for sense in self._of_entry(entry)))
        return self._senses[forms]

    def sense(self, key: str) -> Sense:
        """A sense by its key."""
        found = next((sense for sense in self._of_entry(key.partition("%")[0]) if sense.key == key), None)
        if found is None:
            raise ModelError(f"the model's nouns have no sense {key!r}: {DAMAGED}")
        return found

    def _of_entry(self, word: str) -> list[Sense]:
        number, arrays = self._stored.entry(word), self._stored.arrays
        if number < 0:
            return []
        lemma = word.replace(" ", "_")
        return [
            Sense(f"{lemma}%1:{arrays['file'][i]:02d}:{arrays['number'][i]:02d}::", int(arrays["has"][self._row, i]))
            for i in range(int(arrays["senses"][number]), int(arrays["senses"][number + 1]))
        ]


def stored(resources: Resources) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of resources that were read from files."""
    base = resources.reverted()
    tables = [base.nouns]
    for earlier, patch in resources.steps():
        if patch.place.startswith("types:"):
            after = next((later for later, _ in resources.steps() if later.base is earlier), resources)
            tables.append(after.nouns)
    if isinstance(tables[0], StoredSenses):
        held = base.words
        assert isinstance(held, StoredNouns)
        exceptions, arrays = held.exceptions, held.arrays
    else:
        nouns = [each for each in tables if isinstance(each, NounTypes)]
        exceptions, arrays = nouns[0].exceptions, _arrays(nouns)
    header = {
        "classes": [
            [each.id, each.parent, [[member.name, str(member)] for member in each.members],
             {role: str(may) for role, may in each.roles.items()}, each.own_frames_only]
            for each in base.verbs.all_classes
        ],
        "links": base.links.links,
        "types": {name: list(roots) for name, roots in base.types.roots.items()},
        "excluded": base.excluded,
        "exceptions": exceptions,
        "patches": [list(patch) for patch in resources.patches],
        "sources": [[each.name, each.version, each.path.rpartition("/")[2]] for each in base.sources],
    }  # fmt: skip
    return header, {f"nouns/{name}": array for name, array in arrays.items()}


def restored(header: dict[str, Any], arrays: Arrays) -> Resources:
    """Resources from a header and arrays, with their patches applied; what cannot be is refused."""
    HEADER.check(header)
    nouns = Stored.of(arrays).under("nouns/").take(*ARRAYS)
    sources = [Source(*row) for row in header["sources"]]
    try:
        types = TypeTable({name: tuple(roots) for name, roots in header["types"].items()}, sources[3])
        _bounded(types)
        classes = [
            VerbClass(
                id, parent, tuple(Member.parse(name, text) for name, text in members),
                {role: Restriction.parse(may) for role, may in roles.items()}, own,
            )
            for id, parent, members, roles, own in header["classes"]
        ]  # fmt: skip
        _check_parents(classes)
        resources = Resources(
            VerbNet(classes, sources[0]), SemLink(header["links"], sources[1]),
            StoredNouns(nouns, header["exceptions"], sources[2]), types, header["excluded"],
        )  # fmt: skip
        resources = resources.patched(Patch(*row) for row in header["patches"])
        _check_parents(resources.verbs.all_classes)
        _bounded(resources.types)
    except DataError as error:
        raise ModelError(f"the model's resources do not fit together ({error}): {DAMAGED}") from error
    if len(nouns["has"]) != 1 + len(resources.types.applied):
        raise ModelError(f"the array 'nouns/has' must have one row per table of types: {DAMAGED}")
    return resources


def _bounded(types: TypeTable) -> None:
    if len(types.types) > MOST_TYPES or len(types.roots) > 500 or any("" in roots for roots in types.roots.values()):
        raise ModelError(f"the header's types must be at most {MOST_TYPES}, each with its synsets: {DAMAGED}")
    types.check("the header's types")


def _check_parents(classes: list[VerbClass]) -> None:
    """Classes have different ids, and parents that are there, and end at the top."""
    parents = {each.id: each.parent for each in classes}
    if len(parents) < len(classes):
        raise ModelError(f"the header's classes have one id twice: {DAMAGED}")
    for id in parents:
        above, steps = parents[id], 0
        while above:
            steps += 1
            if above not in parents or steps > DEEPEST:
                raise ModelError(f"the header's classes do not lead from {id[:60]!r} to the top: {DAMAGED}")
            above = parents[above]


def _arrays(tables: list[NounTypes]) -> Arrays:
    """The senses of all nouns of WordNet, with the types of each table."""
    senses = [[own for _, own in sorted(table.all_senses(), key=_bytes)] for table in tables]
    letters = sorted(noun.encode() for noun, _ in tables[0].net.entries("n"))
    counts = [len(own) for own in senses[0]]
    keys = [sense.key.split("%", 1)[1].split(":") for own in senses[0] for sense in own]
    return {
        "text": np.frombuffer(b"".join(letters), dtype=np.uint8).copy(),
        "starts": np.concatenate([[0], np.cumsum([len(each) for each in letters], dtype=np.int64)]).astype(np.int64),
        "senses": np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
        "file": np.array([int(key[1]) for key in keys], dtype=np.uint8),
        "number": np.array([int(key[2]) for key in keys], dtype=np.uint8),
        "has": np.array([[sense.has for own in table for sense in own] for table in senses], dtype=np.int64),
    }


def _bytes(entry: tuple[str, list[Sense]]) -> bytes:
    return entry[0].encode()
