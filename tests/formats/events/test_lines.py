"""Events in JSON Lines: nested arguments, several words, other sentences, no mentions, and what a bad line says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weft.errors import FormatError
from weft.formats import read, write
from weft.text.conventions.events import Event, event_rows

TEXT = "Rebels fired at once at the convoy. Two guards died."


def line(**values: Any) -> str:
    return json.dumps({"id": "n", "text": TEXT, **values})


def docs_of(tmp_path: Path, *lines: str) -> list[Any]:
    file = tmp_path / "x.events.jsonl"
    file.write_text("\n".join(lines))
    return list(read(file))


FULL = line(
    mentions=[[0, 6, "group"], [28, 34, "vehicle"], [36, 46, "person"]],
    events=[
        {"id": "a", "type": "Attack", "trigger": [[7, 12], [16, 20]], "arguments": [["Attacker", 0], ["Target", 2]]},
        {
            "type": "Die",
            "trigger": [47, 51],
            "arguments": [["Victim", [36, 46]], ["Cause", "a"], ["By", [28, 34, "x"]]],
        },
    ],
)


def test_arguments_are_mentions_spans_and_events(tmp_path: Path) -> None:
    [doc] = docs_of(tmp_path, FULL)
    attack, die = doc.events
    assert attack.trigger.text == "fired ... once"
    assert [each.filler.text for each in attack.arguments] == ["Rebels", "Two guards"]
    assert die["Victim"].label == "person"  # the span is a mention
    assert isinstance(die["Cause"], Event)
    assert die["By"].label == "x"
    assert [row.label for row in doc.spans["entities"]] == ["group", "vehicle", "person", "x"]


def test_what_was_written_reads_the_same(tmp_path: Path) -> None:
    [doc] = docs_of(tmp_path, FULL)
    write([doc], tmp_path / "y.events.jsonl")
    [again] = read(tmp_path / "y.events.jsonl")
    assert event_rows(again, unit="chars") == event_rows(doc, unit="chars")
    assert list(again.spans["entities"]) == list(doc.spans["entities"])


def test_brat_and_jsonl_keep_events(tmp_path: Path) -> None:
    [doc] = docs_of(tmp_path, FULL)
    write([doc], tmp_path / "brat", "brat")
    write([doc], tmp_path / "z.jsonl")
    for path in (tmp_path / "brat", tmp_path / "z.jsonl"):
        [again] = read(path)
        assert event_rows(again, unit="chars") == event_rows(doc, unit="chars")


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([{"trigger": [7, 12]}], "an event such as"),
        ([{"type": "A", "trigger": [7, 99]}], "a span inside the text of 52 characters"),
        ([{"type": "A", "trigger": [[16, 20], [7, 12]]}], "ascending"),
        ([{"type": "A", "trigger": [7, 12], "arguments": [["X", 3]]}], "the number of a mention"),
        ([{"type": "A", "trigger": [7, 12], "arguments": [["X", "E9"]]}], "the id of another event"),
        ([{"type": "A", "trigger": [7, 12], "arguments": [["X", "E1"]]}], "the id of another event"),
        ([{"type": "A", "trigger": [7, 12], "arguments": [["X"]]}], "an argument such as"),
        ([{"id": "a", "type": "A", "trigger": [7, 12]}] * 2, "an id of its own"),
        ({}, "a list of events"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(tmp_path: Path, events: Any, said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        docs_of(tmp_path, FULL, line(events=events))
    assert "x.events.jsonl, line 2" in str(caught.value) or ":2" in str(caught.value)
