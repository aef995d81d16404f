"""`weft adapt sentiment` and `weft adapt distance`."""

from __future__ import annotations

import json

import pytest
from places import EXAMPLES
from typer.testing import CliRunner

from weft.cli.app import app as weft_app
from weft.cli.learn.adapt import app
from weft.errors import WeftError

REVIEWS = EXAMPLES / "reviews"
SMALL = ["--set", "pivot_documents=2", "--set", "dimensions=10"]


def run(*words: object, program=app) -> str:
    result = CliRunner().invoke(program, [str(word) for word in words], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_a_model_is_learned_scored_written_and_used(tmp_path):
    model = tmp_path / "pans.weft"
    told = json.loads(
        run("sentiment", "--source", REVIEWS / "films.tsv", "--target-raw", REVIEWS / "pans.tsv", "--test",
            REVIEWS / "pans.tsv", "--out", model, "--json", *SMALL)
    )  # fmt: skip
    assert told["scores"]["test accuracy"] > 0.9
    assert told["training"]["method"] == "scl-mi"
    assert told["pivots"]
    assert {each["polarity"] for each in told["correspondences"]} == {"pos", "neg"}
    (tmp_path / "new.txt").write_text("The handle broke.\n")
    run("annotate", tmp_path / "new.txt", "--model", model, "--out", tmp_path / "new.jsonl", program=weft_app)
    assert json.loads((tmp_path / "new.jsonl").read_text())["meta"]["sentiment"] == "neg"


def test_few_labels_of_the_target_are_taken(tmp_path):
    shown = run("sentiment", "--source", REVIEWS / "films.tsv", "--target-raw", REVIEWS / "pans.tsv", "--target",
                REVIEWS / "pans-few.tsv", "--out", tmp_path / "m.weft", *SMALL)  # fmt: skip
    assert "target documents" in shown
    assert "Terms side by side" in shown


def test_distances_are_smaller_inside_a_group_and_one_of_each_is_worth_labelling():
    files = [REVIEWS / f"{name}.tsv" for name in ("films", "plays", "pans", "knives")]
    told = json.loads(run("distance", *files, "--choose", 2, "--pivot-documents", 2, "--json"))
    assert told["distances"]["films"]["plays"] < told["distances"]["films"]["pans"]
    assert len({"films", "plays"} & set(told["label"])) == 1
    assert "worth labelling" in run("distance", *files[:2], "--pivot-documents", 2)


def test_bad_input_is_refused_in_plain_words(tmp_path):
    films = REVIEWS / "films.tsv"
    out = ["--out", tmp_path / "m.weft"]
    with pytest.raises(WeftError, match="--target-raw"):
        run("sentiment", "--source", films, *out)
    with pytest.raises(WeftError, match="base, scl, scl-mi"):
        run("sentiment", "--source", films, "--target-raw", films, "--method", "magic", *out)
    with pytest.raises(WeftError, match=r"nowhere\.tsv"):
        run("sentiment", "--source", tmp_path / "nowhere.tsv", "--target-raw", films, *out)
    with pytest.raises(WeftError, match="must differ"):
        run("distance", films, films)
    with pytest.raises(WeftError, match="--choose"):
        run("distance", films, REVIEWS / "pans.tsv", "--choose", 3)
    assert not (tmp_path / "m.weft").exists()
