"""Words and dependency trees in brat: a word is a T line, an arc an R line from the head to the dependent.

What brat has no line for stands in a note of the type `Weft` on the line, as JSON: the other columns of a word, where
sentences and contractions begin, the relation of a root. The T line itself gives the part of speech and the R line head
and relation, so that what annotators change in brat is what is read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from weft.errors import WeftError
from weft.text.doc import Doc, Multiword

#: The type of notes that hold what brat has no line for.
NOTE = "Weft"
#: Columns that give a word its type in brat, the first that is set.
_TYPES = ("upos", "xpos")
_UNTYPED = "Word"
_NO_LABEL = "dep"


class Line(NamedTuple):
    """A word as a T line: its type, its characters, and its note."""

    type: str
    start: int
    end: int
    note: dict[str, Any]


class Arc(NamedTuple):
    """An arc as an R line: its type, two words of the document, and its note."""

    type: str
    head: int
    dependent: int
    note: dict[str, Any]


def has_trees(doc: Doc) -> bool:
    """Whether a document has heads to write; words alone are not written."""
    return doc.head is not None and bool((doc.head >= 0).any())


def plain_label(label: str, otherwise: str = "Span") -> str:
    """A label as brat can hold it: one word without colons.

    >>> plain_label("nsubj:pass"), plain_label("")
    ('nsubj-pass', 'Span')
    """
    return re.sub(r"[\s:]+", "-", label) or otherwise


def word_lines(doc: Doc) -> Iterator[Line]:
    """The T lines of the words of a document."""
    columns = {name: doc.column(name) for name in doc.columns if doc.has(name)}
    confidence = {name: values.tolist() for name, values in doc.confidence.items()}
    starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
    sentences = dict(zip(doc.sentence_offsets[:-1].tolist(), doc.comments, strict=True)) if doc.n_sentences else {}
    several = {row.first: row for row in doc.multiwords}
    shared = np.bincount(doc.word_token)
    assert doc.head is not None
    for i, head in enumerate(doc.head.tolist()):
        note: dict[str, Any] = {"word": i}
        if i in sentences:
            note |= {"first": True, **({"comments": list(sentences[i])} if sentences[i] else {})}
        if shared[doc.word_token[i]] > 1:
            note["token"] = int(doc.word_token[i])
        if i in several:
            note["multiword"] = [several[i].end - i, list(several[i].fields)]
        values = {name: column[i] for name, column in columns.items() if column[i]}
        if values.get("form") == doc.text[starts[i] : ends[i]]:
            del values["form"]
        kind, word_type = next(((name, values[name]) for name in _TYPES if name in values), ("", _UNTYPED))
        if kind and plain_label(word_type) == word_type:
            del values[kind]
        if kind != _TYPES[0]:
            note["type"] = kind
        if head > 0:
            values.pop("deprel", None)  # the arc has it
        elif head < 0:
            note["head"] = -1
        note |= {"columns": values} if values else {}
        note |= {"confidence": {name: row[i] for name, row in confidence.items()}} if confidence else {}
        yield Line(plain_label(word_type), starts[i], ends[i], note)


def arcs(doc: Doc) -> Iterator[Arc]:
    """The R lines of the heads of a document."""
    assert doc.head is not None
    offsets = doc.sentence_offsets.tolist() if doc.n_sentences else [0, doc.n_words]
    labels, heads = doc.column("deprel"), doc.head.tolist()
    for first, end in pairwise(offsets):
        for i in range(first, end):
            if heads[i] > 0:
                plain = plain_label(labels[i], _NO_LABEL)
                note = {} if plain == labels[i] else {"label": labels[i]}
                yield Arc(plain, first + heads[i] - 1, i, note)


def set_words(doc: Doc, lines: Sequence[Line], found: Sequence[Arc]) -> None:
    """Give a document the words of T lines, in their order, and the trees of arcs between them."""
    _set_tokens(doc, lines)
    names = dict.fromkeys(name for line in lines for name in (*_columns(line), line.note.get("type", _TYPES[0])))
    for name in filter(None, names):
        doc.set_column(name, [_value(line, name) for line in lines])
    if "form" in names:
        forms = [doc.text[line.start : line.end] for line in lines]
        doc.set_column("form", [_columns(line).get("form", form) for line, form in zip(lines, forms, strict=True)])
    starts = [i for i, line in enumerate(lines) if line.note.get("first")]
    if starts:
        doc.set_sentences([*starts, len(lines)])
        doc.comments = [tuple(lines[i].note.get("comments", ())) for i in starts]
    _set_heads(doc, lines, found)
    for name in dict.fromkeys(name for line in lines for name in line.note.get("confidence", {})):
        doc.confidence[name] = np.array([line.note["confidence"][name] for line in lines], dtype=np.float32)


def _set_tokens(doc: Doc, lines: Sequence[Line]) -> None:
    tokens: list[tuple[int, int]] = []
    word_token: list[int] = []
    for _, group in groupby(range(len(lines)), key=lambda i: lines[i].note.get("token", ~i)):
        members = list(group)
        tokens.append((lines[members[0]].start, lines[members[-1]].end))
        word_token += [len(tokens) - 1] * len(members)
    doc.set_offsets([start for start, _ in tokens], [end for _, end in tokens])
    doc.word_token = np.array(word_token, dtype=np.int32)
    doc.set_column("form", [doc.text[line.start : line.end] for line in lines])
    for i, line in enumerate(lines):
        if "multiword" in line.note:
            length, fields = line.note["multiword"]
            doc.multiwords.append(Multiword(i, i + length, tuple(fields)))


def _set_heads(doc: Doc, lines: Sequence[Line], found: Sequence[Arc]) -> None:
    offsets = doc.sentence_offsets if doc.n_sentences else np.array([0, doc.n_words])
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    heads = np.array([line.note.get("head", 0) for line in lines], dtype=np.int32)
    labels = [_columns(line).get("deprel", "") for line in lines]
    for arc in found:
        if sentence[arc.head] != sentence[arc.dependent]:
            raise WeftError(f"an arc goes from word {arc.head} to word {arc.dependent} of another sentence")
        heads[arc.dependent] = arc.head - offsets[sentence[arc.head]] + 1
        labels[arc.dependent] = arc.note.get("label", arc.type)
    doc.head = heads
    if any(labels):
        doc.set_column("deprel", labels)


def _columns(line: Line) -> Mapping[str, str]:
    columns: Mapping[str, str] = line.note.get("columns", {})
    return columns


def _value(line: Line, name: str) -> str:
    """The value of a word in a column: that of its note, or its type."""
    if name in _columns(line):
        return _columns(line)[name]
    return line.type if name == line.note.get("type", _TYPES[0]) else ""
