"""Memories and catalogues by their suffix: `.tmx`, `.xlf` or `.xliff`, `.po` or `.pot`, `.tsv`, and bitexts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from weft.errors import ConfigError, DataError, FormatError
from weft.formats.memories.po import fill_po, read_po
from weft.formats.memories.tmx import read_tmx, write_tmx
from weft.formats.memories.units import TRANSLATED, Suggestion, TranslationUnit
from weft.formats.memories.xliff import fill_xliff, read_xliff
from weft.formats.streams import numbered_lines, open_output

PathLike = str | os.PathLike[str]
SUFFIXES = {".tmx": "tmx", ".xlf": "xliff", ".xliff": "xliff", ".po": "po", ".pot": "po", ".tsv": "tsv"}
CATALOGUES = ("xliff", "po")


def kind_of(path: PathLike) -> str:
    """The kind of a translator's file: tmx, xliff, po, tsv, or text for all others.

    >>> kind_of("manual.tmx.gz"), kind_of("es/library.po"), kind_of("lines.txt")
    ('tmx', 'po', 'text')
    """
    base = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1].lower()
    return SUFFIXES.get(base, "text")


def read_units(path: PathLike, source: str = "", target: str = "") -> Iterator[TranslationUnit]:
    """The units of a file, read lazily where the format allows it.

    A `.tsv` file has two columns, source and target; other files have lines of text or of `source ||| target`.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "menu.tsv").write_text("Save\\tGuardar\\n")
    ...     [(unit.source, unit.target) for unit in read_units(f"{folder}/menu.tsv")]
    [('Save', 'Guardar')]
    """
    name = os.fspath(path)
    kind = kind_of(name)
    if kind == "tmx":
        return read_tmx(name, source, target)
    if kind == "xliff":
        return read_xliff(name)
    return read_po(name) if kind == "po" else _lines(name, "\t" if kind == "tsv" else "|||")


def read_memory(path: PathLike, source: str = "", target: str = "") -> Iterator[TranslationUnit]:
    """The confirmed translations of a file."""
    found = (unit for unit in read_units(path, source, target) if unit.state == TRANSLATED)
    first = list(islice(found, 1))
    if not first:
        raise DataError(f"{os.fspath(path)} has no confirmed translations; expected a memory such as TMX, PO or XLIFF")
    yield from first
    yield from found


def write_memory(units: Iterable[TranslationUnit], path: PathLike, source: str = "", target: str = "") -> int:
    """Write a translation memory, TMX or two columns, and return the number of its units."""
    name = os.fspath(path)
    kind = kind_of(name)
    if kind == "tmx":
        if not source or not target:
            raise ConfigError("TMX names its languages: give those of source and target, such as en and es")
        return write_tmx(units, name, source, target)
    if kind != "tsv":
        raise ConfigError(f"{name}: a memory is written as .tmx or .tsv")
    count = 0
    with open_output(name) as file:
        for unit in units:
            if unit.target:
                file.write(f"{' '.join(unit.source.split())}\t{' '.join(unit.target.split())}\n".encode())
                count += 1
    return count


def fill(path: PathLike, out: PathLike, suggestions: Mapping[str, Suggestion]) -> int:
    """Copy a catalogue with suggestions for its units without a translation; returns how many were written."""
    name, kind = os.fspath(path), kind_of(path)
    if kind_of(out) != kind or kind not in CATALOGUES:
        raise ConfigError(f"{os.fspath(out)}: a copy of {name} with suggestions has the same format, XLIFF or PO")
    return (fill_xliff if kind == "xliff" else fill_po)(name, os.fspath(out), suggestions)


def _lines(path: str, separator: str) -> Iterator[TranslationUnit]:
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.rstrip("\r").split(separator)]
        if len(cells) > 2 or (separator == "\t" and len(cells) < 2):
            raise FormatError(path, number, "source and target, separated once", f"{len(cells)} columns")
        yield TranslationUnit(cells[0], cells[1] if len(cells) == 2 else "", str(number), line=number)
