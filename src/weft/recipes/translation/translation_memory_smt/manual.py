"""The manual of Python in English and Spanish: release 3.10 as the memory, what is new in 3.12 to be translated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from weft.errors import DataError
from weft.formats.memories.words import marked_words
from weft.formats.streams import numbered_lines
from weft.recipes.framework import RecipeOptions

FOLDER = "parallel/python-docs-en-es"
Words = list[str]


@dataclass(frozen=True)
class Segments:
    """Segments of pages and their translations, as lower-case words; markup is one word."""

    pages: list[str]
    text: list[str]  #: the English text as it is
    source: list[Words]
    target: list[Words]

    def __len__(self) -> int:
        return len(self.pages)

    def take(self, rows: list[int]) -> Segments:
        """Some of the segments."""
        columns: tuple[list[Any], ...] = self.pages, self.text, self.source, self.target
        return Segments(*([column[row] for row in rows] for column in columns))


def read(options: RecipeOptions, name: str) -> Segments:
    """The segments of a file, `page<TAB>English<TAB>Spanish`, without those that are the same in both languages."""
    pages, texts, source, target = [], [], [], []
    for number, line in numbered_lines(str(options.find(f"{FOLDER}/{name}.tsv.gz"))):
        cells = line.split("\t")
        if len(cells) != 3:
            raise DataError(f"{name}, line {number}: expected page, English and Spanish")
        if cells[1] != cells[2]:
            sides = [marked_words(cell.lower(), placeholders=False) for cell in cells[1:]]
            if all(sides):
                pages.append(cells[0])
                texts.append(cells[1])
                source.append(sides[0])
                target.append(sides[1])
    return Segments(pages, texts, source, target)


def is_dev(words: Words, share: int = 5) -> bool:
    """Whether a new segment belongs to the development part: about 1 of `share`, by a hash of its English words."""
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest(), 16) % share == 0
