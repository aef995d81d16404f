"""`weft adapt ...`: what was learned in one domain made fit for another, of which there is only raw text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, Workers, print_json, print_table, settings
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad
from weft.cli.learn import adapt_sentiment
from weft.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from weft.evaluate.domains.tag_shift import DomainReport
    from weft.text import Corpus, Doc

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Make taggers and classifiers fit for a domain of which there is only raw text.",
)
#: Ways to adapt a tagger, and the task of the component that does it: see `weft.pipeline.registry.TASKS`. The component
#: offers `adapt(source, target_raw, source_raw, dev) -> report`.
METHODS = {"flors": "flors", "scl": "scl-tagger", "graph": "graph-tagger"}


@app.callback()
def _adapt() -> None:
    """Make taggers and classifiers fit for a domain of which there is only raw text."""


app.command("sentiment", epilog=adapt_sentiment.SENTIMENT_EXAMPLE)(adapt_sentiment.sentiment)
app.command("distance", epilog=adapt_sentiment.DISTANCE_EXAMPLE)(adapt_sentiment.distance)


@app.command(
    "tagger",
    epilog="Example: weft adapt tagger --source examples/adaptation/news.conllu "
    "--target-raw examples/adaptation/chat.txt --column xpos --out chat.weft",
)
def tagger(
    source: Annotated[
        list[Path], typer.Option("--source", metavar="FILE", help="Tagged text of the source domain; repeat.")
    ],
    target_raw: Annotated[
        list[Path], typer.Option("--target-raw", metavar="FILE", help="Raw text of the target domain; repeat.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")],
    source_raw: Annotated[
        list[Path] | None, typer.Option("--source-raw", metavar="FILE", help="Raw text of the source domain; repeat.")
    ] = None,
    dev: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE", help="Tagged text to choose settings on.")
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="FILE", help="Tagged text of the target domain, to say how well it is tagged."),
    ] = None,
    method: Annotated[str, typer.Option("--method", help=f"How to adapt: {', '.join(METHODS)}.")] = "flors",
    column: Annotated[
        str, typer.Option("--column", help="Column of the tags: upos, xpos or one of your own.")
    ] = "upos",
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Setting of the method; repeat.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the model.", show_default="the file's")] = "",
    licence: Annotated[str, typer.Option("--licence", help="Licence of the model.", show_default="not stated")] = "",
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Learn a tagger from tagged text of one domain and raw text of another; `weft annotate` uses it.

    Raw text may be plain or annotated; only its words are read.
    """
    from weft.cli.learn.train import flat
    from weft.pipeline.registry import check_place, keep, new_component

    if method not in METHODS:
        known = f"the methods are: {', '.join(METHODS)}"
        raise ConfigError(f"unknown method {method!r}; {did_you_mean(method, METHODS, known)}")
    check_place(out)
    component: Any = new_component(
        METHODS[method], {"column": column, "seed": seed, "workers": workers, **settings(setting or [])}
    )
    opened = {
        name: open_inputs(paths, from_format if name in ("source", "dev", "test") else None, skip_bad, fields, encoding)
        for name, paths in (
            ("source", source), ("target", target_raw), ("raw", source_raw or []),
            ("dev", [dev] if dev else []), ("test", [test] if test else []),
        )
        if paths
    }  # fmt: skip
    raw = {name: list(_split(opened[name].docs)) if name in opened else [] for name in ("target", "raw")}
    labelled = list(opened["source"].docs)
    held_out = list(opened["dev"].docs) if dev is not None else None
    report: dict[str, Any] = component.adapt(labelled, raw["target"], raw["raw"], held_out)
    files = [*source, *target_raw, *(source_raw or [])]
    keep(component, report, out, name=name, corpora=[path.name for path in files], licence=licence)
    tested = _test(component, labelled, list(opened["test"].docs), column) if test is not None else None
    for inputs in opened.values():
        report_bad(inputs)
    if as_json:
        print_json(report | ({} if tested is None else {"test": tested.as_dict()}))
        return
    print_table(f"Adapted tagger ({method})", ["", ""], flat(report), figures=[1])
    if tested is not None:
        typer.echo(f"\n{tested}")


def _split(docs: Corpus) -> Iterator[Doc]:
    """Documents split into words by rule where they are not yet."""
    from weft.text.split import split_by_rule

    for doc in docs:
        if not doc.n_words and doc.text.strip():
            split_by_rule(doc)
        yield doc


def _test(component: Any, source: list[Doc], gold: list[Doc], column: str) -> DomainReport:
    """Tag documents anew and compare."""
    from weft.evaluate.domains.tag_shift import evaluate_domain
    from weft.training.scores import bare

    system = [bare(doc) for doc in gold]
    component(system)
    return evaluate_domain(source, gold, system, column)
