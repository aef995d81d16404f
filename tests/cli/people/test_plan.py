"""`weft label plan`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Weft = Callable[..., Any]


def test_a_plan_keeps_the_time_and_lists_the_best_work_first(weft: Weft, examples: Path, tmp_path: Path):
    predicted = examples / "plans" / "predicted.conllu"
    done = weft("label", "plan", predicted, "--minutes", "0.3", "--out", "work.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert 0 < figures["minutes"] <= 0.3
    rows = [json.loads(line) for line in (tmp_path / "work.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(row["seconds"] for row in rows) == pytest.approx(60 * figures["minutes"], abs=0.5)
    rates = [row["errors"] / row["seconds"] for row in rows]
    assert rates == sorted(rates, reverse=True)
    assert all(len(row["labels"]) == row["end"] - row["start"] for row in rows)
    more = json.loads(weft("label", "plan", predicted, "--minutes", "0.6", "--json").stdout)
    assert more["errors removed"] > figures["errors removed"]
    half = json.loads(weft("label", "plan", predicted, "--remove", "0.5", "--json").stdout)
    assert half["errors removed"] >= 0.5 * half["expected errors"] - 0.01
    dear = json.loads(weft("label", "plan", predicted, "--remove", "0.5", "--switch", "60", "--json").stdout)
    assert dear["spans"] <= half["spans"]
    assert dear["minutes"] > half["minutes"]


def test_work_is_written_for_other_tools(weft: Weft, examples: Path, tmp_path: Path):
    predicted = examples / "plans" / "predicted.conllu"
    for tool in ("label-studio", "doccano", "prodigy"):
        done = weft("label", "plan", predicted, "--out", f"{tool}.json", "--target", tool)
        assert done.returncode == 0, done.stderr
    tasks = json.loads((tmp_path / "label-studio.json").read_text(encoding="utf-8"))
    assert tasks
    assert [task["data"]["rank"] for task in tasks] == list(range(1, len(tasks) + 1))
    assert all(task["predictions"][0]["result"] for task in tasks)
    first = json.loads((tmp_path / "doccano.json").read_text(encoding="utf-8").splitlines()[0])
    assert first["text"] == tasks[0]["data"]["text"]
    assert first["meta"]["mode"] == "check"


def test_times_and_known_labels_change_the_plan(weft: Weft, examples: Path, tmp_path: Path):
    predicted = examples / "plans" / "predicted.conllu"
    rows = "".join(f"{words},0.9,{2 + 0.5 * words}\n" for words in range(1, 20))
    (tmp_path / "times.csv").write_text(f"words,confidence,seconds\n{rows}", encoding="utf-8")
    for cost in ("linear", "gaussian"):
        done = weft(
            "label", "plan", predicted, "--remove", "0.5", "--times", "times.csv", "--time-model", cost, "--json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["minutes"] > 0
    known = weft("label", "plan", predicted, "--checked", predicted, "--checked-predicted", predicted, "--json")
    assert json.loads(known.stdout)["expected errors"] == 0  # all known labels are right


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("story.conllu",), "no probabilities"),
        (("plans/predicted.conllu", "--minutes", "1", "--remove", "0.5"), "not both"),
        (("plans/predicted.conllu", "--checked", "story.conllu"), "both --checked and --checked-predicted"),
        (("plans/predicted.conllu", "--times", "crowd/words.csv"), "expected a column 'words'"),
        (("plans/predicted.conllu", "--out", "x.json", "--target", "paper"), "not 'paper'"),
    ],
)
def test_what_cannot_be_planned_is_told(words, message, weft: Weft, examples: Path):
    given = [examples / word if word.endswith((".conllu", ".csv")) else word for word in words]
    done = weft("label", "plan", *given)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
