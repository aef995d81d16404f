"""One layer of documents as a table for other tools: CSV, TSV or Parquet, one row per word, sentence or span.

| layer | columns |
|---|---|
| `documents` | `id`, `text` |
| `sentences` | `document`, `sentence`, `start`, `end`, `text` |
| `words` | `document`, `sentence`, `word`, `start`, `end`, `text`, the columns of CoNLL-U, `head` |
| `relations` | `document`, `sentence`, `tuple`, `relation`, `slot`, `start`, `end`, `text`, `label`, `probability` |
| `events` | `document`, `sentence`, `event`, `type`, `role`, `start`, `end`, `text`, `label`, `filler` |
| a span layer | `document`, `sentence`, `start`, `end`, `text`, `label`, `probability` |

`document` is the name of the document. Everything is counted from 0: `start` and `end` in characters of the document,
`sentence`, `word` and `head` in sentences and words of it; the head of a root is -1. A span with gaps reaches from its
first piece to its last. An event has one row for its trigger (role `trigger`) and one per argument; `filler` is the
number of an event that is an argument. A tuple of mentions has one row per filled slot, and the probability of the
tuple in each.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError, DataError, did_you_mean
from weft.formats.streams import STANDARD, open_output
from weft.packages import needed
from weft.text.conventions.events import LAYER as EVENTS
from weft.text.conventions.events import event_rows
from weft.text.conventions.opinions import LAYER as OPINIONS
from weft.text.conventions.tuples import LAYER as RELATIONS
from weft.text.doc import WORD_COLUMNS, Doc
from weft.text.layers import Pieces
from weft.text.records.of_doc import first_words, span_records

Row = tuple[Any, ...]
#: Formats of tables by the suffixes of their files.
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
FORMATS = tuple(SUFFIXES.values())
_PLACE = ("document", "sentence", "start", "end", "text")
_NUMBERS = ("sentence", "word", "tuple", "event", "filler", "start", "end", "head")
_BATCH = 20_000


def write_table(docs: Iterable[Doc], path: str | os.PathLike[str], layer: str, format: str | None = None) -> int:
    """Write a layer of documents as a table in the format of the suffix and return the number of its rows.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_table([Doc.from_words([["Dogs", "bark"]])], f"{folder}/words.csv", "sentences")
    ...     print(Path(folder, "words.csv").read_text(), end="")
    document,sentence,start,end,text
    ,0,0,9,Dogs bark
    """
    name = os.fspath(path)
    kind = format or table_format(name)
    names = columns_of(layer)
    rows = _Rows(docs, layer)
    if kind == "parquet":
        return _write_parquet(rows, name, names)
    return _write_text(rows, name, names, "\t" if kind == "tsv" else ",")


def table_format(path: str) -> str:
    """The format of a table, by the suffix of its file.

    >>> table_format("entities.csv.gz")
    'csv'
    """
    suffix = os.path.splitext(path.removesuffix(".gz"))[1]
    if suffix not in SUFFIXES:
        raise ConfigError(f"a table is written to a file that ends in {', '.join(SUFFIXES)}, not to {path}")
    return SUFFIXES[suffix]


def columns_of(layer: str) -> tuple[str, ...]:
    """The columns of the table of a layer.

    >>> columns_of("entities")
    ('document', 'sentence', 'start', 'end', 'text', 'label', 'probability')
    """
    if layer == "documents":
        return ("id", "text")
    if layer == "sentences":
        return _PLACE
    if layer == "words":
        return ("document", "sentence", "word", "start", "end", "text", *WORD_COLUMNS, "head")
    if layer == RELATIONS:
        return ("document", "sentence", "tuple", "relation", "slot", "start", "end", "text", "label", "probability")
    if layer == EVENTS:
        return ("document", "sentence", "event", "type", "role", "start", "end", "text", "label", "filler")
    if layer == OPINIONS:
        return (*_PLACE, "label", "entity", "aspect", "other", "score")
    return (*_PLACE, "label", "probability")


class _Rows:
    """The rows of all documents; a span layer that none of them has is an error."""

    def __init__(self, docs: Iterable[Doc], layer: str) -> None:
        self.docs, self.layer = docs, layer

    def __iter__(self) -> Iterator[Row]:
        of_doc = _OF_LAYER.get(self.layer)
        found: set[str] = set()
        for doc in self.docs:
            found |= {*doc.spans, *doc.graphs, *([RELATIONS] if RELATIONS in doc.relations else [])}
            yield from of_doc(doc) if of_doc is not None else _spans(doc, self.layer)
        if (of_doc is None or self.layer in (RELATIONS, EVENTS, OPINIONS)) and self.layer not in found:
            known = sorted({*found, *_OF_LAYER} - {self.layer})
            hint = did_you_mean(self.layer, known, f"they have {', '.join(known)}")
            raise DataError(f"no document has a layer {self.layer!r}; {hint}")


def _document(doc: Doc) -> Iterator[Row]:
    yield doc.id, doc.text


def _sentences(doc: Doc) -> Iterator[Row]:
    for sentence in doc.sentences:
        text = sentence.text
        start = sentence[0].start if len(sentence) else 0
        yield doc.id, sentence.index, start, start + len(text), text


def _words(doc: Doc) -> Iterator[Row]:
    text, columns = doc.text, [doc.column(name) for name in WORD_COLUMNS]
    sentences = _sentences_of_words(doc)
    heads = [None] * doc.n_words if doc.head is None else _heads(doc)
    starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        yield (doc.id, sentences[i], i, start, end, text[start:end], *(values[i] for values in columns), heads[i])


def _spans(doc: Doc, layer: str) -> Iterator[Row]:
    if layer not in doc.spans:
        return
    firsts = _first_characters(doc)
    for span in span_records(doc, doc.spans[layer]):
        place = (doc.id, _sentence_at(firsts, span["start"]), span["start"], span["end"], span["text"])
        yield (*place, span["label"], span["probability"])


def _relations(doc: Doc) -> Iterator[Row]:
    firsts = _first_characters(doc)
    for number, found in enumerate(doc.tuples):
        spans = span_records(doc, doc.spans[found.mentions])
        for slot, member in found.row.members:
            span = spans[member]
            place = (doc.id, _sentence_at(firsts, span["start"]), number, found.label, slot)
            yield (*place, span["start"], span["end"], span["text"], span["label"], found.probability)


def _events(doc: Doc) -> Iterator[Row]:
    if EVENTS not in doc.graphs:
        yield from ()
        return
    firsts, text = _first_characters(doc), doc.text
    rows = event_rows(doc, unit="chars")
    for number, row in enumerate(rows):
        parts: list[tuple[str, Pieces, str, int | None]] = [("trigger", row.trigger, row.type, None)]
        for role, inner, pieces, label in row.arguments:
            target = rows[inner] if inner >= 0 else None
            parts.append((role, target.trigger, target.type, inner) if target else (role, pieces, label, None))
        for role, pieces, label, filler in parts:
            start, end = pieces[0][0], pieces[-1][1]
            said = " ".join(text[a:b] for a, b in pieces)
            yield (doc.id, _sentence_at(firsts, start), number, row.type, role, start, end, said, label, filler)


def _opinions(doc: Doc) -> Iterator[Row]:
    """Opinions with the words that carry them, empty if nobody marked these."""
    if OPINIONS not in doc.spans:
        return
    firsts = _first_characters(doc)
    for span, each in zip(span_records(doc, doc.spans[OPINIONS]), doc.opinions, strict=True):
        text = span["text"] if each.evidence is not None else ""
        place = (doc.id, _sentence_at(firsts, span["start"]), span["start"], span["end"], text)
        names = (mention.text if mention is not None else "" for mention in (each.entity, each.aspect, each.other))
        yield (*place, each.label, *names, each.score)


def _first_characters(doc: Doc) -> NDArray[Any]:
    """Where sentences begin."""
    if not doc.n_words:
        return np.zeros(0, dtype=np.int32)
    return doc.word_start[np.minimum(doc.sentence_offsets[:-1], doc.n_words - 1)]


def _sentence_at(firsts: NDArray[Any], start: int) -> int | None:
    """The sentence of a character: the last one that begins up to it."""
    before = int(np.searchsorted(firsts, start, side="right"))
    return max(before - 1, 0) if len(firsts) else None


_OF_LAYER: dict[str, Callable[[Doc], Iterator[Row]]] = {
    "documents": _document,
    "sentences": _sentences,
    "words": _words,
    RELATIONS: _relations,
    EVENTS: _events,
    OPINIONS: _opinions,
}


def _sentences_of_words(doc: Doc) -> list[int]:
    if not doc.n_sentences:
        return [0] * doc.n_words
    numbers: list[int] = np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets)).tolist()
    return numbers


def _heads(doc: Doc) -> list[int | None]:
    assert doc.head is not None
    return [
        None if head < 0 else first + head - 1 if head else -1
        for head, first in zip(doc.head.tolist(), first_words(doc), strict=True)
    ]


def _write_text(rows: Iterable[Row], path: str, names: tuple[str, ...], separator: str) -> int:
    count = 0
    with open_output(path) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        table = csv.writer(lines, delimiter=separator, lineterminator="\n")
        table.writerow(names)
        for row in rows:
            table.writerow(row)
            count += 1
        lines.detach()
    return count


def _write_parquet(rows: Iterable[Row], path: str, names: tuple[str, ...]) -> int:
    pyarrow = needed("pyarrow", "Parquet")
    needed("pyarrow.parquet", "Parquet")
    if path == STANDARD:
        raise ConfigError("Parquet cannot be written to standard output; name a file")
    kinds = {"probability": pyarrow.float64(), **dict.fromkeys(_NUMBERS, pyarrow.int32())}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in names])
    count, source = 0, iter(rows)
    with open_output(path) as output, pyarrow.parquet.ParquetWriter(output, schema, compression="zstd") as file:
        while batch := list(islice(source, _BATCH)):
            cells = zip(*batch, strict=True)
            columns = [pyarrow.array(values, field.type) for values, field in zip(cells, schema, strict=True)]
            file.write_batch(pyarrow.record_batch(columns, schema=schema))
            count += len(batch)
    return count
