"""Events in JSON Lines: a text, mentions by characters if there are any, and events, one document per line.

    {"id": "n1", "text": "Rebels fired at the convoy and killed two guards.",
     "mentions": [[0, 6, "group"], [16, 26, "vehicle"], [38, 48, "person"]],
     "events": [{"id": "E1", "type": "Attack", "trigger": [7, 12], "arguments": [["Attacker", 0], ["Target", 1]]},
                {"type": "Die", "trigger": [31, 37], "arguments": [["Victim", [38, 48]], ["Cause", "E1"]]}]}

An argument is a role with one of: the number of a mention, a span `[start, end]` or `[start, end, type]`, the name of
an event. Triggers may have several words, and arguments may stand in any sentence. A span that is no mention becomes
one, of the type `argument` unless it has another, so data without mentions can be learned from. Triggers and spans
with gaps are lists of pieces: `[[7, 12], [20, 24]]`. A document without `events` is one to annotate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.jsonl import list_of, read_texts
from weft.formats.streams import Faults, write_texts
from weft.text.conventions.events import LAYER, EventRow, Filler, anchors_of_events, event_rows, set_events
from weft.text.conventions.tuples import MENTIONS
from weft.text.doc import Doc
from weft.text.layers import Pieces, SpanLayer, chars_of_words

#: The type of fillers that have none.
ARGUMENT = "argument"
_MENTION = 'a mention such as [0, 8, "person"]'
_EVENT = 'an event such as {"type": "Die", "trigger": [31, 37], "arguments": [["Victim", 0]]}'
_FILLER = 'an argument such as ["Victim", 0], ["Victim", [38, 48]] or ["Cause", "E1"]'


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of a file."""

    def fill(doc: Doc, values: dict[str, Any], number: int) -> None:
        _Line(path, number, len(doc.text)).fill(doc, values)

    yield from read_texts(path, fill, ("mentions", "events"), faults, encoding)


class _Line:
    """Reads one line."""

    def __init__(self, path: str, number: int, limit: int) -> None:
        self.path, self.number, self.limit = path, number, limit

    def fault(self, expected: str, found: object) -> FormatError:
        return FormatError(self.path, self.number, expected, found if isinstance(found, str) else repr(found)[:60])

    def fill(self, doc: Doc, values: dict[str, Any]) -> None:
        mentions = [self._mention(each) for each in list_of(self.path, self.number, values, "mentions")]
        spans = doc.spans[MENTIONS] = SpanLayer(doc.strings, "chars")
        for pieces, label in mentions:
            spans.add(pieces, label)
        if "events" in values:
            rows = self._events(list_of(self.path, self.number, values, "events"), mentions)
            for filler in dict.fromkeys(f for row in rows for f in row.arguments if f.event < 0):
                if (filler.pieces, filler.label) not in mentions:
                    mentions.append((filler.pieces, filler.label))
                    spans.add(filler.pieces, filler.label)
            try:
                set_events(doc, rows, unit="chars")
            except WeftError as error:
                raise self.fault(_EVENT, str(error)) from error

    def _pieces(self, values: Any, expected: str) -> Pieces:
        rows = values if isinstance(values, list) and values and isinstance(values[0], list) else [values]
        for row in rows:
            if not isinstance(row, list) or [type(value) for value in row] != [int, int]:
                raise self.fault(expected, values)
            if not 0 <= row[0] < row[1] <= self.limit:
                raise self.fault(f"a span inside the text of {self.limit} characters", values)
        if any(one[1] > other[0] for one, other in pairwise(rows)):
            raise self.fault("pieces in ascending order", values)
        return tuple((row[0], row[1]) for row in rows)

    def _mention(self, values: Any) -> tuple[Pieces, str]:
        if isinstance(values, dict):
            values = [values.get(key) for key in ("start", "end", "label")]
        if not isinstance(values, list) or len(values) < 2 or not isinstance(values[-1], str) or not values[-1]:
            raise self.fault(_MENTION, values)
        return self._pieces(values[0] if len(values) == 2 else values[:-1], _MENTION), values[-1]

    def _events(self, values: list[Any], mentions: list[tuple[Pieces, str]]) -> list[EventRow]:
        names: dict[str, int] = {}
        for number, each in enumerate(values):
            if not isinstance(each, dict) or not isinstance(each.get("type"), str) or not each["type"]:
                raise self.fault(_EVENT, each)
            name = each.get("id", f"E{number + 1}")
            if not isinstance(name, str) or name in names:
                raise self.fault("an id of its own for each event", name)
            names[name] = number
        rows = []
        for number, each in enumerate(values):
            trigger = self._pieces(each.get("trigger"), _EVENT)
            given = each.get("arguments", [])
            if not isinstance(given, list):
                raise self.fault(_FILLER, given)
            fillers = [self._filler(one, names, mentions, number) for one in given]
            rows.append(EventRow(each["type"], trigger, tuple(fillers)))
        return rows

    def _filler(self, values: Any, names: dict[str, int], mentions: list[tuple[Pieces, str]], own: int) -> Filler:
        if isinstance(values, dict):
            values = [values.get("role"), next((values[k] for k in ("mention", "span", "event") if k in values), None)]
        if not isinstance(values, list) or len(values) != 2 or not isinstance(values[0], str) or not values[0]:
            raise self.fault(_FILLER, values)
        role, what = values
        if isinstance(what, str):
            if what not in names or names[what] == own:
                raise self.fault(f"the id of another event in the role {role!r}", what)
            return Filler(role, names[what])
        if type(what) is int:
            if not 0 <= what < len(mentions):
                raise self.fault(f"the number of a mention from 0 to {len(mentions) - 1} in the role {role!r}", what)
            return Filler(role, -1, *mentions[what])
        if isinstance(what, list) and len(what) > 1 and isinstance(what[-1], str):
            return Filler(role, -1, self._pieces(what[0] if len(what) == 2 else what[:-1], _FILLER), what[-1])
        pieces = self._pieces(what, _FILLER)
        label = next((label for own_pieces, label in mentions if own_pieces == pieces), ARGUMENT)
        return Filler(role, -1, pieces, label)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the mentions and events of documents and return their number."""
    return write_texts(map(to_line, docs), path)


def to_line(doc: Doc) -> str:
    """A document as one line of JSON; fillers that are no mentions are written as spans with their types.

    >>> doc = Doc("Ada left", meta={"id": "a"})
    >>> set_events(doc, [EventRow("Leave", ((4, 8),), (Filler("Who", -1, ((0, 3),), "person"),))], unit="chars")
    >>> to_line(doc)
    '{"id": "a", "text": "Ada left", "mentions": [], "events": [{"id": "E1", "type": "Leave", "trigger": [4, 8], \
"arguments": [["Who", [0, 3, "person"]]]}]}\\n'
    """
    values: dict[str, Any] = {"id": doc.id} if doc.id else {}
    values |= {"text": doc.text, "mentions": []}
    known: dict[tuple[Pieces, str], int] = {}
    if MENTIONS in doc.spans:
        triggers = anchors_of_events(doc).get(MENTIONS, set())
        for number, row in enumerate(chars_of_words(doc, doc.spans[MENTIONS])):
            if number not in triggers:
                known.setdefault((row.pieces, row.label), len(values["mentions"]))
                values["mentions"].append([*_shown(row.pieces, nested=True), row.label])
    if LAYER in doc.graphs:
        values["events"] = [
            {
                "id": f"E{number + 1}", "type": row.type, "trigger": _shown(row.trigger),
                "arguments": [[filler.role, _target(filler, known)] for filler in row.arguments],
            }
            for number, row in enumerate(event_rows(doc, unit="chars"))
        ]  # fmt: skip
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


def _shown(pieces: Pieces, nested: bool = False) -> list[Any]:
    """Pieces as `[start, end]`, or as a list of those if there are several; `nested`: to stand before a label."""
    rows: list[Any] = [list(piece) for piece in pieces]
    if len(rows) == 1:
        return list(rows[0])
    return [rows] if nested else rows


def _target(filler: Filler, known: dict[tuple[Pieces, str], int]) -> Any:
    if filler.event >= 0:
        return f"E{filler.event + 1}"
    if (filler.pieces, filler.label) in known:
        return known[filler.pieces, filler.label]
    return [*_shown(filler.pieces, nested=True), filler.label or ARGUMENT]
