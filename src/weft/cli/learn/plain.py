"""Methods of `weft train` that learn from files of one kind."""

from __future__ import annotations

from weft.cli.inputs import split_words
from weft.cli.learn.training import Training
from weft.errors import ConfigError


def train(training: Training) -> None:
    """Learn from annotated files."""
    inputs, dev = training.reading.open(training.files), training.open_dev()
    training.show(training.fit(inputs.docs, dev, training.files, [inputs]))


def train_split(training: Training) -> None:
    """Learn from raw text, which is split into words by rule."""
    from weft.text.corpus import Corpus

    inputs, dev = training.reading.open(training.files), training.open_dev()
    files = [*training.files, *training.options.get("dictionaries", "").split(",")]
    docs = Corpus(lambda: split_words(inputs.docs))
    training.show(training.fit(docs, dev, [file for file in files if str(file)], [inputs]))


def train_order(training: Training) -> None:
    """Learn a parser whose order may stand for its system."""
    order = training.data["order"]
    if order is not None:
        system = training.options.setdefault("system", f"mst{order}")
        if system != f"mst{order}":
            raise ConfigError(f"--order {order} is --system mst{order}; leave out --system {system}")
    train(training)
