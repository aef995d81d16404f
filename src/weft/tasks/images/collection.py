"""A collection of images to search by sentences, vectors or other images, and to describe by sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.graph.nearest import VectorIndex
from weft.tasks.images.captions import Caption
from weft.tasks.images.finder import ImageFinder
from weft.tasks.images.vectors import ImageVectors, read_image_vectors

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline

#: Facts of vectors that were mapped by a model.
MODEL = "model"


class Hit(NamedTuple):
    """An image, or a caption of one, with its rank and score."""

    rank: int
    image: str
    score: float
    text: str = ""
    path: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The hit for JSON, without what is not known."""
        found = {"rank": self.rank, "image": self.image, "score": round(self.score, 4)}
        return {**found, **({"text": self.text} if self.text else {}), **({"path": self.path} if self.path else {})}


class Collection:
    """Images in the space of a model, or of any other if they are searched by vectors only."""

    def __init__(
        self, images: ImageVectors, finder: ImageFinder | None = None, parser: Pipeline | None = None,
        approximate: bool = False,
    ) -> None:  # fmt: skip
        self.images, self.finder, self.parser = images, finder, parser
        mapped = MODEL in images.facts
        vectors = images.vectors if finder is None or mapped else finder.image_vectors(images.vectors)
        if finder is not None and mapped and vectors.shape[1] != finder.size:
            raise DataError(
                f"the images were mapped to {vectors.shape[1]} dimensions by {images.facts[MODEL]}, the model has "
                f"{finder.size}: map them again, weft train images --index"
            )
        self.vectors = vectors
        self._index = VectorIndex(vectors, "inner" if finder is not None else "cosine", approximate)

    @classmethod
    def open(
        cls, images: str | os.PathLike[str], model: str | os.PathLike[str] | None = None, parser: str = "en",
        approximate: bool = False, text: bool = True,
    ) -> Collection:  # fmt: skip
        """Open vectors of images with the model that is named, or else the one that mapped them.

        With `text`, a model is needed; without, images are searched as they are if there is none.
        """
        import weft

        found = read_image_vectors(images)
        place = os.fspath(model) if model is not None else _model_of(os.fspath(images), found)
        if not place:
            if text:
                raise ConfigError(
                    f"sentences need a model to search {os.fspath(images)}: --model pictures.weft; train one with "
                    "weft train images captions.tsv --vectors IMAGES"
                )
            return cls(found, approximate=approximate)
        components = weft.load(place).components
        finder = next((each for each in components if isinstance(each, ImageFinder)), None)
        if finder is None:
            raise ConfigError(f"{place} is no model of weft train images")
        return cls(found, finder, weft.load(parser) if text else None, approximate)

    def sentence_vectors(self, texts: Sequence[str]) -> Floats:
        """The vectors of sentences."""
        if self.finder is None or self.parser is None:
            raise ConfigError("sentences need a model: open the collection with one")
        empty = next((text for text in texts if not text.strip()), None)
        if empty is not None:
            raise DataError("there is an empty sentence to search by")
        return self.finder.sentence_vectors(list(self.parser.pipe(texts)))

    def find(self, text: str, k: int = 10) -> list[Hit]:
        """The images that a sentence describes best."""
        return self.find_vector(self.sentence_vectors([text])[0], k)

    def find_vector(self, vector: Floats, k: int = 10) -> list[Hit]:
        """The images nearest to a vector of their space."""
        numbers, scores = self._index.search(vector, k)
        return self._hits(numbers[0].tolist(), scores[0].tolist(), k)

    def _hits(self, numbers: list[int], scores: list[float], k: int, without: str = "") -> list[Hit]:
        names = [self.images.ids[number] for number in numbers]
        kept = [(name, score) for name, score in zip(names, scores, strict=True) if name != without][:k]
        return [Hit(rank, name, score, path=self.images.path(name)) for rank, (name, score) in enumerate(kept, 1)]

    def like(self, image: str, k: int = 10) -> list[Hit]:
        """The images nearest to an image of the collection, by the cosine."""
        vector = np.asarray(self.vectors[self.images.number(image)], dtype=np.float64)
        numbers, scores = VectorIndex(self.vectors, "cosine").search(vector, k + 1)
        return self._hits(numbers[0].tolist(), scores[0].tolist(), k, image)

    def describe(self, image: str, captions: Sequence[Caption], k: int = 10) -> list[Hit]:
        """The sentences that describe an image best."""
        number = self.images.number(image)
        sentences = self.sentence_vectors([each.text for each in captions])
        scores = sentences @ np.asarray(self.vectors[number], dtype=np.float64)
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        return [
            Hit(rank, captions[each].image, float(scores[each]), captions[each].text)
            for rank, each in enumerate(best, 1)
        ]


def _model_of(path: str, images: ImageVectors) -> str:
    """The model that mapped images, as a path seen from here."""
    place = images.facts.get(MODEL, "")
    return str(Path(path).parent / place) if place else ""
