"""VerbNet: classes of verbs that behave alike, their thematic roles and what may fill them.

A class inherits the roles of the classes above it and may state them anew. Whether what it states also holds for the
frames that it inherits, VerbNet leaves open: it does, unless the class says otherwise (`own_frames_only`).

| place of a patch | what the cell holds |
|---|---|
| `put-9.1/Agent` | the restriction of a role: `+animate | +organization`, empty if there is none |
| `put-9.1/members/put` | the sense keys of a member, and after a semicolon its groupings; often empty |
| `put-9.1` | `top`, or `below CLASS`; a class without members and roles can be deleted |
| `put-9.1/id` | the id of a class |
| `put-9.1/frames` | `all`, or `own`: restrictions of a class do not hold for inherited frames |
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from weft.errors import DataError
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.source import MISSING, Patch, Patchable, Source, check_version, mismatch

_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"


class Member(NamedTuple):
    """A verb of a class: its name (spaces are underscores), WordNet sense keys without `::`, PropBank groupings."""

    name: str
    senses: tuple[str, ...]
    groupings: tuple[str, ...]

    @classmethod
    def parse(cls, name: str, text: str) -> Member:
        """Read what `str` writes of a member: sense keys, and groupings after a semicolon."""
        senses, _, groupings = text.partition(";")
        return cls(name, tuple(senses.split()), tuple(groupings.split()))

    def __str__(self) -> str:
        return " ".join(self.senses) + (f"; {' '.join(self.groupings)}" if self.groupings else "")


class VerbClass(NamedTuple):
    """A class: its id (`put-9.1`), its parent's, its own members, and its own roles with their restrictions.

    `own_frames_only` says that these restrictions do not hold for frames of the classes above.
    """

    id: str
    parent: str
    members: tuple[Member, ...]
    roles: dict[str, Restriction]
    own_frames_only: bool = False

    @property
    def number(self) -> str:
        """The id without the name: `9.1`, as SemLink has it."""
        return self.id.partition("-")[2]


@dataclass(frozen=True)
class VerbNet(Patchable):
    """The classes of VerbNet.

    >>> put = VerbClass("put-9.1", "", (Member("put", (), ()),), {"Agent": Restriction(("+animate",))})
    >>> inner = VerbClass("put-9.1-1", "put-9.1", (Member("set", (), ()),), {})
    >>> net = VerbNet([put, inner], Source("VerbNet", "3", "verbnet3.zip"))
    >>> [each.id for each in net.classes("set")], {role: str(may) for role, may in net.roles("put-9.1-1").items()}
    (['put-9.1-1'], {'Agent': '+animate'})
    >>> net["9.1-1"].id
    'put-9.1-1'
    """

    name: ClassVar[str] = "VerbNet"

    all_classes: list[VerbClass]
    source: Source
    base: VerbNet | None = field(default=None, compare=False, repr=False)

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

    def role_sets(self, id: str) -> list[dict[str, Restriction]]:
        """The roles of a class; where its restrictions hold for its own frames only, also those of the class above.

        >>> roles = {"Agent": Restriction(("+human",))}
        >>> put = VerbClass("put-9.1", "", (), {"Agent": Restriction(("+animate",))})
        >>> net = VerbNet([put, VerbClass("put-9.1-1", "put-9.1", (), roles, True)], Source("VerbNet", "3", ""))
        >>> [str(each["Agent"]) for each in net.role_sets("9.1-1")]
        ['+human', '+animate']
        """
        each = self[id]
        above = self.role_sets(each.parent) if each.own_frames_only and each.parent else []
        return [self.roles(id), *above]

    def stated_by(self, id: str, role: str) -> str:
        """The class that states a role of a class: itself or one above it; "" if none does."""
        each = self[id]
        return each.id if role in each.roles else self.stated_by(each.parent, role) if each.parent else ""

    def patched(self, patches: Iterable[Patch]) -> VerbNet:
        """The classes with patches; the table above says at which places."""
        classes, applied = {each.id: each for each in self.all_classes}, list(patches)
        for patch in applied:
            found = _cell(classes, patch)
            if found is None:
                raise mismatch("VerbNet", patch, None)
            if found != patch.before:
                raise mismatch("VerbNet", patch, found if found != MISSING else None)
            _apply(classes, patch)
        return replace(
            self, all_classes=list(classes.values()), source=self.source.patched(applied), base=self.base or self
        )


def _split(patch: Patch) -> tuple[str, str, str]:
    """The class of a place, what it is of the class (a role if nothing else), and the name of the role or member."""
    id, _, rest = patch.place.partition("/")
    kind, _, name = rest.partition("/")
    return (id, kind, name) if kind in ("", "id", "frames", "members") else (id, "role", rest)


def _cell(classes: dict[str, VerbClass], patch: Patch) -> str | None:
    """What a cell holds, as text; None if there cannot be such a cell."""
    id, kind, name = _split(patch)
    each = classes.get(id)
    if not kind:
        return MISSING if each is None else f"below {each.parent}" if each.parent else "top"
    if each is None:
        return None
    if kind == "members":
        return next((str(member) for member in each.members if member.name == name), MISSING) if name else None
    if kind == "role":
        return str(each.roles[name]) if name in each.roles else MISSING
    return each.id if kind == "id" else "own" if each.own_frames_only else "all"


def _apply(classes: dict[str, VerbClass], patch: Patch) -> None:
    """Change one cell, in place."""
    id, kind, name = _split(patch)
    where = patch.origin or patch.place
    if not kind:
        _set_class(classes, id, patch.after, where)
        return
    each = classes[id]
    if kind == "members":
        members = [member for member in each.members if member.name != name]
        members += [Member.parse(name, patch.after)] if patch.after != MISSING else []
        classes[id] = each._replace(members=tuple(members))
    elif kind == "role":
        roles = {role: may for role, may in each.roles.items() if role != name}
        if patch.after != MISSING:
            roles[name] = Restriction.parse(patch.after, where)
        classes[id] = each._replace(roles=roles)
    elif kind == "id":
        if patch.after in classes or patch.after == MISSING or not patch.after.partition("-")[2]:
            raise DataError(f"{where}: expected the new id of a class, as in put-9.1, got {patch.after!r}")
        renamed = {patch.after if key == id else key: other for key, other in classes.items()}
        renamed[patch.after] = each._replace(id=patch.after)
        classes.clear()
        classes |= {
            key: other._replace(parent=patch.after) if other.parent == id else other for key, other in renamed.items()
        }
    elif patch.after in ("all", "own"):
        classes[id] = each._replace(own_frames_only=patch.after == "own")
    else:
        raise DataError(f"{where}: restrictions hold for 'all' frames of a class or its 'own', got {patch.after!r}")


def _set_class(classes: dict[str, VerbClass], id: str, after: str, where: str) -> None:
    """Add a class, delete it or put it below another one."""
    parent = after.removeprefix("below ") if after.startswith("below ") else ""
    each = classes.get(id)
    if after == MISSING:
        if each is not None and (each.members or each.roles or any(other.parent == id for other in classes.values())):
            raise DataError(f"{where}: the class {id!r} has members, roles or subclasses; delete them first")
        classes.pop(id, None)
        return
    seen = parent
    while seen and seen != id and seen in classes:
        seen = classes[seen].parent
    if (after != "top" and not parent) or seen or not id.partition("-")[2]:
        raise DataError(f"{where}: a class is at the 'top' or 'below' another one of VerbNet, got {after!r}")
    classes[id] = each._replace(parent=parent) if each is not None else VerbClass(id, parent, (), {})


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
