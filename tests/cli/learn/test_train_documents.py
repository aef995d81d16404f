"""`weft train sentiment --method documents` and `weft diagnose distance`."""

from __future__ import annotations

import json

import pytest
from places import EXAMPLES
from typer.testing import CliRunner

from weft.cli.app import app
from weft.errors import WeftError

REVIEWS = EXAMPLES / "reviews"
SMALL = ["--pivot-documents", "2", "--dimensions", "10"]


TRAIN = ("train", "sentiment", "--method", "documents")


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=True)
    if result.exit_code == 1:
        raise WeftError(result.output)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_model_is_learned_scored_written_and_used(tmp_path):
    model = tmp_path / "pans.weft"
    told = json.loads(
        run(*TRAIN, REVIEWS / "films.tsv", "--raw", REVIEWS / "pans.tsv", "--test",
            REVIEWS / "pans.tsv", "--out", model, "--json", *SMALL)
    )  # fmt: skip
    assert told["scores"]["test accuracy"] > 0.9
    assert told["training"]["method"] == "scl-mi"
    assert told["pivots"]
    assert {each["polarity"] for each in told["correspondences"]} == {"pos", "neg"}
    (tmp_path / "new.txt").write_text("The handle broke.\n")
    run("annotate", tmp_path / "new.txt", "--model", model, "--out", tmp_path / "new.jsonl")
    assert json.loads((tmp_path / "new.jsonl").read_text())["meta"]["sentiment"] == "neg"
    assert "# document_sentiment = neg" in run("annotate", tmp_path / "new.txt", "--model", model)
    assert run("annotate", tmp_path / "new.txt", "--model", model, "--to", "labels").startswith("new\n_\tneg\n")


def test_few_labels_of_the_target_are_taken(tmp_path):
    shown = run(*TRAIN, REVIEWS / "films.tsv", "--raw", REVIEWS / "pans.tsv", "--target",
                REVIEWS / "pans-few.tsv", "--out", tmp_path / "m.weft", *SMALL)  # fmt: skip
    assert "target documents" in shown
    assert "Corresponding terms" in shown


def test_distances_are_smaller_inside_a_group_and_one_of_each_is_worth_labelling():
    files = [REVIEWS / f"{name}.tsv" for name in ("films", "plays", "pans", "knives")]
    told = json.loads(run("diagnose", "distance", *files, "--choose", 2, "--pivot-documents", 2, "--json"))
    assert told["distances"]["films"]["plays"] < told["distances"]["films"]["pans"]
    assert len({"films", "plays"} & set(told["label"])) == 1
    assert "worth labelling" in run("diagnose", "distance", *files[:2], "--pivot-documents", 2)


def test_domains_that_only_seem_alike_are_told(tmp_path):
    for name, topic in (("cameras", "lens zoom shutter flash"), ("beds", "pillow mattress frame slats")):
        words = topic.split()
        texts = [f"it is {('fine', 'dull')[k % 2]} the {words[k % 4]} and {words[k % 3]}" for k in range(40)]
        (tmp_path / f"{name}.tsv").write_text("rating\ttext\n" + "".join(f"4\t{text}\n" for text in texts))
    files = [tmp_path / "cameras.tsv", tmp_path / "beds.tsv"]
    shown = " ".join(run("diagnose", "distance", *files).split())
    assert "cameras and beds look alike in the terms they share" in shown
    assert "--pivot-documents 2" in shown
    both = [REVIEWS / f"{name}.tsv" for name in ("films", "plays")]
    assert "look alike" not in run("diagnose", "distance", *both, "--pivot-documents", 2)


def test_bad_input_is_refused_in_plain_words(tmp_path):
    films = REVIEWS / "films.tsv"
    out = ["--out", tmp_path / "m.weft"]
    with pytest.raises(WeftError, match="--raw"):
        run(*TRAIN, films, *out)
    with pytest.raises(WeftError, match="base, scl, scl-mi"):
        run(*TRAIN, films, "--raw", films, "--learning", "magic", *out)
    with pytest.raises(WeftError, match=r"nowhere\.tsv"):
        run(*TRAIN, tmp_path / "nowhere.tsv", "--raw", films, *out)
    with pytest.raises(WeftError, match="must differ"):
        run("diagnose", "distance", films, films)
    with pytest.raises(WeftError, match="--choose"):
        run("diagnose", "distance", films, REVIEWS / "pans.tsv", "--choose", 3)
    assert not (tmp_path / "m.weft").exists()
