"""Records: one JSON object per line and document, easy to use elsewhere (see `weft.text.records`).

The lossless form is JSON Lines (`weft.formats.jsonl`), whose reader also reads records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weft.formats import jsonl
from weft.formats.streams import Faults
from weft.text.doc import Doc


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a file of records."""
    return jsonl.read(path, faults, encoding=encoding)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write documents as records and return their number."""
    return jsonl.write(docs, path, to_line)


def to_line(doc: Doc) -> str:
    """A document as one line of JSON.

    >>> to_line(Doc("Hello", meta={"id": "a"}))
    '{"id":"a","text":"Hello","sentences":[],"words":[],"spans":{}}\\n'
    """
    return doc.to_json() + "\n"
