"""Documents in order, and articles at three levels of reading."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.errors import DataError
from weft.formats import read
from weft.recipes.framework import RecipeOptions
from weft.tasks.coherence.grid import EntityGrid
from weft.text.doc import Doc

GUM = "treebanks/ud/English-GUM/{}.conllu.gz"
ARTICLES = "coherence/onestopenglish/texts.tar.gz"
#: Levels of an article, hardest first: where its texts are, and the end of their names. The outer folder of the
#: intermediate level lost its quotes and dashes.
LEVELS = {"Adv": ("Adv-Txt", "adv"), "Int": ("Int-Txt/Int-Txt", "int"), "Ele": ("Ele-Txt", "ele")}
#: Its elementary text is that of another article.
DROPPED = ("Royal Baby",)


def gum(options: RecipeOptions, parts: Sequence[str]) -> list[Doc]:
    """The documents of parts of GUM."""
    return [doc for part in parts for doc in read(options.find(GUM.format(part)))]


def genre(name: str) -> str:
    """The genre of a document of GUM.

    >>> genre("GUM_news_asylum")
    'news'
    """
    return name.split("_")[1] if name.count("_") > 1 else ""


def articles(options: RecipeOptions, most: int) -> dict[str, dict[str, str]]:
    """The texts of articles by level: `articles[name]["Ele"]`; up to `most` of those that have all three."""
    return read_articles(options.find(ARTICLES), most)


def read_articles(path: Path, most: int = 10_000) -> dict[str, dict[str, str]]:
    """The articles of an archive."""
    found: dict[str, dict[str, str]] = {}
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            folder, _, file = member.name.rpartition("/")
            for level, (place, end) in LEVELS.items():
                if folder == place and file.endswith(f"-{end}.txt"):
                    stream = archive.extractfile(member)
                    if stream is None:
                        raise DataError(f"{path}: {member.name} is not a file")
                    found.setdefault(file.removesuffix(f"-{end}.txt").strip(), {})[level] = _text(stream.read())
    whole = {name: texts for name, texts in sorted(found.items()) if len(texts) == 3 and name not in DROPPED}
    if not whole:
        raise DataError(f"{path} has no articles at three levels")
    return dict(list(whole.items())[:most])


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")


def mixed(grid: EntityGrid, other: EntityGrid, count: int, seed: int) -> EntityGrid:
    """A grid in which `count` rows are replaced by rows of another document, at random places.

    >>> one, two = EntityGrid.of_rows([{"ash": "S"}, {"ash": "S"}]), EntityGrid.of_rows([{"oak": "O"}])
    >>> mixed(one, two, 1, 0).names
    ('ash', 'oak')
    """
    rng = np.random.default_rng(seed)
    rows = [grid.row(sentence) for sentence in range(grid.n)]
    count = min(count, grid.n, other.n)
    places, taken = rng.choice(grid.n, count, replace=False), rng.choice(other.n, count, replace=False)
    for place, sentence in zip(places.tolist(), taken.tolist(), strict=True):
        rows[place] = other.row(sentence)
    return EntityGrid.of_rows(rows)
