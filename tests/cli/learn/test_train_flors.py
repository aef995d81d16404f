"""`weft train tagger --method flors`: a model that `weft annotate` uses, figures as JSON, plain errors."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_tagger_is_adapted_tested_and_used(weft, examples: Path, tmp_path: Path) -> None:
    folder = examples / "adaptation"
    done = weft(
        "train",
        "tagger",
        folder / "news.conllu",
        "--method",
        "flors",
        "--raw",
        folder / "chat.txt",
        "--column",
        "xpos",
        "--out",
        "chat.weft",
        "--test",
        folder / "chat-test.conllu",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["test"]["accuracy"]["unknown"]["accuracy"] > 0.9
    assert report["test"]["shift"]["unknown_words"] > 0.1
    done = weft("annotate", folder / "chat-test.conllu", "--model", "chat.weft", "--out", "tagged.conllu")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (tmp_path / "tagged.conllu").read_text().splitlines() if "\t" in line]
    gold = [line.split("\t") for line in (folder / "chat-test.conllu").read_text().splitlines() if "\t" in line]
    assert sum(ours[4] == theirs[4] for ours, theirs in zip(rows, gold, strict=True)) > 0.9 * len(gold)


def test_errors_say_what_to_do(weft, examples: Path) -> None:
    folder = examples / "adaptation"
    common = ("train", "tagger", folder / "news.conllu", "--raw", folder / "chat.txt", "--out", "m")
    done = weft(*common, "--method", "floors")
    assert done.returncode == 1
    assert "unknown method 'floors'; did you mean flors?" in done.stderr
    done = weft(*common, "--method", "flors", "--column", "xpos", "--indicator", "3")
    assert done.returncode == 2
    assert "--indicator" in done.stderr
    for more, expected in (
        (("--column", "upos"), "no upos (it has: form, xpos); set column=NAME"),
        (("--column", "xpos", "--dev", "nowhere.conllu"), "nowhere.conllu"),
    ):
        done = weft(*common, "--method", "flors", *more)
        assert done.returncode == 1, done.stdout
        assert expected in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
