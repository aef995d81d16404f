"""PropBank's frames: the senses of predicates and what their numbered arguments mean.

    lemma  roleset     name          aliases                 roles
    abandon abandon.01 leave behind  abandon/v,abandonment/n 0:ppt:abandoner;1:dir:entity left behind

One roleset per line, separated by tabs, below a header; a role is its number, its function and a description. `M` as a
number stands for a modifier.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from weft.errors import DataError
from weft.lexical.resources.source import Patch, Source, check_version, contents, known_version, mismatch

HEADER = ("lemma", "roleset", "name", "aliases")
#: SHA-256 of the flattened frames of known revisions of propbank/propbank-frames.
VERSIONS = {"18524a9be07e6a8d": "c66e0ccf"}


class Role(NamedTuple):
    """A numbered argument: its number, its function (pag: agent, ppt: patient, ...) and what it is."""

    number: str
    function: str
    description: str


class Roleset(NamedTuple):
    """A sense of a predicate: lemma, id, name, words that evoke it with their parts of speech, and its roles."""

    lemma: str
    id: str
    name: str
    aliases: tuple[tuple[str, str], ...]
    roles: tuple[Role, ...]

    def role(self, number: str | int) -> Role | None:
        """The role of a number, None if the roleset has none."""
        return next((role for role in self.roles if role.number == str(number)), None)


@dataclass(frozen=True)
class PropBank:
    """The rolesets of a frame file, in its order.

    >>> roles = (Role("0", "pag", "giver"), Role("1", "ppt", "gift"))
    >>> give = Roleset("give", "give.01", "transfer", (("give", "v"), ("gift", "n")), roles)
    >>> frames = PropBank([give], Source("PropBank", "test", "frames.tsv"))
    >>> frames["give.01"].role(0).description, [each.id for each in frames.senses("gift", "n")]
    ('giver', ['give.01'])
    >>> patch = Patch("give.01/1/function", "ppt", "gol", "as an example")
    >>> frames.patched([patch])["give.01"].role(1)
    Role(number='1', function='gol', description='gift')
    """

    rolesets: list[Roleset]
    source: Source

    @classmethod
    def read(cls, path: str | os.PathLike[str], version: str | None = None) -> PropBank:
        """Read a frame file, gzipped or not; one of another version than the given is refused."""
        data = contents(path, "a frame file")
        found, digest = known_version(data, VERSIONS)
        lines = data.decode("utf-8", "replace").splitlines()
        header = lines[0].split("\t") if lines else []
        if tuple(header[:4]) != HEADER or len(header) != 5:
            raise DataError(
                f"{path}, line 1: this is no table of frames; expected the header {' '.join(HEADER)} and roles, "
                f"got {lines[0][:80] if lines else ''!r}"
            )
        check_version("PropBank", path, found, version)
        rolesets = [_roleset(line, f"{path}, line {number}") for number, line in enumerate(lines[1:], 2) if line]
        return cls(rolesets, Source("PropBank", found, str(path), digest))

    @cached_property
    def _by_id(self) -> dict[str, Roleset]:
        return {roleset.id: roleset for roleset in self.rolesets}

    @cached_property
    def _by_alias(self) -> dict[tuple[str, str], list[Roleset]]:
        found: dict[tuple[str, str], list[Roleset]] = {}
        for roleset in self.rolesets:
            for alias in dict.fromkeys(roleset.aliases):
                found.setdefault(alias, []).append(roleset)
        return found

    def __getitem__(self, id: str) -> Roleset:
        if id not in self._by_id:
            raise DataError(f"{self.source.name} {self.source.version} has no roleset {id!r}")
        return self._by_id[id]

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def __iter__(self) -> Iterator[Roleset]:
        return iter(self.rolesets)

    def __len__(self) -> int:
        return len(self.rolesets)

    def senses(self, word: str, pos: str) -> list[Roleset]:
        """The rolesets that a word evokes as a part of speech: v, n or j; spaces of its alias are underscores."""
        return list(self._by_alias.get((word.replace(" ", "_"), pos), ()))

    def patched(self, patches: Iterable[Patch]) -> PropBank:
        """The frames with patches at places such as `give.01/1/function` or `give.01/1/description`."""
        rolesets, applied = dict(self._by_id), list(patches)
        for patch in applied:
            id, _, place = patch.place.partition("/")
            number, _, field = place.partition("/")
            role = rolesets[id].role(number) if id in rolesets else None
            if role is None or field not in ("function", "description"):
                raise mismatch("PropBank", patch, None)
            if getattr(role, field) != patch.before:
                raise mismatch("PropBank", patch, getattr(role, field))
            new = role._replace(**{field: patch.after})
            roles = tuple(new if each is role else each for each in rolesets[id].roles)
            rolesets[id] = rolesets[id]._replace(roles=roles)
        return replace(
            self, rolesets=[rolesets[each.id] for each in self.rolesets], source=self.source.patched(applied)
        )


def _roleset(line: str, where: str) -> Roleset:
    cells = line.split("\t")
    if len(cells) != 5 or not cells[1]:
        raise DataError(
            f"{where}: expected lemma, roleset, name, aliases and roles, separated by tabs, got {line[:80]!r}"
        )
    aliases = []
    for alias in filter(None, cells[3].split(",")):
        word, slash, pos = alias.rpartition("/")
        if not slash:
            raise DataError(f"{where}: expected an alias and its part of speech, as in give/v, got {alias!r}")
        aliases.append((word, pos))
    return Roleset(cells[0], cells[1], cells[2], tuple(aliases), tuple(_roles(cells[4], where)))


def _roles(cell: str, where: str) -> Iterator[Role]:
    """Roles of a cell; a semicolon inside a description does not begin a role."""
    parts: list[str] = []
    for part in cell.split(";"):
        number, colon, _ = part.partition(":")
        if colon and (number.isdigit() or number in ("M", "m")) and part.count(":") >= 2:
            parts.append(part)
        elif parts:
            parts[-1] += f";{part}"
        elif part:
            raise DataError(f"{where}: expected a role as in 0:pag:giver, got {part!r}")
    for part in parts:
        number, function, description = part.split(":", 2)
        yield Role(number.upper(), function, description)
