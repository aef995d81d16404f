"""The files of an output folder: which ones a run may touch, what they contain, and that they are on disk.

A run touches only regular files inside its folder whose names it gives itself: outputs, and their unfinished copies
`.NAME.xxxxxxxx.part`. Names that come from a manifest are checked like any other input.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from weft.errors import ConfigError, DataError

_BLOCK = 1 << 20
#: As `weft.formats.streams.open_output` names files until they are complete.
_PART = ".part"


def is_inside(name: str) -> bool:
    """Whether a name, taken relative to a folder, stays inside it; links are not considered.

    >>> [is_inside(name) for name in ("a.conllu", "b/a.conllu", "b/../../a", "/a", "C:\\\\a", "..", "")]
    [True, True, False, False, False, False, False]
    """
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # no file can have this name
        return False
    paths = (PurePosixPath(name), PureWindowsPath(name))
    if any(path.root or ".." in path.parts for path in paths) or "\0" in name:
        return False
    return not PurePath(name).anchor and bool(PurePath(name).parts)


def check_places(folder: Path, names: Iterable[str]) -> None:
    """Refuse outputs that would be written outside of the folder or through links."""
    top = Path(os.path.realpath(folder))
    parents: dict[Path, bool] = {}
    for name in names:
        path = folder / name
        if path.parent not in parents:
            parents[path.parent] = Path(os.path.realpath(path.parent)).is_relative_to(top)
        if not is_inside(name) or not parents[path.parent]:
            raise ConfigError(
                f"{path} would be written outside of {folder}, through `..` or a link; use another folder"
            )
        if os.path.lexists(path) and not is_regular(path):
            raise ConfigError(f"{path} exists and is not a regular file; remove it, or use another folder")


def is_regular(path: Path) -> bool:
    """Whether there is a regular file, itself and not through a link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def content_digest(path: str | os.PathLike[str], start: int = 0, end: int | None = None) -> str:
    """The SHA-256 of a file, of a part of it, or of the files of a folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a").write_bytes(b"one two"), Path(folder, "b").write_bytes(b"two")
    ...     content_digest(Path(folder, "a"), start=4) == content_digest(Path(folder, "b"))
    True
    """
    digest = hashlib.sha256()
    try:
        if os.path.isdir(path):
            for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
                content = content_digest(entry.path) if entry.is_file() else ""
                digest.update(f"{entry.name!r} {content}\n".encode())
            return digest.hexdigest()
        with open(path, "rb", buffering=0) as file:
            file.seek(start)
            left = end - start if end is not None else -1
            while left and (block := file.read(_BLOCK if left < 0 else min(left, _BLOCK))):
                digest.update(block)
                left -= len(block) if left > 0 else 0
    except OSError as error:
        raise DataError(f"cannot read {os.fspath(path)}: {error.strerror}") from error
    return digest.hexdigest()


def has_digest(path: str | os.PathLike[str], digest: str, start: int = 0, end: int | None = None) -> bool:
    """Whether a file, or a part of it, can be read and has this digest."""
    try:
        return content_digest(path, start, end) == digest
    except DataError:
        return False


def holds(path: Path, n_bytes: int, digest: str) -> bool:
    """Whether a regular file has exactly this content."""
    return is_regular(path) and os.path.getsize(path) == n_bytes and has_digest(path, digest)


def sync_file(path: str | os.PathLike[str]) -> None:
    """Wait until a file's content is on disk."""
    with open(path, "r+b", buffering=0) as file:
        os.fsync(file.fileno())


def sync_folders(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Wait until the names in folders are on disk, where a system can tell."""
    for folder in set(folders):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def make_folders(folder: Path, names: Iterable[str]) -> None:
    """Create the folders of outputs, on disk as well."""
    made: set[Path] = set()
    for parent in {(folder / name).parent for name in names}:
        if not parent.is_dir():
            parent.mkdir(parents=True, exist_ok=True)
            while parent != folder:
                parent = parent.parent
                made.add(parent)
    sync_folders(made)


def remove_parts(folder: Path, names: Iterable[str]) -> None:
    """Remove unfinished copies of these outputs, which a killed run left behind; all other files stay."""
    outputs: dict[Path, set[str]] = {}
    for path in (folder / name for name in names):
        outputs.setdefault(path.parent, set()).add(path.name)
    for parent, known in outputs.items():
        if not parent.is_dir():
            continue
        for entry in list(os.scandir(parent)):
            if _output_of(entry.name) in known and is_regular(Path(entry.path)):
                Path(entry.path).unlink(missing_ok=True)


def _output_of(name: str) -> str | None:
    """The output that an incomplete file of this name is written for, None for other files.

    >>> _output_of(".a.conllu.x7_b2k9q.part"), _output_of(".a.conllu.longer-name.part"), _output_of("a.conllu.x.part")
    ('a.conllu', None, None)
    """
    output, _, random = name.removesuffix(_PART).rpartition(".")
    plain = random.isascii() and random.replace("_", "0").isalnum() and random == random.lower() and len(random) <= 8
    return output[1:] if name.startswith(".") and name.endswith(_PART) and plain and len(output) > 1 else None
