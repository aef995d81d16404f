"""Whole pipelines from a configuration file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import weft
from weft.cli.app import app
from weft.errors import ConfigError
from weft.training import read_config, train_pipeline
from weft.training.card import card_text


def test_the_command_trains_scores_and_writes_a_model_that_can_be_loaded_by_name(
    config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    results = tmp_path / "results.json"
    done = CliRunner().invoke(
        app, ["train", "pipeline", str(config_file), "--seed", "3", "--results", str(results), "--json"]
    )
    assert done.exit_code == 0, done.output
    report = json.loads(results.read_text())
    nlp = weft.load("small")
    doc = nlp("The boat came to the island.")
    assert doc.column("upos")[:2] == ["DET", "NOUN"]
    assert doc.has("head")
    assert doc.has("lemma")
    assert [span.label for span in doc.span_views("chunks")][:2] == ["NP", "VP"]
    raw, gold, tags = report["tests"]
    assert (raw["from"], gold["from"], tags["from"]) == ("raw text", "gold words", "gold tags")
    assert set(tags["scores"]) == {"UAS", "LAS", "CLAS"}
    assert tags["scores"]["LAS"] >= gold["scores"]["LAS"] - 2
    assert gold["scores"]["Words"] == 100
    assert 50 < raw["scores"]["LAS"] <= gold["scores"]["LAS"] + 5
    assert gold["scores"]["chunks"] > 80
    card = card_text(nlp.card)
    for part in ("A story (MIT)", "knows little", "seed: 3", "story, raw text", "Licence: MIT"):
        assert part in card


def test_the_same_seed_gives_the_same_model(config_file: Path, tmp_path: Path) -> None:
    config = read_config(config_file)
    config.components, config.tests = config.components[:2], []
    for name in ("one", "two"):
        train_pipeline(config, seed=1, limit=20)[0].save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_an_interrupted_training_goes_on_with_what_is_finished(
    config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft.tasks.parsing.transitions.parser import Parser
    from weft.tasks.tagging.tagger import Tagger

    config = read_config(config_file)
    config.components, config.tests = config.components[:4], []
    whole = train_pipeline(config, limit=20)[0]

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Parser, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_pipeline(config, limit=20, keep=tmp_path / "kept")
    monkeypatch.setattr(Tagger, "fit", interrupted)
    again = train_pipeline(config, limit=20, keep=tmp_path / "kept")[0]
    for name, nlp in (("one", whole), ("two", again)):
        nlp.card = {}
        nlp.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    config.components[1].settings["epochs"] = 3
    with pytest.raises(KeyboardInterrupt):
        train_pipeline(config, limit=20, keep=tmp_path / "kept")


def test_a_wrong_setting_is_found_before_anything_is_trained(config_file: Path) -> None:
    config = read_config(config_file)
    config.components[-1].settings["epoch"] = 3
    said: list[str] = []
    with pytest.raises(ConfigError, match=r"small\.toml: chunker: unknown setting 'epoch'"):
        train_pipeline(config, say=said.append)
    assert not said


def test_a_test_of_what_no_component_finds_is_refused(config_file: Path) -> None:
    config = read_config(config_file)
    config.components.pop()
    with pytest.raises(ConfigError, match="story: no component predicts chunks"):
        train_pipeline(config)


def test_a_model_of_a_task_still_needs_a_place(examples: Path) -> None:
    done = CliRunner().invoke(app, ["train", "chunker", str(examples / "chunks.conll")])
    assert done.exit_code == 2
    assert "--out" in done.output


def test_an_option_learns_from_the_tags_of_the_model_it_works_after(
    config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_MODELS", str(tmp_path))
    small = read_config(config_file)
    small.components, small.tests = small.components[1:2], []
    train_pipeline(small)[0].save(tmp_path / "small.weft")
    option = tmp_path / "speech.toml"
    story = small.corpora["story"].train[0]
    option.write_text(
        'name = "speech"\nlanguage = "English"\nlicence = "MIT"\nafter = "small"\n'
        f'[corpora.story]\ntitle = "A story"\nlicence = "MIT"\ntrain = "{story}"\ndev = "{story}"\nrepairs = true\n'
        '[[components]]\ntask = "disfluency"\ntrain = ["story"]\ntags = "predicted"\n'
        "settings = { beam = 4, epochs = 3, prune = 0.0 }\n"
        '[[tests]]\nname = "story"\ncorpus = "story.dev"\nscore = ["disfluencies"]\n'
    )
    nlp, report = train_pipeline(read_config(option), seed=1)
    assert [component.task for component in nlp.components] == ["disfluency"]
    (row,) = report["tests"]
    assert row["from"] == "gold words"
    assert list(row["scores"]) == ["struck out, P", "struck out, R", "struck out, F", "UAS", "LAS"]
    assert row["scores"]["struck out, F"] > 0
    assert row["scores"]["UAS"] > 60
    nlp.save(tmp_path / "speech.weft")
    assert weft.load("small", "speech")("the boat the boat came to the island").has("spans/disfluencies")


def test_roles_learn_from_copies_with_predicted_trees_and_are_scored_from_raw_text_words_and_trees(
    examples: Path, tmp_path: Path
) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(f"""
name = "kitchen-roles"
language = "English"
licence = "MIT"
after = "en"
folds = 2
[corpora.kitchen]
title = "A kitchen"
licence = "MIT"
train = "{(examples / "roles" / "kitchen.conllu").as_posix()}"
dev = "{(examples / "roles" / "evening.conllu").as_posix()}"
[[components]]
task = "roles"
train = ["kitchen"]
settings = {{ c_senses = 1.0, c_arguments = 1.0, c_labels = 1.0, more = "sense+path" }}
copies = [{{ task = "tagger", settings = {{ epochs = 1 }} }}, {{ task = "parser", settings = {{ epochs = 1 }} }}]
[[tests]]
name = "evening"
corpus = "kitchen.dev"
score = ["frames"]
""")
    said: list[str] = []
    nlp, report = train_pipeline(read_config(path), say=said.append)
    assert "tags and trees of 2 folds" in said
    assert [component.task for component in nlp.components] == ["roles"]
    scores = {row["from"]: row["scores"] for row in report["tests"]}
    assert list(scores) == ["raw text", "gold words", "gold trees"]
    assert scores["gold trees"]["labelled"] > 95
    assert 0 < scores["gold words"]["labelled"] <= scores["gold trees"]["labelled"]
    assert scores["raw text"]["labelled"] > 0
    assert nlp.card["settings"]["1 roles"]["copies"] == "tagger, parser"


def test_graphs_of_meaning_are_trained_after_a_model_and_scored_by_smatch(examples: Path, tmp_path: Path) -> None:
    path = tmp_path / "amr.toml"
    graphs = (examples / "meaning.amr").as_posix()
    path.write_text(f"""
name = "small-amr"
language = "English"
licence = "MIT"
after = "en"
[corpora.harbour]
title = "A harbour"
licence = "MIT"
train = "{graphs}"
dev = "{graphs}"
[[components]]
task = "amr"
train = ["harbour"]
settings = {{ hash_bits = 16 }}
[[tests]]
name = "harbour"
corpus = "harbour.dev"
score = ["amr"]
""")
    nlp, report = train_pipeline(read_config(path))
    assert [component.task for component in nlp.components] == ["amr"]
    (row,) = report["tests"]
    assert row["from"] == "gold words"
    assert row["scores"]["Smatch"] > 90
