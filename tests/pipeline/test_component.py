"""What all components share."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from weft.errors import DataError, WeftError
from weft.pipeline.component import Stopwatch, Trainable, training_docs
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import KINDS, component_class
from weft.storage import read_header
from weft.tasks import Chunker, Tagger, TrigramTagger
from weft.tasks.tagging import tagger as tagging
from weft.text import Doc

TRAIN = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]])


@pytest.mark.parametrize("task", KINDS)
def test_components_that_learn_name_their_settings_and_say_that_they_are_not_trained(task: str) -> None:
    kind = component_class(task)
    assert issubclass(kind, Trainable)
    names = {field.name for field in fields(kind.settings_class)}
    assert set(kind.unsaved) - {"workers"} <= names
    component = kind(kind.settings_class())
    assert type(component.settings) is kind.settings_class
    if task != "relations":  # its labeller says so
        with pytest.raises(WeftError, match=f"component '{task}' is not trained yet: call fit, or load a model"):
            component.state()


def test_settings_of_the_machine_are_not_saved(tmp_path: Path) -> None:
    tagger = TrigramTagger.from_options({"workers": 2})
    tagger.fit([TRAIN])
    Pipeline([tagger]).save(tmp_path / "m.weft")
    saved = read_header(tmp_path / "m.weft")["components"][0]["settings"]
    assert "workers" not in saved
    assert saved["column"] == "upos"
    assert "checkpoint" in vars(Chunker().settings)
    assert "checkpoint" not in Chunker().saved_settings()


def test_a_part_that_was_trained_is_given_back() -> None:
    part = object()
    assert Tagger().trained(part) is part


def test_training_takes_no_documents_without_words() -> None:
    split = training_docs([Doc("Dogs bark."), Doc(" "), TRAIN])
    assert [doc.n_words for doc in split] == [3, 4]
    with pytest.raises(DataError, match="nothing to train on"):
        training_docs([Doc("")])


def test_a_stopwatch_tells_the_time_since_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0, 100.0]
    monkeypatch.setattr("weft.pipeline.component.time.process_time", lambda: now[0])
    monkeypatch.setattr("weft.pipeline.component.time.perf_counter", lambda: now[1])
    watch = Stopwatch()
    now[:] = 11.234, 105.678
    assert watch.seconds() == {"cpu_seconds": 1.23, "seconds": 5.68}


def test_a_small_training_set_is_gone_through_twice_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = Tagger.from_options({"epochs": 3, "min_count": 2})
    small = tagger.settings_for([TRAIN])
    assert (small.epochs, small.min_count) == (6, 1)
    monkeypatch.setattr(tagging, "SMALL", 4)
    assert tagger.settings_for([TRAIN]) is tagger.settings
    report = tagger.fit([TRAIN])
    assert report["training"]["iterations"] == 3
    assert (tagger.settings.epochs, tagger.settings.min_count) == (3, 2)
