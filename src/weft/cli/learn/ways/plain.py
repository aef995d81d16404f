"""Methods of `weft train` that train on one kind of files."""

from __future__ import annotations

from weft.cli.inputs import split_labelled, split_words
from weft.cli.learn.folds import cross_validate
from weft.cli.learn.training import Training
from weft.errors import ConfigError


def train(training: Training) -> None:
    """Train on annotated files; with `--folds`, cross-validate first, and train only if there is a model to write."""
    if training.folds is not None:
        cross_validate(training, training.folds)
        if training.out is None:
            return
    inputs, dev = training.reading.open(training.files), training.open_dev()
    training.show(training.fit(split_labelled(inputs.docs), dev, training.files, [inputs]))


def train_texts(training: Training) -> None:
    """Train on whole texts with their metadata, raw or not."""
    inputs = training.reading.open(training.files)
    training.show(training.fit(inputs.docs, None, training.files, [inputs]))


def train_split(training: Training) -> None:
    """Train on raw text, which is split into words by rule."""
    from weft.text.corpus import Corpus

    inputs, dev = training.reading.open(training.files), training.open_dev()
    files = [*training.files, *training.options.get("dictionaries", "").split(",")]
    docs = Corpus(lambda: split_words(inputs.docs))
    training.show(training.fit(docs, dev, [file for file in files if str(file)], [inputs]))


def train_order(training: Training) -> None:
    """Train a parser whose `--order` may replace its `--system`."""
    order = training.data["order"]
    if order is not None:
        system = training.options.setdefault("system", f"mst{order}")
        if system != f"mst{order}":
            raise ConfigError(f"--order {order} means --system mst{order}; leave out --system {system}")
    train(training)
