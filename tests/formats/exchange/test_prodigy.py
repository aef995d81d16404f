"""Prodigy's tasks and answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weft.errors import FormatError
from weft.formats import Report, read, write
from weft.text import Doc

TOKENS = [
    {"text": word, "start": start, "end": end, "id": number, "ws": number < 2}
    for number, (word, start, end) in enumerate([("Ada", 0, 3), ("left", 4, 8), ("Oslo", 9, 13)])
]
ADA = {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"}
OSLO = {"start": 9, "end": 13, "token_start": 2, "token_end": 2, "label": "LOC"}


def load(folder: Path, *lines: Any) -> list[Doc]:
    (folder / "a.prodigy.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return list(read(folder / "a.prodigy.jsonl"))


def again(folder: Path, docs: list[Doc]) -> list[dict[str, Any]]:
    write(docs, folder / "b.prodigy.jsonl")
    return [json.loads(line) for line in (folder / "b.prodigy.jsonl").read_text().splitlines()]


def test_a_task_comes_back_as_it_was(tmp_path: Path) -> None:
    line = {
        "text": "Ada left Oslo", "meta": {"source": "diary", "id": "d1"}, "tokens": TOKENS,
        "spans": [ADA | {"source": "en", "score": 0.5}, OSLO],
        "relations": [{"head": 0, "child": 2, "head_span": ADA, "child_span": OSLO, "label": "left"}],
        "_input_hash": 7, "_view_id": "relations", "_annotator_id": "ann", "answer": "accept",
    }  # fmt: skip
    (doc,) = load(tmp_path, line)
    assert (doc.id, doc.column("form"), doc.meta["annotator"]) == ("d1", ["Ada", "left", "Oslo"], "ann")
    assert [span.text for span in doc.entities] == ["Ada", "Oslo"]
    assert list(doc.relations["relations"]) == [(0, 1, "left")]
    (back,) = again(tmp_path, [doc])
    for relation in back["relations"]:
        for side in ("head_span", "child_span"):
            relation[side].pop("id", None)
    for span in back["spans"]:
        span.pop("id", None)
    assert back == line


def test_relations_of_tokens_get_spans_without_labels(tmp_path: Path) -> None:
    line = {"text": "Ada left Oslo", "tokens": TOKENS, "relations": [{"head": 1, "child": 0, "label": "nsubj"}]}
    (doc,) = load(tmp_path, line)
    assert [(span.text, span.label) for span in doc.entities] == [("left", ""), ("Ada", "")]
    assert list(doc.relations["relations"]) == [(0, 1, "nsubj")]


def test_rejected_and_ignored_answers_are_not_taken_for_right(tmp_path: Path) -> None:
    lines = [{"text": "Ada left Oslo", "spans": [ADA], "answer": answer} for answer in ("accept", "reject", "ignore")]
    docs = load(tmp_path, *lines)
    assert [list(doc.spans) for doc in docs] == [["entities"], ["rejected"], ["ignored"]]
    assert [line["answer"] for line in again(tmp_path, docs)] == ["accept", "reject", "ignore"]
    binary = [{"text": "Fine.", "label": "POS", "answer": answer} for answer in ("accept", "reject")]
    docs = load(tmp_path, *binary)
    assert [doc.meta.get("document_labels") for doc in docs] == [{"label": ["POS"]}, None]
    assert again(tmp_path, docs) == binary


def test_choices_are_labels_and_options_stay(tmp_path: Path) -> None:
    options = [{"id": 1, "text": "Travel"}, {"id": "food", "text": "Food"}]
    line = {"text": "Fine.", "options": options, "accept": [1, "food"], "answer": "accept"}
    (doc,) = load(tmp_path, line)
    assert doc.meta["document_labels"] == {"label": ["1", "food"]}
    assert again(tmp_path, [doc]) == [line]
    (made,) = again(tmp_path, [Doc("Fine.", meta={"sentiment": "pos"})])
    assert (made["accept"], made["options"]) == (["pos"], [{"id": "pos", "text": "pos"}])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"spans": 7}, "a list of spans"),
        ({"spans": [7]}, "a span such as"),
        ({"spans": [{"start": 0, "end": 99}]}, "a region inside the text of 13 characters"),
        ({"spans": [{"start": 0, "end": 3, "text": "Bob"}]}, "a span that covers 'Bob'"),
        ({"tokens": [{"start": 0, "end": 3, "id": 4}]}, "a token such as"),
        ({"tokens": [{"start": 0, "end": 3, "text": "Bob"}]}, "tokens of the text"),
        ({"tokens": TOKENS[::-1]}, "a token such as"),
        ({"relations": [{"head": 0, "child": 1}]}, "the number of a token"),
        ({"relations": [7]}, "a relation such as"),
        ({"answer": "maybe"}, "an answer that is one of accept, reject, ignore"),
        ({"accept": "x"}, "a list of chosen options"),
        ({"meta": 7}, "metadata by name"),
    ],
)
def test_bad_lines_are_refused_with_file_and_line(bad: dict[str, Any], said: str, tmp_path: Path) -> None:
    lines = [{"text": "Ada left Oslo"}, {"text": "Ada left Oslo", **bad}, {"text": "Ada left Oslo"}]
    with pytest.raises(FormatError, match=r"a\.prodigy\.jsonl, line 2: expected ") as caught:
        load(tmp_path, *lines)
    assert said in str(caught.value)
    report = Report()
    assert len(list(read(tmp_path / "a.prodigy.jsonl", skip_bad=True, report=report))) == 2
    assert report.count == 1
