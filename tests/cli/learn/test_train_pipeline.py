"""`weft train pipeline` without a configuration file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import weft as package
from weft.training.defaults import default_config

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_treebank_makes_a_whole_pipeline(weft: Weft, examples: Path, tmp_path: Path) -> None:
    story = examples / "story.conllu"
    done = weft("train", "pipeline", "--train", story, "--dev", story, "--out", "story.weft", "--limit", "15", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [part["task"] for part in report["components"]] == ["segmenter", "tagger", "lemmatizer", "parser"]
    assert [part["tags"] for part in report["components"]] == ["gold", "gold", "gold", "jackknifed"]
    assert {row["set"] for row in report["tests"]} == {"dev"}
    nlp = package.load(tmp_path / "story.weft")
    doc = nlp("The boat came to the island.")
    assert doc.has("upos")
    assert doc.has("lemma")
    assert doc.has("head")
    assert nlp.card["name"] == "story"


def test_only_what_is_annotated_is_learned(tmp_path: Path) -> None:
    file = tmp_path / "names.conllu"
    file.write_text("1\tAda\t_\tPROPN\t_\t_\t_\t_\t_\tNER=B-PER\n2\tslept\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n")
    config = default_config([file], name="names")
    assert [spec.task for spec in config.components] == ["segmenter", "tagger", "ner"]
    assert config.components[-1].tags == "predicted"
    assert config.tests == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a configuration file, or annotated files"),
        (["--train", "a.conllu"], "--out MODEL"),
        (["c.toml", "--train", "a.conllu"], "leave out these options, or the file"),
        (["--train", "none.conllu", "--out", "m.weft"], "none.conllu"),
    ],
)
def test_what_is_missing_is_told(arguments: list[str], said: str, weft: Weft) -> None:
    failed = weft("train", "pipeline", *arguments)
    assert failed.returncode == 1
    assert said in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_dev_file_without_annotation_is_refused_before_training(examples: Path) -> None:
    with pytest.raises(package.WeftError, match=r"letters\.conllu has no annotation for the tagger"):
        default_config([examples / "story.conllu"], [examples / "letters.conllu"], name="story")
