"""`weft train tagger --method weak`: a tagger for a language without tagged text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from weft.cli.common import flat, print_json, print_table
from weft.cli.inputs import Inputs, split_words
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Doc


def train(training: Training) -> None:
    """Train on a tag dictionary, projected tags and raw text; print a report on the constraints."""
    from weft.evaluate.labels.weak_report import WeakReport
    from weft.text.corpus import Corpus

    projected, raw = training.data["projected"] or [], training.data["raw"] or []
    if training.files:
        raise ConfigError(f"give {training.files[0]} as text with projected tags (--projected) or raw text (--raw)")
    if not projected and not raw:
        raise ConfigError("a tagger needs text to train on: text with projected tags (--projected) or raw text (--raw)")
    read = [training.reading.open(paths) if paths else None for paths in (projected, raw)]
    column = training.options.get("column", "upos")
    dictionaries = [name for name in training.options.get("dictionaries", "").split(",") if name]
    report = training.fit(
        Corpus(lambda: _documents(read[0], read[1], column)),
        training.open_dev(),
        [*dictionaries, *projected, *raw],
        read,
    )
    if training.as_json:
        print_json(report)
        return
    weak = report.pop("weak")
    print_table("Trained tagger", ["", ""], flat(report), figures=[1])
    typer.echo(f"\nOn the {'training' if training.dev is None else 'dev'} text:\n{WeakReport.from_dict(weak)}")


def _documents(projected: Inputs | None, raw: Inputs | None, column: str) -> Iterator[Doc]:
    """All documents split into words: those with projected tags, then raw text without any tags."""
    if projected is not None:
        yield from split_words(projected.docs)
    if raw is not None:
        for doc in split_words(raw.docs):
            doc.set_column(column, [""] * doc.n_words)
            yield doc
