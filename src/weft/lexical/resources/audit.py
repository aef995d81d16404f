"""Do SemLink and VerbNet fit together? Links to classes that are not there, roles that no class has, and more.

| finding | what is wrong |
|---|---|
| missing class | a link names a class that this VerbNet does not have |
| stale role | an argument is linked to a role that the class does not have |
| not a member | the verb is linked to a class that does not list it, nor does one above or below it |
| empty link | the link says nothing about any argument |
| unmapped class | VerbNet lists the verb in a class that none of its rolesets is linked to |
| unknown type | a restriction uses a type that the table of types does not have |
| unknown roleset | PropBank has no such roleset |
| unknown argument | PropBank's roleset has no such argument |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from weft.lexical.resources.propbank import PropBank
from weft.lexical.resources.semantic_types import TypeTable
from weft.lexical.resources.semlink import SemLink, link_text
from weft.lexical.resources.source import MISSING, Patch
from weft.lexical.resources.verbnet import VerbNet

KINDS = (
    "missing class", "stale role", "not a member", "empty link", "unmapped class", "unknown type", "unknown roleset",
    "unknown argument",
)  # fmt: skip


class Finding(NamedTuple):
    """What is wrong, at which place of which resource, and in what way."""

    kind: str
    place: str
    detail: str


def audit(
    links: SemLink, verbs: VerbNet, types: TypeTable | None = None, frames: PropBank | None = None
) -> list[Finding]:
    """All findings, sorted by kind and place; types and frames are looked at if they are given.

    >>> from weft.lexical.resources.source import Source
    >>> from weft.lexical.resources.verbnet import Member, VerbClass
    >>> from weft.lexical.resources.restrictions import Restriction
    >>> put = VerbClass("put-9.1", "", (Member("put", (), ()),), {"Agent": Restriction()})
    >>> links = SemLink({"put.01": {"9.1": {"A0": "agent", "A1": "theme"}, "9.1-9": {}}}, Source("SemLink", "2", ""))
    >>> for finding in audit(links, VerbNet([put], Source("VerbNet", "3", ""))):
    ...     print(*finding, sep=" | ")
    missing class | put.01/9.1-9 | VerbNet 3 has no class 9.1-9; it has 9.1 above it
    stale role | put.01/9.1/A1 | put-9.1 has no role 'theme'; it has Agent
    """
    found = [*_classes(links, verbs), *_unmapped(links, verbs)]
    if types is not None:
        found += _types(verbs, types)
    if frames is not None:
        found += _frames(links, frames)
    return sorted(found, key=lambda finding: (KINDS.index(finding.kind), finding.place))


def role_name(role: str) -> str:
    """A role as both resources write it.

    >>> role_name("Initial_Location"), role_name("CO_THEME"), role_name("Co-Theme")
    ('initial-location', 'co-theme', 'co-theme')
    """
    return role.lower().replace("_", "-")


def missing_classes(findings: Iterable[Finding]) -> Counter[str]:
    """The classes that links name and VerbNet does not have, with the number of links."""
    return Counter(finding.place.partition("/")[2] for finding in findings if finding.kind == "missing class")


def repairs(findings: Iterable[Finding], links: SemLink, verbs: VerbNet) -> list[Patch]:
    """Patches for missing classes that follow from their numbers, at places as `verbnet:...` and `semlink:...`.

    A missing subclass of a class is added to it, with its roles; a number written with `_` for `-` is corrected.
    """
    patches: list[Patch] = []
    added: set[str] = set()
    for finding in findings:
        if finding.kind != "missing class":
            continue
        roleset, _, number = finding.place.partition("/")
        written = number.replace("_", "-")
        if written != number and written in verbs:
            text = link_text(links.classes(roleset)[number])
            patches.append(Patch(f"semlink:{finding.place}", text, MISSING, f"the class is {written}"))
            if written not in links.classes(roleset):
                patches.append(Patch(f"semlink:{roleset}/{written}", MISSING, text, f"was written {number}"))
            continue
        for id, parent in _subclasses(number, verbs):
            if id not in added:
                added.add(id)
                patches.append(Patch(f"verbnet:{id}", MISSING, f"below {parent}", "SemLink names this subclass"))
    return patches


def _subclasses(number: str, verbs: VerbNet) -> list[tuple[str, str]]:
    """The subclasses to add so that a class number is there, highest first, with their parents; none without one."""
    missing = []
    while number not in verbs:
        above = number.rpartition("-")[0]
        if not above:
            return []
        missing.append(number)
        number = above
    top = verbs[number]
    name = top.id.partition("-")[0]
    chain = [top.id, *(f"{name}-{each}" for each in reversed(missing))]
    return [(id, parent) for parent, id in pairwise(chain)]


def _classes(links: SemLink, verbs: VerbNet) -> Iterator[Finding]:
    version = f"{verbs.source.name} {verbs.source.version}"
    for roleset, number, roles in links.pairs():
        verb, place = roleset.rpartition(".")[0], f"{roleset}/{number}"
        if number not in verbs:
            yield Finding("missing class", place, f"{version} has no class {number}{_near(number, verbs)}")
            continue
        id = verbs[number].id
        own = [each.id for each in verbs.classes(verb)]
        if not any(each == id or each.startswith(f"{id}-") or id.startswith(f"{each}-") for each in own):
            where = f"; it is in {', '.join(own)}" if own else f"; {version} does not have the verb"
            yield Finding("not a member", place, f"{id} does not list {verb!r}{where}")
        if not roles:
            yield Finding("empty link", place, f"no argument of {roleset} has a role in {id}")
        known = verbs.roles(id)
        names = {role_name(role) for role in known}
        for argument, role in roles.items():
            if role is not None and role_name(role) not in names:
                has = ", ".join(known) or "none"
                yield Finding("stale role", f"{place}/{argument}", f"{id} has no role {role!r}; it has {has}")


def _near(number: str, verbs: VerbNet) -> str:
    written = number.replace("_", "-")
    if written != number and written in verbs:
        return f"; it has {written}"
    above = written
    while above and above not in verbs:
        above = above.rpartition("-")[0]
    return f"; it has {above} above it" if above else ""


def _unmapped(links: SemLink, verbs: VerbNet) -> Iterator[Finding]:
    for verb in verbs.verbs:
        rolesets = links.rolesets(verb)
        linked = {number for roleset in rolesets for number in links.classes(roleset)}
        if rolesets:
            for each in verbs.classes(verb):
                if each.number not in linked and each.id not in linked:
                    yield Finding("unmapped class", f"{each.id}/members/{verb}", f"no roleset of {verb!r} is linked")


def _types(verbs: VerbNet, types: TypeTable) -> Iterator[Finding]:
    for each in verbs.all_classes:
        for role, may in each.roles.items():
            for type in dict.fromkeys(sign[1:] for sign in may.types()):
                if type not in types.roots:
                    yield Finding("unknown type", f"{each.id}/{role}", f"no row for the type {type!r}")


def _frames(links: SemLink, frames: PropBank) -> Iterator[Finding]:
    for roleset, number, roles in links.pairs():
        if roleset not in frames:
            yield Finding("unknown roleset", f"{roleset}/{number}", f"{frames.source.name} has no roleset {roleset}")
            continue
        for argument in roles:
            if argument[1:].isdigit() and frames[roleset].role(argument[1:]) is None:
                yield Finding("unknown argument", f"{roleset}/{number}/{argument}", f"{roleset} has no {argument}")
