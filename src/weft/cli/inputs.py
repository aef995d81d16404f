"""What commands read: files, folders and standard input as one stream of documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import counted

if TYPE_CHECKING:
    from weft.formats import Report
    from weft.text import Corpus


def known_formats(incomplete: str) -> list[str]:
    """Names of formats, for the shell.

    >>> known_formats("co")
    ['conllu', 'columns']
    """
    from weft.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def _format_option(flag: str, help: str) -> Any:
    by_name = "by the file's name"
    return typer.Option(flag, metavar="FORMAT", help=help, show_default=by_name, autocompletion=known_formats)


FromFormat = Annotated[str | None, _format_option("--from", "Format to read.")]
ToFormat = Annotated[str | None, _format_option("--to", "Format to write.")]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME", help="Encoding of the files to read.")]
Fields = Annotated[
    str | None,
    typer.Option(
        "--fields",
        metavar="NAMES",
        help="What the columns of the format columns hold, e.g. 'form xpos entities'.",
        show_default="by their number and labels",
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out what cannot be read, and count it.")]


@dataclass
class Inputs:
    """A stream of documents, the formats of its files in order, and what was left out."""

    docs: Corpus
    formats: list[str]
    skip_bad: bool
    report: Report
    size: int | None = None  #: bytes of all files, if that is known
    read: int = 0  #: bytes read so far

    def count(self, n_bytes: int) -> None:
        self.read += n_bytes


def open_inputs(
    paths: Sequence[os.PathLike[str]],
    format: str | None = None,
    skip_bad: bool = False,
    fields: str | None = None,
    encoding: str = "utf-8",
) -> Inputs:
    """Files, globs, all files of folders, and `-` for standard input, as one stream in the order given."""
    from weft.formats import Report, detect, expand, read
    from weft.formats.streams import FilePart
    from weft.text import Corpus

    files = expand(paths, format)
    kinds = [format or detect(file) for file in files]
    inputs = Inputs(Corpus([]), kinds, skip_bad, Report())
    counted_whole = all(os.path.isfile(file) for file in files) and not {"parquet", "brat"} & set(kinds)
    inputs.size = sum(os.path.getsize(file) for file in files) if counted_whole else None
    options = {"fields": fields} if fields else {}
    parts = [FilePart(file, on_read=inputs.count) for file in files]
    inputs.docs = read(parts, format, skip_bad=skip_bad, report=inputs.report, encoding=encoding, **options)
    return inputs


def report_bad(inputs: Inputs) -> None:
    """Say on standard error what was left out."""
    show_left_out(inputs.report)
    if inputs.report.count:
        typer.echo(f"weft: {counted(inputs.report.count, 'piece')} left out", err=True)


def show_left_out(report: Report) -> None:
    """Print on standard error the messages of a report, and that there are more where it keeps the first only."""
    for message in report.messages:
        typer.echo(f"left out: {message}", err=True)
    if report.count > len(report.messages):
        typer.echo(f"left out: {report.count - len(report.messages):,} more", err=True)
