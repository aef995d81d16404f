"""`weft train sentiment`: the polarity of sentences or documents of reviews."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import flat, print_json, print_table
from weft.cli.inputs import read_documents, read_reviews
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Doc


def train_sentences(training: Training) -> None:
    """Train on rated reviews, reviews with labelled sentences, or both."""
    from weft.pipeline.registry import train
    from weft.text import Corpus

    sentences, encoding = training.data["sentences"] or [], training.reading.encoding
    if not training.files and not sentences:
        raise ConfigError("give reviews to train on: with ratings (FILE), or with labelled sentences (--sentences)")
    both, rated = bool(training.files and sentences), bool(training.files)
    training.options.setdefault("learning", "interpolated" if both else "coarse" if rated else "fine")

    def docs() -> Iterator[Doc]:
        for review in read_reviews(training.files, encoding):
            yield replace(review, sentences=(), labels=()).doc()
        for review in read_reviews(sentences, encoding):
            yield review.doc()

    dev = None if training.dev is None else Corpus([each.doc() for each in read_reviews([training.dev], encoding)])
    card = training.card([*training.files, *sentences])
    training.show(train("sentiment", Corpus(docs), dev, training.out, training.options, **card))


def train_documents(training: Training) -> None:
    """Train a classifier of positive and negative reviews for one domain on labelled reviews of another."""
    from weft.pipeline.registry import check_place, keep, new_component

    check_place(training.out)
    classifier: Any = new_component("sentiment", training.options, "documents")
    learning, data = classifier.settings.learning, training.data
    if learning != "base" and not data["raw"]:
        raise ConfigError(
            f"--learning {learning} needs reviews of the target: give them as --raw FILE, or use --learning base"
        )
    files: dict[str, list[Path]] = {name: data[name] or [] for name in ("raw", "source_raw", "target")}
    read = {name: read_documents(paths, training.reading.encoding) for name, paths in files.items()}
    source = read_documents(training.files, training.reading.encoding)
    report = classifier.adapt(source, read["raw"], read["source_raw"], target=read["target"])
    if data["test"] is not None:
        scores = classifier.evaluate(read_documents([data["test"]], training.reading.encoding))
        report["scores"] = {f"test {name}": value for name, value in scores.items()}
    named = [*training.files, *files["source_raw"], *files["raw"], *files["target"]]
    keep(classifier, report, training.out, **training.card(named))
    _show(training, classifier, report, data["terms"])


def _show(training: Training, classifier: Any, report: dict[str, Any], terms: int) -> None:
    """Print the report, and the corresponding terms of both domains."""
    shared = classifier.correspondences(dimensions=3 if training.as_json else 0, most=terms) if terms else []
    if training.as_json:
        pivots = classifier.pivots[: 10 * terms]
        print_json(report | {"pivots": pivots, "correspondences": [each.as_dict() for each in shared]})
        return
    print_table(f"Trained sentiment ({classifier.settings.learning})", ["", ""], flat(report), figures=[1])
    if shared:
        rows = [[each.polarity, ", ".join(each.source), ", ".join(each.target)] for each in shared]
        print_table("Corresponding terms", ["polarity", "source", "target"], rows)
