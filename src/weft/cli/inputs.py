"""Input of commands: files, folders and standard input as one stream of documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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

    >>> known_formats("conl")
    ['conllu']
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
Encoding = Annotated[
    str,
    option(
        "--encoding",
        metavar="NAME",
        panel=READING,
        help="Encoding of the files to read; auto tells it file by file, auto:NAME is for those that are not UTF-8.",
    ),
]
TextColumn = Annotated[
    str | None,
    option(
        "--text-column",
        metavar="NAME",
        panel=READING,
        help="Column of CSV and TSV, or key of JSON Lines, that holds the text.",
        shown="text",
    ),
]
StripHtml = Annotated[bool, option("--strip-html", panel=READING, help="Remove HTML tags from raw text.")]
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
    text_column: str | None = None
    strip_html: bool = False

    def open(self, paths: Sequence[os.PathLike[str]]) -> Inputs:
        """Open files as one stream of documents."""
        return open_inputs(paths, self)

    def options(self) -> dict[str, Any]:
        """Options for `weft.formats.read`."""
        given = {"fields": self.fields, "text_column": self.text_column}
        options: dict[str, Any] = {name: value for name, value in given.items() if value}
        return {"encoding": self.encoding, "strip_html": self.strip_html, **options}

    def open_unlabelled(self, paths: Sequence[os.PathLike[str]]) -> Inputs:
        """The same for files whose last columns, the labels, may be missing; raw text is split into words by rule."""
        from weft.formats.doors import kind_of, named_files
        from weft.text import Corpus

        kinds = {kind_of(file, self.format, self.text_column) for file in named_files(paths, self.format)}
        if "columns" not in kinds:
            inputs = self._replace(fields=None).open(paths)
            docs = inputs.docs
            inputs.docs = Corpus(lambda: split_words(docs))
            return inputs
        return open_inputs(paths, self, unlabelled=True)


@dataclass
class Inputs:
    """A stream of documents, the formats of its files in order, and a report of what was left out."""

    docs: Corpus
    formats: list[str]
    skip_bad: bool
    report: Report
    size: int | None = None  #: bytes of all files, if that is known
    read: int = 0  #: bytes read so far
    unread: list[str] = field(default_factory=list)  #: files in folders whose suffix is unknown

    def count(self, n_bytes: int) -> None:
        self.read += n_bytes


def open_inputs(paths: Sequence[os.PathLike[str]], reading: Reading = Reading(), unlabelled: bool = False) -> Inputs:
    """Open files, globs, all files in folders, and `-` for standard input as one stream in the order given."""
    from weft.formats import Report, read
    from weft.formats.doors import kind_of, named_files, unread_files
    from weft.text import Corpus

    files = named_files(paths, reading.format)
    kinds = [kind_of(file, reading.format, reading.text_column) for file in files]
    inputs = Inputs(Corpus([]), kinds, reading.skip_bad, Report())
    inputs.unread = [] if reading.format else unread_files(paths)
    counted_whole = all(os.path.isfile(file) for file in files) and not {"parquet", "brat"} & set(kinds)
    inputs.size = sum(os.path.getsize(file) for file in files) if counted_whole else None
    for file in files:
        file.on_read = inputs.count
    options = reading.options() | ({"unlabelled": True} if unlabelled else {})
    inputs.docs = read(files, reading.format, skip_bad=reading.skip_bad, report=inputs.report, **options)
    return inputs


def report_bad(inputs: Inputs) -> None:
    """Report on standard error what was left out, not read or read in a guessed encoding."""
    show_left_out(inputs.report)
    show_read(inputs.unread, inputs.report.read_as)
    if inputs.report.count:
        typer.echo(f"weft: {counted(inputs.report.count, 'piece')} left out", err=True)


def show_left_out(report: Report, listed: str = "") -> None:
    """Print the messages of a report on standard error, and how many more there are if it keeps only the first.

    `listed` is the file that lists all of them.
    """
    for message in report.messages:
        typer.echo(f"left out: {message}", err=True)
    if report.count > len(report.messages):
        place = f", listed in {listed}" if listed else ""
        typer.echo(f"left out: {report.count - len(report.messages):,} more{place}", err=True)


def show_read(unread: Sequence[str], read_as: Mapping[str, Sequence[str]]) -> None:
    """Name on standard error the files that were not read for their suffix, and those that are not UTF-8."""
    if unread:
        typer.echo(f"not read, by their suffix: {_first_names(unread)}", err=True)
    for encoding, files in read_as.items():
        typer.echo(f"read as {encoding}, not being UTF-8: {_first_names(files)}", err=True)


def _first_names(names: Sequence[str], most: int = 5) -> str:
    """The first names of a list, and how many more there are.

    >>> _first_names(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def split_words(docs: Iterable[Doc]) -> Iterator[Doc]:
    """Documents with their words; raw text is split by rule."""
    from weft.text.split import split_by_rule

    for doc in docs:
        if not doc.n_words and doc.text.strip():
            split_by_rule(doc)
        yield doc


def split_labelled(docs: Corpus) -> Corpus:
    """The same with words for texts in which people marked spans of characters, as annotation tools write them."""
    from weft.text import Corpus
    from weft.text.split import split_by_rule

    def stream() -> Iterator[Doc]:
        for doc in docs:
            if not doc.n_words and any(layer.unit == "chars" for layer in doc.spans.values()) and doc.text.strip():
                split_by_rule(doc)
            yield doc

    return Corpus(stream, docs.report)


def read_reviews(paths: Sequence[Path], encoding: str) -> Iterator[Review]:
    """The reviews of files, in order."""
    from weft.formats import reviews

    for path in paths:
        yield from reviews.read_reviews(path, encoding=encoding)


def read_documents(paths: Sequence[Path], encoding: str) -> list[Doc]:
    """The reviews of files as documents, each text once."""
    from weft.formats.reviews import without_duplicates

    return [review.doc() for review in without_duplicates(list(read_reviews(paths, encoding)))]
