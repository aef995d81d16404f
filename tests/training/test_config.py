"""Configuration files of pipelines: what they say, and what is said of wrong ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from places import ROOT

from weft.errors import ConfigError
from weft.training import read_config

CONFIGS = sorted((ROOT / "configs").glob("*.toml"))


def test_a_file_names_corpora_components_and_tests(config_file: Path) -> None:
    config = read_config(config_file)
    assert config.name == "small"
    assert [spec.task for spec in config.components] == ["segmenter", "tagger", "lemmatizer", "parser", "chunker"]
    assert config.components[3].tags == "jackknifed"
    assert config.components[1].settings == {"epochs": 2}
    assert config.corpora["story"].licence == "MIT"
    assert config.tests[0].score == ["ud", "chunks"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('licence = "MIT"\nwhat', 'license = "MIT"\nwhat', "line 4: unknown key 'license'; did you mean licence?"),
        ('title = "A story"', 'title = "A story"\nwords = 3', "line 11: unknown key 'words'"),
        ('task = "parser"', 'task = "prser"', "unknown task 'prser'; did you mean parser"),
        ('tags = "predicted"', 'tags = "guessed"', "tags must be one of gold, predicted, jackknifed, got 'guessed'"),
        ("folds = 2", 'folds = "2"', "line 7: folds in the file must be a whole number, got '2'"),
        ("folds = 2", "folds = 1", "folds must be at least 2"),
        ('corpus = "story.dev"', 'corpus = "story.test"', "the corpus 'story' has no 'test'; it has train, dev"),
        ('corpus = "story.dev"', 'corpus = "tale"', "there is no [corpora.tale]"),
        ('tags = "predicted"', 'clusters = "novels"', "there is no [clusters.novels]; there are: own"),
        ("base_chunks = true", "base_chunks = 1", "must be true or false, got 1"),
        ('task = "segmenter"\n', "", "[[components]] 1 lacks task"),
        ("folds = 2", 'folds = 2\nafter = "en"', "tags of the model 'en' cannot be jackknifed; use predicted or gold"),
        (
            'title = "A story"',
            'title = "A story"\nrepairs = 1',
            "repairs in [corpora.story] must be true",
        ),
        ('name = "small"', "name =", "is not a TOML file"),
        ('dev = "STORY"', 'frames = { test = "x" }', "the corpus 'story' has no 'test' to join frames to"),
        ('dev = "STORY"', 'without = ["xpoz"]', "a column to leave out is one of lemma, upos, xpos, feats, got 'xpoz'"),
        ("base_chunks = true", 'copies = [{ task = "prser" }]', "unknown task 'prser'; did you mean parser"),
        ("base_chunks = true", 'copies = [{ kind = "parser" }]', "a component of `copies` has a task and settings"),
        ("base_chunks = true", 'copies = ["parser"]', "a component of `copies` must be a table, got 'parser'"),
    ],
)
def test_a_wrong_file_is_refused_in_plain_words(
    tmp_path: Path, config_text: str, old: str, new: str, said: str
) -> None:
    if "STORY" in old:
        old = next(line for line in config_text.splitlines() if line.startswith("dev = "))
    assert old in config_text
    path = tmp_path / "wrong.toml"
    path.write_text(config_text.replace(old, new, 1))
    with pytest.raises(ConfigError, match=re.escape(said)):
        read_config(path)


def test_a_file_may_be_like_another_but_for_some_settings(config_file: Path) -> None:
    other = config_file.with_name("other.toml")
    other.write_text('like = "small.toml"\nname = "other"\n\n[settings.parser]\nbeam = 4\n')
    config = read_config(other)
    assert (config.name, config.language) == ("other", "English")
    assert config.components[3].settings == {"epochs": 2, "beam": 4}
    other.write_text('like = "small.toml"\nname = "other"\n\n[instead.parser]\nsystem = "mst1"\n')
    assert read_config(other).components[3].settings == {"system": "mst1"}
    other.write_text('like = "small.toml"\n[settings.ner]\nbeam = 4\n')
    with pytest.raises(ConfigError, match=r"line 2: .*small\.toml has no component 'ner'"):
        read_config(other)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the configuration file"):
        read_config(tmp_path / "none.toml")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configurations_of_the_repository_can_be_read(path: Path) -> None:
    config = read_config(path)
    assert config.name == path.stem
    assert config.tests


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_models_learn_only_from_corpora_that_let_them_be_passed_on(path: Path) -> None:
    config = read_config(path)
    used = {name.partition(".")[0] for spec in config.components for name in (*spec.train, *spec.dev)}
    used |= {name for spec in config.clusters.values() for name in spec.text if name in config.corpora}
    for name in used:
        assert re.fullmatch(
            r"CC BY(-SA)? [34]\.0|ODC-BY|CC0|MIT|LGPL-LR|public domain|free to use .*", config.corpora[name].licence
        ), name
