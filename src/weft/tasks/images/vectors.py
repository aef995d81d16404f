"""Precomputed vectors of images, of any model: Parquet, NumPy or text.

| file | what it holds |
|---|---|
| `.parquet` | columns `id` and `vector` (a list of numbers), and `path` of the picture if known |
| `.npy`, `.npy.gz` | a matrix; the names are in a file beside it, one per line: `images.txt` for `images.npy` |
| others | a name and its numbers per line, space- or tab-separated |
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import DataError, did_you_mean
from weft.formats.streams import read_text
from weft.formats.vectors import read_vectors
from weft.packages import needed

#: The key of our facts in the metadata of a Parquet file.
_META = b"weft.images"


@dataclass
class ImageVectors:
    """Names and vectors of images, and the paths of their pictures, "" if not known.

    `facts` says of vectors that a model mapped to its own space which model that was.

    >>> images = ImageVectors(["sea", "hill"], np.eye(2))
    >>> images.number("hill"), images.path("hill")
    (1, '')
    """

    ids: list[str]
    vectors: NDArray[Any]
    paths: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.ids) or not self.ids:
            raise DataError(f"images need one vector each; got {len(self.ids)} names for vectors {self.vectors.shape}")
        self._numbers = {name: number for number, name in enumerate(self.ids)}
        if len(self._numbers) < len(self.ids):
            twice = next(name for name in self.ids if self.ids.count(name) > 1)
            raise DataError(f"the image {twice!r} has two vectors")
        if not np.isfinite(np.asarray(self.vectors, dtype=np.float64)).all():
            raise DataError("the vectors of images hold numbers that are not finite; check how they were computed")

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def number(self, name: str) -> int:
        """The row of an image; an error proposes a similar name."""
        if name not in self._numbers:
            raise DataError(f"there is no image {name!r}; {did_you_mean(name, self.ids, f'there are {len(self):,}')}")
        return self._numbers[name]

    def path(self, name: str) -> str:
        """The path of a picture, "" if not known."""
        return self.paths[self.number(name)] if self.paths else ""

    def rows(self, names: Sequence[str]) -> NDArray[Any]:
        """The vectors of images, in that order."""
        return np.asarray(self.vectors[[self.number(name) for name in names]], dtype=np.float64)


def read_image_vectors(path: str | os.PathLike[str]) -> ImageVectors:
    """Read vectors of images.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "images.vec").write_text("sea 1 0\\nhill 0 1\\n")
    ...     read_image_vectors(f"{folder}/images.vec").ids
    ['sea', 'hill']
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise DataError(f"there is no file {name}: give vectors of images as .parquet, .npy or text")
    if name.endswith(".parquet"):
        return _read_parquet(name)
    if name.endswith((".npy", ".npy.gz")):
        return _read_array(name)
    ids, vectors = read_vectors(name)
    return ImageVectors(ids, vectors)


def write_image_vectors(images: ImageVectors, path: str | os.PathLike[str]) -> None:
    """Write vectors of images as Parquet.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_image_vectors(ImageVectors(["sea"], np.eye(1), facts={"model": "a.weft"}), f"{folder}/a.parquet")
    ...     read_image_vectors(f"{folder}/a.parquet").facts
    {'model': 'a.weft'}
    """
    pyarrow, parquet = needed("pyarrow", "Parquet"), needed("pyarrow.parquet", "Parquet")
    width = images.vectors.shape[1]
    flat = np.ascontiguousarray(images.vectors, dtype=np.float32).ravel()
    columns = {"id": images.ids, "vector": pyarrow.FixedSizeListArray.from_arrays(flat, width)}
    if images.paths:
        columns["path"] = images.paths
    table = pyarrow.table(columns).replace_schema_metadata({_META: json.dumps(images.facts).encode()})
    parquet.write_table(table, os.fspath(path), compression="zstd")


def _read_parquet(path: str) -> ImageVectors:
    pyarrow, parquet = needed("pyarrow", "Parquet"), needed("pyarrow.parquet", "Parquet")
    try:
        table = parquet.read_table(path)
        missing = [name for name in ("id", "vector") if name not in table.column_names]
        if missing:
            raise DataError(f"{path} has no column {missing[0]!r}; image vectors have the columns id and vector")
        lists = table.column("vector").combine_chunks()
        values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False))
        paths = [str(each or "") for each in table.column("path").to_pylist()] if "path" in table.column_names else []
        ids = [str(each) for each in table.column("id").to_pylist()]
        facts = json.loads((table.schema.metadata or {}).get(_META, b"{}"))
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not a Parquet file of image vectors: {error}") from None
    if not ids or values.dtype.kind not in "fiu" or len(values) % len(ids) or lists.null_count:
        raise DataError(f"{path}: the lists in the column vector must all have the same number of numbers")
    sizes = {len(each) for each in lists.slice(0, 1).to_pylist()}
    if sizes != {len(values) // len(ids)}:
        raise DataError(f"{path}: the lists in the column vector must all have the same length")
    named = {str(key): str(value) for key, value in facts.items()} if isinstance(facts, dict) else {}
    return ImageVectors(ids, values.reshape(len(ids), -1), paths, named)


def _read_array(path: str) -> ImageVectors:
    stem = path.removesuffix(".gz").removesuffix(".npy")
    names = next(
        (place for place in (f"{stem}.txt", str(Path(path).parent / "images.txt")) if os.path.exists(place)), ""
    )
    if not names:
        raise DataError(f"the names of the images of {path} are missing: write them to {stem}.txt, one per line")
    try:
        if path.endswith(".gz"):
            with gzip.open(path) as file:
                vectors = np.load(file, allow_pickle=False)
        else:
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} is not a NumPy array: {error}") from None
    ids = read_text(names).split("\n")
    while ids and not ids[-1].strip():
        ids.pop()
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or len(ids) != len(vectors):
        raise DataError(f"{path} must be a matrix of numbers with a row for each of the {len(ids)} lines of {names}")
    return ImageVectors([each.strip() for each in ids], vectors)
