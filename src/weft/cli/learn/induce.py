"""`weft induce ...`: structure learned from text of which nothing is annotated but, at most, tags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, print_json, print_table
from weft.cli.common import settings as read_settings
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad
from weft.cli.learn import induce_tags, induce_words

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Learn tags, grammars and words from text without annotation.",
)


app.command("tags", epilog=induce_tags.EXAMPLE)(induce_tags.tags)
app.command("words", epilog=induce_words.WORDS_EXAMPLE)(induce_words.words)
app.command("segment", epilog=induce_words.SEGMENT_EXAMPLE)(induce_words.segment)


@app.callback()
def _induce() -> None:
    """Learn tags, grammars and words from text without annotation."""


@app.command(
    "grammar",
    epilog="Example: weft induce grammar examples/induction/kitchen.conllu --out grammar.weft --iterations 30",
)
def grammar(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Sentences with tags; trees are not looked at.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where the parser is written.")],
    column: Annotated[str, typer.Option("--tags", metavar="COLUMN", help="The column of tags: upos or xpos.")] = "upos",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="em|dd|pr-s|pr-as",
            help="EM; with a Dirichlet prior; with few pairs of tags in use, by arcs or by words.",
        ),
    ] = "pr-as",
    model: Annotated[
        str, typer.Option("--model", metavar="dmv|2-1|2-2|3-3|4-4", help="Valences of children and of stops.")
    ] = "dmv",
    strength: Annotated[
        float, typer.Option("--strength", help="Of sparse posteriors, for 7,000 sentences; less text, less of it.")
    ] = 140.0,
    alpha: Annotated[float, typer.Option("--alpha", help="Parameter of the Dirichlet prior (dd).")] = 0.25,
    iterations: Annotated[int, typer.Option("--iterations", help="Most rounds of EM.", min=1)] = 100,
    max_words: Annotated[
        int, typer.Option("--max-words", help="Of sentences to learn from, without punctuation.", min=1)
    ] = 10,
    start: Annotated[str, typer.Option("--start", metavar="harmonic|random", help="Where EM begins.")] = "harmonic",
    dev: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE", help="Sentences with trees, to score on.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of the parser; repeat.")
    ] = None,
    seed: Seed = 0,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn a parser from tags alone, without any tree; `weft annotate` then finds heads with it."""
    from weft.cli.learn.train import flat
    from weft.pipeline.registry import train

    chosen: dict[str, Any] = {
        "column": column, "method": method, "model": model, "strength": strength, "alpha": alpha,
        "iterations": iterations, "max_words": max_words, "start": start, "seed": seed, **read_settings(options or ()),
    }  # fmt: skip
    text = open_inputs(files, from_format, skip_bad, fields, encoding)
    held_out = None if dev is None else open_inputs([dev], from_format, skip_bad, fields, encoding)
    report = train(
        "induced-parser", text.docs, None if held_out is None else held_out.docs, out, chosen,
        corpora=[path.name for path in files],
    )  # fmt: skip
    report_bad(text)
    if held_out is not None:
        report_bad(held_out)
    if as_json:
        print_json(report)
    else:
        print_table("Induced grammar", ["", ""], flat(report), figures=[1])
