"""Finding and describing images by sentences, over precomputed image vectors."""

from weft.tasks.images.captions import Caption, read_captions
from weft.tasks.images.collection import Collection, Hit
from weft.tasks.images.finder import ImageFinder, ImageSettings
from weft.tasks.images.vectors import ImageVectors, read_image_vectors, write_image_vectors

__all__ = [
    "Caption",
    "Collection",
    "Hit",
    "ImageFinder",
    "ImageSettings",
    "ImageVectors",
    "read_captions",
    "read_image_vectors",
    "write_image_vectors",
]
