"""Column formats of CoNLL-2000, 2002, 2003 and similar: one word per line, an empty line after each sentence.

`fields` names the columns, e.g. `"form xpos chunks:IOB2 entities"`:

| field | content |
|---|---|
| form | the word |
| chunk(s), ner, entities, NAME:SCHEME | labels of a span layer (`chunks`, `entities`, NAME) |
| head | the index of the head |
| id | the word's index, not kept |
| _ | ignored |
| any other name | a word column: lemma, upos, xpos ... |

Without `fields`, three columns are form, xpos and chunks; four are form, xpos, chunks and entities. Two are form and
entities if the labels look like spans (some are O or begin with B-, I-, E- or S-, or a scheme is given), else form and
xpos. Schemes that are not given are inferred from the labels. `-DOCSTART-` lines begin documents; files without them
are split into documents of 1,000 sentences. The text is the words joined by spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from sys import intern
from typing import Literal

import numpy as np

from weft.errors import ConfigError, FormatError, WeftError
from weft.formats.conllu.files import PART, TABLE_LIMIT
from weft.formats.coref import begins_document
from weft.formats.coref import read as read_entities
from weft.formats.gate import admitted
from weft.formats.streams import (
    Faults,
    TextBlock,
    checked_blocks,
    encoding_error,
    open_output,
    stray_byte,
    unsplit_error,
)
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars
from weft.text.schemes import (
    Chunk,
    LabelError,
    SchemeError,
    check_scheme,
    decode,
    encode,
    guess_scheme,
    has_marks,
)
from weft.text.strings import StringTable
from weft.text.validity import has_cycle

DOCSTART = "-DOCSTART-"
_LAYERS = {"chunk": "chunks", "chunks": "chunks", "ner": "entities", "entities": "entities"}
_DEFAULTS = {1: "form", 2: "form entities", 3: "form xpos chunks", 4: "form xpos chunks entities"}
_TABBED = (".tsv", ".iob2")


@dataclass(frozen=True)
class Field:
    """One column in a file."""

    name: str
    kind: Literal["column", "spans", "head", "id", "skip"]
    scheme: str | None = None


@dataclass
class _Sentence:
    rows: list[list[str]]
    line: int  # line number of the first row
    comments: tuple[str, ...] = ()
    docstart: str | None = None


@dataclass
class _Open:
    """The document being read."""

    sentences: list[_Sentence] = field(default_factory=list)
    docstart: str | None = None
    part: int = 0


def parse_fields(text: str | Sequence[str], scheme: str | None = None) -> list[Field]:
    """Parse a list of field names, or a string of space-separated ones.

    >>> [field.kind for field in parse_fields("form xpos chunks:BIOES")]
    ['column', 'column', 'spans']
    """
    names = text.split() if isinstance(text, str) else list(text)
    fields: list[Field] = []
    for item in names:
        name, colon, given = item.partition(":")
        if colon or name in _LAYERS:
            wanted = given or scheme
            fields.append(Field(_LAYERS.get(name, name), "spans", check_scheme(wanted) if wanted else None))
        elif name == "_":
            fields.append(Field(name, "skip"))
        else:
            fields.append(Field(name, "head" if name == "head" else "id" if name == "id" else "column"))
    if [field.name for field in fields].count("form") != 1:
        raise ConfigError(f"fields must name `form` exactly once, but got {' '.join(names)!r}")
    return fields


def read(
    path: str,
    faults: Faults | None = None,
    *,
    fields: str | Sequence[str] | None = None,
    scheme: str | None = None,
    strict: bool = True,
    separator: str | None = None,
    encoding: str = "utf-8",
    unlabelled: bool = False,
) -> Iterator[Doc]:
    """The documents in a file of columns.

    `strict=False` reads labels that violate their scheme the way the conlleval scorer does. Columns are separated by
    tabs if the file contains any, else by spaces, unless `separator` says otherwise. An `unlabelled` file may lack the
    last of the `fields`.
    """
    faults = faults or Faults()
    layout = parse_fields(fields, scheme) if fields is not None else []
    strings = StringTable()
    current = _Open()
    tabbed: bool | None = None
    for block in checked_blocks(path, faults, encoding=encoding):
        if tabbed is None and fields is None and begins_document(block.text):
            yield from read_entities(path, faults, encoding=encoding)
            return
        if tabbed is None:
            tabbed = separator == "\t" if separator else "\t" in block.text
            if unlabelled:
                layout = layout[: _width(block.text, tabbed)]
        sentences = list(_sentences(path, block, tabbed, layout, faults))
        layout = _with_schemes(layout or _default_fields(path, sentences, scheme), sentences)
        for sentence in sentences:
            full = len(current.sentences) == PART
            if sentence.docstart is not None or full:
                current.part = current.part or 1 if full and sentence.docstart is None else current.part
                yield from _document(path, current, layout, strings, strict, faults)
                if len(strings) > TABLE_LIMIT:
                    strings = StringTable()
                current = _Open([], sentence.docstart, current.part + 1 if sentence.docstart is None else 0)
            if sentence.rows:
                current.sentences.append(sentence)
    yield from _document(path, current, layout, strings, strict, faults)


def _width(text: str, tabbed: bool) -> int | None:
    """The number of columns of the first word; None if there is none."""
    words = (line for line in text.split("\n") if line.strip() and not line.startswith(("#", DOCSTART)))
    first = next(words, None)
    return None if first is None else len(first.split("\t" if tabbed else None))


def write(
    docs: Iterable[Doc],
    path: str,
    *,
    fields: str | Sequence[str] | None = None,
    scheme: str = "IOB2",
    separator: str | None = None,
) -> int:
    """Write documents as columns and return their number.

    Without `fields`, the columns are form, xpos (or upos) and the span layers of the first document. Span layers are
    written in `scheme` unless the field names one. The separator is a space, or a tab in `.tsv` and `.iob2` files.
    """
    if separator is None:
        separator = "\t" if path.removesuffix(".gz").endswith(_TABBED) else " "
    count = 0
    layout = parse_fields(fields, scheme) if fields is not None else []
    with open_output(path) as file:
        for doc in docs:
            layout = layout or fields_of(doc, scheme)
            file.write(to_text(doc, layout, separator).encode())
            count += 1
    return count


def to_text(doc: Doc, fields: Sequence[Field], separator: str = " ") -> str:
    """A document as columns.

    >>> doc = Doc.from_words([["Dogs", "bark"]], xpos=[["NNS", "VBP"]])
    >>> doc.spans["chunks"] = SpanLayer.of(doc.strings, [(0, 1, "NP"), (1, 2, "VP")])
    >>> print(to_text(doc, parse_fields("form xpos chunks:IOB2")), end="")
    Dogs NNS B-NP
    bark VBP B-VP
    <BLANKLINE>
    """
    if not doc.n_words and doc.text.strip():
        raise unsplit_error(doc, "columns")
    offsets = doc.sentence_offsets.tolist() if doc.n_sentences else [0, doc.n_words]
    columns = [_values(doc, field, offsets) for field in fields]
    rows = list(map(separator.join, zip(*columns, strict=True)))
    for row in rows:
        cells = len(row.split())  # readers split at any blank where there are no tabs
        split = cells < len(fields) or (cells > len(fields) and separator != "\t")
        if row.count(separator) != len(fields) - 1 or split or "\n" in row:
            hint = "" if separator == "\t" else "; write a .tsv file, or pass separator='\\t' in Python"
            raise WeftError(f"{doc!r}: a value is empty or contains the separator: {row!r}{hint}")
    lines: list[str] = []
    for number in range(len(offsets) - 1):
        if number < len(doc.comments) and separator == "\t":
            lines.extend(doc.comments[number])
        lines.extend(rows[offsets[number] : offsets[number + 1]])
        lines.append("")
    docstart = doc.meta.get("docstart", "") if doc.meta.get("part", 1) == 1 else ""
    return docstart + "\n".join(lines) + ("\n" if lines else "")


def _sentences(path: str, block: TextBlock, tabbed: bool, layout: list[Field], faults: Faults) -> Iterator[_Sentence]:
    """The sentences in a block, all with the same number of columns; bad ones are reported and left without rows."""
    text = block.text
    if re.search(r"\n[ \t]+(?=\n)", text):
        text = re.sub(r"\n[ \t]+(?=\n)", "\n", text)
    width = len(layout)
    has_id = bool(layout) and layout[0].kind == "id"
    comments: list[str] = []
    line = block.line
    for piece in text.split("\n\n"):
        first = line + len(piece) - len(piece.lstrip("\n"))
        line += piece.count("\n") + 2
        lines = piece.strip("\n").split("\n")
        if lines == [""]:
            continue
        docstart = None
        stray = None if block.clean else stray_byte(piece)
        if stray is not None:
            faults.meet(encoding_error(path, line - 2 - piece[stray[0] :].count("\n"), stray[1]))
            if any(text.startswith(DOCSTART) for text in lines):
                yield _Sentence([], first, (), f"{DOCSTART}\n\n")
            continue
        if lines[0].startswith(DOCSTART):
            docstart = lines.pop(0) + ("\n" if lines else "\n\n")
            first += 1
        while tabbed and lines and lines[0].startswith("#") and (has_id or "\t" not in lines[0]):
            comments.append(lines.pop(0))
            first += 1
        if not lines:
            if docstart is not None:
                yield _Sentence([], first, (), docstart)
            continue
        # Intern the cells: tags and frequent words are stored once, not once per row.
        rows = [list(map(intern, row.split("\t") if tabbed else row.split())) for row in lines]
        width = width or len(rows[0])
        fault = None
        if set(map(len, rows)) != {width}:  # a trailing tab does not add a column
            rows = [row[:-1] if len(row) == width + 1 and not row[-1] else row for row in rows]
        if set(map(len, rows)) != {width}:
            bad = next(i for i, row in enumerate(rows) if len(row) != width)
            actual = f"{len(rows[bad])} columns: {lines[bad][:80]!r}"
            fault = FormatError(path, first + bad, f"{width} columns", actual)
        if fault is not None:
            faults.meet(fault)
            rows = []
        yield _Sentence(rows, first, tuple(comments), docstart)
        comments = []


def _default_fields(path: str, sentences: Sequence[_Sentence], scheme: str | None) -> list[Field]:
    """Infer the fields from the number of columns, and from the labels of two columns; None without a good sentence."""
    good = [sentence for sentence in sentences if sentence.rows]
    if not good:
        return []
    width = len(good[0].rows[0])
    if width not in _DEFAULTS:
        hint = "Name them: --fields 'id form upos chunks:IOB2' (in Python fields=...)"
        raise FormatError(path, good[0].line, "2, 3 or 4 columns", f"{width} columns", hint)
    tags = width == 2 and scheme is None and not has_marks(row[1] for sentence in good for row in sentence.rows)
    return parse_fields("form xpos" if tags else _DEFAULTS[width], scheme)


def _with_schemes(layout: list[Field], sentences: Sequence[_Sentence]) -> list[Field]:
    """The fields with schemes inferred from the labels of span columns where none was given."""
    resolved: list[Field] = []
    for column, item in enumerate(layout):
        if item.kind == "spans" and item.scheme is None:
            labels = [[row[column] for row in sentence.rows] for sentence in sentences]
            if any(label != "O" for sentence in labels for label in sentence):
                item = replace(item, scheme=guess_scheme(labels))
        resolved.append(item)
    return resolved


def _document(
    path: str, held: _Open, layout: list[Field], strings: StringTable, strict: bool, faults: Faults
) -> Iterator[Doc]:
    """The document made of the sentences read so far, if any is good."""
    spans: list[dict[str, list[Chunk]]] = []
    heads: list[list[int]] = []
    kept: list[_Sentence] = []
    for sentence in held.sentences:
        try:
            row_spans, sentence_heads = _structures(path, sentence, layout, strict)
        except FormatError as error:
            faults.meet(error)
            continue
        kept.append(sentence)
        spans.append(row_spans)
        heads.append(sentence_heads)
    if not kept:
        return
    doc = Doc(strings=strings)
    values = list(zip(*(row for sentence in kept for row in sentence.rows), strict=True))
    offsets = np.concatenate([[0], np.cumsum([len(sentence.rows) for sentence in kept])]).tolist()
    forms = values[[item.name for item in layout].index("form")]
    doc.set_tokens(forms, [True] * len(forms))
    doc.comments = [sentence.comments for sentence in kept]
    doc.set_sentences(offsets)
    for item, column in zip(layout, values, strict=True):
        if item.kind == "column" and item.name != "form":
            ids = strings.ids(column)
            ids[ids == strings.find("_")] = 0
            doc.set_column(item.name, ids)
        elif item.kind == "head":
            doc.head = np.array([head for row in heads for head in row], dtype=np.int32)
        elif item.kind == "spans":
            chunks = (
                (first + start, first + end, label)
                for first, row_spans in zip(offsets, spans, strict=False)
                for start, end, label in row_spans[item.name]
            )
            doc.spans[item.name] = SpanLayer.of(strings, chunks)
    if held.docstart is not None:
        doc.meta["docstart"] = held.docstart
    if held.part:
        doc.meta["part"] = held.part
    yield from admitted(path, [(kept[0].line, doc)], faults)


def _structures(
    path: str, sentence: _Sentence, layout: list[Field], strict: bool
) -> tuple[dict[str, list[Chunk]], list[int]]:
    spans: dict[str, list[Chunk]] = {}
    heads: list[int] = []
    for column, item in enumerate(layout):
        if item.kind == "spans":
            labels = [row[column] for row in sentence.rows]
            scheme = item.scheme or "IOB2"
            try:
                spans[item.name] = decode(labels, scheme, strict)
            except SchemeError as error:
                hint = (
                    "If the scheme is a different one, name it: --fields 'form xpos chunks:IOB1' (in Python fields=...)"
                )
                actual = f"{error.label!r} after {error.previous!r} ({item.name})"
                raise FormatError(path, sentence.line + error.position, f"{scheme} labels", actual, hint) from error
            except LabelError as error:
                hint = "If this column has no spans, name the columns: --fields 'form xpos' (in Python fields=...)"
                line = sentence.line + labels.index(error.label)
                raise FormatError(path, line, f"{scheme} labels", f"{error.label!r} ({item.name})", hint) from error
        elif item.kind == "head":
            for place, row in enumerate(sentence.rows):
                text = "-1" if row[column] == "_" else row[column]
                if not re.fullmatch(r"-1|[0-9]{1,8}", text) or int(text) > len(sentence.rows):
                    expected = f"a head from 0 to {len(sentence.rows)}"
                    raise FormatError(path, sentence.line + place, expected, repr(row[column]))
                heads.append(int(text))
            if has_cycle(np.array(heads, dtype=np.int32), np.array([0, len(heads)], dtype=np.int32)):
                raise FormatError(path, sentence.line, "heads that form a tree", "heads that form a cycle")
        elif item.name == "form" and not all(row[column].strip() for row in sentence.rows):
            place = next(place for place, row in enumerate(sentence.rows) if not row[column].strip())
            raise FormatError(path, sentence.line + place, "a word", "an empty column")
    return spans, heads


def fields_of(doc: Doc, scheme: str) -> list[Field]:
    """The default fields to write: form, xpos (or upos) and the span layers."""
    names = ["form"]
    names += [name for name in ("xpos", "upos") if doc.has(name)][:1]
    layers = sorted(doc.spans, key=lambda name: (name not in ("chunks", "entities"), name))
    return parse_fields([*names, *(f"{name}:{scheme}" for name in layers)])


def _values(doc: Doc, item: Field, offsets: list[int]) -> list[str]:
    """One column as strings."""
    if item.kind == "id":
        return [str(i + 1) for low, high in pairwise(offsets) for i in range(high - low)]
    if item.kind == "skip":
        return ["_"] * doc.n_words
    if item.kind == "head":
        return ["_"] * doc.n_words if doc.head is None else ["_" if h < 0 else str(h) for h in doc.head.tolist()]
    if item.kind == "column":
        return [value or "_" for value in doc.column(item.name)]
    layer = doc.spans.get(item.name)
    if layer is None:
        return ["O"] * doc.n_words
    layer = words_of_chars(doc, layer)
    if not layer.is_flat():
        raise WeftError(
            f"span layer {item.name!r} of {doc!r} has gaps or overlaps; columns can only express flat spans"
        )
    chunks = sorted((pieces[0][0], pieces[0][1], label) for pieces, label in layer)
    labels: list[str] = []
    place = 0
    for low, high in pairwise(offsets):
        inside: list[Chunk] = []
        while place < len(chunks) and chunks[place][0] < high:
            start, end, label = chunks[place]
            inside.append((start - low, end - low, label))
            place += 1
        labels.extend(encode(inside, high - low, item.scheme or "IOB2"))
    return labels
