"""Shared parts of commands: types of options, and output of tables, JSON and reports."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

#: Headings of options in the help of all commands.
DATA, MODEL, SETTINGS, READING, RUNNING = "Data", "Model", "Settings", "Reading", "Running"


def option(
    *flags: str, help: str, metavar: str | None = None, panel: str | None = None, shown: str = "", **more: Any
) -> Any:
    """A Typer option; `shown` is the default that its help displays."""
    if shown:
        more["show_default"] = shown
    return typer.Option(*flags, help=help, metavar=metavar, rich_help_panel=panel, **more)


def known_models(incomplete: str) -> list[str]:
    """Names of models and model files, for shell completion.

    >>> "en" in known_models("e")
    True
    """
    from weft.pipeline.models import SUFFIX, available

    folder, _, _ = incomplete.rpartition("/")
    beside = sorted(path.name for path in Path(folder or ".").glob(f"*{SUFFIX}"))
    names = [*sorted(available()), *(f"{folder}/{name}" if folder else name for name in beside)]
    return [name for name in names if name.startswith(incomplete)]


JsonFlag = Annotated[bool, option("--json", panel=RUNNING, help="Print JSON instead of tables.")]
Seed = Annotated[int, option("--seed", panel=RUNNING, help="Random seed.")]
Workers = Annotated[int, option("--workers", panel=RUNNING, min=1, help="Number of threads.")]
Scheduler = Annotated[
    str | None,
    option("--scheduler", metavar="ADDRESS", panel=RUNNING, help="Dask scheduler whose workers do the work."),
]
DataFolder = Annotated[
    Path | None, option("--data", metavar="FOLDER", help="Folder of the corpora.", shown="$WEFT_DATA")
]
ModelFile = Annotated[Path, option("--out", "-o", metavar="MODEL", panel=MODEL, help="Model file to write.")]
ModelName = Annotated[str, option("--name", panel=MODEL, help="Name of the model.", shown="the file's name")]
Licence = Annotated[str, option("--licence", panel=MODEL, help="Licence of the model.", shown="not stated")]
CorpusNames = Annotated[
    list[str] | None,
    option(
        "--corpus", metavar="NAME", panel=MODEL, help="Training corpus, for the model's header; repeat.",
        shown="the files' names",
    ),
]  # fmt: skip
Models = Annotated[
    list[Path] | None,
    option(
        "--model", "-m", metavar="MODEL", help="Model to apply, by name or file; repeat for several, in order.",
        autocompletion=known_models,
    ),
]  # fmt: skip
Aligner = Annotated[
    Path | None,
    option("--aligner", metavar="FILE", help="Aligner to use, as `weft align --save` writes it.", shown="trained here"),
]
DevFile = Annotated[Path | None, option("--dev", metavar="FILE", panel=DATA, help="Labelled data to choose on.")]
TestFile = Annotated[Path | None, option("--test", metavar="FILE", panel=DATA, help="Labelled data to score on.")]
OutputFile = Annotated[Path, option("--out", "-o", metavar="FILE", help="File to write.")]


def console(stderr: bool = False) -> Console:
    """A Rich console on standard output, or on standard error for anything but the result."""
    from rich.console import Console

    shown = Console(stderr=stderr, highlight=False)
    if not shown.is_terminal and "COLUMNS" not in os.environ:
        shown.width = 120  # a file or a pipe has no width; do not squeeze tables into 80 columns
    return shown


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=plain) + "\n")


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], figures: Sequence[int] = ()) -> None:
    """Print a table; `figures` are the columns to right-align. A header of empty names is not shown."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", show_header=any(header))
    for i, name in enumerate(header):
        table.add_column(name, justify="right" if i in figures else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    console().print(table)


def counted(count: int, name: str) -> str:
    """A count with its noun, in the plural unless the count is 1.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def read_pairs(flag: str, text: str) -> dict[str, str]:
    """Parse the NAME=VALUE pairs of an option.

    >>> read_pairs("--sources", "en=a.conll,es=b.conll")
    {'en': 'a.conll', 'es': 'b.conll'}
    >>> read_pairs("--sources", "a.conll")
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: --sources is written NAME=VALUE,NAME=VALUE, not 'a.conll'
    """
    pairs = [item.partition("=") for item in text.split(",") if item]
    if not pairs or not all(name and sign and value for name, sign, value in pairs):
        raise ConfigError(f"{flag} is written NAME=VALUE,NAME=VALUE, not {text!r}")
    names = [name for name, _, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{flag} names {twice!r} twice")
    return {name: value for name, _, value in pairs}


def flat(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The numbers of a report, including nested ones; lists are only part of `--json`."""
    rows: list[tuple[str, str]] = []
    for name, value in report.items():
        shown = name.replace("_", " ")
        if isinstance(value, dict):
            rows += flat(value)
        elif isinstance(value, float):
            rows.append((shown, f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"))
        elif not isinstance(value, list | tuple):
            rows.append((shown, f"{value:,}" if isinstance(value, int) else str(value)))
    return rows


def print_report(title: str, report: dict[str, Any], as_json: bool) -> None:
    """Print the report of a command as JSON, or its numbers as a table."""
    if as_json:
        print_json(report)
    else:
        print_table(title, ["", ""], flat(report), figures=[1])


def plain(value: Any) -> Any:
    """Convert values that JSON does not support: NumPy numbers and arrays to plain ones, anything else to text.

    >>> from pathlib import PurePosixPath
    >>> plain(PurePosixPath("results/demo.txt"))
    'results/demo.txt'
    """
    return value.tolist() if hasattr(value, "tolist") else str(value)


def short_path(path: Path) -> Path:
    """A path relative to the current folder, if it is below it.

    >>> short_path(Path.cwd() / "results").as_posix()
    'results'
    """
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
