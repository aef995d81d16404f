"""Read and write bytes: gzip is transparent, UTF-8 is checked, `-` is a standard stream, writing is atomic."""

from __future__ import annotations

import codecs
import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from weft.errors import DataError, FormatError, WeftError
from weft.text.report import Report

if TYPE_CHECKING:
    from weft.text.doc import Doc

STANDARD = "-"
READ_SIZE = 1 << 16
BLOCK_SIZE = 1 << 18  # small enough for the fields of a block to stay in the processor's cache


class FilePart(str):
    """A range of bytes of a file: it serves as the file's name, but only `start` to `end` is read.

    `line` is the number of the line that begins at `start`; `number` tells the parts of a file apart in the names of
    documents (0: the file is whole). `on_read` is told the size of every block of bytes that is read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.txt").write_text("Dogs bark.\\n\\nCats purr.\\n")
    ...     part = FilePart(f"{folder}/pets.txt", start=12, line=3, number=2)
    ...     [block.text for block in text_blocks(part)], document_name(part)
    (['Cats purr.\\n'], 'pets-00002')
    """

    start: int
    end: int | None
    line: int
    number: int
    on_read: Callable[[int], object] | None

    def __new__(
        cls,
        path: str | os.PathLike[str],
        start: int = 0,
        end: int | None = None,
        line: int = 1,
        number: int = 0,
        on_read: Callable[[int], object] | None = None,
    ) -> FilePart:
        part = super().__new__(cls, os.fspath(path))
        part.start, part.end, part.line, part.number, part.on_read = start, end, line, number, on_read
        return part


def document_name(path: str) -> str:
    """The name of the document in a file, "" for standard input.

    >>> document_name("notes/monday.txt.gz")
    'monday'
    """
    if path == STANDARD:
        return ""
    name = Path(path).name.removesuffix(".gz").removesuffix(".txt")
    number = path.number if isinstance(path, FilePart) else 0
    return f"{name}-{number:05d}" if number else name


class Faults:
    """The policy for bad input: raise the error, or report it and continue."""

    def __init__(self, skip_bad: bool = False, report: Report | None = None) -> None:
        self.skip_bad = skip_bad
        self.report = report if report is not None else Report()

    def meet(self, error: FormatError) -> None:
        if not self.skip_bad:
            raise error
        self.report.add(error)


class TextBlock(NamedTuple):
    """Some whole pieces of a text file: where they begin, and whether all of it was proper UTF-8.

    Bytes that were not are kept as lone surrogates, so that the reader can find the piece that holds them.
    """

    text: str
    line: int
    clean: bool


def raw_blocks(path: str) -> Iterator[bytes]:
    """The bytes of a file, a part of one or standard input (`-`) in blocks, decompressed if they are gzip."""
    part = path if isinstance(path, FilePart) else FilePart(path)
    with _source(path) as file:
        blocks = _blocks_of(part, file)
        block = next(blocks, b"")
        if not block:
            raise FormatError(path, None, "some text", "an empty file")
        if part.start == 0 and block[:2] == b"\x1f\x8b":
            yield from _gunzip(path, blocks, block)
            return
        yield block
        yield from blocks


def _blocks_of(part: FilePart, file: BinaryIO) -> Iterator[bytes]:
    read = getattr(file, "read1", file.read) if part == STANDARD else file.read
    if part.start:
        file.seek(part.start)
    left = part.end - part.start if part.end is not None else -1
    while left and (block := read(READ_SIZE if left < 0 else min(left, READ_SIZE))):
        if part.on_read is not None:
            part.on_read(len(block))
        if left > 0:
            left -= len(block)
        yield block


def text_blocks(
    path: str, separator: str = "\n\n", encoding: str = "utf-8", size: int = BLOCK_SIZE, keep_ends: bool = False
) -> Iterator[TextBlock]:
    """The text of a file in blocks that end after a separator, without its byte-order mark.

    Line ends become `\\n` unless they are kept; then a block may end behind any line where no separator comes for long,
    behind a blank where no line ends for long, and between any two characters where no blank comes either.
    Where the file is damaged, everything up to the last separator before the damage is given, then the error raised.
    """
    start, line = (path.start, path.line) if isinstance(path, FilePart) else (0, 1)
    pending, searched = bytearray(), 0
    mark = separator.encode()
    damage: FormatError | None = None
    blocks = _line_ends(raw_blocks(path) if is_utf8(encoding) else _recode(path, encoding), keep_ends, start == 0)
    while damage is None:
        try:
            block = next(blocks, None)
        except FormatError as error:
            damage, block = error, b""
        if block is None:
            break
        pending += block
        if len(pending) < size and damage is None:
            continue
        cut = pending.rfind(mark, max(0, searched - len(mark)) if damage is None else 0)
        stop = cut + len(mark)
        if cut < 0 and keep_ends and separator != "\n" and len(pending) > 4 * size:
            stop = _emergency_cut(pending, 8 * size)
            cut = stop - 1
        if cut < 0:
            searched = len(pending)
            continue
        ready = bytes(pending[:stop])
        del pending[:stop]
        searched = 0
        yield _decoded(ready, line)
        line += ready.count(b"\n")
    if damage is not None:
        raise damage
    if pending:
        yield _decoded(bytes(pending), line)


def _emergency_cut(pending: bytearray, longest: int) -> int:
    """Where to cut text without a separator: after a line, a blank or, in more than `longest` bytes, a character."""
    stop = pending.rfind(b"\n") + 1 or pending.rfind(b" ") + 1
    if stop == 0 and len(pending) > longest:
        stop = len(pending) - 1
        while stop > len(pending) - 4 and pending[stop] & 0xC0 == 0x80:  # inside a character
            stop -= 1
    return stop


def checked_blocks(
    path: str, faults: Faults, separator: str = "\n\n", encoding: str = "utf-8", keep_ends: bool = False
) -> Iterator[TextBlock]:
    """`text_blocks` up to the first damaged byte, which is reported if bad input is skipped."""
    blocks = text_blocks(path, separator, encoding, keep_ends=keep_ends)
    while True:
        try:
            block = next(blocks, None)
        except FormatError as error:
            faults.meet(error)
            return
        if block is None:
            return
        yield block


def numbered_lines(path: str, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers from 1, each checked to be text in its encoding."""
    for block in text_blocks(path, "\n", encoding):
        for number, line in enumerate(block.text.removesuffix("\n").split("\n"), start=block.line):
            if not block.clean and (stray := stray_byte(line)):
                raise encoding_error(path, number, stray[1])
            yield number, line


def read_text(path: str, encoding: str = "utf-8") -> str:
    """The whole text of a file with its original line ends."""
    data = b"".join(raw_blocks(path))
    try:
        return data.decode("utf-8-sig" if is_utf8(encoding) else encoding)
    except UnicodeDecodeError as error:
        raise encoding_error(path, data.count(b"\n", 0, error.start) + 1, data[error.start], encoding) from error


def encoding_error(path: str, line: int, byte: int, encoding: str = "utf-8") -> FormatError:
    """The error for a byte that is invalid in the encoding."""
    name = "UTF-8" if is_utf8(encoding) else encoding
    hint = "If the file is written in another encoding, name it: --encoding latin-1 (in Python encoding='latin-1')"
    return FormatError(path, line, f"{name} text", f"the byte 0x{byte:02x}", hint)


def unsplit_error(doc: Doc, format: str) -> WeftError:
    """The error for a document without words in a format that consists of words."""
    return WeftError(
        f"{doc!r} has text but no words, of which {format} is made; split it first: `weft convert --split` does so by "
        "rule, a model better (`weft annotate`)"
    )


def stray_byte(text: str) -> tuple[int, int] | None:
    """Position and value of the first byte that was not UTF-8 in the text of an unclean block."""
    for place, letter in enumerate(text):
        if "\udc80" <= letter <= "\udcff":
            return place, ord(letter) - 0xDC00
    return None


@contextmanager
def open_output(path: str) -> Iterator[BinaryIO]:
    """A file to write to, gzipped if its name ends in `.gz`; it gets its name only when it is complete.

    `-` is standard output. Folders that are missing are made. Where writing fails, an older file of the same name stays
    as it was.
    """
    if path == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise DataError(f"{path} is a folder; name a file to write to")
        with target.open("wb") as device:
            yield device
        return
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise writing_error(path, error) from error
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def writing_error(path: str, error: OSError) -> DataError:
    """The error for a place that cannot be written to."""
    return DataError(f"cannot write {path}: {(error.strerror or str(error)).lower()}")


@contextmanager
def _source(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    with file:
        yield file


def _gunzip(path: str, blocks: Iterator[bytes], block: bytes) -> Iterator[bytes]:
    """Decompress step by step: unlike `gzip.open`, this yields everything before damaged data."""
    inflate = zlib.decompressobj(31)
    while True:
        try:
            data = inflate.decompress(block)
        except zlib.error as error:
            raise FormatError(path, None, "gzip data", f"damaged data ({error})", "Copy the file again") from error
        if data:
            yield data
        if inflate.eof:
            block = (inflate.unused_data or next(blocks, b"")).lstrip(b"\0")
            if not block:
                return
            inflate = zlib.decompressobj(31)
            continue
        block = next(blocks, b"")
        if not block:
            raise FormatError(path, None, "a whole gzip file", "one that breaks off", "Copy the file again")


def _line_ends(blocks: Iterator[bytes], keep: bool, first: bool = True) -> Iterator[bytes]:
    """Bytes without a byte-order mark at their beginning, and with `\\r\\n` made `\\n` unless line ends are kept."""
    held = b""
    for block in blocks:
        if first:
            block = block.removeprefix(codecs.BOM_UTF8)
            first = False
        if not keep and (held or b"\r" in block):
            block = held + block
            held = b"\r" if block.endswith(b"\r") else b""
            block = block[: len(block) - len(held)].replace(b"\r\n", b"\n")
        yield block
    if held:
        yield held


def _decoded(data: bytes, line: int) -> TextBlock:
    try:
        return TextBlock(data.decode(), line, True)
    except UnicodeDecodeError:
        return TextBlock(data.decode(errors="surrogateescape"), line, False)


def _recode(path: str, encoding: str) -> Iterator[bytes]:
    """A file of another encoding as UTF-8."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise DataError(f"no encoding {encoding!r}; try latin-1, cp1252, utf-16 ...") from error
    line = 1
    for block in raw_blocks(path):
        try:
            text = decoder.decode(block)
        except UnicodeDecodeError as error:
            bad = bytes(error.object)
            raise encoding_error(path, line + bad.count(b"\n", 0, error.start), bad[error.start], encoding) from error
        line += text.count("\n")
        yield text.encode()


def is_utf8(encoding: str) -> bool:
    """Whether an encoding's name stands for UTF-8."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")
