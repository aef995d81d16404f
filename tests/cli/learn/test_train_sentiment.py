"""`weft train sentiment` and `weft annotate` on the reviews of inns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import EXAMPLES
from typer.testing import CliRunner

from weft.cli.app import app
from weft.formats import read
from weft.formats.reviews import read_reviews
from weft.text.conventions.polarity import sentence_polarities

INNS = EXAMPLES / "inns"


def run(*arguments: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models") / "inns.weft"
    output = run(
        "train", "sentiment", INNS / "rated.tsv", "--sentences", INNS / "sentences.txt",
        "--positive", INNS / "good-words.txt", "--negative", INNS / "bad-words.txt",
        "--dev", INNS / "held-out.txt", "--out", path, "--seed", "1", "--json",
    )  # fmt: skip
    report = json.loads(output)
    assert report["training"]["method"] == "interpolated"
    assert report["training"]["lexicon words"] == 10
    assert report["scores"]["dev accuracy"] > 80
    return path


def test_reviews_are_labelled_sentence_by_sentence_on_standard_output(model):
    output = run("annotate", INNS / "new.tsv", "--model", model, "--to", "labels")
    assert "neg\tOur room was filthy and damp." in output
    assert "pos\tA superb view!" in output


@pytest.mark.parametrize("suffix", ["jsonl", "conllu"])
def test_documents_keep_labels_and_can_be_learned_from_again(model, tmp_path, suffix):
    out = tmp_path / f"new.{suffix}"
    report = json.loads(run("annotate", INNS / "new.tsv", "--model", model, "--known-ratings", "--out", out, "--json"))
    assert report["documents"] == 2
    docs = list(read(out))
    assert [len(sentence_polarities(doc)) for doc in docs] == [3, 3]
    assert all(review.labels for review in read_reviews(out))
    run("train", "sentiment", "--sentences", out, "--out", tmp_path / "again.weft")


def test_the_kind_of_reviews_decides_the_method(tmp_path):
    for arguments, method in (
        ([INNS / "rated.tsv"], "coarse"),
        (["--sentences", INNS / "sentences.txt"], "fine"),
        ([INNS / "rated.tsv", "--sentences", INNS / "sentences.txt", "--learning", "cascaded"], "cascaded"),
    ):
        output = run("train", "sentiment", *arguments, "--out", tmp_path / "m.weft", "--epochs", "2", "--json")
        assert json.loads(output)["training"]["method"] == method


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give reviews to train on"),
        ([INNS / "rated.tsv", "--learning", "fine"], "needs documents with labelled sentences"),
        ([INNS / "good-words.txt"], "good-words.txt, line 2: expected domain<TAB>stars"),
        ([INNS / "rated.tsv", "--labelled-share", "2"], "from 0 to 1"),
    ],
)
def test_wrong_input_is_refused_in_plain_words(tmp_path, arguments, message):
    assert message in run("train", "sentiment", *arguments, "--out", tmp_path / "m.weft", code=1)


def test_json_goes_with_a_file(model):
    assert "--out" in run("annotate", INNS / "new.tsv", "--model", model, "--json", code=1)
