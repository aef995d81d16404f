"""Label Studio's exports and imports, as its versions write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weft.errors import FormatError
from weft.formats import Report, convert, read, write
from weft.formats.label_studio import interface
from weft.text import Doc


def region(name: str, start: int, end: int, label: str, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": [label], **more}
    return {"id": name, "from_name": "label", "to_name": "text", "type": "labels", "value": value}


def task(text: str, *results: Any, **more: Any) -> dict[str, Any]:
    answer = {"id": 11, "completed_by": 7, "lead_time": 4.5, "result": list(results)}
    return {"id": 5, "data": {"text": text, "source": "diary"}, "annotations": [answer | more]}


def load(folder: Path, *tasks: Any, **options: Any) -> list[Doc]:
    (folder / "a.json").write_text(json.dumps(tasks), encoding="utf-8")
    return list(read(folder / "a.json", "label-studio", **options))


def test_an_export_becomes_spans_relations_labels_and_who_took_how_long(tmp_path: Path) -> None:
    link = {"type": "relation", "from_id": "r1", "to_id": "r2", "direction": "right", "labels": ["left"]}
    choice = {"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": ["Positive"]}}
    (doc,) = load(tmp_path, task("Ada left Oslo.", region("r1", 0, 3, "PER"), region("r2", 9, 13, "LOC"), link, choice))
    assert [span.text for span in doc.entities] == ["Ada", "Oslo"]
    assert list(doc.relations["relations"]) == [(0, 1, "left")]
    assert (doc.id, doc.meta["source"], doc.meta["annotator"], doc.meta["seconds"]) == ("5", "diary", "7", 4.5)
    assert (doc.meta["document_labels"], doc.meta["sentiment"]) == ({"sentiment": ["Positive"]}, "Positive")


def test_several_annotators_are_documents_and_one_task_again(tmp_path: Path) -> None:
    both = task("Ada left.", region("r1", 0, 3, "PER"))
    both["annotations"].append({"id": 12, "completed_by": {"id": 8, "email": "b@example.org"}, "result": []})
    both["predictions"] = [{"model_version": "m", "score": 0.5, "result": [region("p", 4, 8, "X")]}]
    docs = load(tmp_path, both)
    assert [doc.meta["annotator"] for doc in docs] == ["7", "b@example.org"]
    assert [len(doc.spans["entities"]) for doc in docs] == [1, 0]
    write(docs, tmp_path / "b.label-studio.json")
    (again,) = json.loads((tmp_path / "b.label-studio.json").read_text())
    assert again["predictions"] == both["predictions"]
    assert [each["completed_by"] for each in again["annotations"]] == [7, {"id": 8, "email": "b@example.org"}]
    assert again["annotations"][0]["result"][0]["value"]["labels"] == ["PER"]
    assert again["id"] == 5


def test_predictions_alone_are_read_and_what_a_model_says_is_written_as_one(tmp_path: Path) -> None:
    guess = {
        "id": 1,
        "data": {"text": "Ada left."},
        "predictions": [{"score": 0.9, "result": [region("p", 0, 3, "PER")]}],
    }
    (doc,) = load(tmp_path, guess)
    assert [span.label for span in doc.entities] == ["PER"]
    write([doc], tmp_path / "b.label-studio.json")
    (again,) = json.loads((tmp_path / "b.label-studio.json").read_text())
    assert "annotations" not in again
    assert again["predictions"][0]["score"] == 0.9


def test_text_alone_has_no_layer(tmp_path: Path) -> None:
    docs = load(tmp_path, {"data": {"text": "One."}}, {"text": "Two.", "id": 2}, {"id": 3, "data": {"body": "Three."}})
    assert [(doc.text, doc.id, list(doc.spans)) for doc in docs] == [
        ("One.", "", []),
        ("Two.", "2", []),
        ("Three.", "3", []),
    ]


def test_the_small_export_is_read(tmp_path: Path) -> None:
    small = {"id": 4, "text": "Ada left.", "label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER", "X"]}],
             "topic": {"choices": ["travel", "food"]}, "annotator": 3, "lead_time": 2.0}  # fmt: skip
    (doc,) = load(tmp_path, small)
    assert [span.label for span in doc.entities] == ["PER", "X"]
    assert (doc.meta["document_labels"], doc.meta["annotator"], doc.meta["seconds"]) == (
        {"topic": ["travel", "food"]},
        "3",
        2.0,
    )


def test_offsets_of_old_versions_count_utf_16_and_are_told_by_their_text(tmp_path: Path) -> None:
    text = "🙂🙂 Ada left 🙂"
    new = task(text, region("a", 3, 6, "PER", text="Ada"))
    old = task(text, region("a", 5, 8, "PER", text="Ada"), region("b", 14, 16, "E", text="🙂"))
    assert [[span.text for span in doc.entities] for doc in load(tmp_path, new, old)] == [["Ada"], ["Ada", "🙂"]]
    with pytest.raises(FormatError, match="line 1: expected a region that covers 'Bob'"):
        load(tmp_path, task(text, region("a", 5, 8, "PER", text="Bob")))


def test_one_region_with_two_labels_comes_back_as_one(tmp_path: Path) -> None:
    double = region("r1", 0, 3, "PER")
    double["value"]["labels"].append("ADMIN")
    link = {"type": "relation", "from_id": "r1", "to_id": "r1", "direction": "bi", "labels": []}
    (doc,) = load(tmp_path, task("Ada left.", double, link))
    assert [span.label for span in doc.entities] == ["PER", "ADMIN"]
    assert list(doc.relations["relations"]) == [(0, 0, ""), (0, 0, "")]
    write([doc], tmp_path / "b.label-studio.json")
    (again,) = json.loads((tmp_path / "b.label-studio.json").read_text())
    assert again["annotations"][0]["result"][0]["value"] == {
        "start": 0,
        "end": 3,
        "text": "Ada",
        "labels": ["PER", "ADMIN"],
    }


def test_what_has_no_layer_is_kept_as_it_is(tmp_path: Path) -> None:
    rating = {"id": "x", "from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": 4}}
    own = region("r1", 0, 3, "PER") | {"score": 0.25, "origin": "manual", "meta": {"text": ["sure?"]}}
    other = region("r2", 4, 8, "V") | {"from_name": "verbs"}
    across = {"type": "relation", "from_id": "r1", "to_id": "r2", "direction": "right", "labels": ["does"]}
    whole = task("Ada left.", own, other, rating, across) | {"inner_id": 3}
    (doc,) = load(tmp_path, whole)
    assert list(doc.spans) == ["entities", "verbs"]
    write([doc], tmp_path / "b.label-studio.json")
    (again,) = json.loads((tmp_path / "b.label-studio.json").read_text())
    results = again["annotations"][0]["result"]
    assert [rating, across] == results[2:]
    assert {**results[0], "value": None} == {**own, "value": None}
    assert (again["inner_id"], again["annotations"][0]["id"]) == (3, 11)


def test_a_skipped_task_says_nothing(tmp_path: Path) -> None:
    (doc,) = load(tmp_path, task("Ada left.", region("r1", 0, 3, "PER"), was_cancelled=True))
    assert not doc.spans
    write([doc], tmp_path / "b.label-studio.json")
    (again,) = json.loads((tmp_path / "b.label-studio.json").read_text())
    assert again["annotations"][0]["was_cancelled"] is True
    assert again["annotations"][0]["result"][0]["value"]["labels"] == ["PER"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"data": {"text": 3}}, "a text under 'text', found 3"),
        ({"data": {}}, "the text under 'text'"),
        ({"data": []}, "a task such as"),
        ([], "a task such as"),
        (task("Ada", region("r", 0, 9, "X")), "a region inside the text of 3 characters"),
        (task("Ada", region("r", 2, 2, "X")), "a region inside the text"),
        (task("Ada", region("r", "0", 1, "X")), "a region from one character to another"),
        (task("Ada", region("r", 0, 1, 7)), "a list of labels"),
        (task("Ada", 7), "a result such as"),
        (task("Ada", {"type": "relation", "from_id": "a", "to_id": "b"}), "a relation between two results"),
        ({"data": {"text": "Ada"}, "annotations": 7}, "a list of annotations"),
        ({"data": {"text": "Ada"}, "annotations": [{"result": 7}]}, "a list of results"),
    ],
)
def test_bad_tasks_are_refused_with_file_and_line(bad: Any, said: str, tmp_path: Path) -> None:
    good = task("Fine.")
    (tmp_path / "a.json").write_text(f"[{json.dumps(good)},\n{json.dumps(bad)},\n{json.dumps(good)}]")
    with pytest.raises(FormatError, match=r"a\.json, line 2: expected ") as caught:
        list(read(tmp_path / "a.json", "label-studio"))
    assert said in str(caught.value)
    report = Report()
    assert len(list(read(tmp_path / "a.json", "label-studio", skip_bad=True, report=report))) == 2
    assert report.count == 1


def test_the_interface_has_all_labels(tmp_path: Path) -> None:
    link = {"type": "relation", "from_id": "r1", "to_id": "r2", "direction": "right", "labels": ["to"]}
    (doc,) = load(tmp_path, task("Ada left.", region("r1", 0, 3, 'A"B'), region("r2", 4, 8, "V"), link))
    found = interface([doc])
    assert '<Relation value="to"/>' in found
    assert "<Label value='A\"B'/>" in found


def test_conversion_names_what_is_lost(tmp_path: Path) -> None:
    write([Doc.from_words([["Dogs"]], upos=[["NOUN"]])], tmp_path / "a.conllu")
    report = Report()
    convert(tmp_path / "a.conllu", tmp_path / "b.label-studio.json", report=report)
    assert report.lost == {"tokens", "upos"}
