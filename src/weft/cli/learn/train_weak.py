"""`weft train tagger --dict D --projected P --text T`: a tagger for a language without tagged text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from weft.cli.common import print_json, print_table
from weft.cli.inputs import Inputs, open_inputs, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Corpus, Doc


def train_weak_tagger(
    task: str,
    out: Path | None,
    options: dict[str, Any],
    *,
    files: Sequence[Path],
    dictionaries: Sequence[Path],
    projected: Sequence[Path],
    text: Sequence[Path],
    dev: Path | None,
    reading: dict[str, Any],
    card: dict[str, Any],
    as_json: bool,
) -> None:
    """Train the tagger, say what its constraints were worth, and write it; `reading` goes to `open_inputs`."""
    from weft.cli.learn.train import flat
    from weft.evaluate.labels.weak_report import WeakReport
    from weft.pipeline.registry import train
    from weft.text.corpus import Corpus

    if task != "tagger":
        raise ConfigError(f"--dict, --projected and --text are for the task tagger, not {task}")
    if files:
        raise ConfigError(f"say what {files[0]} is: text with projected tags (--projected) or plain (--text)")
    if out is None:
        raise typer.BadParameter("say where to write the model", param_hint="'--out'")
    if not projected and not text:
        raise ConfigError("a tagger learns from text: give words with projected tags (--projected) or plain (--text)")
    for path in dictionaries:
        if "," in str(path):
            raise ConfigError(f"the name of a dictionary must not have a comma: {path}")
    opened: dict[str, Inputs | None] = {
        "projected": open_inputs(projected, **reading) if projected else None,
        "text": open_inputs(text, **reading) if text else None,
        "dev": open_inputs([dev], **reading) if dev is not None else None,
    }
    column = options.get("column", "upos")
    if dictionaries:
        options["dictionaries"] = ",".join(map(str, dictionaries))
    docs = Corpus(lambda: _training(opened["projected"], opened["text"], column))
    held_out = opened["dev"]
    card["corpora"] = card["corpora"] or [path.name for path in [*dictionaries, *projected, *text]]
    report = train("weak-tagger", docs, None if held_out is None else held_out.docs, out, options, **card)
    for source in opened.values():
        if source is not None:
            report_bad(source)
    if as_json:
        print_json(report)
        return
    weak = report.pop("weak")
    print_table("Trained tagger", ["", ""], flat(report), figures=[1])
    typer.echo(f"\nOn the {'training' if dev is None else 'dev'} text:\n{WeakReport.from_dict(weak)}")


def _training(projected: Inputs | None, text: Inputs | None, column: str) -> Iterator[Doc]:
    """All documents split into words: those with projected tags, then plain ones without any tags."""
    if projected is not None:
        yield from split_words(projected.docs)
    if text is not None:
        for doc in split_words(text.docs):
            doc.set_column(column, [""] * doc.n_words)
            yield doc


def split_words(docs: Corpus) -> Iterator[Doc]:
    """Documents with their words, split by rule where they are raw text."""
    from weft.text.split import split_by_rule

    for doc in docs:
        if not doc.n_words and doc.text.strip():
            split_by_rule(doc)
        yield doc
