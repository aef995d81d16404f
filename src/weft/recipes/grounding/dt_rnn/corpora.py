"""Pascal1K with image vectors and parsed captions, word vectors, and stand-in images of triples."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import weft
from weft.arrays import Floats, Ints
from weft.features.representations.ppmi import WordTable, ppmi_vectors
from weft.recipes.framework import RecipeOptions
from weft.tasks.images.probe import Triple
from weft.tasks.images.trees import CaptionTree, caption_trees

_FOLDER = "captions/pascal1k"
_RAW = "captions/multi30k-task2/train.{}.en.gz"
_WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
#: Images per category that are held out for choosing and for testing.
DEV, TEST = 5, 5


@dataclass
class Part:
    """Images and the sentences that describe them; `owners` are places in `images`."""

    images: Ints
    sentences: Ints
    owners: Ints


@dataclass
class Pascal:
    """Images with categories and vectors, and their captions with trees."""

    categories: list[str]
    vectors: Floats
    trees: list[CaptionTree]
    owners: Ints  #: the image of each caption

    @classmethod
    def read(cls, options: RecipeOptions, categories: int = 20) -> Pascal:
        """Read images and parse their captions; of the first categories only if asked."""
        with gzip.open(options.find(f"{_FOLDER}/sentences.tsv.gz"), "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        names = options.find(f"{_FOLDER}/images.txt").read_text(encoding="utf-8").split()
        packed = gzip.decompress(options.find(f"{_FOLDER}/mobilenet-v2-pool.npy.gz").read_bytes())
        vectors = np.load(io.BytesIO(packed)).astype(np.float64)
        kept = set(sorted({row[1] for row in rows})[:categories])
        rows = [row for row in rows if row[1] in kept]
        category = {row[0].partition("#")[0]: row[1] for row in rows}
        chosen = [number for number, name in enumerate(names) if name in category]
        place = {names[number]: k for k, number in enumerate(chosen)}
        docs = weft.load("en").pipe(row[2] for row in rows)
        owners = np.array([place[row[0].partition("#")[0]] for row in rows])
        return cls([category[names[k]] for k in chosen], vectors[chosen], caption_trees(docs), owners)

    def split(self, seed: int) -> tuple[Part, Part, Part]:
        """Training, development and test images, shuffled within categories."""
        random = np.random.default_rng(seed)
        parts: tuple[list[int], list[int], list[int]] = ([], [], [])
        for name in sorted(set(self.categories)):
            own = random.permutation([k for k, category in enumerate(self.categories) if category == name]).tolist()
            for part, images in zip(parts, (own[: -DEV - TEST], own[-DEV - TEST : -TEST], own[-TEST:]), strict=True):
                part += images
        train, dev, test = (self._part(np.array(images)) for images in parts)
        return train, dev, test

    def _part(self, images: Ints) -> Part:
        place = np.full(len(self.categories), -1, dtype=np.int64)
        place[images] = np.arange(len(images))
        sentences = np.flatnonzero(place[self.owners] >= 0)
        return Part(images, sentences, place[self.owners[sentences]])

    def trees_of(self, part: Part) -> list[CaptionTree]:
        """The trees of a part's captions."""
        return [self.trees[k] for k in part.sentences.tolist()]

    def standardized(self, train: Part) -> Floats:
        """Image vectors, each dimension standardized on the training images, divided by the root of their number."""
        return standardized(self.vectors, self.vectors[train.images])


def standardized(vectors: Floats, train: Floats) -> Floats:
    """Vectors of which those of the training images have mean 0 and, in each dimension, variance 1/D.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[1.0, 5.0], [3.0, 5.0]])).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """
    spread = train.std(axis=0)
    found: Floats = (vectors - train.mean(axis=0)) / np.where(spread > 0, spread, 1.0) / np.sqrt(vectors.shape[1])
    return found


class RawCaptions:
    """Captions of other images, for word vectors."""

    def __init__(self, options: RecipeOptions, files: int = 5) -> None:
        self.options, self.files = options, files

    @cached_property
    def sentences(self) -> list[list[str]]:
        """The words of all captions."""
        found = []
        for number in range(1, self.files + 1):
            with gzip.open(self.options.find(_RAW.format(number)), "rt", encoding="utf-8") as file:
                found += [_WORD.findall(line) for line in file]
        return found

    def table(self, trees: Sequence[CaptionTree], dimensions: int) -> WordTable:
        """Word vectors from these captions and from training sentences."""
        return ppmi_vectors([*self.sentences, *(list(tree.words) for tree in trees)], dimensions)


def triple_images(triples: Sequence[Triple], width: int, seed: int, noise: float = 0.1) -> Floats:
    """Stand-in images of triples: words, words in roles, and verbs with a role, through a random layer with noise."""
    features = [
        (t.subject, t.verb, t.object, f"subject {t.subject}", f"object {t.object}", f"{t.verb} by {t.subject}",
         f"{t.verb} what {t.object}")
        for t in triples
    ]  # fmt: skip
    vectors: dict[str, Floats] = {}
    layer = np.random.default_rng(0)
    for name in sorted({name for own in features for name in own}):
        vectors[name] = layer.standard_normal(width)
    random = np.random.default_rng([seed, 1])
    return np.array(
        [
            np.maximum(sum(vectors[name] for name in own), 0.0) + noise * random.standard_normal(width)
            for own in features
        ]
    )
