"""doccano's exports and imports, as its versions write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weft.errors import FormatError
from weft.formats import Report, read, write
from weft.text import Doc


def load(folder: Path, *lines: Any) -> list[Doc]:
    (folder / "a.doccano.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return list(read(folder / "a.doccano.jsonl"))


def entity(number: int, start: int, end: int, label: Any) -> dict[str, Any]:
    return {"id": number, "start_offset": start, "end_offset": end, "label": label}


@pytest.mark.parametrize(
    "spans",
    [
        {"label": [[0, 3, "PER"]]},
        {"labels": [[0, 3, "PER"]]},
        {"entities": [[0, 3, "PER"]]},
        {"entities": [entity(4, 0, 3, "PER")]},
        {"annotations": [{"label": "PER", "start_offset": 0, "end_offset": 3, "user": 1}]},
    ],
)
def test_every_form_of_spans_is_read(spans: dict[str, Any], tmp_path: Path) -> None:
    (doc,) = load(tmp_path, {"id": 1, "text": "Ada left.", "meta": {"source": "diary"}, "Comments": [], **spans})
    assert [(span.text, span.label) for span in doc.entities] == [("Ada", "PER")]
    assert doc.meta == {"id": "1", "source": "diary"}


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ({"label": ["positive"]}, ["positive"]),
        ({"label": "positive"}, ["positive"]),
        ({"labels": ["a", "b"]}, ["a", "b"]),
        ({"annotations": [{"label": 3, "user": 1}]}, ["3"]),
        ({"cats": []}, []),
    ],
)
def test_every_form_of_labels_is_read(labels: dict[str, Any], named: list[str], tmp_path: Path) -> None:
    (doc,) = load(tmp_path, {"text": "Fine.", **labels})
    assert (doc.meta["document_labels"], list(doc.spans)) == ({"label": named}, [])
    assert doc.meta.get("sentiment") == ("positive" if named == ["positive"] else None)


def test_relations_and_labels_stand_beside_entities(tmp_path: Path) -> None:
    line = {"id": 1, "text": "Ada left Oslo.", "entities": [entity(8, 0, 3, "PER"), entity(9, 9, 13, "LOC")],
            "relations": [{"id": 5, "from_id": 8, "to_id": 9, "type": "left"}], "cats": ["travel"],
            "annotation_approver": "ann"}  # fmt: skip
    (doc,) = load(tmp_path, line)
    assert list(doc.relations["relations"]) == [(0, 1, "left")]
    assert doc.meta["annotator"] == "ann"
    write([doc], tmp_path / "b.doccano.jsonl")
    assert json.loads((tmp_path / "b.doccano.jsonl").read_text()) == line | {"id": "1"}


def test_nothing_labelled_is_told_from_not_labelled(tmp_path: Path) -> None:
    done, asked = load(tmp_path, {"text": "Fine.", "label": []}, {"text": "Fine."})
    assert (list(done.spans), list(asked.spans)) == (["entities"], [])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"label": 7}, "a list under 'label'"),
        ({"label": [[0, 99, "X"]]}, "a region inside the text of 4 characters"),
        ({"label": [[0, 1]]}, "a span such as"),
        ({"label": [[0, 1, None]]}, "a label"),
        ({"entities": ["X"]}, "a span such as"),
        ({"entities": [], "relations": [{"from_id": 1, "to_id": 2}]}, "a relation between two regions"),
        ({"relations": [7]}, "a relation such as"),
        ({"relations": {}}, "a list of relations"),
    ],
)
def test_bad_lines_are_refused_with_file_and_line(bad: dict[str, Any], said: str, tmp_path: Path) -> None:
    lines = [{"text": "Fine"}, {"text": "Fine", **bad}, {"text": "Fine"}]
    with pytest.raises(FormatError, match=r"a\.doccano\.jsonl, line 2: expected ") as caught:
        load(tmp_path, *lines)
    assert said in str(caught.value)
    report = Report()
    assert len(list(read(tmp_path / "a.doccano.jsonl", skip_bad=True, report=report))) == 2
    assert report.count == 1


def test_names_of_several_questions_stay(tmp_path: Path) -> None:
    doc = Doc("Fine.", meta={"document_labels": {"tone": ["calm"], "topic": ["food"]}})
    write([doc], tmp_path / "a.doccano.jsonl")
    (back,) = read(tmp_path / "a.doccano.jsonl")
    assert back.meta["document_labels"] == doc.meta["document_labels"]
    assert json.loads((tmp_path / "a.doccano.jsonl").read_text())["label"] == ["calm", "food"]
