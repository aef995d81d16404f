"""Relation tuples in JSON Lines: a text, its mentions by characters, and tuples of mentions, one document per line.

    {"id": "n1", "text": "Ada Byrd is the editor of Quill Press.",
     "mentions": [[0, 8, "person"], [16, 22, "job"], [26, 37, "company"]],
     "tuples": [{"relation": "employment", "slots": {"person": 0, "job": 1, "company": 2}}]}

Slots that nothing fills are left out; a list of mentions fills a slot several times. What was predicted has the
probabilities of its pairs (`pairs`, in the order of slots). A document without `tuples` is one to annotate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.jsonl import list_of, read_texts
from weft.formats.streams import Faults, write_texts
from weft.text.conventions.tuples import LAYER, MENTIONS, TupleRow, set_tuples, tuple_rows
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, chars_of_words

_MENTION = 'a mention such as [0, 8, "person"]'
_TUPLE = 'a tuple such as {"relation": "employment", "slots": {"person": 0, "job": 1}}'


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of a file."""

    def fill(doc: Doc, values: dict[str, Any], number: int) -> None:
        _fill(path, number, values, doc)

    yield from read_texts(path, fill, ("mentions", "tuples"), faults, encoding)


def _fill(path: str, number: int, values: dict[str, Any], doc: Doc) -> None:
    spans = doc.spans[MENTIONS] = SpanLayer(doc.strings, "chars")
    for mention in list_of(path, number, values, "mentions"):
        start, end, label = _mention(path, number, mention, len(doc.text))
        spans.add([(start, end)], label)
    if "tuples" in values:
        rows = [_tuple(path, number, each, len(spans)) for each in list_of(path, number, values, "tuples")]
        try:
            set_tuples(doc, rows)
        except WeftError as error:
            raise FormatError(path, number, _TUPLE, str(error)) from error


def _mention(path: str, number: int, values: Any, limit: int) -> tuple[int, int, str]:
    if isinstance(values, dict):
        values = [values.get(key) for key in ("start", "end", "label")]
    if not isinstance(values, list) or [type(value) for value in values] != [int, int, str]:
        raise FormatError(path, number, _MENTION, repr(values)[:60])
    start, end, label = values
    if not 0 <= start < end <= limit:
        raise FormatError(path, number, f"a mention inside the text of {limit} characters", repr(values)[:60])
    return start, end, label


def _tuple(path: str, number: int, values: Any, limit: int) -> TupleRow:
    slots = values.get("slots") if isinstance(values, dict) else None
    if not isinstance(slots, dict) or not isinstance(values.get("relation"), str):
        raise FormatError(path, number, _TUPLE, repr(values)[:60])
    members: list[tuple[str, int]] = []
    for slot, filler in slots.items():
        for mention in filler if isinstance(filler, list) else [filler]:
            if type(mention) is not int or not 0 <= mention < limit:
                expected = f"the number of a mention from 0 to {limit - 1} in the slot {slot!r}"
                raise FormatError(path, number, expected, repr(mention)[:60])
            members.append((slot, mention))
    pairs = values.get("pairs", [])
    if not isinstance(pairs, list) or not all(type(p) in (int, float) and 0 <= p <= 1 for p in pairs):
        raise FormatError(path, number, "probabilities of pairs from 0 to 1", repr(pairs)[:60])
    return TupleRow(values["relation"], tuple(members), tuple(float(p) for p in pairs))


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the mentions and tuples of documents and return their number."""
    return write_texts(map(to_line, docs), path)


def to_line(doc: Doc) -> str:
    """A document as one line of JSON.

    >>> to_line(Doc("Ada left", meta={"id": "a"}))
    '{"id": "a", "text": "Ada left", "mentions": []}\\n'
    """
    values: dict[str, Any] = {"id": doc.id} if doc.id else {}
    values |= {"text": doc.text, "mentions": []}
    relations = doc.relations.get(LAYER)
    mentions = relations.spans if relations is not None else MENTIONS
    if mentions in doc.spans:
        spans = chars_of_words(doc, doc.spans[mentions])
        values["mentions"] = [[row.pieces[0][0], row.pieces[-1][1], row.label] for row in spans]
    if relations is not None:
        values["tuples"] = [_values(row) for row in tuple_rows(doc)]
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


def _values(row: TupleRow) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for slot, number in row.members:
        slots.setdefault(slot, []).append(number)
    values: dict[str, Any] = {
        "relation": row.label,
        "slots": {slot: own if len(own) > 1 else own[0] for slot, own in slots.items()},
    }
    if row.pairs:
        known = dict(
            zip(map(frozenset, combinations([number for _, number in row.members], 2)), row.pairs, strict=True)
        )
        ordered = [number for own in slots.values() for number in own]
        values["pairs"] = [known[frozenset(pair)] for pair in combinations(ordered, 2)]
    return values
