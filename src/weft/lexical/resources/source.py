"""Where a lexical resource comes from: its files, its version, and every patch that was made to it.

A version is read from the files where they state one; else it is the one whose contents are known by their SHA-256.
A reader that is asked for a version refuses files of another one.

A patch changes one cell of a resource, says what the cell held before, and why it is changed. Files of patches have
four columns, separated by tabs: place, before, after, reason. `missing` stands for a cell that is not there: a patch
from `missing` adds it, one to `missing` deletes it.

A patched resource keeps the one below its patches: files are never changed, and any number of patches can be taken
back.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from weft.errors import DataError

#: What a cell that is not there holds, as files of patches write it.
MISSING = "missing"


class Patch(NamedTuple):
    """A changed cell: its place, what it held, what it holds now, why, and the file and line that say so."""

    place: str
    before: str
    after: str
    reason: str
    origin: str = ""

    def inverse(self) -> Patch:
        """The patch that undoes this one.

        >>> Patch("put-9.1/Agent", "+animate", "missing", "a test").inverse()[:3]
        ('put-9.1/Agent', 'missing', '+animate')
        >>> Patch("put-9.1/id", "put-9.1", "put-9.9", "a test").inverse()[:3]
        ('put-9.9/id', 'put-9.9', 'put-9.1')
        """
        place = f"{self.after}/id" if self.place == f"{self.before}/id" else self.place
        return self._replace(place=place, before=self.after, after=self.before)

    def __str__(self) -> str:
        where = f" ({self.origin})" if self.origin else ""
        return f"{self.place}: {self.before!r} became {self.after!r}: {self.reason}{where}"


@dataclass(frozen=True)
class Source:
    """The origin of a resource: name, version, path, SHA-256 of its contents, and the patches made to it, in order.

    >>> source = Source("SemLink", "2", "pb-vn2.json", "1ae033dd")
    >>> patched = source.patched([Patch("abandon.01/51.2/ARG0", "theme", "agent", "the abandoner acts")])
    >>> print(patched)
    SemLink 2, pb-vn2.json, sha256 1ae033dd, 1 patch
    >>> patched.provenance("abandon.01/51.2/ARG0"), patched.provenance("abase.01/45.7/A0")
    ("'theme' became 'agent': the abandoner acts", 'SemLink 2')
    """

    name: str
    version: str
    path: str
    digest: str = ""
    patches: tuple[Patch, ...] = ()

    def patched(self, patches: Iterable[Patch]) -> Source:
        """The source with further patches."""
        return Source(self.name, self.version, self.path, self.digest, (*self.patches, *patches))

    def provenance(self, place: str) -> str:
        """Where a cell comes from: the last patch of it, or the resource itself."""
        for patch in reversed(self.patches):
            if patch.place == place:
                where = f" ({patch.origin})" if patch.origin else ""
                return f"{patch.before!r} became {patch.after!r}: {patch.reason}{where}"
        return f"{self.name} {self.version}"

    def __str__(self) -> str:
        digest = f", sha256 {self.digest[:12]}" if self.digest else ""
        count = f", {len(self.patches)} patch{'es' * (len(self.patches) > 1)}" if self.patches else ""
        return f"{self.name} {self.version}, {Path(self.path).name}{digest}{count}"


class Patchable:
    """A resource that patches apply to; `base` is the one without those that were made since it was read."""

    source: Source
    base: Self | None
    name: ClassVar[str]

    def patched(self, patches: Iterable[Patch]) -> Self:
        """The resource with patches, which are applied in order."""
        raise NotImplementedError

    @property
    def applied(self) -> tuple[Patch, ...]:
        """The patches since the resource was read."""
        return self.source.patches[len(self.base.source.patches) :] if self.base is not None else ()

    def reverted(self, count: int | None = None) -> Self:
        """The resource without its last patches, or without all of them."""
        if self.base is None:
            return self
        kept = self.applied[: max(0, len(self.applied) - count)] if count is not None else ()
        return self.base.patched(kept) if kept else self.base


def contents(path: str | os.PathLike[str], what: str) -> bytes:
    """The contents of a file, gzipped or not; a missing or broken file is a plain error."""
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError) as error:
        raise DataError(f"{path}: {what} cannot be read ({error}); `weft data check` says where to get it") from error


def known_version(data: bytes, versions: Mapping[str, str]) -> tuple[str, str]:
    """The version of a file by its SHA-256, "unknown" for others, and the SHA-256.

    >>> known_version(b"", {"e3b0c442": "1"})[0]
    '1'
    """
    digest = hashlib.sha256(data).hexdigest()
    return next((version for start, version in versions.items() if digest.startswith(start)), "unknown"), digest


def check_version(name: str, path: object, found: str, wanted: str | None) -> None:
    """Refuse a resource of another version than the wanted one.

    >>> check_version("VerbNet", "vn.zip", "2", "3")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: vn.zip, line 1: this is VerbNet 2, but version 3 is asked for; name a file of that version
    """
    if wanted is not None and found != wanted:
        raise DataError(
            f"{path}, line 1: this is {name} {found}, but version {wanted} is asked for; name a file of that version"
        )


def read_patches(path: str | os.PathLike[str]) -> list[Patch]:
    """The patches of a file; empty lines and lines that begin with # are left out."""
    patches = []
    for number, line in enumerate(contents(path, "the file of patches").decode("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != 4 or not cells[0] or not cells[3].strip():
            raise DataError(
                f"{path}, line {number}: expected place, before, after and reason, separated by tabs, got {line!r}"
            )
        place, before, after, reason = cells
        patches.append(Patch(place, before, after, reason, f"{Path(path).name}, line {number}"))
    return patches


def mismatch(name: str, patch: Patch, found: str | None) -> DataError:
    """The error for a patch that does not fit the resource."""
    where = f"{patch.origin}: " if patch.origin else ""
    if found is None:
        return DataError(f"{where}{name} has no {patch.place!r} to patch")
    return DataError(f"{where}{patch.place!r} of {name} holds {found!r}, but the patch expects {patch.before!r}")
