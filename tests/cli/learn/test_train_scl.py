"""`weft train tagger --method scl`."""

from __future__ import annotations

import json
from pathlib import Path

COMMON = ("train", "tagger", "--method", "scl", "--pivot-count", "10", "--h", "5")


def files(examples: Path) -> list[str]:
    folder = examples / "clinic"
    return [
        *(str(folder / "trade.conllu"), "--source-raw", str(folder / "trade.txt")),
        *("--raw", str(folder / "clinic.txt"), "--test", str(folder / "clinic-unseen.conllu")),
    ]


def test_unknown_words_gain_by_raw_text_and_a_kept_projection_gives_the_same(weft, examples: Path, tmp_path: Path):
    theta, model = str(tmp_path / "theta.weft"), str(tmp_path / "clinic.weft")
    reports = {}
    for name, more in (
        ("plain", ("--project-from", "none")),
        ("adapted", ("--projection", theta)),
        ("again", ("--projection", theta)),
    ):
        done = weft(*COMMON, *files(examples), *more, "--seed", "1", "--out", model, "--json")
        assert done.returncode == 0, done.stderr
        reports[name] = json.loads(done.stdout)
    assert (
        reports["adapted"]["test"]["accuracy"]["unknown"]["accuracy"]
        > reports["plain"]["test"]["accuracy"]["unknown"]["accuracy"] + 0.05
    )
    assert reports["again"]["test"] == reports["adapted"]["test"]
    done = weft("annotate", str(examples / "clinic" / "clinic.txt"), "--model", model, "--to", "conllu")
    assert done.returncode == 0
    assert "\tNOUN\t" in done.stdout


def test_annotated_target_text_makes_a_second_tagger(weft, examples: Path, tmp_path: Path):
    target = str(examples / "clinic" / "clinic-unseen.conllu")
    done = weft(
        *COMMON, *files(examples), "--target", target, "--out", str(tmp_path / "t.weft"), "--json"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["source"]["sentences"] == 40
    assert report["training"]["sentences"] == 25


def test_errors_say_what_to_do(weft, examples: Path, tmp_path: Path):
    for more, message in (
        (("--pivot-count", "9999"), "lower pivot_count"),
        (("--project-from", "mine"), "both, target or none"),
        (("--column", "xpos"), "have no xpos"),
        (("--target", "nowhere.conllu"), "nowhere.conllu"),
    ):
        done = weft("train", "tagger", "--method", "scl", *files(examples), *more, "--out", str(tmp_path / "t.weft"))
        assert done.returncode != 0
        assert message in done.stderr
        assert "Traceback" not in done.stderr
