"""A small configuration over the examples of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFIG = """
name = "small"
language = "English"
licence = "MIT"
what = "A pipeline for tests."
weaknesses = ["knows little"]
folds = 2

[corpora.story]
title = "A story"
licence = "MIT"
train = "STORY"
dev = "STORY"

[[components]]
task = "segmenter"
train = ["story"]

[clusters.own]
text = ["story"]
classes = 8
min_count = 2
rounds = 2

[[components]]
task = "tagger"
train = ["story"]
clusters = "own"
settings = { epochs = 2 }

[[components]]
task = "lemmatizer"
train = ["story"]

[[components]]
task = "parser"
train = ["story"]
tags = "jackknifed"
settings = { epochs = 2 }

[[components]]
task = "chunker"
train = ["story"]
tags = "predicted"
base_chunks = true
settings = { learner = "perceptron", epochs = 2 }

[[tests]]
name = "story"
corpus = "story.dev"
score = ["ud", "chunks"]
"""


@pytest.fixture
def config_text(examples: Path) -> str:
    return CONFIG.replace("STORY", (examples / "story.conllu").as_posix())


@pytest.fixture
def config_file(tmp_path: Path, config_text: str) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(config_text)
    return path
