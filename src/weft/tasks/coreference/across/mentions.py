"""Mentions of entities from files: an id, a name, and the words around it.

JSON Lines have one object per mention, Parquet files one row; both have these fields:

    id        a string or number, different for every mention; without it mentions are numbered
    name      the mention's own words
    context   the words around it: a text, or a list of words
    entity    optional: the gold entity, to score a clustering

`text` is read as the name if there is no `name`, and a `sentence` as the context, so that tables of entities need not
be renamed. Words are lower-cased; of a text, they are runs of letters and digits. Only numbers of words are kept.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import DataError, FormatError
from weft.formats.streams import STANDARD, Faults, checked_blocks
from weft.packages import needed
from weft.text.doc import Doc
from weft.text.layers import SpanLayer as SpanLayer

_WORD = re.compile(r"\w+")
_BATCH = 20_000
#: Names that a field may have, the first one first.
_FIELDS = {"id": ("id",), "name": ("name", "text"), "context": ("context", "sentence"), "entity": ("entity",)}


@dataclass
class Mentions:
    """Mentions with their words as numbers: those of mention m are `words[offsets[m]:offsets[m + 1]]`.

    >>> mentions = Mentions.of([("a", "Ann Lee", "the Swedish painter"), ("b", "A. Lee", ["the", "painter"])])
    >>> len(mentions), mentions.context(1), mentions.gold
    (2, ['the', 'painter'], None)
    """

    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    entities: list[str | None] = field(default_factory=list)
    vocabulary: dict[str, int] = field(default_factory=dict)
    words: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    offsets: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    @classmethod
    def of(
        cls, rows: Iterable[tuple[str, str, str | list[str]] | tuple[str, str, str | list[str], str | None]]
    ) -> Mentions:
        """Mentions from ids, names, contexts and, if known, entities."""
        builder = _Builder()
        for row in rows:
            builder.add(*row)
        return builder.done()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def gold(self) -> list[str] | None:
        """The gold entity of every mention, if all have one."""
        known = [entity for entity in self.entities if entity is not None]
        return known if known and len(known) == len(self.ids) else None

    def context(self, mention: int) -> list[str]:
        """The words around a mention."""
        words = list(self.vocabulary)
        return [words[k] for k in self.words[self.offsets[mention] : self.offsets[mention + 1]]]


class _Builder:
    """Collects mentions, their words as numbers."""

    def __init__(self) -> None:
        self.mentions = Mentions()
        self.words = array("i")
        self.ends = array("q", [0])

    def add(self, id: str, name: str, context: str | list[str], entity: str | None = None) -> None:
        vocabulary = self.mentions.vocabulary
        words = _WORD.findall(context.lower()) if isinstance(context, str) else [word.lower() for word in context]
        self.words.extend([vocabulary.setdefault(word, len(vocabulary)) for word in words])
        self.ends.append(len(self.words))
        self.mentions.ids.append(id)
        self.mentions.names.append(name)
        self.mentions.entities.append(entity)

    def done(self) -> Mentions:
        self.mentions.words = np.frombuffer(self.words, dtype=np.int32) if self.words else np.zeros(0, dtype=np.int32)
        self.mentions.offsets = np.frombuffer(self.ends, dtype=np.int64)
        return self.mentions


def read_mentions(paths: Iterable[str | Path], faults: Faults | None = None) -> Mentions:
    """The mentions of JSON Lines (gzipped or not) and Parquet files."""
    faults = faults or Faults()
    builder = _Builder()
    seen: set[str] = set()
    for path in map(str, paths):
        rows = _parquet(path) if path.endswith(".parquet") else _lines(path, faults)
        unit = "row" if path.endswith(".parquet") else "line"
        for number, row in rows:
            try:
                id, name, context, entity = _checked(path, number, row, unit, len(builder.mentions))
                if id in seen:
                    raise FormatError(path, number, "an id that no other mention has", repr(id), unit=unit)
            except FormatError as error:
                faults.meet(error)
                continue
            seen.add(id)
            builder.add(id, name, context, entity)
    if not len(builder.mentions):
        raise DataError("there are no mentions in the files; expected lines or rows with id, name and context")
    return builder.done()


def _lines(path: str, faults: Faults) -> Iterator[tuple[int, Any]]:
    for block in checked_blocks(path, faults, "\n", "utf-8"):
        for number, line in enumerate(block.text.split("\n"), block.line):
            if line.strip():
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    faults.meet(FormatError(path, number, "a JSON object with id, name and context", line[:60]))
                    continue
                yield number, row


def _parquet(path: str) -> Iterator[tuple[int, Any]]:
    pyarrow = needed("pyarrow", "Parquet")
    parquet = needed("pyarrow.parquet", "Parquet")
    if path == STANDARD or not Path(path).is_file():
        raise DataError(f"there is no file {path}")
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            names = {name for several in _FIELDS.values() for name in several}
            wanted = [name for name in file.schema_arrow.names if name in names]
            for batch in file.iter_batches(batch_size=_BATCH, columns=wanted):
                batch.validate(full=True)
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pyarrow.ArrowException, OSError, UnicodeError, OverflowError, MemoryError) as error:
        raise FormatError(path, None, "a Parquet file with columns id, name and context", str(error)[:200]) from None


def _checked(path: str, number: int, row: Any, unit: str, count: int) -> tuple[str, str, str | list[str], str | None]:
    """The fields of a line or row."""
    if not isinstance(row, Mapping):
        raise FormatError(path, number, "an object with id, name and context", type(row).__name__, unit=unit)

    def value(field: str) -> Any:
        return next((row[key] for key in _FIELDS[field] if row.get(key) is not None), None)

    id, name, context, entity = (value(field) for field in _FIELDS)
    id = str(count) if id is None else id
    for field_name, given in (("id", id), ("entity", entity)):
        if given is not None and (isinstance(given, bool) or not isinstance(given, str | int)):
            raise FormatError(path, number, f"a string or number as {field_name}", type(given).__name__, unit=unit)
    if not isinstance(name, str) or not name.strip():
        raise FormatError(path, number, "a name (field name or text)", repr(name), unit=unit)
    if context is None:
        context = []
    if not isinstance(context, str) and not (
        isinstance(context, list) and all(isinstance(word, str) for word in context)
    ):
        raise FormatError(path, number, "a text or a list of words as context", type(context).__name__, unit=unit)
    return str(id), name, context, None if entity is None else str(entity)


def mentions_of_docs(docs: Iterable[Doc], layer: str = "entities", window: int = 30) -> Mentions:
    """The spans of a layer as mentions: their text, and up to `window` words on each side within the document.

    The id of a mention is that of its document, or its number, with the mention's first and last character.

    >>> doc = Doc.from_words([["Ann", "Lee", "paints", "."]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 2, "PER")])
    >>> mentions = mentions_of_docs([doc])
    >>> mentions.ids, mentions.names, mentions.context(0)
    (['1:0-7'], ['Ann Lee'], ['paints', '.'])
    """
    builder = _Builder()
    for number, doc in enumerate(docs, 1):
        if layer not in doc.spans:
            continue
        words = [(word.start, word.end, word.form) for sentence in doc.sentences for word in sentence]
        starts, ends = [word[0] for word in words], [word[1] for word in words]
        for span in doc.span_views(layer):
            left = words[: bisect_right(ends, span.start)][-window:]
            right = words[bisect_left(starts, span.end) :][:window]
            name = doc.meta.get("id") or str(number)
            builder.add(f"{name}:{span.start}-{span.end}", span.text, [word[2] for word in [*left, *right]])
    if not len(builder.mentions):
        raise DataError(f"no document has a layer {layer!r} with spans; annotate them first, or name another --layer")
    return builder.done()
