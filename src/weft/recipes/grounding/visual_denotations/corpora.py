"""Captions of photographs, entailments that people judged on them, and pairs of similar sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from weft import data
from weft.errors import DataError
from weft.formats.streams import numbered_lines
from weft.tasks.denotations.captions import Caption

CAPTIONS = "captions/multi30k-task2"
MPE = "captions/mpe"
RULES = "captions/denotation-rules"
STS = {
    "MSRvid": ("similarity/sts-2012/MSRvid.train.tsv", "similarity/sts-2012/MSRvid.test.tsv"),
    "images": ("similarity/sts-2014/images.test.tsv", "similarity/sts-2015/images.test.tsv"),
}
Find = Callable[[str], Path]  # where a corpus file is
LABELS = ("entailment", "neutral", "contradiction")


class Judged(NamedTuple):
    """Four premises, the image that they describe, a hypothesis, and what people say."""

    image: str
    premises: tuple[str, ...]
    hypothesis: str
    label: str


def _lines(path: Path) -> Iterator[str]:
    for _, line in numbered_lines(str(path)):
        yield line.rstrip("\r\n")


def multi30k(
    images: int, seed: int = 0, without: frozenset[str] = frozenset(), skip: int = 0, find: Find = data.find
) -> list[Caption]:
    """Captions of the first training images after `skip`, but for some; the five of an image in random order.

    The file has them by length.
    """
    names = list(_lines(find(f"{CAPTIONS}/train.images.txt")))
    columns = [list(_lines(find(f"{CAPTIONS}/train.{k}.en"))) for k in range(1, 6)]
    if any(len(column) != len(names) for column in columns):
        raise DataError(f"{CAPTIONS}: the five files of captions and the list of images differ in length")
    random = np.random.default_rng(seed)
    chosen = [k for k in range(skip, len(names)) if names[k] not in without][:images]
    return [
        Caption(names[k], str(number), columns[column][k])
        for k in chosen
        for number, column in enumerate(random.permutation(5).tolist())
    ]


def judged(part: str, find: Find = data.find) -> list[Judged]:
    """Items of a part (train, dev, test) of multiple-premise entailment; rows with fewer columns are left out."""
    lines = _lines(find(f"{MPE}/mpe_{part}.txt"))
    header = next(lines).split("\t")
    found = []
    for line in lines:
        cells = line.split("\t")
        if len(cells) != len(header) or cells[-1] not in LABELS:
            continue  # one line of dev has nine columns
        premises = [cell.split("/", 1) for cell in cells[1:5]]
        image = premises[0][0].split("#")[0]
        found.append(Judged(image, tuple(text for _, text in premises), cells[5], cells[-1]))
    return found


def pairs(path: str, find: Find = data.find) -> list[tuple[float, str, str]]:
    """Pairs of sentences with their scores; those without one are left out."""
    rows = [line.split("\t") for line in _lines(find(path))]
    return [(float(row[0]), row[1], row[2]) for row in rows if len(row) >= 3 and row[0].strip()]


def released_lexicon(find: Find = data.find) -> dict[str, list[str]]:
    """The hypernyms of the released system."""
    found: dict[str, list[str]] = {}
    for line in _lines(find(f"{RULES}/lexicon.txt")):
        noun, above = line.split("\t")
        found.setdefault(noun, []).append(above)
    return found


def released_sample(find: Find = data.find) -> tuple[list[Caption], dict[str, int]]:
    """The captions of the released sample, and its nodes with the number of their captions."""
    captions = []
    for line in _lines(find(f"{RULES}/sample/captions.tsv")):
        id, text = line.split("\t")
        image, name = id.split("#")
        captions.append(Caption(image, name, text))
    nodes = dict(line.split("\t") for line in _lines(find(f"{RULES}/sample/node.idx")))
    sizes = {}
    for line in _lines(find(f"{RULES}/sample/node-cap.map")):
        node, *own = line.split("\t")
        sizes[nodes[node]] = len(own)
    return captions, sizes
