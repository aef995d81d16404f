"""What commands share: option types, where tables and JSON go, `key=value` settings."""

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

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int, typer.Option("--seed", help="Start of all random choices.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Threads to work with.")]
DataFolder = Annotated[
    Path | None, typer.Option("--data", metavar="FOLDER", help="Folder of the corpora.", show_default="$WEFT_DATA")
]


def console(stderr: bool = False) -> Console:
    """A Rich console on standard output, or on standard error for what is not the result."""
    from rich.console import Console

    shown = Console(stderr=stderr, highlight=False)
    if not shown.is_terminal and "COLUMNS" not in os.environ:
        shown.width = 120  # a file or a pipe has no width; tables there need not be squeezed into 80 columns
    return shown


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=plain) + "\n")


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], figures: Sequence[int] = ()) -> None:
    """Print a table; `figures` are the columns to set to the right. A header of empty names is not shown."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", show_header=any(header))
    for i, name in enumerate(header):
        table.add_column(name, justify="right" if i in figures else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    console().print(table)


def counted(count: int, name: str) -> str:
    """A number of things.

    >>> counted(1, "document"), counted(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings written as `key=value`; values are read as JSON where they can be, else as text.

    >>> settings(["order=2", "sigma=1.5", "scheme=BIOES", "supported=true"])
    {'order': 2, 'sigma': 1.5, 'scheme': 'BIOES', 'supported': True}
    >>> settings(["order"])
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: a setting is written key=value, not 'order'
    """
    chosen: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise ConfigError(f"a setting is written key=value, not {pair!r}")
        try:
            chosen[key.strip()] = json.loads(value)
        except ValueError:
            chosen[key.strip()] = value.strip()
    return chosen


def plain(value: Any) -> Any:
    """What JSON has no word for: NumPy numbers and arrays as plain ones, anything else as text.

    >>> from pathlib import PurePosixPath
    >>> plain(PurePosixPath("results/demo.txt"))
    'results/demo.txt'
    """
    return value.tolist() if hasattr(value, "tolist") else str(value)


def short_path(path: Path) -> Path:
    """A path as seen from the current folder, if it is below it.

    >>> short_path(Path.cwd() / "results").as_posix()
    'results'
    """
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
