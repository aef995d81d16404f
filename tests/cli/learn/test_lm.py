"""`weft lm` and `weft.lm`: from text to a small model that scores and writes text."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT

import weft
from weft.errors import ConfigError, DataError

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
PORT = str(ROOT / "examples" / "port.txt")


@pytest.fixture
def trained(weft: Weft, tmp_path: Path) -> Path:
    done = weft("lm", "train", PORT, "--method", "witten-bell", "--out", str(tmp_path / "port.lm"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by length"]["1"] == 165
    return tmp_path / "port.lm"


def test_from_text_to_a_constrained_model(weft: Weft, tmp_path: Path, trained: Path) -> None:
    small, better = tmp_path / "small.arpa", tmp_path / "better.arpa.gz"
    assert weft("lm", "prune", str(trained), "--ngrams", "300", "--out", str(small)).returncode == 0
    assert weft("lm", "constrain", str(small), "--iterations", "2", "--out", str(better)).returncode == 0
    scores = []
    for path in (trained, small, better):
        done = weft("lm", "score", str(path), PORT, "--json")
        assert done.returncode == 0, done.stderr
        scores.append(json.loads(done.stdout))
    assert scores[0]["perplexity"] < scores[1]["perplexity"] != scores[2]["perplexity"]
    assert len({score["words and ends"] for score in scores}) == 1
    models = [weft_model(path) for path in (small, better)]
    assert models[0].counts() == models[1].counts()


def weft_model(path: Path):
    return weft.lm.load(path)


def test_scores_of_sentences_and_words_add_up(weft: Weft, trained: Path) -> None:
    total = json.loads(weft("lm", "score", str(trained), PORT, "--json").stdout)["log10 probability"]
    sentences = weft("lm", "score", str(trained), PORT, "--each", "sentences").stdout.splitlines()
    words = weft("lm", "score", str(trained), PORT, "--each", "words").stdout.splitlines()
    assert sum(float(line.split("\t")[0]) for line in sentences) == pytest.approx(total, abs=1e-3)
    assert sum(float(line.split("\t")[0]) for line in words if line) == pytest.approx(total, abs=1e-2)
    assert sum(line.endswith("\t</s>") for line in words) == len(sentences)


def test_lines_of_words_are_read_as_they_are_from_files_and_pipes(weft: Weft, tmp_path: Path) -> None:
    text = "The tide is in .\nthe TIDE is out .\n"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    out = [tmp_path / "a.arpa", tmp_path / "b.arpa"]
    options = ["--tokenized", "--lower", "--order", "2", "--cutoffs", "0,1", "--workers", "2"]
    assert weft("lm", "train", str(tmp_path / "a.txt.gz"), *options, "--out", str(out[0])).returncode == 0
    assert weft("lm", "train", "-", *options, "--out", str(out[1]), stdin=text).returncode == 0
    assert out[0].read_bytes() == out[1].read_bytes()
    model = weft_model(out[0])
    assert model.vocabulary.words[3:] == [".", "is", "the", "tide", "in", "out"]
    assert model.counts() == [9, 4]  # <s> the, the tide, tide is, . </s>


def test_samples_depend_on_the_seed_alone(weft: Weft, trained: Path) -> None:
    drawn = [weft("lm", "sample", str(trained), "--count", "3", "--seed", seed).stdout for seed in ("1", "1", "2")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0].count("\n") == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["train", PORT, "--method", "best", "--out", "x.lm"], "no method of smoothing is called 'best'"),
        (["train", PORT, "--cutoffs", "a", "--out", "x.lm"], "--cutoffs must be whole numbers"),
        (["train", "none.txt", "--out", "x.lm"], "none.txt"),
        (["prune", "x.lm", "--out", "y.lm"], "either --threshold, such as 1e-7, or --ngrams"),
        (["score", PORT, PORT], "is not a model file"),
        (["score", "none.arpa", PORT], "cannot open none.arpa"),
        (["constrain", "none.lm", "--out", "x.lm"], "there is no model file none.lm"),
    ],
)
def test_what_users_get_wrong_is_said_in_a_sentence(weft: Weft, words: list[str], says: str) -> None:
    done = weft("lm", *words)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_kneser_ney_models_are_not_constrained(weft: Weft, tmp_path: Path) -> None:
    path = str(tmp_path / "k.lm")
    assert weft("lm", "train", PORT, "--out", path).returncode == 0
    done = weft("lm", "constrain", path, "--out", str(tmp_path / "x.lm"))
    assert done.returncode == 1
    assert "witten-bell or katz" in done.stderr


def test_the_door_takes_lists_and_names_of_files() -> None:
    of_file, of_files = weft.lm.train(PORT, order=2), weft.lm.train([PORT, PORT], order=2)
    assert of_file.counts() == of_files.counts()
    lower = weft.lm.train([["A", "b"], ["a"]], order=1, lower=True)
    assert lower.vocabulary.words[3:] == ["a", "b"]
    with pytest.raises(DataError, match="no sentence"):
        weft.lm.train([])
    with pytest.raises(ConfigError):
        weft.lm.train([["a"]], method="best")


def test_a_word_that_arpa_cannot_hold_is_refused(tmp_path: Path) -> None:
    model = weft.lm.train([["New York", "sleeps"]], order=1)
    with pytest.raises(DataError, match="'New York'"):
        weft.lm.save(model, tmp_path / "x.arpa")
    weft.lm.save(model, tmp_path / "x.lm")
    assert weft.lm.load(tmp_path / "x.lm").vocabulary.words == model.vocabulary.words
