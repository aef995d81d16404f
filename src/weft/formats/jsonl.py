"""JSON Lines: one complete document per line (see `weft.text.record`).

Lines written by other tools are read too: `{"text": ..., "spans": [[start, end, label], ...]}` with character offsets;
the list may be called `spans`, `entities`, `label` or `labels`, and its items may be lists or
`{"start", "end", "label"}`. Unknown keys go to the document's metadata. So are records (`weft.text.records`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.conllu.files import TABLE_LIMIT
from weft.formats.gate import admitted
from weft.formats.streams import (
    Faults,
    TextBlock,
    checked_blocks,
    encoding_error,
    numbered_lines,
    stray_byte,
    write_texts,
)  # fmt: skip
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.record import KEYS, from_record, to_record
from weft.text.records import doc_of_record, is_record
from weft.text.strings import StringTable
from weft.text.validity import check_doc, check_nesting

_SURROGATE = re.compile("[\ud800-\udfff]")
_HUGE = re.compile(r"[eE]\+?\d{3}|\d{300}")
_LIST_LAYERS = {"spans": "spans", "entities": "entities", "label": "entities", "labels": "entities"}


def read(
    path: str, faults: Faults | None = None, *, text_column: str = "text", encoding: str = "utf-8"
) -> Iterator[Doc]:
    """The documents in a JSON Lines file; lines of other tools may have their text under another key."""
    faults = faults or Faults()
    strings = StringTable()
    for block in checked_blocks(path, faults, "\n", encoding):
        yield from admitted(path, _items(path, block, strings, text_column), faults)
        if len(strings) > TABLE_LIMIT:
            strings = StringTable()


def read_texts(
    path: str, fill: Callable[[Doc, dict[str, Any], int], None], own: Iterable[str], faults: Faults | None = None,
    encoding: str = "utf-8",
) -> Iterator[Doc]:  # fmt: skip
    """The documents of lines `{"text": ..., "id": ...}`: `fill` adds what the keys `own` say, others are metadata."""
    faults = faults or Faults()
    strings, known = StringTable(), {"text", *own}
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            continue
        try:
            values = load(line)
        except (ValueError, WeftError) as error:
            faults.meet(FormatError(path, number, "a document in JSON", f"a line that is not JSON ({error})"))
            continue
        try:
            if not isinstance(values, dict) or not isinstance(values.get("text"), str):
                raise FormatError(path, number, 'a document in JSON, {"text": ...}', repr(line.strip()[:60]))
            doc = Doc(values["text"], strings)
            doc.meta.update({str(key): value for key, value in values.items() if key not in known})
            doc.id = str(values.get("id", ""))
            fill(doc, values, number)
        except FormatError as error:
            faults.meet(error)
            continue
        yield from admitted(path, [(number, doc)], faults)


def list_of(path: str, number: int, values: dict[str, Any], key: str) -> list[Any]:
    """The list under a key of a line, empty if it is not there.

    >>> list_of("x.jsonl", 1, {"mentions": [[0, 3]]}, "mentions"), list_of("x.jsonl", 1, {}, "mentions")
    ([[0, 3]], [])
    """
    found = values.get(key, [])
    if not isinstance(found, list):
        raise FormatError(path, number, f"a list of {key}", repr(found)[:60])
    return found


def to_line(doc: Doc) -> str:
    """A document as one line of JSON.

    >>> to_line(Doc("Hello", meta={"id": "a"}))
    '{"meta": {"id": "a"}, "text": "Hello"}\\n'
    """
    try:
        return json.dumps(to_record(doc), ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise WeftError(
            f"{doc!r}: metadata or attributes contain a value that JSON cannot represent: {error}"
        ) from error


def write(docs: Iterable[Doc], path: str, line_of: Callable[[Doc], str] = to_line) -> int:
    """Write documents as JSON Lines, or as other lines, and return their number."""
    return write_texts(map(line_of, docs), path)


def from_values(values: Mapping[str, Any], strings: StringTable | None = None, *, check: bool = True) -> Doc:
    """Parse a document from a line of JSON, in Weft's schema or another tool's; `check` as in `from_record`.

    >>> doc = from_values({"text": "Ada wrote", "spans": [[0, 3, "PER"]], "source": "diary"})
    >>> doc.span_views("spans"), doc.meta
    ([Span('Ada', 'PER')], {'source': 'diary'})
    """
    if is_record(values):
        return doc_of_record(values, strings, check=check)
    record = {key: value for key, value in values.items() if key in KEYS}
    lists: dict[str, list[Any]] = {}
    extra: dict[str, Any] = {}
    for key, value in values.items():
        if key in _LIST_LAYERS and isinstance(value, list) and all(isinstance(item, list | dict) for item in value):
            lists.setdefault(_LIST_LAYERS[key], []).extend(value)
            record.pop(key, None)
        elif key not in KEYS:
            extra[key] = value
    doc = from_record(record, strings, check=False)
    doc.meta.update(extra)
    for name, items in lists.items():
        layer = doc.spans[name] = SpanLayer(doc.strings, "chars")
        for item in items:
            start, end, label = (item["start"], item["end"], item["label"]) if isinstance(item, dict) else item
            if type(start) is not int or type(end) is not int:
                raise WeftError(f"expected a span from one character to another, found {repr(item)[:60]}")
            if end > len(doc.text):
                raise WeftError(f"span {start}-{end} exceeds the text of {len(doc.text)} characters")
            layer.add([(start, end)], label)
    if check:
        check_doc(doc, strict=False)
    return doc


def load(text: str) -> Any:
    """The value that a JSON text spells; `ValueError` says why there is none.

    >>> load("[NaN]")
    Traceback (most recent call last):
    ...
    ValueError: NaN is no number of JSON
    """
    try:
        values = decoder.decode(text)
    except RecursionError:
        raise ValueError("lists or objects are nested too deep") from None
    check_value(values, text)
    return values


def check_value(values: Any, text: str) -> None:
    """Refuse a value, read from this JSON text, that holds half a character or a number beyond all floats."""
    if _HUGE.search(text):
        try:
            json.dumps(values, allow_nan=False)
        except RecursionError:
            raise ValueError("lists or objects are nested too deep") from None
    if "\\ud" in text or "\\uD" in text:
        check_nesting(values, "a value")
        if _SURROGATE.search(json.dumps(values, ensure_ascii=False)):
            raise ValueError("an unpaired surrogate, which is not a character")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


#: Reads JSON as the standard has it, without NaN and infinity.
decoder = json.JSONDecoder(parse_constant=_refuse)


def _items(
    path: str, block: TextBlock, strings: StringTable, text_column: str
) -> Iterator[tuple[int, Doc | FormatError]]:
    """The documents in a block of lines, or what is wrong with a line."""
    for number, line in enumerate(block.text.split("\n"), start=block.line):
        if not line or line.isspace():
            continue
        try:
            yield number, _document(path, number, line, block.clean, strings, text_column)
        except FormatError as error:
            yield number, error


def _document(path: str, number: int, line: str, clean: bool, strings: StringTable, text_column: str) -> Doc:
    stray = None if clean else stray_byte(line)
    if stray is not None:
        raise encoding_error(path, number, stray[1])
    try:
        values = load(line)
    except (ValueError, WeftError) as error:
        raise FormatError(path, number, "a document in JSON", f"a line that is not JSON ({error})") from error
    if not isinstance(values, dict):
        raise FormatError(path, number, 'a document in JSON, {"text": ...}', f"a {type(values).__name__}")
    if text_column != "text":
        if text_column not in values:
            raise FormatError(path, number, f"the text under {text_column!r}", f"the keys {', '.join(values)}")
        values["text"] = values.pop(text_column)
    try:
        return from_values(values, strings, check=False)
    except KeyError as error:
        raise FormatError(path, number, f"the key {error}", "none") from error
    except (WeftError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise FormatError(path, number, "a document", f"invalid values: {error}") from error
