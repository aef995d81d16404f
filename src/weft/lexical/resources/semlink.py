"""SemLink: which VerbNet class a PropBank roleset belongs to, and which of its roles each argument is.

| layout | example |
|---|---|
| 2 | `{"abase.01": {"45.7": {"ARG0": "agent", "ARG1": "patient"}}}` |
| 3.4 | `{"abase.01": [{"vnclass": "45.7", "args": [["A0", "AGENT"], ["A1", "NONE"], ["NM", "RESULT"]]}]}` |

Layout 3.4 alone tells an argument without a role (`NONE`) from one that nobody mapped (`NM`). It maps fewer rolesets:
read 2 as the base and lay 3.4 over it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from weft.errors import DataError
from weft.lexical.resources.source import Patch, Source, check_version, contents, mismatch

Roles = dict[str, str | None]


@dataclass(frozen=True)
class SemLink:
    """Links by roleset and class: the role of every argument, None for an argument that has none.

    >>> base = SemLink({"give.01": {"13.1": {"A0": "agent"}}}, Source("SemLink", "2", "a.json"))
    >>> newer = SemLink({"give.01": {"13.1": {"A0": "agent", "A3": None}}}, Source("SemLink", "3.4", "b.json"))
    >>> both = base.overlaid(newer)
    >>> both.classes("give.01"), both.role("give.01", "13.1", "A3") is None, both.source.version
    ({'13.1': {'A0': 'agent', 'A3': None}}, True, '2 + 3.4')
    """

    links: dict[str, dict[str, Roles]]
    source: Source

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
        """The links with patches at places such as `abandon.01/51.2/A0`; an empty value stands for no role."""
        links = {
            roleset: {each: dict(roles) for each, roles in classes.items()} for roleset, classes in self.links.items()
        }
        applied = list(patches)
        for patch in applied:
            parts = patch.place.split("/")
            if len(parts) != 3 or parts[1] not in links.get(parts[0], {}):
                raise mismatch("SemLink", patch, None)
            roles = links[parts[0]][parts[1]]
            if (roles.get(parts[2]) or "") != patch.before:
                raise mismatch("SemLink", patch, roles.get(parts[2]) or "")
            roles[parts[2]] = patch.after or None
        return SemLink(links, self.source.patched(applied))


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
