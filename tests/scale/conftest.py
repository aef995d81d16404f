"""A small model and a small corpus for the tests of annotating much text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import weft
from weft.pipeline.registry import train
from weft.scale.job import Job
from weft.scale.run import Summary, annotate_into
from weft.storage import digest


@pytest.fixture(scope="session")
def tagger(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    """A tagger trained on the story."""
    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    train("tagger", weft.read(examples / "story.conllu"), None, path, {"epochs": 2})
    return path


@pytest.fixture(scope="session")
def job(tagger: Path) -> Callable[..., Job]:
    """A job of that tagger."""

    def make(to_format: str = "conllu", **options: object) -> Job:
        return Job((str(tagger),), (digest(tagger),), to_format, **options)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of one large and three small files, of about 60,000 words. Whoever changes it changes a copy."""
    folder = tmp_path_factory.mktemp("large") / "corpus"
    (folder / "small").mkdir(parents=True)
    paragraphs = [f"The ferry {i} left the harbour. A thin fog covered town {i % 7}!\n\n" for i in range(4000)]
    (folder / "large.txt").write_text("".join(paragraphs))
    for i in range(3):
        (folder / "small" / f"{i}.txt").write_text("".join(paragraphs[i * 10 : i * 10 + 10]))
    return folder


@pytest.fixture(scope="session")
def annotated(
    tmp_path_factory: pytest.TempPathFactory, corpus: Path, job: Callable[..., Job]
) -> Callable[[str, int], tuple[Path, Summary]]:
    """The corpus annotated by one process, once for all tests, in a format and in shards of a size."""

    @cache
    def annotate(to_format: str, shard_bytes: int) -> tuple[Path, Summary]:
        folder = tmp_path_factory.mktemp("annotated") / "out"
        return folder, annotate_into(folder, [corpus], job(to_format), shard_bytes=shard_bytes)

    return annotate
