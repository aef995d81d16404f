"""Catalogues of gettext, PO files: messages with their translations, references and flags.

They are read and written by the library polib (extra `translate`). A suggestion is written with the flag `fuzzy`, as
gettext marks a translation that nobody has confirmed; what is translated already, fuzzy or not, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weft.errors import ConfigError, FormatError
from weft.formats.memories.units import FUZZY, NEW, TRANSLATED, Suggestion, TranslationUnit
from weft.formats.streams import open_output, read_text

_LINE = re.compile(r"\(line (\d+)\)")


def read_po(path: str) -> Iterator[TranslationUnit]:
    """The messages of a catalogue; of a message with plural forms, the singular one and the first plural one."""
    for entry in _messages(_catalogue(path)):
        yield from _units(entry)


def fill_po(path: str, out: str, suggestions: Mapping[str, Suggestion]) -> int:
    """Copy a catalogue with suggestions, by the ids of units, and return how many were written."""
    catalogue, count = _catalogue(path), 0
    for entry in _messages(catalogue):
        for number, unit in enumerate(_units(entry)):
            found = suggestions.get(unit.id)
            if found is None or unit.state != NEW or not found.target:
                continue
            count += 1
            if entry.msgid_plural:
                forms = entry.msgstr_plural
                for form in [0] if number == 0 else [form for form in sorted(forms) if form > 0] or [1]:
                    forms[form] = forms.get(form) or found.target
            else:
                entry.msgstr = found.target
            if found.fuzzy:
                if "fuzzy" not in entry.flags:
                    entry.flags.append("fuzzy")
                if found.previous and not entry.msgid_plural:
                    entry.previous_msgid = found.previous
            if found.origin:
                entry.tcomment = "\n".join(line for line in (entry.tcomment, found.origin) if line)
    with open_output(out) as file:
        file.write(f"{catalogue}".encode())
    return count


def _catalogue(path: str) -> Any:
    try:
        import polib
    except ImportError:
        raise ConfigError("reading PO files needs polib: pip install weft[translate]") from None
    text = read_text(path)
    if "\0" in text:
        raise FormatError(path, text.count("\n", 0, text.index("\0")) + 1, "a PO file", "a null character")
    if not text.strip():
        raise FormatError(path, None, "a PO file with msgid and msgstr", "an empty file")
    try:
        # The parser takes a name or a text; a text of several lines is no name.
        return polib.pofile(text.rstrip("\n") + "\n\n", wrapwidth=78)
    except (OSError, ValueError, IndexError, KeyError, AttributeError, TypeError, UnicodeError) as error:
        line = _LINE.search(str(error))
        number = int(line[1]) if line else None
        raise FormatError(path, number, "a PO file with msgid and msgstr", "a fault in its syntax") from error


def _messages(catalogue: Any) -> list[Any]:
    return [entry for entry in catalogue if not entry.obsolete and entry.msgid]


def _units(entry: Any) -> Iterator[TranslationUnit]:
    name = f"{entry.msgctxt}\4{entry.msgid}" if entry.msgctxt is not None else entry.msgid
    note = entry.comment
    if not entry.msgid_plural:
        yield TranslationUnit(entry.msgid, entry.msgstr, name, _state(entry, entry.msgstr), note, entry.linenum or 0)
        return
    forms = entry.msgstr_plural
    plural = next((forms[form] for form in sorted(forms) if form > 0), "")
    for text, target, one in ((entry.msgid, forms.get(0, ""), name), (entry.msgid_plural, plural, f"{name}\0plural")):
        yield TranslationUnit(text, target, one, _state(entry, target), note, entry.linenum or 0)


def _state(entry: Any, target: str) -> str:
    return NEW if not target else FUZZY if "fuzzy" in entry.flags else TRANSLATED
