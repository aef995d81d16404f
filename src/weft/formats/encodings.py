"""Encodings of text files: a named one, or `auto`, which tells it from the bytes of each file.

auto            a byte-order mark names UTF-8, UTF-16 or UTF-32; else UTF-16 if every other byte is NUL, as in English
                text; else UTF-8 if all bytes are valid; else Windows-1252
auto:latin-1    the same, with another encoding for files that are not UTF-8

A file that looks like UTF-16 is refused where UTF-8 is expected, with or without a mark (`check_mark`). Raw text has no
NUL characters: a file that has them is binary, whatever encoding is named (`binary_error`).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from weft.errors import DataError, FormatError

AUTO = "auto"
#: The encoding of files that are not UTF-8 and have no byte-order mark.
FALLBACK = "cp1252"
#: Byte-order marks, those of UTF-32 first, because that of UTF-16 begins like one of them.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: The encodings that NUL bytes tell.
UNMARKED = ("utf-16-le", "utf-16-be")
#: UTF-16 without a mark is told from this many bytes, of which this share is NUL on one side; decoded, this share of
#: characters is letters and digits.
_LOOKED, _ZEROS, _LETTERS = 4096, 0.3, 0.3


def is_utf8(encoding: str) -> bool:
    """Whether an encoding name means UTF-8."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def is_auto(encoding: str) -> bool:
    """Whether the encoding is to be told from the bytes of each file."""
    return encoding.partition(":")[0].lower() == AUTO


def check_encoding(encoding: str) -> None:
    """Check that there is a text encoding of that name."""
    name = fallback_of(encoding) if is_auto(encoding) else encoding
    try:
        "".encode(name)  # codecs that are no encodings of text are refused here
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError) as error:
        raise DataError(f"there is no encoding {name!r}; try auto, latin-1, cp1252, utf-16 ...") from error


def fallback_of(encoding: str) -> str:
    """The encoding that `auto` takes for files that are not UTF-8.

    >>> fallback_of("auto"), fallback_of("auto:koi8-r")
    ('cp1252', 'koi8-r')
    """
    return encoding.partition(":")[2] or FALLBACK


def encoding_of(path: str, blocks: Iterable[bytes], encoding: str) -> str:
    """The encoding of a file, told from its bytes if `encoding` is `auto`.

    >>> encoding_of("a.txt", ["Zoë".encode()], "auto"), encoding_of("a.txt", ["Zoë".encode("utf-16")], "auto")
    ('utf-8', 'utf-16')
    >>> encoding_of("a.txt", ["Zoë".encode("latin-1")], "auto")
    'cp1252'
    """
    if not is_auto(encoding):
        return encoding
    check_encoding(encoding)
    decoder = codecs.getincrementaldecoder("utf-8")()
    chosen, begun, binary = "utf-8", False, False
    for block in blocks:
        if not begun and (marked := marked_encoding(block) or unmarked_utf16(block)):
            return marked
        begun, binary = True, binary or b"\0" in block
        chosen = chosen if chosen != "utf-8" or _goes_on(decoder, block) else fallback_of(encoding)
    if chosen == "utf-8" and not _goes_on(decoder, b"", final=True):
        chosen = fallback_of(encoding)
    if binary and chosen != "utf-8":
        raise binary_error(path)
    return chosen


def _goes_on(decoder: codecs.IncrementalDecoder, block: bytes, final: bool = False) -> bool:
    """Whether bytes are valid after those that a decoder has seen."""
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def marked_encoding(start: bytes) -> str:
    """The encoding that a byte-order mark names, "" if there is none."""
    return next((name for mark, name in _MARKS if start.startswith(mark)), "")


def unmarked_utf16(start: bytes) -> str:
    """UTF-16 without a byte-order mark, by the NUL bytes of a file's start: they are half of each letter of a language
    with few letters, and on one side only; "" if it does not look like that.

    >>> unmarked_utf16("Dogs bark.".encode("utf-16-le")), unmarked_utf16(b"Dogs bark."), unmarked_utf16(b"\\0\\0\\0\\0")
    ('utf-16-le', '', '')
    """
    looked = start[:_LOOKED]
    even, odd = looked[::2].count(0), looked[1::2].count(0)
    for name, zeros, others in zip(UNMARKED, (odd, even), (even, odd), strict=True):
        if zeros > len(looked) * _ZEROS and not others:
            text = looked.decode(name, "ignore")
            return name if sum(map(str.isalnum, text)) > len(text) * _LETTERS else ""
    return ""


def binary_error(path: str) -> FormatError:
    """The error for a file of raw text that contains NUL."""
    hint = "If it is text in UTF-16, name it: --encoding utf-16"
    return FormatError(path, None, "text", "NUL bytes, as in a picture or another binary file", hint)


def check_mark(path: str, blocks: Iterable[bytes], first: bool = True) -> Iterator[bytes]:
    """The bytes of a file, or of a part of it that may not be the first, that should be UTF-8; a byte-order mark of
    another encoding raises an error, and so does UTF-16 without one."""
    begun = False
    for block in blocks:
        if not begun and not is_utf8(marked_encoding(block) or "utf-8"):
            raise encoding_error(path, 1, block[0])
        if not begun and first and (unmarked := unmarked_utf16(block)):
            found = "a NUL byte in every other place, as in UTF-16"
            raise FormatError(path, 1, "UTF-8 text", found, f"If it is UTF-16, name it: --encoding {unmarked}")
        begun = True
        yield block


def encoding_error(path: str, line: int, byte: int, encoding: str = "utf-8") -> FormatError:
    """The error for a byte that is invalid in the encoding."""
    name = "UTF-8" if is_utf8(encoding) else encoding
    likely = "utf-16" if line == 1 and byte in (0xFE, 0xFF) else "latin-1"
    hint = (
        f"If the file has another encoding, name it: --encoding {likely} (in Python encoding={likely!r}); --encoding "
        "auto tells it file by file"
    )
    return FormatError(path, line, f"{name} text", f"the byte 0x{byte:02x}", hint)
