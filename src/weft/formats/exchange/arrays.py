"""The items of a JSON array one by one, however long the array is, and whether or not it has line ends.

Exports are often one line of hundreds of megabytes, so that neither lines nor the whole file can be the unit. A file of
objects one after the other (JSON Lines) is read alike.
"""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.encodings import check_mark
from weft.formats.jsonl import check_value, decoder
from weft.formats.streams import LONGEST, encoding_error, is_utf8, raw_blocks, recoded, told_encoding

_BLANKS = " \t\n\r"
#: A fault this near the end of what is read so far may be one of the end: a value that is cut.
_NEAR = 16


def array_items(path: str, encoding: str = "utf-8") -> Iterator[tuple[int, Any]]:
    """The items of an array, or of a file of values, each with the line on which it begins.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = os.path.join(folder, "tasks.json")
    ...     _ = open(place, "w").write('[{"id": 1},\\n {"id": 2}]')
    ...     list(array_items(place))
    [(1, {'id': 1}), (2, {'id': 2})]
    """
    text = _Text(path, encoding)
    in_array = text.next_mark() == "["
    if in_array:
        text.skip(1)
    first = True
    while mark := text.next_mark():
        if in_array and mark == "]":
            text.skip(1)
            if text.next_mark():
                raise text.fault("nothing after the end of the array")
            return
        if in_array and not first:
            if mark != ",":
                raise text.fault('"," or "]" after an item of the array')
            text.skip(1)
            text.next_mark()
        first = False
        line = text.line
        yield line, text.value()
    if in_array:
        raise text.fault('"]" at the end of the array', "the end of the file")


class _Text:
    """The text of a file that has been read but not yet used, and the line at which it stands."""

    def __init__(self, path: str, encoding: str) -> None:
        self.path, self.line = path, 1
        self._pieces = _decoded(path, encoding)
        self._held, self._at, self._ended = "", 0, False

    def next_mark(self) -> str:
        """The next character that is no blank, "" at the end of the file; it is not used."""
        while True:
            while self._at < len(self._held):
                letter = self._held[self._at]
                if letter not in _BLANKS:
                    return letter
                self.line += letter == "\n"
                self._at += 1
            if not self._more():
                return ""

    def skip(self, count: int) -> None:
        self._at += count

    def value(self) -> Any:
        """The value that begins here."""
        self._held, self._at = self._held[self._at :], 0
        while True:
            try:
                value, end = decoder.raw_decode(self._held)
            except RecursionError:
                raise self.fault("a document", "lists or objects that are nested too deep") from None
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos + _NEAR >= len(self._held)
                if cut and self._more(len(self._held)):
                    continue
                self.line += self._held.count("\n", 0, error.pos)
                raise self.fault("a document in JSON", f"text that is not JSON ({error.msg})") from error
            except ValueError as error:
                raise self.fault("a document in JSON", f"text that is not JSON ({error})") from error
            if end == len(self._held) and self._held[-1] not in '}]"' and self._more():  # a number may go on
                continue
            try:
                check_value(value, self._held[:end])
            except (ValueError, WeftError) as error:
                raise self.fault("a document in JSON", f"a value that is not text ({error})") from error
            self.line += self._held.count("\n", 0, end)
            self._at = end
            return value

    def fault(self, expected: str, found: str = "") -> FormatError:
        found = found or repr(self._held[self._at : self._at + 40])
        return FormatError(self.path, self.line, expected, found)

    def _more(self, least: int = 1) -> bool:
        """Read on, at least as much as is held, so that a long value is not decoded too often."""
        if self._ended:
            return False
        pieces, size = [self._held[self._at :]], 0
        if len(pieces[0]) > LONGEST:
            raise self.fault(f"a document of at most {LONGEST:,} characters", "more without an end")
        self._at = 0
        while size < least:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
                break
            pieces.append(piece)
            size += len(piece)
        self._held = "".join(pieces)
        return size > 0


def _decoded(path: str, encoding: str) -> Iterator[str]:
    """The text of a file in pieces, without a byte-order mark."""
    encoding = told_encoding(path, encoding)
    blocks = check_mark(path, raw_blocks(path)) if is_utf8(encoding) else recoded(path, encoding)
    decode = getincrementaldecoder("utf-8-sig")()
    line = 1
    for block in blocks:
        try:
            text = decode.decode(block)
        except UnicodeDecodeError as error:
            whole = bytes(error.object)
            raise encoding_error(path, line + whole.count(b"\n", 0, error.start), whole[error.start]) from error
        line += text.count("\n")
        yield text
    try:
        decode.decode(b"", True)
    except UnicodeDecodeError as error:
        raise encoding_error(path, line, bytes(error.object)[error.start]) from error
