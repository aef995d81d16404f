"""Sentences of the novels, split by novel: names and phrases of a novel would tell too much about its other half."""

from __future__ import annotations

import random
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

Sentence = list[str]
_SENTENCE = re.compile(r"[.!?](?=\s)")
_WORD = re.compile(r"[^\W\d_]+|\d+|[.,;:!?]")


@dataclass(frozen=True)
class Novels:
    """Sentences to train and develop on, and those of every test novel."""

    train: list[Sentence]
    dev: list[Sentence]
    test: dict[str, list[Sentence]]


def novels(path: Path, n_train: int, n_test: int | None = None) -> Novels:
    """The first sentences of the training novels, of the next four, and of each of six test novels."""
    with tarfile.open(path) as archive:
        names = sorted(member.name for member in archive if member.isfile())
        random.Random(3).shuffle(names)

        def text(name: str) -> list[Sentence]:
            file = archive.extractfile(name)
            return [] if file is None else list(sentences(file.read().decode("utf-8", "replace")))

        test = {_title(name): text(name)[:n_test] for name in names[:6]}
        dev = [sentence for name in names[6:10] for sentence in text(name)[:n_test]]
        train = list(islice((sentence for name in names[10:] for sentence in text(name)), n_train))
    return Novels(train, dev, test)


def _title(name: str) -> str:
    """The first words of a title, from the name of its file."""
    return " ".join(Path(name).stem.split("_")[1:4])


def sentences(text: str) -> Iterator[Sentence]:
    """Words and punctuation of sentences, in lower case.

    >>> list(sentences("He came, late. Why? "))
    [['he', 'came', ',', 'late', '.'], ['why', '?']]
    """
    begin = 0
    lower = text.lower()
    for mark in (*(match.end() for match in _SENTENCE.finditer(lower)), len(lower)):
        if words := _WORD.findall(lower, begin, mark):
            yield words
        begin = mark
