"""The names that `import weft` gives, and what they do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.errors import ConfigError
from weft.pipeline import registry
from weft.text import Doc, SpanLayer


def tagged(*sentences: str) -> Doc:
    """A document of `word/TAG` sentences."""
    pairs = [[item.split("/") for item in sentence.split()] for sentence in sentences]
    return Doc.from_words([[form for form, _ in own] for own in pairs], upos=[[tag for _, tag in own] for own in pairs])


TRAIN = tagged("the/DET dog/NOUN barks/VERB", "a/DET cat/NOUN sleeps/VERB", "the/DET cat/NOUN barks/VERB")


def test_the_door_has_these_names() -> None:
    names = "Corpus Doc Pipeline WeftError align language_of lm load read show train translation write"
    assert dir(weft) == names.split()
    assert all(getattr(weft, name) is not None for name in dir(weft))


def test_importing_weft_and_the_names_of_tasks_is_light() -> None:
    code = (
        "import sys, weft, weft.tasks; assert len(dir(weft.tasks)) > 20; "
        "print({'numpy', 'numba', 'scipy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_all_components_of_the_registry_are_at_the_door_of_tasks() -> None:
    import weft.tasks

    for task, home in registry.KINDS.items():
        module, name = home.split(":")
        if module.startswith("weft.tasks."):
            assert getattr(weft.tasks, name) is registry.component_class(task)
    assert all(getattr(weft.tasks, name).__name__ == name for name in weft.tasks.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Baker'"):
        _ = weft.tasks.Baker


# Training.


def test_training_gives_a_pipeline_that_tells_how_it_went(tmp_path: Path) -> None:
    nlp = weft.train("tagger", [TRAIN], dev=[TRAIN], epochs=3, out=tmp_path / "tags.weft")
    assert nlp("the dog sleeps").column("upos") == ["DET", "NOUN", "VERB"]
    assert nlp.card["training"]["words"] == 9
    assert nlp.card["scores"]["dev accuracy"] == 1.0
    loaded = weft.load(tmp_path / "tags.weft")
    times = ("seconds", "cpu_seconds")  # of no concern to a model file: the same training gives the same bytes
    kept = {name: value for name, value in nlp.card["training"].items() if name not in times}
    assert loaded.card == {**nlp.card, "training": kept}
    assert loaded.card["name"] == "tags"
    assert loaded("the dog sleeps").column("upos") == ["DET", "NOUN", "VERB"]


def test_files_and_documents_train_the_same(tmp_path: Path) -> None:
    path = tmp_path / "train.conllu"
    weft.write([TRAIN], path)
    for number, data in enumerate((path, str(path), [path], weft.read(path), list(weft.read(path)))):
        weft.train("tagger", data, epochs=2, out=tmp_path / f"{number}.weft")
    states = [weft.load(tmp_path / f"{number}.weft").components[0].state()[0] for number in range(5)]
    assert all(state == states[0] for state in states)


def test_settings_seed_and_workers_reach_the_component() -> None:
    settings = weft.train("chunker", _chunked(), seed=3, workers=2, iterations=5).components[0].settings  # type: ignore[attr-defined]
    assert (settings.seed, settings.workers, settings.iterations) == (3, 2, 5)


def _chunked() -> list[Doc]:
    doc = Doc.from_words([["the", "dog", "barks"]] * 2)
    doc.spans["chunks"] = SpanLayer.of(doc.strings, [(0, 2, "NP"), (3, 5, "NP")])
    return [doc]


def test_a_method_is_handed_on_where_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    new_component = registry.new_component

    def noted(task: str, options: dict[str, Any], **more: Any) -> Any:
        asked.append(more)
        return new_component(task, options)

    monkeypatch.setattr(registry, "new_component", noted)
    weft.train("tagger", [TRAIN], epochs=1)
    weft.train("tagger", [TRAIN], epochs=1, method="chain")
    assert asked == [{}, {"method": "chain"}]


def test_what_cannot_be_trained_is_told_before_the_data_are_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.conllu"
    with pytest.raises(ConfigError, match="unknown task 'tager'"):
        weft.train("tager", missing)
    with pytest.raises(ConfigError, match="unknown setting 'epoch'"):
        weft.train("tagger", missing, epoch=3)
    with pytest.raises(ConfigError, match="is a folder"):
        weft.train("tagger", missing, out=tmp_path)
    with pytest.raises(weft.WeftError, match=r"missing\.conllu"):
        weft.train("tagger", missing)
    with pytest.raises(ConfigError, match="files or documents, got 3"):
        weft.train("tagger", [TRAIN, 3])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="files or documents, got a mix of both"):
        weft.train("tagger", [TRAIN, missing])  # type: ignore[list-item]


# Aligning.


def test_words_of_sentences_and_of_files_are_aligned_alike(tmp_path: Path) -> None:
    english, german = ["the house", "the book", "a book"], ["das Haus", "das Buch", "ein Buch"]
    (tmp_path / "en").write_text("\n".join(english) + "\n", encoding="utf-8")
    (tmp_path / "de").write_text("\n".join(german) + "\n", encoding="utf-8")
    pairs = weft.align(english, german).pairs()
    assert pairs == [[(0, 0), (1, 1)]] * 3
    assert weft.align(tmp_path / "en", str(tmp_path / "de")).pairs() == pairs
    assert weft.align([each.split() for each in english], [each.split() for each in german]).pairs() == pairs


def test_sides_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give a file for each side"):
        weft.align(tmp_path / "en", ["das Haus"])
    with pytest.raises(ConfigError, match="give a file for each side"):
        weft.align(["the house"])
    with pytest.raises(weft.WeftError, match="as many source as target sentences"):
        weft.align(["the house"], ["das Haus", "das Buch"])


# Entities.


def test_entities_are_the_spans_of_their_layer_and_none_where_there_is_none() -> None:
    doc = Doc.from_words([["Ada", "left", "Oslo"]])
    assert doc.entities == []
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 3, "LOC")])
    assert [(span.text, span.label) for span in doc.entities] == [("Ada", "PER"), ("Oslo", "LOC")]
