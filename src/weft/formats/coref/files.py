"""Coreference in columns: CoNLL-2011 and 2012, LitBank, OntoGUM. Documents begin with `#begin document`.

| columns | format | content kept |
|---|---|---|
| 3, tab-separated | OntoGUM, LitBank | word (column 2), entities (column 3) |
| 12 or more | CoNLL-2012 | word (4), xpos (5), lemma (7), speaker (10), entities (last) |
| others | cases of the official scorer | word (4, if there are five), entities (last) |

The last column has brackets: `(3` opens a mention of entity 3, `3)` closes it, `(3)` is a mention of one word; several
follow each other with or without `|`. An empty line ends a sentence; OntoGUM has none, so its documents are single
sentences. An empty word is read as `_`. A speaker is kept as the comment `# speaker = ...`. Mentions and entities
become the layers `spans/coref` and `clusters/coref` (`weft.text.conventions.coreference`). The writer produces the 12
columns, which the official scorer reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, checked_blocks, encoding_error, stray_byte, unsplit_error, write_texts
from weft.text.conventions.coreference import (
    LAYER,
    BracketError,
    brackets,
    coreference_of,
    parse_brackets,
    set_entities,
)
from weft.text.doc import Doc
from weft.text.layers import Pieces, words_of_chars

_BEGIN = re.compile(r"#\s*begin document\s+(?:\((.*?)\);?\s*(?:part\s+(\d+))?|(.*))\s*$")
#: Fields of CoNLL-2012 by column.
_WORD, _TAG, _LEMMA, _SPEAKER = 3, 4, 6, 9
_FULL = 12


@dataclass
class _Open:
    """The document being read: its name, and rows by sentence with the line of each."""

    name: str
    part: int
    line: int
    sentences: list[list[tuple[int, list[str]]]] = field(default_factory=lambda: [[]])
    bad: bool = False


def begins_document(text: str) -> bool:
    """Whether a file begins as these formats do.

    >>> begins_document("#begin document (a); part 000\\n"), begins_document("# begin document a\\n")
    (True, True)
    """
    return _BEGIN.match(text.lstrip("\n").partition("\n")[0]) is not None


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a file."""
    faults = faults or Faults()
    current: _Open | None = None
    for block in checked_blocks(path, faults, separator="\n", encoding=encoding):
        for number, line in enumerate(block.text.removesuffix("\n").split("\n"), block.line):
            stray = None if block.clean else stray_byte(line)
            if stray is not None:
                faults.meet(encoding_error(path, number, stray[1]))
                if current is not None:
                    current.bad = True
            elif (begun := _BEGIN.match(line)) is not None:
                yield from _documents(path, current, faults)
                current = _Open((begun[1] or begun[3] or "").strip(), int(begun[2] or 0), number)
            elif line.startswith("#end document"):
                yield from _documents(path, current, faults)
                current = None
            elif not line.strip():
                if current is not None and current.sentences[-1]:
                    current.sentences.append([])
            elif current is None:
                if not line.startswith("#"):
                    faults.meet(FormatError(path, number, "#begin document", repr(line[:60])))
            elif not line.startswith("#") or "\t" in line:
                current.sentences[-1].append((number, line.rstrip().split("\t") if "\t" in line else line.split()))
    yield from _documents(path, current, faults)


def _documents(path: str, current: _Open | None, faults: Faults) -> Iterator[Doc]:
    if current is None or current.bad:
        return
    try:
        doc = _document(path, current)
    except FormatError as error:
        faults.meet(error)
        return
    yield from admitted(path, [(current.line, doc)], faults)


def _document(path: str, current: _Open) -> Doc:
    sentences = [rows for rows in current.sentences if rows]
    flat = [row for rows in sentences for row in rows]
    width = len(flat[0][1]) if flat else 0
    for line, cells in flat:
        if len(cells) < 2 or (len(cells) != width and min(len(cells), width) < _WORD + 2):
            raise FormatError(path, line, f"{width if width > 1 else 2} columns", f"{len(cells)} columns")
    word = 1 if width == 3 else _WORD if width > _WORD + 1 else None
    forms = [["_" if word is None else cells[word].strip() or "_" for _, cells in rows] for rows in sentences]
    columns: dict[str, Any] = {}
    if width >= _FULL:
        named = {"xpos": _TAG, "lemma": _LEMMA}
        columns = {
            name: [["" if cells[at] in "-_" else cells[at] for _, cells in rows] for rows in sentences]
            for name, at in named.items()
        }
    doc = Doc.from_words(forms, **columns)
    if width >= _FULL:
        speakers = [rows[0][1][_SPEAKER] for rows in sentences]
        doc.comments = [(f"# speaker = {name}",) if name not in "-_*" else () for name in speakers]
    if current.name:
        doc.meta["id"] = f"{current.name}-{current.part}" if current.part else current.name
    try:
        found = parse_brackets([cells[-1] for _, cells in flat])
    except BracketError as error:
        raise FormatError(path, flat[error.word][0], "brackets that fit together", error.fault) from error
    names = {name: number for number, name in enumerate(dict.fromkeys(row.entity for row in found))}
    set_entities(doc, [row.pieces for row in found], [names[row.entity] for row in found])
    return doc


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents in the columns of CoNLL-2012 and return their number."""
    return write_texts(map(to_text, docs), path)


def to_text(doc: Doc, layer: str = LAYER) -> str:
    """A document in the columns of CoNLL-2012.

    >>> doc = Doc.from_words([["Ada", "slept"]])
    >>> set_entities(doc, [(0, 1)], [0])
    >>> print(to_text(doc).replace("\\t", " "), end="")
    #begin document (doc); part 000
    doc 0 0 Ada - * - - - - * (0)
    doc 0 1 slept - * - - - - * -
    <BLANKLINE>
    #end document
    """
    if not doc.n_words and doc.text.strip():
        raise unsplit_error(doc, "CoNLL-2012")
    found = coreference_of(doc, layer)
    rows: list[tuple[Pieces, str]] = []
    if found is not None:
        spans = words_of_chars(doc, found[0])
        for number, (pieces, _) in enumerate(spans):
            if len(pieces) > 1:
                raise WeftError(f"{doc!r} has a mention with a gap, which CoNLL-2012 cannot represent; write CoNLL-U")
            entity = int(found[1].cluster[number])
            rows.append((pieces, str(entity if entity >= 0 else len(spans) + number)))
    cells = brackets(rows, doc.n_words, "|")
    name = re.sub(r"[\s();]", "_", doc.id) or "doc"
    lines = [f"#begin document ({name}); part 000"]
    forms, tags, lemmas = (_filled(doc.column(column)) for column in ("form", "xpos", "lemma"))
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        speaker = _speaker(doc.comments[number]) if number < len(doc.comments) else "-"
        for word in range(first, end):
            row = [name, "0", str(word - first), forms[word], tags[word], "*", lemmas[word], "-", "-", speaker, "*"]
            lines.append("\t".join([*row, cells[word] or "-"]))
        lines.append("")
    return "\n".join([*lines, "#end document", ""])


def _filled(column: Sequence[str]) -> list[str]:
    return [re.sub(r"\s", "_", value) or "-" for value in column]


def _speaker(comments: Sequence[str]) -> str:
    for comment in comments:
        key, _, value = comment.partition("=")
        if key.strip("# ") == "speaker":
            return re.sub(r"\s", "_", value.strip()) or "-"
    return "-"
