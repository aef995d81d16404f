"""Bitexts: two files with one sentence per line (or two equally long corpora), or one file of `source ||| target`.

Plain files contain space-separated words, one sentence per line; an empty line is an empty sentence. Files in a format
that contains words (CoNLL-U and others, recognized by suffix) provide their syntactic words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from weft.errors import DataError, FormatError
from weft.formats.doors import FORMATS, read
from weft.formats.streams import numbered_lines
from weft.text.doc import Doc

PathLike = str | os.PathLike[str]
Pair = tuple[list[str], list[str]]

SEPARATOR = "|||"
_WORDLESS = ("plain", "brat")


def read_bitext(source: PathLike, target: PathLike | None = None, *, encoding: str = "utf-8") -> Iterator[Pair]:
    """The sentence pairs of two files, or of one file of `source ||| target`, as words; read lazily.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "both").write_text("the house ||| das Haus\\n")
    ...     list(read_bitext(f"{folder}/both"))
    [(['the', 'house'], ['das', 'Haus'])]
    """
    if target is None:
        yield from _joined(os.fspath(source), encoding)
        return
    count = 0
    sides = (read_sentences(source, encoding=encoding), read_sentences(target, encoding=encoding))
    for count, (one, other) in enumerate(zip_longest(*sides), start=1):
        if one is None or other is None:
            shorter, longer = (source, target) if one is None else (target, source)
            raise DataError(
                f"{shorter} ends after {count - 1:,} sentences, but {longer} continues; "
                "the two sides of a bitext must have the same number of sentences, one per line"
            )
        yield one, other


def read_sentences(path: PathLike, *, encoding: str = "utf-8") -> Iterator[list[str]]:
    """The words of every sentence in a file: from a corpus if the suffix says so, else from every line."""
    name = os.fspath(path)
    if _format(name) is None:
        for _, line in numbered_lines(name, encoding):
            yield line.split()
        return
    for doc in read(name, encoding=encoding):
        if not doc.n_words and doc.text:
            raise DataError(f"{name} contains text without words; split it first with `weft convert --split`")
        forms = doc.column("form")
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            yield forms[first:end]


def read_side(path: PathLike, *, encoding: str = "utf-8") -> list[Doc]:
    """One side of a bitext as documents: a corpus with all its layers, or the words of plain lines."""
    name = os.fspath(path)
    if _format(name) is not None:
        return list(read(name, encoding=encoding))
    return [Doc.from_words(list(read_sentences(name, encoding=encoding)))]


def holds_words(path: PathLike) -> bool:
    """Whether a file is a corpus with words by its suffix, rather than lines of text.

    >>> holds_words("trees.conllu.gz"), holds_words("lines.txt")
    (True, False)
    """
    return _format(os.fspath(path)) is not None


def _format(name: str) -> str | None:
    """The file's format if it contains words, None for lines of plain text."""
    base = os.path.basename(name).removesuffix(".gz")
    for kind, suffixes in FORMATS.items():
        if kind not in _WORDLESS and base.endswith(suffixes):
            return kind
    return None


def _joined(path: str, encoding: str) -> Iterator[Pair]:
    for number, line in numbered_lines(path, encoding):
        sides = line.split(SEPARATOR)
        if len(sides) != 2:
            actual = "no such mark" if len(sides) == 1 else f"{len(sides) - 1} of them"
            raise FormatError(path, number, "source and target separated by |||", actual, "Or name two files")
        yield sides[0].split(), sides[1].split()
