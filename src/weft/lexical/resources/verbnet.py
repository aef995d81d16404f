"""VerbNet: classes of verbs that behave alike, their thematic roles and what may fill them.

A class inherits the roles of the classes above it and may state them anew. A restriction is a sign and a type
(`+animate`); those of a role hold together, or one of them must (`or`).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from weft.errors import DataError
from weft.lexical.resources.source import Patch, Source, check_version, mismatch

_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"


class Restriction(NamedTuple):
    """What may fill a role: signed types that hold together, or one of which must hold; groups may nest.

    >>> str(Restriction(("+animate", Restriction(("+concrete", "+region")))))
    '+animate & (+concrete & +region)'
    """

    parts: tuple[str | Restriction, ...] = ()
    any_of: bool = False

    def types(self) -> Iterator[str]:
        """All signed types, nested ones included."""
        for part in self.parts:
            if isinstance(part, str):
                yield part
            else:
                yield from part.types()

    def __str__(self) -> str:
        joined = [part if isinstance(part, str) else f"({part})" for part in self.parts]
        return (" | " if self.any_of else " & ").join(joined)


class Member(NamedTuple):
    """A verb of a class: its name (spaces are underscores), WordNet sense keys without `::`, PropBank groupings."""

    name: str
    senses: tuple[str, ...]
    groupings: tuple[str, ...]


class VerbClass(NamedTuple):
    """A class: its id (`put-9.1`), its parent's, its own members, and its own roles with their restrictions."""

    id: str
    parent: str
    members: tuple[Member, ...]
    roles: dict[str, Restriction]

    @property
    def number(self) -> str:
        """The id without the name: `9.1`, as SemLink has it."""
        return self.id.partition("-")[2]


@dataclass(frozen=True)
class VerbNet:
    """The classes of VerbNet.

    >>> put = VerbClass("put-9.1", "", (Member("put", (), ()),), {"Agent": Restriction(("+animate",))})
    >>> inner = VerbClass("put-9.1-1", "put-9.1", (Member("set", (), ()),), {})
    >>> net = VerbNet([put, inner], Source("VerbNet", "3", "verbnet3.zip"))
    >>> [each.id for each in net.classes("set")], {role: str(may) for role, may in net.roles("put-9.1-1").items()}
    (['put-9.1-1'], {'Agent': '+animate'})
    >>> net["9.1-1"].id
    'put-9.1-1'
    """

    all_classes: list[VerbClass]
    source: Source

    @classmethod
    def read(cls, path: str | os.PathLike[str], version: str | None = None) -> VerbNet:
        """Read a folder or a zip file of class files; one of another version than the given is refused."""
        found: list[VerbClass] = []
        versions = set()
        for name, data in _files(Path(path)):
            try:
                top = ElementTree.fromstring(data)
            except ElementTree.ParseError as error:
                raise DataError(
                    f"{path}, {name}, line {error.position[0]}: no XML of a verb class ({error})"
                ) from error
            schema = top.get(_SCHEMA, "")
            own = schema.removeprefix("vn_schema-").removesuffix(".xsd")
            if top.tag != "VNCLASS" or not own or own == schema:
                raise DataError(
                    f"{path}, {name}, line 1: expected a VNCLASS with a schema vn_schema-N.xsd, got {top.tag}"
                )
            check_version("VerbNet", f"{path}, {name}", own, version)
            versions.add(own)
            found += _classes(top, "", f"{path}, {name}")
        if not found:
            raise DataError(f"{path}: there are no class files of VerbNet (*.xml)")
        if len(versions) > 1:
            raise DataError(f"{path}: files of several versions of VerbNet: {', '.join(sorted(versions))}")
        return cls(found, Source("VerbNet", versions.pop(), str(path)))

    @cached_property
    def _by_id(self) -> dict[str, VerbClass]:
        found = {each.number: each for each in self.all_classes}
        return found | {each.id: each for each in self.all_classes}

    @cached_property
    def _by_member(self) -> dict[str, list[VerbClass]]:
        found: dict[str, list[VerbClass]] = {}
        for each in self.all_classes:
            for name in dict.fromkeys(member.name for member in each.members):
                found.setdefault(name, []).append(each)
        return found

    def __getitem__(self, id: str) -> VerbClass:
        """A class by its id or by its number."""
        if id not in self._by_id:
            raise DataError(f"{self.source.name} {self.source.version} has no class {id!r}")
        return self._by_id[id]

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def __len__(self) -> int:
        return len(self.all_classes)

    def classes(self, verb: str) -> list[VerbClass]:
        """The classes of a verb."""
        return list(self._by_member.get(verb.replace(" ", "_"), ()))

    @property
    def verbs(self) -> list[str]:
        return list(self._by_member)

    def roles(self, id: str) -> dict[str, Restriction]:
        """The roles of a class with those that it inherits; its own statement of a role comes first."""
        each = self[id]
        inherited = self.roles(each.parent) if each.parent else {}
        return inherited | each.roles

    def patched(self, patches: Iterable[Patch]) -> VerbNet:
        """The classes with patched restrictions, at places such as `put-9.1/Agent`.

        A restriction is written as `str` writes it, without nesting: `+animate`, `+animate | +organization`.
        """
        classes, applied = {each.id: each for each in self.all_classes}, list(patches)
        for patch in applied:
            id, _, role = patch.place.rpartition("/")
            if id not in classes or role not in classes[id].roles:
                raise mismatch("VerbNet", patch, None)
            if str(classes[id].roles[role]) != patch.before:
                raise mismatch("VerbNet", patch, str(classes[id].roles[role]))
            roles = {**classes[id].roles, role: _parsed(patch)}
            classes[id] = classes[id]._replace(roles=roles)
        return replace(self, all_classes=list(classes.values()), source=self.source.patched(applied))


def _parsed(patch: Patch) -> Restriction:
    any_of = "|" in patch.after
    parts = tuple(part.strip() for part in patch.after.split("|" if any_of else "&") if part.strip())
    if ("|" in patch.after and "&" in patch.after) or any(part[0] not in "+-" or len(part) < 2 for part in parts):
        raise DataError(
            f"{patch.origin or patch.place}: expected restrictions as in '+animate | +region', got {patch.after!r}"
        )
    return Restriction(parts, any_of)


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The class files of a folder or a zip file, by name."""
    if path.is_dir():
        for each in sorted(path.rglob("*.xml")):
            yield each.name, each.read_bytes()
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".xml"):
                    yield name.rpartition("/")[2], archive.read(name)
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path}: neither a folder nor a zip file of VerbNet ({error}); see `weft data check`"
        ) from error


def _classes(element: Element, parent: str, where: str) -> Iterator[VerbClass]:
    id = element.get("ID", "")
    if not id:
        raise DataError(f"{where}: a class has no ID")
    members = tuple(
        Member(each.get("name", ""), tuple(each.get("wn", "").split()), tuple(each.get("grouping", "").split()))
        for each in element.iterfind("MEMBERS/MEMBER")
    )
    roles = {}
    for role in element.iterfind("THEMROLES/THEMROLE"):
        restrictions = role.find("SELRESTRS")
        roles[role.get("type", "")] = _restriction(restrictions) if restrictions is not None else Restriction()
    yield VerbClass(id, parent, members, roles)
    for inner in element.iterfind("SUBCLASSES/VNSUBCLASS"):
        yield from _classes(inner, id, where)


def _restriction(element: Element) -> Restriction:
    parts: list[str | Restriction] = []
    for each in element:
        if each.tag == "SELRESTR":
            parts.append(f"{each.get('Value', '+')}{each.get('type', '')}")
        elif each.tag == "SELRESTRS":
            parts.append(_restriction(each))
    return Restriction(tuple(parts), element.get("logic") == "or")
