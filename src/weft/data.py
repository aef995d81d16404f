"""Locate corpora: in `$WEFT_DATA` or in a folder that the user names, never inside the package.

The catalogue (`corpora.toml`) lists every corpus that a recipe or a test uses: its files, their content, the licence,
and where to get it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from weft.errors import DataError, did_you_mean


@dataclass(frozen=True)
class CorpusEntry:
    """One corpus in the catalogue; its `files` are relative to `folder` inside the data folder.

    The folder of what a system installs is absolute; the environment variable `variable` may name another one.
    """

    name: str
    folder: str
    files: tuple[str, ...]
    format: str
    what: str
    licence: str
    source: str
    options: dict[str, Any] = field(default_factory=dict)  # options of `weft.formats.read` besides the format
    variable: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, relative to the data folder."""
        return tuple(f"{self.folder}/{name}" for name in self.files)


def root(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The data folder: the one given, else `$WEFT_DATA`, else `../shared/data` beside a checkout of Weft, else None.

    >>> root(".")
    PosixPath('.')
    """
    named = folder if folder is not None else os.environ.get("WEFT_DATA") or None
    if named is not None:
        if not Path(named).is_dir():
            origin = "the folder given" if folder is not None else "WEFT_DATA"
            raise DataError(
                f"{origin} is {os.fspath(named)!r}, which is not a folder; name the folder that contains your corpora"
            )
        return Path(named)
    checkout = Path(__file__).resolve().parents[2]
    beside = checkout.parent / "shared" / "data"
    return beside if (checkout / "pyproject.toml").is_file() and beside.is_dir() else None


def find(relative: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """The path of a corpus file, gzipped or not; if it is missing, the `DataError` says where to get it.

    >>> find("chunking/no-such-corpus/train.txt", folder=".")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: no file chunking/no-such-corpus/train.txt in the data folder .; ...
    """
    path = _locate(relative, folder)
    if path is not None:
        return path
    home = root(folder)
    place = "and no data folder is known" if home is None else f"in the data folder {home}"
    raise DataError(
        f"no file {relative} {place}; set WEFT_DATA to the folder that contains your corpora{_origin(relative)}"
    )


def have(relative: str, folder: str | os.PathLike[str] | None = None) -> bool:
    """Whether a corpus file is available.

    >>> have("chunking/no-such-corpus/train.txt")
    False
    """
    return _locate(relative, folder) is not None


@cache
def catalog() -> tuple[CorpusEntry, ...]:
    """All corpora in the catalogue.

    >>> [entry.name for entry in catalog()][:2]
    ['conll2000', 'conll2002-es']
    """
    text = (files("weft") / "corpora.toml").read_text(encoding="utf-8")
    return tuple(CorpusEntry(**{**row, "files": tuple(row["files"])}) for row in tomllib.loads(text)["corpus"])


def entry(name: str) -> CorpusEntry:
    """The catalogue's entry for a corpus.

    >>> entry("conll2000").paths
    ('chunking/conll2000/train.txt.gz', 'chunking/conll2000/test.txt.gz')
    """
    for row in catalog():
        if row.name == name:
            return row
    hint = did_you_mean(name, (row.name for row in catalog()), "`weft data list` lists the known corpora")
    raise DataError(f"the catalogue has no corpus {name!r}; {hint}")


def missing(corpus: CorpusEntry, folder: str | os.PathLike[str] | None = None) -> list[str]:
    """The files of a corpus that are not available.

    >>> missing(entry("cora-references"), folder=".")
    ['sequence/cora-references/ref.train', 'sequence/cora-references/ref.test']
    """
    return [path for path in corpus.paths if not have(path, folder)]


def _locate(relative: str, folder: str | os.PathLike[str] | None) -> Path | None:
    if os.path.isabs(relative):
        return next((place for place in _installed(Path(relative)) if place.exists()), None)
    home = root(folder)
    if home is None:
        return None
    other = relative.removesuffix(".gz") if relative.endswith(".gz") else f"{relative}.gz"
    return next((home / spelling for spelling in (relative, other) if (home / spelling).exists()), None)


def _installed(path: Path) -> Iterator[Path]:
    """Where a file that the system installs may be: where a variable says, or its subfolder `dict`, or at its place."""
    for row in catalog():
        named = os.environ.get(row.variable) if row.variable and path.parent == Path(row.folder) else None
        if named:
            yield from (Path(named) / path.name, Path(named) / "dict" / path.name)
    yield path


def _origin(relative: str) -> str:
    for row in catalog():
        if relative.startswith(f"{row.folder}/") or relative == row.folder:
            return f". It belongs to {row.name} ({row.licence}), available from {row.source}"
    return ""
