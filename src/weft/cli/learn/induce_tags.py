"""`weft induce tags TEXT... --dict WORDS --out MODEL`: a tagger from raw text and a tag dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, print_json, print_table
from weft.cli.common import settings as read_settings
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad
from weft.errors import ConfigError

EXAMPLE = "Example: weft induce tags examples/induction/market.txt --dict examples/induction/market.dic --out tags.weft"


def tags(
    files: Annotated[list[Path], typer.Argument(metavar="TEXT...", help="Raw text, or words; tags are not looked at.")],
    dictionaries: Annotated[
        list[Path], typer.Option("--dict", metavar="FILE", help="Words with tags, parted by a tab; repeat.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where the tagger is written.")],
    tagset: Annotated[
        str, typer.Option("--tags", metavar="TAGS", help="The tags, or `universal`.", show_default="of the dictionary")
    ] = "",
    column: Annotated[str, typer.Option("--column", help="The column that the tagger writes.")] = "upos",
    method: Annotated[
        str,
        typer.Option("--method", metavar="dmlc|em|min-greedy|ilp", help="How few pairs of tags are found; em: not."),
    ] = "dmlc",
    grow: Annotated[bool, typer.Option("--grow", help="Give unknown words of the text tags of similar words.")] = False,
    fitting: Annotated[
        str, typer.Option("--fitting", metavar="alternating|tagging", help="How EM uses the pairs of tags.")
    ] = "alternating",
    tagger: Annotated[
        str, typer.Option("--tagger", metavar="hmm|adagrad|crf|memm", help="What tags new text.")
    ] = "hmm",
    iterations: Annotated[int, typer.Option("--iterations", help="Most rounds of EM.", min=1)] = 100,
    shards: Annotated[int, typer.Option("--shards", help="Processes that share the text.", min=1)] = 1,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers share the text instead."),
    ] = None,
    dev: Annotated[Path | None, typer.Option("--dev", metavar="FILE", help="Sentences with tags, to score on.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of the tagger; repeat.")
    ] = None,
    seed: Seed = 0,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn a tagger from raw text and a list of words with tags; `weft annotate` then tags with it."""
    from weft.cli.learn.train import flat
    from weft.cli.learn.train_weak import split_words
    from weft.pipeline.registry import train
    from weft.text.corpus import Corpus

    for path in dictionaries:
        if "," in str(path):
            raise ConfigError(f"the name of a dictionary must not have a comma: {path}")
    chosen: dict[str, Any] = {
        "dictionaries": ",".join(map(str, dictionaries)), "tagset": tagset, "column": column, "method": method,
        "grow": grow, "fitting": fitting, "tagger": tagger, "iterations": iterations, "shards": shards,
        "cluster": cluster or "", "seed": seed, **read_settings(options or ()),
    }  # fmt: skip
    text = open_inputs(files, from_format, skip_bad, fields, encoding)
    held_out = None if dev is None else open_inputs([dev], from_format, skip_bad, fields, encoding)
    report = train(
        "induced-tagger", Corpus(lambda: split_words(text.docs)), None if held_out is None else held_out.docs, out,
        chosen, corpora=[path.name for path in [*files, *dictionaries]],
    )  # fmt: skip
    report_bad(text)
    if held_out is not None:
        report_bad(held_out)
    if as_json:
        print_json(report)
    else:
        print_table("Induced tags", ["", ""], flat(report), figures=[1])
