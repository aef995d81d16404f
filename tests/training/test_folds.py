"""Cross-validation."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import pytest

import weft as package
from weft.errors import ConfigError, DataError
from weft.evaluate.documents import evaluate_documents
from weft.pipeline.registry import new_component
from weft.text import Doc
from weft.training.folds import Fold, cross_validate, summary

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_every_fold_is_scored_by_a_model_that_has_not_seen_it(examples: Path) -> None:
    docs = list(package.read(examples / "chunks.conll"))
    told: list[tuple[int, Fold]] = []
    options = {"iterations": 6}
    folds = cross_validate("chunker", docs, options, 4, say=lambda number, fold: told.append((number, fold)))
    assert [fold.scored for fold in folds] == [30] * 4
    assert [fold.trained for fold in folds] == [90] * 4
    assert [fold for _, fold in told] == folds
    # The second fold by hand.
    units = [docs[0].subset([i]) for i in range(120)]
    chunker = new_component("chunker", options)
    chunker.fit([unit for i, unit in enumerate(units) if i % 4 != 1])
    gold = units[1::4]
    system = [unit.subset([0]) for unit in gold]
    for unit in system:
        unit.spans = {}
    chunker(system)
    assert folds[1].scores == {"chunks": evaluate_documents(gold, system, "chunks").counts["spans"].total().f1}
    assert all("chunks" in unit.spans for unit in gold), "the gold documents keep their own spans"


@pytest.mark.parametrize(
    ("task", "options", "measures"),
    [
        ("tagger", {"epochs": 1}, ["upos", "xpos", "feats"]),
        ("parser", {"epochs": 1}, ["UAS", "LAS"]),
        ("lemmatizer", {}, ["lemma"]),
        ("segmenter", {}, ["Tokens", "Words", "Sentences"]),
    ],
)
def test_components_are_scored_by_the_layers_they_give(
    examples: Path, task: str, options: dict[str, int], measures: list[str]
) -> None:
    folds = cross_validate(task, package.read(examples / "story.conllu"), options, 2)
    assert [list(fold.scores) for fold in folds] == [measures, measures]
    assert all(0 < score <= 1 for fold in folds for score in fold.scores.values())


def test_summaries_have_mean_and_standard_deviation() -> None:
    found = summary([Fold(4, 2, {"upos": 0.5}), Fold(4, 2, {"upos": 1.0})])
    assert found["mean"] == {"upos": 0.75}
    assert found["sd"]["upos"] == pytest.approx(0.35355, abs=1e-5)


def test_too_few_folds_or_sentences_are_told() -> None:
    doc = Doc.from_words([["a"], ["b"]], upos=[["X"], ["Y"]])
    with pytest.raises(ConfigError, match="at least 2 folds, got 1"):
        cross_validate("tagger", [doc], {}, 1)
    with pytest.raises(DataError, match="3 folds need at least as many sentences, got 2"):
        cross_validate("tagger", [doc], {}, 3)


def test_the_command_cross_validates_and_writes_a_model_only_if_asked(
    weft: Weft, tmp_path: Path, examples: Path
) -> None:
    words = ["train", "chunker", examples / "chunks.conll", "--folds", "3", "--iterations", "4"]
    done = weft(*words, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["mean"]["chunks"] == pytest.approx(mean(fold["scores"]["chunks"] for fold in report["folds"]))
    assert "fold 3 of 3: chunks " in done.stderr
    assert not list(tmp_path.glob("*.weft"))
    shown = weft(*words, "--out", "chunker.weft").stdout
    assert "Cross-validated chunker" in shown
    assert "mean" in shown
    assert "Trained chunker" in shown
    assert (tmp_path / "chunker.weft").is_file()


def test_what_does_not_go_with_folds_is_told(weft: Weft, examples: Path) -> None:
    failed = weft("train", "chunker", examples / "chunks.conll", "--folds", "3", "--dev", examples / "unseen.conll")
    assert "leave out --dev" in failed.stderr
    failed = weft("train", "chunker", examples / "chunks.conll")
    assert failed.returncode == 2
    assert "or --folds N to cross-validate" in " ".join(failed.stderr.replace("│", " ").split())
    mst = ["train", "parser", examples / "story.conllu", "--method", "mst", "--order", "1", "--folds", "2"]
    assert "UAS" in weft(*mst, "--epochs", "1", "--bits", "14").stdout
