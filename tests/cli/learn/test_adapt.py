"""`weft adapt tagger`: a model that `weft annotate` uses, figures as JSON, plain errors."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_tagger_is_adapted_tested_and_used(weft, examples: Path, tmp_path: Path) -> None:
    folder = examples / "adaptation"
    done = weft(
        "adapt", "tagger", "--source", folder / "news.conllu", "--target-raw", folder / "chat.txt", "--column", "xpos",
        "--out", "chat.weft", "--test", folder / "chat-test.conllu", "--json",
    )  # fmt: skip
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
    common = ("adapt", "tagger", "--source", folder / "news.conllu", "--target-raw", folder / "chat.txt", "--out", "m")
    for more, expected in (
        (("--method", "floors"), "unknown method 'floors'; did you mean flors?"),
        (("--column", "upos"), "no upos (it has: form, xpos); set column=NAME"),
        (("--column", "xpos", "--set", "indicator=3"), "unknown setting 'indicator'; the settings are: column"),
        (("--column", "xpos", "--dev", "nowhere.conllu"), "nowhere.conllu"),
    ):
        done = weft(*common, *more)
        assert done.returncode == 1, done.stdout
        assert expected in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
