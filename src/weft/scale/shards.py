"""Split inputs into shards: whole small files, and pieces of large ones that begin at a document boundary.

A file of more than 1.5 x `shard_bytes` is cut at the first position after each multiple of `shard_bytes` where a
document may begin:

    plain    after an empty line, or after any line if none comes for long
    jsonl    after any line, and so records
    conllu   before a sentence with `# newdoc`, or after any sentence if none comes for long

Other formats, gzipped files and files in encodings other than UTF-8 stay whole. The cuts depend only on the file, so
a resumed run sees the same shards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from weft.errors import ConfigError, WeftError
from weft.formats import FORMATS, expand
from weft.formats.doors import kind_of, shared_folder, without_suffix
from weft.formats.encodings import is_utf8
from weft.formats.streams import STANDARD, FilePart, told_encoding

SHARD_BYTES = 1_000_000
_WINDOW = 1 << 20
#: Where documents begin, best positions first; the last must eventually match, the others only within a window.
_BORDERS = {
    "plain": (re.compile(rb"\n(?:\r?\n)+"), re.compile(rb"\n")),
    "jsonl": (re.compile(rb"\n"),),
    "records": (re.compile(rb"\n"),),
    "doccano": (re.compile(rb"\n"),),
    "prodigy": (re.compile(rb"\n"),),
    "conllu": (re.compile(rb"\n\r?\n(?=(?:#[^\n]*\n){0,9}# newdoc)"), re.compile(rb"\n(?:\r?\n)+")),
}

#: The start of a piece: its first byte and the number of its first line.
Cut = tuple[int, int]


@dataclass(frozen=True)
class Shard:
    """The input of one output file: a file, or a piece of one."""

    path: str
    name: str  # of the input, relative to the common folder of all inputs
    output: str  # of the output, relative to the output folder
    format: str
    size: int  # of the whole input, with `mtime_ns` its state when the run began
    mtime_ns: int
    start: int = 0
    end: int | None = None
    line: int = 1
    number: int = 0

    @property
    def n_bytes(self) -> int:
        return (self.size if self.end is None else self.end) - self.start

    def source(self) -> FilePart:
        """The argument for `weft.formats.read`."""
        name = Path(without_suffix(self.name)).as_posix()
        return FilePart(self.path, self.start, self.end, self.line, self.number, name=name)


def plan(
    paths: Sequence[str | os.PathLike[str]],
    to_format: str,
    from_format: str | None = None,
    encoding: str = "utf-8",
    shard_bytes: int = SHARD_BYTES,
    text_column: str | None = None,
) -> list[Shard]:
    """The shards of files, folders and globs, in order."""
    if STANDARD in [os.fspath(path) for path in paths]:
        raise ConfigError(
            "standard input cannot be annotated into a folder, because it cannot be read again; name files"
        )
    if shard_bytes < 1:
        raise ConfigError(f"a shard must have at least 1 byte, but got {shard_bytes}")
    files = list(dict.fromkeys(expand(paths, from_format)))
    kinds = [kind_of(file, from_format, text_column) for file in files]
    base = shared_folder(paths)
    shards: list[Shard] = []
    for file, kind in zip(files, kinds, strict=True):
        state = os.stat(file)
        name = os.path.relpath(os.path.abspath(file), base)
        size = sum(entry.stat().st_size for entry in os.scandir(file)) if os.path.isdir(file) else state.st_size
        whole = kind not in _BORDERS or size <= 1.5 * shard_bytes or _is_gzipped(file)
        cut = not whole and _is_utf8(file, encoding)
        cuts = find_cuts(file, kind, size, shard_bytes) if cut else [(0, 1)]
        stem = without_suffix(name)
        common: dict[str, Any] = {
            "path": file,
            "name": name,
            "format": kind,
            "size": size,
            "mtime_ns": state.st_mtime_ns,
        }
        if len(cuts) == 1:
            shards.append(Shard(output=f"{stem}{_suffix(to_format)}", **common))
            continue
        ends = [*(start for start, _ in cuts[1:]), size]
        for number, ((start, line), end) in enumerate(zip(cuts, ends, strict=True), start=1):
            output = f"{stem}-{number:05d}{_suffix(to_format)}"
            shards.append(Shard(output=output, start=start, end=end, line=line, number=number, **common))
    _check_outputs(shards)
    return shards


def find_cuts(path: str, kind: str, size: int, shard_bytes: int) -> list[Cut]:
    """Where the pieces of a file begin.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"One.\\n\\nTwo.\\n\\nThree.\\n\\nFour.\\n"), file.flush()
    ...     find_cuts(file.name, "plain", 27, 10)
    [(0, 1), (12, 5)]
    """
    cuts = [(0, 1)]
    with open(path, "rb", buffering=0) as file:
        while size - cuts[-1][0] > 1.5 * shard_bytes:
            start, line = cuts[-1]
            border = _border(file, start + shard_bytes, size, _BORDERS[kind])
            if border is None:
                break
            cuts.append((border, line + _count_lines(file, start, border)))
    return cuts


def may_be_output(output: str, name: str, to_format: str) -> bool:
    """Whether `plan` could give an output for this input this name.

    >>> may_be_output("a/b-00012.conllu", "a/b.txt", "conllu"), may_be_output("a/notes.conllu", "a/b.txt", "conllu")
    (True, False)
    """
    stem, suffix = without_suffix(name), _suffix(to_format)
    return re.fullmatch(rf"{re.escape(stem)}(-\d{{5,}})?{re.escape(suffix)}", output) is not None


def bundles(shards: Iterable[Shard], bundle_bytes: int, most: int = 500) -> Iterator[list[Shard]]:
    """Shards in groups of about `bundle_bytes` bytes, so that small files are annotated together."""
    group: list[Shard] = []
    size = 0
    for shard in shards:
        if group and (size + shard.n_bytes > bundle_bytes or len(group) == most):
            yield group
            group, size = [], 0
        group.append(shard)
        size += shard.n_bytes
    if group:
        yield group


def _border(file: BinaryIO, target: int, size: int, patterns: Sequence[re.Pattern[bytes]]) -> int | None:
    """The first position after `target` and inside the file where a document may begin, or None."""
    file.seek(target)
    window = b""
    while block := file.read(_WINDOW):
        window += block
        # A boundary may be truncated at the end of a window, but then a later one is as good.
        for pattern in patterns if len(window) == len(block) else patterns[-1:]:
            match = pattern.search(window)
            if match is not None and target + match.end() < size:
                return target + match.end()
        target, window = target + max(len(window) - 4, 0), window[-4:]
    return None


def _count_lines(file: BinaryIO, start: int, end: int) -> int:
    file.seek(start)
    lines, left = 0, end - start
    while left > 0 and (block := file.read(min(left, _WINDOW))):
        lines += block.count(b"\n")
        left -= len(block)
    return lines


def _suffix(format: str) -> str:
    return FORMATS[format][0]


def _is_utf8(path: str, encoding: str) -> bool:
    try:
        return is_utf8(told_encoding(path, encoding))
    except WeftError:  # its reader will say what is wrong
        return False


def _is_gzipped(path: str) -> bool:
    if not os.path.isfile(path):
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _check_outputs(shards: Sequence[Shard]) -> None:
    owners: dict[str, str] = {}
    for shard in shards:
        other = owners.setdefault(shard.output, shard.name)
        if other != shard.name or shard.output.startswith(".."):
            raise ConfigError(
                f"{other} and {shard.name} would both be written to {shard.output}; annotate them into two folders"
            )
