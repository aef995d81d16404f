"""`weft train parser --method induced`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Weft = Any


def test_a_grammar_is_learned_and_finds_heads(weft: Weft, examples: Path, tmp_path: Path) -> None:
    text, trees, model = (
        examples / "induction" / "kitchen.conllu", examples / "induction" / "kitchen-trees.conllu", tmp_path / "g.weft"
    )  # fmt: skip
    done = weft(
        "train",
        "parser",
        str(text),
        "--method",
        "induced",
        "--out",
        str(model),
        "--iterations",
        "15",
        "--strength",
        "2000",
        "--dev",
        str(trees),
        "--json",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["training"]["method"] == "pr-as"
    assert report["scores"]["dev UAS"] > 0.7
    parsed = tmp_path / "parsed.conllu"
    assert weft("annotate", str(trees), "--model", str(model), "--out", str(parsed)).returncode == 0
    assert "\troot\t" in parsed.read_text(encoding="utf-8")


def test_errors_are_told_in_one_line(weft: Weft, examples: Path, tmp_path: Path) -> None:
    text = str(examples / "induction" / "kitchen.conllu")
    failed = weft(
        "train", "parser", text, "--method", "induced", "--out", str(tmp_path / "g.weft"), "--objective", "pr"
    )
    assert failed.returncode == 1
    assert failed.stderr.strip() == "weft: objective must be one of em, dd, pr-s, pr-as, got 'pr'"
    failed = weft("train", "parser", text, "--method", "induced", "--out", str(tmp_path / "g.weft"), "--column", "xpos")
    assert failed.returncode == 1
    assert "no tags in the column xpos" in failed.stderr


def test_the_help_ends_with_an_example(weft: Weft) -> None:
    shown = weft("train", "parser", "--method", "induced", "--help").stdout
    assert "Example: weft train parser examples/induction/kitchen.conllu" in shown
