"""Catalogues in XLIFF 1.2 and 2.x: segments of a file with their translations, where there are any yet.

    <trans-unit id="7" approved="no"><source>Save</source><target state="new"></target></trans-unit>     1.2
    <unit id="7"><segment><source>Save</source><target>Guardar</target></segment></unit>                 2.x

A translation is confirmed if the unit is approved, or its state is one of the confirmed ones; others are fuzzy.
`fill_xliff` writes suggestions into a copy of a file and leaves every other byte as it is. In version 1.2 a suggestion
has the state `needs-review-translation`, in version 2 its segment keeps the state `initial`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from weft.errors import DataError, FormatError
from weft.formats.memories.segments import Codes, SegmentReader
from weft.formats.memories.units import FUZZY, NEW, TRANSLATED, Suggestion, TranslationUnit, escaped, with_codes
from weft.formats.streams import open_output, raw_blocks
from weft.formats.xml.reader import Attributes

_CONFIRMED = ("translated", "signed-off", "final", "reviewed")


class _Place(NamedTuple):
    """Where the translation of a unit stands, or would stand, in the bytes of the file."""

    unit: TranslationUnit
    begin: int
    end: int
    version: str
    prefix: str  #: of the names of elements


def read_xliff(path: str) -> Iterator[TranslationUnit]:
    """The units of a catalogue."""
    for place in _places(path, b"".join(raw_blocks(path))):
        yield place.unit


def fill_xliff(path: str, out: str, suggestions: Mapping[str, Suggestion]) -> int:
    """Copy a catalogue with suggestions, by the ids of units, and return how many were written.

    A translation that is there already stays, fuzzy or not.
    """
    data = b"".join(raw_blocks(path))
    pieces, at, count = [], 0, 0
    for place in _places(path, data):
        found = suggestions.get(place.unit.id)
        if found is None or place.unit.state != NEW or not found.target:
            continue
        text = with_codes(found.target, place.unit.codes)
        state = ""
        if place.version.startswith("1"):
            state = ' state="needs-review-translation"' if found.fuzzy else ' state="translated"'
        note = f"<!-- {escaped(found.origin).replace('--', '- -')} -->" if found.origin else ""
        pieces += [data[at : place.begin], f"<{place.prefix}target{state}>{text}</{place.prefix}target>{note}".encode()]
        at = place.end
        count += 1
    with open_output(out) as file:
        file.write(b"".join([*pieces, data[at:]]))
    return count


def _places(path: str, data: bytes) -> list[_Place]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(path, 1, "XLIFF in UTF-8", "UTF-16", "Convert it first, for example with iconv")
    reader = _Reader(path, data)
    reader.feed(data, last=True)
    if not reader.version:
        raise DataError(f"{path} is empty; expected a catalogue in XLIFF")
    return reader.places


class _Reader(SegmentReader):
    def __init__(self, path: str, data: bytes) -> None:
        super().__init__(path)
        self.data = data
        self.version = ""
        self.places: list[_Place] = []
        self._known: set[str] = set()
        self._file = self._id = self._state = self._note = self._source = self._target = ""
        self._confirmed, self._apart, self._in_note = False, 0, False
        self._begin = self._end = self._segment = 0
        self._unit_line = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        tag = tag.rpartition(":")[2]
        if not self.version:
            if tag != "xliff":
                self.fault("a catalogue, <xliff>", f"<{tag[:40]}>")
            self.version = attributes.get("version", "1.2")
        if self.in_segment:
            self.start_inline(tag, attributes)
        elif self._apart or tag in ("alt-trans", "matches", "seg-source"):
            self._apart += 1
        elif tag == "file":
            self._file = attributes.get("original", attributes.get("id", ""))
        elif tag in ("trans-unit", "unit"):
            self._id, self._note, self._segment = attributes.get("id", ""), "", 0
            self._confirmed = attributes.get("approved") == "yes"
            self._reset()
        elif tag == "segment":
            self._reset()
            self._segment += 1
            self._confirmed = attributes.get("state", "initial") in _CONFIRMED
        elif tag in ("source", "target"):
            if tag == "source":
                self.codes = Codes()
            else:
                self._begin = self._index()
                self._state = attributes.get("state", "")
            self.open_segment()
        elif tag == "note":
            self._in_note = True

    def end(self, tag: str) -> None:
        prefix = tag[: len(tag) - len(tag.rpartition(":")[2])]
        tag = tag.rpartition(":")[2]
        if self._apart:
            self._apart -= 1
        elif self.in_segment and tag not in ("source", "target"):
            self.end_inline(tag)
        elif tag == "source":
            self._source = self.close_segment()
            self._begin = self._end = self._after()
        elif tag == "target":
            self._target = self.close_segment()
            self._end = self._after()
        elif tag == "note":
            self._in_note = False
        elif tag == ("segment" if self.version.startswith("2") else "trans-unit"):
            self._finish(prefix)

    def characters(self, text: str) -> None:
        if self._in_note:
            self._note += text
        if not self._apart:
            super().characters(text)

    def _reset(self) -> None:
        self._source = self._target = self._state = ""
        self._begin = self._end = 0
        self._unit_line = self.line

    def _index(self) -> int:
        found: int = self.parser.CurrentByteIndex
        return found

    def _after(self) -> int:
        """The place after the element that ends; the parser is at its last tag, or after an element of one tag."""
        at = self._index()
        return self.data.index(b">", at) + 1 if self.data[at : at + 2] == b"</" else at

    def _finish(self, prefix: str) -> None:
        if not self._source.strip():
            return
        parts = [self._file, self._id, str(self._segment) if self._segment > 1 else ""]
        name = "/".join(part for part in parts if part)
        if name in self._known:
            self.fault("ids of units that differ within a file", f"{name[:60]!r} twice")
        self._known.add(name)
        confirmed = self._confirmed or self._state in _CONFIRMED
        state = NEW if not self._target.strip() else TRANSLATED if confirmed else FUZZY
        unit = TranslationUnit(
            self._source, self._target, name, state, self._note.strip(), self._unit_line, self.codes.of_placeholder
        )
        self.places.append(_Place(unit, self._begin, self._end, self.version, prefix))
