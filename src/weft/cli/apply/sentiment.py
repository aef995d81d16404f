"""Reviews and sentiment in `weft annotate`: read tables of reviews, write labels of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli.inputs import Inputs, Reading, read_reviews
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.cli.apply.annotate import Output
    from weft.formats.reviews import Review
    from weft.pipeline.pipeline import Pipeline
    from weft.text import Doc

KINDS = ("sentiment", "polarity")
SUFFIXES = (".tsv", ".csv", ".jsonl")


def judges(nlp: Pipeline, known_ratings: bool) -> bool:
    """Whether a pipeline predicts sentiment; with `known_ratings`, it takes the ratings of reviews as known."""
    found = [component for component in nlp.components if component.task in KINDS]
    if known_ratings:
        able = [component for component in found if component.task == "sentiment"]
        if not able:
            raise ConfigError("--known-ratings needs a sentence model of `weft train sentiment`")
        for component in able:
            component.settings.given = True  # type: ignore[attr-defined]
    return bool(found)


def are_reviews(files: Sequence[Path], reading: Reading) -> bool:
    """Whether files contain reviews, by their suffixes."""
    return reading.format is None and all(path.name.removesuffix(".gz").endswith(SUFFIXES) for path in files)


def open_reviews(files: Sequence[Path], reading: Reading) -> Inputs:
    """The reviews of files as documents."""
    from weft.formats import Report
    from weft.text import Corpus

    docs = Corpus(lambda: (review.doc() for review in read_reviews(files, reading.encoding)))
    return Inputs(docs, ["reviews"], reading.skip_bad, Report())


def wants_labels(output: Output) -> bool:
    """Whether to write labels and sentences: `--to labels`, a `.txt` file, or a terminal."""
    if output.format is not None:
        return output.format == "labels"
    return output.shown if output.path is None else output.path.removesuffix(".gz").endswith(".txt")


def write_labels(docs: Iterable[Doc], out: str | None) -> None:
    """Write a label and a sentence per line, a block per review."""
    from weft.formats.reviews import write_labelled

    write_labelled(_reviews(docs), "-" if out is None else out)


def _reviews(docs: Iterable[Doc]) -> Iterator[Review]:
    """Annotated documents as reviews, with their ratings if they have any, else with the predicted polarity."""
    from weft.formats.reviews import Review

    for doc in docs:
        review = Review.from_doc(doc)
        yield review if review.rating is not None else replace(review, sentiment=str(doc.meta.get("sentiment", "")))
