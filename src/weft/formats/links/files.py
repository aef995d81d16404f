"""Links of mentions to a knowledge base, one document per line of JSON: the benchmarks of ELEVANT, and simpler lines.

    {"id": 0, "title": "...", "text": "...", "evaluation_span": [0, 118],
     "labels": [{"id": 0, "span": [19, 24], "entity_id": "Q19837", "name": "Steve Jobs", "type": "Q215627"}]}

`labels` may be called `links` or `entity_mentions`, and an item may give `start` and `end` instead of `span`, and `id`
as text instead of `entity_id`. A label becomes a span of the layer `links`, counted in characters; an id that is empty
or begins with `Unknown` becomes NIL. Other fields are kept as metadata and attributes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.gate import admitted
from weft.formats.jsonl import load
from weft.formats.streams import Faults, TextBlock, checked_blocks, encoding_error, stray_byte, write_texts
from weft.text.conventions.links import LAYER, NIL
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, chars_of_words
from weft.text.strings import StringTable

_LISTS = ("labels", "links", "entity_mentions")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of a file."""
    faults = faults or Faults()
    strings = StringTable()
    for block in checked_blocks(path, faults, "\n", encoding):
        yield from admitted(path, _items(path, block, strings), faults)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as lines and return their number."""
    return write_texts((to_line(doc, number) for number, doc in enumerate(docs)), path)


def to_line(doc: Doc, number: int = 0) -> str:
    """A document as one line.

    >>> doc = Doc("Steve left Apple")
    >>> doc.spans["links"] = SpanLayer.of(doc.strings, [(11, 16, "Q312")], "chars")
    >>> to_line(doc)
    '{"id": 0, "text": "Steve left Apple", "labels": [{"id": 0, "span": [11, 16], "entity_id": "Q312"}]}\\n'
    """
    links = chars_of_words(doc, doc.spans[LAYER]) if LAYER in doc.spans else SpanLayer(doc.strings, "chars")
    labels = []
    for row, (pieces, label) in enumerate(links):
        span = [pieces[0][0], pieces[-1][1]]
        attributes = {"name" if key == "title" else key: each for key, each in links.attributes.get(row, {}).items()}
        labels.append({"id": row, "span": span, "entity_id": label, **attributes})
    meta = {key: value for key, value in doc.meta.items() if key not in ("id", "number")}
    line = {"id": doc.meta.get("number", number), **({"title": doc.id} if doc.id else {}), "text": doc.text}
    try:
        return json.dumps({**line, **meta, "labels": labels}, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise WeftError(f"{doc!r}: metadata or attributes have a value that JSON cannot represent: {error}") from error


def _items(path: str, block: TextBlock, strings: StringTable) -> Iterator[tuple[int | None, Doc | FormatError]]:
    for number, line in enumerate(block.text.split("\n"), block.line):
        if line.strip():
            stray = None if block.clean else stray_byte(line)
            if stray is not None:
                yield number, encoding_error(path, number, stray[1])
                continue
            try:
                yield number, from_values(load(line), strings)
            except (ValueError, LookupError, TypeError, AttributeError, WeftError) as error:
                yield number, FormatError(path, number, "a document with links as JSON", f"a fault: {error}")


def from_values(values: dict[str, Any], strings: StringTable | None = None) -> Doc:
    """The document of one line.

    >>> doc = from_values({"text": "Steve left Apple", "links": [{"start": 11, "end": 16, "id": "Q312"}]})
    >>> doc.links
    [Link('Apple', 'Q312', '')]
    """
    if not isinstance(values, dict) or not isinstance(values.get("text"), str):
        raise WeftError('expected an object with the field "text"')
    doc = Doc(values["text"], strings)
    name = values.get("title", values.get("id", ""))
    doc.meta["id"] = str(name) if name != "" else ""
    if not doc.meta["id"]:
        del doc.meta["id"]
    if isinstance(values.get("id"), int) and "title" in values:
        doc.meta["number"] = values["id"]
    layer = doc.spans[LAYER] = SpanLayer(doc.strings, "chars")
    for key, value in values.items():
        if key in _LISTS and isinstance(value, list):
            for item in value:
                _add(layer, item, len(doc.text))
        elif key not in ("text", "id", "title"):
            doc.meta[key] = value
    return doc


def _add(layer: SpanLayer, item: dict[str, Any], size: int) -> None:
    start, end = item["span"] if "span" in item else (item["start"], item["end"])
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= size:
        raise WeftError(f"expected a span within the text of {size} characters, found {repr([start, end])[:60]}")
    label = item.get("entity_id", item.get("id") if isinstance(item.get("id"), str) else "")
    label = "" if label is None else str(label)
    known = ("id", "span", "start", "end", "entity_id")
    attributes = {"title" if key == "name" else str(key): each for key, each in item.items() if key not in known}
    layer.add([(start, end)], NIL if not label or label.startswith("Unknown") else label, **attributes)
