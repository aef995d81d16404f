"""Read seeds from files and write grown lists to files.

A results folder contains `patterns` and `entities` (tab-separated or JSON lines), best first, and for each class
`CLASS.txt` with one name per line, the format that gazetteers are read from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from weft.errors import ConfigError, DataError, FormatError
from weft.formats.streams import open_output, read_text
from weft.lexical.growth.grow import Entity, Growth, Pattern

FORMATS = ("tsv", "jsonl")


def read_names(path: str | Path) -> list[str]:
    """The names in a file, one per line; `#` at the start of a line begins a comment.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "cities.txt").write_text("# by size\\nYork\\nNew York\\n\\n")
    ...     read_names(Path(folder, "cities.txt"))
    ['York', 'New York']
    """
    lines = [line.strip() for line in read_text(str(path)).splitlines()]
    names = [line for line in lines if line and not line.startswith("#")]
    if not names:
        raise FormatError(str(path), None, "names, one per line", "none")
    return names


def read_seeds(given: Sequence[str]) -> dict[str, list[str]]:
    """Parse seeds given as `CLASS=FILE`; several files for one class are joined.

    >>> read_seeds(["people.txt"])
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: seeds are given as CLASS=FILE, not 'people.txt'
    """
    seeds: dict[str, list[str]] = {}
    for each in given:
        label, sign, path = each.partition("=")
        if not sign or not label or not path:
            raise ConfigError(f"seeds are given as CLASS=FILE, not {each!r}")
        if "/" in label or label in ("patterns", "entities"):
            raise ConfigError(f"the class name {label!r} cannot be a file name; choose another")
        if not Path(path).is_file():
            raise DataError(f"no file {path} with the seeds of {label}")
        seeds.setdefault(label, []).extend(read_names(path))
    return seeds


def write_growth(growth: Growth, folder: str | Path, format: str = "tsv", min_score: int = 1) -> list[Path]:
    """Write patterns, entities and lists into a folder, and return the files.

    Lists contain the seeds and the entities with at least `min_score`; all patterns and entities are written.
    """
    if format not in FORMATS:
        raise ConfigError(f"format must be one of {', '.join(FORMATS)}, but is {format!r}")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = [
        _write_rows(target / f"patterns.{format}", Pattern, growth.patterns),
        _write_rows(target / f"entities.{format}", Entity, growth.entities),
    ]
    for label, names in growth.lists(min_score).items():
        written.append(_write(target / f"{label}.txt", names))
    return written


def _write_rows(path: Path, kind: type[Any], rows: Sequence[Any]) -> Path:
    if path.suffix == ".jsonl":
        return _write(path, [json.dumps(asdict(row), ensure_ascii=False) for row in rows])
    names = [each.name for each in fields(kind)]
    lines = ["\t".join(names)]
    lines += ["\t".join(_cell(getattr(row, name)) for name in names) for row in rows]
    return _write(path, lines)


def _cell(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _write(path: Path, lines: Sequence[str]) -> Path:
    with open_output(str(path)) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    return path
