"""`weft train images`: captions and vectors of images become a model, and an index for `weft search`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import print_report
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.tasks.images.finder import ImageFinder
    from weft.tasks.images.vectors import ImageVectors
    from weft.text.doc import Doc


def train(training: Training) -> None:
    """Parse the captions, train, and write the model and the index."""
    from weft.pipeline.registry import check_place, keep, new_component
    from weft.tasks.images.vectors import read_image_vectors

    index: Path | None = training.data["index"]
    if index is not None and index.suffix != ".parquet":
        raise ConfigError(f"the index is written as Parquet: --index {index.with_suffix('.parquet')}")
    component: Any = new_component(training.task, training.options, training.method)
    if not component.settings.vectors:
        raise ConfigError("give the vectors of the images: --vectors images.parquet (or .npy, or text)")
    for place in (training.out, index):
        if place is not None:
            check_place(place)
    images = read_image_vectors(component.settings.vectors)
    docs = parsed(training.files, training.data["parser"])
    dev = None if training.dev is None else parsed([training.dev], training.data["parser"])
    report = component.fit(docs, dev, images)
    keep(component, report, training.out, **training.card(training.files))
    if index is not None:
        _write_index(component, images, training.out, index)
        report["index"] = str(index)
    print_report("Trained images", report, training.as_json)


def parsed(files: Sequence[Path], parser: str) -> list[Doc]:
    """The captions of files, parsed; each names its image."""
    import weft
    from weft.progress import progress
    from weft.tasks.images.captions import read_captions
    from weft.tasks.images.finder import IMAGE

    captions = [caption for file in files for caption in read_captions(file)]
    found = []
    with progress("parsing", len(captions), "captions") as bar:
        docs = weft.load(parser).pipe(caption.text for caption in captions)
        for caption, doc in zip(captions, docs, strict=True):
            doc.meta[IMAGE] = caption.image
            found.append(doc)
            bar.advance(1)
    return found


def _write_index(component: ImageFinder, images: ImageVectors, model: Path, index: Path) -> None:
    """The images in the model's space, with the place of the model as seen from the index."""
    from weft.tasks.images.collection import MODEL
    from weft.tasks.images.vectors import ImageVectors, write_image_vectors

    place = os.path.relpath(model.resolve(), index.resolve().parent).replace(os.sep, "/")
    mapped = ImageVectors(images.ids, component.image_vectors(images.vectors), images.paths, {MODEL: place})
    write_image_vectors(mapped, index)
