"""What a model is worth in labelled sentences, in Python and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from weft.cli.app import app
from weft.errors import ConfigError, DataError
from weft.formats import write
from weft.pipeline.pipeline import Pipeline
from weft.tasks.entities.model_worth import model_worth
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.text import Doc, SpanLayer

NAMES = {"PER": ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn"], "LOC": ["Arlen", "Brill", "Corvo", "Delm", "Eskil"]}


def made(n, seed):
    """Sentences whose names can only be learnt name by name."""
    rng = np.random.default_rng(seed)
    words, spans = [], []
    for i in range(n):
        label = str(rng.choice(list(NAMES)))
        words.append(["then", str(rng.choice(NAMES[label])), "came", "."])
        spans.append((4 * i + 1, 4 * i + 2, label))
    doc = Doc.from_words(words)
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


@pytest.fixture(scope="module")
def model():
    recognizer = EntityRecognizer(EntitySettings(learner="crf", window=0, iterations=20))
    recognizer.fit([made(12, seed=1)])
    return Pipeline([recognizer])


@pytest.mark.must_show("cliper", 7)
def test_a_model_of_twelve_sentences_is_worth_about_twelve(model):
    worth = model_worth(model, [made(60, seed=2)], [made(200, seed=3)], [2, 4, 8, 16, 32, 64], seeds=(0, 1))
    assert [row.size for row in worth.rows] == [2, 2, 4, 4, 8, 8, 16, 16, 32, 32]  # 64 are not there
    assert worth.sentences is not None
    assert 5 <= worth.sentences <= 32
    assert f"worth {worth.sentences:,.0f} labelled sentences" in str(worth)


def test_a_model_that_no_size_reaches_is_worth_more_than_all(model):
    worth = model_worth(model, [made(60, seed=2)], [made(200, seed=3)], [1])
    assert worth.sentences is None
    assert str(worth).endswith("worth more than 1 labelled sentences.")


def test_the_command_tells_the_same(model, tmp_path):
    model.save(tmp_path / "ner.weft")
    for name, doc in (("labelled", made(60, seed=2)), ("test", made(200, seed=3))):
        write([doc], tmp_path / f"{name}.conll")
    command = [
        "diagnose",
        "curve",
        "ner",
        "--model",
        "ner.weft",
        "--labelled",
        "labelled.conll",
        "--test",
        "test.conll",
        "--sizes",
        "2,8,32",
        "--json",
    ]
    command = [str(tmp_path / word) if word.endswith((".weft", ".conll")) else word for word in command]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    expected = model_worth(model, [made(60, seed=2)], [made(200, seed=3)], [2, 8, 32])
    assert json.loads(done.output)["sentences"] == pytest.approx(expected.sentences)
    wrong = CliRunner().invoke(app, [*command, "--sources", "en=x.conll"])
    assert "--model replaces transfer as the comparison" in f"{wrong.output} {wrong.exception}"
    neither = CliRunner().invoke(app, [*command[:3], *command[5:]])
    assert "give --sources and --target" in f"{neither.output} {neither.exception}"


def test_what_cannot_be_compared_is_refused_in_plain_words(model):
    with pytest.raises(ConfigError, match="does not recognize entities"):
        model_worth(Pipeline([]), [made(3, 1)], [made(3, 1)], [1])
    with pytest.raises(DataError, match="there are only 3 labelled sentences"):
        model_worth(model, [made(3, 1)], [made(3, 1)], [10])
