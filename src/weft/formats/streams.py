"""Bytes in and out: transparent gzip, checked UTF-8, `-` for standard streams, output files all or nothing."""

from __future__ import annotations

import codecs
import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from weft.errors import DataError, FormatError, WeftError
from weft.formats.encodings import (
    UNMARKED,
    check_mark,
    encoding_of,
    fallback_of,
    is_auto,
    marked_encoding,
    unmarked_utf16,
)
from weft.formats.encodings import check_encoding as check_encoding
from weft.formats.encodings import encoding_error as encoding_error
from weft.formats.encodings import is_utf8 as is_utf8
from weft.text.report import Report

if TYPE_CHECKING:
    from weft.text.doc import Doc

STANDARD = "-"
READ_SIZE = 1 << 16
BLOCK_SIZE = 1 << 18  # small enough for a block's fields to stay in the CPU cache
#: A line, or a sentence of lines, with more bytes is refused; so is gzip data that expands further than text does.
LONGEST = 1 << 27
GZIP_RATIO, GZIP_FREE = 250, 1 << 28  # at most 250 bytes for each byte, once there are 256 MB
_GZIP_STEP = 1 << 20  # bytes to decompress at a time


class FilePart(str):
    """A byte range of a file: it acts as the file's name, but only `start` to `end` is read.

    `line` is the number of the line that begins at `start`; `number` distinguishes the parts of a file in document
    names (0 for a whole file). `on_read` receives the size of every block of bytes that is read. `name` is what its
    document is called: the path relative to the folder that was given, without the suffix.

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
    name: str

    def __new__(
        cls,
        path: str | os.PathLike[str],
        start: int = 0,
        end: int | None = None,
        line: int = 1,
        number: int = 0,
        on_read: Callable[[int], object] | None = None,
        name: str = "",
    ) -> FilePart:
        part = super().__new__(cls, os.fspath(path))
        part.start, part.end, part.line, part.number, part.on_read = start, end, line, number, on_read
        part.name = name
        return part


def document_name(path: str) -> str:
    """The document name for a file, "" for standard input.

    >>> document_name("notes/monday.txt.gz"), document_name(FilePart("notes/monday.txt", name="notes/monday"))
    ('monday', 'notes/monday')
    """
    if path == STANDARD:
        return ""
    part = path if isinstance(path, FilePart) else FilePart(path)
    name = part.name or Path(path).name.removesuffix(".gz").removesuffix(".txt")
    return f"{name}-{part.number:05d}" if part.number else name


class Faults:
    """How to handle a bad piece: raise its error, or report it and continue."""

    def __init__(self, skip_bad: bool = False, report: Report | None = None) -> None:
        self.skip_bad = skip_bad
        self.report = report if report is not None else Report()

    def meet(self, error: FormatError) -> None:
        if not self.skip_bad:
            raise error
        self.report.add(error)


class TextBlock(NamedTuple):
    """A block of complete pieces of a text file: where they begin, and whether all of it is valid UTF-8.

    Invalid bytes are kept as lone surrogates, so that the reader can locate the piece that contains them.
    """

    text: str
    line: int
    clean: bool


def raw_blocks(path: str) -> Iterator[bytes]:
    """The bytes of a file, of a part of one, or of standard input (`-`), in blocks; gzip is decompressed."""
    part = path if isinstance(path, FilePart) else FilePart(path)
    with _source(path) as file:
        blocks = _blocks_of(part, file)
        block = next(blocks, b"")
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
    """The text of a file in blocks that end after a separator, without a byte-order mark.

    Line endings become `\\n` unless they are kept; then, if no separator comes for long, a block may end after any
    line, after a space if no line ends for long, and between any two characters if there is no space either. If the
    file is damaged, everything up to the last separator before the damage is yielded before the error is raised.
    """
    start, line = (path.start, path.line) if isinstance(path, FilePart) else (0, 1)
    pending, searched = bytearray(), 0
    mark = separator.encode()
    damage: FormatError | None = None
    encoding = told_encoding(path, encoding)
    blocks = check_mark(path, raw_blocks(path), start == 0) if is_utf8(encoding) else recoded(path, encoding)
    blocks = _line_ends(blocks, keep_ends, start == 0)
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
            if searched > LONGEST and damage is None:
                unit = "lines" if separator == "\n" else "sentences"
                hint = "Split it into shorter ones; is this the right format?"
                actual = "more without an end"
                raise FormatError(path, line, f"{unit} of at most {LONGEST:,} bytes", actual, hint)
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


def told_encoding(path: str, encoding: str) -> str:
    """The encoding of a file; `auto` is told from its bytes, for standard input from the first ones only."""
    if not is_auto(encoding):
        return encoding
    if path == STANDARD:
        check_encoding(encoding)
        peeked = sys.stdin.buffer.peek(4)  # type: ignore[union-attr]
        return marked_encoding(peeked[:4]) or unmarked_utf16(peeked) or "utf-8"
    unnoticed = FilePart(path, path.start, path.end) if isinstance(path, FilePart) else path
    return encoding_of(path, raw_blocks(unnoticed), encoding)


def _emergency_cut(pending: bytearray, longest: int) -> int:
    """Where to cut text without a separator: after a line, a space or, beyond `longest` bytes, any character."""
    stop = pending.rfind(b"\n") + 1 or pending.rfind(b" ") + 1
    if stop == 0 and len(pending) > longest:
        stop = len(pending) - 1
        while stop > len(pending) - 4 and pending[stop] & 0xC0 == 0x80:  # inside a character
            stop -= 1
    return stop


def checked_blocks(
    path: str, faults: Faults, separator: str = "\n\n", encoding: str = "utf-8", keep_ends: bool = False
) -> Iterator[TextBlock]:
    """`text_blocks` that stop at damage and report it if bad pieces are to be skipped."""
    try:
        told = told_encoding(path, encoding)
    except FormatError as error:
        faults.meet(error)
        return
    if is_auto(encoding) and told in (fallback_of(encoding), *UNMARKED):
        faults.report.read_as.setdefault(told, []).append(str(path))
    blocks = text_blocks(path, separator, told, keep_ends=keep_ends)
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
    """The lines of a text file, numbered from 1, each checked against the encoding."""
    for block in text_blocks(path, "\n", encoding):
        for number, line in enumerate(block.text.removesuffix("\n").split("\n"), start=block.line):
            if not block.clean and (stray := stray_byte(line)):
                raise encoding_error(path, number, stray[1])
            yield number, line


def read_text(path: str, encoding: str = "utf-8") -> str:
    """The whole text of a file with its original line endings."""
    encoding = told_encoding(path, encoding)
    check_encoding(encoding)
    data = b"".join(raw_blocks(path))
    try:
        text = data.decode("utf-8-sig" if is_utf8(encoding) else encoding)
        text.encode()
        return text
    except UnicodeEncodeError as error:
        raise FormatError(path, None, f"{encoding} text", "half a character") from error
    except UnicodeDecodeError as error:
        raise encoding_error(path, data.count(b"\n", 0, error.start) + 1, data[error.start], encoding) from error


def unsplit_error(doc: Doc, format: str) -> WeftError:
    """The error for a document without words in a format that consists of words."""
    return WeftError(
        f"{doc!r} has text but no words, which {format} needs; split it first: by rule with `weft convert --split`, or "
        "more accurately with a model (`weft annotate`)"
    )


def stray_byte(text: str) -> tuple[int, int] | None:
    """Offset and value of the first invalid byte in the text of an unclean block."""
    for place, letter in enumerate(text):
        if "\udc80" <= letter <= "\udcff":
            return place, ord(letter) - 0xDC00
    return None


@contextmanager
def open_output(path: str) -> Iterator[BinaryIO]:
    """A file to write to, gzipped if its name ends in `.gz`; it gets its name only once it is complete.

    `-` is standard output. Missing folders are created, and no file stays without any bytes. If writing fails, an
    existing file of the same name is left unchanged.
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
                    _end_blank(packed)
            else:
                yield raw
                _end_blank(raw)
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


def write_texts(texts: Iterable[str], path: str) -> int:
    """Write the texts of documents, one after the other, and return their number."""
    count = 0
    with open_output(path) as file:
        for text in texts:
            file.write(text.encode())
            count += 1
    return count


def _end_blank(file: Any) -> None:
    """End a file that holds no text with a line end: it is then a file of an empty document, not a lost one."""
    if file.tell() == 0:
        file.write(b"\n")


def writing_error(path: str, error: OSError) -> DataError:
    """The error for a path that cannot be written to."""
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
    """Decompress manually: unlike `gzip.open`, this yields everything before the damage."""
    inflate = zlib.decompressobj(31)
    packed, size = len(block), 0
    while True:
        try:
            data = inflate.decompress(block, _GZIP_STEP)
        except zlib.error as error:
            raise FormatError(path, None, "gzip data", f"damaged data ({error})", "Copy the file again") from error
        if data:
            size += len(data)
            if size > GZIP_FREE and size > GZIP_RATIO * packed:
                expected = f"gzip data that expands to at most {GZIP_RATIO} times its size"
                hint = "If the file is to be trusted, unzip it first"
                raise FormatError(path, None, expected, f"{size:,} bytes from {packed:,}", hint)
            yield data
        if inflate.unconsumed_tail:
            block = inflate.unconsumed_tail
            continue
        if inflate.eof:
            block = inflate.unused_data
            if not block:
                block = next(blocks, b"")
                packed += len(block)
            block = block.lstrip(b"\0")
            if not block:
                return
            inflate = zlib.decompressobj(31)
            continue
        block = next(blocks, b"")
        packed += len(block)
        if not block:
            raise FormatError(path, None, "a complete gzip file", "a truncated one", "Copy the file again")


def _line_ends(blocks: Iterator[bytes], keep: bool, first: bool = True) -> Iterator[bytes]:
    """Bytes without a leading byte-order mark, and with `\\r\\n` replaced by `\\n` unless line endings are kept."""
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


def recoded(path: str, encoding: str) -> Iterator[bytes]:
    """Recode a file from another encoding to UTF-8."""
    check_encoding(encoding)
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for block in chain(raw_blocks(path), [b""]):
        try:
            text = decoder.decode(block, not block)
            data = text.encode()
        except UnicodeDecodeError as error:
            bad = bytes(error.object)
            raise encoding_error(path, line + bad.count(b"\n", 0, error.start), bad[error.start], encoding) from error
        except UnicodeError as error:
            raise FormatError(path, line, f"{encoding} text", f"something else ({error})") from error
        line += text.count("\n")
        yield data
