"""`weft train ner --method transfer` and `weft diagnose curve`, on the example files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.cli.app import app
from weft.evaluate import evaluate_spans
from weft.formats import read

SHORT = ["--min-count", "1", "--iterations", "40"]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def sources(examples: Path) -> list[str]:
    names = examples / "names"
    pairs = f"en={examples / 'ferries.conll'},nl={names / 'nl.conll'}"
    return ["--sources", pairs, "--target", f"sv={names / 'sv.txt'}", "--clusters", str(names / "shared.paths"),
            "--native-clusters", str(names / "sv.paths")]  # fmt: skip


def test_a_recognizer_is_trained_on_other_languages_and_annotates(examples: Path, tmp_path: Path) -> None:
    done = run(
        "train",
        "ner",
        "--method",
        "transfer",
        *sources(examples),
        "--self-train",
        2,
        "--out",
        tmp_path / "sv.weft",
        *SHORT,
        "--json",
    )
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    assert [told["number"] for told in report["rounds"]] == [1, 2]
    assert set(report["clusters"]) == {"shared", "native"}
    assert report["training"]["sentences"] == 57
    gold = examples / "names" / "unseen.sv.conll"
    done = run("annotate", gold, "--model", tmp_path / "sv.weft", "--out", tmp_path / "found.conll")
    assert done.exit_code == 0, done.output
    assert evaluate_spans(read(gold), read(tmp_path / "found.conll"), "entities").score.f1 > 0.8


def test_labelled_sentences_join_and_the_report_is_shown(examples: Path, tmp_path: Path) -> None:
    done = run(
        "train",
        "ner",
        "--method",
        "transfer",
        *sources(examples),
        "--self-train",
        1,
        examples / "names" / "labelled.sv.conll",
        "--out",
        tmp_path / "sv.weft",
        *SHORT,
    )
    assert done.exit_code == 0, done.output
    for shown in ("labelled sentences", "learned from", "boundaries lost", "in a shared cluster"):
        assert shown in done.output


@pytest.mark.must_show("direct-transfer-ner", 7, weaker="two of five systems; the recorded run has all")
def test_the_curve_gives_five_systems_by_labelled_words_and_the_crossing_point(examples: Path) -> None:
    names = examples / "names"
    asked = ["--labelled", names / "labelled.sv.conll", "--test", names / "unseen.sv.conll", "--sizes", "0,30,250"]
    done = run("diagnose", "curve", "ner", *sources(examples), "--self-train", 1, *asked, *SHORT, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert set(found["f1"]) == {"target", "single", "multi", "single+self", "multi+self"}
    assert list(found["f1"]["multi"]) == ["0", "30", "250"]
    assert list(found["f1"]["target"]) == ["30", "250"]
    assert found["best"] in found["f1"]
    assert found["crossing"] is None or 30 <= found["crossing"] <= 250
    assert found["f1"]["multi"]["250"] >= found["f1"]["multi"]["0"]
    done = run("diagnose", "curve", "ner", *sources(examples), "--self-train", 0, *asked, *SHORT)
    assert "without labelled words" in done.output


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["ner", "--method", "transfer", "--sources", "en", "--target", "sv=a.txt"],
            "is written NAME=VALUE,NAME=VALUE",
        ),
        (["ner", "--method", "transfer", "--sources", "en=a,en=b", "--target", "sv=a.txt"], "names 'en' twice"),
        (["ner", "--method", "transfer", "--sources", "en=a.conll"], "--target CODE=FILE"),
        (["ner", "--method", "transfer", "--target", "sv=a.txt"], "--sources CODE=FILE"),
        (["tagger", "--sources", "en=a.conll", "--target", "sv=a.txt"], "--target is an option of --method scl"),
        (["ner", "a.conll", "--self-train", "3"], "--self-train is an option of --method transfer"),
        (["ner", "--method", "transfer", "--sources", "en=missing.conll", "--target", "sv=missing.txt"], "missing"),
    ],
)
def test_what_does_not_go_together_is_told(words: list[str], complaint: str, tmp_path: Path) -> None:
    done = run("train", *words, "--out", tmp_path / "x.weft")
    assert done.exit_code != 0
    shown = done.output + str(done.exception or "")
    assert complaint in " ".join(shown.split())
