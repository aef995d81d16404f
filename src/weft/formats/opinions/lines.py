"""Opinions in JSON Lines: a text, its mentions by characters, and opinions about mentions, one document per line.

    {"id": "r1", "text": "The lens is great, but the zoom jams.",
     "mentions": [[4, 8, "aspect"], [27, 31, "aspect"]],
     "opinions": [{"label": "positive", "aspect": 0}, {"label": "negative", "aspect": 1}]}

Mentions are entities or aspects. An opinion names the numbers of its mentions: `entity`, `aspect`, and for `better` and
`worse` the `other` entity. What was predicted has the characters of the words that carry it (`evidence`) and a `score`.
A document without `opinions` is one to annotate; one without `mentions` too: the model looks for what it knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.jsonl import list_of, read_texts
from weft.formats.streams import Faults, write_texts
from weft.text.conventions.opinions import LABELS, LAYER, MENTIONS, OpinionRow, opinion_rows, set_opinions
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, chars_of_words

_MENTION = 'a mention such as [4, 8, "aspect"]'
_OPINION = 'an opinion such as {"label": "positive", "aspect": 0}'
_KINDS = ("entity", "aspect")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of a file."""

    def fill(doc: Doc, values: dict[str, Any], number: int) -> None:
        _fill(path, number, values, doc)

    yield from read_texts(path, fill, ("mentions", "opinions"), faults, encoding)


def _fill(path: str, number: int, values: dict[str, Any], doc: Doc) -> None:
    if "mentions" in values:
        spans = doc.spans[MENTIONS] = SpanLayer(doc.strings, "chars")
        for mention in list_of(path, number, values, "mentions"):
            start, end, label = _mention(path, number, mention, len(doc.text))
            spans.add([(start, end)], label)
    if "opinions" in values:
        rows = [_opinion(path, number, each, len(doc.text)) for each in list_of(path, number, values, "opinions")]
        try:
            set_opinions(doc, rows)
        except WeftError as error:
            raise FormatError(path, number, _OPINION, str(error)) from error


def _mention(path: str, number: int, values: Any, limit: int) -> tuple[int, int, str]:
    if not isinstance(values, list) or [type(value) for value in values] != [int, int, str]:
        raise FormatError(path, number, _MENTION, repr(values)[:60])
    start, end, label = values
    if not 0 <= start < end <= limit:
        raise FormatError(path, number, f"a mention inside the text of {limit} characters", repr(values)[:60])
    if label not in _KINDS:
        raise FormatError(path, number, f"a mention of the kind {' or '.join(_KINDS)}", repr(label)[:60])
    return start, end, label


def _opinion(path: str, number: int, values: Any, limit: int) -> OpinionRow:
    if not isinstance(values, dict) or values.get("label") not in LABELS:
        raise FormatError(path, number, f"{_OPINION}, its label one of {', '.join(LABELS)}", repr(values)[:60])
    entity, aspect, other = (values.get(name, -1) for name in ("entity", "aspect", "other"))
    if any(type(each) is not int for each in (entity, aspect, other)):
        raise FormatError(path, number, _OPINION, repr(values)[:60])
    evidence, score = values.get("evidence"), values.get("score")
    if evidence is not None and not (
        isinstance(evidence, list)
        and [type(each) for each in evidence] == [int, int]
        and 0 <= evidence[0] < evidence[1] <= limit
    ):
        raise FormatError(path, number, "evidence as two places in the text", repr(evidence)[:60])
    if score is not None and type(score) not in (int, float):
        raise FormatError(path, number, "a score that is a number", repr(score)[:60])
    return OpinionRow(values["label"], entity, aspect, other, (evidence[0], evidence[1]) if evidence else None, score)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the mentions and opinions of documents and return their number."""
    return write_texts(map(to_line, docs), path)


def to_line(doc: Doc) -> str:
    """A document as one line of JSON.

    >>> to_line(Doc("It jams", meta={"id": "a"}))
    '{"id": "a", "text": "It jams"}\\n'
    """
    values: dict[str, Any] = {"id": doc.id} if doc.id else {}
    values["text"] = doc.text
    if MENTIONS in doc.spans:
        spans = chars_of_words(doc, doc.spans[MENTIONS])
        values["mentions"] = [[row.pieces[0][0], row.pieces[-1][1], row.label] for row in spans]
    if LAYER in doc.spans:
        places = chars_of_words(doc, doc.spans[LAYER])
        values["opinions"] = [_values(row, places[k].pieces) for k, row in enumerate(opinion_rows(doc))]
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


def _values(row: OpinionRow, pieces: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    values: dict[str, Any] = {"label": row.label}
    values |= {name: getattr(row, name) for name in ("entity", "aspect", "other") if getattr(row, name) >= 0}
    if row.evidence is not None:
        values["evidence"] = [pieces[0][0], pieces[-1][1]]
    return values if row.score is None else values | {"score": row.score}
