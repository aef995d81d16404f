"""Multi30k as the recipe reads it: lower-cased words and punctuation marks, folds by image."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

from weft.recipes.framework import RecipeOptions

FOLDER = "parallel/multi30k/task1/"
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2018_flickr")
_WORD = re.compile(r"\w+|[^\w\s]")
Sentences = list[list[str]]


@dataclass(frozen=True)
class Captions:
    """Sentence pairs."""

    source: Sentences
    target: Sentences

    def first(self, n: int) -> Captions:
        """The first of them."""
        return Captions(self.source[:n], self.target[:n])


def words(line: str) -> list[str]:
    """The words and marks of a line, in lower case.

    >>> words("Zwei Hunde, im Gras.")
    ['zwei', 'hunde', ',', 'im', 'gras', '.']
    """
    return _WORD.findall(line.lower())


def captions(options: RecipeOptions, name: str, source: str, target: str) -> Captions:
    """One part of the corpus; pairs with an empty side are left out."""
    suffix = ".gz" if name == "train" else ""
    sides = [_lines(options.find(f"{FOLDER}{name}.{language}{suffix}")) for language in (source, target)]
    pairs = [(s, t) for s, t in zip(*sides, strict=True) if s and t]
    return Captions([s for s, _ in pairs], [t for _, t in pairs])


def _lines(path: Path) -> Sentences:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return [words(line) for line in file]
    return [words(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
