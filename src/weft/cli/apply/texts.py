"""The input of `weft annotate`: files, standard input (CoNLL-U if it looks like it, else plain text), or `--text`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import option
from weft.cli.inputs import Inputs, Reading
from weft.errors import ConfigError
from weft.formats.streams import STANDARD

Text = Annotated[
    list[str] | None, option("--text", metavar="TEXT", help="Text to annotate, in the place of files; repeat.")
]


def check_given(files: Sequence[Path], texts: Sequence[str], folder: bool = False) -> None:
    """Raise an error unless either files or texts are given.

    >>> check_given([], [])
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: give files to annotate, - for standard input, or --text TEXT
    """
    if texts and files:
        raise ConfigError(f"give files or --text, not both: {files[0]} and --text")
    if not (texts or files):
        raise ConfigError("give files to annotate, - for standard input, or --text TEXT")
    for file in files:
        if " " in str(file) and not file.suffix.strip(".") and not file.exists():
            raise ConfigError(f"there is no file {str(file)!r}; to annotate a text, write --text {str(file)!r}")
    if texts and folder:
        raise ConfigError("--text is annotated to one file or to standard output; --out names a folder")


def open_given(files: Sequence[Path], texts: Sequence[str], reading: Reading) -> Inputs:
    """Open what is given as one stream of documents."""
    from weft.formats import Report
    from weft.text import Corpus, Doc

    if not texts:
        return told_standard(files, reading).open(files)
    size = sum(len(text.encode()) for text in texts)
    docs = Corpus(lambda: iter([Doc(text) for text in texts]))
    return Inputs(docs, ["plain"] * len(texts), reading.skip_bad, Report(), size)


def told_standard(files: Sequence[Path], reading: Reading) -> Reading:
    """The options for reading; standard input, which has no suffix, is told by its first lines if nothing is said.

    >>> told_standard([Path("-")], Reading("jsonl")).format, told_standard([Path("a.txt")], Reading()).format
    ('jsonl', None)
    """
    if [str(file) for file in files] != [STANDARD] or reading.format is not None:
        return reading
    from weft.formats.conllu.recognize import is_conllu, standard_input

    if reading.text_column is None and not reading.strip_html and is_conllu(standard_input()):
        typer.echo("standard input is read as CoNLL-U; if it is plain text, say so: --from plain", err=True)
        return reading._replace(format="conllu")
    return reading._replace(format="plain")
