"""`weft train ner --method bitext`: a model from files, and plain words about wrong ones."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import weft
from weft.cli.app import app
from weft.evaluate import evaluate_spans
from weft.learn.bitext.source_noise import Confusion, write_confusion
from weft.tasks.entities.recognizer import EntityRecognizer


@pytest.fixture(scope="module")
def source_model(examples, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "en.weft"
    command = ["train", "ner", examples / "ferries.conll", "--out", path, "--learner", "crf",
               "--window", "0", "--sigma", "10"]  # fmt: skip
    assert CliRunner().invoke(app, list(map(str, command))).exit_code == 0
    return path


def run(examples, source_model, out, *more, links="ferries.links"):
    folder = examples / "bitext"
    command = [
        "train",
        "ner",
        "--method",
        "bitext",
        "--bitext",
        folder / "ferries.en",
        folder / "ferries.de",
        "--links",
        folder / links,
        "--source-model",
        source_model,
        "--out",
        out,
        *more,
    ]
    return CliRunner().invoke(app, list(map(str, command)))


def test_a_model_comes_from_a_bitext_without_a_labelled_sentence(examples, source_model, tmp_path):
    done = run(examples, source_model, tmp_path / "de.weft", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    assert report["training"]["pairs"] == 40
    assert report["bitext"]["linked_words"] == 1.0
    pipeline = weft.load(tmp_path / "de.weft")
    assert type(pipeline.components[0]) is EntityRecognizer
    assert pipeline.card["corpora"] == ["ferries.en", "ferries.de"]
    gold = list(weft.read(examples / "bitext" / "ferries-unseen.de.conll"))
    found = list(weft.read(examples / "bitext" / "ferries-unseen.de.conll"))
    pipeline.annotate(found)
    assert evaluate_spans(gold, found, "entities").score.f1 > 0.8


def test_labelled_sentences_a_dev_file_and_confusions_join_in(examples, source_model, tmp_path):
    labels = ["I-LOC", "I-ORG", "I-PER", "O"]
    write_confusion(Confusion(labels, [[9, 1, 0, 0], [0, 5, 1, 0], [0, 3, 9, 0], [1, 1, 1, 90]]), tmp_path / "c.tsv")
    folder = examples / "bitext"
    more = [folder / "ferries-unseen.de.conll", "--dev", folder / "ferries-dev.de.conll", "--project", "hard",
            "--confusion-table", tmp_path / "c.tsv", "--strength", "2", "--json"]  # fmt: skip
    done = run(examples, source_model, tmp_path / "de.weft", *more)
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    assert report["training"]["labelled_sentences"] == 10
    assert report["training"]["projection"] == "hard"
    assert report["scores"]["dev f1"] > 0.7


def test_wrong_files_and_options_are_told_in_plain_words(examples, source_model, tmp_path):
    out = tmp_path / "de.weft"
    (tmp_path / "short.links").write_text("0-0\n")
    (tmp_path / "far.links").write_text("\n".join(["0-40"] * 40) + "\n")
    cases = {
        "--project must be one of soft, hard, ptt": run(examples, source_model, out, "--project", "firm"),
        "links of 1 sentence pairs, but 40": run(examples, source_model, out, links=tmp_path / "short.links"),
        "link 0-40 points past the end": run(examples, source_model, out, links=tmp_path / "far.links"),
        "missing.weft": run(examples, tmp_path / "missing.weft", out),
    }
    folder = str(examples / "bitext")
    labelled = f"{folder}/ferries-dev.de.conll"
    both = ["--bitext", f"{folder}/ferries.en", f"{folder}/ferries.de"]
    more = {
        "--bitext needs its word links": [
            "train",
            "ner",
            "--method",
            "bitext",
            *both,
            "--source-model",
            "en.weft",
        ],
        "--bitext needs a model that recognizes entities": [
            "train",
            "ner",
            "--method",
            "bitext",
            *both,
            "--links",
            f"{folder}/ferries.links",
        ],
        "No such option: --bitext": ["train", "tagger", *both, "--links", "x"],
        "--links is an option of --method bitext": ["train", "ner", labelled, "--links", "x"],
        "--confusion-table is an option of --method bitext": ["train", "ner", labelled, "--confusion-table", "x"],
    }
    cases |= {told: CliRunner().invoke(app, [*command, "--out", str(out)]) for told, command in more.items()}
    for told, done in cases.items():
        assert done.exit_code != 0, told
        shown = f"{done.output} {done.exception}".replace("option '--bitext'", "option: --bitext")  # as Click words it
        assert told.removeprefix("--project ") in shown, shown
    assert not out.exists()
