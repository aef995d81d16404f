"""`weft label crowd`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Weft = Callable[..., Any]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_crowd_is_measured_and_its_cheats_are_taken_out_with_reasons(weft: Weft, examples: Path, tmp_path: Path):
    files = examples / "crowd"
    command = ("label", "crowd", files / "words.csv", "--gold", files / "gold.csv", "--machine", files / "machine.csv",
               "--countries", files / "countries.csv")  # fmt: skip
    done = weft(*command, "--out", "crowd", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(flag["worker"], flag["rule"]) for flag in found["flags"]] == [("copy7", "machine"), ("rand3", "spam")]
    assert found["languages"][0]["workers"] == 3
    assert {row["worker"] for row in table(tmp_path / "crowd" / "workers.csv")} >= {"asha", "copy7"}
    assert all("%" in row["reason"] for row in table(tmp_path / "crowd" / "flags.csv"))
    entries = {(row["word"], row["translation"]) for row in table(tmp_path / "crowd" / "dictionary.csv")}
    assert ("pani", "water") in entries
    assert ("phool", "flour") not in entries
    judged = {(row["first"], row["second"]) for row in table(tmp_path / "crowd" / "to-judge.csv")}
    assert ("doctor", "physician") in judged
    kept = json.loads(weft(*command, "--keep", "copy7", "--json").stdout)
    assert [flag["worker"] for flag in kept["flags"]] == ["rand3"]
    (tmp_path / "pairs.jsonl").write_text('{"a": "physician", "b": "Doctor", "same": true}\n', encoding="utf-8")
    with_synonyms = json.loads(weft(*command, "--synonyms", "pairs.jsonl", "--json").stdout)
    assert with_synonyms["languages"][0]["quality"] > found["languages"][0]["quality"]
    assert with_synonyms["languages"][0]["exact"] == found["languages"][0]["exact"]
    shown = weft(*command)
    assert "taken out: copy7 (hi): 100 % of 14 answers" in shown.stdout


def test_a_consensus_of_labels_uses_what_workers_did_before(weft: Weft, examples: Path, tmp_path: Path):
    labels = examples / "crowd" / "labels.csv"
    done = weft("label", "crowd", labels, "--consensus", "--out", "first", "--json")
    assert done.returncode == 0, done.stderr
    workers = json.loads(done.stdout)["workers"]
    assert workers["dan"] < 0.4 < min(workers["ann"], workers["ben"], workers["cora"])
    (tmp_path / "new.csv").write_text("worker,item,answer\nann,n1,good\ndan,n1,bad\n", encoding="utf-8")
    again = weft("label", "crowd", "new.csv", "--consensus", "--history", "first/history.json", "--json")
    assert json.loads(again.stdout)["labels"] == {"n1": "good"}
    (tmp_path / "gold.csv").write_text("item,answer\nn1,bad\n", encoding="utf-8")
    told = weft("label", "crowd", "new.csv", "--consensus", "--gold", "gold.csv", "--json")
    assert json.loads(told.stdout)["labels"] == {"n1": "bad"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("words.csv",), "name them with --gold"),
        (("words.csv", "--consensus"), "too many for classes"),
        (("words.csv", "--gold", "labels.csv", "--columns", "worker=wrker"), "did you mean worker"),
        (("labels.csv", "--consensus", "--history", "words.csv"), 'expected an object with "classes"'),
        (("words.csv", "--gold", "nothing.csv"), "there is no file"),
    ],
)
def test_what_cannot_be_done_is_told(words, message, weft: Weft, examples: Path):
    given = [examples / "crowd" / word if word.endswith(".csv") else word for word in words]
    done = weft("label", "crowd", *given)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
