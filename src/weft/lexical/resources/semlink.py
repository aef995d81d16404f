"""SemLink: which VerbNet class a PropBank roleset belongs to, and which of its roles each argument is.

| layout | example |
|---|---|
| 2 | `{"abase.01": {"45.7": {"ARG0": "agent", "ARG1": "patient"}}}` |
| 3.4 | `{"abase.01": [{"vnclass": "45.7", "args": [["A0", "AGENT"], ["A1", "NONE"], ["NM", "RESULT"]]}]}` |

Layout 3.4 alone tells an argument without a role (`NONE`) from one that nobody mapped (`NM`). It maps fewer rolesets:
read 2 as the base and lay 3.4 over it.

Patches change the role of an argument, at places such as `abase.01/45.7/A0` (empty for an argument without a role,
`missing` for one that is not mapped), or a whole link, at places such as `abase.01/45.7` (`A0=agent A1=patient A2=`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from weft.errors import DataError
from weft.lexical.resources.source import MISSING, Patch, Patchable, Source, check_version, contents, mismatch

Roles = dict[str, str | None]


@dataclass(frozen=True)
class SemLink(Patchable):
    """Links by roleset and class: the role of every argument, None for an argument that has none.

    >>> base = SemLink({"give.01": {"13.1": {"A0": "agent"}}}, Source("SemLink", "2", "a.json"))
    >>> newer = SemLink({"give.01": {"13.1": {"A0": "agent", "A3": None}}}, Source("SemLink", "3.4", "b.json"))
    >>> both = base.overlaid(newer)
    >>> both.classes("give.01"), both.role("give.01", "13.1", "A3") is None, both.source.version
    ({'13.1': {'A0': 'agent', 'A3': None}}, True, '2 + 3.4')
    """

    name: ClassVar[str] = "SemLink"

    links: dict[str, dict[str, Roles]]
    source: Source
    base: SemLink | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str], version: str | None = None) -> SemLink:
        """Read a file of either layout, gzipped or not; one of another version than the given is refused."""
        text = contents(path, "a file of SemLink").decode("utf-8", "replace")
        try:
            table = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {error.lineno}: no JSON of SemLink ({error.msg})") from error
        if not isinstance(table, dict) or not table:
            raise DataError(f"{path}, line 1: expected an object with rolesets as names")
        found = "3.4" if any(isinstance(value, list) for value in table.values()) else "2"
        check_version("SemLink", path, found, version)
        parse = _newer if found == "3.4" else _older
        links: dict[str, dict[str, Roles]] = {}
        for roleset, value in table.items():
            try:
                links[roleset] = parse(value)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                line = text[: text.find(json.dumps(roleset))].count("\n") + 1
                raise DataError(
                    f"{path}, line {line}: the links of {roleset!r} are not those of layout {found}"
                ) from error
        return cls(links, Source("SemLink", found, str(path)))

    def classes(self, roleset: str) -> dict[str, Roles]:
        """The classes of a roleset and the roles of its arguments in each; empty if it is not linked."""
        return self.links.get(roleset, {})

    def role(self, roleset: str, verb_class: str, argument: str) -> str | None:
        """The role of an argument (`A0`) in a class; None if it has none or is not mapped."""
        return self.classes(roleset).get(verb_class, {}).get(argument)

    @cached_property
    def _by_verb(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for roleset in self.links:
            found.setdefault(roleset.rpartition(".")[0], []).append(roleset)
        return found

    def rolesets(self, verb: str) -> list[str]:
        """The rolesets of a verb, by number.

        >>> SemLink({"give.02": {}, "give.01": {}, "give_up.02": {}}, Source("SemLink", "2", "")).rolesets("give")
        ['give.01', 'give.02']
        """
        return sorted(self._by_verb.get(verb.replace(" ", "_"), ()))

    def pairs(self) -> Iterator[tuple[str, str, Roles]]:
        """All linked rolesets and classes."""
        for roleset, classes in self.links.items():
            for verb_class, roles in classes.items():
                yield roleset, verb_class, roles

    def __len__(self) -> int:
        return sum(len(classes) for classes in self.links.values())

    def overlaid(self, newer: SemLink) -> SemLink:
        """These links with those of another file: where both map an argument, the other one decides."""
        links = {
            roleset: {each: dict(roles) for each, roles in classes.items()} for roleset, classes in self.links.items()
        }
        for roleset, verb_class, roles in newer.pairs():
            own = links.setdefault(roleset, {})
            own[verb_class] = own.get(verb_class, {}) | roles
        version = f"{self.source.version} + {newer.source.version}"
        return SemLink(links, replace(self.source, version=version).patched(newer.source.patches))

    def patched(self, patches: Iterable[Patch]) -> SemLink:
        """The links with patches of arguments and of whole links."""
        links = {
            roleset: {each: dict(roles) for each, roles in classes.items()} for roleset, classes in self.links.items()
        }
        applied = list(patches)
        for patch in applied:
            roleset, _, place = patch.place.partition("/")
            verb_class, _, argument = place.partition("/")
            own = links.get(roleset, {})
            if not verb_class or (argument and verb_class not in own) or "." not in roleset:
                raise mismatch("SemLink", patch, None)
            found = _role_text(own[verb_class], argument) if argument else link_text(own.get(verb_class))
            if found != patch.before:
                raise mismatch("SemLink", patch, found if found != MISSING else None)
            if not argument:
                links[roleset] = {each: roles for each, roles in own.items() if each != verb_class}
                if patch.after != MISSING:
                    links[roleset][verb_class] = _link(patch)
            elif patch.after == MISSING:
                own[verb_class].pop(argument, None)
            else:
                own[verb_class][argument] = patch.after or None
        return SemLink(links, self.source.patched(applied), self.base or self)


def link_text(roles: Roles | None) -> str:
    """A link as patches write it.

    >>> link_text({"A1": "patient", "A0": "agent", "A2": None}), link_text({}), link_text(None)
    ('A0=agent A1=patient A2=', '', 'missing')
    """
    return MISSING if roles is None else " ".join(f"{name}={role or ''}" for name, role in sorted(roles.items()))


def _role_text(roles: Roles, argument: str) -> str:
    return (roles[argument] or "") if argument in roles else MISSING


def _link(patch: Patch) -> Roles:
    pairs = [each.partition("=") for each in patch.after.split()]
    if not all(name and sign for name, sign, _ in pairs):
        raise DataError(
            f"{patch.origin or patch.place}: expected arguments and roles as in 'A0=agent A2=', got {patch.after!r}"
        )
    return {name: role or None for name, _, role in pairs}


def _older(value: Any) -> dict[str, Roles]:
    return {
        each: {f"A{name.removeprefix('ARG')}": str(role) for name, role in roles.items()}
        for each, roles in value.items()
    }


def _newer(value: Any) -> dict[str, Roles]:
    found: dict[str, Roles] = {}
    for entry in value:
        roles = found.setdefault(entry["vnclass"], {})
        for argument, role in entry["args"]:
            if argument != "NM" and role != "NM":
                roles[argument] = None if role == "NONE" else role.lower()
    return found
