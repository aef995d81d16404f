"""What people labelled in other tools is converted, trained on and annotated by name, without a step between."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import weft as package
from weft.formats.reviews import read_reviews

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
NAMES = ["Ada", "Bob", "Cora", "Dan"]


def tasks(folder: Path) -> Path:
    lines = [
        {"text": f"{name} left {place}.", "answer": "accept", "spans": [
            {"start": 0, "end": len(name), "label": "PER"},
            {"start": len(name) + 6, "end": len(name) + 6 + len(place), "label": "LOC"},
        ]}
        for name in NAMES for place in ("Oslo", "Bergen")
    ]  # fmt: skip
    path = folder / "names.prodigy.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_recognizer_learns_from_an_export_as_it_is(weft: Weft, tmp_path: Path) -> None:
    file = tasks(tmp_path)
    done = weft("train", "ner", file, "--dev", file, "--out", tmp_path / "names.weft")
    assert done.returncode == 0, done.stderr
    (tmp_path / "new.txt").write_text("Cora left Oslo.")
    done = weft("annotate", tmp_path / "new.txt", "--model", tmp_path / "names.weft", "--to", "label-studio")
    (task,) = json.loads(done.stdout)
    regions = [(each["value"]["text"], each["value"]["labels"]) for each in task["predictions"][0]["result"]]
    assert regions == [("Cora", ["PER"]), ("Oslo", ["LOC"])]


def test_standard_input_is_converted_by_name(weft: Weft, tmp_path: Path) -> None:
    file = tasks(tmp_path)
    done = weft("convert", file, "-", "--to", "doccano")
    assert json.loads(done.stdout.splitlines()[0])["label"] == [[0, 3, "PER"], [9, 13, "LOC"]]
    assert weft("convert", file, tmp_path / "b.label-studio.json", "--json").returncode == 0
    docs = list(package.read(tmp_path / "b.label-studio.json"))
    assert [span.label for span in docs[0].entities] == ["PER", "LOC"]
    assert "annotation" in docs[0].meta["label_studio"]  # since somebody accepted it


def test_polarities_of_documents_are_reviews(tmp_path: Path) -> None:
    (tmp_path / "a.doccano.jsonl").write_text(
        '{"text": "Fine.", "label": ["Positive"]}\n{"text": "Dull.", "label": ["neg"]}\n'
    )
    assert [review.polarity for review in read_reviews(tmp_path / "a.doccano.jsonl")] == ["pos", "neg"]
