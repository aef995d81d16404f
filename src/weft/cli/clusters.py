"""`weft lexicon clusters TEXT... --out FILE`: learn classes of words from plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import JsonFlag, print_json, print_table, short_path
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad

if TYPE_CHECKING:
    from weft.pipeline import Pipeline
    from weft.text.doc import Doc


def clusters(
    files: Annotated[
        list[Path], typer.Argument(metavar="TEXT...", help="Text or corpora: files, folders, - for input.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the clusters are written.")],
    classes: Annotated[int, typer.Option("--classes", help="How many classes.", min=1)] = 400,
    min_count: Annotated[int, typer.Option("--min-count", help="Words met less often are left out.", min=1)] = 3,
    rounds: Annotated[int, typer.Option("--rounds", help="Most passes over the words.", min=0)] = 15,
    lower: Annotated[bool, typer.Option("--lower", help="Letter case makes no difference.")] = False,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Segmenter for plain text.", show_default="words by rule"),
    ] = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn classes of words that stand in the same places, for `weft train tagger` and `ner` (`--clusters`)."""
    from weft.lexical.clusters import cluster_words
    from weft.pipeline import Pipeline

    inputs = open_inputs(files, from_format, skip_bad, fields, encoding)
    segmenter = None if model is None else Pipeline.load(model)
    found = cluster_words(sentences(inputs.docs, segmenter), classes, min_count, rounds, lower)
    report_bad(inputs)
    found.save(out)
    figures = {
        "words": len(found.words),
        "classes": len(found.path_of),
        "running words": int(found.counts.sum()),
        "file": short_path(out).as_posix(),
    }
    if as_json:
        print_json(figures)
    else:
        rows = [[name, f"{value:,}" if isinstance(value, int) else value] for name, value in figures.items()]
        print_table("Clusters", ["", ""], rows, figures=[1])


def sentences(docs: Iterable[Doc], segmenter: Pipeline | None = None) -> Iterator[list[str]]:
    """The words of every sentence; documents that have only text are split by a segmenter, or by rule.

    >>> from weft.text.doc import Doc
    >>> list(sentences([Doc("He came. She left."), Doc.of_words([["Why", "?"]])]))
    [['He', 'came', '.'], ['She', 'left', '.'], ['Why', '?']]
    """
    from weft.tasks.segment_rules import split_by_rule

    for doc in docs:
        if not doc.n_words:
            if segmenter is None:
                split_by_rule(doc)
            else:
                for component in segmenter.components:
                    component([doc])
        forms = doc.column("form")
        yield from (forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist()))
