"""Effort of post-editing: WMT 2012 with one score per translation, and the times of six editors (IWSLT 2019)."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import DataError
from weft.recipes.framework import RecipeOptions
from weft.tasks.quality.features import TextFeatures

EFFORT = "crowd/wmt2012-qe/{}"
TIMES = "crowd/iwslt2019-post-edit/ann{}.tsv.gz"
BITEXT = "parallel/python-docs-en-es/memory-3.10.tsv.gz"
FILES = 5


@dataclass(frozen=True)
class Effort:
    """Features and scores of the shared task."""

    x: Floats
    y: Floats


def effort(options: RecipeOptions, part: str) -> Effort:
    """`training` or `test` of WMT 2012: 17 features and the weighted mean of three annotators."""
    name = "training.qe.baseline.tsv.gz" if part == "training" else "test.qe.baseline.tsv"
    x = _numbers(options.find(EFFORT.format(name)))
    y = _numbers(options.find(EFFORT.format(f"{part}.effort")))[:, 0]
    if len(x) != len(y):
        raise DataError(f"WMT 2012 {part}: {len(x)} rows of features, {len(y)} scores")
    return Effort(x, y)


def _numbers(path: Path) -> Floats:
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        return np.array([[float(cell) for cell in line.split()] for line in file if line.strip()])


@dataclass(frozen=True)
class Times:
    """Every sentence, edited by five: rows are sentences, columns the five files."""

    x: Floats  #: sentences x features
    system: Ints
    who: Ints  #: sentences x files: the editor
    y: Floats  #: sentences x files: log seconds per source word
    editors: tuple[str, ...]
    systems: int

    @property
    def n(self) -> int:
        return len(self.x)


def times(options: RecipeOptions, pairs: int, most: int) -> Times:
    """Log seconds per source word, with 17 features learned from a bitext of another domain."""
    texts: list[tuple[str, str]] = []
    names: list[str] = []
    who: list[list[str]] = []
    values: list[list[float]] = []
    for number in range(FILES):
        who.append([])
        values.append([])
        with gzip.open(options.find(TIMES.format(number)), "rt", encoding="utf-8") as file:
            for line in file:
                row = line.rstrip("\n").split("\t")
                if number == 0:
                    texts.append((row[29], row[31]))
                    names.append(row[0].partition("_doc-")[0])
                who[-1].append(row[2])
                values[-1].append(float(np.log(float(row[6]) / 1000 / float(row[8]))))
    source, target = zip(*bitext(options, pairs), strict=True)
    features = TextFeatures.learn(source, target)
    chosen = slice(0, most or None)
    x = features([s for s, _ in texts[chosen]], [t for _, t in texts[chosen]])
    editors, numbers = np.unique(np.array(who).T[chosen], return_inverse=True)
    systems, system = np.unique(np.array(names)[chosen], return_inverse=True)
    y = np.array(values).T[chosen]
    return Times(x, system, numbers.reshape(y.shape), y, tuple(editors.tolist()), len(systems))


def bitext(options: RecipeOptions, pairs: int) -> list[tuple[str, str]]:
    """Segments of translated manuals, without those left untranslated."""
    found: list[tuple[str, str]] = []
    with gzip.open(options.find(BITEXT), "rt", encoding="utf-8") as file:
        for line in file:
            _, source, target = line.rstrip("\n").split("\t")[:3]
            if source != target:
                found.append((source, target))
            if len(found) == pairs:
                break
    return found
