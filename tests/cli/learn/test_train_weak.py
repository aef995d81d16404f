from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def weak(examples: Path) -> Path:
    return examples / "weak"


def test_a_tagger_of_dictionary_and_projected_tags_annotates_and_is_scored_like_any(
    weft: Weft, tmp_path: Path, weak: Path
) -> None:
    model, out = tmp_path / "sv.weft", tmp_path / "out.conllu"
    done = weft(
        "train", "tagger", "--method", "weak", "--dict", weak / "words.dic", "--projected", weak / "projected.conllu",
        "--raw", weak / "plain.txt", "--dev", weak / "gold.conllu", "--learner", "hmm", "--out", model, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["training"]["sentences"] == 13
    assert report["training"]["learner"] == "hmm"
    assert report["weak"]["decisions"] == 24
    assert report["weak"]["parts"]["open"]["with_gold"] == 7
    done = weft("annotate", weak / "gold.conllu", "--model", model, "--out", out)
    assert done.returncode == 0, done.stderr
    done = weft("evaluate", weak / "gold.conllu", out, "--layer", "upos", "--universal", "--json")
    assert done.returncode == 0, done.stderr
    accuracy = json.loads(done.stdout)["scores"]["upos"]["f1"]
    assert accuracy == pytest.approx(report["scores"]["dev accuracy"])
    assert accuracy > 0.8


def test_the_report_is_printed_as_text(weft: Weft, tmp_path: Path, weak: Path) -> None:
    done = weft(
        "train",
        "tagger",
        "--method",
        "weak",
        "--dict",
        weak / "words.dic",
        "--projected",
        weak / "projected.conllu",
        "--dev",
        weak / "gold.conllu",
        "--out",
        tmp_path / "sv.weft",
    )
    assert done.returncode == 0, done.stderr
    assert "On the dev text:" in done.stdout
    assert "probability of decisions" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "tagger", "--method", "weak", "--dict", "words.dic"], "needs text to train on"),
        (["train", "tagger", "gold.conllu", "--dict", "words.dic"], "--dict is an option of --method weak or induced"),
        (["train", "tagger", "--method", "weak", "gold.conllu", "--dict", "words.dic"], "as text with projected tags"),
        (
            ["train", "tagger", "--method", "weak", "--dict", "projected.conllu", "--raw", "plain.txt"],
            "line 1: expected a word and its tags",
        ),
        (["train", "tagger", "--method", "weak", "--raw", "plain.txt"], "nothing to train on: give a dictionary"),
        (
            ["train", "tagger", "--method", "weak", "--dict", "words.dic", "--raw", "plain.txt", "--learner", "svm"],
            "one of crf, hmm",
        ),
    ],
)
def test_plain_errors(weft: Weft, tmp_path: Path, weak: Path, arguments: list[str], message: str) -> None:
    given = [weak / each if (weak / each).is_file() else each for each in arguments]
    done = weft(*given, "--out", tmp_path / "m.weft")
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
