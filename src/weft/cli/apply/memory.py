"""`weft translate FILE --memory MEMORY`: fuzzy matches, and translations that consult them for every phrase."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer


def translate_with_memory(
    file: str, model: Path | None, memory: Sequence[Path], out: str, least: float, languages: tuple[str, str] | None,
    beam: int | None, trace: bool, as_json: bool,
) -> None:  # fmt: skip
    """Suggest translations for the segments of a file that have none yet."""
    from weft.errors import ConfigError
    from weft.formats.memories.doors import CATALOGUES, fill, kind_of, read_units
    from weft.formats.memories.units import NEW, TranslationUnit
    from weft.formats.streams import STANDARD, open_output
    from weft.progress import progress
    from weft.tasks.memory.memory import TranslationMemory
    from weft.tasks.memory.walk import MemoryTranslator
    from weft.tasks.translation.translator import Translator

    source, target = languages or ("", "")
    entries = TranslationMemory.read(memory, source, target)
    translator = None
    if model is not None:
        translator = Translator.load(model)
        if beam is not None:
            translator.set_beam(beam)
    units: list[TranslationUnit] = list(read_units(file, source, target))
    kind = kind_of(file)
    if out != STANDARD and kind_of(out) in CATALOGUES and kind_of(out) != kind:
        raise ConfigError(f"{out}: a copy of {file} with suggestions has the same format, XLIFF or PO")
    suggests = MemoryTranslator(entries, translator, least=least)
    fresh = [unit for unit in units if unit.state == NEW]
    proposals = []
    with progress("segments", len(fresh), "segments") as bar:
        for unit in fresh:
            proposals.append(suggests.propose(unit))
            bar.advance(1)
    counts = Counter(proposal.kind for proposal in proposals)
    if out != STANDARD and kind in CATALOGUES:
        made = {each.unit.id: found for each in proposals if (found := each.suggestion()) is not None}
        written = fill(file, out, made)
        _tell(f"{written:,} suggestions in {out}; {len(units) - len(fresh):,} segments had a translation already")
    elif as_json or trace or kind in CATALOGUES or translator is None:
        lines = [json.dumps(each.record(), ensure_ascii=False) if as_json else each.trace() for each in proposals]
        with open_output(out) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())
    else:
        said = {each.unit.line: each.target for each in proposals}  # empty lines stay empty
        with open_output(out) as stream:
            stream.write("".join(f"{said.get(line, '')}\n" for line in range(1, max(said, default=0) + 1)).encode())
    _tell(
        ", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items())) or "no segments without translation"
    )
    for band, (segments, words) in entries.statistics([unit.source for unit in fresh]).items():
        if segments:
            _tell(f"{band:>9}: {segments:,} segments, {words:,} words")


def _tell(message: str) -> None:
    typer.echo(f"weft: {message}", err=True)
    sys.stderr.flush()
