"""Input of commands: files, folders and standard input as one stream of documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from weft.cli.common import READING, counted, option

if TYPE_CHECKING:
    from weft.formats import Report
    from weft.formats.reviews import Review
    from weft.text import Corpus, Doc


def known_formats(incomplete: str) -> list[str]:
    """Names of formats, for shell completion.

    >>> known_formats("co")
    ['conllu', 'columns']
    """
    from weft.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def _format_option(flag: str, help: str, panel: str | None) -> Any:
    return option(
        flag, metavar="FORMAT", panel=panel, help=help, shown="by the file's name", autocompletion=known_formats
    )


Style = Annotated[
    str | None,
    option(
        "--style",
        metavar="sounds|syllables|letters",
        panel="Utterances",
        help="How utterances are written: d ao * g iy | s ae * t, D.AO1|G.IY0 S.AE1.T, or dOgi s&t.",
    ),
]
Texts = Annotated[
    list[Path], typer.Argument(metavar="TEXT", help="Raw text or corpora: files, folders, - for standard input.")
]
FromFormat = Annotated[str | None, _format_option("--from", "Format to read.", READING)]
ToFormat = Annotated[str | None, _format_option("--to", "Format to write.", None)]
Encoding = Annotated[str, option("--encoding", metavar="NAME", panel=READING, help="Encoding of the files to read.")]
Fields = Annotated[
    str | None,
    option(
        "--fields",
        metavar="NAMES",
        panel=READING,
        help="What the columns of the format columns hold, such as 'form xpos entities'.",
        shown="by their number and labels",
    ),
]
SkipBad = Annotated[bool, option("--skip-bad", panel=READING, help="Leave out what cannot be read, and count it.")]


class Reading(NamedTuple):
    """The options of a command for reading files."""

    format: str | None = None
    skip_bad: bool = False
    fields: str | None = None
    encoding: str = "utf-8"

    def open(self, paths: Sequence[os.PathLike[str]]) -> Inputs:
        """Open files as one stream of documents."""
        return open_inputs(paths, self.format, self.skip_bad, self.fields, self.encoding)


@dataclass
class Inputs:
    """A stream of documents, the formats of its files in order, and a report of what was left out."""

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
    """Open files, globs, all files in folders, and `-` for standard input as one stream in the order given."""
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
    """Report on standard error what was left out."""
    show_left_out(inputs.report)
    if inputs.report.count:
        typer.echo(f"weft: {counted(inputs.report.count, 'piece')} left out", err=True)


def show_left_out(report: Report) -> None:
    """Print the messages of a report on standard error, and how many more there are if it keeps only the first."""
    for message in report.messages:
        typer.echo(f"left out: {message}", err=True)
    if report.count > len(report.messages):
        typer.echo(f"left out: {report.count - len(report.messages):,} more", err=True)


def split_words(docs: Iterable[Doc]) -> Iterator[Doc]:
    """Documents with their words; raw text is split by rule."""
    from weft.text.split import split_by_rule

    for doc in docs:
        if not doc.n_words and doc.text.strip():
            split_by_rule(doc)
        yield doc


def read_reviews(paths: Sequence[Path], encoding: str) -> Iterator[Review]:
    """The reviews of files, in order."""
    from weft.formats import reviews

    for path in paths:
        yield from reviews.read_reviews(path, encoding=encoding)


def read_documents(paths: Sequence[Path], encoding: str) -> list[Doc]:
    """The reviews of files as documents, each text once."""
    from weft.formats.reviews import without_duplicates

    return [review.doc() for review in without_duplicates(list(read_reviews(paths, encoding)))]
