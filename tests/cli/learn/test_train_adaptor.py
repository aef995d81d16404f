"""`weft train segmenter --method adaptor` and `weft annotate --style`."""

import json

import pytest
from typer.testing import CliRunner

from weft.cli.app import app

EXAMPLES = "examples/induction"
FEW = ["--iterations", "10", "--samples", "2", "--chains", "1"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(*arguments):
    return run("train", "segmenter", "--method", "adaptor", *arguments)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    made = words(
        f"{EXAMPLES}/nursery.sounds", "--out", folder / "m.weft", *FEW, "--json",
        "--segmented", folder / "cut.sounds", "--plot", folder / "trace.svg",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    return folder, json.loads(made.stdout)


def test_words_are_learnt_scored_and_drawn(model):
    folder, report = model
    assert report["utterances"] == 200
    assert report["scores"]["token"]["f1"] > 0.5
    assert set(report["stress patterns"]) == {"initial", "unstressed", "second", "several", "other"}
    assert len((folder / "cut.sounds").read_text().splitlines()) == 200
    assert (folder / "trace.svg").read_text().startswith("<svg")


def test_new_utterances_are_cut_with_the_model(model):
    folder, _ = model
    shown = run("annotate", f"{EXAMPLES}/nursery-unseen.sounds", "--model", folder / "m.weft", "--style", "sounds")
    assert shown.exit_code == 0, shown.output
    assert len(shown.stdout.splitlines()) == 40
    scored = run(
        "annotate",
        f"{EXAMPLES}/nursery-unseen.sounds",
        "--model",
        folder / "m.weft",
        "--style",
        "sounds",
        "--best",
        "--json",
    )
    assert json.loads(scored.stdout)["scores"]["token"]["f1"] > 0.4


def test_grammars_without_stress_do_without_its_marks(tmp_path):
    made = words(f"{EXAMPLES}/nursery.sounds", "-o", tmp_path / "m", *FEW, "--grammar", "colloc", "--json")
    assert made.exit_code == 0, made.output
    assert "stress patterns" not in json.loads(made.stdout)


def test_bad_input_ends_in_plain_words(tmp_path):
    empty = tmp_path / "empty.sounds"
    empty.write_text("\n")
    out = ["--out", tmp_path / "m"]
    assert "no utterances" in str(words(empty, *out).output)
    assert "no grammar 'collok'" in str(words(f"{EXAMPLES}/nursery.sounds", *out, "--grammar", "collok").output)
    assert "none" in str(words(tmp_path / "none", *out).output)
