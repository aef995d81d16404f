"""Dependency trees in MSTParser's text format: a sentence is four lines of equally many tab-separated cells.

    Dogs    bark    .
    NNS     VBP     .
    SBJ     ROOT    P
    2       0       2

Words, tags (the column `xpos`), relations, and heads counted from 1, with 0 for the root. Without relations there are
three lines. Empty cells are `_`. A blank line follows every sentence. The text is the words joined by spaces; files are
split into documents of 1,000 sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

import numpy as np

from weft.errors import FormatError, WeftError
from weft.formats.conllu.files import PART, TABLE_LIMIT
from weft.formats.gate import admitted
from weft.formats.streams import (
    Faults,
    TextBlock,
    checked_blocks,
    encoding_error,
    stray_byte,
    unsplit_error,
    write_texts,
)
from weft.text.doc import Doc
from weft.text.strings import StringTable
from weft.text.validity import has_cycle

_LINES = ("words", "tags", "relations", "heads")
#: The rows of a sentence: words, tags, relations (an empty row if there are none), heads.
_Rows = tuple[list[str], list[str], list[str], list[int]]


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a file."""
    faults = faults or Faults()
    strings, held = StringTable(), list[_Rows]()
    for block in checked_blocks(path, faults, encoding=encoding):
        for rows in _sentences(path, block, faults):
            held.append(rows)
            if len(held) == PART:
                yield from admitted(path, [(None, _document(held, strings))], faults)
                held = []
                if len(strings) > TABLE_LIMIT:
                    strings = StringTable()
    if held:
        yield from admitted(path, [(None, _document(held, strings))], faults)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents and return their number; relations are omitted if a document has none."""
    return write_texts(map(to_text, docs), path)


def to_text(doc: Doc) -> str:
    r"""A document as MSTParser lines; tags come from `xpos`, else from `upos`.

    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> to_text(doc).split("\n")
    ['Dogs\tbark', 'NOUN\tVERB', 'nsubj\troot', '2\t0', '', '']
    """
    if doc.text.strip() and not doc.n_words:
        raise unsplit_error(doc, "the MSTParser format")
    if doc.n_words and (doc.head is None or (doc.head < 0).any()):
        raise WeftError(
            f"{doc!r}: the MSTParser format requires trees, but some words have no head; parse the text first"
        )
    columns = [doc.column("form"), doc.column("xpos" if doc.has("xpos") else "upos")]
    if doc.has("deprel"):
        columns.append(doc.column("deprel"))
    columns.append([] if doc.head is None else [str(head) for head in doc.head.tolist()])
    cells = [[value or "_" for value in column] for column in columns]
    for value in chain.from_iterable(cells):
        if "\t" in value or "\n" in value:
            raise WeftError(f"{doc!r}: a value contains a tab or a line break, which separate cells: {value!r}")
    lines: list[str] = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        if first < end:
            lines += ["\t".join(column[first:end]) for column in cells]
            lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _sentences(path: str, block: TextBlock, faults: Faults) -> Iterator[_Rows]:
    """The sentences in a block; bad ones are reported and skipped."""
    lines: list[str] = []
    for number, line in enumerate([*block.text.split("\n"), ""], block.line):
        if line.strip():
            lines.append(line)
        elif lines:
            try:
                yield _rows(path, number - len(lines), lines, block.clean)
            except FormatError as error:
                faults.meet(error)
            lines = []


def _rows(path: str, first: int, lines: list[str], clean: bool) -> _Rows:
    for number, line in enumerate(lines, first):
        stray = None if clean else stray_byte(line)
        if stray is not None:
            raise encoding_error(path, number, stray[1])
    if len(lines) not in (3, 4):
        expected = "a sentence of four lines: words, tags, relations, heads (or three, without relations)"
        raise FormatError(path, first, expected, f"{len(lines)} lines")
    cells = [line.split("\t") for line in lines]
    names = _LINES if len(lines) == 4 else ("words", "tags", "heads")
    size = len(cells[0])
    for number, (name, row) in enumerate(zip(names, cells, strict=True)):
        if len(row) != size:
            raise FormatError(path, first + number, f"{size} {name}, one per word", str(len(row)))
    for word in cells[0]:
        if not word.strip():
            raise FormatError(path, first, "words separated by single tabs", "an empty cell")
    heads = []
    for text in cells[-1]:
        if not (text.isascii() and text.isdigit() and len(text) < 9) or int(text) > size:
            raise FormatError(path, first + len(lines) - 1, f"heads from 0 to {size}", repr(text))
        heads.append(int(text))
    if has_cycle(np.array(heads, dtype=np.int32), np.array([0, size], dtype=np.int32)):
        raise FormatError(path, first + len(lines) - 1, "heads that form a tree", "heads that form a cycle")
    return cells[0], cells[1], cells[2] if len(lines) == 4 else [""] * size, heads


def _document(held: list[_Rows], strings: StringTable) -> Doc:
    words, tags, relations, heads = zip(*held, strict=True)
    doc = Doc.from_words(words, strings=strings, head=heads)
    for name, column in (("xpos", tags), ("deprel", relations)):
        values = list(chain.from_iterable(column))
        if any(values):
            doc.set_column(name, ["" if value == "_" else value for value in values])
    assert doc.head is not None
    doc.head = doc.head.astype(np.int32)
    return doc
