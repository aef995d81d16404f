"""Translation memories in TMX 1.4: every `tu` holds the same segment in several languages.

    <tmx version="1.4"><header .../><body>
    <tu tuid="1"><note>menu</note>
      <tuv xml:lang="en"><seg>Save the file.</seg></tuv><tuv xml:lang="es"><seg>Guarde el archivo.</seg></tuv>
    </tu></body></tmx>

Languages match by their beginning, so `es` reads `es-MX`, too. A unit without one of the two is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weft.errors import DataError
from weft.formats.memories.segments import Codes, SegmentReader
from weft.formats.memories.units import TranslationUnit, attribute, escaped, with_codes
from weft.formats.streams import open_output, raw_blocks
from weft.formats.xml.reader import Attributes


def read_tmx(path: str, source: str = "", target: str = "") -> Iterator[TranslationUnit]:
    """The units of a memory in two languages; without names, the header's source language and the only other one."""
    reader = _Reader(path, source, target)
    for block in raw_blocks(path):
        reader.feed(block)
        yield from reader.taken()
    reader.feed(b"", last=True)
    yield from reader.taken()
    if not reader.n_units:
        raise DataError(f"{path} has no translation units (<tu>); expected a translation memory in TMX")
    if not reader.n_read:
        wanted = f"{source or 'the source language'} and {target or 'another language'}"
        raise DataError(f"{path} has no units in {wanted}; its languages are {', '.join(sorted(reader.languages))}")


class _Reader(SegmentReader):
    def __init__(self, path: str, source: str, target: str) -> None:
        super().__init__(path)
        self.source, self.target = source.lower(), target.lower()
        self.languages: set[str] = set()
        self.n_units = self.n_read = 0
        self._units: list[TranslationUnit] = []
        self._variants: list[tuple[str, str]] = []
        self._language, self._id, self._note, self._line = "", "", "", 0
        self._in_note = self._root = False

    def taken(self) -> list[TranslationUnit]:
        """The units since the last call."""
        found, self._units = self._units, []
        return found

    def start(self, tag: str, attributes: Attributes) -> None:
        if not self._root and tag != "tmx":
            self.fault("a translation memory, <tmx>", f"<{tag[:40]}>")
        self._root = True
        if self.in_segment:
            self.start_inline(tag, attributes)
        elif tag == "header":
            named = attributes.get("srclang", "")
            self.source = self.source or ("" if named == "*all*" else named.lower())
        elif tag == "tu":
            self._variants, self.codes, self._line = [], Codes(), self.line
            self._id, self._note = attributes.get("tuid", ""), ""
        elif tag == "tuv":
            self._language = attributes.get("xml:lang", attributes.get("lang", "")).lower()
            if not self._language:
                self.fault("a language, xml:lang, of every <tuv>", "none")
            self.languages.add(self._language)
        elif tag == "seg":
            self.open_segment()
        elif tag == "note":
            self._in_note = True

    def end(self, tag: str) -> None:
        if self.in_segment and tag != "seg":
            self.end_inline(tag)
        elif tag == "seg":
            self._variants.append((self._language, self.close_segment()))
        elif tag == "note":
            self._in_note = False
        elif tag == "tu":
            self._finish()

    def characters(self, text: str) -> None:
        if self._in_note:
            self._note += text
        super().characters(text)

    def _finish(self) -> None:
        self.n_units += 1
        source = self.source or (self._variants[0][0] if self._variants else "")
        ours = [text for language, text in self._variants if _is(language, source)]
        others = [
            text
            for language, text in self._variants
            if (_is(language, self.target) if self.target else not _is(language, source))
        ]
        if ours and others and ours[0].strip() and others[0].strip():
            self.n_read += 1
            unit = TranslationUnit(
                ours[0], others[0], self._id or str(self.n_units), note=self._note.strip(), line=self._line,
                codes=self.codes.of_placeholder,
            )  # fmt: skip
            self._units.append(unit)


def _is(language: str, wanted: str) -> bool:
    """Whether a language is the one that is wanted, or a variety of it.

    >>> _is("es-mx", "es"), _is("es", "es-mx"), _is("est", "es")
    (True, True, False)
    """
    return language == wanted or language.startswith(f"{wanted}-") or wanted.startswith(f"{language}-")


def write_tmx(units: Iterable[TranslationUnit], path: str, source: str, target: str) -> int:
    """Write a memory of all units that have a translation, and return their number."""
    count = 0
    header = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        f'<header creationtool="Weft" creationtoolversion="1" segtype="sentence" o-tmf="Weft" adminlang="en" '
        f'srclang={attribute(source)} datatype="plaintext"/>\n<body>\n'
    )
    with open_output(path) as file:
        file.write(header.encode())
        for unit in units:
            if not unit.target:
                continue
            count += 1
            name = f" tuid={attribute(unit.id)}" if unit.id else ""
            note = f"<note>{escaped(unit.note)}</note>" if unit.note else ""
            sides = "".join(
                f"<tuv xml:lang={attribute(language)}><seg>{with_codes(text, unit.codes)}</seg></tuv>"
                for language, text in ((source, unit.source), (target, unit.target))
            )
            file.write(f"<tu{name}>{note}{sides}</tu>\n".encode())
        file.write(b"</body>\n</tmx>\n")
    return count
